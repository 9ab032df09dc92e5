"""`scaling(by => 0.94)`: x · e, one secret constant a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments, constants
from ppdm_sql.treatments.expressions import FLIPPED, as_double, comparison, literal_of
from ppdm_sql.treatments.kernels.affine import scaling
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

_LARGEST = 1e6
_SMALLEST = 1e-6


@dataclass(frozen=True, slots=True)
class Scaling:
    """A factor for each column; None where it is drawn."""

    keyword: ClassVar[str] = "scaling"
    summary: ClassVar[str] = "x · e, one secret constant a column"
    undone_by: ClassVar[str] = (
        "one known value other than 0; the steps between whole numbers show the factor"
    )
    exactness: ClassVar[Exactness] = Exactness.NEAR
    is_affine: ClassVar[bool] = True
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("ppdm_scaling", ("DOUBLE", "DOUBLE"), "DOUBLE", scaling),
    )

    columns: tuple[InputColumn, ...]
    by: tuple[float | None, ...] = field(repr=False)

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take numbers; `by` is one factor, or one a column."""
        require_numbers(call, columns)
        arguments = Arguments(call, ("by",))
        by = constants(arguments, "by", len(columns))
        for factor in by:
            if factor == 1:
                arguments.fail("by", "a scaling by 1 changes nothing")
            if factor is not None and not _SMALLEST <= abs(factor) <= _LARGEST:
                arguments.fail("by", f"a factor must lie between {_SMALLEST:g} and {_LARGEST:g}")
        return cls(tuple(columns), by)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return DOUBLE for each."""
        return (DOUBLE,) * len(self.columns)

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Draw factors that shrink to a quarter at most or grow to four times at most."""
        if previous is not None:
            return previous
        chance = keys.chance(drawn_for(self.keyword, self.columns))
        return Drawn(
            {
                f"by_{index}": float(draw_factor(chance) if by is None else by)
                for index, by in enumerate(self.by)
            }
        )

    def not_agreed(self) -> None:
        """A factor is drawn without looking at the column."""

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the products."""
        return tuple(
            exp.Mul(this=computable(column, value), expression=scope.parameter(f"by_{index}"))
            for index, (column, value) in enumerate(zip(self.columns, inputs, strict=True))
        )

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_scaling`."""
        return tuple(
            exp.Anonymous(
                this="ppdm_scaling",
                expressions=[as_double(value), scope.parameter(f"by_{index}")],
            )
            for index, value in enumerate(inputs)
        )

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        return lost_rows(self.columns, inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, self.columns, results)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Divide by the factors."""
        return tuple(
            pc.divide(y, drawn.parameters[f"by_{index}"]) for index, y in enumerate(outputs)
        )

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Divide the literal; a negative factor turns the comparison round."""
        by = drawn.parameters[f"by_{index}"]
        if isinstance(literal, str) or isinstance(by, str):
            return None
        turned = operator if by > 0 else FLIPPED.get(operator, operator)
        return comparison(turned, columns[index], literal_of(literal / by))


def draw_factor(chance: Chance) -> float:
    """Return a secret factor, well away from 0 and from 1."""
    factor = chance.uniform(1.25, 4.0)
    return factor if chance.sign() > 0 else 1.0 / factor
