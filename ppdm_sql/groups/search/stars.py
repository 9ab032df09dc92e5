"""Local suppression: single cells become `*`, as few as a greedy choice finds, until classes hold.

A star is a value like any other: a row that shows one is in a class with rows that show the same
stars and the same values beside them. (Elsewhere a star is counted as if it could be any value.
Whoever knows a person then finds the one row that fits.)

Classes that reach the targets stay as they are. Of the others, columns are starred together: one
column, then two, and so on; of equally many, those first that bring most rows into classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.census import Census
from ppdm_sql.groups.search.losses import level_shares
from ppdm_sql.groups.search.reach import reach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.groups.search.losses import Loss
    from ppdm_sql.groups.search.problem import BoolArray, FloatArray, IntArray, Problem
    from ppdm_sql.groups.search.targets import Target

MOST_AXES = 12
"""Columns up to which every choice of them is looked at."""
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Starred:
    """Which cells become `*`, and which rows do not go out at all."""

    stars: BoolArray = field(repr=False)
    """stars[axis, combination]."""
    suppressed: BoolArray = field(repr=False)
    """The combinations that even stars in all columns do not help."""
    suppressed_rows: int
    cells: int
    """Cells of rows that go out and are `*`."""
    loss: float
    precision_loss: float


def suppress_cells(
    problem: Problem,
    targets: Sequence[Target],
    share: float,
    loss: Loss,
    levels: Sequence[int],
    on_progress: Callable[[float], None] | None = None,
) -> Starred | None:
    """Suppress cells until every class reaches the targets; None where that takes too many.

    Args:
        problem: The treated rows.
        targets: What every class must reach.
        share: Share of the cells that may be suppressed, 0…1; rows left out count with all of theirs.
        loss: How the result is measured.
        levels: The level of each axis, below which nothing is shown.
        on_progress: Told now and then which share of the choices is settled.
    """
    starring = _Starring(problem, tuple(targets), levels)
    axes = len(problem.axes)
    starring.take(())
    for size in range(1, axes + 1):
        # The lighter columns first: stars there cost less.
        choices = sorted(
            combinations(range(axes), size),
            key=lambda one: sum(problem.axes[a].weight for a in one),
        )
        while starring.is_open.any():
            rescued = [starring.rescues(choice) for choice in choices]
            best = max(range(len(choices)), key=lambda at: (rescued[at], -at))
            if not rescued[best]:
                break
            starring.take(choices[best])
            choices.pop(best)
            if not choices:
                break
        if on_progress is not None:
            on_progress(size / axes)
    return starring.result(share, loss)


class _Starring:
    """The state of a run: which combinations are in no class yet, and what the others show."""

    def __init__(
        self, problem: Problem, targets: tuple[Target, ...], levels: Sequence[int]
    ) -> None:
        self._problem = problem
        self._targets = targets
        self._levels = levels
        self._census = Census(problem)
        self._groups = [
            axis.groups[level][codes]
            for axis, level, codes in zip(problem.axes, levels, problem.codes, strict=True)
        ]
        self._fixed = np.unique(problem.fixed, return_inverse=True)[1]
        self.is_open = np.ones(len(problem.rows), dtype=np.bool_)
        self.stars = np.zeros((len(problem.axes), len(problem.rows)), dtype=np.bool_)

    def rescues(self, starred: Sequence[int]) -> int:
        """Return how many rows reach the targets when some columns are starred in all open ones."""
        return int(self._problem.rows[self._rescued(starred)].sum())

    def take(self, starred: Sequence[int]) -> None:
        """Star these columns where that makes classes of open combinations."""
        rescued = self._rescued(starred)
        for axis in starred:
            self.stars[axis, rescued] = True
        self.is_open &= ~rescued

    def _rescued(self, starred: Sequence[int]) -> BoolArray:
        at = np.flatnonzero(self.is_open)
        key: IntArray = self._fixed[at]
        for axis, group in enumerate(self._groups):
            if axis not in starred:
                # Numbered again after each column, so that the product fits 64 bits.
                key = np.unique(
                    key * (int(group.max(initial=0)) + 1) + group[at], return_inverse=True
                )[1]
        found = np.zeros(len(self.is_open), dtype=np.bool_)
        if len(at):
            classes = np.zeros(len(self.is_open), dtype=np.int64)
            classes[at] = key
            counted = self._census.count(classes, int(key.max()) + 1, self.is_open)
            found[at] = reach(self._targets, counted)[key]
        return found

    def result(self, share: float, loss: Loss) -> Starred | None:
        """Return what was chosen; None where it suppresses more cells than it may."""
        rows, axes = self._problem.rows, len(self._problem.axes)
        lost = int(rows[self.is_open].sum())
        cells = int((self.stars * rows).sum())
        every = self._problem.treated * axes
        if cells + lost * axes > share * every + _SLACK:
            return None
        return Starred(
            self.stars,
            self.is_open,
            lost,
            cells,
            self._loss(loss, self._problem.weights),
            self._loss("precision", np.ones(axes)),
        )

    def _loss(self, loss: Loss, weights: FloatArray) -> float:
        problem = self._problem
        total = 0.0
        for number, axis in enumerate(problem.axes):
            shares = level_shares(axis, self._levels[number], loss)[problem.codes[number]]
            shares = np.where(self.stars[number] | self.is_open, 1.0, shares)
            total += float(weights[number]) * float((shares * problem.rows).sum())
        every = problem.treated * len(problem.axes)
        return total / every if every else 0.0
