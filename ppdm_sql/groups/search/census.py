"""Counting the classes of any partition of a problem's combinations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.errors import InternalError
from ppdm_sql.groups.search.histogram import Tally

if TYPE_CHECKING:
    from ppdm_sql.groups.search.histogram import Histogram
    from ppdm_sql.groups.search.problem import BoolArray, IntArray, Problem


class Census:
    """A problem prepared once, to be counted for many partitions."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.persons: Tally | None = None
        if problem.person is not None and problem.person_combination is not None:
            nothing = np.zeros(len(problem.person), dtype=np.int64)
            self.persons = Tally.of(
                1, problem.person_combination, nothing, nothing + 1, problem.person
            )
        self.columns = [
            Tally.of(column.values, column.combination, column.value, column.count, column.person)
            for column in problem.sensitive
        ]

    def count(self, classes: IntArray, number: int, kept: BoolArray | None = None) -> Counted:
        """Count classes 0…number-1, of the kept combinations only."""
        return Counted(self, classes, number, kept)


class Counted:
    """One partition; what is asked for is counted once."""

    def __init__(
        self, census: Census, classes: IntArray, number: int, kept: BoolArray | None
    ) -> None:
        self.problem = census.problem
        self.number = number
        self._census = census
        self._classes = classes
        self._kept = kept
        self._histograms: dict[int, Histogram] = {}

    @cached_property
    def rows(self) -> IntArray:
        """Rows of each class."""
        rows = self.problem.rows if self._kept is None else self.problem.rows * self._kept
        return np.bincount(self._classes, rows, minlength=self.number).astype(np.int64)

    @cached_property
    def population(self) -> IntArray:
        """Persons of the register who are in each class."""
        everybody = self.problem.population
        if everybody is None:
            raise InternalError("there is no register to count")
        kept = everybody if self._kept is None else everybody * self._kept
        return np.bincount(self._classes, kept, minlength=self.number).astype(np.int64)

    @cached_property
    def persons(self) -> IntArray:
        """Distinct persons of each class."""
        if self._census.persons is None:
            return self.rows
        return self._census.persons.histogram(self._classes, self.number, self._kept).totals

    def histogram(self, column: int) -> Histogram:
        """Return how often each class holds each value of a sensitive column."""
        if column not in self._histograms:
            self._histograms[column] = self._census.columns[column].histogram(
                self._classes, self.number, self._kept
            )
        return self._histograms[column]
