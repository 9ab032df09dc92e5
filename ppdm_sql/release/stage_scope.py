"""What a treatment sees of the SELECT that it is compiled into: what was drawn, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, table_of
from ppdm_sql.errors import InternalError
from ppdm_sql.parameters import parameter_column
from ppdm_sql.release.stage_columns import INPUT, source_value, uses_source_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ppdm_sql.release.model import BoundRule, Plan
    from ppdm_sql.treatments.protocol import Joined

PARAMETERS, _LOOKUP = "p", "m"
"""What the parameter row and the lookup tables are called in it."""


@dataclass
class Stage:
    """One SELECT in the making: its joins grow as treatments refer to what was drawn."""

    plan: Plan
    row_key: exp.Expr | None
    lets: dict[str, exp.Expr] = field(default_factory=dict)
    joins: list[exp.Join] = field(default_factory=list)


@dataclass(frozen=True)
class StageScope:
    """What one treatment sees of its stage."""

    stage: Stage
    slot: str
    rule: BoundRule
    place: int
    """The number of the stage."""

    @property
    def formula(self) -> int:
        """Return how the version computes."""
        return self.stage.plan.release.formula

    def source_value(self, index: int) -> exp.Expr:
        """Return the original value of a column, if the treatment said that it uses it."""
        if not uses_source_value(self.rule, self.place, self.formula):
            raise InternalError("a treatment asks for a value that it did not say it uses")
        return source_value(self.rule, index, self.place)

    def mixed_with(self, index: int) -> list[int]:
        """Return the other columns whose originals are in this one by now."""
        before = (step.treatment.traits for step in self.rule.steps[: self.place])
        if not any(one.mixes_columns for one in before):
            return []
        return [one for one in range(len(self.rule.columns)) if one != index]

    def parameter(self, name: str) -> exp.Expr:
        """Return a reference to a parameter of the treatment."""
        return column_of(parameter_column(self.slot, name), PARAMETERS)

    def let(self, value: exp.Expr) -> exp.Expr:
        """Compute a value once, before the rest."""
        for name, earlier in self.stage.lets.items():
            if earlier == value:
                return column_of(name, INPUT)
        name = f"ppdm_{self.slot}_{len(self.stage.lets)}"
        self.stage.lets[name] = value
        return column_of(name, INPUT)

    def lookup(self, table: str, key: exp.Expr) -> exp.Expr:
        """Join a table on one column; return what is released."""
        return self.join(table, {"original": key})("released")

    def join(self, table: str, keys: Mapping[str, exp.Expr]) -> Joined:
        """Join a table on several columns."""
        alias = self._next_alias()
        on = [exp.EQ(this=key, expression=column_of(column, alias)) for column, key in keys.items()]
        return self._join(table, alias, exp.and_(*on))

    def join_below(self, table: str, key: exp.Expr) -> Joined:
        """Join the row whose original is the largest not above the key."""
        alias = self._next_alias()
        on = exp.GTE(this=key, expression=column_of("original", alias))
        return self._join(table, alias, on, method="ASOF")

    def join_nearest(
        self, table: str, when: exp.Expr, distance: Callable[[Joined], exp.Expr]
    ) -> Joined:
        """Join the row at the least distance, where a condition holds."""
        alias = self._next_alias()
        candidates = f"{alias}_of"
        name = self.stage.plan.storage.lookup_table(self.slot, table)
        nearest = (
            exp.select("*")
            .from_(table_of(name, candidates))
            .where(when)
            # Groups are numbered, so that of two equally near ones the first is taken everywhere.
            .order_by(
                distance(partial(column_of, table=candidates)), column_of("number", candidates)
            )
            .limit(1)
        )
        lateral = exp.Lateral(
            this=nearest.subquery(),
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
        )
        self.stage.joins.append(exp.Join(this=lateral, on=exp.true(), side="LEFT"))
        return partial(column_of, table=alias)

    def row_key(self) -> exp.Expr:
        """Return the KEY of the row, if the treatment said that it uses it."""
        if self.stage.row_key is None:
            raise InternalError("a treatment asks for a row key that it did not say it uses")
        return self.stage.row_key.copy()

    def _next_alias(self) -> str:
        return f"{_LOOKUP}{len(self.stage.joins)}"

    def _join(self, table: str, alias: str, on: exp.Expr, method: str | None = None) -> Joined:
        name = self.stage.plan.storage.lookup_table(self.slot, table)
        self.stage.joins.append(
            exp.Join(this=table_of(name, alias), on=on, side="LEFT", method=method)
        )
        return partial(column_of, table=alias)
