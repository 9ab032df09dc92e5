"""The ledger: what went out, to whom, of which columns, how treated.

The name of a publication stands in what is published, and the ledger says whose pseudonyms it has.
So an owner who holds the store can always compute them again. Nothing here is a value of the data,
or a digest of one.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.language.syntax import Role
from ppdm_sql.names import QualifiedName
from ppdm_sql.store.claim import claim
from ppdm_sql.store.parameters import owner_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.store.catalog import Entry

NOISE = "/"
"""Stands in a key_id before what is the noise's alone, where more than noise was treated with."""
PENDING, DONE, UNKNOWN = "pending", "done", "unknown"
_NAME_BYTES = 8
_RELEASES = pa.schema(
    {
        "publication": pa.string(),
        "published_at": pa.timestamp("us"),
        "path": pa.string(),
        "format": pa.string(),
        "unlinkable": pa.bool_(),
        "release_id": pa.int32(),
        "schema_name": pa.string(),
        "release_name": pa.string(),
        "version": pa.int32(),
        "row_count": pa.int64(),
        "state": pa.string(),
        "digest": pa.string(),
        "recipient": pa.string(),
        "persons": pa.int64(),
        "study": pa.string(),
        "key_scope": pa.string(),
    }
)
_COLUMNS = pa.schema(
    {
        "publication": pa.string(),
        "release_id": pa.int32(),
        "version": pa.int32(),
        "position": pa.int32(),
        "column_name": pa.string(),
        "role": pa.string(),
        "treatments": pa.list_(pa.string()),
        "origins": pa.list_(pa.string()),
        "key_id": pa.string(),
    }
)


@dataclass(frozen=True, slots=True)
class Publication:
    """One file or folder that was written."""

    name: str
    """Random, not secret: analysts find it in `release_info`."""
    published_at: datetime
    path: str
    format: str
    unlinkable: bool
    recipient: str | None = None
    digest: str | None = None
    """SHA-256 of what was written; None in records of earlier programs."""
    state: str = DONE
    """`pending` until it is in its place; `unknown`: perhaps it is out."""
    study: str | None = None
    """The study that was published; None for releases alone."""
    key_scope: str | None = None
    """Whose pseudonyms it has; None: those of the store."""


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """One column of a release, as it went out."""

    name: str
    role: Role
    treatments: tuple[str, ...]
    origins: frozenset[str]
    """The columns of tables that it was computed from."""
    key_id: str
    """The same for columns that were treated with the same parameters."""

    @property
    def draw(self) -> str:
        """The same for columns whose noise is one draw, whatever was done to it later."""
        return self.key_id.rpartition(NOISE)[2]


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """One release of a publication, as it was then."""

    publication: Publication
    release: QualifiedName
    version: int
    rows: int
    release_id: int
    """Another one after the release was dropped and made again."""
    persons: int | None = None
    """Of the rows that went out; None without a KEY, and in records of earlier programs."""
    columns: tuple[PublishedColumn, ...] = ()
    """None in records of earlier programs."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One release that is about to go out."""

    entry: Entry
    rows: int
    persons: int | None
    columns: tuple[PublishedColumn, ...]


def new_name() -> str:
    """Return the name of a new publication."""
    return secrets.token_hex(_NAME_BYTES)


def record_publication(
    engine: Engine, publication: Publication, outgoing: Sequence[Outgoing]
) -> None:
    """Write down which versions go out, with how many rows, of which columns."""
    claim(engine)
    releases, columns = [], []
    for one in outgoing:
        schema, name = one.entry.name.parts
        place = {
            "publication": publication.name,
            "release_id": one.entry.release_id,
            "version": one.entry.version,
        }
        releases.append(
            place
            | {
                "published_at": publication.published_at,
                "path": publication.path,
                "format": publication.format,
                "unlinkable": publication.unlinkable,
                "schema_name": schema.text,
                "release_name": name.text,
                "row_count": one.rows,
                "state": publication.state,
                "digest": publication.digest,
                "recipient": publication.recipient,
                "persons": one.persons,
                "study": publication.study,
                "key_scope": publication.key_scope,
            }
        )
        columns += [
            place
            | {
                "position": position,
                "column_name": column.name,
                "role": column.role.value,
                "treatments": list(column.treatments),
                "origins": sorted(column.origins),
                "key_id": column.key_id,
            }
            for position, column in enumerate(one.columns)
        ]
    engine.insert(owner_table("publications"), pa.Table.from_pylist(releases, schema=_RELEASES))
    engine.insert(owner_table("published_columns"), pa.Table.from_pylist(columns, schema=_COLUMNS))


def set_state(engine: Engine, publication: str, state: str | None) -> None:
    """Write down what became of a publication; None: nothing went out."""
    if state is None:
        engine.run(
            'DELETE FROM "ppdm_store"."ppdm_owner"."publications" WHERE publication = ?',
            (publication,),
        )
        engine.run(
            'DELETE FROM "ppdm_store"."ppdm_owner"."published_columns" WHERE publication = ?',
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
        "SELECT publication, published_at, path, format, unlinkable, recipient, digest, state,"
        " schema_name, release_name, version, row_count, release_id, persons, study, key_scope"
        ' FROM "ppdm_store"."ppdm_owner"."publications"'
        " ORDER BY published_at ASC, publication ASC, schema_name ASC, release_name ASC"
    ).to_pylist()
    columns = _columns(engine) if rows else {}
    return [
        PublishedRelease(
            Publication(
                row["publication"],
                row["published_at"],
                row["path"],
                row["format"],
                row["unlinkable"],
                row["recipient"],
                row["digest"],
                row["state"],
                row["study"],
                row["key_scope"],
            ),
            QualifiedName.of(row["schema_name"], row["release_name"]),
            row["version"],
            row["row_count"],
            row["release_id"],
            row["persons"],
            tuple(columns.get((row["publication"], row["release_id"], row["version"]), ())),
        )
        for row in rows
    ]


def _columns(engine: Engine) -> dict[tuple[str, int, int], list[PublishedColumn]]:
    rows = engine.query(
        "SELECT publication, release_id, version, column_name, role, treatments, origins, key_id"
        ' FROM "ppdm_store"."ppdm_owner"."published_columns"'
        " ORDER BY publication ASC, release_id ASC, version ASC, position ASC"
    ).to_pylist()
    found: defaultdict[tuple[str, int, int], list[PublishedColumn]] = defaultdict(list)
    for row in rows:
        column = PublishedColumn(
            row["column_name"],
            Role(row["role"]),
            tuple(row["treatments"]),
            frozenset(row["origins"]),
            row["key_id"],
        )
        found[row["publication"], row["release_id"], row["version"]].append(column)
    return found
