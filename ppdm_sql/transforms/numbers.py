"""What treatments of numbers share: which columns they take, and what cannot be computed.

One rule for all of them: NaN, infinity and magnitudes of 1e300 or more are refused when a release
is made, and are NULL in the view if they come later. Nothing overflows in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.kernels.affine import LARGEST
from ppdm_sql.model.types import DOUBLE, Kind
from ppdm_sql.transforms.arguments import require_kind
from ppdm_sql.transforms.expressions import as_double, double

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ppdm_sql.model.syntax import TransformCall
    from ppdm_sql.model.transform import InputColumn, Statistics

    Floats = npt.NDArray[np.float64]

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
TIMES = (Kind.DATE, Kind.TIMESTAMP)
_LIMIT = repr(LARGEST)


def require_numbers(call: TransformCall, columns: Sequence[InputColumn]) -> None:
    """Raise unless every column is a number."""
    for column in columns:
        require_kind(call, column, NUMBERS, "for categories write mapping()")


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


def lost_rows(inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
    """Return the aggregate that counts rows with all values before and not all after."""
    had_all = [value.is_(exp.null()).not_() for value in inputs]
    has_not = [value.is_(exp.null()) for value in outputs]
    return {"lost": exp.CountIf(this=exp.and_(*had_all, exp.or_(*has_not)))}


def refuse_lost(
    keyword: str, columns: Sequence[InputColumn], results: Statistics, hint: str | None = None
) -> tuple[str, ...]:
    """Raise when rows were lost; return no warnings."""
    lost = int(results.get("lost", 0))
    if lost:
        names = ", ".join(str(column.name) for column in columns)
        raise TreatmentError(
            f"{keyword}: {plural(lost, 'row')} of '{names}' cannot be computed "
            "(NaN, infinite or out of range)",
            hint=hint or "leave them out in a (SELECT …) source, or make them NULL there",
        )
    return ()


def shifted_time(column: InputColumn, value: exp.Expr, days: exp.Expr) -> exp.Expr:
    """Return a DATE or TIMESTAMP moved by whole days; NULL for infinite ones."""
    if column.type.kind is Kind.DATE:
        moved: exp.Expr = exp.Add(this=value.copy(), expression=exp.cast(days, "INT"))
    else:
        day = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this="DAY"))
        moved = exp.Add(
            this=value.copy(), expression=exp.Mul(this=exp.cast(days, "INT"), expression=day)
        )
    type_ = column.type.text
    within = exp.and_(
        exp.GT(this=value.copy(), expression=exp.cast(exp.Literal.string("0001-01-01"), type_)),
        exp.LT(this=value.copy(), expression=exp.cast(exp.Literal.string("9999-12-31"), type_)),
    )
    return exp.case().when(within, moved)


def sorted_values(cell: Any) -> Floats:
    """Return the values of a list cell without NULLs, ascending: sums then do not depend on order."""
    values = cell.values
    if values is None:
        return np.empty(0)
    numbers: Floats = np.sort(values.drop_null().to_numpy(zero_copy_only=False))
    return numbers
