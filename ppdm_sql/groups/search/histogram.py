"""How often each class holds each value, persons counted once, and what follows from it.

All work is on the values that occur, never on all classes by all values, so that a column with many
thousands of values costs no more than its entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.groups.search.problem import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Histogram:
    """The values of classes 0…classes-1: entries in order of class, then of value."""

    owner: IntArray = field(repr=False)
    value: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    classes: int

    @property
    def totals(self) -> IntArray:
        """Return what the counts of each class add up to."""
        return _sum(self.owner, self.count, self.classes)

    def distinct(self) -> IntArray:
        """Return how many values each class holds."""
        return np.bincount(self.owner, minlength=self.classes)

    def largest(self, chosen: tuple[int, ...] | None = None) -> IntArray:
        """Return the count of the most frequent value of each class, of all or of chosen ones."""
        owner, count = self.owner, self.count
        if chosen is not None:
            is_chosen = np.isin(self.value, np.array(chosen, dtype=np.int64))
            owner, count = owner[is_chosen], count[is_chosen]
        largest = np.zeros(self.classes, dtype=np.int64)
        if len(owner):
            begins = np.flatnonzero(np.diff(owner, prepend=-1))
            largest[owner[begins]] = np.maximum.reduceat(count, begins)
        return largest

    def shares(self) -> FloatArray:
        """Return each entry's share of its class."""
        shares: FloatArray = self.count / self.totals[self.owner]
        return shares

    def entropy(self) -> FloatArray:
        """Return the entropy of each class, in natural units."""
        shares = self.shares()
        return sum_by(self.owner, -shares * np.log(shares), self.classes)

    def tail(self, l: int) -> IntArray:  # noqa: E741 - the literature's name
        """Return r_l + … + r_m of each class, r being its counts in descending order."""
        order = np.lexsort((-self.count, self.owner))
        sums = np.concatenate(([0], np.cumsum(self.count[order])))
        starts = np.searchsorted(self.owner, np.arange(self.classes + 1))
        begins, ends = starts[:-1], starts[1:]
        tail: IntArray = sums[ends] - sums[np.minimum(begins + l - 1, ends)]
        return tail

    def dominance(self, l: int) -> FloatArray:  # noqa: E741 - the literature's name
        """Return r1 / (r_l + … + r_m) of each class; infinite with fewer than l values."""
        with np.errstate(divide="ignore"):
            ratio: FloatArray = self.largest() / self.tail(l)
        return ratio


@dataclass(frozen=True, slots=True)
class Tally:
    """Entries of combinations, prepared so that any classes of them can be counted.

    Where persons repeat, somebody in two combinations of one class counts once there. Only the
    entries of such persons have to be looked through for every partition.
    """

    values: int
    combination: IntArray = field(repr=False)
    value: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    repeated_combination: IntArray = field(repr=False)
    repeated_pair: IntArray = field(repr=False)
    pair_value: IntArray = field(repr=False)

    @classmethod
    def of(
        cls,
        values: int,
        combination: IntArray,
        value: IntArray,
        count: IntArray,
        person: IntArray | None,
    ) -> Tally:
        """Prepare distinct entries; with persons, entries that several combinations share."""
        none = np.empty(0, dtype=np.int64)
        if person is None:
            return cls(values, combination, value, count, none, none, none)
        pairs, pair, times = np.unique(
            person * values + value, return_inverse=True, return_counts=True
        )
        is_repeated = times[pair] > 1
        alone = ~is_repeated
        key, count = np.unique(combination[alone] * values + value[alone], return_counts=True)
        return cls(
            values,
            key // values,
            key % values,
            count,
            combination[is_repeated],
            pair[is_repeated],
            pairs % values,
        )

    def histogram(
        self, classes: IntArray, class_count: int, kept: BoolArray | None = None
    ) -> Histogram:
        """Count the values of each class, of the kept combinations only."""
        owner, value, count = classes[self.combination], self.value, self.count
        if kept is not None:
            is_kept = kept[self.combination]
            owner, value, count = owner[is_kept], value[is_kept], count[is_kept]
        if len(self.repeated_combination):
            again = classes[self.repeated_combination]
            pair = self.repeated_pair
            if kept is not None:
                is_kept = kept[self.repeated_combination]
                again, pair = again[is_kept], pair[is_kept]
            pairs = len(self.pair_value)
            once = np.unique(again * pairs + pair)
            owner = np.concatenate((owner, once // pairs))
            value = np.concatenate((value, self.pair_value[once % pairs]))
            count = np.concatenate((count, np.ones(len(once), dtype=np.int64)))
        return _gather(owner, value, count, class_count, self.values)


def _gather(
    owner: IntArray, value: IntArray, count: IntArray, classes: int, values: int
) -> Histogram:
    """Add up entries that are equal in class and value."""
    key = owner * values + value
    space = classes * values
    if space <= 4 * len(key):
        sums = _sum(key, count, space)
        distinct = np.flatnonzero(sums)
        sums = sums[distinct]
    else:
        distinct, numbers = np.unique(key, return_inverse=True)
        sums = _sum(numbers, count, len(distinct))
    return Histogram(distinct // values, distinct % values, sums, classes)


def sum_by(at: IntArray, amounts: FloatArray, size: int) -> FloatArray:
    """Add up amounts by number."""
    # With nothing to add, bincount answers in whole numbers.
    return np.bincount(at, amounts, minlength=size).astype(np.float64, copy=False)


def _sum(at: IntArray, count: IntArray, size: int) -> IntArray:
    # Sums of whole numbers below 2^53 are exact in floating point.
    return np.bincount(at, count, minlength=size).astype(np.int64)
