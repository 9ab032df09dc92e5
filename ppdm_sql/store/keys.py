"""Keys: one root key a store, every other derived from it by purpose and column."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ppdm_sql.randomness.draws import Draws, Stream

ROOT_KEY_BYTES = 32


def new_root_key() -> bytes:
    """Return a root key from the system's generator."""
    return secrets.token_bytes(ROOT_KEY_BYTES)


@dataclass(frozen=True, slots=True)
class RootKey:
    """Derives keys with HKDF-SHA256; never printed."""

    secret: bytes = field(repr=False)
    row_identity: str = ""
    person: str = ""
    """Whom a row is about."""
    before: str = field(default="", repr=False)
    """What was drawn before in a chain: another constant before it, another noise after it."""

    source: str = field(default="", repr=False)
    """What the source says, where a column is computed there."""
    formula: int = 1
    """How the version that asks for keys computes."""
    is_agreed: bool = False
    """Whether the secret is that of an agreement: other sites draw the same."""

    def chance(self, what: str) -> Draws:
        """Return where random numbers come from: the system's generator, or the agreement."""
        return Draws(Stream(self.derive("draw", what))) if self.is_agreed else Draws()

    def derive(self, purpose: str, column: str) -> bytes:
        """Return the 32-byte key of one purpose and one column."""
        parts = (purpose, column, self.before) if self.before else (purpose, column)
        info = b"\0".join((b"ppdm-sql/1", *(part.encode() for part in parts)))
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self.secret)
