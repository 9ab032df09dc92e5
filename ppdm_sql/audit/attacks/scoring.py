"""When a value counts as recovered, and what guessing would recover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray

PRECISION = 0.01
"""A number is recovered within this share of its column's spread, 5 to 95 percent of the values."""

SPLITS = 5
"""How often rows are split in halves: one split is luck, the mean of several moves less."""
_ULPS = 8


def tolerance(x: FloatArray) -> float:
    """Return how near a guess must be: 1 % of the spread."""
    if not len(x):
        return 0.0
    low, high = np.quantile(x, [0.05, 0.95])
    # Each by itself: the difference of two numbers may be none.
    return float(PRECISION * high - PRECISION * low) or float(
        PRECISION * x.max() - PRECISION * x.min()
    )


def hits(x: FloatArray, guess: FloatArray, near: float) -> BoolArray:
    """Tell which guesses are near enough; a guess that is not there is none."""
    # A guess that is exact but for rounding is exact. Rounding goes with the size of the numbers,
    # never with 1: some columns vary by less than that, some by less than 1e-9 of their size.
    rounding = _ULPS * np.spacing(np.abs(x))
    with np.errstate(over="ignore"):
        found: BoolArray = np.abs(x - guess) <= near * (1 + 1e-9) + rounding
    return found


def recovered(x: FloatArray, guess: FloatArray, near: float) -> float:
    """Return the share of numbers that a guess is near enough to."""
    return float(hits(x, guess, near).mean()) if len(x) else 0.0


def chance_number(x: FloatArray, near: float) -> float:
    """Return the share that the best single guess recovers."""
    if not len(x):
        return 0.0
    ordered = np.sort(x)
    with np.errstate(over="ignore"):
        ends = np.searchsorted(ordered, ordered + 2 * near, side="right")
    return float((ends - np.arange(len(x))).max() / len(x))


def chance_label(labels: IntArray) -> float:
    """Return the share of the most frequent value."""
    return float(np.bincount(labels).max() / len(labels)) if len(labels) else 0.0


def halves(size: int, generator: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Split rows into those that play the public and those that are attacked, several times."""
    for _ in range(SPLITS):
        order = generator.permutation(size)
        yield order[: size // 2], order[size // 2 :]


def gain(error: float, left: float) -> float:
    """Return the share of an error that is gone."""
    # What rounding leaves or takes is no gain.
    return max(1 - left / error, 0.0) if error > 0 and left < error * (1 - 1e-9) else 0.0


def percent(share: float) -> str:
    """Return a share as people read it, without claiming more than was seen."""
    if 0 < share < 0.001:
        return "< 0.1\u00a0%"
    if 0.999 < share < 1:
        return "> 99.9\u00a0%"
    return f"{100 * share:.3g}\u00a0%"
