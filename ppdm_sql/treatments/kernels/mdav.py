"""MDAV: groups of at least k similar rows of several columns.

Maximum distance to average vector (Domingo-Ferrer and Mateo-Sanz, 2002): the row farthest from
the average takes its nearest neighbours for a group, then the row farthest from that one does.
Quadratic, so more than `EXACT_UP_TO` rows are first cut into blocks along the direction in which
they spread most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

EXACT_UP_TO = 20_000
"""Distinct rows up to which the whole table is one block."""


def mdav(points: Floats, weights: npt.NDArray[np.int64], size: int) -> Indices:
    """Return the group of each point; a group's weights sum to `size` or more.

    Points are distinct rows, standardized; weights say how often each occurs.
    """
    groups = np.empty(len(points), dtype=np.intp)
    made = 0
    for block in blocks(points, weights, size):
        made = _group_block(points, weights, size, block, groups, made)
    return groups


def blocks(points: Floats, weights: npt.NDArray[np.int64], size: int) -> list[Indices]:
    """Cut points into blocks of at most `EXACT_UP_TO` along their principal component."""
    if len(points) <= EXACT_UP_TO:
        return [np.arange(len(points))]
    order = np.argsort(points @ principal_component(points, weights), kind="stable")
    count = max(1, min(-(-len(points) // EXACT_UP_TO), len(points) // size))
    return [np.sort(block) for block in np.array_split(order, count)]


def principal_component(points: Floats, weights: npt.NDArray[np.int64]) -> Floats:
    """Return the direction in which points spread most; its largest part is positive."""
    covariance = np.atleast_2d(np.cov(points.T, fweights=weights))
    direction: Floats = np.linalg.eigh(covariance)[1][:, -1]
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    return direction


def _group_block(
    points: Floats,
    weights: npt.NDArray[np.int64],
    size: int,
    left: Indices,
    groups: Indices,
    made: int,
) -> int:
    """Group the points of one block; return how many groups there are now."""
    first = made
    while weights[left].sum() >= 3 * size:
        centre = np.average(points[left], axis=0, weights=weights[left])
        farthest = points[left[np.argmax(_distances(points[left], centre))]]
        left, made = _take(points, weights, size, left, farthest, groups, made)
        if weights[left].sum() < size:
            break
        opposite = points[left[np.argmax(_distances(points[left], farthest))]]
        left, made = _take(points, weights, size, left, opposite, groups, made)
    if len(left) and weights[left].sum() >= 2 * size:
        centre = np.average(points[left], axis=0, weights=weights[left])
        farthest = points[left[np.argmax(_distances(points[left], centre))]]
        left, made = _take(points, weights, size, left, farthest, groups, made)
    if len(left):
        if weights[left].sum() < size and made > first:
            made -= 1  # too few are left for a group: they join the last one
        groups[left] = made
        made += 1
    return made


def _take(
    points: Floats,
    weights: npt.NDArray[np.int64],
    size: int,
    left: Indices,
    around: Floats,
    groups: Indices,
    made: int,
) -> tuple[Indices, int]:
    """Make a group of the points nearest to one; return those that are left."""
    distances = _distances(points[left], around)
    near = np.argpartition(distances, min(size, len(left)) - 1)[:size]
    near = near[np.argsort(distances[near], kind="stable")]
    enough = int(np.searchsorted(np.cumsum(weights[left[near]]), size)) + 1
    chosen = near[:enough]
    groups[left[chosen]] = made
    return np.delete(left, chosen), made + 1


def _distances(points: Floats, centre: Floats) -> Floats:
    away = points - centre
    squared: Floats = np.einsum("ij,ij->i", away, away)
    return squared
