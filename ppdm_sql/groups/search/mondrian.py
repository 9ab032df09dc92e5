"""Mondrian (LeFevre et al., 2006): local recoding by cutting the combinations again and again.

Strict: a cut is made only where all its parts reach all targets. Each part is cut along the axis
on which it is widest and, where that fails, along the next; a number at the value nearest to the
median that leaves k rows on either side, a category into groups of its hierarchy, those with
fewer than k rows together. All parts take a step at once, in a few array operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.census import Census
from ppdm_sql.groups.search.cuts import cutter_of
from ppdm_sql.groups.search.numbering import Numbering
from ppdm_sql.groups.search.reach import reach
from ppdm_sql.groups.search.segments import Segments
from ppdm_sql.groups.search.targets import K

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.groups.search.cuts import Cutter, Groups, Ranges
    from ppdm_sql.groups.search.problem import BoolArray, FloatArray, IntArray, Problem
    from ppdm_sql.groups.search.targets import Target


@dataclass(frozen=True, slots=True)
class Partition:
    """The classes of a local recoding and what stands in their cells."""

    classes: IntArray = field(repr=False)
    """The class number of each combination; -1 where it is suppressed."""
    number: int
    """How many classes there are."""
    cells: tuple[Ranges | Groups, ...] = field(repr=False)
    """Axis by axis, what stands there for each class."""
    loss: float
    """Mean over treated rows and axes of the share of values or leaves covered; see `cuts`."""
    plain_loss: float
    """The same without weights."""
    suppressed_rows: int

    @property
    def suppressed(self) -> BoolArray:
        """The combinations that are suppressed."""
        suppressed: BoolArray = self.classes < 0
        return suppressed


def mondrian(
    problem: Problem,
    targets: Sequence[Target],
    suppression: float = 0.0,
    on_progress: Callable[[float], None] | None = None,
) -> Partition | None:
    """Recode locally; None where not even the whole reaches the targets.

    Nothing is suppressed, unless columns that are not generalized part the rows into classes
    that miss the targets from the start: those are, as far as `suppression` allows.
    """
    cutting = _Cutting(problem, tuple(targets))
    lost = cutting.suppress_hopeless()
    if lost > math.floor(suppression * problem.treated + 1e-9):
        return None
    while cutting.step():
        if on_progress is not None:
            on_progress(cutting.settled)
    return cutting.result(lost)


class _Cutting:
    """The state of a run: the part of each combination, and which parts may still be cut."""

    def __init__(self, problem: Problem, targets: tuple[Target, ...]) -> None:
        self._problem = problem
        self._targets = targets
        self._k = max((target.k for target in targets if isinstance(target, K)), default=1)
        self._only_k = problem.person is None and all(isinstance(t, K) for t in targets)
        self._census = Census(problem)
        self._numbering = Numbering()
        self._cutters: list[Cutter] = [
            cutter_of(axis, codes) for axis, codes in zip(problem.axes, problem.codes, strict=True)
        ]
        self._part: IntArray = np.unique(problem.fixed, return_inverse=True)[1]
        self._parts = int(self._part.max(initial=-1)) + 1
        self._open = np.argsort(self._part, kind="stable")
        """Combinations whose part may still be cut, part by part."""
        self._width = self._widths(self._open)
        """Of each open part, how wide it is on each axis; 0 where it is not to be cut."""
        self._is_exhausted = np.zeros_like(self._width, dtype=np.bool_)
        """Of each open part, the axes on which no smaller part can be cut either."""

    @property
    def settled(self) -> float:
        """Share of the combinations whose class is found."""
        return 1 - len(self._open) / max(1, len(self._part))

    def suppress_hopeless(self) -> int:
        """Suppress the parts that miss the targets before any cut; return their rows."""
        reached = reach(self._targets, self._census.count(self._part, self._parts))
        self._keep_open(reached)
        is_lost = ~reached[self._part]
        self._part[is_lost] = -1
        return int(self._problem.rows[is_lost].sum())

    def step(self) -> bool:
        """Try to cut every open part where it is widest; tell whether any was open."""
        rows = self._segments(self._open).total(self._problem.rows[self._open])
        self._keep_open((self._width.max(axis=1, initial=0) > 0) & (rows >= 2 * self._k))
        if not len(self._open):
            return False
        parts = self._segments(self._open)
        axis = self._width.argmax(axis=1)
        side = np.zeros(len(self._open), dtype=np.int64)
        has_cut = np.zeros(parts.count, dtype=np.bool_)
        for number in np.unique(axis):
            chosen = axis == number
            at = np.flatnonzero(chosen[parts.number])
            combinations = self._open[at]
            side[at], has_cut[chosen] = self._cutters[number].cut(
                combinations,
                self._segments(combinations),
                self._problem.rows[combinations],
                self._k,
            )
        sides = int(side.max()) + 1
        child, children = self._numbering.number(parts.number * sides + side, parts.count * sides)
        is_cut = has_cut & parts.all(self._reached(child, children)[child])
        every = np.arange(parts.count)
        self._is_exhausted[every, axis] |= ~has_cut
        self._width[every, axis] = 0
        self._divide(parts, is_cut, child)
        self._parts += children
        return True

    def result(self, lost: int) -> Partition:
        """Return the classes as they are now."""
        problem = self._problem
        kept = np.flatnonzero(self._part >= 0)
        kept = kept[np.argsort(self._part[kept], kind="stable")]
        parts = self._segments(kept)
        classes = np.full(len(self._part), -1, dtype=np.int64)
        classes[kept] = parts.number
        widths = self._widths(kept)
        rows = parts.total(problem.rows[kept])
        total, plain = (
            float((each.sum(axis=1) * rows).sum()) + lost * len(problem.axes)
            for each in (widths, widths / problem.weights)
        )
        every = max(problem.treated * len(problem.axes), 1)
        return Partition(
            classes=classes,
            number=parts.count,
            cells=tuple(cutter.cells(kept, parts) for cutter in self._cutters),
            loss=total / every,
            plain_loss=plain / every,
            suppressed_rows=lost,
        )

    def _divide(self, parts: Segments, is_cut: BoolArray, child: IntArray) -> None:
        """Put children in the place of the parts that are cut."""
        changes = is_cut[parts.number]
        self._part[self._open[changes]] = self._parts + child[changes]
        order = np.argsort(self._part[self._open], kind="stable")
        self._open = self._open[order]
        now = self._segments(self._open)
        parent = parts.number[order][now.begins]
        is_new = is_cut[parent]
        self._is_exhausted = self._is_exhausted[parent]
        self._width = self._width[parent]
        self._width[is_new] = self._widths(self._open[is_new[now.number]])
        self._width[self._is_exhausted] = 0

    def _reached(self, child: IntArray, children: int) -> BoolArray:
        """Tell which children of the open parts reach the targets."""
        if self._only_k:
            sizes = np.bincount(child, self._problem.rows[self._open], minlength=children)
            reached: BoolArray = sizes >= self._k
            return reached
        is_open = np.zeros(len(self._part), dtype=np.bool_)
        is_open[self._open] = True
        classes = np.zeros(len(self._part), dtype=np.int64)
        classes[self._open] = child
        return reach(self._targets, self._census.count(classes, children, is_open))

    def _keep_open(self, is_open: BoolArray) -> None:
        """Close all open parts but these."""
        parts = self._segments(self._open)
        self._open = self._open[is_open[parts.number]]
        self._width, self._is_exhausted = self._width[is_open], self._is_exhausted[is_open]

    def _segments(self, combinations: IntArray) -> Segments:
        return Segments.of(self._part[combinations])

    def _widths(self, combinations: IntArray) -> FloatArray:
        parts = self._segments(combinations)
        widths = [cutter.width(combinations, parts) for cutter in self._cutters]
        weighted: FloatArray = np.stack(widths, axis=1) * self._problem.weights
        return weighted
