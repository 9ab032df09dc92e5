"""What group anonymity is asked about: rows as numbered, distinct combinations of values.

Values are numbers here and nothing else; which value a number stands for, only the caller knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ppdm_sql.errors import InternalError

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """A generalized column: its distinct values 0…n-1 and, level by level, the group of each."""

    groups: tuple[IntArray, ...] = field(repr=False)
    """groups[level][value]: the value itself at level 0, all zeros (`*`) at the last level."""
    covered: tuple[IntArray, ...] = field(repr=False)
    """covered[level][value]: how many leaves of the hierarchy the value's group covers."""
    leaves: int
    """Leaves of the whole hierarchy; they may outnumber the values in the data."""
    order: FloatArray | None = field(default=None, repr=False)
    """The value as a number, for ranges; None: a category. NULL's entry is not looked at."""
    null: int | None = None
    """The value that stands for NULL, if any: a leaf of its own."""
    weight: float = 1.0
    """How much the axis counts in a loss, beside the others."""

    def __post_init__(self) -> None:
        if len(self.groups) < 2 or len(self.groups) != len(self.covered):
            raise InternalError("an axis needs its values and at least one level above them")
        if self.groups[-1].any():
            raise InternalError("the last level of an axis is one group")

    @property
    def height(self) -> int:
        """The level of `*`."""
        return len(self.groups) - 1

    @property
    def values(self) -> int:
        """How many distinct values there are in the data."""
        return len(self.groups[0])


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A sensitive column: which combinations hold which of its original values, how often.

    Entries are distinct (combination, value) with their number of rows; where persons repeat,
    distinct (combination, person, value), each counting 1.
    """

    combination: IntArray = field(repr=False)
    value: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    person: IntArray | None = field(repr=False)
    reference: FloatArray = field(repr=False)
    """Share of each value among all source rows, treated or not."""
    tree: tuple[IntArray, ...] | None = field(default=None, repr=False)
    """The value's group at each level, from itself to one root: hierarchical distance."""
    is_ordered: bool = False
    """Values are numbered in ascending order and as far apart as their ranks."""
    numbers: FloatArray | None = field(default=None, repr=False)
    """The values as numbers, in ascending order, NaN for NULL; None: categories."""

    @property
    def values(self) -> int:
        """How many values the reference distribution knows."""
        return len(self.reference)


@dataclass(frozen=True, slots=True)
class Problem:
    """The treated rows as distinct quasi-identifier combinations."""

    axes: tuple[Axis, ...]
    codes: IntArray = field(repr=False)
    """codes[axis, combination]: the value's number."""
    fixed: IntArray = field(repr=False)
    """Code of the quasi-identifiers that are not generalized: always part of a class."""
    rows: IntArray = field(repr=False)
    """Rows of each combination."""
    person_combination: IntArray | None = field(default=None, repr=False)
    """With `person`: distinct pairs, where KEYs repeat. None: every row is a person."""
    person: IntArray | None = field(default=None, repr=False)
    sensitive: tuple[Sensitive, ...] = ()
    population: IntArray | None = field(default=None, repr=False)
    """Persons of a register who have each combination; some combinations are theirs alone."""

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.axes), len(self.rows)):
            raise InternalError("a problem needs one row of codes an axis")
        if self.fixed.shape != self.rows.shape:
            raise InternalError("a problem needs one fixed code a combination")
        if (self.person is None) != (self.person_combination is None):
            raise InternalError("persons and their combinations come together")
        if any((column.person is None) != (self.person is None) for column in self.sensitive):
            raise InternalError("persons repeat in all columns or in none")

    @property
    def weights(self) -> FloatArray:
        """How much each axis counts; 1 on average, so that losing everything is a loss of 1."""
        weights = np.array([axis.weight for axis in self.axes], dtype=np.float64)
        return weights * len(weights) / weights.sum() if len(weights) else weights

    @property
    def treated(self) -> int:
        """How many rows the combinations stand for."""
        return int(self.rows.sum())

    @property
    def heights(self) -> tuple[int, ...]:
        """The last level of each axis."""
        return tuple(axis.height for axis in self.axes)

    @property
    def nodes(self) -> int:
        """How many nodes the lattice has."""
        count = 1
        for axis in self.axes:
            count *= axis.height + 1
        return count
