"""`translation(by => 5)`: x + e, one secret constant for each column; dates move by whole days."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.affine import AffineTreatment, draw_shift
from ppdm_sql.treatments.arguments import constants
from ppdm_sql.treatments.expressions import as_double, comparison, literal_of, only_finite
from ppdm_sql.treatments.kernels.affine import translation
from ppdm_sql.treatments.numbers import MOST_DAYS, NUMBERS, TIMES, in_calendar, shifted_time
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import BIGINT, DOUBLE, FITS_BIGINT, ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_NOT_AGREED = "a constant that is drawn is scaled to one site's column: write translation(by => 5)"
_DAY_LETTERS = len("2020-01-31")


@dataclass(frozen=True, slots=True)
class Translation(AffineTreatment):
    """A constant for each column; None where it is drawn."""

    keyword = "translation"
    summary = "x + e, one secret constant for each column; dates move by whole days"
    reading = "moved by a secret number: differences and order are right"
    undone_by = "one known value"
    traits = Traits(
        mixes_columns=False, links_rows=False, keeps_shape=True, is_affine=True,
        moves_by_constant=True,
    )  # fmt: skip
    kinds = (*NUMBERS, *TIMES)
    arguments = (constants("by"),)
    kernels = (Kernel("ppdm_translation", ("DOUBLE", "DOUBLE"), "DOUBLE", translation),)
    shift = "by"

    by: tuple[float | None, ...] = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise for a constant that changes nothing; times move by whole days."""
        for column, constant in zip(self.columns, self.by, strict=True):
            if constant == 0:
                given.fail("by", "a translation by 0 changes nothing")
            if constant is None or column.type.kind not in TIMES:
                continue
            if not isinstance(constant, int) or abs(constant) > MOST_DAYS:
                given.fail("by", f"'{column.name}' moves by whole days, at most {MOST_DAYS:,}")

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the type of times, BIGINT for integers moved by whole numbers, else DOUBLE."""
        return tuple(
            column.type
            if column.type.kind in TIMES
            else BIGINT
            if self._is_whole(index)
            else DOUBLE
            for index, column in enumerate(self.columns)
        )

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the range of each column whose constant is to be drawn."""
        wanted: dict[str, exp.Expr] = {}
        for index, (column, value) in enumerate(zip(self.columns, inputs, strict=True)):
            if self.by[index] is None:
                for name, aggregate in (("low", exp.Min), ("high", exp.Max)):
                    wanted[f"{name}_{index}"] = aggregate(this=_comparable(column, value))
        return wanted

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Draw constants of a quarter to the whole of a column's spread, up or down."""
        parameters: dict[str, Parameter] = {}
        chance = self.chance(keys)
        for index, given in enumerate(self.by):
            low, high = (statistics.get(f"{name}_{index}") for name in ("low", "high"))
            if not self._is_whole(index) and self.columns[index].type.kind not in TIMES:
                by = draw_shift(chance, low, high) if given is None else given
                parameters[f"by_{index}"] = float(by)
                continue
            whole = _drawn_whole(chance, low, high) if given is None else round(given)
            if self.columns[index].type.kind in TIMES:
                whole = max(-MOST_DAYS, min(MOST_DAYS, whole))
            # A sum that would pass BIGINT is NULL instead.
            parameters |= {
                f"by_{index}": whole,
                f"least_{index}": max(_SMALLEST, _SMALLEST - whole),
                f"most_{index}": min(_LARGEST, _LARGEST - whole),
            }
        return Drawn(parameters)

    def why_not_agreed(self) -> str | None:
        """A drawn constant is scaled to the column; a given one is not."""
        return _NOT_AGREED if None in self.by else None

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the sums."""
        sums = (
            exp.Add(this=number, expression=scope.parameter(f"by_{index}"))
            for index, number in enumerate(self.numbers(inputs))
        )
        return self._whole_or(sums, inputs, scope)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_translation`; whole numbers and times stay exact in SQL."""
        return self._whole_or(AffineTreatment.kernel_expr(self, inputs, scope), inputs, scope)

    def _whole_or(
        self, sums: Iterable[exp.Expr], inputs: Sequence[exp.Expr], scope: Scope
    ) -> tuple[exp.Expr, ...]:
        return tuple(
            self._moved(index, value, scope) or total
            for index, (value, total) in enumerate(zip(inputs, sums, strict=True))
        )

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Subtract the constants."""
        return tuple(self._inverted(index, y, drawn) for index, y in enumerate(outputs))

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Move the literal back."""
        by = drawn.parameters[f"by_{index}"]
        if self.columns[index].type.kind in TIMES:
            moment = _earlier(literal, int(by))
            return None if moment is None else comparison(operator, columns[index], moment)
        if isinstance(literal, str) or isinstance(by, str):
            return None
        column = columns[index]
        if self.columns[index].type.text not in FITS_BIGINT:
            column = as_double(column)  # a DECIMAL literal would not fit beside a HUGEINT
        return comparison(operator, column, literal_of(literal - by))

    def _is_whole(self, index: int) -> bool:
        """Whether an integer column is moved by a whole number and stays one."""
        by = self.by[index]
        return self.columns[index].type.text in FITS_BIGINT and (by is None or isinstance(by, int))

    def _moved(self, index: int, value: exp.Expr, scope: Scope) -> exp.Expr | None:
        by = scope.parameter(f"by_{index}")
        column = self.columns[index]
        if column.type.kind in TIMES:
            return shifted_time(column, value, by)
        if not self._is_whole(index):
            return None
        number = exp.cast(value, "BIGINT")
        moved = exp.Add(this=number, expression=by)
        if column.type != BIGINT:
            return moved
        within = exp.and_(
            exp.GTE(this=number.copy(), expression=scope.parameter(f"least_{index}")),
            exp.LTE(this=number.copy(), expression=scope.parameter(f"most_{index}")),
        )
        return exp.case().when(within, moved)

    def _inverted(self, index: int, y: pa.Array, drawn: Drawn) -> pa.Array:
        by = drawn.parameters[f"by_{index}"]
        if self.columns[index].type.kind in TIMES:
            days = pa.scalar(int(by) * 86_400, pa.duration("s"))
            return pc.subtract(_precise(y), days).cast(y.type)
        return pc.subtract(y, by)


def _earlier(literal: Parameter, days: int) -> exp.Expr | None:
    """Return the day or moment that many days before one; None where there is none."""
    try:
        return literal_of(_moment(str(literal)) - timedelta(days=days))
    except (ValueError, OverflowError):  # not a day, or one that no calendar of Python has
        return None


def _moment(text: str) -> date:
    return date.fromisoformat(text) if len(text) == _DAY_LETTERS else datetime.fromisoformat(text)


def _comparable(column: InputColumn, value: exp.Expr) -> exp.Expr:
    """Return a column as numbers between which a spread can be taken; times as days."""
    if column.type.kind in TIMES:
        day = exp.cast(in_calendar(value), "DATE")
        epoch = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
        return exp.Sub(this=exp.paren(day), expression=epoch)
    if column.type.text in FITS_BIGINT:
        return exp.cast(value, "BIGINT")
    return only_finite(exp.cast(value, "DOUBLE"))


def _drawn_whole(chance: Draws, low: int | None, high: int | None) -> int:
    """Return a whole constant, in the direction in which no value passes a BIGINT."""
    if low is None or high is None:
        return chance.sign() * (1 + round(chance.uniform(0, 100)))
    spread = high - low or max(abs(low) // 2, 1)
    by = min(max(round(chance.uniform(0.25, 1.0) * spread), 1), _LARGEST)
    up, down = min(by, _LARGEST - high), min(by, low - _SMALLEST)
    if min(up, down) > 0 and min(up, down) * 4 >= by:
        return up if chance.sign() > 0 else -down
    # A column from end to end of BIGINT cannot move at all: the check will say so.
    return max(up, 1) if up >= down else -down


def _precise(y: pa.Array) -> pa.Array:
    return y if pa.types.is_timestamp(y.type) else y.cast(pa.timestamp("us"))
