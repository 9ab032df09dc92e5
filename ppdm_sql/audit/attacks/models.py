"""How an attacker turns known pairs into guesses: the simplest model that fits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.anonymity import BoolArray, FloatArray

Model: TypeAlias = "Callable[[FloatArray], FloatArray]"
Fit: TypeAlias = "Callable[[FloatArray, FloatArray], Model | None]"
_EXACT = 1e-7
_MOST = 0.6
"""A model holds when it explains this share of the known exactly: rho may have moved the others."""
_TRIALS = 40


def guess_numbers(x: FloatArray, y: FloatArray, unknown: FloatArray) -> FloatArray:
    """Return guesses for released numbers, from known originals `x` of released `y`."""
    for fit, constants in ((_shift, 1), (_scale, 1), (_clean_line, 2), (_graded, 2)):
        model = fit(x, y) if len(x) > constants else None
        if model is not None and _explains(x, model(y), constants):
            return model(unknown)
    if len(x) < 3:
        return _or_mean(_line(x, y), x, unknown)
    best = min((_line, _between, _nearest), key=lambda fit: _left_out(fit, x, y))
    return _or_mean(best(x, y), x, unknown)


def guess_rows(x: FloatArray, y: FloatArray, unknown: FloatArray) -> FloatArray:
    """Return guesses for released rows of several columns: a rotation, else an affine map.

    Maps are fitted to all known rows and to some of them, in case that others have noise.
    """
    count, size = x.shape
    wide, unknown_wide = _with_ones(y), _with_ones(unknown)
    turn = _best_map(x, y, _rotation, min(2, count))
    if turn is not None:
        rotated: FloatArray = unknown @ turn
        return rotated
    if count == size:
        linear: FloatArray = unknown @ _least_squares(x, y)
        return linear
    mapped = _best_map(x, wide, _least_squares, size + 1) if count > size + 1 else None
    guess: FloatArray = unknown_wide @ (_least_squares(x, wide) if mapped is None else mapped)
    return guess


def _best_map(
    x: FloatArray, y: FloatArray, fit: Callable[[FloatArray, FloatArray], FloatArray], least: int
) -> FloatArray | None:
    """Return the map that explains most known rows exactly; None where none explains enough."""
    generator = np.random.default_rng(0)
    choices = [np.arange(len(x))]
    if len(x) > least:
        choices += [generator.choice(len(x), least, replace=False) for _ in range(_TRIALS)]
    maps = [fit(x[chosen], y[chosen]) for chosen in choices]
    explained = [int(_exact(x, y @ one).sum()) for one in maps]
    best = int(np.argmax(explained))
    # As many rows as a map has constants are explained by any: one more must agree.
    needed = max(_MOST * len(x), least if len(x) == least else least + 1)
    return maps[best] if explained[best] >= needed else None


def _rotation(x: FloatArray, y: FloatArray) -> FloatArray:
    left, _, right = np.linalg.svd(y.T @ x)
    turn: FloatArray = left @ right
    return turn


def _least_squares(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(y, x, rcond=None)[0], dtype=np.float64)


def _with_ones(rows: FloatArray) -> FloatArray:
    return np.hstack((rows, np.ones((len(rows), 1))))


def _exact(x: FloatArray, guess: FloatArray) -> BoolArray:
    scale = max(float(np.abs(x).max()), 1e-300)
    near: BoolArray = np.abs(guess - x) <= _EXACT * scale
    return near if near.ndim == 1 else np.all(near, axis=1)


def _explains(x: FloatArray, guess: FloatArray, constants: int) -> bool:
    explained = int(_exact(x, guess).sum())
    return explained > constants and explained >= _MOST * len(x)


def _or_mean(model: Model | None, x: FloatArray, unknown: FloatArray) -> FloatArray:
    return np.full(len(unknown), x.mean()) if model is None else model(unknown)


def _shift(x: FloatArray, y: FloatArray) -> Model | None:
    by = float(np.median(y - x))
    return lambda released: released - by


def _scale(x: FloatArray, y: FloatArray) -> Model | None:
    usable = y != 0
    if not usable.any():
        return None
    by = float(np.median(x[usable] / y[usable]))
    return lambda released: released * by


def _line(x: FloatArray, y: FloatArray) -> Model | None:
    middle, spread = float(y.mean()), float(np.ptp(y))
    if spread <= 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return None
    centered = y - middle
    slope = float(centered @ (x - x.mean()) / (centered @ centered))
    start = float(x.mean())
    return lambda released: start + slope * (released - middle)


def _clean_line(x: FloatArray, y: FloatArray) -> Model | None:
    """Fit the line that most pairs agree on (Theil and Sen): some of them may be noise."""
    first, second = np.triu_indices(len(x), 1)
    run = y[second] - y[first]
    usable = np.abs(run) > 1e-12 * max(float(np.abs(y).max()), 1e-300)
    if not usable.any():
        return None
    slope = float(np.median((x[second] - x[first])[usable] / run[usable]))
    start = float(np.median(x - slope * y))
    return lambda released: start + slope * released


def _graded(x: FloatArray, y: FloatArray) -> Model | None:
    """Fit bands that share their edges: two pairs give one band, its edges help the next."""
    edges = _edges(x, y)
    if not edges or len(edges) >= len(x):
        return None  # as many edges as pairs fit anything

    def inverse(released: FloatArray) -> FloatArray:
        bands = np.floor(released)
        low = np.full(len(released), np.nan)
        high = low.copy()
        for band in np.unique(bands):  # bands, not rows
            inside = bands == band
            low[inside] = edges.get(float(band), np.nan)
            high[inside] = edges.get(float(band) + 1, np.nan)
        values: FloatArray = low + (released - bands) * (high - low)
        return values

    return inverse


def _edges(x: FloatArray, y: FloatArray) -> dict[float, float]:
    edges: dict[float, float] = {}
    bands, parts = np.floor(y), y - np.floor(y)
    for band in np.unique(bands):
        inside = bands == band
        if len(np.unique(parts[inside])) > 1:
            slope, start = np.polyfit(parts[inside], x[inside], 1)
            edges[float(band)], edges[float(band) + 1] = float(start), float(start + slope)
    for _ in range(len(np.unique(bands))):
        for band, part, value in zip(bands.tolist(), parts.tolist(), x.tolist(), strict=True):
            low, high = edges.get(band), edges.get(band + 1)
            if low is not None and high is None and part > 0:
                edges[band + 1] = low + (value - low) / part
            elif high is not None and low is None and part < 1:
                edges[band] = (value - part * high) / (1 - part)
    return edges


def _between(x: FloatArray, y: FloatArray) -> Model | None:
    order = np.argsort(y)
    return lambda released: np.interp(released, y[order], x[order])


def _nearest(x: FloatArray, y: FloatArray) -> Model | None:
    """Move by what the nearest known pair was moved by."""
    order = np.argsort(y)
    known, moved = y[order], (y - x)[order]

    def inverse(released: FloatArray) -> FloatArray:
        after = np.clip(np.searchsorted(known, released), 1, len(known) - 1)
        closer = np.where(
            np.abs(known[after - 1] - released) <= np.abs(known[after] - released), after - 1, after
        )
        result: FloatArray = released - moved[closer]
        return result

    return inverse


def _left_out(fit: Fit, x: FloatArray, y: FloatArray) -> float:
    """Return the median error of a model for pairs that it was not shown."""
    errors = []
    for index in range(len(x)):  # known persons: at most twenty
        others = np.arange(len(x)) != index
        model = fit(x[others], y[others])
        if model is None:
            return float("inf")
        errors.append(abs(float(model(y[index : index + 1])[0]) - float(x[index])))
    return float(np.median(errors))
