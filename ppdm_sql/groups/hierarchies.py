"""Making, listing and dropping hierarchies: everything inside the transaction of one statement."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, EngineError, InternalError, PpdmError, raise_alone, suggest
from ppdm_sql.groups.hierarchy_kinds import (
    SUPPRESSED,
    Dates,
    Hierarchy,
    Listed,
    Ranges,
    SuppressDigits,
)
from ppdm_sql.groups.hierarchy_levels import check_dates, check_listed, check_ranges
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import (
    CreateHierarchy,
    DateBody,
    DigitsBody,
    FileBody,
    RangesBody,
    TableBody,
    TreeBody,
)
from ppdm_sql.language.unparse import unparse
from ppdm_sql.release.sources import no_such_file
from ppdm_sql.release.version import definition_of
from ppdm_sql.store import catalog, hierarchies

if TYPE_CHECKING:
    from datetime import datetime

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.groups.hierarchy_kinds import Shape
    from ppdm_sql.language.syntax import DescribeHierarchy, DropHierarchy
    from ppdm_sql.names import Name

_LAYOUT = "one row a value, ';' between levels, the value first"


@dataclass(frozen=True, slots=True)
class HierarchyInfo:
    """One row of SHOW HIERARCHIES."""

    hierarchy: str
    kind: str
    height: int | None
    """Number of its last level; None where the values of a column decide."""
    listed_values: int | None
    """How many values it lists; None where it follows a rule."""
    created_at: datetime


def create_hierarchy(engine: Engine, statement: CreateHierarchy) -> None:
    """CREATE [OR REPLACE] HIERARCHY. Releases made with an earlier one stay as they are."""
    with engine.transaction():
        earlier = hierarchies.find_hierarchy(engine, statement.name)
        if earlier is not None and not statement.replace:
            raise BindError(
                f"there is already a hierarchy '{statement.name}'",
                statement.name_span,
                "write CREATE OR REPLACE HIERARCHY, or DROP HIERARCHY first",
                code="hierarchy_exists",
            )
        try:
            shape = _shape(engine, statement)
        except PpdmError as error:
            raise error.at(statement.body_span) from None
        if earlier is not None:
            hierarchies.forget_hierarchy(engine, earlier)
        comes_from_outside = isinstance(statement.body, TableBody | FileBody)
        hierarchies.record_hierarchy(
            engine,
            statement.name,
            unparse(statement),
            shape.levels if comes_from_outside and isinstance(shape, Listed) else None,
        )


def describe_hierarchy(engine: Engine, statement: DescribeHierarchy) -> pa.Table:
    """DESCRIBE HIERARCHY: every listed value with its groups, or what each level is."""
    shape = read_hierarchy(engine, _entry(engine, statement.name, statement.span)).shape
    match shape:
        case Listed(levels):
            names = ["value", *(f"level_{number}" for number in range(1, len(levels)))]
            return pa.table(dict(zip(names, levels, strict=True)))
        case Ranges(widths):
            meanings = [f"ranges of {width:g}" for width in widths] + [SUPPRESSED]
        case Dates(units):
            meanings = [*units, SUPPRESSED]
        case _:
            meanings = ["one digit less on the right at each level, up to " + SUPPRESSED]
    return pa.table(
        {"level": pa.array(range(1, len(meanings) + 1), pa.int32()), "meaning": meanings}
    )


def _entry(engine: Engine, name: Name, span: Span | None) -> hierarchies.HierarchyEntry:
    entry = hierarchies.find_hierarchy(engine, name)
    if entry is None:
        known = [str(other.name) for other in hierarchies.list_hierarchies(engine)]
        raise BindError(
            f"there is no hierarchy '{name}'",
            span,
            suggest(name.text, known, "hierarchies"),
            code="unknown_hierarchy",
        )
    return entry


def drop_hierarchy(engine: Engine, statement: DropHierarchy) -> bool:
    """DROP HIERARCHY [IF EXISTS]. False if there was none; refused while a release uses it."""
    with engine.transaction():
        if statement.if_exists and hierarchies.find_hierarchy(engine, statement.name) is None:
            return False
        entry = _entry(engine, statement.name, statement.span)
        users = [
            str(release.name)
            for release in catalog.list_entries(engine)
            if statement.name in _used(release)
        ]
        if users:
            raise BindError(
                f"hierarchy '{statement.name}' is used by {', '.join(users)}",
                statement.span,
                "drop the release first: it could not be refreshed any more",
                code="in_use",
            )
        hierarchies.forget_hierarchy(engine, entry)
        return True


@dataclass(frozen=True)
class StoredHierarchies:
    """The hierarchies of a store, for GENERALIZE."""

    engine: Engine

    def find(self, name: Name) -> Hierarchy | None:
        """Return the hierarchy of a name."""
        entry = hierarchies.find_hierarchy(self.engine, name)
        return None if entry is None else read_hierarchy(self.engine, entry)

    def names(self) -> tuple[str, ...]:
        """Return the names of all of them."""
        return tuple(str(entry.name) for entry in hierarchies.list_hierarchies(self.engine))


def read_hierarchy(engine: Engine, entry: hierarchies.HierarchyEntry) -> Hierarchy:
    """Return a hierarchy as it was when it was made: files and tables are not read again."""
    try:
        (statement,) = parse_script(entry.definition)
        if not isinstance(statement, CreateHierarchy):
            raise TypeError
        shape = _own_shape(statement)
    except (PpdmError, ValueError, TypeError):
        raise catalog.damaged(
            f"the definition of hierarchy '{entry.name}' cannot be read"
        ) from None
    if shape is None:
        shape = Listed(hierarchies.read_levels(engine, entry))
    return Hierarchy(entry.name, shape)


def list_hierarchies(engine: Engine) -> list[HierarchyInfo]:
    """Return all hierarchies of a store, by name."""
    return [_info(engine, entry) for entry in hierarchies.list_hierarchies(engine)]


def _used(release: catalog.Entry) -> set[Name]:
    clause = definition_of(release).generalize
    if clause is None:
        return set()
    named = [column.hierarchy for column in clause.columns]
    named += [target.hierarchy for target in clause.targets]
    return {hierarchy.name for hierarchy in named if hierarchy is not None}


def _info(engine: Engine, entry: hierarchies.HierarchyEntry) -> HierarchyInfo:
    shape = read_hierarchy(engine, entry).shape
    height, values = None, None
    match shape:
        case Ranges(widths):
            height = len(widths) + 1
        case Dates(units):
            height = len(units) + 1
        case Listed(levels):
            height, values = len(levels) - 1, len(levels[0])
    return HierarchyInfo(
        str(entry.name), shape.word, height, values, entry.created_at.replace(microsecond=0)
    )


def _shape(engine: Engine, statement: CreateHierarchy) -> Shape:
    body = statement.body
    if isinstance(body, TreeBody) and len({len(row) for row in body.rows}) > 1:
        raise BindError(
            "the rows of a TREE have different lengths",
            hint="write every value with all its groups: ('value', 'group', 'larger group')",
            code="bad_hierarchy",
        )
    shape = _own_shape(statement)
    if shape is not None:
        return shape
    if isinstance(body, TableBody):
        return check_listed(_table_levels(engine, body), is_whole=True)
    if isinstance(body, FileBody):
        return check_listed(_file_levels(body), is_whole=True)
    raise InternalError("an empty hierarchy")


def _own_shape(statement: CreateHierarchy) -> Shape | None:
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


def _table_levels(engine: Engine, body: TableBody) -> list[pa.Array]:
    try:
        names = [name for name, _ in engine.columns(exp.select("*").from_(table_of(body.name)))]
        texts = [
            exp.alias_(
                exp.cast(exp.column(exp.to_identifier(name, quoted=True)), "VARCHAR"),
                exp.to_identifier(f"l{number}", quoted=True),
            )
            for number, name in enumerate(names)
        ]
        table = engine.query(exp.select(*texts).from_(table_of(body.name)))
    except EngineError as error:
        error.what = f"the table cannot be read: {error.what}"
        raise error.at(body.span) from None
    return [column.combine_chunks() for column in table.columns]


def _file_levels(body: FileBody) -> list[pa.Array]:
    """Read ARX's layout: no header, `;` (or a comma or tab where there is none), quotes as CSV."""
    try:
        with Path(body.path).open(encoding="utf-8-sig") as file:
            first = file.readline()
        separator = next((mark for mark in ";,\t" if mark in first), ";")
        table = pyarrow.csv.read_csv(
            body.path,
            read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=True),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={f"f{number}": pa.string() for number in range(len(first) + 1)},
                strings_can_be_null=False,
            ),
        )
    except FileNotFoundError:
        raise no_such_file(body.path, body.span) from None
    except (OSError, UnicodeDecodeError, pa.ArrowInvalid):
        # Arrow's own text may quote a line of the file.
        raise_alone(
            BindError(
                "this file cannot be read as a hierarchy",
                body.span,
                f"{_LAYOUT}, UTF-8",
                code="bad_hierarchy",
            )
        )
    levels = [column.combine_chunks() for column in table.columns]
    _refuse_header(levels[-1], body)
    return levels


def _refuse_header(last_level: pa.Array, body: FileBody) -> None:
    """Raise for a first line that alone does not end in `*`.

    Such a line would be a value that no row has, and a level of its own that counts in the loss. A
    header over columns without `*` cannot be told from a value.
    """
    others = last_level[1:]
    if (
        len(others) > 1
        and last_level[0].as_py() != SUPPRESSED
        and pc.all(pc.equal(others, SUPPRESSED)).as_py()
    ):
        raise BindError(
            "the first line of this file looks like a header: every other line ends in '*'",
            body.span,
            "leave it out: every line is a value and its groups, the first one too",
            code="bad_hierarchy",
        )
