"""What `bit_plus` and `bit_minus` share: digits by arithmetic, never by strings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.arguments import Arguments, one_column, require_kind
from ppdm_sql.treatments.expressions import (
    as_double,
    comparison,
    count_where,
    double,
    literal_of,
    never,
)
from ppdm_sql.treatments.kernels.digits import decimals, shift_digits, unscaled
from ppdm_sql.treatments.numbers import NUMBERS, count_of, lost_rows, refuse_lost
from ppdm_sql.types import DOUBLE, FITS_BIGINT, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Scope, Statistics

_WIDER = {
    "TINYINT": "SMALLINT",
    "UTINYINT": "SMALLINT",
    "SMALLINT": "INTEGER",
    "USMALLINT": "INTEGER",
    "INTEGER": "BIGINT",
    "UINTEGER": "BIGINT",
    "BIGINT": "HUGEINT",
}
_DIGITS = {
    "TINYINT": 3,
    "UTINYINT": 3,
    "SMALLINT": 5,
    "USMALLINT": 5,
    "INTEGER": 10,
    "UINTEGER": 10,
    "BIGINT": 19,
}
_DOUBLE_DIGITS = 15
"""Whole numbers of this many digits are exact in a DOUBLE, before and after."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MOST_DECIMAL_DIGITS = 18


@dataclass(frozen=True, slots=True)
class DigitColumn:
    """A column as whole numbers: how to get them, how many digits, what comes out."""

    column: InputColumn
    scale: int
    digits: int
    output: ColumnType

    @property
    def is_rounded(self) -> bool:
        """Whether the column is floating point, rounded to its last decimal first."""
        return self.column.type.kind is Kind.FLOAT

    @property
    def _room(self) -> int:
        """Digits of a DECIMAL in which the column can be multiplied by a power of ten."""
        return 18 if self.digits + self.scale <= 18 else 38

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> DigitColumn:
        """Take an integer, a DECIMAL of at most 18 digits, or DOUBLE with `decimals`."""
        column = one_column(call, columns)
        require_kind(call, column, NUMBERS, "for categories write mapping()")
        arguments = Arguments(call, ("decimals",))
        kind = column.type.kind
        if kind is Kind.FLOAT:
            if "decimals" not in arguments:
                raise TreatmentError(
                    f"{call.keyword}: '{column.name}' is floating point, its digits have no end",
                    call.span,
                    f"write {call.keyword}(decimals => 2)",
                )
            scale = arguments.integer("decimals", 0, 0, 9)
            return cls(column, scale, _DOUBLE_DIGITS, DOUBLE)
        if "decimals" in arguments:
            arguments.fail("decimals", f"'{column.name}' has its own decimals")
        if kind is Kind.DECIMAL:
            found = _DECIMAL.match(column.type.text)
            if found is None or int(found[1]) > _MOST_DECIMAL_DIGITS:
                raise _too_wide(call, column)
            return cls(column, int(found[2]), int(found[1]), column.type)
        if column.type.text not in FITS_BIGINT:
            raise _too_wide(call, column)
        text = column.type.text
        return cls(column, 0, _DIGITS[text], ColumnType(_WIDER[text]))

    def moved(self, value: exp.Expr, scope: Scope, by: int) -> exp.Expr:
        """Return the column with its digits moved, by arithmetic."""
        if self.column.type.text == "BIGINT":
            return self._moved_bigint(value, scope, by)
        whole = scope.let(self.whole(value))
        return self.released(_shifted(whole, self.digits, by), value)

    def _moved_bigint(self, value: exp.Expr, scope: Scope, by: int) -> exp.Expr:
        """128-bit numbers are slow: only values of 19 digits are computed in them."""
        most = exp.Literal.number(10**_MOST_DECIMAL_DIGITS)
        within = exp.and_(
            exp.GT(this=value.copy(), expression=exp.Neg(this=most)),
            exp.LT(this=value.copy(), expression=most.copy()),
        )
        short = scope.let(exp.case().when(within, exp.Abs(this=value.copy())))
        quick = self.released(_shifted(short, _MOST_DECIMAL_DIGITS, by), value)
        slow = self.released(_shifted(self.whole(value), self.digits, by), value)
        return exp.case().when(short.copy().is_(exp.null()), slow).else_(quick)

    def moved_by_kernel(self, value: exp.Expr, scope: Scope, kernel: str) -> exp.Expr:
        """Return the column with its digits moved, by a kernel."""
        if not self.scale and not self.is_rounded:
            number = exp.cast(value, "BIGINT")
            call = exp.Anonymous(this=kernel, expressions=[number])
            return exp.cast(call, self.output.text)
        whole = scope.let(exp.cast(self.whole(value), "BIGINT"))
        return self.released(exp.Anonymous(this=kernel, expressions=[whole]), value)

    def checks(self, value: exp.Expr, released: exp.Expr) -> Mapping[str, exp.Expr]:
        """Count values that cannot be computed, that are there at all, that did not change."""
        same = exp.EQ(this=value.copy(), expression=released.copy())
        return {
            **lost_rows((self.column,), [value], [released]),
            "values": exp.Count(this=value.copy()),
            "same": count_where(same),
        }

    def verify(self, keyword: str, results: Statistics) -> tuple[str, ...]:
        """Raise when values were lost; warn when more than half have a single digit."""
        refuse_lost(keyword, (self.column,), results)
        same, values = count_of(results, "same"), count_of(results, "values")
        if same * 2 <= values:
            return ()
        warning = (
            f"{keyword} of '{self.column.name}': {plural(same, 'value')} of {values:,} have one "
            "digit and leave as they are"
        )
        return (warning,)

    def unmoved(self, y: pa.Array, by: int) -> pa.Array:
        """Return released values with their digits moved back."""
        if self.is_rounded:
            numbers = np.asarray(y.to_numpy(zero_copy_only=False), dtype=np.float64)
            unit = 10**self.scale
            whole = np.rint(np.nan_to_num(np.abs(numbers)) * unit).astype(np.uint64)
            back = shift_digits(whole, by).astype(np.float64) / unit
            return pa.array(np.copysign(back, numbers), mask=np.isnan(numbers))
        magnitudes, is_negative = unscaled(y)
        back = shift_digits(magnitudes, by)
        return decimals(back, is_negative, y.is_null(), max(self.digits, 19), self.scale)

    def invert_equality(
        self, operator: str, literal: Parameter, column: exp.Expr, by: int
    ) -> exp.Expr | None:
        """Rewrite `released = literal`; None for any other comparison."""
        if isinstance(literal, str) or operator not in ("=", "<>"):
            return None
        whole = Decimal(repr(literal)).scaleb(self.scale)
        if whole != whole.to_integral_value() or abs(whole) >= 10**self.digits:
            return never(operator, column)
        magnitude = np.array([int(abs(whole))], dtype=np.uint64)
        back = int(shift_digits(magnitude, by)[0])
        if not self.is_rounded:
            original = Decimal(back if whole >= 0 else -back).scaleb(-self.scale)
            return comparison(operator, column, literal_of(original))
        # Every value that rounds to it was released as it.
        zero = double("0")
        side = exp.LT if whole < 0 else exp.GTE
        same = exp.and_(
            exp.EQ(this=self.whole(column), expression=exp.Literal.number(back)),
            exp.true() if not back else side(this=column.copy(), expression=zero),
        )
        return same if operator == "=" else exp.not_(exp.paren(same))

    def whole(self, value: exp.Expr) -> exp.Expr:
        """Return the magnitude as a whole number, digits after the point included."""
        if self.is_rounded:
            scaled = exp.Mul(this=as_double(value), expression=double(str(10**self.scale)))
            rounded = exp.Floor(this=exp.Add(this=exp.Abs(this=scaled), expression=double("0.5")))
            within = exp.LT(this=rounded, expression=double(str(10**_DOUBLE_DIGITS)))
            return exp.cast(exp.case().when(within, rounded.copy()), "BIGINT")
        if self.scale:
            unit = exp.Literal.number(10**self.scale)
            wide = exp.cast(value, f"DECIMAL({self._room}, {self.scale})")
            return exp.Abs(this=exp.cast(exp.Mul(this=wide, expression=unit), "BIGINT"))
        # The smallest BIGINT has no positive counterpart among them.
        widened = "INT128" if self.column.type.text == "BIGINT" else "BIGINT"
        return exp.Abs(this=exp.cast(value, widened))

    def released(self, whole: exp.Expr, original: exp.Expr) -> exp.Expr:
        """Return a shifted magnitude with sign, point and type put back."""
        negative = exp.LT(this=original, expression=exp.cast(exp.Literal.string("0"), "BIGINT"))
        sign = exp.case().when(negative, exp.Neg(this=exp.Literal.number(1)))
        signed = exp.Mul(this=sign.else_(exp.Literal.number(1)), expression=exp.paren(whole))
        if self.is_rounded:
            return exp.Div(this=as_double(signed), expression=double(str(10**self.scale)))
        if self.scale:
            # Times 0.01, not divided by 100: a division of DECIMALs is one of DOUBLEs.
            unit = exp.cast(
                exp.Literal.string(f"{10.0**-self.scale:.{self.scale}f}"),
                f"DECIMAL({self.scale + 1}, {self.scale})",
            )
            whole_decimal = exp.cast(signed, f"DECIMAL({self.digits}, 0)")
            return exp.cast(exp.Mul(this=whole_decimal, expression=unit), self.output.text)
        return exp.cast(signed, self.output.text)


def _shifted(whole: exp.Expr, digits: int, by: int) -> exp.Expr:
    """Return a magnitude with all digits but the first moved by 1 or -1.

    Nested, so that a number of five digits costs five steps whatever its type could hold.
    """
    steps: exp.Expr | None = None
    for place in reversed(range(digits - 1)):
        unit = 10**place
        # One division a digit: a 9 shows in the rest by its size, and so does a 0.
        rest = exp.Mod(this=whole.copy(), expression=_number(10 * unit))
        wraps = (
            exp.GTE(this=rest, expression=_number(9 * unit))
            if by > 0
            else exp.LT(this=rest, expression=_number(unit))
        )
        step: exp.Expr = exp.case().when(wraps, _number(-9 * by * unit)).else_(_number(by * unit))
        if steps is not None:
            step = exp.Add(this=step, expression=steps)
        later = exp.GTE(this=whole.copy(), expression=_number(10 * unit))
        steps = exp.case().when(later, step).else_(_number(0))
    return whole if steps is None else exp.Add(this=whole.copy(), expression=steps)


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def _too_wide(call: TransformCall, column: InputColumn) -> TreatmentError:
    return TreatmentError(
        f"{call.keyword} cannot treat '{column.name}' of type {column.type}",
        call.span,
        "cast it in a (SELECT …) source to BIGINT or to a DECIMAL of at most 18 digits",
    )
