"""What a partition protects, in numbers: it verifies output, and serves searches and audits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.census import Census
from ppdm_sql.groups.search.distance import distances
from ppdm_sql.groups.search.reach import reach
from ppdm_sql.groups.search.spread import least_spread, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.groups.search.histogram import Histogram
    from ppdm_sql.groups.search.problem import BoolArray, IntArray, Problem, Sensitive
    from ppdm_sql.groups.search.targets import Target


@dataclass(frozen=True, slots=True)
class SensitiveMeasures:
    """The weakest class's figures for one sensitive column."""

    distinct_l: int
    entropy_l: float
    """exp of the least entropy: as diverse as this many equally frequent values."""
    t: float
    """The largest earth mover's distance from the whole source."""
    alpha: float
    """The largest share of a class's persons that hold one value."""
    histogram: Histogram = field(repr=False)
    column: Sensitive = field(repr=False)
    persons: IntArray = field(repr=False)

    def recursive_c(self, l: int) -> float:  # noqa: E741 - the literature's name
        """Return the c above which recursive (c, l)-diversity holds; infinite if it never does."""
        return float(self.histogram.dominance(l).max(initial=0))

    def alpha_of(self, chosen: tuple[int, ...] | None) -> float:
        """Return the largest share of a class's persons that hold one of the chosen values."""
        return float((self.histogram.largest(chosen) / self.persons).max(initial=0))

    def proximity(self, distance: float) -> float:
        """Return l: of no class do more than 1 / l of the persons lie near one value."""
        near = nearest(self.histogram, self.column, distance)
        return float((self.persons / near).min(initial=np.inf)) if len(near) else 0.0

    def spread(self, rarer_than: float) -> float:
        """Return how much classes with a rare value vary, at least, beside the whole source."""
        return least_spread(self.histogram, self.column, rarer_than)


@dataclass(frozen=True, slots=True)
class Measures:
    """Figures over the classes of kept combinations; all are 0 where nothing is kept."""

    k: int
    """Distinct persons of the smallest class."""
    classes: int
    sensitive: tuple[SensitiveMeasures, ...]


def measure(problem: Problem, classes: IntArray, kept: BoolArray | None = None) -> Measures:
    """Measure a partition: a class number for each combination; only kept ones count."""
    chosen = np.ones(len(classes), dtype=np.bool_) if kept is None else kept
    distinct, numbers = np.unique(classes[chosen], return_inverse=True)
    count = len(distinct)
    dense = np.zeros(len(classes), dtype=np.int64)
    dense[chosen] = numbers
    counted = Census(problem).count(dense, count, kept)
    persons = counted.persons
    sensitive = []
    for number, column in enumerate(problem.sensitive):
        histogram = counted.histogram(number)
        sensitive.append(
            SensitiveMeasures(
                distinct_l=int(histogram.distinct().min()) if count else 0,
                entropy_l=float(np.exp(histogram.entropy().min())) if count else 0.0,
                t=float(distances(histogram, column).max(initial=0)),
                alpha=float((histogram.largest() / persons).max(initial=0)),
                histogram=histogram,
                column=column,
                persons=persons,
            )
        )
    return Measures(
        k=int(persons.min()) if count else 0,
        classes=count,
        sensitive=tuple(sensitive),
    )


def reached(problem: Problem, classes: IntArray, targets: Iterable[Target]) -> BoolArray:
    """Tell of each combination whether its class reaches all targets."""
    distinct, numbers = np.unique(classes, return_inverse=True)
    return reach(targets, Census(problem).count(numbers, len(distinct)))[numbers]
