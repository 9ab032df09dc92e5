"""Counting any partition of a problem's combinations, and telling which classes reach targets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.distance import distances
from ppdm_sql.anonymity.histogram import Histogram, Tally
from ppdm_sql.anonymity.targets import (
    TOLERANCE,
    Alpha,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    RecursiveL,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.anonymity.problem import BoolArray, IntArray, Problem
    from ppdm_sql.anonymity.targets import Target


class Census:
    """A problem prepared once, to be counted for many partitions."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._persons: Tally | None = None
        if problem.person is not None and problem.person_combination is not None:
            nothing = np.zeros(len(problem.person), dtype=np.int64)
            self._persons = Tally.of(
                1, problem.person_combination, nothing, nothing + 1, problem.person
            )
        self._columns = [
            Tally.of(column.values, column.combination, column.value, column.count, column.person)
            for column in problem.sensitive
        ]

    def rows(self, classes: IntArray, count: int, kept: BoolArray | None = None) -> IntArray:
        """Return the rows of each class."""
        rows = self.problem.rows if kept is None else self.problem.rows * kept
        return np.bincount(classes, rows, minlength=count).astype(np.int64)

    def persons(self, classes: IntArray, count: int, kept: BoolArray | None = None) -> IntArray:
        """Return the distinct persons of each class."""
        if self._persons is None:
            return self.rows(classes, count, kept)
        return self._persons.histogram(classes, count, kept).totals

    def histogram(
        self, column: int, classes: IntArray, count: int, kept: BoolArray | None = None
    ) -> Histogram:
        """Return how often each class holds each value of a sensitive column."""
        return self._columns[column].histogram(classes, count, kept)

    def reach(self, targets: Iterable[Target], classes: IntArray, count: int) -> BoolArray:
        """Tell of each class whether it reaches all targets."""
        reached = np.ones(count, dtype=np.bool_)
        histograms: dict[int, Histogram] = {}
        for target in targets:
            if isinstance(target, K):
                reached &= self.persons(classes, count) >= target.k
                continue
            if target.column not in histograms:
                histograms[target.column] = self.histogram(target.column, classes, count)
            reached &= self._reach(target, histograms[target.column], classes)
        return reached

    def _reach(
        self,
        target: DistinctL | EntropyL | RecursiveL | Closeness | Alpha,
        histogram: Histogram,
        classes: IntArray,
    ) -> BoolArray:
        reached: BoolArray
        match target:
            case DistinctL():
                reached = histogram.distinct() >= target.l
            case EntropyL():
                reached = histogram.entropy() >= math.log(target.l) - TOLERANCE
            case RecursiveL():
                reached = histogram.dominance(target.l) < target.c * (1 - TOLERANCE)
            case Closeness():
                column = self.problem.sensitive[target.column]
                reached = distances(histogram, column) <= target.t + TOLERANCE
            case Alpha():
                persons = self.persons(classes, histogram.classes)
                reached = histogram.largest() <= (target.share + TOLERANCE) * persons
        return reached
