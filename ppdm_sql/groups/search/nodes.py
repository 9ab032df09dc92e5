"""One node of the lattice, checked: what it suppresses, what it costs, what it says of others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.census import Census
from ppdm_sql.groups.search.lattice import Lattice
from ppdm_sql.groups.search.losses import LossTable
from ppdm_sql.groups.search.reach import reach, shortfall
from ppdm_sql.groups.search.targets import K, MergedTarget, MixedTarget, OpenTarget

if TYPE_CHECKING:
    from ppdm_sql.groups.search.losses import Loss
    from ppdm_sql.groups.search.problem import BoolArray, IntArray, Problem
    from ppdm_sql.groups.search.targets import Target

_SMALL_SPACE = 4
"""Keys are counted without numbering them while their space is this many times their number."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a node and, through it, of all nodes below."""

    is_allowed: bool
    """Targets are reached with no more rows suppressed than may be."""
    is_hopeless: bool
    """Neither this node nor any below is allowed; nothing else is known of it."""
    loss: float
    suppressed_rows: int
    kept: list[float] = field(repr=False)
    """Loss by axis and level of the rows that are not lost at every node below."""
    lost: float
    """Loss of the rows that are suppressed here and so at every node below."""


HOPELESS = Checked(
    is_allowed=False, is_hopeless=True, loss=1.0, suppressed_rows=0, kept=[], lost=0.0
)
"""All that there is to say of a node that loses too many rows."""


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
        self._merged = tuple(t for t in targets if isinstance(t, MergedTarget))
        self._mixed = tuple(t for t in targets if isinstance(t, MixedTarget))
        self._open = tuple(t for t in targets if isinstance(t, OpenTarget))
        only_k = all(isinstance(target, K) for target in targets) and problem.person is None
        self._k = max((t.k for t in targets if isinstance(t, K)), default=1) if only_k else None
        self._weights = problem.rows.astype(np.float64)

    def check(self, levels: tuple[int, ...]) -> Checked:
        """Check the node at these levels."""
        self.checked += 1
        if self._k is not None:
            return self._judge(levels, self._smaller_than(self._k, levels))
        classes, number = self._lattice.classes(levels)
        counted = self._census.count(classes, number)
        merged = reach(self._merged, counted)
        failed = ~merged[classes]
        if not (self._mixed or self._open) or self.losses.count(failed) > self.limit:
            return self._judge(levels, failed)
        reached = merged & reach(self._open, counted)
        if self._census.persons is not None:
            reached &= reach(self._mixed, counted)
            return self._judge(levels, failed, ~reached[classes])
        short = shortfall(self._mixed, counted)
        reached &= short == 0
        return self._judge(levels, failed, ~reached[classes], float(short[merged].sum()))

    def classes(self, levels: tuple[int, ...]) -> tuple[IntArray, BoolArray]:
        """Return each combination's class at a node, and which combinations it suppresses."""
        classes, number = self._lattice.classes(levels)
        return classes, ~reach(self.targets, self._census.count(classes, number))[classes]

    def _smaller_than(self, k: int, levels: tuple[int, ...]) -> BoolArray:
        """Tell which combinations are in a class of fewer than k rows: the short way."""
        keys, space = self._lattice.keys(levels)
        if space > _SMALL_SPACE * len(keys):
            keys, space = self._lattice.number(keys, space)
        small: BoolArray = (np.bincount(keys, self._weights, minlength=space) < k)[keys]
        return small

    def _judge(
        self,
        levels: tuple[int, ...],
        lost: BoolArray,
        failed: BoolArray | None = None,
        short: float = 0.0,
    ) -> Checked:
        """Judge a node.

        Args:
            levels: The node.
            lost: The combinations that fail here and so at every node below.
            failed: All that fail here; None: the same.
            short: How many rows beside the lost ones cannot be kept at any node below.
        """
        losses = self.losses
        lost_rows = losses.count(lost)
        if lost_rows + short > self.limit:
            return HOPELESS
        kept = losses.totals - losses.sums(lost)
        here, suppressed = kept, lost_rows
        if failed is not None:
            here, suppressed = losses.totals - losses.sums(failed), losses.count(failed)
        total = suppressed * losses.axes + sum(
            float(here[offset + level])
            for offset, level in zip(losses.offsets, levels, strict=False)
        )
        if short:
            # Nobody knows which rows these are: they save at most what a row can lose at all.
            kept = losses.least_above(kept - short * losses.largest)
        return Checked(
            is_allowed=suppressed <= self.limit,
            is_hopeless=False,
            loss=losses.mean(total),
            suppressed_rows=int(suppressed),
            kept=kept.tolist(),
            lost=(lost_rows + short) * losses.axes,
        )
