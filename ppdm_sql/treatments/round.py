"""`round(to => 5)`: a number becomes the nearest multiple of a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import (
    as_double,
    comparison,
    double,
    literal_of,
    only_finite,
)
from ppdm_sql.treatments.numbers import NUMBERS, computable, lost_rows, refuse_lost
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import BIGINT, DOUBLE, FITS_BIGINT, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Statistics

_LARGEST = 2**53
_WIDE = "INT128"


def _step(given: Arguments, _: Sequence[InputColumn]) -> float:
    value = given.value("to")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LARGEST:
        given.fail("to", "the step is a number above 0", f"write {given.call.keyword}(to => 5)")
    return value


@dataclass(frozen=True, slots=True)
class Round(PlainRule):
    """Multiples of a step: of two that are as near, the larger one."""

    keyword = "round"
    summary = "a number becomes the nearest multiple of a step"
    reading = "the nearest multiple of a step"
    undone_by = "nothing exactly; a value lies within half a step"
    kinds = NUMBERS
    instead = "for categories write mapping()"
    most = None
    arguments = (ArgumentSpec("to", _step),)

    to: float = field(repr=False)

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return the step."""
        return f"multiples of {self.to:g}"

    def check_arguments(self, given: Arguments) -> None:
        """Raise where nothing changes."""
        if self.to == 1 and all(column.type.kind is Kind.INTEGER for column in self.columns):
            given.fail(
                "to",
                "whole numbers stay as they are",
                f"write a larger step: {self.keyword}(to => 5)",
            )

    def _is_whole(self, column: InputColumn) -> bool:
        return column.type.text in FITS_BIGINT and isinstance(self.to, int)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return BIGINT for whole numbers and a whole step, else DOUBLE."""
        return tuple(BIGINT if self._is_whole(column) else DOUBLE for column in self.columns)

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Keep the step; of a fraction such as 0.1 also how many are one, which is exact."""
        parts = round(1 / self.to)
        is_fraction = self.to < 1 and abs(parts * self.to - 1) < 1e-12
        found: dict[str, Parameter] = {}
        if any(self._is_whole(column) for column in self.columns):
            found["to"] = self.to
        if not all(self._is_whole(column) for column in self.columns):
            found["times"] = float(parts) if is_fraction else 1.0
            found["by"] = 1.0 if is_fraction else float(self.to)
        return found

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the nearest multiple."""
        return self.multiple(column, value, parameter, None)

    def multiple(
        self,
        column: InputColumn,
        value: exp.Expr,
        parameter: Callable[[str], exp.Expr],
        share: exp.Expr | None,
    ) -> exp.Expr:
        """Return the multiple above where more than a share of the step is left over, else below.

        Without a share, from one half on. Whole numbers stay exact to the end of a BIGINT.
        """
        if not self._is_whole(column):
            computed = exp.paren(computable(column, value))
            scaled = exp.Div(
                this=exp.Mul(this=computed, expression=parameter("times")),
                expression=parameter("by"),
            )
            rest = double("0.5") if share is None else exp.paren(double("1.0") - share)
            steps = exp.Floor(this=exp.Add(this=scaled, expression=rest))
            multiple = exp.Div(
                this=exp.Mul(this=steps, expression=parameter("by")), expression=parameter("times")
            )
            # A step below 1 may make the largest numbers larger than there are.
            return only_finite(multiple) if self.to < 1 else multiple
        number, step = exp.cast(value, _WIDE), exp.cast(parameter("to"), _WIDE)
        rest = exp.Mod(this=number, expression=step)
        above = exp.paren(  # Mod has the sign of the number
            exp.Mod(
                this=exp.paren(exp.Add(this=rest, expression=step.copy())), expression=step.copy()
            )
        )
        down = exp.Sub(this=number.copy(), expression=above)
        is_up: exp.Expr
        if share is None:
            twice = exp.Mul(this=exp.Literal.number(2), expression=above.copy())
            is_up = exp.GTE(this=twice, expression=step.copy())
        else:
            needed = exp.Mul(this=share, expression=as_double(step.copy()))
            is_up = exp.GT(this=as_double(above.copy()), expression=needed)
        up = exp.case().when(is_up, step.copy()).else_(exp.cast(exp.Literal.number(0), _WIDE))
        total = exp.Add(this=exp.paren(down), expression=exp.paren(up))
        return exp.TryCast(this=total, to=exp.DataType.build("BIGINT"))

    def said(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the nearest multiple of a DOUBLE, as the view computes it."""
        times, by = parameter("times"), parameter("by")
        number = value if column.type == DOUBLE else as_double(value)
        is_fraction = self.to < 1 and self.given({})["by"] == 1
        scaled: exp.Expr = (
            exp.Mul(this=number, expression=times)
            if is_fraction
            else exp.Div(this=number, expression=by, typed=False)
        )
        half = exp.Literal.number("0.5")
        steps = exp.Floor(this=exp.Add(this=scaled, expression=half))
        if is_fraction:
            return exp.Div(this=steps, expression=times.copy(), typed=False)
        return exp.Mul(this=steps, expression=by.copy())

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return between which whole numbers a value lies; of others, the condition on the rule."""
        column = self.columns[index]
        if not isinstance(literal, int | float):
            return None  # no number is a text
        if not self._is_whole(column):
            return super(Round, self).invert_condition(operator, literal, columns, drawn, index)
        step, value = int(self.to), columns[index]
        below, above = (step * int(found) for found in (literal // step, -(-literal // step)))
        least, most = above - step // 2, below + (step - 1) // 2
        is_multiple = below == above
        match operator:
            case "=" if is_multiple:
                return exp.Between(this=value, low=literal_of(least), high=literal_of(most))
            case "<>" if is_multiple:
                within = exp.Between(this=value, low=literal_of(least), high=literal_of(most))
                return exp.Not(this=exp.paren(within))
            case ">=":
                return comparison(">=", value, literal_of(least))
            case ">":
                return comparison(">", value, literal_of(most))
            case "<=":
                return comparison("<=", value, literal_of(most))
            case "<":
                return comparison("<", value, literal_of(least))
        return None

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        return lost_rows(self.columns, inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, self.columns, results)
