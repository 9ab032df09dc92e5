"""`bit_minus()`: Bit--, the leading digit stays and every other digit d becomes (d - 1) mod 10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.treatments import digit_shift
from ppdm_sql.treatments.kernels.digits import bit_minus
from ppdm_sql.treatments.protocol import Exactness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from sqlglot import exp

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Scope, Statistics
    from ppdm_sql.types import ColumnType


@dataclass(frozen=True, slots=True)
class BitMinus:
    """Digits of one column moved by one; there is no secret in it."""

    keyword: ClassVar[str] = "bit_minus"
    summary: ClassVar[str] = "all digits but the first become (d - 1) mod 10"
    undone_by: ClassVar[str] = "knowing the method: there is no secret in it"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("ppdm_bit_minus", ("BIGINT",), "HUGEINT", bit_minus),
    )
    by: ClassVar[int] = -1

    digits: digit_shift.DigitColumn

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take an integer, a DECIMAL of at most 18 digits, or DOUBLE with `decimals`."""
        return cls(digit_shift.DigitColumn.from_call(call, columns))

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the next wider integer; DECIMAL and DOUBLE as they are."""
        return (self.digits.output,)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the digits moved by arithmetic."""
        return (self.digits.moved(inputs[0], scope, self.by),)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a call of `ppdm_bit_minus`."""
        return (self.digits.moved_by_kernel(inputs[0], scope, self.kernels[0].name),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count values that cannot be computed, and those of one digit."""
        return self.digits.checks(inputs[0], outputs[0])

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise for the first, warn when the second are many."""
        return self.digits.verify(self.keyword, results)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Move the digits back; floating point comes back rounded to its decimals."""
        return (self.digits.unmoved(outputs[0], -self.by),)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Rewrite an equality; the order of numbers is not kept."""
        return self.digits.invert_equality(operator, literal, columns[index], -self.by)
