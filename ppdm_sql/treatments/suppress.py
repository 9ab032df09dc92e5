"""`suppress()`: the column stays in the release, every value is NULL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, ColumnType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Drawn
    from ppdm_sql.treatments.protocol import Scope


@dataclass(frozen=True, slots=True)
class Suppress(Treatment):
    """NULL in every row, of the column's own type."""

    keyword = "suppress"
    summary = "every value becomes NULL; the column itself stays"
    reading = "nothing: every value is hidden"
    missing = "every value is hidden"
    undone_by = "nothing: the values are not in the release"
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, is_always_null=True
    )
    most = None
    not_agreed = None

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the types of the source; one that lists values of an ENUM becomes text."""
        types = (column.type for column in self.columns)
        return tuple(VARCHAR if "ENUM(" in type_.text else type_ for type_ in types)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a NULL of the right type that reads nothing."""
        return tuple(
            exp.cast(exp.null(), "VARCHAR")
            if type_ == VARCHAR
            # Keeps any type, also those whose names only this engine knows.
            else exp.case().when(exp.false(), value)
            for value, type_ in zip(inputs, self.output_types(), strict=True)
        )

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return that it always is."""
        return exp.true()
