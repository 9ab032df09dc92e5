"""`mean_noise()`: values above the mean come down, those below go up; the mean is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from sqlglot import exp

from ppdm_sql.errors import TreatmentError
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments, one_column
from ppdm_sql.treatments.numbers import (
    computable,
    lost_rows,
    refuse_lost,
    require_numbers,
    sorted_values,
)
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import DOUBLE, ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_NEAR_ZERO = 1e-9
"""A mean this small beside the largest value moves nothing."""


@dataclass(frozen=True, slots=True)
class MeanNoise:
    """The mean m; the a rows from m on lose 2m/a, the b rows below gain 2m/b."""

    keyword: ClassVar[str] = "mean_noise"
    summary: ClassVar[str] = "one amount off values from the mean on, one onto those below"
    undone_by: ClassVar[str] = (
        "knowing the method, for the mean is kept, or one known value on each side of it;"
        " the more rows, the smaller the amounts"
    )
    exactness: ClassVar[Exactness] = Exactness.NONE

    column: InputColumn
    is_rounded_up: bool

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take one number; `round_up` makes the amounts whole, as the document prints them."""
        column = one_column(call, columns)
        require_numbers(call, columns)
        arguments = Arguments(call, ("round_up",))
        round_up = arguments.value("round_up", False)
        if not isinstance(round_up, bool):
            arguments.fail("round_up", "'round_up' must be true or false")
        return cls(column, round_up)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return DOUBLE."""
        return (DOUBLE,)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the values: the rows on each side of the mean are counted in the same scan."""
        return {"values": exp.ArrayAgg(this=computable(self.column, inputs[0]))}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Fix mean and amounts; a refresh keeps them."""
        if previous is not None:
            return previous
        values = sorted_values(statistics["values"])
        name = self.column.name
        if not len(values):
            raise TreatmentError(f"mean_noise: '{name}' has no values")
        mean = math.fsum(values) / len(values)
        above = int((values >= mean).sum())
        below = len(values) - above
        if not below or not above:
            raise TreatmentError(
                f"mean_noise: '{name}' is constant, no value lies below the mean",
                hint="write suppress(), or leave the column out",
            )
        if abs(mean) < _NEAR_ZERO * max(abs(values[0]), abs(values[-1])):
            raise TreatmentError(
                f"mean_noise: the mean of '{name}' is near 0, so nothing would move",
                hint="write noise() or microaggregation()",
            )
        down, up = 2 * mean / above, 2 * mean / below
        if self.is_rounded_up:
            down, up = (math.copysign(math.ceil(abs(amount)), amount) for amount in (down, up))
        return Drawn({"mean": mean, "down": down, "up": up})

    def not_agreed(self) -> str:
        """Everything in it comes from the rows."""
        return "the mean and the amounts are those of one site's rows"

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the values with the amount of their side."""
        x = scope.let(computable(self.column, inputs[0]))
        from_mean_on = exp.GTE(this=x, expression=scope.parameter("mean"))
        below = exp.LT(this=x.copy(), expression=scope.parameter("mean"))
        moved = (
            exp.case()
            .when(from_mean_on, exp.Sub(this=x.copy(), expression=scope.parameter("down")))
            .when(below, exp.Add(this=x.copy(), expression=scope.parameter("up")))
        )
        return (moved,)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        return lost_rows((self.column,), inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, (self.column,), results)
