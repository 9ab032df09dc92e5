"""A file that travels: sealed with a passphrase, and every byte of it checked.

    bytes   0-14   `ppdm-agreement` and the version of the format
    byte    15     log2 of scrypt's cost
    bytes  16-31   salt      32-43 nonce      44-… AES-256-GCM of the content, its tag at the end

Key = scrypt(passphrase, salt, cost, r = 8, p = 1). All that stands before the content is
authenticated with it, so a changed byte anywhere, cost and version included, is refused.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import pairwise

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from ppdm_sql.errors import Refused, StoreError

VERSION = 1
SHORTEST = 12
"""Letters of the shortest passphrase that a file is sealed with."""
_MAGIC = b"ppdm-agreement"
_SALT, _NONCE, _TAG = 16, 12, 16
_HEADER = len(_MAGIC) + 2
_FEWEST_LETTERS, _FEWEST_STEPS = 6, 3
"""Different letters, and different distances from one to the next, of a passphrase."""
_DEAREST = 20
"""No file makes us spend more than a GiB on its passphrase."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What trying one passphrase costs: 2^17 takes 128 MiB and about half a second."""

    log2: int = 17


USUAL = Cost()


def seal(content: bytes, passphrase: str, cost: Cost = USUAL) -> bytes:
    """Return a file that only the passphrase opens."""
    if len(passphrase) < SHORTEST:
        raise Refused(
            f"the passphrase has {len(passphrase)} characters",
            hint=f"take at least {SHORTEST}: whoever has the file can try passphrases without limit",
            code="passphrase",
        )
    if _is_guessed(passphrase):
        raise Refused(
            "the passphrase is too easy to guess",
            hint="take four random words, or let a program choose it",
            code="passphrase",
        )
    header = _MAGIC + bytes([VERSION, cost.log2])
    salt, nonce = secrets.token_bytes(_SALT), secrets.token_bytes(_NONCE)
    head = header + salt + nonce
    return head + AESGCM(_key(passphrase, salt, cost.log2)).encrypt(nonce, content, head)


def unseal(file: bytes, passphrase: str) -> bytes:
    """Return the content of a sealed file; refuse a wrong passphrase and any change."""
    start = _HEADER + _SALT + _NONCE
    if file[: len(_MAGIC)] != _MAGIC or len(file) < start + _TAG:
        raise StoreError(
            "this is not an agreement file, or only a part of one", code="bad_agreement_file"
        )
    version, cost = file[len(_MAGIC)], file[len(_MAGIC) + 1]
    if version != VERSION:
        raise StoreError(
            f"the agreement was sealed in format {version}, this version of ppdm-sql reads {VERSION}",
            hint="export it again with the version of ppdm-sql that the sites share",
            code="bad_agreement_file",
        )
    if not 1 <= cost <= _DEAREST:
        raise StoreError(
            "the agreement file was changed since it was sealed", code="bad_agreement_file"
        )
    head, salt = file[:start], file[_HEADER : _HEADER + _SALT]
    nonce = file[_HEADER + _SALT : start]
    try:
        return AESGCM(_key(passphrase, salt, cost)).decrypt(nonce, file[start:], head)
    except InvalidTag:
        raise StoreError(
            "the agreement cannot be opened: the passphrase is wrong, or the file was changed",
            hint="ask the site that exported it for the file and the passphrase again",
            code="passphrase",
        ) from None


def _is_guessed(passphrase: str) -> bool:
    """Whether it is a few letters again and again, or letters in their order."""
    steps = {ord(after) - ord(before) for before, after in pairwise(passphrase)}
    return len(set(passphrase.casefold())) < _FEWEST_LETTERS or len(steps) <= _FEWEST_STEPS


def _key(passphrase: str, salt: bytes, cost: int) -> bytes:
    return Scrypt(salt=salt, length=32, n=2**cost, r=8, p=1).derive(
        passphrase.encode(errors="surrogateescape")
    )
