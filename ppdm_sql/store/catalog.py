"""What the store knows: its root key, the releases, every version of each.

All statements are fixed texts with parameters, or trees where a name varies; all of them run in
the transaction of the statement that caused them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.compile.render import table_of
from ppdm_sql.errors import StoreError
from ppdm_sql.model.hierarchy import Listed, SuppressDigits
from ppdm_sql.model.syntax import Role
from ppdm_sql.model.transform import Notes
from ppdm_sql.names import QualifiedName
from ppdm_sql.store.keys import ROOT_KEY_BYTES, RootKey, new_root_key
from ppdm_sql.store.parameters import VersionStorage, owner_table

if TYPE_CHECKING:
    from ppdm_sql.model.grouping import Grouping
    from ppdm_sql.model.release import DrawnBySlot, Release, Runner
    from ppdm_sql.names import Name

FORMAT = 2
_TABLES = frozenset({"store", "releases", "versions", "columns", "figures", "hierarchies"})
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


def open_store(runner: Runner) -> RootKey:
    """Make the store of a new database, or check that of an existing one; return its root key."""
    known = runner.query(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    names = set(known.column("table_name").to_pylist())
    schemas = runner.query(
        "SELECT schema_name FROM duckdb_schemas() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    if schemas.num_rows == 0:
        bootstrap = files("ppdm_sql").joinpath("sql", "store.sql").read_text(encoding="utf-8")
        runner.run(bootstrap)
        runner.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."store" VALUES (?, ?, ?)',
            (FORMAT, new_root_key(), _now()),
        )
    elif "store" in names:
        _check_format(runner)  # before the tables: another format has others
    if schemas.num_rows and (missing := _TABLES - names):
        raise damaged(f"{', '.join(sorted(missing))} missing")
    for later in ("publications", "agreements"):
        if later not in names:  # a new store, or one from before there were any
            listing = files("ppdm_sql").joinpath("sql", f"{later}.sql")
            runner.run(listing.read_text(encoding="utf-8"))
    return _read_root_key(runner)


def _check_format(runner: Runner) -> None:
    rows = runner.query('SELECT format FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) == 1 and rows[0]["format"] != FORMAT:
        raise StoreError(
            f"the owner's store has format {rows[0]['format']}, this program reads {FORMAT}",
            hint="use the version of ppdm-sql that made it",
        )


def _read_root_key(runner: Runner) -> RootKey:
    rows = runner.query('SELECT root_key FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) != 1 or len(rows[0]["root_key"] or b"") != ROOT_KEY_BYTES:
        raise damaged("its root key is not there")
    return RootKey(rows[0]["root_key"])


def list_entries(runner: Runner) -> list[Entry]:
    """Return all releases, by name."""
    rows = runner.query(
        "SELECT release_id, schema_name, release_name, version, created_at, definition,"
        ' source_rows, tables FROM "ppdm_store"."ppdm_owner"."releases"'
        ' JOIN "ppdm_store"."ppdm_owner"."versions" USING (release_id, version)'
        " ORDER BY schema_name, release_name"
    ).to_pylist()
    return [_entry(row) for row in rows]


def find_entry(runner: Runner, name: QualifiedName) -> Entry | None:
    """Return the release of a name with its schema."""
    return next((entry for entry in list_entries(runner) if entry.name == name), None)


def next_storage(runner: Runner, previous: Entry | None) -> VersionStorage:
    """Return where the next version of a release, or the first of a new one, will be kept."""
    if previous is not None:
        return VersionStorage(previous.release_id, previous.version + 1)
    row = runner.query(
        "SELECT system.main.nextval('ppdm_store.ppdm_owner.release_ids') AS release_id"
    ).to_pylist()[0]
    return VersionStorage(int(row["release_id"]), 1)


def record_version(
    runner: Runner,
    storage: VersionStorage,
    release: Release,
    drawn: DrawnBySlot,
    definition: str,
    source_rows: int,
) -> None:
    """Write down a version whose tables exist, and make it the current one."""
    _record_columns(runner, storage, release, drawn)
    tables = runner.query(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store' AND system.main.starts_with(table_name, ?)"
        " ORDER BY table_name",
        (storage.prefix,),
    )
    key = (storage.release_id, storage.version)
    runner.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."versions" VALUES (?, ?, ?, ?, ?, ?)',
        (*key, _now(), definition, source_rows, tables.column("table_name").to_pylist()),
    )
    if storage.version == 1:
        runner.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."releases" VALUES (?, ?, ?, ?)',
            (storage.release_id, *(part.text for part in release.name.parts), storage.version),
        )
    else:
        runner.run(
            'UPDATE "ppdm_store"."ppdm_owner"."releases" SET version = ? WHERE release_id = ?',
            (storage.version, storage.release_id),
        )


def forget(runner: Runner, entry: Entry) -> None:
    """Drop every version of a release with all its tables."""
    rows = runner.query(
        'SELECT tables FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ?',
        (entry.release_id,),
    ).to_pylist()
    for row in rows:
        for name in row["tables"]:
            runner.run(exp.Drop(tables=[table_of(owner_table(name))], kind="TABLE", exists=True))
    for listing in ("columns", "figures", "versions", "releases"):
        mine = exp.column("release_id").eq(exp.Placeholder())
        runner.run(exp.delete(table_of(owner_table(listing)), where=mine), (entry.release_id,))


def list_columns(runner: Runner, entry: Entry) -> list[ColumnEntry]:
    """Return the columns of a release, in the order of its script."""
    rows = runner.query(
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
    runner: Runner, storage: VersionStorage, release: Release, drawn: DrawnBySlot
) -> None:
    key = (storage.release_id, storage.version)
    position = 0
    for rule in release.rules:
        words = [step.transform.keyword for step in rule.steps]
        notes = [
            step.transform.note(drawn[step.slot])
            for step in rule.steps
            if isinstance(step.transform, Notes)
        ]
        if rule.is_generalized and release.grouping is not None:
            notes = [_hierarchy_note(release.grouping, rule.names[0])]
        note = "; ".join(notes) or None
        for name, source, type_ in zip(rule.names, rule.columns, rule.output_types, strict=True):
            position += 1
            type_name = str(type_) if rule.is_released else None
            runner.run(
                'INSERT INTO "ppdm_store"."ppdm_owner"."columns" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
                (
                    *key,
                    position,
                    name.text,
                    rule.role.value,
                    words,
                    str(source.type),
                    type_name,
                    note,
                ),
            )


def _hierarchy_note(grouping: Grouping, name: Name) -> str:
    column = next(column for column in grouping.columns if column.name == name)
    shape = column.hierarchy.shape.word
    if grouping.method == "mondrian" and not isinstance(
        column.hierarchy.shape, SuppressDigits | Listed
    ):
        return "ranges of the data: their ends are original values"
    return shape if column.hierarchy.name is None else f"by {column.hierarchy.name}: {shape}"


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
