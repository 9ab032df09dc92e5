"""What treatments of numbers share: which columns they take, and what cannot be computed.

One rule for all of them: NaN, infinity and magnitudes of 1e300 or more are refused when a release
is made, and are NULL in the view if they come later. Nothing overflows in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.expressions import as_double, count_where, double
from ppdm_sql.treatments.kernels.affine import LARGEST
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import DOUBLE, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Statistics

    Floats = npt.NDArray[np.float64]

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
TIMES = (Kind.DATE, Kind.TIMESTAMP)
MOST_DAYS = 1_000_000
"""Dates move by no more than this."""
SECONDS_A_DAY = 86_400
_LIMIT = repr(LARGEST)


@dataclass(frozen=True, slots=True)
class NumberTreatment(Treatment):
    """A treatment of numbers: DOUBLE is released, and a row that cannot be computed is refused."""

    kinds: ClassVar[tuple[Kind, ...]] = NUMBERS
    instead = (
        "for categories write mapping(); numbers with a decimal comma are read with"
        " read_csv('file.csv', decimal_separator = ',')"
    )
    most: ClassVar[int | None] = None
    releases = DOUBLE

    def numbers(self, inputs: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Return the columns as DOUBLE; NULL where they cannot be computed with."""
        return [computable(column, x) for column, x in zip(self.columns, inputs, strict=True)]

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        # Where columns are mixed, one that is NULL makes others NULL: nothing is lost by that.
        is_mixed = self.traits.mixes_columns and len(self.columns) > 1
        return lost_rows(self.columns, inputs, () if is_mixed else outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, self.columns, results)

    def chance(self, keys: Keys) -> Draws:
        """Return where its random numbers come from."""
        return keys.chance(self.drawn_for())


def computable(column: InputColumn, value: exp.Expr) -> exp.Expr:
    """Return a number as DOUBLE; NULL where it cannot be computed with."""
    number = value if column.type == DOUBLE else as_double(value)
    if column.type.kind is not Kind.FLOAT:
        return number
    # NaN sorts above every number, so one comparison on each side is enough.
    within = exp.and_(
        exp.GT(this=number.copy(), expression=double(f"-{_LIMIT}")),
        exp.LT(this=number.copy(), expression=double(_LIMIT)),
    )
    return exp.case().when(within, number)


def lost_rows(
    columns: Sequence[InputColumn],
    inputs: Sequence[exp.Expr],
    outputs: Sequence[exp.Expr] = (),
) -> Mapping[str, exp.Expr]:
    """Return the aggregate that counts rows with a value that cannot be computed with.

    With `outputs`, where each column depends on itself alone, also those whose result is NULL.
    """
    lost = [
        exp.and_(value.is_(exp.null()).not_(), exp.paren(computable(column, value)).is_(exp.null()))
        for column, value in zip(columns, inputs, strict=True)
        if column.type.kind is Kind.FLOAT
    ]
    lost += [
        exp.and_(value.is_(exp.null()).not_(), result.is_(exp.null()))
        for value, result in zip(inputs, outputs, strict=False)
    ]
    return {"lost": count_where(exp.or_(*lost))} if lost else {}


def lost_days(inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
    """Return the aggregate that counts rows with an infinite day, or one that no calendar has."""
    lost = [
        exp.and_(value.is_(exp.null()).not_(), exp.paren(in_calendar(value)).is_(exp.null()))
        for value in inputs
    ]
    return {"lost": count_where(exp.or_(*lost))}


def count_of(results: Statistics, name: str) -> int:
    """Return a count; an empty table gives NULL for some of them."""
    return int(results.get(name) or 0)


def refuse_lost(
    keyword: str, columns: Sequence[InputColumn], results: Statistics, hint: str | None = None
) -> tuple[str, ...]:
    """Raise when rows were lost; return no warnings."""
    lost = count_of(results, "lost")
    if lost:
        names = ", ".join(str(column.name) for column in columns)
        raise TreatmentError(
            f"{keyword}: {plural(lost, 'row')} of '{names}' cannot be computed "
            "(NaN, infinite or out of range)",
            hint=hint or "leave them out in a (SELECT …) source, or make them NULL there",
            code="data_does_not_fit",
        )
    return ()


def in_calendar(value: exp.Expr) -> exp.Expr:
    """Return a DATE or TIMESTAMP; NULL for infinite ones and those no calendar has."""
    day = exp.cast(value.copy(), "DATE")
    first, last = (
        exp.cast(exp.Literal.string(text), "DATE") for text in ("0001-01-01", "9999-12-31")
    )
    within = exp.and_(
        exp.GTE(this=day, expression=first), exp.LTE(this=day.copy(), expression=last)
    )
    return exp.case().when(within, value.copy())


def shifted_time(
    column: InputColumn, value: exp.Expr, amount: exp.Expr, unit: str = "DAY"
) -> exp.Expr:
    """Return a DATE or TIMESTAMP moved by whole days, or seconds; NULL where there is no such one."""
    limit = exp.Literal.number(MOST_DAYS * (1 if unit == "DAY" else SECONDS_A_DAY))
    few = exp.and_(
        exp.GTE(this=amount.copy(), expression=exp.Neg(this=limit)),
        exp.LTE(this=amount.copy(), expression=limit.copy()),
    )
    number = exp.cast(exp.case().when(few, amount), "INT" if unit == "DAY" else "BIGINT")
    start = in_calendar(value)
    if column.type.kind is Kind.DATE:
        return exp.Add(this=exp.paren(start), expression=number)
    day = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this=unit))
    moved = exp.Add(this=exp.paren(start), expression=exp.Mul(this=number, expression=day))
    # Some types of TIMESTAMP end long before the calendar does.
    return exp.TryCast(this=moved, to=exp.DataType.build(column.type.text, dialect="duckdb"))


def sorted_values(cell: Any) -> Floats:
    """Return the values of a list cell without NULLs, ascending: sums then do not depend on order."""
    values = cell.values
    if values is None:
        return np.empty(0)
    numbers: Floats = np.sort(values.drop_null().to_numpy(zero_copy_only=False))
    return numbers
