"""What each released column kept of its original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.distances import (
    correlation,
    histogram_pair,
    in_deviations,
    is_constant,
    jensen_shannon,
    kolmogorov_smirnov,
    security,
    wasserstein,
)
from ppdm_sql.audit.measure.figure import Figure

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import FloatArray, IntArray

_QUANTILES = np.linspace(0.05, 0.95, 19)


def column_figures(column: Column) -> list[Figure]:
    """Return what one column lost; nothing where there are no rows."""
    if not len(column.original.known()):
        return []
    before, after = column.original.known(), column.released.known()
    there, had = int((before | after).sum()), int(before.sum())
    lost = float((before & ~after).sum()) / max(had, 1)
    figures = [
        _figure(column, "changed", changed_share(column), "share of values that changed", there),
        _figure(column, "lost", lost, "share of values that became NULL", had),
    ]
    if column.is_numeric:
        figures += _numeric(column, *column.pair())
    else:
        figures.append(
            _figure(
                column,
                "js",
                frequency_distance(column),
                "Jensen-Shannon distance of the frequencies, whatever the values are called",
            )
        )
        figures.append(
            _figure(
                column,
                "association",
                association(column),
                "share of the original's uncertainty that the released value takes away: 1 for a"
                " renaming",
            )
        )
    return figures


def changed_share(column: Column) -> float | None:
    """Return the share of values that are not what they were; None where all are NULL."""
    there = int((column.original.known() | column.released.known()).sum())
    return 1 - int(column.is_shown().sum()) / there if there else None


def merged_share(x: IntArray, y: IntArray) -> float:
    """Return the share of rows whose released value stands for several originals.

    Both as codes of values, which whole numbers have beyond what doubles tell apart. Bands do that
    to values in the last 0.1 % of one, and to its end: nobody can tell them apart.
    """
    before, after = (np.unique(side, return_inverse=True)[1] for side in (x, y))
    pairs = np.unique(after * (int(before.max()) + 1) + before)
    originals = np.bincount(pairs // (int(before.max()) + 1))
    return float((originals[after] > 1).mean())


def mean_drift(x: FloatArray, y: FloatArray) -> float | None:
    """Return how far the mean moved, in standard deviations of the original."""
    if is_constant(x):
        return None
    a, b = in_deviations(x, x, y)
    return float(abs(np.mean(b - a)))


def quantile_drift(x: FloatArray, y: FloatArray) -> float | None:
    """Return the largest move of a quantile, 5 to 95 percent, in standard deviations."""
    if is_constant(x):
        return None
    a, b = in_deviations(x, x, y)
    moved = np.abs(np.quantile(b, _QUANTILES) - np.quantile(a, _QUANTILES))
    return float(moved.max())


def frequency_distance(column: Column) -> float | None:
    """Return the distance of the two lists of frequencies, each in descending order."""
    first = np.sort(np.bincount(column.original.codes()[column.original.known()]))[::-1]
    second = np.sort(np.bincount(column.released.codes()[column.released.known()]))[::-1]
    if not first.sum() or not second.sum():
        return None
    size = max(len(first), len(second))
    return jensen_shannon(
        np.pad(first, (0, size - len(first))).astype(np.float64),
        np.pad(second, (0, size - len(second))).astype(np.float64),
    )


def association(column: Column) -> float | None:
    """Return 1 - H(original | released) / H(original); None where the original has no entropy."""
    before, after = column.label_pair()
    if not len(before):
        return None
    span = int(before.max()) + 1
    whole = _entropy(before)
    if whole <= 0:
        return None
    conditional = _entropy(after * span + before) - _entropy(after)
    return float(np.clip(1 - conditional / whole, 0, 1))


def _entropy(codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    return float(-(shares * np.log(shares)).sum())


def _numeric(column: Column, x: FloatArray, y: FloatArray) -> list[Figure]:
    if len(x) < 2:
        return []
    first, second = histogram_pair(x, y)
    found: list[tuple[str, float | None, str]] = [
        ("correlation", correlation(x, y), "Pearson's, of original and released"),
        ("sec", security(x, y), "Var(x - y) / Var(x): 0 means that differences are as they were"),
        ("mean_drift", mean_drift(x, y), "how far the mean moved, in standard deviations"),
        ("quantile_drift", quantile_drift(x, y), "how far a quantile moved at most, likewise"),
        ("ks", kolmogorov_smirnov(x, y), "Kolmogorov-Smirnov distance of the distributions"),
        (
            "wasserstein",
            None if is_constant(x) else wasserstein(*in_deviations(x, x, y)),
            "earth mover's distance of the distributions, in standard deviations",
        ),
        (
            "js",
            jensen_shannon(first.astype(np.float64), second.astype(np.float64)),
            "Jensen-Shannon distance in 30 equal bins",
        ),
    ]
    merged = (
        merged_share(*column.label_pair()),
        "share of values released like another original value",
    )
    return [
        _figure(column, "merged", *merged, len(x)),
        *(_figure(column, name, value, text) for name, value, text in found),
    ]


def _figure(
    column: Column, name: str, value: float | None, sentence: str, of: int | None = None
) -> Figure:
    return Figure("utility", name, column.name, value, sentence, of)
