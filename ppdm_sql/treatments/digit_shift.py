"""`bit_plus()`, `bit_minus()`: the leading digit stays, every other d becomes (d ± 1) mod 10.

By arithmetic, never by strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import (
    as_double,
    call,
    comparison,
    count_where,
    double,
    literal_of,
    never,
)
from ppdm_sql.treatments.kernels.digits import (
    bit_minus,
    bit_plus,
    decimals,
    shift_digits,
    unscaled,
)
from ppdm_sql.treatments.numbers import NUMBERS, count_of, lost_rows, refuse_lost
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import DOUBLE, FITS_BIGINT, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.arguments import Arguments
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


def _read_decimals(given: Arguments, columns: Sequence[InputColumn]) -> int | None:
    """Take `decimals` for floating point and only there; refuse numbers of too many digits."""
    keyword, (column,) = given.call.keyword, columns
    if column.type.kind is Kind.FLOAT:
        if "decimals" not in given:
            raise TreatmentError(
                f"{keyword}: '{column.name}' is floating point, it has no last digit",
                given.call.span,
                f"write {keyword}(decimals => 2)",
                code="wrong_type",
            )
        return given.integer("decimals", 0, 0, 9)
    if "decimals" in given:
        given.fail("decimals", f"'{column.name}' has its own decimals")
    found = _DECIMAL.match(column.type.text)
    fits = int(found[1]) <= _MOST_DECIMAL_DIGITS if found else column.type.text in FITS_BIGINT
    if not fits:
        raise TreatmentError(
            f"{keyword} cannot treat '{column.name}' of type {column.type}",
            given.call.span,
            "cast it in a (SELECT …) source to BIGINT or to a DECIMAL of at most 18 digits",
            code="wrong_type",
        )
    return None


@dataclass(frozen=True, slots=True)
class DigitShift(Treatment):
    """Digits of one column moved by one; there is no secret in it."""

    undone_by = "knowing the method: there is no secret in it"
    exactness = Exactness.EXACT
    traits = Traits(mixes_columns=False, has_secret_number=False, links_rows=False)
    kinds = NUMBERS
    instead = "for categories write mapping()"
    arguments = (ArgumentSpec("decimals", _read_decimals),)
    not_agreed = None
    by: ClassVar[int]

    decimals: int | None
    """Of floating point, which is rounded to them; None for a type that has its own."""

    @property
    def column(self) -> InputColumn:
        """The column."""
        return self.columns[0]

    @property
    def scale(self) -> int:
        """Digits after the point."""
        found = _DECIMAL.match(self.column.type.text)
        return int(found[2]) if found else self.decimals or 0

    @property
    def digits(self) -> int:
        """Digits of the longest number."""
        found = _DECIMAL.match(self.column.type.text)
        return int(found[1]) if found else _DIGITS.get(self.column.type.text, _DOUBLE_DIGITS)

    @property
    def output(self) -> ColumnType:
        """The next wider integer; DECIMAL as it is, DOUBLE for floating point."""
        if self.is_rounded:
            return DOUBLE
        return ColumnType(_WIDER.get(self.column.type.text, self.column.type.text))

    @property
    def is_rounded(self) -> bool:
        """Whether the column is floating point, rounded to its last decimal first."""
        return self.column.type.kind is Kind.FLOAT

    @property
    def _room(self) -> int:
        """Digits of a DECIMAL in which the column can be multiplied by a power of ten."""
        return 18 if self.digits + self.scale <= 18 else 38

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the next wider integer; DECIMAL and DOUBLE as they are."""
        return (self.output,)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the digits moved by arithmetic."""
        (value,) = inputs
        if self.column.type.text == "BIGINT":
            return (self._moved_bigint(value, scope),)
        whole = scope.let(self._whole(value))
        return (self._released(_shifted(whole, self.digits, self.by), value),)

    def _moved_bigint(self, value: exp.Expr, scope: Scope) -> exp.Expr:
        """128-bit numbers are slow: only values of 19 digits are computed in them."""
        most = exp.Literal.number(10**_MOST_DECIMAL_DIGITS)
        within = exp.and_(
            exp.GT(this=value.copy(), expression=exp.Neg(this=most)),
            exp.LT(this=value.copy(), expression=most.copy()),
        )
        short = scope.let(exp.case().when(within, exp.Abs(this=value.copy())))
        quick = self._released(_shifted(short, _MOST_DECIMAL_DIGITS, self.by), value)
        slow = self._released(_shifted(self._whole(value), self.digits, self.by), value)
        return exp.case().when(short.copy().is_(exp.null()), slow).else_(quick)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a call of its kernel on whole numbers."""
        (value,) = inputs
        if not self.scale and not self.is_rounded:
            moved = call(self.kernels[0], exp.cast(value, "BIGINT"))
            return (exp.cast(moved, self.output.text),)
        whole = scope.let(exp.cast(self._whole(value), "BIGINT"))
        return (self._released(call(self.kernels[0], whole), value),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count values that cannot be computed, that are there at all, that did not change."""
        same = exp.EQ(this=inputs[0].copy(), expression=outputs[0].copy())
        return {
            **lost_rows(self.columns, inputs, outputs),
            "values": exp.Count(this=inputs[0].copy()),
            "same": count_where(same),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when values were lost; warn when more than half have a single digit."""
        refuse_lost(self.keyword, self.columns, results)
        same, values = count_of(results, "same"), count_of(results, "values")
        if same * 2 <= values:
            return ()
        warning = (
            f"{self.keyword} of '{self.column.name}': {plural(same, 'value')} of {values:,} have "
            "one digit and are released unchanged"
        )
        return (warning,)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Move the digits back; floating point comes back rounded to its decimals."""
        (y,) = outputs
        if self.is_rounded:
            numbers = np.asarray(y.to_numpy(zero_copy_only=False), dtype=np.float64)
            unit = 10**self.scale
            whole = np.rint(np.nan_to_num(np.abs(numbers)) * unit).astype(np.uint64)
            back = shift_digits(whole, -self.by).astype(np.float64) / unit
            return (pa.array(np.copysign(back, numbers), mask=np.isnan(numbers)),)
        magnitudes, is_negative = unscaled(y)
        back = shift_digits(magnitudes, -self.by)
        return (decimals(back, is_negative, y.is_null(), max(self.digits, 19), self.scale),)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Rewrite an equality; the order of numbers is not kept."""
        if isinstance(literal, str) or operator not in ("=", "<>"):
            return None
        column = columns[index]
        whole = Decimal(repr(literal)).scaleb(self.scale)
        if whole != whole.to_integral_value() or abs(whole) >= 10**self.digits:
            return never(operator, column)
        magnitude = np.array([int(abs(whole))], dtype=np.uint64)
        back = int(shift_digits(magnitude, -self.by)[0])
        if not self.is_rounded:
            original = Decimal(back if whole >= 0 else -back).scaleb(-self.scale)
            return comparison(operator, column, literal_of(original))
        # Every value that rounds to it was released as it.
        zero = double("0")
        side = exp.LT if whole < 0 else exp.GTE
        same = exp.and_(
            exp.EQ(this=self._whole(column), expression=exp.Literal.number(back)),
            exp.true() if not back else side(this=column.copy(), expression=zero),
        )
        return same if operator == "=" else exp.not_(exp.paren(same))

    def _whole(self, value: exp.Expr) -> exp.Expr:
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

    def _released(self, whole: exp.Expr, original: exp.Expr) -> exp.Expr:
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


@dataclass(frozen=True, slots=True)
class BitPlus(DigitShift):
    """Bit++: every digit but the first becomes (d + 1) mod 10."""

    keyword = "bit_plus"
    summary = "all digits but the first become (d + 1) mod 10"
    reading = "the first digit is right, the others were moved by one"
    kernels = (Kernel("ppdm_bit_plus", ("BIGINT",), "HUGEINT", bit_plus),)
    traits = replace(DigitShift.traits, moves_digits=1)
    by = 1


@dataclass(frozen=True, slots=True)
class BitMinus(DigitShift):
    """Bit--: every digit but the first becomes (d - 1) mod 10."""

    keyword = "bit_minus"
    summary = "all digits but the first become (d - 1) mod 10"
    reading = "the first digit is right, the others were moved by one"
    kernels = (Kernel("ppdm_bit_minus", ("BIGINT",), "HUGEINT", bit_minus),)
    traits = replace(DigitShift.traits, moves_digits=-1)
    by = -1
