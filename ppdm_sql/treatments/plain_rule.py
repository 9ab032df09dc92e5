"""Treatments without a secret: everybody may know the rule, and nothing is drawn.

So a condition on released values is one on the rule of the original values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.expressions import comparison, literal_of
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics


@dataclass(frozen=True, slots=True)
class PlainRule(Treatment):
    """What is shown of one column follows from its value and from what the owner wrote."""

    # There is a secret number: what lies behind a limit, or in a step, could be solved for from
    # figures that compare what is shown with the originals.
    traits = Traits(mixes_columns=False, links_rows=False, stays_near=True, shows_a_part=True)
    not_agreed = None

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Return what the rule needs: it stands in the store, not in the text of a view."""
        return {}

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return what is shown of a value."""
        raise NotImplementedError  # every rule has its own

    def said(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the rule as people write it, for values that are nothing special."""
        return exp.paren(self.rule(column, value, parameter))

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Keep what the rule needs; a refresh keeps it, too."""
        return Drawn(self.given(statistics))

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return what is shown of each column."""
        return tuple(
            self.rule(column, value, scope.parameter)
            for column, value in zip(self.columns, inputs, strict=True)
        )

    @property
    def translates(self) -> bool:
        """The rule is known: a condition on it is one on the original."""
        return True

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return the condition on the rule of the original."""
        rule = self.said(
            self.columns[index], columns[index], lambda name: literal_of(drawn.parameters[name])
        )
        return comparison(operator, rule, literal_of(literal))
