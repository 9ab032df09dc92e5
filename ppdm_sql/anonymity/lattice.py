"""Nodes of the generalization lattice as keys of combinations.

The axes are cut in halves again and again; a half's keys at given levels are numbered densely
and remembered. So a node costs one multiplication and one addition a combination, and its key
space stays small: at most distinct left keys times distinct right ones, which 64
bits always hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.numbering import Numbering

if TYPE_CHECKING:
    from ppdm_sql.anonymity.problem import IntArray, Problem

_REMEMBERED_BYTES = 256 << 20
_LEAST_REMEMBERED = 16


class Lattice:
    """Keys of a problem's combinations at any levels."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._numbering = Numbering()
        self._fixed = self._numbering.number(
            *_from_zero(problem.fixed.astype(np.int64, copy=False))
        )
        self._remembered: dict[tuple[int, tuple[int, ...]], tuple[IntArray, int]] = {}
        self._room = max(_LEAST_REMEMBERED, _REMEMBERED_BYTES // max(1, problem.rows.nbytes))

    def keys(self, levels: tuple[int, ...]) -> tuple[IntArray, int]:
        """Return a key for each combination, equal within a class, and the space of keys."""
        keys, space = self._keys(0, levels)
        fixed, fixes = self._fixed
        return (keys, space) if fixes <= 1 else (keys * fixes + fixed, space * fixes)

    def classes(self, levels: tuple[int, ...]) -> tuple[IntArray, int]:
        """Return the class number of each combination and how many classes there are."""
        return self.number(*self.keys(levels))

    def number(self, keys: IntArray, space: int) -> tuple[IntArray, int]:
        """Number keys densely."""
        return self._numbering.number(keys, space)

    def _keys(self, first: int, levels: tuple[int, ...]) -> tuple[IntArray, int]:
        if len(levels) == 1:
            groups = self._problem.axes[first].groups[levels[0]]
            return groups[self._problem.codes[first]], int(groups.max(initial=0)) + 1
        half = len(levels) // 2
        left, left_space = self._half(first, levels[:half])
        right, right_space = self._half(first + half, levels[half:])
        if right_space == 1:
            return left, left_space
        return left * right_space + right, left_space * right_space

    def _half(self, first: int, levels: tuple[int, ...]) -> tuple[IntArray, int]:
        found = self._remembered.get((first, levels))
        if found is None:
            keys, space = self._keys(first, levels)
            found = (keys, space) if len(levels) == 1 else self.number(keys, space)
            if len(self._remembered) >= self._room:
                self._remembered.clear()
            self._remembered[first, levels] = found
        return found


def _from_zero(codes: IntArray) -> tuple[IntArray, int]:
    """Return codes that begin at 0, and their space."""
    if not len(codes):
        return codes, 1
    least = int(codes.min())
    return codes - least, int(codes.max()) - least + 1
