"""What an audit reads: every released row with the originals it was made of, in plain types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.groups.compile import find_grouping, grouped_select, high_flag
from ppdm_sql.groups.queries import distinguishable, persons_counted
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.compile import rows_with, source_table
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.release.model import Plan, Release
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.treatments.traits import Traits
    from ppdm_sql.types import ColumnType

_ROWS, _VALUE, _KEY = "s", "v", "k"
PERSON, IS_HIGH, IS_SUPPRESSED, COUNT = "person", "is_high", "is_suppressed", "n"
NATIVE, TEXT, NUMBER = "native", "text", "number"
_CARRIED = "ppdm_audit_"
_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})
_TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP})
_COMPARED = _NUMBERS | _TIMES | {Kind.BOOLEAN, Kind.UUID, Kind.TEXT}
"""Kinds that a value of elsewhere is brought to: one value can be written in several ways, and only
texts have a collation."""
_TOO_LARGE = frozenset({"HUGEINT", "UHUGEINT"})
"""Arrow has no whole numbers that large: they are read as texts."""
_TOLD_BY_TEXT = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.UUID, Kind.BOOLEAN}) | _TIMES
"""Kinds of KEYs of which two are equal if their texts are: no collation, no -0.0."""
MEASURED = _NUMBERS | _TIMES
"""Kinds of values that have distances."""


@dataclass(frozen=True, slots=True)
class AuditedColumn:
    """A released column, and what is read of it."""

    name: Name
    role: Role
    treatments: tuple[str, ...]
    traits: tuple[Traits, ...]
    group: int
    source: InputColumn
    type: ColumnType
    is_generalized: bool

    @property
    def is_numeric(self) -> bool:
        """Whether it is read as numbers, before and after."""
        return self.source.type.kind in MEASURED and self.type.kind in MEASURED


def audited_columns(release: Release) -> tuple[AuditedColumn, ...]:
    """Return the columns that leave, in order."""
    return tuple(
        AuditedColumn(
            name,
            rule.role,
            rule.words,
            rule.traits,
            group,
            source,
            type_,
            rule.is_generalized,
        )
        for group, rule in enumerate(release.released_rules)
        for name, source, type_ in zip(rule.names, rule.columns, rule.output_types, strict=True)
    )


def person_column(release: Release) -> InputColumn | None:
    """Return the KEY: whom a row is about."""
    return next((rule.columns[0] for rule in release.rules if rule.role is Role.KEY), None)


def released_column(index: int) -> str:
    """Return the name of a released value in what an audit reads."""
    return f"r{index}"


def original_column(index: int) -> str:
    """Return the name of its original."""
    return f"o{index}"


def text_column(index: int) -> str:
    """Return the name of its original as text."""
    return f"t{index}"


def shown_column(index: int) -> str:
    """Return the name of the released value as text."""
    return f"x{index}"


def audited_rows(plan: Plan, linked: Sequence[Name] = ()) -> exp.Select:
    """Return the rows of a release; `linked` columns also as texts, to be compared with others."""
    columns = audited_columns(plan.release)
    person = person_column(plan.release)
    carried: dict[str, exp.Expr] = {
        f"{_CARRIED}{index}": _source_column(column.source) for index, column in enumerate(columns)
    }
    if person is not None:
        carried[_CARRIED + PERSON] = _source_column(person)
    grouping = find_grouping(plan.release)
    if grouping is not None and grouping.when is not None:
        carried[_CARRIED + IS_HIGH] = high_flag(grouping.when)
    rows = (
        rows_with(plan, carried)
        if grouping is None
        else grouped_select(plan, carried, _CARRIED + IS_SUPPRESSED)
    )
    shown: dict[str, exp.Expr] = {}
    for index, column in enumerate(columns):
        released = _column(column.name.text)
        original = _column(f"{_CARRIED}{index}")
        own = distinguishable(original.copy(), column.source.type)
        shown[released_column(index)] = (
            _plain(distinguishable(released.copy(), column.type), column.type)
            if column.is_numeric
            else exp.cast(released.copy(), "VARCHAR")
        )
        shown[original_column(index)] = _plain(own, column.source.type)
        if column.is_generalized or column.name in linked:
            shown[text_column(index)] = exp.cast(original.copy(), "VARCHAR")
        if column.name in linked:
            shown[shown_column(index)] = exp.cast(released.copy(), "VARCHAR")
    if person is not None:
        key = _column(_CARRIED + PERSON)
        shown[PERSON] = exp.cast(key, "VARCHAR")
        if person.type.kind not in _TOLD_BY_TEXT:
            # Only the engine knows which KEYs are equal to it.
            order = exp.Order(expressions=[exp.Ordered(this=key.copy())])
            shown[NUMBER] = exp.Window(this=exp.DenseRank(), order=order)
    if grouping is not None:
        shown[IS_SUPPRESSED] = _column(_CARRIED + IS_SUPPRESSED)
    if grouping is not None and grouping.when is not None:
        shown[IS_HIGH] = _column(_CARRIED + IS_HIGH)
    return exp.select(*_named(shown)).from_(rows.subquery(exp.to_identifier(_ROWS, quoted=True)))


def in_fixed_order(rows: exp.Select) -> exp.Select:
    """Return the same rows in an order that the engine's threads do not decide.

    What is drawn from them with a seed is then the same each time.
    """
    names = [column.alias_or_name for column in rows.expressions]
    # By the KEY first: where it tells rows apart, nothing else has to be compared.
    names.sort(key=lambda name: name != PERSON)
    inner = rows.subquery(exp.to_identifier(_ROWS, quoted=True))
    ordered = [exp.Ordered(this=_column(name), nulls_first=True) for name in names]
    return exp.select(exp.Star()).from_(inner).order_by(*ordered)


def asked_again(rows: exp.Select, columns: Sequence[str], is_descending: bool) -> exp.Select:
    """Return some columns of the same rows in another order."""
    order = exp.Ordered(this=_column(columns[0]), desc=is_descending)
    chosen = [_column(name) for name in (PERSON, *columns)]
    inner = rows.subquery(exp.to_identifier(_ROWS, quoted=True))
    return exp.select(*chosen).from_(inner).order_by(order)


def reference_values(plan: Plan, column: AuditedColumn, by_person: bool) -> exp.Select:
    """Return how often each value of a sensitive column stands in the whole source, in order.

    Once as it is compared with `audited_rows`, once as it is, once as text.
    """
    person = person_column(plan.release)
    shown: dict[str, exp.Expr] = {_VALUE: _column(column.source.name.text)}
    counted: exp.Expr = exp.Count(this=exp.Star())
    if by_person and person is not None:
        shown[_KEY] = _column(person.name.text)
        counted = persons_counted(_column(_KEY))
    inner = exp.select(*_named(shown)).from_(source_table(plan.release.source, _ROWS))
    value = distinguishable(_column(_VALUE), column.source.type)
    # What is equal to the engine can be two texts: a month and thirty days. Each stands for itself.
    compared = _plain(value, column.source.type)
    native = exp.AnyValue(this=value.copy())
    grouped = exp.select(
        *_named(
            {
                _VALUE: compared,
                NATIVE: native,
                TEXT: exp.cast(native.copy(), "VARCHAR"),
                COUNT: counted,
            }
        )
    )
    return (
        grouped.from_(inner.subquery(exp.to_identifier(_ROWS, quoted=True)))
        .group_by(compared.copy())
        .order_by(exp.Ordered(this=native.copy(), nulls_first=True))
    )


def source_rows(plan: Plan) -> exp.Select:
    """Return how many rows the source has."""
    count = named(exp.Count(this=exp.Star()), COUNT)
    return exp.select(count).from_(source_table(plan.release.source, _ROWS))


def background_rows(
    table: QualifiedName, columns: Mapping[str, InputColumn], values: Mapping[str, InputColumn]
) -> exp.Select:
    """Return columns of a background table by new names: as the source writes them, and as it is.

    The `values` can be climbed with in a hierarchy.
    """
    shown: dict[str, exp.Expr] = {
        name: exp.cast(_in_type(_column(column.name.text), column.type), "VARCHAR")
        for name, column in columns.items()
    }
    for name, column in values.items():
        value = _in_type(_column(column.name.text), column.type)
        shown[name] = _plain(distinguishable(value, column.type), column.type)
    return exp.select(*_named(shown)).from_(table_of(table, _ROWS))


def _in_type(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a value of elsewhere as the source would have it: 30 and 30.0 are one age."""
    if type_.kind not in _COMPARED:
        return value
    return exp.TryCast(this=value, to=exp.DataType.build(type_.text, dialect="duckdb"))


def _plain(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a value in a type that Arrow has, no two values alike that are not equal."""
    if type_.kind in MEASURED and type_.text not in _TOO_LARGE:
        return value.copy()
    return exp.cast(value.copy(), "VARCHAR")


def _source_column(column: InputColumn) -> exp.Expr:
    return exp.column(exp.to_identifier(column.name.text, quoted=True))


def _column(name: str) -> exp.Column:
    return column_of(name, _ROWS)


def _named(shown: Mapping[str, exp.Expr]) -> list[exp.Expr]:
    return [named(tree, name) for name, tree in shown.items()]
