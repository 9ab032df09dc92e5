"""What GENERALIZE asks of the data: combinations and persons counted, targets measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, data_type, named, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.groups.compile import (
    COMBINATIONS,
    COUNT,
    HIGH,
    ID,
    IS_SUPPRESSED,
    ROWS,
    SLOT,
    TABLE,
    alike,
    combinations_join,
    fixed_column,
    fixed_quasi,
    grouping_of,
    key_column,
    label_column,
    over,
    subquery,
    with_high,
)
from ppdm_sql.names import Name
from ppdm_sql.release.compile import rows_with, source_table
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.groups.compile import Grouping
    from ppdm_sql.release.model import Plan
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.types import ColumnType

_CELLS = "cells"
_PERSON, _ORIGINAL = "ppdm_person", "ppdm_original"
_NUMBER = "ppdm_person_number"
PERSON = "person"


def text_column(index: int) -> str:
    """Return the name of a generalized column's text in a query of cells."""
    return f"x{index}"


def sensitive_column(index: int) -> str:
    """Return the name of a sensitive column's original value in a query of cells."""
    return f"s{index}"


def cells_query(plan: Plan, by_person: bool, only_high: bool = True) -> exp.Select:
    """Return the treated rows as distinct combinations with their sensitive values, counted."""
    grouping = grouping_of(plan)
    carried = with_high(grouping, _originals(grouping, by_person))
    rows = rows_with(plan, carried)
    parts: dict[str, exp.Expr] = {
        key_column(index): alike(column_of(column.name.text, ROWS), column.column.type)
        for index, column in enumerate(grouping.columns)
    }
    for index, (name, type_) in enumerate(fixed_quasi(plan.release)):
        parts[fixed_column(index)] = alike(column_of(name.text, ROWS), type_)
    parts |= _values(grouping, by_person)
    shown = [named(tree, name) for name, tree in parts.items()]
    cells = exp.select(*shown, named(exp.Count(this=exp.Star()), COUNT))
    rows = _with_numbers(rows) if by_person else rows
    cells = cells.from_(subquery(rows, ROWS)).group_by(*(tree.copy() for tree in parts.values()))
    if only_high and grouping.when is not None:
        cells = cells.where(column_of(HIGH, ROWS))
    # Texts of the few distinct values, not of every row.
    texts = [
        named(exp.cast(column_of(key_column(index), _CELLS), "VARCHAR"), text_column(index))
        for index in range(len(grouping.columns))
    ]
    return exp.select(exp.Star(), *texts).from_(subquery(cells, _CELLS))


def released_cells_query(plan: Plan, by_person: bool) -> exp.Select:
    """Return the treated rows that leave, by the row of the table whose texts they show.

    The row stands for its texts: grouping by one number costs half of grouping by all of them.
    """
    grouping = grouping_of(plan)
    carried = with_high(grouping, _originals(grouping, by_person))
    rows = rows_with(plan, carried)
    columns = {ID: column_of(ID, TABLE), **_values(grouping, by_person)}
    shown = [named(tree, name) for name, tree in columns.items()]
    shown.append(named(exp.Count(this=exp.Star()), COUNT))
    rows = _with_numbers(rows) if by_person else rows
    cells = over(rows, ROWS, shown, combinations_join(plan, ""))
    cells = cells.where(exp.Not(this=column_of(IS_SUPPRESSED, TABLE)))
    if grouping.when is not None:
        cells = cells.where(column_of(HIGH, ROWS))
    return cells.group_by(*(tree.copy() for tree in columns.values()))


def labels_query(plan: Plan) -> exp.Select:
    """Return what the rows of the table of combinations show, in the order of their numbers."""
    names = [label_column(index) for index in range(len(grouping_of(plan).columns))]
    names += [fixed_column(index) for index in range(len(fixed_quasi(plan.release)))]
    table = table_of(plan.storage.lookup_table(SLOT, COMBINATIONS), TABLE)
    shown = [column_of(name, TABLE) for name in names]
    return exp.select(*shown).from_(table).order_by(column_of(ID, TABLE))


def persons_query(plan: Plan) -> exp.Select:
    """Return rows, treated rows, and how many persons the treated rows are about."""
    grouping = grouping_of(plan)
    rows = rows_with(plan, with_high(grouping, _originals(grouping, by_person=True)))
    counts: dict[str, exp.Expr] = {"rows": exp.Count(this=exp.Star())}
    high = None if grouping.when is None else column_of(HIGH, ROWS)
    counts["treated"] = exp.Count(this=exp.Star()) if high is None else exp.CountIf(this=high)
    if grouping.person is not None:
        person: exp.Expr = column_of(_PERSON, ROWS)
        if high is not None:
            person = exp.case().when(high.copy(), person)
        counts["persons"] = exp.Count(this=exp.Distinct(expressions=[person]))
        counts["named"] = exp.Count(this=person.copy())
    shown = [named(tree, name) for name, tree in counts.items()]
    return exp.select(*shown).from_(subquery(rows, ROWS))


def reference_query(plan: Plan, column: InputColumn, by_person: bool) -> exp.Select:
    """Return how often each value of a sensitive column stands in the whole source, in order."""
    value = distinguishable(column_of(column.name.text, ROWS), column.type)
    counted: exp.Expr = exp.Count(this=exp.Star())
    person = grouping_of(plan).person
    if by_person and person is not None:
        counted = persons_counted(column_of(person.name.text, ROWS))
    return (
        exp.select(
            named(value, sensitive_column(0)),
            named(exp.cast(value.copy(), "VARCHAR"), text_column(0)),
            named(counted, COUNT),
        )
        .from_(source_table(plan.release.source, ROWS))
        .group_by(value.copy())
        .order_by(exp.Ordered(this=value.copy(), nulls_first=True))
    )


def chosen_query(column: InputColumn) -> exp.Select:
    """Return the values of a list, the one parameter, as the column has them; NULL: it cannot."""
    listed = exp.func("UNNEST", exp.Placeholder())
    value = exp.TryCast(this=listed, to=data_type(comparable(column.type)))
    return exp.select(named(value, sensitive_column(0)))


def comparable(type_: ColumnType) -> str:
    """Return the type in which sensitive values are compared."""
    return "VARCHAR" if type_.kind is Kind.ENUM else type_.text


def condition_query(plan: Plan) -> exp.Select:
    """Return how many rows our reading of WHEN and the owner's own text decide differently."""
    when = grouping_of(plan).when
    if when is None:
        raise InternalError("there is no condition to compare")
    ours = when.tree.copy().transform(_placed)
    theirs = exp.Paren(this=exp.Var(this=f"{when.text}\n"))
    differs = exp.NullSafeNEQ(this=exp.Paren(this=ours), expression=theirs)
    query = exp.select(named(exp.CountIf(this=differs), COUNT))
    query = query.from_(source_table(plan.release.source, ROWS))
    if when.parameters:
        query = query.join(table_of(plan.storage.parameter_table(), "p"), join_type="cross")
    return query


def _placed(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Placeholder):
        return column_of(node.name, "p")
    return column_of(node.name, ROWS) if isinstance(node, exp.Column) else node


def _originals(grouping: Grouping, by_person: bool) -> dict[str, exp.Expr]:
    carried: dict[str, exp.Expr] = {
        f"{_ORIGINAL}{index}": distinguishable(
            exp.column(exp.to_identifier(column.name.text, quoted=True)), column.type
        )
        for index, column in enumerate(grouping.sensitive)
    }
    if by_person and grouping.person is not None:
        name = exp.to_identifier(grouping.person.name.text, quoted=True)
        carried[_PERSON] = exp.column(name)
    return carried


def _values(grouping: Grouping, by_person: bool) -> dict[str, exp.Expr]:
    columns: dict[str, exp.Expr] = {
        sensitive_column(index): column_of(f"{_ORIGINAL}{index}", ROWS)
        for index in range(len(grouping.sensitive))
    }
    if by_person and grouping.person is not None:
        columns[PERSON] = column_of(_NUMBER, ROWS)
    return columns


def _with_numbers(rows: exp.Select) -> exp.Select:
    """Number the persons in the engine: only it knows which KEYs are equal to it."""
    order = exp.Order(expressions=[exp.Ordered(this=column_of(_PERSON, ROWS))])
    number = exp.Window(this=exp.DenseRank(), order=order)
    names = [column.alias for column in rows.expressions]
    if Name(_NUMBER) in map(Name, names):  # of a release that an earlier program made
        raise Refused(f"a column of a release may not be called '{_NUMBER}'", code="reserved_name")
    shown = [named(column_of(name, ROWS), name) for name in names]
    return exp.select(*shown, named(number, _NUMBER)).from_(subquery(rows, ROWS))


def persons_counted(key: exp.Column) -> exp.Expr:
    """Return the number of distinct KEYs of a group; rows without one are one person together."""
    named_persons = exp.Count(this=exp.Distinct(expressions=[key]))
    is_null = exp.Is(this=key.copy(), expression=exp.null())
    return exp.Add(this=named_persons, expression=exp.cast(exp.func("BOOL_OR", is_null), "INT"))


def distinguishable(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a sensitive value so that what is equal here is equal in Arrow, too."""
    if type_.kind is Kind.ENUM:
        return exp.cast(value, "VARCHAR")
    return value if type_.kind is Kind.OTHER else alike(value, type_)
