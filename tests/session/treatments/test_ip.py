"""ip(): the network of an address, and never the address."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, word: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS {word})")


@settings(max_examples=cases(40))
@given(
    st.lists(st.one_of(st.none(), st.ip_addresses().map(str)), max_size=8),
    st.integers(1, 28),
    st.integers(1, 64),
)
@pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
def test_an_address_is_in_its_network(
    shared: Owner, values: list[str | None], v4: int, v6: int
) -> None:
    fill(shared, values, "VARCHAR")
    release(shared, f"ip(v4 => {v4}, v6 => {v6})")
    for value, found in zip(values, released(shared), strict=True):
        if value is None:
            assert found is None
            continue
        address = ipaddress.ip_address(value)
        if isinstance(address, ipaddress.IPv6Address):
            carried = address.ipv4_mapped or address.sixtofour or (address.teredo or (0, None))[1]
            address = carried or address
        network = ipaddress.ip_network(found)
        assert address in network
        assert network.prefixlen == (v4 if address.version == 4 else v6)


def test_other_writings_of_an_address(owner: Owner) -> None:
    fill(owner, [" 10.1.2.3 ", "::ffff:10.1.2.9", "fe80::1%eth0", "FE80:0::2", "::1"], "VARCHAR")
    release(owner, "ip()")
    assert released(owner) == [
        "10.1.2.0/24", "10.1.2.0/24", "fe80::/48", "fe80::/48", "::/48",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["10.1.2", "10.1.2.300", "host", "", "10.1.2.3/24", "3232235777"])
def test_what_is_no_address_is_refused_and_later_null(owner: Owner, value: str) -> None:
    fill(owner, ["10.0.0.1"], "VARCHAR")
    release(owner, "ip()")
    add(owner, [value], "VARCHAR")
    assert released(owner)[1] is None
    with pytest.raises(TreatmentError, match="1 value of 'x' is no address"):
        owner.execute("REFRESH RELEASE r.t")


@pytest.mark.parametrize("written", ["v4 => 29", "v4 => 0", "v6 => 65", "v4 => '24'"])
def test_an_address_is_never_shown_whole(shared: Owner, written: str) -> None:
    fill(shared, ["10.0.0.1"], "VARCHAR")
    with pytest.raises(TreatmentError, match="whole number from 1 to"):
        release(shared, f"ip({written})")


def test_a_condition_on_a_network_is_one_on_addresses(owner: Owner) -> None:
    fill(owner, ["10.0.0.1", "10.0.1.1"], "VARCHAR")
    release(owner, "ip()")
    condition = str(owner.interpret("r.t", "x = '10.0.1.0/24'"))
    found = owner.sql(f"SELECT id FROM t WHERE {condition}").fetchall()
    assert found == [(1,)]


def test_an_address_inside_another_is_cut_too(owner: Owner) -> None:
    """6to4 and Teredo carry an address of version 4 in the part that is shown."""
    fill(owner, ["2002:cb00:7101::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"], "VARCHAR")
    release(owner, "ip(v4 => 8)")
    assert released(owner) == ["203.0.0.0/8", "192.0.0.0/8"]
