"""l, t and alpha: what a class tells of its members' original sensitive values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.errors import plural
from ppdm_sql.groups import search as anonymity
from ppdm_sql.groups.search.cells import Scale, code_cells
from ppdm_sql.groups.search.targets import TOLERANCE
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.measure.risk import Classes
    from ppdm_sql.groups.search import FloatArray, IntArray

RECURSIVE_L = 2
"""The l for which the least c of recursive (c, l)-diversity is said."""


@dataclass(frozen=True, slots=True)
class SensitiveValues:
    """A sensitive column: its values in the whole source, and which of them each row has."""

    name: str
    value: IntArray = field(repr=False)
    """Place in the source's ordered, distinct values; NULL is one of them."""
    counts: IntArray = field(repr=False)
    """How often each stands in the source."""
    is_ordered: bool
    """Whether distances between values are those of their ranks: numbers and dates."""
    tree: tuple[IntArray, ...] | None = field(default=None, repr=False)
    """The group of each value at every level, where the release measures t by a hierarchy."""
    numbers: FloatArray | None = field(default=None, repr=False)
    """Of each row, where values have distances, whatever they are released as; NaN for NULL."""

    @property
    def distance(self) -> str:
        """How far apart two values are, in words."""
        if self.tree is not None:
            return "by the hierarchy of the release's own target"
        return "by rank" if self.is_ordered else "all values equally far apart"


def measure_classes(
    classes: Classes, columns: Sequence[SensitiveValues], person: IntArray | None
) -> anonymity.Measures:
    """Measure the classes of a release by its sensitive columns."""
    counted = classes.of_row >= 0
    who = None if person is None else pa.array(person[counted])
    problem = code_cells(
        (),
        (),
        (),
        [pa.array(classes.of_row[counted])],
        np.ones(int(counted.sum()), dtype=np.int64),
        [(pa.array(column.value[counted]), _scale(column)) for column in columns],
        who,
    ).problem
    trees = tuple(
        found if column.tree is None else replace(found, tree=column.tree, is_ordered=False)
        for found, column in zip(problem.sensitive, columns, strict=True)
    )
    problem = replace(problem, sensitive=trees)
    return anonymity.measure(problem, np.arange(len(problem.rows)))


def diversity_figures(
    columns: Sequence[SensitiveValues], measures: anonymity.Measures, classes: Classes
) -> list[Figure]:
    """Return the figures of the weakest class for each sensitive column."""
    if not classes.count:
        return _not_measured(columns)
    figures = []
    for column, found in zip(columns, measures.sensitive, strict=True):
        about = column.name
        figures += [
            Figure(
                "risk",
                "l",
                about,
                found.distinct_l,
                f"the least diverse class has {plural(found.distinct_l, 'original value')}",
            ),
            Figure(
                "risk",
                "entropy_l",
                about,
                found.entropy_l,
                "its values are as mixed as this many equally frequent ones",
            ),
            Figure(
                "risk",
                f"recursive_c_{RECURSIVE_L}",
                about,
                _finite(found.recursive_c(RECURSIVE_L)),
                f"recursive (c, {RECURSIVE_L})-diversity holds for every c above this; without a"
                " value it never holds",
            ),
            Figure(
                "risk",
                "t",
                about,
                found.t if found.t > TOLERANCE else 0.0,
                "the largest earth mover's distance of a class from the whole source,"
                f" {column.distance}",
            ),
            Figure(
                "risk",
                "alpha",
                about,
                found.alpha,
                "the largest share of a class that has one value",
            ),
            Figure(
                "risk",
                "homogeneous",
                about,
                homogeneous_share(classes, column.value),
                f"share of the {classes.who}s whose class has one value only: whoever finds the"
                " class knows it",
                classes.people,
            ),
        ]
    return figures


def _not_measured(columns: Sequence[SensitiveValues]) -> list[Figure]:
    """Return that nothing was found of classes that are not there: no requirement is met."""
    names = ("l", "entropy_l", f"recursive_c_{RECURSIVE_L}", "t", "alpha", "homogeneous")
    return [
        Figure("risk", name, column.name, None, "there is no class to measure")
        for column in columns
        for name in names
    ]


def homogeneous_share(classes: Classes, value: IntArray) -> float:
    """Return the share of people of whom some class has one original value only."""
    counted = classes.of_row >= 0
    owner, held = classes.of_row[counted], value[counted]
    last = np.empty(classes.count, dtype=np.int64)
    last[owner] = held
    is_mixed = np.zeros(classes.count, dtype=np.int64)
    is_mixed[owner[last[owner] != held]] = 1
    least = classes.least(is_mixed)
    return float((least == 0).mean()) if len(least) else 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _scale(column: SensitiveValues) -> Scale:
    places = pa.array(np.arange(len(column.counts)))
    kind = Kind.FLOAT if column.is_ordered else Kind.TEXT
    return Scale(places, places, column.counts, kind)
