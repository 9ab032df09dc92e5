"""Agreements of the store: what several sites share so that they release alike."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ppdm_sql.names import Name
from ppdm_sql.store.catalog import damaged
from ppdm_sql.store.claim import claim
from ppdm_sql.store.keys import ROOT_KEY_BYTES, RootKey

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine


@dataclass(frozen=True, slots=True)
class Agreement:
    """Columns with their treatments, and the key that everything is drawn from."""

    name: Name
    definition: str = field(repr=False)
    """The canonical text of its CREATE AGREEMENT."""
    master_key: bytes = field(repr=False)

    @property
    def keys(self) -> RootKey:
        """The keys of every release under the agreement, at every site."""
        return RootKey(self.master_key, is_agreed=True)

    @property
    def signing_key(self) -> Ed25519PrivateKey:
        """What signs a site's publication: whoever holds the agreement has it."""
        content = hashlib.sha256(self.definition.encode()).hexdigest()
        return Ed25519PrivateKey.from_private_bytes(self.keys.derive("signature", content))

    @property
    def fingerprint(self) -> str:
        """Its public key: it tells two agreements apart, and whether a site signed a file."""
        return self.signing_key.public_key().public_bytes_raw().hex()


def list_agreements(engine: Engine) -> list[Agreement]:
    """Return all agreements, by name."""
    rows = engine.query(
        'SELECT name, definition, master_key FROM "ppdm_store"."ppdm_owner"."agreements"'
        " ORDER BY name ASC"
    ).to_pylist()
    return [_agreement(row) for row in rows]


def find_agreement(engine: Engine, name: Name) -> Agreement | None:
    """Return the agreement of a name."""
    return next((one for one in list_agreements(engine) if one.name == name), None)


def record_agreement(engine: Engine, agreement: Agreement) -> None:
    """Write an agreement down."""
    claim(engine)
    engine.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."agreements" VALUES (?, ?, ?, ?)',
        (
            agreement.name.text,
            agreement.definition,
            agreement.master_key,
            datetime.now(UTC).replace(tzinfo=None),
        ),
    )


def forget_agreement(engine: Engine, agreement: Agreement) -> None:
    """Take an agreement out of the store."""
    claim(engine)
    engine.run(
        'DELETE FROM "ppdm_store"."ppdm_owner"."agreements" WHERE name = ?', (agreement.name.text,)
    )


def _agreement(row: dict[str, Any]) -> Agreement:
    if len(row["master_key"]) != ROOT_KEY_BYTES:
        raise damaged(f"the key of agreement '{Name(row['name'])}' is missing")
    return Agreement(Name(row["name"]), row["definition"], row["master_key"])
