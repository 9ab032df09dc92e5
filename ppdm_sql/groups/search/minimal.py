"""Every minimal node of the lattice: Incognito's answer (LeFevre et al., 2005).

A node is minimal when it is allowed and no node below it is. Boxes of nodes again: a highest
node that is hopeless ends its box; an allowed lowest node is the only one of its box that can be
minimal, whether targets are monotone or not, because all others lie above it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.boxes import Box, Levels, halve, volume, whole
from ppdm_sql.groups.search.nodes import Checker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.groups.search.losses import Loss
    from ppdm_sql.groups.search.nodes import Checked
    from ppdm_sql.groups.search.problem import Problem
    from ppdm_sql.groups.search.targets import Target


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is allowed."""

    levels: Levels
    loss: float
    suppressed_rows: int


@dataclass(frozen=True, slots=True)
class MinimalNodes:
    """All minimal nodes by loss, then by levels, and how much had to be looked at."""

    found: tuple[Node, ...]
    nodes: int
    """Nodes of the lattice."""
    checked: int
    is_proven: bool
    """False: time ran out; some may be missing, and of those found some may not be minimal."""


def list_minimal(
    problem: Problem,
    targets: Sequence[Target],
    suppression: float,
    loss: Loss,
    time_limit_s: float = 60,
    on_progress: Callable[[float], None] | None = None,
    box: Box | None = None,
) -> MinimalNodes:
    """Find every node that reaches the targets while no node below it does.

    The arguments are those of `search_optimal`; the loss only puts the nodes in order.
    """
    listing = _Listing(Checker(problem, tuple(targets), suppression, loss))
    deadline = time.monotonic() + time_limit_s
    box = box or whole(problem.heights)
    boxes = [box]
    nodes = open_nodes = volume(*box)
    is_proven = True
    while boxes:
        if time.monotonic() > deadline:
            is_proven = False
            break
        low, high = boxes.pop()
        open_nodes -= volume(low, high)
        halves = listing.settle(low, high)
        open_nodes += sum(volume(*half) for half in halves)
        boxes += halves
        if on_progress is not None:
            on_progress(1 - open_nodes / nodes)
    return MinimalNodes(
        found=tuple(sorted(listing.nodes(), key=lambda node: (round(node.loss, 12), node.levels))),
        nodes=nodes,
        checked=listing.checker.checked,
        is_proven=is_proven,
    )


class _Listing:
    """What is known so far: allowed nodes with none below, hopeless ones with none above."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        axes = len(checker.problem.axes)
        self._known: dict[Levels, Checked] = {}
        self._allowed = np.empty((0, axes), dtype=np.int64)
        self._hopeless = np.empty((0, axes), dtype=np.int64)

    def settle(self, low: Levels, high: Levels) -> list[tuple[Levels, Levels]]:
        """Settle a box, or return its halves, the lower one last: the next to be settled."""
        if self._is_dominated(low) or self._is_hopeless(high):
            return []
        if self._check(low).is_allowed or low == high or self._check(high).is_hopeless:
            return []
        axis = max(range(len(low)), key=lambda axis: high[axis] - low[axis])
        lower, upper = halve(low, high, axis)
        return [upper, lower]

    def nodes(self) -> list[Node]:
        """Return the allowed nodes that have no other below."""
        return [
            Node(levels, self._known[levels].loss, self._known[levels].suppressed_rows)
            for levels in map(tuple, self._allowed.tolist())
        ]

    def _check(self, levels: Levels) -> Checked:
        known = self._known.get(levels)
        if known is None:
            known = self._known[levels] = self.checker.check(levels)
            at = np.array(levels)
            if known.is_allowed:
                above = (self._allowed >= at).all(axis=1)
                if not self._is_dominated(levels):
                    self._allowed = np.vstack((self._allowed[~above], at))
            elif known.is_hopeless:
                below = (self._hopeless <= at).all(axis=1)
                self._hopeless = np.vstack((self._hopeless[~below], at))
        return known

    def _is_dominated(self, levels: Levels) -> bool:
        """Tell whether an allowed node lies at or below these levels."""
        return bool((self._allowed <= np.array(levels)).all(axis=1).any())

    def _is_hopeless(self, levels: Levels) -> bool:
        return bool((self._hopeless >= np.array(levels)).all(axis=1).any())
