"""What the store knows: its root key, the releases, every version of each.

All statements are fixed texts with parameters, or trees where a name varies; all of them run in
the transaction of the statement that caused them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import StoreError
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import QualifiedName
from ppdm_sql.store.keys import ROOT_KEY_BYTES, RootKey, new_root_key
from ppdm_sql.store.parameters import VersionStorage, owner_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.duckdb import Engine

FORMAT = 2
_TABLES = frozenset({"store", "releases", "versions", "columns", "figures", "hierarchies"})
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
    }
)
_DAMAGED = "restore the database from a copy; without its store no release can be translated back"


@dataclass(frozen=True, slots=True)
class Entry:
    """A release as the store lists it, at its current version."""

    name: QualifiedName
    release_id: int
    version: int
    created_at: datetime
    definition: str = field(repr=False)
    """The canonical text of its CREATE RELEASE, arguments included: never leaves the store."""
    source_rows: int
    tables: tuple[str, ...]
    """The names of the tables of this version."""

    @property
    def storage(self) -> VersionStorage:
        """Where this version keeps what it drew."""
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
    """The type that leaves; None for a column that stays."""
    note: str | None
    """What its treatments say of what they did."""


def damaged(what: str) -> StoreError:
    """Return the error of a store that is not as it was left."""
    return StoreError(f"the owner's store is damaged: {what}", hint=_DAMAGED)


def open_store(engine: Engine) -> RootKey:
    """Make the store of a new database, or check that of an existing one; return its root key."""
    known = engine.query(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    names = set(known.column("table_name").to_pylist())
    schemas = engine.query(
        "SELECT schema_name FROM duckdb_schemas() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    if schemas.num_rows == 0:
        bootstrap = files("ppdm_sql.store").joinpath("sql", "store.sql").read_text(encoding="utf-8")
        engine.run(bootstrap)
        engine.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."store" VALUES (?, ?, ?)',
            (FORMAT, new_root_key(), _now()),
        )
    elif "store" in names:
        _check_format(engine)  # before the tables: another format has others
    if schemas.num_rows and (missing := _TABLES - names):
        raise damaged(f"{', '.join(sorted(missing))} missing")
    for later in ("publications", "agreements"):
        if later not in names:  # a new store, or one from before there were any
            listing = files("ppdm_sql.store").joinpath("sql", f"{later}.sql")
            engine.run(listing.read_text(encoding="utf-8"))
    return _read_root_key(engine)


def _check_format(engine: Engine) -> None:
    rows = engine.query('SELECT format FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) == 1 and rows[0]["format"] != FORMAT:
        raise StoreError(
            f"the owner's store has format {rows[0]['format']}, this program reads {FORMAT}",
            hint="use the version of ppdm-sql that made it",
        )


def _read_root_key(engine: Engine) -> RootKey:
    rows = engine.query('SELECT root_key FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) != 1 or len(rows[0]["root_key"] or b"") != ROOT_KEY_BYTES:
        raise damaged("its root key is not there")
    return RootKey(rows[0]["root_key"])


def list_entries(engine: Engine) -> list[Entry]:
    """Return all releases, by name."""
    rows = engine.query(
        "SELECT release_id, schema_name, release_name, version, created_at, definition,"
        ' source_rows, tables FROM "ppdm_store"."ppdm_owner"."releases"'
        ' JOIN "ppdm_store"."ppdm_owner"."versions" USING (release_id, version)'
        " ORDER BY schema_name, release_name"
    ).to_pylist()
    return [_entry(row) for row in rows]


def find_entry(engine: Engine, name: QualifiedName) -> Entry | None:
    """Return the release of a name with its schema."""
    return next((entry for entry in list_entries(engine) if entry.name == name), None)


def next_entry(
    engine: Engine, name: QualifiedName, definition: str, previous: Entry | None
) -> Entry:
    """Return the next version of a release, or the first of a new one; nothing is written yet."""
    if previous is not None:
        release_id, version = previous.release_id, previous.version + 1
    else:
        row = engine.query(
            "SELECT system.main.nextval('ppdm_store.ppdm_owner.release_ids') AS release_id"
        ).to_pylist()[0]
        release_id, version = int(row["release_id"]), 1
    return Entry(name, release_id, version, _now(), definition, 0, ())


def record_version(engine: Engine, entry: Entry, columns: Sequence[ColumnEntry]) -> None:
    """Write down a version whose tables exist, and make it the current one."""
    storage = entry.storage
    _record_columns(engine, storage, columns)
    tables = engine.query(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store' AND system.main.starts_with(table_name, ?)"
        " ORDER BY table_name",
        (storage.prefix,),
    )
    key = (storage.release_id, storage.version)
    engine.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."versions" VALUES (?, ?, ?, ?, ?, ?)',
        (
            *key,
            entry.created_at,
            entry.definition,
            entry.source_rows,
            tables.column("table_name").to_pylist(),
        ),
    )
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
    """Drop every version of a release with all its tables."""
    rows = engine.query(
        'SELECT tables FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ?',
        (entry.release_id,),
    ).to_pylist()
    for row in rows:
        for name in row["tables"]:
            engine.run(exp.Drop(tables=[table_of(owner_table(name))], kind="TABLE", exists=True))
    for listing in ("columns", "figures", "versions", "releases"):
        mine = exp.column("release_id").eq(exp.Placeholder())
        engine.run(exp.delete(table_of(owner_table(listing)), where=mine), (entry.release_id,))


def list_columns(engine: Engine, entry: Entry) -> list[ColumnEntry]:
    """Return the columns of a release, in the order of its script."""
    rows = engine.query(
        "SELECT column_name, role, treatments, source_type, type, note"
        ' FROM "ppdm_store"."ppdm_owner"."columns" WHERE release_id = ? AND version = ?'
        " ORDER BY position",
        (entry.release_id, entry.version),
    ).to_pylist()
    return [
        ColumnEntry(
            row["column_name"],
            Role(row["role"]),
            tuple(row["treatments"]),
            row["source_type"],
            row["type"],
            row["note"],
        )
        for row in rows
    ]


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
        row["source_rows"],
        tuple(row["tables"]),
    )


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
