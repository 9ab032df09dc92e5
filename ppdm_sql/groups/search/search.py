"""The best node of the lattice, with proof, by branch and bound on boxes of nodes.

A box is all nodes between a lowest and a highest one; the lattice is one box. Rows that miss k
or distinct l at the highest node miss it everywhere in the box, so they are lost there; the
others lose at least what they lose at the lowest node. That bounds the loss of the whole box
from below, axis by axis: levels that cannot win are cut off its top, a box that cannot win is
dropped, and one that can is halved. A highest node that loses too many rows ends its box. Only
highest nodes are ever checked, and nothing is as large as the lattice.

Where the lattice is large, a node that is hard to beat is climbed to first (`climbing`): where
time runs out before the proof ends, that is the answer, beside the bound of the open boxes.

Of nodes with equal loss (to 12 decimals) the one with lexicographically smaller levels wins.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from ppdm_sql.groups.search.boxes import Box, Levels, halve, volume, whole, with_level
from ppdm_sql.groups.search.climbing import LARGE, climb
from ppdm_sql.groups.search.nodes import Checked, Checker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ppdm_sql.groups.search.losses import Loss
    from ppdm_sql.groups.search.problem import BoolArray, IntArray, Problem
    from ppdm_sql.groups.search.targets import Target

_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node found, and how much had to be looked at to be sure."""

    levels: Levels | None
    """One level an axis; None: no node reaches the targets (or none was found in time)."""
    loss: float
    """The chosen loss of the treated rows; 1 where there is no node."""
    classes: IntArray | None = field(repr=False)
    """The class number of each combination."""
    suppressed: BoolArray | None = field(repr=False)
    """The combinations that are suppressed."""
    suppressed_rows: int
    nodes: int
    """Nodes of the lattice."""
    checked: int
    is_proven: bool
    """False: time ran out, and a better node may exist."""
    least: float = 0.0
    """What any node loses at least, as far as it is known; the loss itself where it is proven."""

    @property
    def pruned(self) -> int:
        """Nodes that never had to be checked (or, out of time, were not reached)."""
        return self.nodes - self.checked


def search_optimal(
    problem: Problem,
    targets: Sequence[Target],
    suppression: float,
    loss: Loss,
    time_limit_s: float = 60,
    on_progress: Callable[[float], None] | None = None,
    box: Box | None = None,
) -> SearchResult:
    """Find the node of least loss that reaches the targets.

    Args:
        problem: The treated rows.
        targets: What every class that is not suppressed must reach.
        suppression: Share of the treated rows that may be suppressed, 0…1.
        loss: The loss to minimize.
        time_limit_s: When to stop looking and hand over the best node so far.
        on_progress: Told now and then which share of the lattice is settled.
        box: The part of the lattice to search; by default all of it.
    """
    box = box or whole(problem.heights)
    search = _Search(Checker(problem, tuple(targets), suppression, loss), time_limit_s, box)
    is_proven = True
    for settled in search.run():
        if on_progress is not None:
            on_progress(settled)
        if search.is_late:
            is_proven = False
            break
    if search.best is None:
        return SearchResult(
            None, 1.0, None, None, 0, volume(*box), search.checker.checked, is_proven
        )
    best_loss, levels = search.best
    classes, suppressed = search.checker.classes(levels)
    return SearchResult(
        levels=levels,
        loss=best_loss,
        classes=classes,
        suppressed=suppressed,
        suppressed_rows=int(problem.rows[suppressed].sum()),
        nodes=volume(*box),
        checked=search.checker.checked,
        is_proven=is_proven,
        least=best_loss if is_proven else min(search.least, best_loss),
    )


class _Search:
    """The state of one search: what is checked, what is best, which boxes are open."""

    def __init__(self, checker: Checker, time_limit_s: float, box: Box) -> None:
        self._box = box
        self.checker = checker
        self.best: tuple[float, Levels] | None = None
        self._offsets = checker.losses.offsets
        self._mean = checker.losses.mean
        self.least = 0.0
        """What any node loses at least, as far as is known."""
        self._known: dict[Levels, Checked] = {}
        self._deadline = time.monotonic() + time_limit_s
        self._proof_begins = time.monotonic() + time_limit_s / 2

    @property
    def is_late(self) -> bool:
        """The time limit has passed."""
        return time.monotonic() > self._deadline

    def run(self) -> Iterator[float]:
        """Search to the end; yield the settled share of the lattice, again and again."""
        bottom, top = self._box
        yield from self._descend(bottom, top)
        nodes = volume(bottom, top)
        if self.best is not None and nodes >= LARGE:
            for _ in climb(self.best[1], bottom, top, nodes, self._loss_of):
                yield 0.0
                if time.monotonic() > self._proof_begins:
                    break
        yield from self._prove(bottom, top)

    def _loss_of(self, levels: Levels) -> float:
        checked = self._check(levels)
        return round(checked.loss, _DECIMALS) if checked.is_allowed else math.inf

    def _check(self, levels: Levels) -> Checked:
        known = self._known.get(levels)
        if known is None:
            known = self._known[levels] = self.checker.check(levels)
            if known.is_allowed:
                found = (round(known.loss, _DECIMALS), levels)
                self.best = found if self.best is None else min(self.best, found)
        return known

    def _descend(self, bottom: Levels, levels: Levels) -> Iterator[float]:
        """Walk down from the top, each time to the best node one level below.

        It ends at a good node, against which most boxes are dropped at once.
        """
        at = self._check(levels)
        while at.is_allowed:
            below = []
            for axis, level in enumerate(levels):
                if level > bottom[axis]:
                    lower = with_level(levels, axis, level - 1)
                    if (checked := self._check(lower)).is_allowed:
                        below.append((checked.loss, lower))
                    yield 0.0
            if not below or min(below)[0] > at.loss:
                return
            levels = min(below)[1]
            at = self._check(levels)

    def _prove(self, bottom: Levels, top: Levels) -> Iterator[float]:
        """Settle boxes, those with the lowest bound first, until none can win."""
        turn = count()  # equal bounds: first come, first served
        nodes = volume(bottom, top)
        open_nodes = nodes
        boxes = [(0.0, next(turn), bottom, top)]
        while boxes:
            bound, _, low, high = heapq.heappop(boxes)
            self.least = bound  # of all that are open: the best can lose no less
            open_nodes -= volume(low, high)
            if self._can_win(bound, low):
                for bounded, lowest, highest in self._settle(low, high):
                    heapq.heappush(boxes, (bounded, next(turn), lowest, highest))
                    open_nodes += volume(lowest, highest)
            yield 1 - open_nodes / nodes

    def _can_win(self, bound: float, low: Levels) -> bool:
        """Tell whether a box with this bound may hold a better node, or an equal one before."""
        return self.best is None or (round(bound, _DECIMALS), low) < self.best

    def _settle(self, low: Levels, high: Levels) -> list[tuple[float, Levels, Levels]]:
        """Check a box's highest node, lower it as far as it can, and return halves of the box."""
        while True:
            checked = self._check(high)
            if checked.is_hopeless or not self._can_win(self._bound(checked, low), low):
                return []
            lowered = self._lower(checked, low, high)
            if lowered == high:
                break
            high = lowered
        if low == high:
            return []
        # Where the first step costs most, the upper half is the soonest dropped.
        axis = max(
            (axis for axis in range(len(low)) if low[axis] < high[axis]),
            key=lambda axis: (
                checked.kept[self._offsets[axis] + low[axis] + 1]
                - checked.kept[self._offsets[axis] + low[axis]]
            ),
        )
        return [
            (bound, corner, end)
            for corner, end in halve(low, high, axis)
            if self._can_win(bound := self._bound(checked, corner), corner)
        ]

    def _bound(self, checked: Checked, levels: Levels) -> float:
        """Bound the loss at these levels from below, by a checked node above them."""
        kept = sum(
            checked.kept[offset + level]
            for offset, level in zip(self._offsets, levels, strict=False)
        )
        return self._mean(kept + checked.lost)

    def _lower(self, checked: Checked, low: Levels, high: Levels) -> Levels:
        """Return the highest node below which all that can win in a box lies."""
        base = self._bound(checked, low)
        lowered = []
        for axis, (bottom, level) in enumerate(zip(low, high, strict=True)):
            kept = checked.kept[self._offsets[axis] : self._offsets[axis + 1]]
            while level > bottom:
                bound = base + self._mean(kept[level] - kept[bottom])
                if self._can_win(bound, with_level(low, axis, level)):
                    break
                level -= 1
            lowered.append(level)
        return tuple(lowered)
