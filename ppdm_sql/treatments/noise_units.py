"""How a column is written: what sums with noise are rounded to.

Decimals that the column itself does not have would link rows, and show which rows `rho` left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.expressions import count_where, double
from ppdm_sql.treatments.numbers import SECONDS_A_DAY, computable, count_of
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.treatments.protocol import InputColumn, Statistics

_MOST_DECIMALS = 6
"""Decimals of a column of DOUBLE up to which it is taken to be written with so many."""
_TIMES_A_DAY = (1, 24, 24 * 60, SECONDS_A_DAY)


@dataclass(frozen=True, slots=True)
class Writing:
    """How one column is written, as far as noise must know."""

    column: InputColumn
    index: int
    """Its place in the group that is treated."""
    follows_values: bool
    """Whether sums are rounded as the values are, however fine the type is."""

    def statistics(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """Ask with how many decimals numbers are written, and how fine times are."""
        if self.column.type.kind is Kind.TIMESTAMP:
            return self._whole_times(value) if self.follows_values else {}
        number = exp.paren(computable(self.column, value))
        found: dict[str, exp.Expr] = {}
        for decimals in self._decimals():
            found[f"known_{self.index}"] = exp.Count(this=number.copy())
            unit = double(repr(10.0**decimals))
            differs = exp.NEQ(this=rounded(number, unit), expression=number.copy())
            found[f"beyond_{self.index}_{decimals}"] = count_where(differs)
        return found

    def unit(self, statistics: Statistics) -> float:
        """Return how many steps of the column's scale one is; 0 where sums are not rounded."""
        match self.column.type.kind:
            case Kind.DATE:
                return 1.0
            case Kind.TIMESTAMP:
                # As the values are written: days, hours, minutes, seconds.
                units = (
                    unit
                    for unit in _TIMES_A_DAY
                    if statistics.get(f"timed_{self.index}")
                    and not count_of(statistics, f"between_{self.index}_{unit}")
                )
                return float(next(units, SECONDS_A_DAY))
            case kind:
                whole = 10.0 ** (self.column.type.decimals or 0)
                at_most = 0.0 if kind is Kind.FLOAT else whole
                if not statistics.get(f"known_{self.index}"):
                    return at_most
                fitting = (
                    10.0**decimals
                    for decimals in self._decimals()
                    if not count_of(statistics, f"beyond_{self.index}_{decimals}")
                )
                return next(fitting, at_most)

    def _decimals(self) -> range:
        """Return how many decimals it may be written with: tens and hundreds are below 0."""
        kind = self.column.type.kind
        if kind is not Kind.FLOAT and not self.follows_values:
            return range(0)
        most = _MOST_DECIMALS if kind is Kind.FLOAT else self.column.type.decimals or 0
        return range(-_MOST_DECIMALS if self.follows_values else 0, most + 1)

    def _whole_times(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """Ask how many times are not whole days, hours, minutes, seconds."""
        micros = exp.func("EPOCH_US", value.copy(), dialect="duckdb")
        found: dict[str, exp.Expr] = {f"timed_{self.index}": exp.Count(this=value.copy())}
        for unit in _TIMES_A_DAY:
            step = exp.Literal.number(86_400_000_000 // unit)
            rest = exp.Mod(this=micros.copy(), expression=step)
            between = exp.NEQ(this=rest, expression=exp.Literal.number(0))
            found[f"between_{self.index}_{unit}"] = count_where(between)
        return found


def rounded(value: exp.Expr, unit: exp.Expr) -> exp.Expr:
    """Return the nearest multiple of a unit's inverse, by operations that every engine has alike."""
    scaled = exp.Add(
        this=exp.Mul(this=value.copy(), expression=unit.copy()), expression=double("0.5")
    )
    return exp.Div(this=exp.Floor(this=scaled), expression=unit.copy())
