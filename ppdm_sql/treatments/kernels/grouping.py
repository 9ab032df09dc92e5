"""Groups of one column: cut points and means; those of `clusters => n` (k-means).

Equal values are never in two groups, so a group is a range and a value finds it by its cut point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

EXACT_UP_TO = 2_000
"""Distinct values up to which k-means of one column is solved exactly."""

_STARTS = 20
_ROUNDS = 100


def groups_of_clusters(values: Floats, clusters: int) -> Indices:
    """Return where clusters begin among sorted values: least squared distance to their means.

    Exact up to `EXACT_UP_TO` distinct values; beyond, the best of several starts of Lloyd's.
    """
    distinct, counts = np.unique(values, return_counts=True)
    begins = np.cumsum(counts) - counts
    solve = _exact if len(distinct) <= EXACT_UP_TO else _lloyd
    starts = solve(distinct, counts, clusters)
    first: Indices = begins[starts]
    return first


def cut_points(values: Floats, starts: Indices) -> Floats:
    """Return the least value of each group, half-way from the group before; -infinity first."""
    below, first = values[starts[1:] - 1], values[starts[1:]]
    middle = below + (first - below) / 2
    # Between two neighbouring DOUBLEs there is no middle.
    cuts: Floats = np.concatenate(([-np.inf], np.where(middle > below, middle, first)))
    return cuts


def means(values: Floats, starts: Indices) -> Floats:
    """Return the mean of each group."""
    sizes = np.diff(np.append(starts, len(values)))
    averages: Floats = np.add.reduceat(values, starts) / sizes
    return averages


class _Sums:
    """Prefix sums of weighted values: the mean and cost of any range in a few steps."""

    def __init__(self, values: Floats, counts: npt.NDArray[np.int64]) -> None:
        # From the middle, in units of the spread, in long numbers: squares cancel badly.
        self.middle = values[len(values) // 2]
        centred = (values - self.middle).astype(np.longdouble)
        self.unit = max(float(np.abs(centred).max()), np.finfo(float).tiny)
        centred /= self.unit
        zero = np.zeros(1, dtype=np.longdouble)
        self.weight = np.concatenate((zero, np.cumsum(counts, dtype=np.longdouble)))
        self.first = np.concatenate((zero, np.cumsum(counts * centred)))
        self.second = np.concatenate((zero, np.cumsum(counts * centred**2)))

    def means(self, starts: Indices, ends: Indices) -> Floats:
        """Return the means of ranges [start, end)."""
        weight = self.weight[ends] - self.weight[starts]
        centres = (self.first[ends] - self.first[starts]) / weight
        means: Floats = (centres * self.unit + self.middle).astype(float)
        return means

    def cost(self, starts: Indices, ends: Indices) -> float:
        """Return the squared distance of ranges [start, end) to their means, in units."""
        weight = self.weight[ends] - self.weight[starts]
        first = self.first[ends] - self.first[starts]
        second = self.second[ends] - self.second[starts]
        return float((second - first**2 / weight).sum())


def _costs(values: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Return the cost of every range [start, end), each grown by one value at a time.

    Welford's way, because differences of prefix sums lose everything beside one far value.
    """
    count = len(values)
    away_from_middle = values - values[count // 2]
    unit = max(float(np.abs(away_from_middle).max()), np.finfo(float).tiny)
    scaled = away_from_middle / unit
    costs: Floats = np.full((count + 1, count + 1), np.inf)
    weight, mean, cost = np.zeros(count), np.zeros(count), np.zeros(count)
    for at in range(count):
        started = slice(0, at + 1)
        weight[started] += counts[at]
        away = scaled[at] - mean[started]
        mean[started] += away * counts[at] / weight[started]
        cost[started] += counts[at] * away * (scaled[at] - mean[started])
        costs[: at + 1, at + 1] = cost[started]
    return costs


def _exact(values: Floats, counts: npt.NDArray[np.int64], clusters: int) -> Indices:
    """Solve by dynamic programming over the number of clusters."""
    costs = _costs(values, counts)
    best = costs[0].copy()
    choices = []
    for _ in range(1, clusters):
        choice, best = _last_starts(best, costs)
        choices.append(choice)
    at = len(values)
    starts = [0]
    for choice in reversed(choices):
        at = int(choice[at])
        starts.append(at)
    return np.unique(np.array(starts, dtype=np.intp))


def _last_starts(best: Floats, costs: Floats) -> tuple[Indices, Floats]:
    """Return where the last cluster of each range [0, end) begins, and what the range costs.

    The further the end, the further that start (Wang and Song, The R Journal 3, 2011): the end in
    the middle bounds those on both sides of it. All middles of one depth are searched at once.
    """
    size = len(best)
    choice, least = np.zeros(size, dtype=np.intp), np.full(size, np.inf)
    # The ends first…last are open; their clusters begin between low and high.
    first, last, low, high = (np.array([bound]) for bound in (0, size - 1, 0, size - 1))
    while len(first):
        middle = (first + last) // 2
        lengths = np.minimum(high, middle) - low + 1
        begins = np.cumsum(lengths) - lengths
        starts = np.arange(lengths.sum()) - np.repeat(begins - low, lengths)
        totals = best[starts] + costs[starts, np.repeat(middle, lengths)]
        least[middle] = np.minimum.reduceat(totals, begins)
        is_least = (totals == np.repeat(least[middle], lengths)).nonzero()[0]
        chosen = starts[is_least[np.searchsorted(is_least, begins)]]
        choice[middle] = chosen
        first, last = np.append(first, middle + 1), np.append(middle - 1, last)
        low, high = np.append(low, chosen), np.append(chosen, high)
        is_open = first <= last
        first, last, low, high = (bound[is_open] for bound in (first, last, low, high))
    return choice, least


def _lloyd(values: Floats, counts: npt.NDArray[np.int64], clusters: int) -> Indices:
    """Alternate between means and half-way points, from several starts; keep the best."""
    generator = np.random.default_rng(0)  # starts need no secrecy, only variety
    count = len(values)
    sums = _Sums(values, counts)
    best, least = np.arange(clusters), np.inf
    for attempt in range(_STARTS):
        inner = np.linspace(0, count, clusters, endpoint=False).astype(np.intp)[1:]
        if attempt:
            inner = np.sort(generator.choice(np.arange(1, count), clusters - 1, replace=False))
        starts = np.append(0, inner)
        for _ in range(_ROUNDS):
            centres = sums.means(starts, np.append(starts[1:], count))
            middles = centres[:-1] + (centres[1:] - centres[:-1]) / 2
            moved = np.unique(np.append(0, np.searchsorted(values, middles)))
            # A cluster that would lose its last value: the last good answer stands.
            if len(moved) < clusters or moved[-1] >= count or np.array_equal(moved, starts):
                break
            starts = moved
        total = sums.cost(starts, np.append(starts[1:], count))
        if total < least:
            best, least = starts, total
    return best
