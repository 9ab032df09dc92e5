"""What treatments of the form y = A · x + b share: how results come back, what constants are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.treatments.expressions import FLIPPED, as_double, call, comparison, literal_of
from ppdm_sql.treatments.numbers import NumberTreatment
from ppdm_sql.treatments.protocol import Exactness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.protocol import Scope

_AWAY = 10.0
"""Drawn angles keep this many degrees from every multiple of 90."""


@dataclass(frozen=True, slots=True)
class AffineTreatment(NumberTreatment):
    """Each released column is a sum of original ones, each with its weight, and a constant."""

    exactness = Exactness.NEAR
    factor: ClassVar[str | None] = None
    shift: ClassVar[str | None] = None
    """Where each column stands for itself: the parameters that it is multiplied by and moved by."""

    def row(self, drawn: Drawn, index: int) -> tuple[Sequence[float], float]:
        """Return the weight of each original column in a released one, and the constant."""
        weights = [0.0] * len(self.columns)
        weights[index] = drawn.number(f"{self.factor}_{index}") if self.factor else 1.0
        return weights, drawn.number(f"{self.shift}_{index}") if self.shift else 0.0

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return one call a column, where there is a kernel."""
        if not self.kernels:
            return self.to_expr(inputs, scope)
        return tuple(
            call(
                self.kernels[0],
                as_double(value),
                *(scope.parameter(f"{name}_{index}") for name in (self.factor, self.shift) if name),
            )
            for index, value in enumerate(inputs)
        )

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Take the constant off and divide by the weight, where each column stands for itself."""
        rows = (self.row(drawn, index) for index in range(len(outputs)))
        return tuple(
            pc.divide(pc.subtract(y, shift), weights[index])
            for index, (y, (weights, shift)) in enumerate(zip(outputs, rows, strict=True))
        )

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return the condition on one column, or the linear one on several."""
        if isinstance(literal, str):
            return None
        weights, shift = self.row(drawn, index)
        mixed = [
            (weight, column) for weight, column in zip(weights, columns, strict=True) if weight
        ]
        if mixed == [(weights[index], columns[index])]:
            weight = weights[index]
            turned = operator if weight > 0 else FLIPPED.get(operator, operator)
            return comparison(turned, columns[index], literal_of((literal - shift) / weight))
        terms: list[exp.Expr] = [
            exp.Mul(this=literal_of(weight), expression=as_double(column))
            for weight, column in mixed
        ]
        total = terms[0]
        for term in terms[1:]:
            total = exp.Add(this=total, expression=term)
        return comparison(operator, total, literal_of(literal - shift if shift else literal))

    def released_null(
        self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0
    ) -> exp.Expr | None:
        """Return where one of the columns that it is made of is NULL."""
        weights, _ = self.row(drawn, index)
        mixed = [column for weight, column in zip(weights, columns, strict=True) if weight]
        return exp.or_(*(column.is_(exp.null()) for column in mixed))


def draw_factor(chance: Draws) -> float:
    """Return a secret factor, well away from 0 and from 1."""
    factor = chance.uniform(1.25, 4.0)
    return factor if chance.sign() > 0 else 1.0 / factor


def draw_angle(chance: Draws) -> float:
    """Return a secret angle, away from every multiple of 90 degrees."""
    return 90.0 * chance.choice(4) + chance.uniform(_AWAY, 90.0 - _AWAY)


def draw_shift(chance: Draws, low: float | None, high: float | None) -> float:
    """Return a constant that moves every value of a range, a constant one too."""
    if low is None or high is None:
        return chance.sign() * chance.uniform(0.25, 1.0)
    spread = high / 2 - low / 2 or max(abs(low), abs(high)) / 4 or 0.5
    return float(chance.sign() * chance.uniform(0.5, 2.0) * spread)
