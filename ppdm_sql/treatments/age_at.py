"""`age_at('2026-01-01')`: a date of birth becomes the age on a day, in whole years."""

from __future__ import annotations

from calendar import isleap
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import literal_of
from ppdm_sql.treatments.numbers import TIMES, in_calendar, lost_days, refuse_lost
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import BIGINT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Statistics


def _day(given: Arguments, _: Sequence[InputColumn]) -> date:
    try:
        return date.fromisoformat(given.text("day", ""))
    except ValueError:
        given.fail("day", "this is no day", "write age_at('2026-01-01')")


@dataclass(frozen=True, slots=True)
class AgeAt(PlainRule):
    """Whole years from a date to a day; who was born on 29 February turns a year on 1 March."""

    keyword = "age_at"
    summary = "a date of birth becomes the age on a day, in whole years"
    reading = "the age in whole years on a day that the owner chose"
    missing = "or born later"
    undone_by = "nothing exactly; the year of birth is one of two"
    kinds = TIMES
    most = None
    arguments = (ArgumentSpec("day", _day),)
    releases = BIGINT

    day: date = field(repr=False)

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Keep the year, and the place in the year."""
        return {"year": self.day.year, "place": self.day.month * 100 + self.day.day}

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return the day."""
        return f"on {self.day.isoformat()}"

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the years, one fewer before the birthday; NULL for who is born later."""
        year, month, day = (
            exp.cast(exp.Extract(this=exp.Var(this=part), expression=in_calendar(value)), "BIGINT")
            for part in ("YEAR", "MONTH", "DAY")
        )
        place = exp.Add(
            this=exp.Mul(this=month, expression=exp.Literal.number(100)), expression=day
        )
        is_before = exp.cast(
            exp.paren(exp.GT(this=exp.paren(place), expression=parameter("place"))), "BIGINT"
        )
        years = exp.Sub(this=exp.Sub(this=parameter("year"), expression=year), expression=is_before)
        is_born = exp.GTE(this=exp.paren(years), expression=exp.Literal.number(0))
        return exp.case().when(is_born, years.copy())

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count days that no calendar has."""
        return lost_days(inputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such days."""
        return refuse_lost(self.keyword, self.columns, results)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return between which days somebody of such an age was born."""
        if not isinstance(literal, int):
            return None
        young, old = self._born(literal), self._born(literal + 1)
        born, column = self.day + timedelta(days=1), columns[index]
        if young is None or old is None:
            return None
        after, before = {
            "=": (old, young),
            ">=": (None, young),
            ">": (None, old),
            "<": (young, born),
            "<=": (old, born),
        }.get(operator, (None, None))
        if before is None:
            return None
        is_before = exp.LT(this=column, expression=literal_of(before))
        if after is None:
            return is_before
        return exp.and_(exp.GTE(this=column.copy(), expression=literal_of(after)), is_before)

    def _born(self, age: int) -> date | None:
        """Return the first day after the births of everybody who is so old; None: out of calendar."""
        year = self.day.year - age
        if not 1 <= year <= self.day.year:
            return self.day + timedelta(days=1) if age <= 0 else None
        is_missing = (self.day.month, self.day.day) == (2, 29) and not isleap(year)
        last = self.day.replace(year=year, day=28 if is_missing else self.day.day)
        return last + timedelta(days=1)
