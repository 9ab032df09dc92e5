"""Classes of rows that show the same quasi-identifiers, and the risk of being found in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.errors import plural
from ppdm_sql.groups.search.cells import numbered
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.read.subject import Subject
    from ppdm_sql.groups.search import BoolArray, IntArray

NO_QUASI = "no released column is declared QUASI, so that classes mean nothing"
NO_ROW, ALL_STARS = "no row is released", "every record is suppressed and shows * only"
AT_RISK = 0.2
"""Being found with a probability above this is what releases of health data commonly avoid."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a release."""

    of_row: IntArray = field(repr=False)
    """The class of each row; -1 for records that are exempt because they are all `*`."""
    rows: IntArray = field(repr=False)
    """Rows of each class."""
    persons: IntArray = field(repr=False)
    """Persons of each class: distinct KEYs; the rows themselves without a KEY."""
    by_person: bool
    memberships: tuple[IntArray, IntArray] | None = field(default=None, repr=False)
    """Where persons stand in several rows: distinct pairs of person and class, by person."""

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def who(self) -> str:
        """What is counted."""
        return "person" if self.by_person else "row"

    @property
    def people(self) -> int:
        """How many persons stand in classes; rows without a KEY."""
        if self.memberships is None:
            return int(self.persons.sum())
        return len(np.unique(self.memberships[0]))

    def least(self, of_class: IntArray) -> IntArray:
        """Return for each person the least of some number over the classes they are in."""
        if self.memberships is None:
            return np.repeat(of_class, self.persons)
        person, member = self.memberships
        begins = np.flatnonzero(np.diff(person, prepend=-1))
        return np.minimum.reduceat(of_class[member], begins) if len(begins) else of_class[:0]


def classes_of(subject: Subject) -> Classes:
    """Partition the rows by all QUASI columns as they are released."""
    codes = [column.released.codes() for column in subject.of_role(Role.QUASI)]
    counted = np.ones(subject.rows, dtype=np.bool_)
    if subject.is_suppressed is not None:
        counted = ~subject.is_suppressed
    found = partition(codes, counted, subject.repeated_persons)
    return replace(found, by_person=subject.person is not None)


def partition(codes: Sequence[IntArray], counted: BoolArray, person: IntArray | None) -> Classes:
    """Partition the rows that count by some columns of numbers."""
    whole = numbered(codes, len(counted))
    distinct, numbers = np.unique(whole[counted], return_inverse=True)
    of_row = np.full(len(counted), -1, dtype=np.int64)
    of_row[counted] = numbers
    rows = np.bincount(numbers, minlength=len(distinct))
    if person is None:
        return Classes(of_row, rows, rows, by_person=False)
    size = max(len(distinct), 1)
    pairs = np.unique(person[counted] * size + numbers)
    persons = np.bincount(pairs % size, minlength=len(distinct))
    return Classes(of_row, rows, persons, True, (pairs // size, pairs % size))


def risk_figures(classes: Classes, population: IntArray | None = None) -> list[Figure]:
    """Return k, uniques, prosecutor, journalist and marketer risk.

    `population` is how many people of the background table could be in each class; without one
    the release itself is the population.
    """
    who, persons = classes.who, classes.persons
    if not len(persons):
        return [Figure("risk", "k", "", None, ALL_STARS if len(classes.of_row) else NO_ROW)]
    # Whoever stands in several rows is as exposed as in the smallest class.
    smallest = classes.least(persons)
    total, k = len(smallest), int(persons.min())
    around = persons if population is None else np.maximum(population, persons)
    exposed = classes.least(around)
    known = (
        "no background table was used"
        if population is None
        else "compared with the background table"
    )
    return [
        Figure("risk", "k", "", k, f"the smallest class has {plural(k, who)}"),
        Figure(
            "risk",
            "k_rows",
            "",
            int(classes.rows.min()),
            f"the smallest class has {plural(int(classes.rows.min()), 'row')}",
        ),
        Figure(
            "risk",
            "classes",
            "",
            classes.count,
            "number of classes: rows that show the same QUASI values",
        ),
        Figure(
            "risk",
            "unique_share",
            "",
            float((smallest == 1).mean()),
            f"share of the {who}s that are alone in their class",
            total,
        ),
        Figure(
            "risk",
            "prosecutor",
            "",
            1 / k,
            f"the most exposed {who}, known to be in the data, is found with this probability",
        ),
        Figure(
            "risk",
            "journalist",
            "",
            float(1 / around.min()),
            f"the same, for an attacker who does not know whether the {who} is in the data; {known}",
        ),
        Figure(
            "risk",
            "marketer",
            "",
            float((1 / exposed).mean()),
            f"share of {who}s found when all are looked for by their quasi-identifiers; {known}",
            total,
        ),
        Figure(
            "risk",
            "at_risk",
            "",
            float((1 / exposed > AT_RISK).mean()),
            f"share of {who}s found with a probability above {AT_RISK:g}; {known}",
            total,
        ),
    ]


def class_sizes(classes: Classes) -> list[tuple[int, int, int]]:
    """Return a histogram: from, to, persons whose smallest class is of that size."""
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 2**62]
    smallest = classes.least(classes.persons)
    return [
        (low, high - 1, int(_between(smallest, low, high).sum())) for low, high in pairwise(edges)
    ]


def _between(sizes: IntArray, low: int, high: int) -> BoolArray:
    inside: BoolArray = (sizes >= low) & (sizes < high)
    return inside
