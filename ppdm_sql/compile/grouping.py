"""GENERALIZE as SQL: the view over the table of combinations, and what is asked of the data.

A combination is one set of values of all QUASI columns: the generalized ones as the source has
them, the others as they are released. The owner's table says what each combination is released
as. One that is not in it arrived later and is withheld until the release is refreshed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.compile.query import rows_with, source_table
from ppdm_sql.compile.render import check_tree, column_of, named, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.model.grouping import COMBINATIONS, SLOT
from ppdm_sql.model.syntax import Role
from ppdm_sql.model.types import Kind
from ppdm_sql.names import Name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.compile.query import Storage
    from ppdm_sql.compile.targets import Target
    from ppdm_sql.model.grouping import Grouping, When
    from ppdm_sql.model.release import Release
    from ppdm_sql.model.transform import InputColumn
    from ppdm_sql.model.types import ColumnType

_ROWS, _TABLE, _CELLS = "s", "c", "cells"
HIGH = "ppdm_high"
"""Whether a row is in the high class."""
_PERSON, _ORIGINAL = "ppdm_person", "ppdm_original"
_NUMBER = "ppdm_person_number"
ID, IS_SUPPRESSED, COUNT, PERSON = "id", "is_suppressed", "n", "person"


def key_column(index: int) -> str:
    """Return the name of a generalized column's original value in the table of combinations."""
    return f"k{index}"


def fixed_column(index: int) -> str:
    """Return the name of another QUASI column's released value there."""
    return f"f{index}"


def label_column(index: int) -> str:
    """Return the name of a generalized column's released text there."""
    return f"r{index}"


def text_column(index: int) -> str:
    """Return the name of a generalized column's text in a query of cells."""
    return f"x{index}"


def sensitive_column(index: int) -> str:
    """Return the name of a sensitive column's original value in a query of cells."""
    return f"s{index}"


def fixed_quasi(release: Release) -> tuple[tuple[Name, ColumnType], ...]:
    """Return the QUASI columns that are not generalized, with the types that leave."""
    return tuple(
        column
        for rule in release.released_rules
        if rule.role is Role.QUASI and not rule.is_generalized
        for column in zip(rule.names, rule.output_types, strict=True)
    )


def grouped_select(
    release: Release,
    storage: Storage,
    target: Target,
    carried: Mapping[str, exp.Expr] | None = None,
    suppressed_flag: str | None = None,
) -> exp.Select:
    """Return the SELECT of a release with GENERALIZE; carried columns come last.

    The owner alone may ask for a flag of the records that are kept as `*`.
    """
    grouping = _grouping(release)
    carried = carried or {}
    rows = rows_with(release, storage, target, _with_high(grouping, carried))
    is_suppressed = column_of(IS_SUPPRESSED, _TABLE)
    labels = {column.name: index for index, column in enumerate(grouping.columns)}
    types = {column.name: column.column.type for column in grouping.columns}
    types |= dict(fixed_quasi(release))
    shown: list[exp.Expr] = []
    for rule in release.released_rules:
        for name in rule.names:
            value: exp.Expr = column_of(name.text, _ROWS)
            if name in types:
                value = _one_zero(value, types[name])
            if name in labels:
                label = column_of(label_column(labels[name]), _TABLE)
                value = _if_high(grouping, label, exp.cast(value, "VARCHAR"))
            elif name in types and grouping.keeps_suppressed:
                hidden = exp.case().when(is_suppressed.copy(), exp.null()).else_(value.copy())
                value = _if_high(grouping, hidden, value)
            shown.append(named(value, name.text))
    shown += [named(column_of(name, _ROWS), name) for name in carried]
    join = _join(release, storage, "LEFT" if grouping.when else "")
    # NULL where the combination is not in the table: neither shown nor, as a star, kept.
    found: exp.Expr = exp.Not(this=is_suppressed)
    if grouping.keeps_suppressed:
        found = exp.Not(this=exp.Is(this=is_suppressed, expression=exp.null()))
    if grouping.when is not None:
        found = exp.or_(exp.Not(this=column_of(HIGH, _ROWS)), found)
    for tree in (*shown, join, found):
        check_tree(tree, target)
    if suppressed_flag is not None:
        flag = _if_high(grouping, is_suppressed.copy(), exp.false())
        shown.append(named(flag, suppressed_flag))
    return _over(rows, _ROWS, shown, join).where(found)


def cells_query(
    release: Release, storage: Storage, target: Target, by_person: bool, only_high: bool = True
) -> exp.Select:
    """Return the treated rows as distinct combinations with their sensitive values, counted."""
    grouping = _grouping(release)
    carried = _with_high(grouping, _originals(grouping, by_person))
    rows = rows_with(release, storage, target, carried)
    parts: dict[str, exp.Expr] = {
        key_column(index): _alike(column_of(column.name.text, _ROWS), column.column.type)
        for index, column in enumerate(grouping.columns)
    }
    for index, (name, type_) in enumerate(fixed_quasi(release)):
        parts[fixed_column(index)] = _alike(column_of(name.text, _ROWS), type_)
    parts |= _values(grouping, by_person)
    shown = [named(tree, name) for name, tree in parts.items()]
    cells = exp.select(*shown, named(exp.Count(this=exp.Star()), COUNT))
    rows = _with_numbers(rows) if by_person else rows
    cells = cells.from_(_subquery(rows, _ROWS)).group_by(*(tree.copy() for tree in parts.values()))
    if only_high and grouping.when is not None:
        cells = cells.where(column_of(HIGH, _ROWS))
    # Texts of the few distinct values, not of every row.
    texts = [
        named(exp.cast(column_of(key_column(index), _CELLS), "VARCHAR"), text_column(index))
        for index in range(len(grouping.columns))
    ]
    return exp.select(exp.Star(), *texts).from_(_subquery(cells, _CELLS))


def released_cells_query(
    release: Release, storage: Storage, target: Target, by_person: bool
) -> exp.Select:
    """Return the treated rows that leave, by the row of the table whose texts they show.

    The row stands for its texts: grouping by one number costs half of grouping by all of them.
    """
    grouping = _grouping(release)
    carried = _with_high(grouping, _originals(grouping, by_person))
    rows = rows_with(release, storage, target, carried)
    columns = {ID: column_of(ID, _TABLE), **_values(grouping, by_person)}
    shown = [named(tree, name) for name, tree in columns.items()]
    shown.append(named(exp.Count(this=exp.Star()), COUNT))
    rows = _with_numbers(rows) if by_person else rows
    cells = _over(rows, _ROWS, shown, _join(release, storage, ""))
    cells = cells.where(exp.Not(this=column_of(IS_SUPPRESSED, _TABLE)))
    if grouping.when is not None:
        cells = cells.where(column_of(HIGH, _ROWS))
    return cells.group_by(*(tree.copy() for tree in columns.values()))


def labels_query(release: Release, storage: Storage) -> exp.Select:
    """Return what the rows of the table of combinations show, in the order of their numbers."""
    names = [label_column(index) for index in range(len(_grouping(release).columns))]
    names += [fixed_column(index) for index in range(len(fixed_quasi(release)))]
    table = table_of(storage.lookup_table(SLOT, COMBINATIONS), _TABLE)
    shown = [column_of(name, _TABLE) for name in names]
    return exp.select(*shown).from_(table).order_by(column_of(ID, _TABLE))


def waiting_query(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return how many rows are withheld because their combination arrived later."""
    grouping = _grouping(release)
    rows = rows_with(release, storage, target, _with_high(grouping, {}))
    missing: exp.Expr = exp.Is(this=column_of(IS_SUPPRESSED, _TABLE), expression=exp.null())
    if grouping.when is not None:
        missing = exp.and_(column_of(HIGH, _ROWS), missing)
    count = named(exp.Count(this=exp.Star()), COUNT)
    return _over(rows, _ROWS, [count], _join(release, storage, "LEFT")).where(missing)


def persons_query(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return rows, treated rows, and how many persons the treated rows are about."""
    grouping = _grouping(release)
    rows = rows_with(
        release, storage, target, _with_high(grouping, _originals(grouping, by_person=True))
    )
    counts: dict[str, exp.Expr] = {"rows": exp.Count(this=exp.Star())}
    high = None if grouping.when is None else column_of(HIGH, _ROWS)
    counts["treated"] = exp.Count(this=exp.Star()) if high is None else exp.CountIf(this=high)
    if grouping.person is not None:
        person: exp.Expr = column_of(_PERSON, _ROWS)
        if high is not None:
            person = exp.case().when(high.copy(), person)
        counts["persons"] = exp.Count(this=exp.Distinct(expressions=[person]))
        counts["named"] = exp.Count(this=person.copy())
    shown = [named(tree, name) for name, tree in counts.items()]
    return exp.select(*shown).from_(_subquery(rows, _ROWS))


def reference_query(release: Release, column: InputColumn, by_person: bool) -> exp.Select:
    """Return how often each value of a sensitive column stands in the whole source, in order."""
    value = told_apart(column_of(column.name.text, _ROWS), column.type)
    counted: exp.Expr = exp.Count(this=exp.Star())
    person = _grouping(release).person
    if by_person and person is not None:
        counted = persons_counted(column_of(person.name.text, _ROWS))
    return (
        exp.select(
            named(value, sensitive_column(0)),
            named(exp.cast(value.copy(), "VARCHAR"), text_column(0)),
            named(counted, COUNT),
        )
        .from_(source_table(release.source, _ROWS))
        .group_by(value.copy())
        .order_by(exp.Ordered(this=value.copy(), nulls_first=True))
    )


def condition_query(release: Release, storage: Storage) -> exp.Select:
    """Return how many rows our reading of WHEN and the owner's own text decide differently."""
    when = _grouping(release).when
    if when is None:
        raise InternalError("there is no condition to compare")
    ours = when.tree.copy().transform(_placed)
    theirs = exp.Paren(this=exp.Var(this=f"{when.text}\n"))
    differs = exp.NullSafeNEQ(this=exp.Paren(this=ours), expression=theirs)
    query = exp.select(named(exp.CountIf(this=differs), COUNT))
    query = query.from_(source_table(release.source, _ROWS))
    if when.parameters:
        query = query.join(table_of(storage.parameter_table(), "p"), join_type="cross")
    return query


def _placed(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Placeholder):
        return column_of(node.name, "p")
    return column_of(node.name, _ROWS) if isinstance(node, exp.Column) else node


def _grouping(release: Release) -> Grouping:
    if release.grouping is None:
        raise InternalError("this release has no GENERALIZE")
    return release.grouping


def high_flag(when: When) -> exp.Expr:
    """Return whether a row is in the high class, over columns of the source; unknown means yes."""
    is_low = exp.Not(this=exp.Paren(this=when.tree.copy()))
    return exp.case().when(is_low, exp.false()).else_(exp.true())


def _with_high(grouping: Grouping, carried: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    """Add whether a row is in the high class; where that cannot be told, it is."""
    if grouping.when is None:
        return dict(carried)
    return {**carried, HIGH: high_flag(grouping.when)}


def _originals(grouping: Grouping, by_person: bool) -> dict[str, exp.Expr]:
    carried: dict[str, exp.Expr] = {
        f"{_ORIGINAL}{index}": told_apart(
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
        sensitive_column(index): column_of(f"{_ORIGINAL}{index}", _ROWS)
        for index in range(len(grouping.sensitive))
    }
    if by_person and grouping.person is not None:
        columns[PERSON] = column_of(_NUMBER, _ROWS)
    return columns


def _with_numbers(rows: exp.Select) -> exp.Select:
    """Number the persons in the engine: only it knows which KEYs are equal to it."""
    order = exp.Order(expressions=[exp.Ordered(this=column_of(_PERSON, _ROWS))])
    number = exp.Window(this=exp.DenseRank(), order=order)
    names = [column.alias for column in rows.expressions]
    if Name(_NUMBER) in map(Name, names):  # of a release that an earlier program made
        raise Refused(f"a column of a release may not be called '{_NUMBER}'")
    shown = [named(column_of(name, _ROWS), name) for name in names]
    return exp.select(*shown, named(number, _NUMBER)).from_(_subquery(rows, _ROWS))


def _if_high(grouping: Grouping, high: exp.Expr, low: exp.Expr) -> exp.Expr:
    if grouping.when is None:
        return high
    return exp.case().when(column_of(HIGH, _ROWS), high).else_(low)


def _join(release: Release, storage: Storage, side: str) -> exp.Join:
    keys = [
        (column.name, column.column.type, key_column(index))
        for index, column in enumerate(_grouping(release).columns)
    ]
    keys += [
        (name, type_, fixed_column(index))
        for index, (name, type_) in enumerate(fixed_quasi(release))
    ]
    on = [
        exp.NullSafeEQ(
            this=_exact(column_of(name.text, _ROWS), type_),
            expression=_exact(column_of(key, _TABLE), type_),
        )
        for name, type_, key in keys
    ]
    table = table_of(storage.lookup_table(SLOT, COMBINATIONS), _TABLE)
    return exp.Join(this=table, on=exp.and_(*on), side=side)


def _alike(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a value of a combination so that equal ones are one combination in Arrow, too."""
    return _one_zero(_exact(value, type_), type_)


def _exact(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Compare texts letter by letter, whatever collation the owner has set."""
    if type_.kind is Kind.OTHER:
        return exp.cast(value, "VARCHAR")  # always NULL: only a suppressed column is of such
    if type_.kind not in (Kind.TEXT, Kind.ENUM):
        return value
    return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))


def _one_zero(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a number without the sign of a zero or NaN: equal ones must be shown alike."""
    if type_.kind is not Kind.FLOAT:
        return value
    nan = exp.cast(exp.Literal.string("NaN"), type_.text)
    plain = exp.Add(this=value.copy(), expression=exp.Literal.number(0))
    return exp.case().when(exp.EQ(this=value, expression=nan), nan.copy()).else_(plain)


def persons_counted(key: exp.Column) -> exp.Expr:
    """Return the number of distinct KEYs of a group; rows without one are one person together."""
    named_persons = exp.Count(this=exp.Distinct(expressions=[key]))
    is_null = exp.Is(this=key.copy(), expression=exp.null())
    return exp.Add(this=named_persons, expression=exp.cast(exp.func("BOOL_OR", is_null), "INT"))


def told_apart(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a sensitive value so that what is equal here is equal in Arrow, too."""
    if type_.kind is Kind.ENUM:
        return exp.cast(value, "VARCHAR")
    return value if type_.kind is Kind.OTHER else _alike(value, type_)


def _over(rows: exp.Select, alias: str, shown: list[exp.Expr], join: exp.Join) -> exp.Select:
    select = exp.select(*shown).from_(_subquery(rows, alias))
    select.append("joins", join)
    return select


def _subquery(select: exp.Select, alias: str) -> exp.Subquery:
    return select.subquery(exp.to_identifier(alias, quoted=True))
