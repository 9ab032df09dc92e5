"""Earlier versions of a release, as the store still has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.store.catalog import Entry


def version_before(engine: Engine, entry: Entry) -> Entry | None:
    """Return the version of a release before the given one."""
    rows = engine.query(
        "SELECT version, created_at, definition, source_rows, tables"
        ' FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ? AND version < ?'
        " ORDER BY version DESC LIMIT 1",
        (entry.release_id, entry.version),
    ).to_pylist()
    if not rows:
        return None
    return _as_of(entry, rows[0])


def versions_held(engine: Engine, entry: Entry) -> list[Entry]:
    """Return the versions of a release that can still be read, all their tables there; by number."""
    rows = engine.query(
        "SELECT version, created_at, definition, source_rows, tables"
        ' FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ? ORDER BY version',
        (entry.release_id,),
    ).to_pylist()
    known = engine.query(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND database_name = 'ppdm_store'"
    )
    there = set(known.column("table_name").to_pylist())
    return [_as_of(entry, row) for row in rows if there.issuperset(row["tables"])]


def _as_of(entry: Entry, row: dict[str, Any]) -> Entry:
    return replace(entry, **{**row, "tables": tuple(row["tables"])})
