"""`(x, y, …) … rotation(degrees => 13.7)`: points turned clockwise, every two columns in turn."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.affine import AffineTreatment, draw_angle
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import call
from ppdm_sql.treatments.kernels.affine import direction, rotation
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_STRUCT = "STRUCT(x DOUBLE, y DOUBLE)"


EVERY_PAIR = 5
"""The formula from which every column is turned with every other one."""


def neighbours(count: int) -> tuple[tuple[int, int], ...]:
    """Return (1, 2), (3, 4), …; the last of an odd number stands with the first."""
    pairs = [(index, index + 1) for index in range(0, count - 1, 2)]
    return tuple(pairs if count % 2 == 0 else [*pairs, (0, count - 1)])


def every_pair(count: int) -> tuple[tuple[int, int], ...]:
    """Return (1, 2), (1, 3), … and then (2, 3), (2, 4), … to the last two."""
    return tuple(itertools.combinations(range(count), 2))


def turned(rows: list[list[float]], pair: tuple[int, int], cosine: float, sine: float) -> None:
    """Turn two of the rows that say what each original column contributes to a released one."""
    x, y = (rows[at] for at in pair)
    rows[pair[0]] = [a * cosine + b * sine for a, b in zip(x, y, strict=True)]
    rows[pair[1]] = [b * cosine - a * sine for a, b in zip(x, y, strict=True)]


def _angles(given: Arguments, columns: Sequence[InputColumn]) -> tuple[float, ...] | None:
    """Return one angle, or one for each pair, or for each pair of neighbours; None: drawn."""
    value = given.value("degrees")
    if value is None:
        return None
    if not isinstance(value, tuple):
        value = (value,)
    possible = (1, len(every_pair(len(columns))), len(neighbours(len(columns))))
    if len(value) not in possible:
        given.fail(
            "degrees",
            f"{plural(len(value), 'angle')} for {plural(possible[1], 'pair')} of columns",
            "write one angle for all of them, or a list of one for each",
        )
    return tuple(angle for angle in given.constants("degrees", len(value)) if angle is not None)


@dataclass(frozen=True, slots=True)
class Rotation(AffineTreatment):
    """An angle for each two columns, in the order (1, 2), (1, 3), …, (2, 3), …; or drawn.

    Before formula 5, and where no more angles are given, only neighbours are turned.
    """

    keyword = "rotation"
    summary = "every two of the columns turned clockwise by a secret angle"
    reading = (
        "mixed with the other columns of its group: distances "
        "between rows are right, one column alone means nothing"
    )
    missing = "or another column of its group is"
    undone_by = (
        "the steps between whole numbers, or numbers with few decimals, show the angle; else known"
        " rows, one fewer than columns, or how the columns vary together elsewhere; distances"
        " between rows are kept"
    )
    traits = Traits(links_rows=False, is_affine=True, keeps_distances=True)
    fewest = 2
    arguments = (ArgumentSpec("degrees", _angles),)
    kernels = (Kernel("ppdm_rotation", ("DOUBLE", "DOUBLE", "DOUBLE"), _STRUCT, rotation),)
    not_agreed = None  # an angle is drawn without looking at the columns

    degrees: tuple[float, ...] | None = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise for an angle that turns nothing."""
        if any(angle % 90 == 0 for angle in self.degrees or ()):
            given.fail(
                "degrees", "a rotation by a multiple of 90 degrees only swaps columns and signs"
            )

    def pairs(self, formula: int) -> tuple[tuple[int, int], ...]:
        """Return the columns that are turned together, in order."""
        count = len(self.columns)
        few, all_ = neighbours(count), every_pair(count)
        is_short = self.degrees is not None and 1 < len(self.degrees) == len(few)
        return few if formula < EVERY_PAIR or is_short else all_

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Draw angles away from every multiple of 90 degrees."""
        parameters: dict[str, Parameter] = {}
        chance = self.chance(keys)
        count = len(self.pairs(keys.formula))
        given = self.degrees
        if given is not None and len(given) == 1:
            given *= count
        for index in range(count):
            angle = float(draw_angle(chance) if given is None else given[index])
            cosine, sine = direction(angle)
            parameters |= {f"degrees_{index}": angle, f"cos_{index}": cosine, f"sin_{index}": sine}
        return Drawn(parameters)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return x cos θ + y sin θ and y cos θ - x sin θ, pair after pair."""
        values: list[exp.Expr] = [scope.let(number) for number in self.numbers(inputs)]
        pairs = self.pairs(scope.formula)
        for index, (i, j) in enumerate(pairs):
            x, y = values[i], values[j]
            cosine, sine = scope.parameter(f"cos_{index}"), scope.parameter(f"sin_{index}")
            values[i] = exp.paren(x.copy() * cosine.copy() + y.copy() * sine.copy())
            values[j] = exp.paren(y.copy() * cosine.copy() - x.copy() * sine.copy())
            for at in {i, j} & set(itertools.chain(*pairs[index + 1 :])):
                values[at] = scope.let(values[at])  # used twice in what follows
        return tuple(values)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_rotation`."""
        values = self.numbers(inputs)
        for index, (i, j) in enumerate(self.pairs(scope.formula)):
            degrees = scope.parameter(f"degrees_{index}")
            both = scope.let(call(self.kernels[0], values[i].copy(), values[j].copy(), degrees))
            values[i], values[j] = (
                exp.StructExtract(this=both.copy(), expression=exp.Literal.string(field_))
                for field_ in ("x", "y")
            )
        return tuple(values)

    def _stored(self, drawn: Drawn) -> list[tuple[tuple[int, int], float, float]]:
        """Return the pairs that a version turns, each with cosine and sine."""
        count, few = len(self.columns), neighbours(len(self.columns))
        all_ = every_pair(count)
        pairs = few if f"cos_{len(few)}" not in drawn.parameters else all_
        return [
            (pair, drawn.number(f"cos_{at}"), drawn.number(f"sin_{at}"))
            for at, pair in enumerate(pairs)
        ]

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Turn back, the last pair first."""
        values = list(outputs)
        for (i, j), cosine, sine in reversed(self._stored(drawn)):
            x, y = values[i], values[j]
            values[i] = pc.subtract(pc.multiply(x, cosine), pc.multiply(y, sine))
            values[j] = pc.add(pc.multiply(y, cosine), pc.multiply(x, sine))
        return tuple(values)

    def row(self, drawn: Drawn, index: int) -> tuple[Sequence[float], float]:
        """Return what each original column contributes to one released column."""
        size = len(self.columns)
        rows = [[float(i == j) for j in range(size)] for i in range(size)]
        for pair, cosine, sine in self._stored(drawn):
            turned(rows, pair, cosine, sine)
        return rows[index], 0.0
