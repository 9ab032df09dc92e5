"""How unlike a released row is to what is known of a person, column by column.

In units of a log-likelihood, so that columns of all kinds add up (Fellegi and Sunter, 1969): what
a treatment hardly moves weighs much, what it moves far weighs little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import FloatArray, IntArray

_MOST = 8.0
"""No column alone rules a row out: rho moves some rows far."""
_LEAST_STEP = 0.1
"""Where most ranks are kept, the next rank is the wrong one."""
_MOSTLY = 0.9
"""What is behind the point is kept where so many rows keep it."""
_NORMAL = 1.4826
"""Standard deviations in a median of absolute differences, for normal ones."""


class Unlikeness(Protocol):
    """What one column says of persons against all rows."""

    def of(self, persons: IntArray) -> FloatArray:
        """Return one row a person, one column a released row; 0: nothing speaks against it."""
        ...


def is_comparable(column: Column) -> bool:
    """Tell whether a column says something of who is who."""
    if column.is_numeric:
        return True
    before, after = column.original.labels, column.released.labels
    if before is None or after is None:
        return False
    return column.is_generalized or bool(column.is_shown().any())


def unlikeness(column: Column) -> Unlikeness | None:
    """Return how a column compares; None if it cannot be."""
    if not is_comparable(column):
        return None
    if column.is_numeric:
        parts = _parts(column)
        return _ranks(column) if parts is None else _Both(_ranks(column), parts)
    before, after = column.original.labels, column.released.labels
    assert before is not None
    assert after is not None
    if column.is_generalized:
        return _ranges(column) if column.original.numbers is not None else _groups(column)
    known = column.original.known()
    rate = float((before[known] != after[known]).mean())
    return _Labels(before, after, _cost(rate, len(before)))


@dataclass(frozen=True, slots=True)
class _Ranks:
    """Numbers by their ranks: blind to translation and scale."""

    x: FloatArray = field(repr=False)
    y: FloatArray = field(repr=False)
    """NaN for NULL."""
    spread: float
    null_cost: float

    def of(self, persons: IntArray) -> FloatArray:
        apart = (self.x[persons][:, None] - self.y) ** 2 / (2 * self.spread**2)
        cost: FloatArray = np.minimum(apart, _MOST)
        if np.isnan(cost).any():
            is_null = np.isnan(self.x[persons])[:, None] != np.isnan(self.y)
            cost = np.where(np.isnan(cost), self.null_cost * is_null, cost)
        return cost


@dataclass(frozen=True, slots=True)
class _Both:
    """Two ways in which one column tells who is who."""

    first: Unlikeness
    second: Unlikeness

    def of(self, persons: IntArray) -> FloatArray:
        return self.first.of(persons) + self.second.of(persons)


@dataclass(frozen=True, slots=True)
class _Labels:
    """Categories that should be the same."""

    x: IntArray = field(repr=False)
    y: IntArray = field(repr=False)
    cost: float

    def of(self, persons: IntArray) -> FloatArray:
        return np.where(self.x[persons][:, None] != self.y, self.cost, 0.0)


@dataclass(frozen=True, slots=True)
class _Ranges:
    """Numbers that should lie in the range that a row shows."""

    x: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    cost: float

    def of(self, persons: IntArray) -> FloatArray:
        x = self.x[persons][:, None]
        return np.where((x < self.low) | (x > self.high), self.cost, 0.0)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Categories that should be in the group that a row shows."""

    x: IntArray = field(repr=False)
    y: IntArray = field(repr=False)
    pairs: IntArray = field(repr=False)
    """Every category with every group it is shown as, in one sorted number."""
    size: int
    """How many groups there are."""
    cost: float

    def of(self, persons: IntArray) -> FloatArray:
        categories = self.x[persons]
        begin = np.searchsorted(self.pairs, categories * self.size)
        times = np.searchsorted(self.pairs, (categories + 1) * self.size) - begin
        owner = np.repeat(np.arange(len(persons)), times)
        # Within each person's stretch of pairs, one after the other.
        at = np.arange(len(owner)) + np.repeat(begin - np.cumsum(times) + times, times)
        fits = np.zeros((len(persons), self.size), dtype=np.bool_)
        fits[owner, self.pairs[at] % self.size] = True
        return np.where(fits[:, self.y], 0.0, self.cost)


def _ranks(column: Column) -> _Ranks:
    x, y = _ranked(column.original.numbers), _ranked(column.released.numbers)
    both = ~np.isnan(x + y)
    rows = len(x)
    # Whether a column was turned around is one thing to know of it, not one a person.
    if both.any() and np.mean((x[both] - 0.5) * (y[both] - 0.5)) < 0:
        y = 1 - y
    off = float(np.median(np.abs(x - y)[both])) if both.any() else 1.0
    changed = float((np.isnan(x) != np.isnan(y)).mean())
    return _Ranks(x, y, max(_NORMAL * off, _LEAST_STEP / rows), _cost(changed, rows))


def _parts(column: Column) -> _Labels | None:
    """Compare what is behind the point, where a treatment moves by whole numbers only.

    Noise on a time of day moves days, and leaves the time.
    """
    x, y = column.original.numbers, column.released.numbers
    assert x is not None
    assert y is not None
    size = max(float(np.nanmax(np.abs(side), initial=1.0)) for side in (x, y))
    step = max(1e-9, 64 * float(np.spacing(size)))
    before, after = (np.rint((side - np.floor(side)) / step) for side in (x, y))
    both = ~np.isnan(before + after)
    is_kept = before == after
    if not both.any() or is_kept[both].mean() < _MOSTLY or len(np.unique(before[both])) < 2:
        return None
    known = np.unique(np.concatenate((before[both], after[both])))
    codes = [
        np.where(np.isnan(side), -1, np.searchsorted(known, side)).astype(np.int64)
        for side in (before, after)
    ]
    return _Labels(codes[0], codes[1], _cost(1 - float(is_kept[both].mean()), len(x)))


def _ranked(values: FloatArray | None) -> FloatArray:
    """Return ranks between 0 and 1, equal ones in their middle; NaN for NULL."""
    assert values is not None
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ordered = np.sort(values[known])
    first = np.searchsorted(ordered, values[known], side="left")
    last = np.searchsorted(ordered, values[known], side="right") - 1
    ranks[known] = (first + last) / 2 / max(len(ordered) - 1, 1)
    return ranks


def _ranges(column: Column) -> _Ranges:
    """A label stands for the numbers between the least and the largest that are shown as it."""
    values, shown = column.original.numbers, column.released.codes()
    assert values is not None
    known = ~np.isnan(values)
    size = int(shown.max(initial=0)) + 1
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, shown[known], values[known])
    np.maximum.at(high, shown[known], values[known])
    return _Ranges(values, low[shown], high[shown], _cost(0.0, len(values)))


def _groups(column: Column) -> _Groups:
    """A category can be shown as what somebody's is: the hierarchy itself is no secret."""
    x = np.unique(column.original.codes(), return_inverse=True)[1]
    labels, y = np.unique(column.released.codes(), return_inverse=True)
    size = len(labels)
    return _Groups(x, y, np.unique(x * size + y), size, _cost(0.0, len(x)))


def _cost(rate: float, rows: int) -> float:
    """Return what a difference weighs that this share of the right rows has."""
    usual = min(max(rate, 1 / max(rows, 2)), 0.5)
    return min(float(np.log((1 - usual) / usual)), _MOST)
