"""Distances between two columns of numbers or two distributions, as the literature defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.groups.search import FloatArray, IntArray


def is_constant(x: FloatArray) -> bool:
    """Whether values differ by nothing but rounding, or there are none."""
    if not len(x):
        return True
    low, high = float(x.min()), float(x.max())
    return high / 2 - low / 2 <= 4 * float(np.spacing(max(abs(low), abs(high))))


def spread(x: FloatArray) -> float:
    """Return the standard deviation, of the largest numbers, too; exactly 0 for a constant."""
    if is_constant(x):
        return 0.0
    scale = power_above(x)
    return float(np.std(_around(x, float(x[0]), scale))) * scale


def in_deviations(x: FloatArray, *sides: FloatArray) -> tuple[FloatArray, ...]:
    """Return columns around a value of `x`, in its standard deviations; it must not be constant.

    What is subtracted is subtracted first, so that a large offset hides nothing.
    """
    scale = power_above(x)
    unit = spread(x) / scale
    return tuple(_around(side, float(x[0]), scale) / unit for side in sides)


def power_above(x: FloatArray) -> float:
    """Return a power of two as large as the largest number: dividing by it rounds nothing."""
    return float(np.ldexp(0.5, np.frexp(float(np.abs(x).max()))[1]))


def _around(x: FloatArray, center: float, scale: float) -> FloatArray:
    """Return differences from a value, in a unit in which they stay numbers."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is told by the figure
        around: FloatArray = x / scale - center / scale
    return around


def correlation(x: FloatArray, y: FloatArray) -> float | None:
    """Return Pearson's correlation; None where one of them is constant."""
    if is_constant(x) or is_constant(y):
        return None
    a, b = _centered(x), _centered(y)
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _centered(x: FloatArray) -> FloatArray:
    """Return differences from the mean, the largest of them 1: squares of those stay numbers."""
    around = _around(x, float(x[0]), power_above(x))
    around = around - around.mean()
    centered: FloatArray = around / np.abs(around).max()
    return centered


def security(x: FloatArray, y: FloatArray) -> float | None:
    """Return Sec = Var(x - y) / Var(x) of document 003; None for a constant column."""
    if is_constant(x):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = in_deviations(x, x, y)
        found = float(np.var(b - a))
    return found if np.isfinite(found) else None


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
    first = np.histogram(x - low, bins=bins, range=(0, high - low))[0]
    second = np.histogram(y - low, bins=bins, range=(0, high - low))[0]
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
