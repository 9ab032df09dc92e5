"""Groups of one column for `size => k`: at least k rows each, as near to their means as can be.

The optimum is a shortest way through the sorted values, whose steps are groups of k to 2k - 1 rows
(Hansen and Mukherjee, IEEE Transactions on Knowledge and Data Engineering 15, 2003): what is larger
can be cut in two, and no cut makes it worse. Equal values are never in two groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

EXACT_UP_TO = 20_000
"""Distinct values up to which groups are the best there are; more are cut into blocks before."""

_FINEST = 100
"""Groups of many rows are made of parts of a hundredth of their size: then no better is found."""

_CELLS = 20_000_000


def groups_of_size(values: Floats, size: int) -> Indices:
    """Return where groups of at least `size` begin among sorted values."""
    starts = np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)
    if size > 2 * _FINEST:
        starts = starts[_in_a_row(_lengths(starts, len(values)), -(-size // _FINEST))]
    rows = _lengths(starts, len(values))
    unit = max(float(np.abs(values).max()), np.finfo(float).tiny)
    means = np.add.reduceat(values / unit, starts) / rows
    width = _widest(rows, size)
    begins = _blocks(rows, size)
    lengths = _lengths(begins, len(rows))
    at_once = max(_CELLS // int(width * (lengths.max() + 1)), 1)
    found = [
        _best(means, rows, begins[part], lengths[part], size, width)
        for part in (slice(at, at + at_once) for at in range(0, len(begins), at_once))
    ]
    first: Indices = starts[np.sort(np.concatenate(found))]
    return first


def _lengths(starts: Indices, count: int) -> Indices:
    lengths: Indices = np.diff(np.append(starts, count))
    return lengths


def _in_a_row(rows: Indices, size: int) -> Indices:
    """Return the parts with which groups of at least `size` rows begin, each as small as can be."""
    ends = np.cumsum(rows)
    begins = ends - rows
    # From each part, the one with which the next group can begin.
    following = np.searchsorted(begins, begins + size).tolist()
    starts = [0]
    while (after := following[starts[-1]]) < len(rows):
        starts.append(after)
    if len(starts) > 1 and ends[-1] - begins[starts[-1]] < size:
        starts.pop()
    return np.array(starts, dtype=np.intp)


def _blocks(rows: Indices, size: int) -> Indices:
    """Return the parts with which blocks begin, each of `size` rows or more."""
    if len(rows) <= EXACT_UP_TO:
        return np.zeros(1, dtype=np.intp)
    possible = _in_a_row(rows, size)
    wanted = np.searchsorted(possible, np.arange(0, len(rows), EXACT_UP_TO))
    begins: Indices = np.unique(possible[wanted[wanted < len(possible)]])
    return begins


def _widest(rows: Indices, size: int) -> int:
    """Return of how many parts a group may be that cannot be cut in two."""
    total = np.append(0, np.cumsum(rows))
    first = np.searchsorted(_cuts(total, size), total - size, side="right")
    return int((np.arange(len(total)) - first).max())


def _cuts(total: Indices, size: int) -> Indices:
    """Return, for a group from each part on, how many rows stand before its first possible cut."""
    at = np.searchsorted(total, total + size)
    cuts: Indices = np.append(total, total[-1] + size)[at]
    return cuts


def _best(
    means: Floats, rows: Indices, begins: Indices, lengths: Indices, size: int, width: int
) -> Indices:
    """Return the parts with which groups begin, for several blocks at once."""
    blocks, longest = len(begins), int(lengths.max())
    inside = np.arange(longest) < lengths[:, None]
    at = np.where(inside, begins[:, None] + np.arange(longest), 0)
    value = np.where(inside, means[at], 0.0)
    count = np.where(inside, rows[at], 0)
    total = np.concatenate((np.zeros((blocks, 1), dtype=np.intp), count.cumsum(axis=1)), axis=1)
    cuts = np.stack([_cuts(line, size) for line in total])
    # costs[block, end, k]: what the group of the k + 1 parts before an end costs, grown by one part
    # at a time: differences of sums of squares lose everything beside one far value.
    costs = np.full((blocks, longest + 1, width), np.inf)
    weight, mean, cost = (np.zeros((blocks, longest + 1)) for _ in range(3))
    for k in range(min(width, longest)):
        ends, parts = slice(k + 1, None), slice(0, longest - k)
        new, away = count[:, parts], value[:, parts] - mean[:, ends]
        weight[:, ends] += new
        mean[:, ends] += away * new / np.maximum(weight[:, ends], 1)
        cost[:, ends] += new * away * (value[:, parts] - mean[:, ends])
        cannot_be_cut = total[:, ends] - cuts[:, parts] < size
        is_group = (weight[:, ends] >= size) & cannot_be_cut
        costs[:, ends, k] = np.where(is_group, cost[:, ends], np.inf)
    least = np.full((blocks, longest + 1), np.inf)
    least[:, 0] = 0.0
    before = np.zeros((blocks, longest + 1), dtype=np.intp)
    every = np.arange(blocks)
    for end in range(1, longest + 1):
        most = min(width, end)
        ways = costs[:, end, :most] + least[:, end - most : end][:, ::-1]
        taken = ways.argmin(axis=1)
        least[:, end] = ways[every, taken]
        before[:, end] = end - 1 - taken
    found, end_of = [], lengths.copy()
    while len(every):
        end_of = before[every, end_of]
        found.append(begins[every] + end_of)
        every, end_of = every[end_of > 0], end_of[end_of > 0]
    starts: Indices = np.concatenate(found)
    return starts
