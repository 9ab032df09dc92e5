"""Classes of rows that show the same quasi-identifiers, and the risk of being found in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.cells import numbered
from ppdm_sql.audit.figures import Figure
from ppdm_sql.errors import plural
from ppdm_sql.model.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.anonymity import BoolArray, IntArray
    from ppdm_sql.audit.subject import Subject

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

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.rows)


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
    size = int(person.max(initial=0)) + 1
    pairs = np.unique(numbers * size + person[counted])
    persons = np.bincount(pairs // size, minlength=len(distinct))
    return Classes(of_row, rows, persons, by_person=True)


def risk_figures(classes: Classes, population: IntArray | None = None) -> list[Figure]:
    """Return k, uniques, prosecutor, journalist and marketer risk.

    `population` is how many people of the background table could be in each class; without one
    the release itself is the population.
    """
    who = "person" if classes.by_person else "row"
    persons = classes.persons
    total = int(persons.sum())
    if not total:
        return [Figure("risk", "k", "", None, "no row is released")]
    k, alone = int(persons.min()), int((persons == 1).sum())
    around = persons if population is None else np.maximum(population, persons)
    above = int(persons[1 / persons > AT_RISK].sum())
    marketer = float((persons / around).sum() / total)
    known = "the release itself is all they have" if population is None else "with the background"
    return [
        Figure("risk", "k", "", k, f"the smallest class has {plural(k, who)}"),
        Figure(
            "risk",
            "k_rows",
            "",
            int(classes.rows.min()),
            f"the smallest class has {plural(int(classes.rows.min()), 'row')}",
        ),
        Figure("risk", "classes", "", classes.count, "of rows that show the same QUASI values"),
        Figure(
            "risk",
            "unique_share",
            "",
            alone / total,
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
            f"the same when it is not known who is in the data: {known}",
        ),
        Figure("risk", "marketer", "", marketer, f"share of {who}s found when all are looked for"),
        Figure(
            "risk",
            "at_risk",
            "",
            above / total,
            f"share of {who}s found with a probability above {AT_RISK:g}",
            total,
        ),
    ]


def class_sizes(classes: Classes) -> list[tuple[int, int, int]]:
    """Return a histogram of class sizes: from, to, persons in classes of that size."""
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 2**62]
    return [
        (low, high - 1, int(classes.persons[_between(classes.persons, low, high)].sum()))
        for low, high in pairwise(edges)
    ]


def _between(sizes: IntArray, low: int, high: int) -> BoolArray:
    inside: BoolArray = (sizes >= low) & (sizes < high)
    return inside
