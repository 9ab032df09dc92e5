"""`(x, y) … rotation(degrees => 13.7)`: points turned clockwise, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.affine import AffineTreatment, draw_angle
from ppdm_sql.treatments.arguments import constants
from ppdm_sql.treatments.expressions import call
from ppdm_sql.treatments.kernels.affine import direction, rotation
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics

_STRUCT = "STRUCT(x DOUBLE, y DOUBLE)"


@dataclass(frozen=True, slots=True)
class Rotation(AffineTreatment):
    """An angle for each pair of columns; None where it is drawn.

    Columns are paired in order, (1, 2), (3, 4), …; the last of an odd number is turned together
    with the first, which is turned a second time.
    """

    keyword = "rotation"
    summary = "pairs of columns turned clockwise by a secret angle"
    undone_by = (
        "the steps between whole numbers, or numbers with few decimals, show the angle; else one"
        " known row, two to be sure, or how the columns vary together elsewhere; distances between"
        " rows are kept"
    )
    traits = Traits(links_rows=False, is_affine=True, keeps_distances=True)
    fewest = 2
    arguments = (constants("degrees", lambda columns: (columns + 1) // 2),)
    kernels = (Kernel("ppdm_rotation", ("DOUBLE", "DOUBLE", "DOUBLE"), _STRUCT, rotation),)
    not_agreed = None  # an angle is drawn without looking at the columns

    degrees: tuple[float | None, ...] = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise for an angle that turns nothing."""
        if any(angle is not None and angle % 90 == 0 for angle in self.degrees):
            given.fail(
                "degrees", "a rotation by a multiple of 90 degrees only swaps columns and signs"
            )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The columns that are turned together, in order."""
        count = len(self.columns)
        pairs = [(index, index + 1) for index in range(0, count - 1, 2)]
        return tuple(pairs if count % 2 == 0 else [*pairs, (0, count - 1)])

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Draw angles away from every multiple of 90 degrees."""
        parameters: dict[str, Parameter] = {}
        chance = self.chance(keys)
        for index, given in enumerate(self.degrees):
            angle = float(draw_angle(chance) if given is None else given)
            cosine, sine = direction(angle)
            parameters |= {f"degrees_{index}": angle, f"cos_{index}": cosine, f"sin_{index}": sine}
        return Drawn(parameters)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return x cos θ + y sin θ and y cos θ - x sin θ, pair after pair."""
        values: list[exp.Expr] = [scope.let(number) for number in self.numbers(inputs)]
        for index, (i, j) in enumerate(self.pairs):
            x, y = values[i], values[j]
            cosine, sine = scope.parameter(f"cos_{index}"), scope.parameter(f"sin_{index}")
            values[i] = exp.paren(x.copy() * cosine.copy() + y.copy() * sine.copy())
            values[j] = exp.paren(y.copy() * cosine.copy() - x.copy() * sine.copy())
        return tuple(values)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_rotation`."""
        values = self.numbers(inputs)
        for index, (i, j) in enumerate(self.pairs):
            degrees = scope.parameter(f"degrees_{index}")
            turned = scope.let(call(self.kernels[0], values[i].copy(), values[j].copy(), degrees))
            values[i], values[j] = (
                exp.StructExtract(this=turned.copy(), expression=exp.Literal.string(field_))
                for field_ in ("x", "y")
            )
        return tuple(values)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Turn back, the last pair first."""
        values = list(outputs)
        for index, (i, j) in reversed(list(enumerate(self.pairs))):
            x, y = values[i], values[j]
            cosine, sine = drawn.parameters[f"cos_{index}"], drawn.parameters[f"sin_{index}"]
            values[i] = pc.subtract(pc.multiply(x, cosine), pc.multiply(y, sine))
            values[j] = pc.add(pc.multiply(y, cosine), pc.multiply(x, sine))
        return tuple(values)

    def row(self, drawn: Drawn, index: int) -> tuple[Sequence[float], float]:
        """Return what each original column contributes to one released column."""
        size = len(self.columns)
        rows = [[float(i == j) for j in range(size)] for i in range(size)]
        for at, (i, j) in enumerate(self.pairs):
            cosine, sine = (drawn.number(f"{name}_{at}") for name in ("cos", "sin"))
            x, y = rows[i], rows[j]
            rows[i] = [a * cosine + b * sine for a, b in zip(x, y, strict=True)]
            rows[j] = [b * cosine - a * sine for a, b in zip(x, y, strict=True)]
        return rows[index], 0.0
