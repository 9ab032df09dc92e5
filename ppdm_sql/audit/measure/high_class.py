"""What a release gives away when only its high class is generalized (document 002)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.measure.risk import partition
from ppdm_sql.groups.search.cells import numbered
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column, Subject
    from ppdm_sql.groups.search import BoolArray, IntArray


def scba_figures(subject: Subject) -> list[Figure]:
    """Return the weaknesses of WHEN: unique untouched rows, absence, aliases of the high class alone."""
    high = subject.is_high
    if high is None or not high.any():
        return []
    # Where nobody sees which rows are of the high class, shares of it tell which aliases are.
    is_owners = not is_high_seen(subject)
    return [replace(figure, is_owners=is_owners) for figure in _measured(subject, high)]


def is_high_seen(subject: Subject) -> bool:
    """Tell whether every row of the high class shows that it was generalized."""
    high = subject.is_high
    if high is None:
        return False
    seen = np.zeros(subject.rows, dtype=np.bool_)
    for column in subject.of_role(Role.QUASI):
        if column.is_generalized:
            seen |= ~column.is_shown() & column.released.known()
    return bool(seen[high].all())


def _measured(subject: Subject, high: BoolArray) -> list[Figure]:
    figures = [_k_of_high(subject, high)]
    quasi = subject.of_role(Role.QUASI)
    low_rows = int((~high).sum())
    everybody = np.ones(subject.rows, dtype=np.bool_)
    classes = partition([c.released.codes() for c in quasi], everybody, subject.repeated_persons)
    alone = int((classes.persons[classes.of_row[~high]] == 1).sum())
    figures.append(
        Figure(
            "risk",
            "untouched",
            "",
            low_rows / subject.rows,
            "share of the rows that are outside the high class and are released ungeneralized",
            subject.rows,
        )
    )
    figures.append(
        Figure(
            "risk",
            "untouched_unique_share",
            "",
            alone / max(low_rows, 1),
            "share of the untouched rows that nobody else's look like: only the high class is"
            " protected",
            low_rows,
        )
    )
    figures.append(
        Figure(
            "risk",
            "absence",
            "",
            absence_share(subject, high),
            "share of the high class whose own quasi-identifiers stand in no untouched row:"
            " whoever knows they are in the data knows that they are in the high class",
            int(high.sum()),
        )
    )
    for column in subject.of_role(Role.SENSITIVE):
        share = high_only_share(column, high)
        if share is not None:
            figures.append(
                Figure(
                    "risk",
                    "high_only",
                    column.name,
                    share,
                    "share of the high class whose released value stands in generalized rows"
                    " only: such values are known to be of the high class",
                    int((high & column.released.known()).sum()),
                )
            )
    return figures


def absence_share(subject: Subject, high: BoolArray) -> float:
    """Return the share of high rows whose original quasi-identifiers no untouched row has."""
    codes = [
        c.original.codes() if c.is_generalized else _without_stars(c, subject.is_suppressed)
        for c in subject.of_role(Role.QUASI)
    ]
    whole = numbered(codes, subject.rows)
    return float((~np.isin(whole[high], whole[~high])).mean())


def _without_stars(column: Column, is_suppressed: BoolArray | None) -> IntArray:
    """Return released values; of records kept as `*`, what other rows show of the same original."""
    shown, original = column.released.codes(), column.original.codes()
    if is_suppressed is None or not is_suppressed.any():
        return shown
    # Whatever nobody else has is shown nowhere: each such value is one of its own.
    meaning = int(shown.max()) + 1 + np.arange(int(original.max()) + 1)
    meaning[original[~is_suppressed]] = shown[~is_suppressed]
    return np.where(is_suppressed, meaning[original], shown)


def high_only_share(column: Column, high: BoolArray) -> float | None:
    """Return the share of high rows whose released value stands in high rows only."""
    known = column.released.known()
    if column.released.numbers is not None or not (high & known).any():
        return None
    codes = column.released.codes()
    return float((~np.isin(codes[high & known], codes[~high & known])).mean())


def _k_of_high(subject: Subject, high: BoolArray) -> Figure:
    counted = high if subject.is_suppressed is None else high & ~subject.is_suppressed
    codes = [c.released.codes() for c in subject.of_role(Role.QUASI)]
    found = partition(codes, counted, subject.repeated_persons)
    smallest = int(found.persons.min()) if found.count else None
    return Figure("risk", "k_high", "", smallest, "the smallest class of the high class alone")
