"""Which columns, alone or together, single people out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.cells import numbered
from ppdm_sql.anonymity.numbering import Numbering
from ppdm_sql.model.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.subject import Subject

MOST_SETS = 200
"""Sets of columns that are looked at: small ones first."""


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """Some columns, and the share of rows that are alone in what these show."""

    columns: tuple[str, ...]
    unique_share: float


def singling_sets(subject: Subject, most_columns: int = 3) -> list[ColumnSet]:
    """Return the worst sets: every released column alone, and QUASI columns together.

    Sorted by the share of unique rows; sets in which nobody is unique are left out.
    """
    released = [c for c in subject.columns if c.role is not Role.KEY]
    quasi = [c.name for c in released if c.role is Role.QUASI]
    codes = {c.name: _dense(c.released.codes()) for c in released}
    sets: list[tuple[str, ...]] = [(c.name,) for c in released]
    for size in range(2, most_columns + 1):
        sets += combinations(quasi, size)
    if len(quasi) > most_columns:
        sets.append(tuple(quasi))
    found = [ColumnSet(chosen, _unique_share(chosen, codes)) for chosen in sets[:MOST_SETS]]
    return sorted(
        (one for one in found if one.unique_share > 0),
        key=lambda one: (-one.unique_share, len(one.columns)),
    )


def _dense(codes: IntArray) -> IntArray:
    return np.unique(codes, return_inverse=True)[1]


def _unique_share(chosen: tuple[str, ...], codes: Mapping[str, IntArray]) -> float:
    parts = [codes[name] for name in chosen]
    rows = len(parts[0])
    if not rows:
        return 0.0
    whole = numbered(parts, rows)
    numbers, count = Numbering().number(whole, int(whole.max()) + 1)
    times = np.bincount(numbers, minlength=count)
    return float((times == 1).sum() / rows)
