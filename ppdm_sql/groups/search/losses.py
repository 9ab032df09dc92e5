"""What generalization costs: `precision` (1 - Prec, Sweeney) and `ilm` (leaves covered, Iyengar).

Both are means over treated rows and axes of a share between 0 (as it was) and 1 (`*`), in which
a suppressed row counts 1 on every axis. So they add up axis by axis, which the search lives on.
Where the owner gave weights, it is the weighted mean over axes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.search.problem import Axis, BoolArray, FloatArray, Problem

Loss: TypeAlias = Literal["precision", "ilm"]


def level_shares(axis: Axis, level: int, loss: Loss) -> FloatArray:
    """Return what one row of each value loses at a level of an axis."""
    if loss == "precision":
        return np.full(axis.values, level / axis.height)
    if axis.leaves == 1:
        return np.zeros(axis.values)
    shares: FloatArray = (axis.covered[level] - 1) / (axis.leaves - 1)
    return shares


def precision(
    problem: Problem, levels: Sequence[int], suppressed: BoolArray | None = None
) -> float:
    """Return 1 - Prec of a node."""
    return LossTable(problem, "precision", is_weighted=False).of_node(levels, suppressed)


def ilm(problem: Problem, levels: Sequence[int], suppressed: BoolArray | None = None) -> float:
    """Return the mean share of leaves that a node's cells cover beyond their own."""
    return LossTable(problem, "ilm", is_weighted=False).of_node(levels, suppressed)


class LossTable:
    """The loss of every axis and level, added up over all rows or over some of them.

    Axes and levels lie one after another in flat arrays; `offsets[axis] + level` finds one.
    """

    def __init__(self, problem: Problem, loss: Loss, *, is_weighted: bool = True) -> None:
        self.axes = len(problem.axes)
        self.rows = problem.treated
        self.offsets = [0]
        self._weights = problem.rows.astype(np.float64)
        largest, varied, columns = [], [], []
        axis_weights = problem.weights if is_weighted else np.ones(self.axes)
        for axis, codes, weight in zip(problem.axes, problem.codes, axis_weights, strict=True):
            for level in range(axis.height + 1):
                shares = weight * level_shares(axis, level, loss)
                largest.append(float(shares.max(initial=0)))
                if (shares != largest[-1]).any():
                    # Only levels that treat values differently need a look at the rows.
                    varied.append(self.offsets[-1] + level)
                    columns.append(shares[codes] * self._weights)
            self.offsets.append(self.offsets[-1] + axis.height + 1)
        self._varied = np.array(varied, dtype=np.int64)
        self._columns = np.array(columns).reshape(len(columns), len(self._weights))
        self.largest = np.array(largest)
        """The most that one row can lose, axis by axis and level by level."""
        self.totals = self.sums(np.ones(len(self._weights), dtype=np.bool_))

    def count(self, chosen: BoolArray) -> float:
        """Return how many rows the chosen combinations stand for."""
        return float(_dot(self._weights, chosen.astype(np.float64)))

    def sums(self, chosen: BoolArray) -> FloatArray:
        """Return the loss of the chosen combinations' rows, axis by axis and level by level."""
        if not chosen.any():
            return np.zeros(len(self.largest))
        weights = chosen.astype(np.float64)
        sums = self.largest * float(_dot(self._weights, weights))
        if len(self._varied):
            sums[self._varied] = _dot(self._columns, weights)
        return sums

    def least_above(self, sums: FloatArray) -> FloatArray:
        """Return for each axis and level the least of the sums there and at levels above."""
        least = sums.copy()
        for begin, end in pairwise(self.offsets):
            least[begin:end] = np.minimum.accumulate(sums[begin:end][::-1])[::-1]
        return least

    def mean(self, total: float) -> float:
        """Return a total over rows and axes as a mean; no rows lose nothing."""
        return total / (self.rows * self.axes) if self.rows else 0.0

    def of_node(self, levels: Sequence[int], suppressed: BoolArray | None) -> float:
        """Return the loss of a node with some combinations suppressed."""
        if suppressed is None:
            suppressed = np.zeros(len(self._weights), dtype=np.bool_)
        kept = self.totals - self.sums(suppressed)
        at_levels = sum(
            float(kept[self.offsets[axis] + level]) for axis, level in enumerate(levels)
        )
        return self.mean(at_levels + self.count(suppressed) * self.axes)


def _dot(columns: FloatArray, weights: FloatArray) -> FloatArray:
    # Not `@`: BLAS shares so small a product among threads, which on a busy machine wait for
    # each other far longer than the product takes.
    product: FloatArray = np.einsum("...i,i->...", columns, weights)
    return product
