"""`(x, y) … rotation(degrees => 13.7)`: points turned clockwise, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments, constants
from ppdm_sql.treatments.expressions import as_double, comparison, literal_of
from ppdm_sql.treatments.kernels.affine import direction, rotation
from ppdm_sql.treatments.numbers import (
    computable,
    drawn_for,
    lost_rows,
    refuse_lost,
    require_numbers,
)
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import DOUBLE, ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import Chance, InputColumn, Keys, Scope, Statistics

_AWAY = 10.0
"""Drawn angles keep this many degrees from every multiple of 90."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """An angle for each pair of columns; None where it is drawn.

    Columns are paired in order, (1, 2), (3, 4), …; the last of an odd number is turned together
    with the first, which is turned a second time.
    """

    keyword: ClassVar[str] = "rotation"
    summary: ClassVar[str] = "pairs of columns turned clockwise by a secret angle"
    undone_by: ClassVar[str] = (
        "one known row, two to be sure, or how the columns vary together elsewhere; distances"
        " between rows are kept"
    )
    exactness: ClassVar[Exactness] = Exactness.NEAR
    is_affine: ClassVar[bool] = True
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "ppdm_rotation",
            ("DOUBLE", "DOUBLE", "DOUBLE"),
            "STRUCT(x DOUBLE, y DOUBLE)",
            rotation,
        ),
    )

    columns: tuple[InputColumn, ...]
    degrees: tuple[float | None, ...] = field(repr=False)

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take two or more numbers; `degrees` is one angle, or one a pair."""
        if len(columns) < 2:
            raise TreatmentError(
                "rotation turns pairs of columns", call.span, "write (x, y) ROLE AS rotation()"
            )
        require_numbers(call, columns)
        arguments = Arguments(call, ("degrees",))
        degrees = constants(arguments, "degrees", (len(columns) + 1) // 2)
        for angle in degrees:
            if angle is not None and angle % 90 == 0:
                arguments.fail(
                    "degrees", "a turn by a multiple of 90 degrees only swaps columns and signs"
                )
        return cls(tuple(columns), degrees)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The columns that are turned together, in order."""
        count = len(self.columns)
        pairs = [(index, index + 1) for index in range(0, count - 1, 2)]
        return tuple(pairs if count % 2 == 0 else [*pairs, (0, count - 1)])

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return DOUBLE for each."""
        return (DOUBLE,) * len(self.columns)

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Draw angles away from every multiple of 90 degrees."""
        if previous is not None:
            return previous
        parameters: dict[str, Parameter] = {}
        chance = keys.chance(drawn_for(self.keyword, self.columns))
        for index, given in enumerate(self.degrees):
            angle = float(draw_angle(chance) if given is None else given)
            cosine, sine = direction(angle)
            parameters |= {f"degrees_{index}": angle, f"cos_{index}": cosine, f"sin_{index}": sine}
        return Drawn(parameters)

    def not_agreed(self) -> None:
        """An angle is drawn without looking at the columns."""

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return x cos θ + y sin θ and y cos θ - x sin θ, pair after pair."""
        values: list[exp.Expr] = [
            scope.let(computable(column, value))
            for column, value in zip(self.columns, inputs, strict=True)
        ]
        for index, (i, j) in enumerate(self.pairs):
            x, y = values[i], values[j]
            cosine, sine = scope.parameter(f"cos_{index}"), scope.parameter(f"sin_{index}")
            values[i] = exp.paren(x.copy() * cosine.copy() + y.copy() * sine.copy())
            values[j] = exp.paren(y.copy() * cosine.copy() - x.copy() * sine.copy())
        return tuple(values)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_rotation`."""
        values: list[exp.Expr] = [
            computable(column, value) for column, value in zip(self.columns, inputs, strict=True)
        ]
        for index, (i, j) in enumerate(self.pairs):
            turned = scope.let(
                exp.Anonymous(
                    this="ppdm_rotation",
                    expressions=[
                        values[i].copy(),
                        values[j].copy(),
                        scope.parameter(f"degrees_{index}"),
                    ],
                )
            )
            values[i], values[j] = (
                exp.StructExtract(this=turned.copy(), expression=exp.Literal.string(field_))
                for field_ in ("x", "y")
            )
        return tuple(values)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        return lost_rows(self.columns, inputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, self.columns, results)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Turn back, the last pair first."""
        values = list(outputs)
        for index, (i, j) in reversed(list(enumerate(self.pairs))):
            x, y = values[i], values[j]
            cosine, sine = drawn.parameters[f"cos_{index}"], drawn.parameters[f"sin_{index}"]
            values[i] = pc.subtract(pc.multiply(x, cosine), pc.multiply(y, sine))
            values[j] = pc.add(pc.multiply(y, cosine), pc.multiply(x, sine))
        return tuple(values)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return the linear condition on the original columns."""
        if isinstance(literal, str):
            return None
        weights = self._weights(drawn, index)
        terms = [
            exp.Mul(this=literal_of(weight), expression=as_double(column))
            for weight, column in zip(weights, columns, strict=True)
            if weight
        ]
        total: exp.Expr = terms[0]
        for term in terms[1:]:
            total = exp.Add(this=total, expression=term)
        return comparison(operator, total, literal_of(literal))

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return where one of the columns that it was turned with is NULL."""
        weights = self._weights(drawn, index)
        mixed = [column for weight, column in zip(weights, columns, strict=True) if weight]
        return exp.or_(*(column.is_(exp.null()) for column in mixed))

    def _weights(self, drawn: Drawn, index: int) -> list[float]:
        """Return what each original column contributes to one released column."""
        size = len(self.columns)
        rows = [[float(i == j) for j in range(size)] for i in range(size)]
        for at, (i, j) in enumerate(self.pairs):
            cosine, sine = (float(drawn.parameters[f"{name}_{at}"]) for name in ("cos", "sin"))
            x, y = rows[i], rows[j]
            rows[i] = [a * cosine + b * sine for a, b in zip(x, y, strict=True)]
            rows[j] = [b * cosine - a * sine for a, b in zip(x, y, strict=True)]
        return rows[index]


def draw_angle(chance: Chance) -> float:
    """Return a secret angle, away from every multiple of 90 degrees."""
    return 90.0 * chance.choice(4) + chance.uniform(_AWAY, 90.0 - _AWAY)
