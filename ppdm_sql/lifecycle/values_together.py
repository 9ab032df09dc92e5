"""Whether the values of two columns go together in the rows: how many pairs there are, and would be.

Two columns that have nothing to do with each other make nearly all pairs that their values can make
in so many rows. Where one determines the other, each of its values is in one pair only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named

if TYPE_CHECKING:
    import numpy.typing as npt

    from ppdm_sql.engine.duckdb import Engine

_ROWS = "s"
_COUNT = exp.Count(this=exp.Star())
_RARE = 0.25
"""Pairs too many, as a share of those that chance would make: rows may be wrong, ages differ in a year."""
_ENOUGH = 5.0
"""Pairs that chance would make beyond the fewest: below, having none of them may be chance."""
_NEAR = 1.2
"""Estimates may be off by that much."""
_FULL = 5.0
"""Rows for each pair that there could be: with so many, a pair that is missing means something."""


@dataclass(frozen=True, slots=True)
class ValuesTogether:
    """How often the values of two columns meet."""

    rows: int
    first: int
    second: int
    """Different values; NULL is one."""
    pairs: int
    by_chance: float
    """Pairs to be expected of columns that have nothing to do with each other."""
    missed: float
    """Rows that chance would put into pairs that are not there."""

    @staticmethod
    def may_go_together(rows: int, first: int, second: int, pairs: int) -> bool:
        """Whether estimates of these counts are near enough to count, and rows enough to tell."""
        most = min(rows, first * second)
        is_enough = most - min(first, second) >= _ENOUGH or first * second * _FULL <= rows
        return is_enough and pairs <= _NEAR * (max(first, second) + _RARE * most)

    def determine_each_other(self) -> bool | None:
        """Whether one determines the other; None where the rows cannot tell."""
        said = [self._determines(values) for values in (self.first, self.second)]
        return True if True in said else None if None in said else False

    @property
    def are_near(self) -> bool:
        """Whether there are so few pairs, by chance or not."""
        return any(
            self.pairs - values <= _RARE * (self.by_chance - values)
            for values in (self.first, self.second)
        )

    def _determines(self, values: int) -> bool | None:
        """Whether one with so many values determines the other."""
        gap = self.by_chance - values
        is_full = self.first * self.second * _FULL <= self.rows
        if gap < _ENOUGH and not is_full:
            return None
        is_near = self.pairs - values <= _RARE * gap
        return is_near and (gap >= _ENOUGH or self.missed >= _ENOUGH)

    @property
    def first_is_wide(self) -> bool:
        """Whether the first is different in most rows."""
        return 2 * self.first > self.rows

    @property
    def second_is_wide(self) -> bool:
        """Whether the second is different in most rows."""
        return 2 * self.second > self.rows


def values_together(
    engine: Engine, source: exp.Expr, first: exp.Expr, second: exp.Expr
) -> ValuesTogether:
    """Count the values of two columns of a source, alone and together."""
    pairs = exp.select(
        named(first.copy(), "a"), named(second.copy(), "b"), named(_COUNT.copy(), "n")
    )
    pairs = pairs.from_(source.copy()).group_by(first.copy(), second.copy())
    # Of each pair, how often its values are there: what chance would put into it.
    sums = exp.select(named(_sum_within("a"), "x"), named(_sum_within("b"), "y"))
    sums = sums.from_(pairs.subquery(exp.to_identifier(_ROWS, quoted=True)))
    product = exp.Mul(this=_double("x"), expression=_double("y"))
    (met,) = engine.query(
        exp.select(named(_COUNT.copy(), "pairs"), named(exp.Sum(this=product), "met")).from_(
            sums.subquery(exp.to_identifier(_ROWS, quoted=True))
        )
    ).to_pylist()
    firsts, seconds = (_frequencies(engine, source, value) for value in (first, second))
    rows = int((firsts[0] * firsts[1]).sum())
    if not rows:
        return ValuesTogether(0, 0, 0, 0, 0.0, 0.0)
    by_chance = sum(
        m * float(seconds[1] @ _met_by_chance(n, seconds[0], rows))
        for n, m in zip(*firsts, strict=True)
    )
    return ValuesTogether(
        rows,
        int(firsts[1].sum()),
        int(seconds[1].sum()),
        int(met["pairs"]),
        float(by_chance),
        rows - float(met["met"]) / rows,
    )


def _met_by_chance(n: float, often: npt.NDArray[np.float64], rows: int) -> npt.NDArray[np.float64]:
    """Return how likely a value of n rows meets others, if rows were shuffled.

    Exact where one of the two is in one row.
    """
    least, most = np.minimum(n, often), np.maximum(n, often)
    met: npt.NDArray[np.float64] = 1 - (1 - most / rows) ** least
    return met


def _frequencies(
    engine: Engine, source: exp.Expr, value: exp.Expr
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return how often values are there, and how many are there so often: few numbers."""
    each = exp.select(named(_COUNT.copy(), "n")).from_(source.copy()).group_by(value.copy())
    often = column_of("n", _ROWS)
    query = exp.select(often, named(_COUNT.copy(), "m")).from_(
        each.subquery(exp.to_identifier(_ROWS, quoted=True))
    )
    found = engine.query(query.group_by(often.copy()))
    n, m = (found.column(name).to_numpy().astype(np.float64) for name in ("n", "m"))
    return n, m


def _sum_within(by: str) -> exp.Expr:
    return exp.Window(this=exp.Sum(this=column_of("n", _ROWS)), partition_by=[column_of(by, _ROWS)])


def _double(name: str) -> exp.Expr:
    return exp.cast(column_of(name, _ROWS), "DOUBLE")
