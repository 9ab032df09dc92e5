"""How an attacker turns known pairs into guesses: the simplest model that fits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.anonymity import FloatArray

Fit: TypeAlias = "Callable[[FloatArray, FloatArray], Callable[[FloatArray], FloatArray] | None]"
_EXACT = 1e-7


def guess_numbers(x: FloatArray, y: FloatArray, unknown: FloatArray) -> FloatArray:
    """Return guesses for released numbers, from known originals `x` of released `y`."""
    for fit, spare in ((_shift, 1), (_scale, 1), (_line, 2), (_graded, 2)):
        model = fit(x, y) if len(x) > spare else None
        if model is not None and _fits(x, model(y)):
            return model(unknown)
    if len(x) < 3:
        model = _line(x, y)
        return model(unknown) if model is not None else np.full(len(unknown), x.mean())
    best = min((_line, _between, _nearest), key=lambda fit: _left_out(fit, x, y))
    model = best(x, y)
    return model(unknown) if model is not None else np.full(len(unknown), x.mean())


def guess_rows(x: FloatArray, y: FloatArray, unknown: FloatArray) -> FloatArray:
    """Return guesses for released rows of several columns: a rotation, else a linear map."""
    left, _, right = np.linalg.svd(y.T @ x)
    turned = left @ right
    if _fits(x, y @ turned):
        rotated: FloatArray = unknown @ turned
        return rotated
    linear = np.linalg.lstsq(y, x, rcond=None)[0]
    if len(x) == x.shape[1] or (len(x) > x.shape[1] and _fits(x, y @ linear)):
        mapped: FloatArray = unknown @ linear
        return mapped
    wide = np.hstack((y, np.ones((len(y), 1))))
    affine = np.linalg.lstsq(wide, x, rcond=None)[0]
    guess: FloatArray = np.hstack((unknown, np.ones((len(unknown), 1)))) @ affine
    return guess


def _fits(x: FloatArray, guess: FloatArray) -> bool:
    scale = max(float(np.abs(x).max()), 1e-300)
    return bool((np.abs(guess - x) <= _EXACT * scale).all())


def _shift(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    by = float(np.median(y - x))
    return lambda released: released - by


def _scale(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    usable = y != 0
    if not usable.any():
        return None
    by = float(np.median(x[usable] / y[usable]))
    return lambda released: released * by


def _line(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    middle, spread = float(y.mean()), float(np.ptp(y))
    if spread <= 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return None
    centered = y - middle
    slope = float(centered @ (x - x.mean()) / (centered @ centered))
    start = float(x.mean())
    return lambda released: start + slope * (released - middle)


def _graded(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    """Fit bands that share their edges: two pairs give one band, its edges help the next."""
    edges = _edges(x, y)
    if not edges:
        return None

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


def _between(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    order = np.argsort(y)
    return lambda released: np.interp(released, y[order], x[order])


def _nearest(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
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
