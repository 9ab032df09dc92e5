"""Nodes of the generalization lattice as keys of combinations.

The axes are cut in halves again and again. A half has far fewer distinct combinations of its own
than the whole, so its keys at given levels are found on those, numbered densely and remembered.
A node then costs two look-ups and an addition a combination, and its key space stays small: at
most distinct left keys times distinct right ones, which 64 bits always hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.numbering import Numbering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.search.boxes import Levels
    from ppdm_sql.groups.search.problem import Axis, IntArray, Problem

_REMEMBERED_BYTES = 64 << 20
_LEAST_REMEMBERED = 16


class Lattice:
    """Keys of a problem's combinations at any levels."""

    def __init__(self, problem: Problem) -> None:
        self._numbering = Numbering()
        fixed = problem.fixed - problem.fixed.min(initial=0)
        self._fixed = self.number(fixed, int(fixed.max(initial=0)) + 1)
        self._axes: _Axis | _Halves
        if len(problem.axes) == 1:
            self._axes = _Axis(problem.axes[0], problem.codes[0])
        else:
            self._axes = _halves(problem.axes, problem.codes, self._numbering)

    def keys(self, levels: Levels) -> tuple[IntArray, int]:
        """Return a key for each combination, equal within a class, and the space of keys."""
        keys, space = self._axes.keys(levels)
        fixed, fixes = self._fixed
        return (keys, space) if fixes <= 1 else (keys * fixes + fixed, space * fixes)

    def classes(self, levels: Levels) -> tuple[IntArray, int]:
        """Return the class number of each combination and how many classes there are."""
        return self.number(*self.keys(levels))

    def number(self, keys: IntArray, space: int) -> tuple[IntArray, int]:
        """Number keys densely."""
        return self._numbering.number(keys, space)


class _Axis:
    """Keys of one axis: groups of values, or of whatever holds the values."""

    def __init__(self, axis: Axis, codes: IntArray | None = None) -> None:
        self._groups = axis.groups if codes is None else tuple(g[codes] for g in axis.groups)
        self._spaces = [int(groups.max(initial=0)) + 1 for groups in axis.groups]

    def keys(self, levels: Levels) -> tuple[IntArray, int]:
        return self._groups[levels[0]], self._spaces[levels[0]]

    dense = keys


class _Halves:
    """Keys of several axes, from those of their two halves."""

    def __init__(
        self,
        axes: int,
        left: tuple[_Axis | _Halves, IntArray],
        right: tuple[_Axis | _Halves, IntArray],
        numbering: Numbering,
    ) -> None:
        self._cut = axes // 2
        self._left, self._left_at = left
        self._right, self._right_at = right
        self._numbering = numbering
        self._remembered: dict[Levels, tuple[IntArray, int]] = {}
        self._room = max(_LEAST_REMEMBERED, _REMEMBERED_BYTES // max(1, self._left_at.nbytes))

    def keys(self, levels: Levels) -> tuple[IntArray, int]:
        left, left_space = self._left.dense(levels[: self._cut])
        right, right_space = self._right.dense(levels[self._cut :])
        keys = (left * right_space)[self._left_at]
        keys += right[self._right_at]
        return keys, left_space * right_space

    def dense(self, levels: Levels) -> tuple[IntArray, int]:
        found = self._remembered.get(levels)
        if found is None:
            found = self._numbering.number(*self.keys(levels))
            if len(self._remembered) >= self._room:
                self._remembered.clear()
            self._remembered[levels] = found
        return found


def _halves(axes: Sequence[Axis], codes: IntArray, numbering: Numbering) -> _Halves:
    """Return the keys of several axes, combination by combination."""
    cut = len(axes) // 2
    left = _distinct(axes[:cut], codes[:cut], numbering)
    right = _distinct(axes[cut:], codes[cut:], numbering)
    return _Halves(len(axes), left, right, numbering)


def _distinct(
    axes: Sequence[Axis], codes: IntArray, numbering: Numbering
) -> tuple[_Axis | _Halves, IntArray]:
    """Return the keys of some axes' distinct combinations, and which each combination has."""
    if len(axes) == 1:
        return _Axis(axes[0]), codes[0]
    cut = len(axes) // 2
    left, left_at = _distinct(axes[:cut], codes[:cut], numbering)
    right, right_at = _distinct(axes[cut:], codes[cut:], numbering)
    rights = int(right_at.max(initial=0)) + 1
    lefts = int(left_at.max(initial=0)) + 1
    at, count = numbering.number(left_at * rights + right_at, lefts * rights)
    left_of, right_of = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    left_of[at], right_of[at] = left_at, right_at
    return _Halves(len(axes), (left, left_of), (right, right_of), numbering), at
