"""Runs of equal numbers in a sorted array: figures of many parts in one operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ppdm_sql.groups.search.problem import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments 0…count-1 of an array; every one holds at least one entry."""

    begins: IntArray = field(repr=False)
    """Where each segment begins."""
    number: IntArray = field(repr=False)
    """The segment of each entry."""

    @classmethod
    def of(cls, ascending: IntArray) -> Segments:
        """Return the runs of equal numbers."""
        is_first = np.ones(len(ascending), dtype=np.bool_)
        np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
        return cls(np.flatnonzero(is_first), np.cumsum(is_first) - 1)

    @property
    def count(self) -> int:
        """How many segments there are."""
        return len(self.begins)

    def least(self, entries: IntArray) -> IntArray:
        """Return the least entry of each segment."""
        return self._reduce(np.minimum, entries)

    def most(self, entries: IntArray) -> IntArray:
        """Return the greatest entry of each segment."""
        return self._reduce(np.maximum, entries)

    def total(self, entries: IntArray) -> IntArray:
        """Return the sum of each segment's entries."""
        return self._reduce(np.add, entries)

    def all(self, entries: BoolArray) -> BoolArray:
        """Tell of which segments every entry is true."""
        return self._reduce(np.logical_and, entries)

    def _reduce(self, function: np.ufunc, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        reduced: npt.NDArray[Any] = function.reduceat(entries, self.begins)
        return reduced
