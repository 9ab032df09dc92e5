"""Addresses of the internet, cut to the network that they are in."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address

import pyarrow as pa

from ppdm_sql.engine.kernel import KernelError, is_constant


def network(v4: pa.Array, v6: pa.Array, value: pa.Array) -> pa.Array:
    """`ppdm_ip(v4, v6, value)`: 192.168.1.0/24; NULL for what is no address."""
    if len(value) == 0:
        return pa.array([], pa.string())
    if v4.null_count or v6.null_count or not (is_constant(v4) and is_constant(v6)):
        raise KernelError("the lengths of networks must be the same in every row")
    lengths = (v4[0].as_py(), v6[0].as_py())
    coded = value.dictionary_encode()
    # One call a distinct address: there is no bulk form of this in Python.
    found = [_network(text, *lengths) for text in coded.dictionary.to_pylist()]
    return pa.array(found, pa.string()).take(coded.indices)


def _network(text: str | None, v4: int, v6: int) -> str | None:
    if text is None:
        return None
    address = _address(text.strip().partition("%")[0])  # %eth0 says where, not who
    if address is None:
        return None
    if isinstance(address, IPv4Address):
        return f"{IPv4Address(_cut(int(address), 32 - v4))}/{v4}"
    return f"{IPv6Address(_cut(int(address), 128 - v6))}/{v6}"


def _cut(number: int, bits: int) -> int:
    return number >> bits << bits


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address; one of IPv4 that is written as one of IPv6 is the former."""
    try:
        return IPv4Address(text)
    except AddressValueError:
        pass
    try:
        found = IPv6Address(text)
    except AddressValueError:
        return None
    # Addresses of version 4 that are carried in one of version 6 are those.
    inside = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
    return inside or found
