"""Distances between two columns of numbers or two distributions, as the literature defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.anonymity import FloatArray, IntArray


def correlation(x: FloatArray, y: FloatArray) -> float | None:
    """Return Pearson's correlation; None where one of them is constant."""
    if len(x) < 2:
        return None
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    # A constant column differs from its mean by rounding only.
    if scale <= 1e-12 * max(float(np.abs(x).max() * np.abs(y).max()), 1e-300) * len(x):
        return None
    return float(np.clip((a @ b) / scale, -1, 1))


def security(x: FloatArray, y: FloatArray) -> float | None:
    """Return Sec = Var(x - y) / Var(x) of document 003; None for a constant column."""
    variance = float(np.var(x)) if len(x) else 0.0
    return float(np.var(x - y)) / variance if variance > 0 else None


def kolmogorov_smirnov(x: FloatArray, y: FloatArray) -> float:
    """Return the largest difference of the two distribution functions."""
    points, first, second = _distribution_functions(x, y)
    del points
    return float(np.abs(first - second).max(initial=0))


def wasserstein(x: FloatArray, y: FloatArray) -> float:
    """Return the area between the two distribution functions, in units of the values."""
    points, first, second = _distribution_functions(x, y)
    return float(np.abs(first - second)[:-1] @ np.diff(points)) if len(points) else 0.0


def jensen_shannon(p: FloatArray, q: FloatArray) -> float:
    """Return the Jensen-Shannon distance of two histograms of the same bins, 0 to 1."""
    p, q = p / max(p.sum(), 1e-300), q / max(q.sum(), 1e-300)
    middle = (p + q) / 2
    divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    return float(np.sqrt(max(divergence, 0.0)))


def histogram_pair(x: FloatArray, y: FloatArray, bins: int = 30) -> tuple[IntArray, IntArray]:
    """Count both columns in the same equal bins."""
    both = np.concatenate((x, y))
    if not len(both):
        return np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    low, high = float(both.min()), float(both.max())
    if not np.isfinite(high - low) or (high - low) / bins <= np.spacing(max(abs(low), abs(high))):
        return np.array([len(x)]), np.array([len(y)])
    first = np.histogram(x, bins=bins, range=(low, high))[0]
    second = np.histogram(y, bins=bins, range=(low, high))[0]
    return first, second


def _distribution_functions(
    x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    points = np.sort(np.concatenate((x, y)))
    first = np.searchsorted(np.sort(x), points, side="right") / max(len(x), 1)
    second = np.searchsorted(np.sort(y), points, side="right") / max(len(y), 1)
    return points, first, second


def _relative_entropy(p: FloatArray, q: FloatArray) -> float:
    positive = p > 0
    return float((p[positive] * np.log2(p[positive] / q[positive])).sum())
