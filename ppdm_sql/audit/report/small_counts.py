"""Small counts: a report that is handed on must not tell them, nor let them be worked out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = 5
"""Counts below this are not shown; others are rounded up to a multiple of it."""
_DIGITS = 4
_ROUNDING = 1e-12
"""What a measure is off by rounding is nothing."""


def hide_small(counts: Sequence[int], uncounted: int = 0) -> list[int | None]:
    """Return counts with those below SMALL hidden, and one more where they could be told.

    Somebody who knows the total subtracts what is shown: what remains must not be small either.
    `uncounted` is what no count covers.
    """
    shown: list[int | None] = [None if 0 < count < SMALL else count for count in counts]
    hidden = uncounted + sum(count for count in counts if 0 < count < SMALL)
    if None in shown and hidden < SMALL:
        others = [count for count in shown if count]
        if others:
            shown[shown.index(min(others))] = None
    return shown


def round_up(count: float, most: int) -> int:
    """Return a count rounded up to a multiple of SMALL; all of them where that is more.

    Two counts that differ by less than SMALL cannot be told apart by what is shown of them.
    """
    # What a share times its whole is off by rounding is nobody.
    return min(SMALL * math.ceil(count / SMALL - 1e-9), most)


def coarse_share(share: float, of: int) -> float:
    """Return a share of so many persons, rows or values as it may be shown: rounded up.

    Of how many it is one is rounded down: 5 / 28 would tell the 28, and what is missing to 30.
    """
    if not math.isfinite(share) or of <= 0:
        return share
    count, whole = round_up(share * of, of), of - of % SMALL
    return min(count / whole, 1.0) if whole else float(count > 0)


def round_to_steps(share: float, steps: int) -> float:
    """Return a share rounded up to one of so many steps; 0 stays 0."""
    return math.ceil(share * steps - 1e-9) / steps if math.isfinite(share) else share


def few_digits(value: float, digits: int = _DIGITS) -> float:
    """Return a measure with few digits: all of them would let its terms be tried out."""
    if not math.isfinite(value):
        return value
    return float(f"{value:.{digits}g}") if abs(value) > _ROUNDING else 0.0
