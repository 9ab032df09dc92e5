"""Boxes of the lattice: all nodes between a lowest and a highest one."""

from __future__ import annotations

import math
from typing import TypeAlias

Levels: TypeAlias = tuple[int, ...]
"""A node: one level an axis."""


Box: TypeAlias = tuple[Levels, Levels]
"""A lowest and a highest node."""


def whole(heights: Levels) -> Box:
    """Return the box of the whole lattice."""
    return (0,) * len(heights), heights


def volume(low: Levels, high: Levels) -> int:
    """Return how many nodes a box has."""
    return math.prod(top - bottom + 1 for bottom, top in zip(low, high, strict=True))


def with_level(levels: Levels, axis: int, level: int) -> Levels:
    """Return a node moved along one axis."""
    return (*levels[:axis], level, *levels[axis + 1 :])


def halve(low: Levels, high: Levels, axis: int) -> tuple[tuple[Levels, Levels], ...]:
    """Cut a box in two along an axis: the lower half and the upper one."""
    middle = (low[axis] + high[axis]) // 2
    return (
        (low, with_level(high, axis, middle)),
        (with_level(low, axis, middle + 1), high),
    )
