"""Which columns, alone or together, single people out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.cells import numbered
from ppdm_sql.groups.search.numbering import Numbering
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.read.subject import Subject
    from ppdm_sql.groups.search import IntArray

MOST_SETS = 200
"""Sets of columns that are looked at, small ones first, and all QUASI columns together."""


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """Some columns, and the share of people who are alone in what these show."""

    columns: tuple[str, ...]
    unique_share: float
    """Of persons; of rows where there is no KEY."""


def singling_sets(subject: Subject, most_columns: int = 3) -> list[ColumnSet]:
    """Return the worst sets: every released column alone, and QUASI columns together.

    Sorted by the share of those who are unique; sets in which nobody is are left out.
    """
    if not subject.rows:
        return []
    released = [c for c in subject.columns if c.role is not Role.KEY]
    quasi = [c.name for c in released if c.role is Role.QUASI]
    codes = {c.name: dense(c.released.codes()) for c in released}
    sets: list[tuple[str, ...]] = [(c.name,) for c in released]
    for size in range(2, most_columns + 1):
        sets += combinations(quasi, size)
    sets = sets[:MOST_SETS]
    if len(quasi) > most_columns:
        sets.append(tuple(quasi))
    person = None if subject.repeated_persons is None else dense(subject.repeated_persons)
    found = [
        ColumnSet(chosen, unique_share([codes[name] for name in chosen], person)) for chosen in sets
    ]
    return sorted(
        (one for one in found if one.unique_share > 0),
        key=lambda one: (-one.unique_share, len(one.columns)),
    )


def dense(codes: IntArray) -> IntArray:
    """Return the same numbers without gaps between them."""
    return np.unique(codes, return_inverse=True)[1]


def unique_share(codes: Sequence[IntArray], person: IntArray | None) -> float:
    """Return the share of people of whom some row shows what nobody else's does."""
    rows = len(codes[0])
    whole = numbered(codes, rows)
    numbers, count = Numbering().number(whole, int(whole.max()) + 1)
    if person is None:
        return float((np.bincount(numbers, minlength=count) == 1).sum() / rows)
    # Whoever is written last stands for a value; where a row is somebody else's, it is shared.
    last = np.empty(count, dtype=np.int64)
    last[numbers] = person
    is_shared = np.zeros(count, dtype=np.bool_)
    is_shared[numbers[last[numbers] != person]] = True
    alone = np.zeros(int(person.max()) + 1, dtype=np.bool_)
    alone[person[~is_shared[numbers]]] = True
    return float(alone.mean())
