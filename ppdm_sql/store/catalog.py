"""What the store knows of releases: every version of each, its columns, what was found.

All statements are fixed texts with parameters, or trees where a name varies; all of them run in
the transaction of the statement that caused them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.about import __version__
from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import StoreError
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import QualifiedName
from ppdm_sql.store.claim import claim
from ppdm_sql.store.parameters import VersionStorage, owner_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.duckdb import Engine

_VERSIONS = (
    "SELECT release_id, schema_name, release_name, v.version, created_at, definition, formula,"
    " tables, source_rows, released_rows, suppressed_rows, precision, source, waiting,"
    ' (SELECT count(*) FROM "ppdm_store"."ppdm_owner"."columns" AS c WHERE c.type IS NOT NULL'
    " AND c.release_id = v.release_id AND c.version = v.version) AS released_columns"
    ' FROM "ppdm_store"."ppdm_owner"."releases" AS r'
    ' JOIN "ppdm_store"."ppdm_owner"."versions" AS v USING (release_id)'
)
_PUBLISHED = (
    "SELECT release_id, ? AS schema_name, ? AS release_name, version, created_at, definition,"
    " formula, tables, source_rows, released_rows, suppressed_rows, precision, source, waiting,"
    ' 0 AS released_columns FROM "ppdm_store"."ppdm_owner"."versions"'
    " WHERE release_id = ? AND version = ?"
)
_UNPUBLISHED = (
    'FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ? AND version NOT IN'
    ' (SELECT version FROM "ppdm_store"."ppdm_owner"."publications" WHERE release_id = ?)'
)
_BY_NAME = "WHERE v.version = r.version ORDER BY schema_name ASC, release_name ASC"
_OF_NAME = (
    "WHERE v.version = r.version AND system.main.lower(schema_name) = system.main.lower(?)"
    " AND system.main.lower(release_name) = system.main.lower(?)"
)
_OF_RELEASE = "WHERE release_id = ? ORDER BY v.version ASC"
_VERSION = pa.schema(
    {
        "release_id": pa.int32(),
        "version": pa.int32(),
        "created_at": pa.timestamp("us"),
        "definition": pa.string(),
        "tables": pa.list_(pa.string()),
        "formula": pa.int32(),
        "software": pa.string(),
        "source_rows": pa.int64(),
        "released_rows": pa.int64(),
        "suppressed_rows": pa.int64(),
        "precision": pa.float64(),
        "source": pa.string(),
        "waiting": pa.string(),
    }
)
_COLUMNS = pa.schema(
    {
        "release_id": pa.int32(),
        "version": pa.int32(),
        "position": pa.int32(),
        "column_name": pa.string(),
        "role": pa.string(),
        "treatments": pa.list_(pa.string()),
        "source_type": pa.string(),
        "type": pa.string(),
        "note": pa.string(),
        "identity": pa.string(),
        "entity": pa.string(),
        "meets": pa.string(),
    }
)
_DAMAGED = "restore the database from a backup; without its store no result can be translated back"


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found when a version was made."""

    source_rows: int = 0
    released_rows: int = 0
    """Rows that left; a record that GENERALIZE leaves out is none of them."""
    suppressed_rows: int | None = None
    """Rows that GENERALIZE left out or kept as `*`; None without it."""
    precision: float | None = None
    """What GENERALIZE left of the release; None without it."""
    source: str | None = None
    """The source as people call it; None in versions of earlier programs."""
    waiting: str | None = field(default=None, repr=False)
    """A query that counts the rows that GENERALIZE withholds until REFRESH."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A release as the store lists it, at its current version."""

    name: QualifiedName
    release_id: int
    version: int
    created_at: datetime
    definition: str = field(repr=False)
    """The canonical text of its CREATE RELEASE, arguments included: never leaves the store."""
    formula: int
    """How its treatments compute."""
    tables: tuple[str, ...] = ()
    """The names of the tables of this version."""
    released_columns: int = 0
    facts: Facts = field(default_factory=lambda: Facts())

    @property
    def storage(self) -> VersionStorage:
        """Where this version keeps its parameters."""
        return VersionStorage(self.release_id, self.version)


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A column of a release as the store lists it."""

    name: str
    role: Role
    treatments: tuple[str, ...]
    """Words, in order; empty for a column that stays with the owner."""
    source_type: str
    type: str | None
    """The type that is released; None for a column that stays."""
    note: str | None
    """What its treatments say of what they did."""
    identity: str | None = None
    """Which column of a table it is; None in versions of earlier programs, as the next two."""
    entity: str | None = None
    """Whom or what its values name."""
    meets: str | None = None
    """The same for columns that can be joined on their pseudonyms; None for any other column."""


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """A column of the current version of a release: of which table, and whose."""

    release: QualifiedName
    column: ColumnEntry


def damaged(what: str) -> StoreError:
    """Return the error of a store that is not as it was left."""
    return StoreError(f"the owner's store is damaged: {what}", hint=_DAMAGED, code="store_damaged")


def list_entries(engine: Engine) -> list[Entry]:
    """Return all releases, by name."""
    return [_entry(row) for row in engine.query(f"{_VERSIONS} {_BY_NAME}").to_pylist()]


def find_entry(engine: Engine, name: QualifiedName) -> Entry | None:
    """Return the release of a name with its schema."""
    if len(name.parts) != 2:
        return None  # of another database
    rows = engine.query(f"{_VERSIONS} {_OF_NAME}", tuple(part.text for part in name.parts))
    # DuckDB folds more letters than it takes for equal in a name.
    entries = (_entry(row) for row in rows.to_pylist())
    return next((entry for entry in entries if entry.name == name), None)


def next_entry(
    engine: Engine, name: QualifiedName, definition: str, formula: int, previous: Entry | None
) -> Entry:
    """Return the next version of a release, or the first of a new one; nothing is written yet."""
    if previous is not None:
        release_id, version = previous.release_id, previous.version + 1
    else:
        row = engine.query(
            "SELECT system.main.nextval('ppdm_store.ppdm_owner.release_ids') AS release_id"
        ).to_pylist()[0]
        release_id, version = int(row["release_id"]), 1
    return Entry(name, release_id, version, _now(), definition, formula)


def record_version(engine: Engine, entry: Entry, columns: Sequence[ColumnEntry]) -> None:
    """Write down a version whose tables exist, and make it the current one."""
    claim(engine)
    storage = entry.storage
    _record_columns(engine, storage, columns)
    row = {
        "release_id": storage.release_id,
        "version": storage.version,
        "created_at": entry.created_at,
        "definition": entry.definition,
        "tables": sorted(entry.tables),
        "formula": entry.formula,
        "software": __version__,
        **asdict(entry.facts),
    }
    engine.insert(owner_table("versions"), pa.Table.from_pylist([row], schema=_VERSION))
    if storage.version == 1:
        engine.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."releases" VALUES (?, ?, ?, ?)',
            (storage.release_id, *(part.text for part in entry.name.parts), storage.version),
        )
    else:
        engine.run(
            'UPDATE "ppdm_store"."ppdm_owner"."releases" SET version = ? WHERE release_id = ?',
            (storage.version, storage.release_id),
        )


def forget(engine: Engine, entry: Entry) -> None:
    """Drop a release, and with their tables all its versions that were never published.

    What is out is out: later publications are judged together with it.
    """
    claim(engine)
    rows = engine.query(
        f"SELECT version, tables {_UNPUBLISHED}", (entry.release_id, entry.release_id)
    ).to_pylist()
    for row in rows:
        for name in row["tables"]:
            engine.run(exp.Drop(tables=[table_of(owner_table(name))], kind="TABLE", exists=True))
        for listing in ("columns", "figures", "versions"):
            mine = exp.and_(
                exp.column("release_id").eq(exp.Placeholder()),
                exp.column("version").eq(exp.Placeholder()),
            )
            place = (entry.release_id, row["version"])
            engine.run(exp.delete(table_of(owner_table(listing)), where=mine), place)
    mine = exp.column("release_id").eq(exp.Placeholder())
    engine.run(exp.delete(table_of(owner_table("releases")), where=mine), (entry.release_id,))


def published_entry(
    engine: Engine, name: QualifiedName, release_id: int, version: int
) -> Entry | None:
    """Return a version that was published, also of a release that was dropped since."""
    schema, last = (part.text for part in name.parts)
    rows = engine.query(_PUBLISHED, (schema, last, release_id, version)).to_pylist()
    return _entry(rows[0]) if rows else None


def list_versions(engine: Engine, entry: Entry) -> list[Entry]:
    """Return every version of a release, by number."""
    rows = engine.query(f"{_VERSIONS} {_OF_RELEASE}", (entry.release_id,)).to_pylist()
    return [_entry(row) for row in rows]


def versions_held(engine: Engine, entry: Entry) -> list[Entry]:
    """Return the versions of a release that can still be read, all their tables there; by number."""
    known = engine.query(
        "SELECT table_name FROM system.main.duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    there = set(known.column("table_name").to_pylist())
    return [one for one in list_versions(engine, entry) if there.issuperset(one.tables)]


def list_columns(engine: Engine, entry: Entry) -> list[ColumnEntry]:
    """Return the columns of a release, in the order of its script."""
    rows = engine.query(
        'SELECT * FROM "ppdm_store"."ppdm_owner"."columns" WHERE release_id = ? AND version = ?'
        " ORDER BY position ASC",
        (entry.release_id, entry.version),
    ).to_pylist()
    return [_column_entry(row) for row in rows]


def known_columns(engine: Engine) -> list[KnownColumn]:
    """Return the columns of all releases as they are now, of which the table is known."""
    rows = engine.query(
        'SELECT c.*, r.schema_name, r.release_name FROM "ppdm_store"."ppdm_owner"."columns" AS c'
        ' JOIN "ppdm_store"."ppdm_owner"."releases" AS r USING (release_id, version)'
        " WHERE identity IS NOT NULL ORDER BY release_id ASC, position ASC"
    ).to_pylist()
    return [
        KnownColumn(
            QualifiedName.of(row.pop("schema_name"), row.pop("release_name")), _column_entry(row)
        )
        for row in rows
    ]


def _column_entry(row: dict[str, Any]) -> ColumnEntry:
    return ColumnEntry(
        row["column_name"],
        Role(row["role"]),
        tuple(row["treatments"]),
        row["source_type"],
        row["type"],
        row["note"],
        row["identity"],
        row["entity"],
        row["meets"],
    )


def _record_columns(
    engine: Engine, storage: VersionStorage, columns: Sequence[ColumnEntry]
) -> None:
    rows = [
        {
            "release_id": storage.release_id,
            "version": storage.version,
            "position": position,
            "column_name": column.name,
            "role": column.role.value,
            "treatments": list(column.treatments),
            "source_type": column.source_type,
            "type": column.type,
            "note": column.note,
            "identity": column.identity,
            "entity": column.entity,
            "meets": column.meets,
        }
        for position, column in enumerate(columns, start=1)
    ]
    engine.insert(owner_table("columns"), pa.Table.from_pylist(rows, schema=_COLUMNS))


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
        QualifiedName.of(row["schema_name"], row["release_name"]),
        row["release_id"],
        row["version"],
        row["created_at"],
        row["definition"],
        row["formula"],
        tuple(row["tables"]),
        row["released_columns"],
        Facts(**{name: row[name] for name in Facts.__dataclass_fields__}),
    )


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
