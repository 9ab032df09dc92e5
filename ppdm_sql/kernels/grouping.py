"""Groups of one column: cut points for `clusters => n` (k-means) or `size => k`.

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


def groups_of_size(values: Floats, size: int) -> Indices:
    """Return where groups of at least `size` begin among sorted values."""
    distinct, counts = np.unique(values, return_counts=True)
    ends = np.cumsum(counts)
    begins = ends - counts
    # From each distinct value, the one at which the next group can begin.
    following = np.searchsorted(begins, begins + size).tolist()
    starts = [0]
    while (after := following[starts[-1]]) < len(distinct):
        starts.append(after)
    if len(starts) > 1 and len(values) - begins[starts[-1]] < size:
        starts.pop()
    first: Indices = begins[np.array(starts)]
    return first


def groups_of_clusters(values: Floats, clusters: int) -> Indices:
    """Return where clusters begin among sorted values: least squared distance to their means.

    Exact up to `EXACT_UP_TO` distinct values; beyond, the best of several starts of Lloyd's.
    """
    distinct, counts = np.unique(values, return_counts=True)
    begins = np.cumsum(counts) - counts
    sums = _Sums(distinct, counts)
    if len(distinct) <= EXACT_UP_TO:
        starts = _exact(sums, clusters)
    else:
        starts = _lloyd(distinct, sums, clusters)
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
    """Prefix sums of weighted values: the cost of any range in a few steps."""

    def __init__(self, values: Floats, counts: npt.NDArray[np.int64]) -> None:
        centred = values - np.average(values, weights=counts)  # far from 0, squares cancel badly
        zero = np.zeros(1)
        self.weight = np.concatenate((zero, np.cumsum(counts, dtype=float)))
        self.first = np.concatenate((zero, np.cumsum(counts * centred)))
        self.second = np.concatenate((zero, np.cumsum(counts * centred**2)))

    def cost(self, start: Indices, end: Indices) -> Floats:
        """Return the squared distance to the mean of ranges [start, end)."""
        weight = self.weight[end] - self.weight[start]
        first = self.first[end] - self.first[start]
        second = self.second[end] - self.second[start]
        cost: Floats = second - first**2 / np.where(weight > 0, weight, 1)
        return cost


def _exact(sums: _Sums, clusters: int) -> Indices:
    """Solve by dynamic programming over the number of clusters."""
    count = len(sums.weight) - 1
    ends = np.arange(count + 1)
    best = sums.cost(np.zeros(count + 1, dtype=np.intp), ends)
    choices = []
    starts, stops = np.meshgrid(ends, ends, indexing="ij")
    costs = np.where(starts < stops, sums.cost(starts, np.maximum(starts, stops)), np.inf)
    for _ in range(1, clusters):
        totals = best[:, None] + costs
        choices.append(totals.argmin(axis=0))
        best = totals.min(axis=0)
    at = count
    found = []
    for choice in reversed(choices):
        at = int(choice[at])
        found.append(at)
    return np.unique(np.array([0, *found], dtype=np.intp))


def _lloyd(values: Floats, sums: _Sums, clusters: int) -> Indices:
    """Alternate between means and half-way points, from several starts; keep the best."""
    generator = np.random.default_rng(0)  # starts need no secrecy, only variety
    count = len(values)
    best, least = np.zeros(1, dtype=np.intp), np.inf
    for attempt in range(_STARTS):
        if attempt == 0:
            shares = np.linspace(0, 1, clusters, endpoint=False)
            starts = np.searchsorted(sums.weight, shares * sums.weight[-1], side="left")
        else:
            starts = np.append(0, generator.choice(np.arange(1, count), clusters - 1, False))
        starts = np.unique(np.clip(starts, 0, count - 1))
        for _ in range(_ROUNDS):
            ends = np.append(starts[1:], count)
            weight = sums.weight[ends] - sums.weight[starts]
            centres = (sums.first[ends] - sums.first[starts]) / weight
            middles = (centres[1:] + centres[:-1]) / 2 + (
                values[0] - sums.first[1] / sums.weight[1]
            )
            moved = np.unique(np.append(0, np.searchsorted(values, middles)))
            moved = moved[moved < count]
            if np.array_equal(moved, starts):
                break
            starts = moved
        total = float(sums.cost(starts, np.append(starts[1:], count)).sum())
        if total < least and len(starts) == clusters:
            best, least = starts, total
    return best.astype(np.intp)
