"""What went out: every publication, and the keys of those whose releases cannot be joined.

The name of a publication stands in what is published; the keys follow from it and the root key.
So an owner who holds the store can always compute them again, from the file alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.names import QualifiedName
from ppdm_sql.store.keys import RootKey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.store.catalog import Entry

_NAME_BYTES = 8


@dataclass(frozen=True, slots=True)
class Publication:
    """One file or folder that was written."""

    name: str
    """Random, not secret: analysts find it in `release_info`."""
    published_at: datetime
    path: str
    format: str
    unlinkable: bool
    digest: str | None = None
    """SHA-256 of what was written; None in records of earlier programs."""
    state: str = "done"
    """`pending` until it is in its place; `unknown`: perhaps it is out."""


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """One release of a publication, as it was then."""

    publication: Publication
    release: QualifiedName
    version: int
    rows: int
    release_id: int
    """Another one after the release was dropped and made again."""


def new_name() -> str:
    """Return the name of a new publication."""
    return secrets.token_hex(_NAME_BYTES)


def publication_keys(root: RootKey, publication: str, release: QualifiedName) -> RootKey:
    """Return the keys of one release in one unlinkable publication: unlike all others."""
    folded = (part.folded for part in release.parts)
    return RootKey(root.derive("publication", "\0".join((publication, *folded))))


def record_publication(
    engine: Engine, publication: Publication, released: Sequence[tuple[Entry, int]]
) -> None:
    """Write down which versions went out, with how many rows."""
    for entry, rows in released:
        schema, name = entry.name.parts
        engine.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."publications"'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                publication.name,
                publication.published_at,
                publication.path,
                publication.format,
                publication.unlinkable,
                entry.release_id,
                schema.text,
                name.text,
                entry.version,
                rows,
                publication.state,
                publication.digest,
            ),
        )


def settle(engine: Engine, publication: str, state: str | None) -> None:
    """Write down what became of a publication; None: nothing went out."""
    if state is None:
        engine.run(
            'DELETE FROM "ppdm_store"."ppdm_owner"."publications" WHERE publication = ?',
            (publication,),
        )
    else:
        engine.run(
            'UPDATE "ppdm_store"."ppdm_owner"."publications" SET state = ? WHERE publication = ?',
            (state, publication),
        )


def list_publications(engine: Engine) -> list[PublishedRelease]:
    """Return everything that was published, the latest last."""
    rows = engine.query(
        "SELECT publication, published_at, path, format, unlinkable, schema_name, release_name,"
        ' version, row_count, release_id, digest, state FROM "ppdm_store"."ppdm_owner"."publications"'
        " ORDER BY published_at, publication, schema_name, release_name"
    ).to_pylist()
    return [
        PublishedRelease(
            Publication(
                row["publication"],
                row["published_at"],
                row["path"],
                row["format"],
                row["unlinkable"],
                row["digest"],
                row["state"],
            ),
            QualifiedName.of(row["schema_name"], row["release_name"]),
            row["version"],
            row["row_count"],
            row["release_id"],
        )
        for row in rows
    ]
