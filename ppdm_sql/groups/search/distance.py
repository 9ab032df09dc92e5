"""Earth mover's distance of each class from the reference distribution (Li et al., 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.histogram import Histogram, sum_by

if TYPE_CHECKING:
    from ppdm_sql.groups.search.problem import FloatArray, IntArray, Sensitive


def distances(histogram: Histogram, column: Sensitive) -> FloatArray:
    """Return the distance of each class: hierarchical, ordered or equal, as the column says."""
    if column.tree is not None:
        return _hierarchical(histogram, column.reference, column.tree)
    if column.is_ordered:
        return _ordered(histogram, column.reference)
    return _equal(histogram, column.reference)


def farthest(column: Sensitive) -> float:
    """Return the largest distance any distribution has: distance is convex, so of one value."""
    each = np.arange(column.values)
    alone = Histogram(each, each, np.ones_like(each), column.values)
    return float(distances(alone, column).max(initial=0))


def _equal(histogram: Histogram, reference: FloatArray) -> FloatArray:
    # ½ Σ |p - q| is the sum of what is too much, which values that do not occur never are.
    excess = np.maximum(histogram.shares() - reference[histogram.value], 0)
    return sum_by(histogram.owner, excess, histogram.classes)


def _ordered(histogram: Histogram, reference: FloatArray) -> FloatArray:
    """Sum |P(v) - Q(v)| over values v but the last, for cumulative P and Q, over their number.

    From one value that occurs to the next, P is constant; Q ascends, so that it crosses P once
    and prefix sums of Q give both sides at once.
    """
    last = len(reference) - 1
    owner, value = histogram.owner, histogram.value
    if last == 0 or not len(owner):
        return np.zeros(histogram.classes)
    cumulative = np.cumsum(reference)
    sums = np.concatenate(([0.0], np.cumsum(cumulative)))
    is_first = np.diff(owner, prepend=-1) > 0
    is_last = np.diff(owner, append=histogram.classes) > 0
    counted = np.cumsum(histogram.count)
    before = (counted - histogram.count)[is_first][np.cumsum(is_first) - 1]
    level = (counted - before) / histogram.totals[owner]
    end = np.where(is_last, last, np.roll(value, -1))
    begin = np.minimum(value, last)
    crossing = np.clip(np.searchsorted(cumulative, level), begin, end)
    below = level * (crossing - begin) - (sums[crossing] - sums[begin])
    above = (sums[end] - sums[crossing]) - level * (end - crossing)
    moved = np.maximum(below, 0) + np.maximum(above, 0) + np.where(is_first, sums[begin], 0)
    work: FloatArray = sum_by(owner, moved, histogram.classes) / last
    return work


def _hierarchical(
    histogram: Histogram, reference: FloatArray, tree: tuple[IntArray, ...]
) -> FloatArray:
    """Sum height / H · min(too much, too little) of its children over the nodes of the tree."""
    height = len(tree) - 1
    owner, group, share = histogram.owner, histogram.value, histogram.shares()
    expected = reference
    work = np.zeros(histogram.classes)
    for level in range(1, height + 1):
        groups = int(tree[level].max()) + 1
        parent = np.zeros(len(expected), dtype=np.int64)
        parent[tree[level - 1]] = tree[level]
        too_much = np.maximum(share - expected[group], 0)
        nodes, at = np.unique(owner * groups + parent[group], return_inverse=True)
        owner, group = nodes // groups, nodes % groups
        share = sum_by(at, share, len(nodes))
        too_much = sum_by(at, too_much, len(nodes))
        expected = sum_by(parent, expected, groups)
        # A node without any of its values has nothing too much: it needs no entry.
        too_little = np.maximum(too_much - (share - expected[group]), 0)
        cost = np.minimum(too_much, too_little) * (level / height)
        work += sum_by(owner, cost, histogram.classes)
    return work
