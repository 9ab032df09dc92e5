"""`random_round(to => 5)`: a number becomes a multiple of a step beside it, by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.numbers import refuse_lost
from ppdm_sql.treatments.round import Round
from ppdm_sql.treatments.row_draws import drawn, key_of_draws, lineage
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics


@dataclass(frozen=True, slots=True)
class RandomRound(Round):
    """Up or down by chance, the nearer multiple more often: sums and means stay right on average.

    The chance is fixed for each row and value, so that asking again gains nothing.
    """

    keyword = "random_round"
    summary = "a number becomes the multiple of a step below or above it, by chance"
    reading = (
        "a multiple of a step beside the value, by chance: sums and means are right on average"
    )
    undone_by = "averaging many rows of one person or group; a value lies within a step"
    traits = Traits(
        mixes_columns=False, links_rows=False, uses_row_key=True, uses_source_value=True,
        adds_noise=True, stays_near=True,
    )  # fmt: skip

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive a key for each column, which belongs to the step, too."""
        parameters = self.given(statistics)
        for index, column in enumerate(self.columns):
            said = f"{lineage(column, keys)} {self.to!r}"
            parameters |= key_of_draws(keys, self.keyword, said, index)
        return Drawn(parameters)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the multiple; a row without a KEY has no chance, and is NULL."""
        found = []
        for index, (column, value) in enumerate(zip(self.columns, inputs, strict=True)):
            share = scope.let(drawn(scope, scope.source_value(index), index))
            multiple = self.multiple(column, value, scope.parameter, share)
            is_known = exp.Not(this=exp.Is(this=share.copy(), expression=exp.null()))
            found.append(exp.case().when(is_known, multiple))
        return tuple(found)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are rows that cannot be computed."""
        hint = "a row without a KEY is not rounded; leave such rows out in a (SELECT …) source"
        return refuse_lost(self.keyword, self.columns, results, hint)

    @property
    def averages_over_rows(self) -> bool:
        """Rows of one person that differ are rounded each by its own chance."""
        return True

    @property
    def translates(self) -> bool:
        """Nobody knows from a multiple on which side of it the value was."""
        return False

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return nothing: no condition on the original says the same."""
        return None
