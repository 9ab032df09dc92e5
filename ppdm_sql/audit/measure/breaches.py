"""Proximity and divergence breaches (document 000, section 2.1), defined and counted.

Proximity, (e, L)-anonymity of Li, Tao and Xiao: in a class, at most 1/L of the rows may lie within
e of any sensitive number of the class. A class where more do tells its members' values to within e.

Divergence: whoever takes a member of a class for the value that most of it has is wrong about the
others, and ties somebody with a mild value to a severe one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.distances import spread
from ppdm_sql.audit.measure.figure import Figure

if TYPE_CHECKING:
    from ppdm_sql.audit.measure.risk import Classes
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray

PROXIMITY_L = 2
"""A class is breached when more than 1/L of its rows lie close together."""
CLOSE = 0.05
"""e as a share of the column's standard deviation."""
CONFIDENCE = 0.5
"""What share of a class makes an adversary conclude, in document 000's own example."""


@dataclass(frozen=True, slots=True)
class Breaches:
    """How many classes are breached, and how many rows are in them."""

    classes: int
    rows: int
    worst: float
    """The largest share found in any class."""


def proximity(of_row: IntArray, values: FloatArray, epsilon: float, least_l: float) -> Breaches:
    """Count classes in which more than 1/L of the rows lie within epsilon of one of them.

    Rows without a class (-1) or without a value (NaN) take no part.
    """
    takes_part = (of_row >= 0) & ~np.isnan(values)
    owner, number = of_row[takes_part], values[takes_part]
    if not len(owner):
        return Breaches(0, 0, 0.0)
    order = np.lexsort((number, owner))
    owner, number = owner[order], number[order]
    # Ranks among all values, so that class and value fit one whole number exactly.
    known = np.unique(number)
    span = len(known) + 1
    key = owner * span + np.searchsorted(known, number)
    low = owner * span + np.searchsorted(known, number - epsilon, side="left")
    high = owner * span + np.searchsorted(known, number + epsilon, side="right")
    near = np.searchsorted(key, high, side="left") - np.searchsorted(key, low, side="left")
    return _by_class(owner, near, least_l)


def _by_class(owner: IntArray, near: IntArray, least_l: float) -> Breaches:
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    sizes = np.diff(np.append(begins, len(owner)))
    most = np.maximum.reduceat(near, begins)
    is_breached = most * least_l > sizes
    return Breaches(
        int(is_breached.sum()), int(sizes[is_breached].sum()), float((most / sizes).max())
    )


def divergence(
    of_row: IntArray, value: IntArray, is_severe: BoolArray | None, confidence: float
) -> Breaches:
    """Count rows that an adversary ties to a value they do not have.

    They conclude a value when at least `confidence` of the class has it. With `is_severe`, one
    flag a row, all severe values are one and only they are concluded.
    """
    takes_part = of_row >= 0
    owner, held = of_row[takes_part], value[takes_part]
    if not len(owner):
        return Breaches(0, 0, 0.0)
    if is_severe is not None:
        held = is_severe[takes_part].astype(np.int64)
    sizes = np.bincount(owner)
    span = int(held.max(initial=0)) + 1
    key, times = np.unique(owner * span + held, return_counts=True)
    entry_owner, entry_value = key // span, key % span
    share = times / sizes[entry_owner]
    concludes = share >= confidence
    if is_severe is not None:
        concludes &= entry_value == 1
    others = sizes[entry_owner] - times
    hit = concludes & (others > 0)
    # Where two values are concluded, halves of a class, each half is tied to the other's.
    concluded = np.bincount(entry_owner[hit], minlength=len(sizes))
    wronged = np.bincount(entry_owner[hit], others[hit], minlength=len(sizes)).astype(np.int64)
    wronged = np.where(concluded > 1, sizes, wronged)
    worst = float(share[hit].max(initial=0))
    return Breaches(int((wronged > 0).sum()), int(wronged.sum()), worst)


def proximity_figures(name: str, classes: Classes, values: FloatArray) -> list[Figure]:
    """Return how many classes disclose a sensitive number closely."""
    near = CLOSE * spread(values[~np.isnan(values)])
    found = proximity(classes.of_row, values, near, PROXIMITY_L)
    # Whoever has no number is near nobody: neither counted as breached nor as safe.
    members = classes.of_row[(classes.of_row >= 0) & ~np.isnan(values)]
    rows, count = len(members), len(np.unique(members))
    return [
        Figure(
            "risk",
            "proximity",
            name,
            found.rows / rows if rows else None,
            f"share of rows whose class has more than 1/{PROXIMITY_L} of its values within"
            f" {CLOSE:g} standard deviations of one value",
            rows,
        ),
        Figure(
            "risk",
            "proximity_classes",
            name,
            found.classes / count if count else None,
            f"share of the {count:,} classes with such values",
            count,
        ),
        Figure(
            "risk",
            "proximity_l",
            name,
            1 / found.worst if found.worst else None,
            "the L that (e, L)-anonymity reaches in the weakest class",
        ),
    ]


def divergence_figures(
    name: str, classes: Classes, value: IntArray, is_severe: BoolArray | None
) -> list[Figure]:
    """Return how many rows their class ties to a value they do not have."""
    found = divergence(classes.of_row, value, is_severe, CONFIDENCE)
    rows = int(classes.rows.sum())
    what = "a value they do not have" if is_severe is None else "a severe value they do not have"
    return [
        Figure(
            "risk",
            "divergence",
            name,
            found.rows / rows if rows else None,
            f"share of rows that their class ties to {what} with a probability of {CONFIDENCE:g}"
            " or more",
            rows,
        ),
        Figure(
            "risk",
            "divergence_classes",
            name,
            found.classes / classes.count if rows else None,
            f"share of the {classes.count:,} classes that tie such rows",
            classes.count,
        ),
    ]
