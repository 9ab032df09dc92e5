"""`translation(by => 5)`: x + e, one secret constant a column; dates move by days."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.kernels.affine import translation
from ppdm_sql.kernels.draws import secret_sign, secret_uniform
from ppdm_sql.model.transform import Drawn, Exactness, Kernel
from ppdm_sql.model.types import BIGINT, DOUBLE, FITS_BIGINT, ColumnType
from ppdm_sql.transforms.arguments import Arguments, constants, require_kind
from ppdm_sql.transforms.expressions import comparison, literal_of, only_finite
from ppdm_sql.transforms.numbers import (
    NUMBERS,
    TIMES,
    computable,
    lost_rows,
    refuse_lost,
    shifted_time,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.model.syntax import TransformCall
    from ppdm_sql.model.transform import InputColumn, Keys, Parameter, Scope, Statistics

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_MOST_DAYS = 1_000_000


@dataclass(frozen=True, slots=True)
class Translation:
    """A constant for each column; None where it is drawn."""

    keyword: ClassVar[str] = "translation"
    summary: ClassVar[str] = "x + e, one secret constant a column; dates move by whole days"
    undone_by: ClassVar[str] = "one known value"
    exactness: ClassVar[Exactness] = Exactness.NEAR
    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("ppdm_translation", ("DOUBLE", "DOUBLE"), "DOUBLE", translation),
    )

    columns: tuple[InputColumn, ...]
    by: tuple[float | None, ...] = field(repr=False)

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take numbers and times; `by` is one number, or one a column."""
        for column in columns:
            require_kind(call, column, (*NUMBERS, *TIMES), "for categories write mapping()")
        arguments = Arguments(call, ("by",))
        by = constants(arguments, "by", len(columns))
        for column, constant in zip(columns, by, strict=True):
            if constant == 0:
                arguments.fail("by", "a translation by 0 changes nothing")
            if constant is None or column.type.kind not in TIMES:
                continue
            if not isinstance(constant, int) or abs(constant) > _MOST_DAYS:
                arguments.fail("by", f"'{column.name}' moves by whole days, at most {_MOST_DAYS:,}")
        return cls(tuple(columns), by)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the type of times, BIGINT for integers moved by whole numbers, else DOUBLE."""
        return tuple(
            column.type
            if column.type.kind in TIMES
            else BIGINT
            if self._is_whole(index)
            else DOUBLE
            for index, column in enumerate(self.columns)
        )

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask how far each column spreads whose constant is to be drawn."""
        return {
            f"spread_{index}": _spread(column, value)
            for index, (column, value) in enumerate(zip(self.columns, inputs, strict=True))
            if self.by[index] is None
        }

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Draw constants of a quarter to the whole of a column's spread, up or down."""
        if previous is not None:
            return previous
        parameters: dict[str, Parameter] = {}
        for index, given in enumerate(self.by):
            by = given
            if by is None:
                spread = abs(float(statistics[f"spread_{index}"] or 0.0)) or 1.0
                by = secret_sign() * secret_uniform(0.25, 1.0) * spread
            if self._is_whole(index) or self.columns[index].type.kind in TIMES:
                whole = round(by) or secret_sign()
                if self.columns[index].type.kind in TIMES:
                    whole = max(-_MOST_DAYS, min(_MOST_DAYS, whole))
                # A sum that would pass BIGINT is NULL instead.
                parameters |= {
                    f"by_{index}": whole,
                    f"least_{index}": max(_SMALLEST, _SMALLEST - whole),
                    f"most_{index}": min(_LARGEST, _LARGEST - whole),
                }
            else:
                parameters[f"by_{index}"] = float(by)
        return Drawn(parameters)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the sums."""
        return tuple(
            self._moved(index, value, scope) or self._sum(index, value, scope)
            for index, value in enumerate(inputs)
        )

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return calls of `ppdm_translation`; whole numbers and times stay exact in SQL."""
        return tuple(
            self._moved(index, value, scope)
            or exp.Anonymous(
                this="ppdm_translation",
                expressions=[exp.cast(value, "DOUBLE"), scope.parameter(f"by_{index}")],
            )
            for index, value in enumerate(inputs)
        )

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed."""
        return lost_rows(inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        return refuse_lost(self.keyword, self.columns, results)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Subtract the constants."""
        return tuple(self._inverted(index, y, drawn) for index, y in enumerate(outputs))

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Move the literal back."""
        if isinstance(literal, str) or self.columns[index].type.kind in TIMES:
            return None
        by = drawn.parameters[f"by_{index}"]
        assert not isinstance(by, str)
        return comparison(operator, columns[index], literal_of(literal - by))

    def _is_whole(self, index: int) -> bool:
        """Whether an integer column is moved by a whole number and stays one."""
        by = self.by[index]
        return self.columns[index].type.text in FITS_BIGINT and (by is None or isinstance(by, int))

    def _moved(self, index: int, value: exp.Expr, scope: Scope) -> exp.Expr | None:
        by = scope.parameter(f"by_{index}")
        column = self.columns[index]
        if column.type.kind in TIMES:
            return shifted_time(column, value, by)
        if not self._is_whole(index):
            return None
        number = exp.cast(value, "BIGINT")
        moved = exp.Add(this=number, expression=by)
        if column.type != BIGINT:
            return moved
        within = exp.and_(
            exp.GTE(this=number.copy(), expression=scope.parameter(f"least_{index}")),
            exp.LTE(this=number.copy(), expression=scope.parameter(f"most_{index}")),
        )
        return exp.case().when(within, moved)

    def _sum(self, index: int, value: exp.Expr, scope: Scope) -> exp.Expr:
        number = computable(self.columns[index], value)
        return exp.Add(this=number, expression=scope.parameter(f"by_{index}"))

    def _inverted(self, index: int, y: pa.Array, drawn: Drawn) -> pa.Array:
        by = drawn.parameters[f"by_{index}"]
        if self.columns[index].type.kind in TIMES:
            days = pa.scalar(int(by) * 86_400, pa.duration("s"))
            return pc.subtract(y.cast(pa.timestamp("us")), days).cast(y.type)
        return pc.subtract(y, by)


def _spread(column: InputColumn, value: exp.Expr) -> exp.Expr:
    if column.type.kind in TIMES:
        first, last = (
            exp.cast(aggregate(this=value.copy()), "DATE") for aggregate in (exp.Min, exp.Max)
        )
        return exp.Sub(this=last, expression=first)
    finite = only_finite(exp.cast(value, "DOUBLE"))
    return exp.Sub(this=exp.Max(this=finite), expression=exp.Min(this=finite.copy()))
