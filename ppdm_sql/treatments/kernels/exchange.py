"""Who gets whose value: orders in which nobody moves as far as a given number of places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]


def near_order(span: float, first: float, chances: Floats) -> Places:
    """Return for each place the one it changes values with: fewer than `span` places away.

    Places are cut into windows as wide as the span, the first of them somewhere in the middle; in
    each, every place of the lower half is paired with a random one of the upper half.
    """
    count = len(chances)
    width = max(int(min(span, count)) // 2 * 2, 2)
    place = np.arange(count)
    window = (place + int(first * width)) // width
    starts = np.searchsorted(window, window)
    sizes = np.searchsorted(window, window, side="right") - starts
    lower = np.flatnonzero(place - starts < sizes // 2)
    upper = np.flatnonzero(place - starts >= sizes - sizes // 2)
    upper = upper[np.lexsort((chances[upper], window[upper]))]
    found = place.copy()  # one place in the middle of an odd window stays
    found[lower], found[upper] = upper, lower
    return found


def near_places(pool: Floats, values: Floats, span: float, chances: Floats) -> Places:
    """Return for each value a place of a sorted pool, fewer than `span` from where it would stand."""
    at = np.searchsorted(pool, values)
    low = np.maximum(np.ceil(at - span), 0)
    high = np.minimum(np.maximum(np.floor(at + span), low + 1), len(pool))
    low = np.minimum(low, high - 1)
    found: Places = (low + np.floor(chances * (high - low))).astype(np.intp)
    return found


def fractions(taken: bytes) -> Floats:
    """Return a number from 0 to below 1 for every 8 bytes."""
    words = np.frombuffer(taken, dtype="<u8") >> np.uint64(11)
    found: Floats = words.astype(np.float64) * 2.0**-53
    return found
