"""A treatment's own formula with its parameters written out: for the owner's eyes only.

Needed where a condition speaks of two columns at once, as one on a rotated pair does: what stood
before in the chain is then put into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from ppdm_sql.treatments.expressions import literal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlglot import exp

    from ppdm_sql.parameters import Drawn, DrawnBySlot
    from ppdm_sql.release.model import Step
    from ppdm_sql.treatments.protocol import Joined


_LONGEST = 10_000


class NeedsTableError(Exception):
    """A formula refers to a table of the store, or is too long, so it cannot be written out."""


def formulas(
    columns: Sequence[exp.Expr], steps: Sequence[Step], drawn: DrawnBySlot, formula: int
) -> tuple[exp.Expr, ...]:
    """Return what a chain of treatments makes of its columns."""
    values = tuple(columns)
    for step in steps:
        values = step.treatment.to_expr(values, _Written(drawn[step.slot], formula))
    return values


@dataclass(frozen=True, slots=True)
class _Written:
    """A scope in which a parameter is its value."""

    drawn: Drawn = field(repr=False)
    formula: int

    def parameter(self, name: str) -> exp.Expr:
        return literal_of(self.drawn.parameters[name])

    def let(self, value: exp.Expr) -> exp.Expr:
        """Write it out; what stands in it twice, at each step, would fill the memory."""
        if sum(1 for _ in value.walk()) > _LONGEST:
            raise NeedsTableError
        return value.copy()

    def lookup(self, table: str, key: exp.Expr) -> NoReturn:
        raise NeedsTableError

    def join(self, table: str, keys: Mapping[str, exp.Expr]) -> NoReturn:
        raise NeedsTableError

    def join_below(self, table: str, key: exp.Expr) -> NoReturn:
        raise NeedsTableError

    def join_nearest(
        self, table: str, when: exp.Expr, distance: Callable[[Joined], exp.Expr]
    ) -> NoReturn:
        raise NeedsTableError

    def row_key(self) -> NoReturn:
        raise NeedsTableError

    def mixed_with(self, index: int) -> NoReturn:
        raise NeedsTableError

    def source_value(self, index: int) -> NoReturn:
        raise NeedsTableError
