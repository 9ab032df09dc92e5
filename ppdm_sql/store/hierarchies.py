"""The owner's hierarchies: definitions, and a table for each that lists its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.names import Name
from ppdm_sql.store.claim import claim
from ppdm_sql.store.parameters import owner_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.names import QualifiedName


@dataclass(frozen=True, slots=True)
class HierarchyEntry:
    """A hierarchy as the store lists it."""

    hierarchy_id: int
    name: Name
    created_at: datetime
    definition: str = field(repr=False)
    """The canonical text of its CREATE HIERARCHY; a TREE has values in it."""

    @property
    def levels_table(self) -> QualifiedName:
        """Where the values of a listed one are."""
        return owner_table(f"h{self.hierarchy_id}_levels")


def list_hierarchies(engine: Engine) -> list[HierarchyEntry]:
    """Return all hierarchies, by name."""
    rows = engine.query(
        "SELECT hierarchy_id, hierarchy_name, definition, created_at"
        ' FROM "ppdm_store"."ppdm_owner"."hierarchies" ORDER BY hierarchy_name ASC'
    ).to_pylist()
    return [
        HierarchyEntry(
            row["hierarchy_id"], Name(row["hierarchy_name"]), row["created_at"], row["definition"]
        )
        for row in rows
    ]


def find_hierarchy(engine: Engine, name: Name) -> HierarchyEntry | None:
    """Return the hierarchy of a name."""
    return next((entry for entry in list_hierarchies(engine) if entry.name == name), None)


def read_levels(engine: Engine, entry: HierarchyEntry) -> tuple[pa.Array, ...]:
    """Return the levels of a hierarchy that lists its values, the values first."""
    levels = engine.query(exp.select("*").from_(table_of(entry.levels_table)))
    return tuple(column.combine_chunks() for column in levels.columns)


def record_hierarchy(
    engine: Engine, name: Name, definition: str, levels: Sequence[pa.Array] | None
) -> None:
    """Write down a new hierarchy; `levels` where its values come from outside."""
    claim(engine)
    row = engine.query(
        "SELECT system.main.nextval('ppdm_store.ppdm_owner.hierarchy_ids') AS hierarchy_id"
    ).to_pylist()[0]
    now = datetime.now(UTC).replace(tzinfo=None)
    entry = HierarchyEntry(int(row["hierarchy_id"]), name, now, definition)
    engine.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."hierarchies" VALUES (?, ?, ?, ?)',
        (entry.hierarchy_id, entry.name.text, entry.definition, now),
    )
    if levels is not None:
        names = [f"l{number}" for number in range(len(levels))]
        engine.create_table(entry.levels_table, pa.table(list(levels), names=names))


def forget_hierarchy(engine: Engine, entry: HierarchyEntry) -> None:
    """Drop a hierarchy and its table."""
    claim(engine)
    engine.run(exp.Drop(tables=[table_of(entry.levels_table)], kind="TABLE", exists=True))
    engine.run(
        'DELETE FROM "ppdm_store"."ppdm_owner"."hierarchies" WHERE hierarchy_id = ?',
        (entry.hierarchy_id,),
    )
