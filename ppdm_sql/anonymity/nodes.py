"""One node of the lattice, checked: what it suppresses, what it costs, what it says of others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.census import Census
from ppdm_sql.anonymity.lattice import Lattice
from ppdm_sql.anonymity.losses import LossTable
from ppdm_sql.anonymity.targets import K, split_targets

if TYPE_CHECKING:
    from ppdm_sql.anonymity.losses import Loss
    from ppdm_sql.anonymity.problem import BoolArray, IntArray, Problem
    from ppdm_sql.anonymity.targets import Target

_SMALL_SPACE = 4
"""Keys are counted without numbering them while their space is this many times their number."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a node and, through it, of all nodes below."""

    is_allowed: bool
    """Targets are reached with no more rows suppressed than may be."""
    is_hopeless: bool
    """Nor is any node below allowed."""
    loss: float
    suppressed_rows: int
    kept: list[float] = field(repr=False)
    """Loss by axis and level of the rows that are not lost at every node below."""
    lost: float
    """Loss of the rows that are suppressed here and so at every node below."""


class Checker:
    """Check nodes of one search."""

    def __init__(
        self, problem: Problem, targets: tuple[Target, ...], suppression: float, loss: Loss
    ) -> None:
        self.problem = problem
        self.targets = targets
        self.losses = LossTable(problem, loss)
        self.limit = math.floor(suppression * problem.treated + 1e-9)
        self.checked = 0
        self._lattice = Lattice(problem)
        self._census = Census(problem)
        self._merging, self._others = split_targets(targets)
        # Without suppression and with every row a person, a mixture of distributions is as
        # diverse and as close as the worst of them: every target survives merging.
        self._all_survive = self.limit == 0 and problem.person is None
        only_k = all(isinstance(target, K) for target in targets) and problem.person is None
        self._k = max((t.k for t in targets if isinstance(t, K)), default=1) if only_k else None
        self._weights = problem.rows.astype(np.float64)

    def check(self, levels: tuple[int, ...]) -> Checked:
        """Check the node at these levels."""
        self.checked += 1
        if self._k is not None:
            failed = self._small(levels, self._k)
            return self._judge(levels, failed, failed)
        classes, count = self._lattice.classes(levels)
        surely = self._census.reach(self._merging, classes, count)
        failed = ~surely[classes]
        if not self._others or self.losses.count(failed) > self.limit:
            return self._judge(levels, failed, failed)
        reached = surely & self._census.reach(self._others, classes, count)
        return self._judge(levels, failed, ~reached[classes])

    def classes(self, levels: tuple[int, ...]) -> tuple[IntArray, BoolArray]:
        """Return each combination's class at a node, and which combinations it suppresses."""
        classes, count = self._lattice.classes(levels)
        return classes, ~self._census.reach(self.targets, classes, count)[classes]

    def _small(self, levels: tuple[int, ...], k: int) -> BoolArray:
        keys, space = self._lattice.keys(levels)
        if space > _SMALL_SPACE * len(keys):
            keys, space = self._lattice.number(keys, space)
        small: BoolArray = (np.bincount(keys, self._weights, minlength=space) < k)[keys]
        return small

    def _judge(self, levels: tuple[int, ...], surely: BoolArray, failed: BoolArray) -> Checked:
        """Judge a node by the combinations that fail it, and those that fail all below too."""
        losses = self.losses
        lost_rows = losses.count(surely)
        kept = (losses.totals - losses.sums(surely)).tolist()
        lost = lost_rows * losses.axes
        suppressed, at_levels, beyond = lost_rows, kept, lost
        if failed is not surely:
            suppressed = losses.count(failed)
            at_levels = (losses.totals - losses.sums(failed)).tolist()
            beyond = suppressed * losses.axes
        total = beyond + sum(
            at_levels[offset + level] for offset, level in zip(losses.offsets, levels, strict=False)
        )
        is_allowed = suppressed <= self.limit
        return Checked(
            is_allowed=is_allowed,
            is_hopeless=lost_rows > self.limit or (self._all_survive and not is_allowed),
            loss=losses.mean(total),
            suppressed_rows=int(suppressed),
            kept=kept,
            lost=lost,
        )
