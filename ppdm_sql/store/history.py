"""Earlier versions of a release, as the store still has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.model.release import Runner
    from ppdm_sql.store.catalog import Entry


def version_before(runner: Runner, entry: Entry) -> Entry | None:
    """Return the version of a release before the given one."""
    rows = runner.query(
        "SELECT version, created_at, definition, source_rows, tables"
        ' FROM "ppdm_store"."ppdm_owner"."versions" WHERE release_id = ? AND version < ?'
        " ORDER BY version DESC LIMIT 1",
        (entry.release_id, entry.version),
    ).to_pylist()
    if not rows:
        return None
    return replace(entry, **{**rows[0], "tables": tuple(rows[0]["tables"])})
