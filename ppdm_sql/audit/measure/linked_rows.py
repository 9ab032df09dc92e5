"""Rows that a released column puts together: what they show together, no row shows alone.

k counts the persons of a class, row by row. Where people stand in several rows and something that
leaves is theirs alone, such as a pseudonym, an analyst sees all rows of one person at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.attacks.digit_shift import decimals_of
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.audit.measure.risk import Classes
    from ppdm_sql.audit.read.subject import Column, Subject
    from ppdm_sql.groups.search import BoolArray, IntArray

_FINEST, _LARGEST = 1e-8, 2.0**53


@dataclass(frozen=True, slots=True)
class Links:
    """Rows put together by something released."""

    by: str
    of_row: IntArray = field(repr=False)
    """Equal for rows that are seen to be one person's."""


def links_of(subject: Subject) -> Links | None:
    """Return the links of what puts most rows together; None where nothing does."""
    found: Links | None = None
    fewest = subject.rows
    for by, codes, tied in _ties(subject):
        if not tied.any():
            continue
        apart = int(codes.max()) + 1 + np.arange(subject.rows)
        numbers = np.unique(np.where(tied, codes, apart), return_inverse=True)[1]
        if (count := int(numbers.max()) + 1) < fewest:
            found, fewest = Links(by, numbers), count
    return found


def _ties(subject: Subject) -> Iterator[tuple[str, IntArray, BoolArray]]:
    """Yield what could put rows together, its values as numbers, and which rows it is sure of."""
    person = subject.repeated_persons
    for column in subject.columns:
        known, codes = column.released.known(), column.released.codes()
        if column.role is Role.KEY or (
            any(t.links_rows for t in column.traits) and column.role is not Role.QUASI
        ):
            yield column.name, codes, known
        elif person is not None and column.role is not Role.QUASI:
            yield column.name, codes, known & _of_one(codes, person)
        if person is not None and column.is_numeric and any(t.adds_noise for t in column.traits):
            codes = noise_left(column)
            yield f"the decimals of {column.name}", codes, known & _of_one(codes, person)


def _of_one(codes: IntArray, person: IntArray) -> BoolArray:
    """Tell which rows have a value that is one person's alone."""
    size = int(person.max()) + 1
    pairs = np.unique(codes * size + person)
    persons = np.bincount(pairs // size, minlength=int(codes.max()) + 1)
    alone: BoolArray = persons[codes] == 1
    return alone


def noise_left(column: Column) -> IntArray:
    """Number what a released number has beyond the decimals of the originals.

    Rows of one KEY share their noise, and originals are whole, or in cents: what is beyond is the
    noise's alone, and the same in all rows of a person.
    """
    before, after = column.original.numbers, column.released.numbers
    assert before is not None
    assert after is not None
    short = np.where(np.abs(after) < _LARGEST, after, 0.0)  # beyond, doubles have no decimals
    scaled = short * 10.0 ** decimals_of(before[~np.isnan(before)])
    step = max(_FINEST, 64 * float(np.spacing(np.abs(scaled).max(initial=0.0))))
    beyond = np.rint((scaled - np.floor(scaled)) / step)
    return np.unique(beyond, return_inverse=True)[1]


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
            f"the fewest people of whom all rows, put together by {links.by}, show the same",
        ),
        Figure(
            "risk",
            "linked_unique_share",
            "",
            float((alike == 1).mean()),
            "share of the people who are alone in what all their rows show, put together by"
            f" {links.by}",
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
                f"share of the high class's rows that {links.by} puts together with an untouched"
                " row: that one shows the quasi-identifiers as they are",
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
