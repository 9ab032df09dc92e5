"""`keep()`: the column is released as it is. Also what a released column without treatment gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.errors import Refused
from ppdm_sql.treatments.expressions import comparison, literal_of
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ppdm_sql.language.syntax import TreatmentCall
    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Scope


@dataclass(frozen=True, slots=True)
class Keep(Treatment):
    """The same values; an ENUM is released as text, because its type lists every value it may take."""

    keyword = "keep"
    summary = "is released unchanged"
    reading = "the original value"
    undone_by = "nothing to undo: the values are the original ones"
    exactness = Exactness.EXACT
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, shows_originals=True,
        is_affine=True, moves_by_constant=True,
    )  # fmt: skip
    most = None
    not_agreed = None

    @classmethod
    def check_columns(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> None:
        """Take any type but one that hides an ENUM inside."""
        for column in columns:
            if column.type.kind is Kind.OTHER and "ENUM(" in column.type.text:
                raise Refused(
                    f"the type of '{column.name}' lists values of an ENUM and would be released with it",
                    call.span,
                    "cast it in a (SELECT …) source, or suppress() it",
                    code="wrong_type",
                )

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the types of the source, text for ENUM."""
        types = (column.type for column in self.columns)
        return tuple(VARCHAR if type_.kind is Kind.ENUM else type_ for type_ in types)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the columns themselves."""
        return tuple(
            exp.cast(value, "VARCHAR") if column.type.kind is Kind.ENUM else value
            for value, column in zip(inputs, self.columns, strict=True)
        )

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Return the values themselves."""
        return tuple(outputs)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return the same condition."""
        return comparison(operator, columns[index], literal_of(literal))
