"""Signatures of a published file: whoever holds an agreement's secret wrote it, and nobody since.

    … the database as DuckDB wrote it …
    an entry for each agreement   32 bytes public key, 64 bytes Ed25519 signature
    1 byte number of entries      15 bytes `ppdm-signatures`

DuckDB reads no further than its own last block, so the file stays one that any client opens. A
signature is over SHA-256 of all bytes before the entries: it is checked before anything is parsed.
"""

from __future__ import annotations

import hashlib
from typing import IO, TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ppdm_sql.errors import BindError, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MAGIC = b"ppdm-signatures"
_SIGNED = b"ppdm-sql publication 1\0"
_KEY, _SIGNATURE = 32, 64
_PIECE = 1 << 20


def sign(file: Path, keys: Sequence[Ed25519PrivateKey]) -> None:
    """Put signatures behind a file that is complete."""
    with file.open("r+b") as whole:
        digest = _copied(whole, None, file.stat().st_size)
        entries = [key.public_key().public_bytes_raw() + key.sign(digest) for key in keys]
        whole.write(b"".join(entries) + bytes([len(entries)]) + _MAGIC)


def public_key_of(fingerprint: str) -> Ed25519PublicKey:
    """Return the public key that an agreement's fingerprint is."""
    try:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(fingerprint.strip()))
    except ValueError:
        raise BindError(
            "this is not the fingerprint of an agreement",
            hint=f"it has {2 * _KEY} hexadecimal digits: ask a site: SHOW AGREEMENTS shows it",
            code="bad_fingerprint",
        ) from None


def verified_copy(file: Path, fingerprint: str, copy: Path) -> None:
    """Copy a published file; refuse one that the agreement's key did not sign as it is."""
    public = public_key_of(fingerprint)
    with file.open("rb") as source, copy.open("xb") as target:
        entries, end = _entries(source, file.stat().st_size)
        mine = [one[_KEY:] for one in entries if one[:_KEY] == public.public_bytes_raw()]
        if not mine:
            raise Refused(
                f"'{file}' is not signed under this agreement",
                hint="let the site publish it again with the agreement, and this version of ppdm-sql",
                code="not_signed",
            )
        source.seek(0)
        digest = _copied(source, target, end)
    try:
        public.verify(mine[0], digest)
    except InvalidSignature:
        raise Refused(
            f"'{file}' was changed since it was signed, or was never signed by a site",
            hint="ask the site for its file again",
            code="not_signed",
        ) from None


def _entries(source: IO[bytes], size: int) -> tuple[list[bytes], int]:
    """Return the signatures behind a file, and where what they sign ends."""
    tail = len(_MAGIC) + 1
    source.seek(max(size - tail, 0))
    end = source.read(tail)
    length = _KEY + _SIGNATURE
    count = end[0] if end.endswith(_MAGIC) and len(end) == tail else 0
    start = size - tail - count * length
    if count == 0 or start < 0:
        return [], size
    source.seek(start)
    return [source.read(length) for _ in range(count)], start


def _copied(source: IO[bytes], target: IO[bytes] | None, size: int) -> bytes:
    """Return what is signed of the first bytes of a file; copy them where that is asked."""
    digest = hashlib.sha256()
    while size > 0 and (piece := source.read(min(size, _PIECE))):
        digest.update(piece)
        size -= len(piece)
        if target is not None:
            target.write(piece)
    return _SIGNED + digest.digest()
