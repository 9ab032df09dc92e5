"""How a part of the data is cut along one axis, how wide it is there, and what its cell says.

The width is also the cell's loss: of a number, the distinct values of the data in its range
beyond one, over all beyond one; of a category, the leaves its group covers, likewise. Numbers
together with NULL are `*`: there is no range that says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ppdm_sql.groups.search.losses import level_shares
from ppdm_sql.groups.search.segments import Segments

if TYPE_CHECKING:
    from ppdm_sql.groups.search.problem import Axis, BoolArray, FloatArray, IntArray

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ranges:
    """Cells of a number: the value numbers of the ends, class by class.

    Both are the number of NULL where all is NULL, and -1 where the cell is `*`.
    """

    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)


@dataclass(frozen=True, slots=True)
class Groups:
    """Cells of a category: a level of its hierarchy and a group there, class by class."""

    level: IntArray = field(repr=False)
    group: IntArray = field(repr=False)


class Cutter(Protocol):
    """One axis. Combinations always come part by part, as the segments say."""

    def width(self, combinations: IntArray, parts: Segments) -> FloatArray:
        """Return how wide each part is: 0 where it holds one value, 1 where it is `*`."""
        ...

    def cut(
        self, combinations: IntArray, parts: Segments, rows: IntArray, k: int
    ) -> tuple[IntArray, BoolArray]:
        """Return the side of each combination, and which parts have a cut at all."""
        ...

    def cells(self, combinations: IntArray, parts: Segments) -> Ranges | Groups:
        """Return what stands in each part's cell."""
        ...


def cutter_of(axis: Axis, codes: IntArray) -> Cutter:
    """Return the way to cut an axis."""
    if axis.order is None:
        return _Category(axis, codes)
    return _Number(axis, axis.order, codes)


class _Number:
    """Cut at a value; NULL is below all values."""

    def __init__(self, axis: Axis, order: FloatArray, codes: IntArray) -> None:
        by_rank = np.argsort(order, kind="stable")
        if axis.null is None:
            self._value = np.concatenate(([-1], by_rank))
        else:
            self._value = np.concatenate(([axis.null], by_rank[by_rank != axis.null]))
        # From here on a value is its rank, from 1; 0 is NULL.
        rank = np.zeros(axis.values, dtype=np.int64)
        rank[self._value[1:]] = np.arange(1, len(self._value))
        self._rank = rank[codes]
        self._widest = max(1, len(self._value) - 2)

    def width(self, combinations: IntArray, parts: Segments) -> FloatArray:
        low, high = self._ends(combinations, parts)
        return np.where((low == 0) & (high > 0), 1.0, (high - low) / self._widest)

    def cut(
        self, combinations: IntArray, parts: Segments, rows: IntArray, k: int
    ) -> tuple[IntArray, BoolArray]:
        rank = self._rank[combinations]
        key = parts.number * len(self._value) + rank
        order = np.argsort(key, kind="stable")
        key, weight = key[order], rows[order]
        # Sorting within parts moves no part: they begin where they began.
        total = parts.total(weight)[parts.number]
        counted = np.cumsum(weight)
        left = counted - (counted - weight)[parts.begins][parts.number]
        right = total - left
        ends_value = np.append(key[1:] != key[:-1], True)
        is_cut = ends_value & (left >= k) & (right >= k)
        uneven = np.where(is_cut, np.abs(left - right), total)
        # NULL among numbers makes a cell `*`: where it can be cut off, that comes first.
        uneven = np.where(is_cut & (rank[order] == 0), -1, uneven)
        least = parts.least(uneven)
        is_best = is_cut & (uneven == least[parts.number])
        last_left = parts.most(np.where(is_best, rank[order], -1))
        return (rank > last_left[parts.number]).astype(np.int64), last_left >= 0

    def cells(self, combinations: IntArray, parts: Segments) -> Ranges:
        low, high = self._ends(combinations, parts)
        is_whole = (low == 0) & (high > 0)
        return Ranges(
            np.where(is_whole, -1, self._value[low]), np.where(is_whole, -1, self._value[high])
        )

    def _ends(self, combinations: IntArray, parts: Segments) -> tuple[IntArray, IntArray]:
        rank = self._rank[combinations]
        return parts.least(rank), parts.most(rank)


class _Category:
    """Cut into groups of the hierarchy, those with too few rows together.

    The level is the highest at which such a cut exists; without small groups, that is the one
    below the lowest group that holds the part.
    """

    def __init__(self, axis: Axis, codes: IntArray) -> None:
        self._codes = codes
        self._groups = axis.groups
        self._shares = [level_shares(axis, level, "ilm") for level in range(axis.height + 1)]

    def width(self, combinations: IntArray, parts: Segments) -> FloatArray:
        level, code = self._level(combinations, parts), self._codes[combinations[parts.begins]]
        return np.stack(self._shares)[level, code]

    def cut(
        self, combinations: IntArray, parts: Segments, rows: IntArray, k: int
    ) -> tuple[IntArray, BoolArray]:
        codes = self._codes[combinations]
        side = np.zeros(len(codes), dtype=np.int64)
        has_cut = np.zeros(parts.count, dtype=np.bool_)
        for groups in self._groups[-2::-1]:
            at = np.flatnonzero(~has_cut[parts.number])
            if not len(at):
                break
            owner = parts.number[at]
            tried, is_cut = _sides(owner, groups[codes[at]], rows[at], parts.count, k)
            side[at] = tried
            has_cut |= is_cut
        return side, has_cut

    def cells(self, combinations: IntArray, parts: Segments) -> Groups:
        level, code = self._level(combinations, parts), self._codes[combinations[parts.begins]]
        return Groups(level, np.stack(self._groups)[level, code])

    def _level(self, combinations: IntArray, parts: Segments) -> IntArray:
        """Return the lowest level at which each part is in one group."""
        codes = self._codes[combinations]
        level = np.zeros(parts.count, dtype=np.int64)
        for groups in self._groups[:-1]:
            group = groups[codes]
            # Levels are nested: once a part is in one group, it stays so.
            level += parts.least(group) != parts.most(group)
        return level


def _sides(
    owner: IntArray, group: IntArray, rows: IntArray, parts: int, k: int
) -> tuple[IntArray, BoolArray]:
    """Part groups: each a side of its own, but those with fewer than k rows all on side 0.

    Where these have fewer than k rows together, the smallest other group joins them.
    """
    groups = int(group.max()) + 1
    distinct, child = np.unique(owner * groups + group, return_inverse=True)
    children = Segments.of(distinct // groups)
    size = np.bincount(child, rows).astype(np.int64)
    is_small = size < k
    few = children.total(size * is_small)
    # By size, then by group, so that one group alone is the smallest.
    rank = np.where(is_small, _LAST, size * groups + distinct % groups)
    is_next = rank == children.least(rank)[children.number]
    is_rest = is_small | (is_next & ((few > 0) & (few < k))[children.number])
    sides = children.total((~is_rest).astype(np.int64)) + (few > 0)
    is_cut = np.zeros(parts, dtype=np.bool_)
    is_cut[distinct[children.begins] // groups] = sides > 1
    return np.where(is_rest, 0, distinct % groups + 1)[child], is_cut
