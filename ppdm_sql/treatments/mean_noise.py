"""`mean_noise()`: values above the mean come down, those below go up; the mean is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.errors import TreatmentError
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import flag
from ppdm_sql.treatments.numbers import NumberTreatment, sorted_values
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics

_NEAR_ZERO = 1e-9
"""A mean this small beside the largest value moves nothing."""


@dataclass(frozen=True, slots=True)
class MeanNoise(NumberTreatment):
    """The mean m; the a rows from m on lose 2m/a, the b rows below gain 2m/b."""

    keyword = "mean_noise"
    summary = "values above the mean go down by one amount, those below go up by another"
    reading = "the mean of the column is right, single values are not"
    undone_by = (
        "knowing the method, for the mean is kept, or one known value on each side of it;"
        " the more rows, the smaller the amounts"
    )
    traits = Traits(
        mixes_columns=False, links_rows=False, keeps_mean=True, keeps_sums=True, stays_near=True
    )
    most = 1
    arguments = (flag("round_up"),)  # whole amounts, as the document prints them
    not_agreed = "the mean and the amounts are those of one site's rows"

    round_up: bool

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the values: the rows on each side of the mean are counted in the same scan."""
        return {"values": exp.ArrayAgg(this=self.numbers(inputs)[0])}

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Fix mean and amounts."""
        values = sorted_values(statistics["values"])
        name = self.columns[0].name
        if not len(values):
            raise TreatmentError(f"mean_noise: '{name}' has no values", code="data_does_not_fit")
        mean = math.fsum(values) / len(values)
        above = int((values >= mean).sum())
        below = len(values) - above
        if not below or not above:
            raise TreatmentError(
                f"mean_noise: '{name}' is constant, no value lies below the mean",
                hint="write suppress(), or leave the column out",
                code="data_does_not_fit",
            )
        if abs(mean) < _NEAR_ZERO * max(abs(values[0]), abs(values[-1])):
            raise TreatmentError(
                f"mean_noise: the mean of '{name}' is near 0, so nothing would move",
                hint="write noise() or microaggregation()",
                code="data_does_not_fit",
            )
        down, up = 2 * mean / above, 2 * mean / below
        if self.round_up:
            down, up = (math.copysign(math.ceil(abs(amount)), amount) for amount in (down, up))
        return Drawn({"mean": mean, "down": down, "up": up})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the values with the amount of their side."""
        x = scope.let(self.numbers(inputs)[0])
        from_mean_on = exp.GTE(this=x, expression=scope.parameter("mean"))
        below = exp.LT(this=x.copy(), expression=scope.parameter("mean"))
        moved = (
            exp.case()
            .when(from_mean_on, exp.Sub(this=x.copy(), expression=scope.parameter("down")))
            .when(below, exp.Add(this=x.copy(), expression=scope.parameter("up")))
        )
        return (moved,)
