"""Good nodes soon, where a lattice is too large to be proven soon: moves from a node to better ones.

A move changes one axis by a level, or exchanges a level of one axis for one of another. Where no
move helps, a few axes are pushed about, and it goes on from there. Which moves are tried first is
drawn from a fixed seed: the same data give the same node.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.boxes import with_level

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ppdm_sql.groups.search.boxes import Levels

LARGE = 20_000
"""Nodes from which climbing pays: fewer are proven at once."""
_HUGE = 5_000_000
"""Nodes from which it is worth while to push axes about."""
_PUSHED = 3
_PATIENCE = 60
"""How many pushes in a row may bring nothing."""


def climb(
    start: Levels, low: Levels, high: Levels, nodes: int, loss_of: Callable[[Levels], float]
) -> Iterator[None]:
    """Visit better and better nodes between two; yields after each check, so that one may stop.

    `loss_of` checks a node, once, and keeps the best one: infinite where it is not allowed.
    """
    random = np.random.default_rng(0)
    best = yield from _to_the_top(start, low, high, random, loss_of)
    failed = 0
    while nodes >= _HUGE and failed < _PATIENCE:
        pushed = _pushed(best, low, high, random)
        found = yield from _to_the_top(pushed, low, high, random, loss_of)
        failed += 1
        if loss_of(found) < loss_of(best):
            best, failed = found, 0


def _to_the_top(
    levels: Levels,
    low: Levels,
    high: Levels,
    random: np.random.Generator,
    loss_of: Callable[[Levels], float],
) -> Generator[None, None, Levels]:
    """Move while a move helps; return where it ends."""
    loss = loss_of(levels)
    is_moving = True
    while is_moving:
        is_moving = False
        for other in _moves(levels, low, high, random):
            found = loss_of(other)
            yield
            if found < loss:
                loss, levels, is_moving = found, other, True
                break
    return levels


def _moves(
    levels: Levels, low: Levels, high: Levels, random: np.random.Generator
) -> Iterator[Levels]:
    axes = len(levels)
    for axis in range(axes):
        for level in (levels[axis] - 1, levels[axis] + 1):
            if low[axis] <= level <= high[axis]:
                yield with_level(levels, axis, level)
    exchanges = list(permutations(range(axes), 2))
    for at in random.permutation(len(exchanges)):
        down, up = exchanges[at]
        if levels[down] > low[down] and levels[up] < high[up]:
            yield with_level(with_level(levels, down, levels[down] - 1), up, levels[up] + 1)


def _pushed(levels: Levels, low: Levels, high: Levels, random: np.random.Generator) -> Levels:
    chosen = random.choice(len(levels), min(_PUSHED, len(levels)), replace=False)
    for axis, step in zip(chosen, random.choice((-1, 1), len(chosen)), strict=True):
        level = min(max(levels[axis] + int(step), low[axis]), high[axis])
        levels = with_level(levels, int(axis), level)
    return levels
