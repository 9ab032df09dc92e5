"""`scaling(by => 0.94)`: x · e, one secret constant for each column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.affine import AffineTreatment, draw_factor
from ppdm_sql.treatments.arguments import constants
from ppdm_sql.treatments.kernels.affine import scaling
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics


@dataclass(frozen=True, slots=True)
class Scaling(AffineTreatment):
    """A factor for each column; None where it is drawn."""

    keyword = "scaling"
    summary = "x · e, one secret constant for each column"
    reading = "multiplied by a secret number: ratios are right"
    undone_by = "one known value other than 0; the steps between whole numbers show the factor"
    traits = Traits(
        mixes_columns=False, links_rows=False, keeps_shape=True, is_affine=True, multiplies=True
    )
    arguments = (constants("by"),)
    kernels = (Kernel("ppdm_scaling", ("DOUBLE", "DOUBLE"), "DOUBLE", scaling),)
    factor = "by"
    not_agreed = None  # a factor is drawn without looking at the column

    by: tuple[float | None, ...] = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise for a factor that changes nothing, or almost everything."""
        for factor in self.by:
            if factor == 1:
                given.fail("by", "a scaling by 1 changes nothing")
            if factor is not None and not 1e-6 <= abs(factor) <= 1e6:
                given.fail("by", "a factor must lie between 1e-06 and 1e+06")

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Draw factors that shrink to a quarter at most or grow to four times at most."""
        chance = self.chance(keys)
        factors = [draw_factor(chance) if by is None else by for by in self.by]
        return Drawn({f"by_{index}": float(factor) for index, factor in enumerate(factors)})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the products."""
        return tuple(
            exp.Mul(this=x, expression=scope.parameter(f"by_{index}"))
            for index, x in enumerate(self.numbers(inputs))
        )
