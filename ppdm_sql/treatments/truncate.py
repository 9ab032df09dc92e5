"""`truncate('month')`: a date or time becomes the beginning of its month, year, hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.numbers import TIMES, in_calendar, lost_days, refuse_lost
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.parameters import Drawn
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Statistics

UNITS = ("year", "quarter", "month", "week", "day", "hour")


def _unit(given: Arguments, columns: Sequence[InputColumn]) -> str:
    if "to" not in given:
        given.fail("to", "how much is cut off?", "write truncate('month')")
    unit = given.choice("to", UNITS[0], UNITS)
    if unit in ("day", "hour") and any(column.type.kind is Kind.DATE for column in columns):
        given.fail(
            "to", f"a date has no {unit} to cut off", "write truncate('week') or a longer one"
        )
    return unit


@dataclass(frozen=True, slots=True)
class Truncate(PlainRule):
    """The beginning of the period that a date or time lies in; weeks begin on Mondays."""

    keyword = "truncate"
    summary = "a date or time becomes the beginning of its year, quarter, month, week, day or hour"
    reading = "the beginning of the period that the date or time lies in"
    undone_by = "nothing exactly; the period is shown, and who has few dates in it is told by them"
    kinds = TIMES
    most = None
    arguments = (ArgumentSpec("to", _unit),)

    to: str

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return the period."""
        return f"the beginning of the {self.to}"

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the beginning of the period; NULL for what no calendar has."""
        start = exp.TimestampTrunc(this=in_calendar(value), unit=exp.Var(this=self.to.upper()))
        return exp.cast(start, exp.DataType.build(column.type.text, dialect="duckdb"))

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count days that no calendar has."""
        return lost_days(inputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such days."""
        return refuse_lost(self.keyword, self.columns, results)

    def said(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the beginning of the period."""
        return exp.TimestampTrunc(this=value, unit=exp.Var(this=self.to.upper()))
