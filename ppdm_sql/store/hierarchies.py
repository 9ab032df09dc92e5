"""The owner's hierarchies: definitions, and a table for each that lists its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.anonymity.hierarchies import check_dates, check_listed, check_ranges
from ppdm_sql.compile.render import table_of
from ppdm_sql.errors import PpdmError
from ppdm_sql.model.hierarchy import Hierarchy, Listed, SuppressDigits
from ppdm_sql.model.syntax import CreateHierarchy, DateBody, DigitsBody, RangesBody, TreeBody
from ppdm_sql.names import Name, QualifiedName
from ppdm_sql.statements.script import parse_script
from ppdm_sql.statements.unparse import unparse
from ppdm_sql.store.catalog import damaged
from ppdm_sql.store.parameters import owner_table

if TYPE_CHECKING:
    from ppdm_sql.model.hierarchy import Shape
    from ppdm_sql.model.release import Runner


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


def list_hierarchies(runner: Runner) -> list[HierarchyEntry]:
    """Return all hierarchies, by name."""
    rows = runner.query(
        "SELECT hierarchy_id, hierarchy_name, definition, created_at"
        ' FROM "ppdm_store"."ppdm_owner"."hierarchies" ORDER BY hierarchy_name'
    ).to_pylist()
    return [
        HierarchyEntry(
            row["hierarchy_id"], Name(row["hierarchy_name"]), row["created_at"], row["definition"]
        )
        for row in rows
    ]


def find_hierarchy(runner: Runner, name: Name) -> HierarchyEntry | None:
    """Return the hierarchy of a name."""
    return next((entry for entry in list_hierarchies(runner) if entry.name == name), None)


def shape_of(statement: CreateHierarchy) -> Shape | None:
    """Return the shape that a definition says by itself; None when its values come from outside."""
    match statement.body:
        case DigitsBody():
            return SuppressDigits()
        case RangesBody(widths, origin):
            return check_ranges(widths, origin)
        case DateBody(units):
            return check_dates(units)
        case TreeBody(rows):
            return check_listed([pa.array(level) for level in zip(*rows, strict=True)])
        case _:
            return None


def read_hierarchy(runner: Runner, entry: HierarchyEntry) -> Hierarchy:
    """Return a hierarchy as it was when it was made: files and tables are not read again."""
    try:
        (statement,) = parse_script(entry.definition)
        if not isinstance(statement, CreateHierarchy):
            raise TypeError
        shape = shape_of(statement)
    except (PpdmError, ValueError, TypeError):
        raise damaged(f"the definition of hierarchy '{entry.name}' cannot be read") from None
    if shape is None:
        levels = runner.query(exp.select("*").from_(table_of(entry.levels_table)))
        shape = Listed(tuple(column.combine_chunks() for column in levels.columns))
    return Hierarchy(entry.name, shape)


def write_hierarchy(runner: Runner, statement: CreateHierarchy, shape: Shape) -> None:
    """Write down a new hierarchy."""
    row = runner.query(
        "SELECT system.main.nextval('ppdm_store.ppdm_owner.hierarchy_ids') AS hierarchy_id"
    ).to_pylist()[0]
    now = datetime.now(UTC).replace(tzinfo=None)
    entry = HierarchyEntry(int(row["hierarchy_id"]), statement.name, now, unparse(statement))
    runner.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."hierarchies" VALUES (?, ?, ?, ?)',
        (entry.hierarchy_id, entry.name.text, entry.definition, now),
    )
    if isinstance(shape, Listed) and not isinstance(statement.body, TreeBody):
        names = [f"l{number}" for number in range(len(shape.levels))]
        runner.create_table(entry.levels_table, pa.table(list(shape.levels), names=names))


def forget_hierarchy(runner: Runner, entry: HierarchyEntry) -> None:
    """Drop a hierarchy and its table."""
    runner.run(exp.Drop(tables=[table_of(entry.levels_table)], kind="TABLE", exists=True))
    runner.run(
        'DELETE FROM "ppdm_store"."ppdm_owner"."hierarchies" WHERE hierarchy_id = ?',
        (entry.hierarchy_id,),
    )
