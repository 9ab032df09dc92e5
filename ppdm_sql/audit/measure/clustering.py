"""k-means on original and released numbers, and how many rows change their cluster."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.distances import in_deviations
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.measure.shape import matrices, varied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import FloatArray, IntArray

CLUSTERS = 4
"""Few enough to match labels by trying every permutation: the best is the Hungarian method's."""
LEAST_POINTS = 2 * CLUSTERS
"""With fewer there is nothing to cluster."""
_ROUNDS = 100


def k_means(points: FloatArray, clusters: int, starts: IntArray) -> IntArray:
    """Return each point's cluster: Lloyd's algorithm from given points, until nothing moves."""
    centers = points[starts]
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        nearest = (
            (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T + (centers**2).sum(axis=1)
        ).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        counts = np.bincount(labels, minlength=clusters)
        sums = np.stack(
            [np.bincount(labels, column, minlength=clusters) for column in points.T], axis=1
        )
        kept = counts > 0  # an empty cluster stays where it was
        centers = np.where(kept[:, None], sums / np.maximum(counts, 1)[:, None], centers)
    return labels


def spread_starts(points: FloatArray, clusters: int, generator: np.random.Generator) -> IntArray:
    """Return rows to start from, far apart (k-means++)."""
    chosen = [int(generator.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < clusters:
        total = float(nearest.sum())
        weights = nearest / total if total > 0 else None
        chosen.append(int(generator.choice(len(points), p=weights)))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen)


def misclassified(before: IntArray, after: IntArray, clusters: int) -> float:
    """Return the share of rows whose cluster changes, labels matched as well as they can be."""
    table = np.bincount(before * clusters + after, minlength=clusters**2)
    table = table.reshape(clusters, clusters)
    orders = np.array(list(permutations(range(clusters))))
    kept = table[np.arange(clusters), orders].sum(axis=1).max()
    return float(1 - kept / max(len(before), 1))


def clustering_figures(columns: Sequence[Column], generator: np.random.Generator) -> list[Figure]:
    """Return the misclassification error of k-means, columns scaled to one deviation.

    Both runs start from the same rows, so that what differs is the data.
    """
    x, y = (_scaled(matrix) for matrix in matrices(columns))
    if len(x) < LEAST_POINTS or not x.shape[1] or not y.shape[1]:
        return []
    starts = spread_starts(x, CLUSTERS, generator)
    error = misclassified(k_means(x, CLUSTERS, starts), k_means(y, CLUSTERS, starts), CLUSTERS)
    about = ", ".join(column.name for column in columns)
    text = f"share of the sampled rows that change their cluster, k-means with {CLUSTERS}"
    return [Figure("utility", "misclassification", about, error, text, len(x))]


def _scaled(matrix: FloatArray) -> FloatArray:
    if not matrix.size:
        return matrix
    columns = [in_deviations(column, column)[0] for column in matrix.T[varied(matrix)]]
    if not columns:
        return matrix[:, :0]
    return np.stack([column - column.mean() for column in columns], axis=1)
