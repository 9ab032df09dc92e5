"""Rows that a released column puts together: what they show together, no row shows alone.

k counts the persons of a class, row by row. Where people stand in several rows and something that
leaves is theirs alone, such as a pseudonym, an analyst sees all rows of one person at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.figures import Figure
from ppdm_sql.model.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.anonymity import BoolArray, IntArray
    from ppdm_sql.audit.risk import Classes
    from ppdm_sql.audit.subject import Column, Subject

_LINKING = "pseudonym"
"""The treatment that is there to put rows together."""


@dataclass(frozen=True, slots=True)
class Links:
    """Rows put together by a column."""

    column: str
    of_row: IntArray = field(repr=False)
    """Equal for rows that are seen to be one person's."""


def links_of(subject: Subject) -> Links | None:
    """Return the links of the column that puts most rows together; None where none does."""
    found: Links | None = None
    fewest = subject.rows
    for column in subject.of_role(Role.KEY, Role.SENSITIVE, Role.NEUTRAL):
        tied = _tied(column, subject.repeated_persons)
        if tied is None or not tied.any():
            continue
        codes = column.released.codes()
        apart = int(codes.max()) + 1 + np.arange(subject.rows)
        numbers = np.unique(np.where(tied, codes, apart), return_inverse=True)[1]
        if (count := int(numbers.max()) + 1) < fewest:
            found, fewest = Links(column.name, numbers), count
    return found


def _tied(column: Column, person: IntArray | None) -> BoolArray | None:
    """Tell which rows show a value of one person alone; NULL ties nothing."""
    known = column.released.known()
    if column.role is Role.KEY or _LINKING in column.treatments:
        return known
    if person is None:
        return None
    codes = column.released.codes()
    size = int(person.max()) + 1
    pairs = np.unique(codes * size + person)
    persons = np.bincount(pairs // size, minlength=int(codes.max()) + 1)
    tied: BoolArray = known & (persons[codes] == 1)
    return tied


def linked_figures(subject: Subject, classes: Classes, links: Links | None) -> list[Figure]:
    """Return how many people are alone in what all their rows show."""
    counted = classes.of_row >= 0
    if links is None or not counted.any():
        return []
    alike = people_alike(links.of_row[counted], classes.of_row[counted])
    figures = [
        Figure(
            "risk",
            "k_linked",
            "",
            int(alike.min()),
            f"the fewest people of whom all rows, put together by {links.column}, show the same",
        ),
        Figure(
            "risk",
            "linked_unique_share",
            "",
            float((alike == 1).mean()),
            f"share of the people who are alone in what all rows of one {links.column} show",
            len(alike),
        ),
    ]
    high = subject.is_high
    if high is not None and high.any():
        has_untouched = np.zeros(int(links.of_row.max()) + 1, dtype=np.bool_)
        has_untouched[links.of_row[~high]] = True
        figures.append(
            Figure(
                "risk",
                "high_linked",
                "",
                float(has_untouched[links.of_row[high]].mean()),
                f"share of the high class's rows of which {links.column} stands in an untouched"
                " row, too: that one shows the quasi-identifiers as they are",
                int(high.sum()),
            )
        )
    return figures


def people_alike(links: IntArray, shown: IntArray) -> IntArray:
    """Return for each person how many people show the same in all their rows."""
    order = np.lexsort((shown, links))
    links, shown = links[order], shown[order]
    begins = np.flatnonzero(np.diff(links, prepend=-1))
    # Two sums of random numbers stand for a list of classes: lists that differ have other sums,
    # but for a chance of 2 ** -128. The numbers decide nothing secret.
    drawn = np.random.default_rng(0).integers(0, 2**64, (2, int(shown.max()) + 1), dtype=np.uint64)
    sums = np.stack([np.add.reduceat(numbers[shown], begins) for numbers in drawn], axis=1)
    _, at, times = np.unique(sums, axis=0, return_inverse=True, return_counts=True)
    alike: IntArray = times[at]
    return alike
