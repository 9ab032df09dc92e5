"""`suppress()`: the column stays in the release, every value is NULL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from sqlglot import exp

from ppdm_sql.treatments.arguments import Arguments
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import VARCHAR, ColumnType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.parameters import Drawn
    from ppdm_sql.treatments.protocol import InputColumn, Scope


@dataclass(frozen=True, slots=True)
class Suppress:
    """NULL in every row, of the column's own type."""

    keyword: ClassVar[str] = "suppress"
    summary: ClassVar[str] = "every value becomes NULL; the column itself stays"
    undone_by: ClassVar[str] = "nothing: the values are not in the release"
    exactness: ClassVar[Exactness] = Exactness.NONE

    types: tuple[ColumnType, ...]

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take no arguments and any type; a type that lists values of an ENUM becomes text."""
        Arguments(call, ())
        return cls(
            tuple(VARCHAR if "ENUM(" in column.type.text else column.type for column in columns)
        )

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the types of the source."""
        return self.types

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a NULL of the right type that reads nothing."""
        return tuple(
            exp.cast(exp.null(), "VARCHAR")
            if type_ == VARCHAR
            # Keeps any type, also those whose names only this engine knows.
            else exp.case().when(exp.false(), column)
            for column, type_ in zip(inputs, self.types, strict=True)
        )

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return that it always is."""
        return exp.true()
