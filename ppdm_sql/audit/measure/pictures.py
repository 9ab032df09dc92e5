"""What pictures show, as numbers without a scale: a reader sees shapes, never a value.

Cells of fewer than five rows are counted together and not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.report.small_counts import hide_small

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column, Values
    from ppdm_sql.groups.search import FloatArray, IntArray

BINS = 24
_MOST_CATEGORIES = 12


@dataclass(frozen=True, slots=True)
class Distribution:
    """Heights of bars, each a share of all rows; None for a cell that is too small to show."""

    kind: str
    """`numbers`: bins from low to high. `categories`: the most frequent first. `withheld`: none."""
    bars: tuple[float | None, ...]
    hidden: float
    """Share of rows that no bar shows: small cells, rare values, the outermost 2 %, NULL."""


WITHOUT = Distribution("withheld", (), 1.0)
"""For the owner alone: beside the released rows, its shape would tell a parameter."""


def distribution(values: Values) -> Distribution:
    """Return how a column is distributed, on a scale of its own."""
    known = values.known()
    rows = max(len(known), 1)
    if values.numbers is not None:
        kind, counts = "numbers", _bins(values.numbers[known])
    else:
        kind, counts = "categories", _ranked(values.codes()[known])
    shown = hide_small(counts.tolist(), len(known) - int(counts.sum()))
    bars = tuple(None if n is None else n / rows for n in shown)
    return Distribution(kind, bars, 1 - sum(bar or 0.0 for bar in bars))


def before_and_after(column: Column) -> tuple[Distribution, Distribution]:
    """Return the distributions of the original and of what is released."""
    before = column.original
    if before.numbers is not None and column.released.numbers is None and before.labels is not None:
        before = type(before)(labels=before.labels)  # generalized: compare frequencies
    return distribution(before), distribution(column.released)


def _bins(numbers: FloatArray) -> IntArray:
    if not len(numbers):
        return np.zeros(BINS, dtype=np.int64)
    low, high = (float(edge) for edge in np.quantile(numbers, [0.01, 0.99]))
    if (high - low) / BINS <= np.spacing(max(abs(low), abs(high))):
        return np.array([len(numbers)])
    return np.histogram(numbers, bins=BINS, range=(low, high))[0]


def _ranked(codes: IntArray) -> IntArray:
    counts = np.unique(codes, return_counts=True)[1]
    return np.sort(counts)[::-1][:_MOST_CATEGORIES]
