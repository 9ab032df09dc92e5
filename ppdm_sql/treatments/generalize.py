"""A column of GENERALIZE: not a treatment anyone writes, but one in everybody's eyes.

Its values are handed on as they are, because the table of combinations is asked with them; the
text that stands there is what leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import VARCHAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.treatments.protocol import InputColumn, Scope
    from ppdm_sql.types import ColumnType


@dataclass(frozen=True, slots=True)
class Generalize:
    """What GENERALIZE makes of a column."""

    keyword: ClassVar[str] = "generalize"
    summary: ClassVar[str] = "a value becomes its group in a hierarchy"
    undone_by: ClassVar[str] = (
        "linking with other data, where a class is small or its sensitive values are alike"
    )
    exactness: ClassVar[Exactness] = Exactness.NONE

    original: Keep

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take what `keep` takes."""
        return cls(Keep.from_call(call, columns))

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return text: a group has no other type."""
        return (VARCHAR,) * len(self.original.types)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the columns as the table of combinations knows them."""
        return self.original.to_expr(inputs, scope)
