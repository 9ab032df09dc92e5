"""Dense numbers for keys: equal keys get one number, numbers run from 0 without gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.groups.search.problem import IntArray

_LARGEST_TABLE = 1 << 22
"""Keys up to here are numbered through a table, which is several times faster than sorting."""


class Numbering:
    """Number keys densely, with one table kept between calls."""

    def __init__(self) -> None:
        self._table = np.empty(0, dtype=np.int64)

    def number(self, keys: IntArray, space: int) -> tuple[IntArray, int]:
        """Return each key's number and how many there are; keys are in 0…space-1."""
        if space > max(_LARGEST_TABLE, 2 * len(keys)):
            distinct, numbers = np.unique(keys, return_inverse=True)
            return numbers, len(distinct)
        if space > len(self._table):
            self._table = np.empty(space, dtype=np.int64)
        # Whatever stood in the table is overwritten before it is read: nothing to clear.
        at = np.arange(len(keys))
        self._table[keys] = at
        chosen = self._table[keys]
        ranks = np.cumsum(chosen == at)
        numbers = (ranks - 1)[chosen]
        return numbers, int(ranks[-1]) if len(ranks) else 0
