"""Rows that the released KEY puts together: what they show together, no row shows alone.

k counts the persons of a class, row by row. Where people stand in several rows and their KEY
leaves, even as a pseudonym, an analyst sees all rows of one person at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.figures import Figure
from ppdm_sql.model.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.risk import Classes
    from ppdm_sql.audit.subject import Subject


def links_of(subject: Subject) -> IntArray | None:
    """Number rows alike that the released KEY puts together; None where it puts none together.

    Rows whose released KEY is NULL stay apart.
    """
    keys = subject.of_role(Role.KEY)
    if not keys or not subject.rows:
        return None
    known = keys[0].released.known()
    codes = keys[0].released.codes()
    apart = int(codes.max()) + 1 + np.arange(subject.rows)
    numbers = np.unique(np.where(known, codes, apart), return_inverse=True)[1]
    return numbers if int(numbers.max()) + 1 < subject.rows else None


def linked_figures(subject: Subject, classes: Classes) -> list[Figure]:
    """Return how many people are alone in what all their rows show, put together by the KEY."""
    links = links_of(subject)
    counted = classes.of_row >= 0
    if links is None or not counted.any():
        return []
    alike = people_alike(links[counted], classes.of_row[counted])
    figures = [
        Figure(
            "risk",
            "k_linked",
            "",
            int(alike.min()),
            "the fewest people of whom all rows, put together by the released KEY, show the same",
        ),
        Figure(
            "risk",
            "linked_unique_share",
            "",
            float((alike == 1).mean()),
            "share of the people who are alone in what all their rows show together",
            len(alike),
        ),
    ]
    high = subject.is_high
    if high is not None and high.any():
        has_untouched = np.zeros(int(links.max()) + 1, dtype=np.bool_)
        has_untouched[links[~high]] = True
        figures.append(
            Figure(
                "risk",
                "high_linked",
                "",
                float(has_untouched[links[high]].mean()),
                "share of the high class's rows of which the released KEY stands in an untouched"
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
