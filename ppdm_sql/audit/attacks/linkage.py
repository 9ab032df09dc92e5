"""Record linkage: which released row is likest to what is known of somebody?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.likeness import is_comparable, unlikeness
from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.tools.units import is_turned_alone, safe_unit
from ppdm_sql.audit.read.subject import Values

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ppdm_sql.audit.attacks.likeness import Unlikeness
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.audit.read.subject import Column, Subject
    from ppdm_sql.groups.search import IntArray

MOST_ROWS = 200_000
"""Rows that somebody is looked for in: all of them, as long as there are not more."""
MOST_PEOPLE = 2_000
_COMPARISONS = 40_000_000
_BLOCK = 4_000_000
"""Comparisons at a time, to bound the memory of all distances."""
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class RecordLinkage:
    """The likeliest released row by all columns that can be compared, generalized ones too."""

    name: ClassVar[str] = "record_linkage"
    needs: ClassVar[Needs] = Needs.PERSON
    knowledge: ClassVar[str] = (
        "all original values of a person but the KEY, and of each column how far it was moved and"
        " whether its order was reversed"
    )

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole."""
        if target.scope is not AimKind.TABLE or scene.sample.rows < 2:
            return False
        return any(is_comparable(column) for column in target.columns)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Look for people of the release among its rows; ties are broken by lot."""
        generator = scene.generator(self.name)
        everybody = scene.everybody or scene.sample
        pool = everybody.sample(MOST_ROWS, generator)
        names = {column.name for column in target.columns}
        compared = {
            column.name: found
            for column in pool.columns
            if column.name in names and (found := unlikeness(column)) is not None
        }
        columns = [*compared.values(), *map(_ranks_of_lengths, _turned_groups(pool, names))]
        people = min(MOST_PEOPLE, max(_COMPARISONS // pool.rows, 1), pool.rows)
        wanted = np.sort(generator.choice(pool.rows, people, replace=False))
        whose = "one of the right person"
        among = "all" if pool.rows == everybody.rows else "drawn"
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            ", ".join(compared),
            correct_links(columns, wanted, pool.rows, pool.repeated_persons),
            1 / pool.rows,
            f"for {SHARE} of {people:,} rows looked for, the nearest of {among} {pool.rows:,}"
            f" released rows is {'the right one' if pool.repeated_persons is None else whose}",
            people,
        )


def _turned_groups(pool: Subject, names: Collection[str]) -> list[list[Column]]:
    """Return columns that were rotated together and nothing more."""
    groups: dict[int, list[Column]] = {}
    for column in pool.columns:
        if column.name in names and column.is_numeric and is_turned_alone(column):
            groups.setdefault(column.group, []).append(column)
    return [group for group in groups.values() if len(group) > 1]


def _ranks_of_lengths(group: Sequence[Column]) -> Unlikeness:
    """Compare rows by what a turn keeps: how far they are from 0."""
    parts = ([c.original.numbers for c in group], [c.released.numbers for c in group])
    sides = [np.stack([part for part in side if part is not None]) for side in parts]
    before, after = (Values(np.linalg.norm(side / safe_unit(side), axis=0)) for side in sides)
    found = unlikeness(replace(group[0], original=before, released=after))
    assert found is not None
    return found


def correct_links(
    columns: Sequence[Unlikeness], wanted: IntArray, rows: int, person: IntArray | None
) -> float:
    """Return the expected share of right links when each takes the likeliest row.

    Any row of the right person is a right one.
    """
    right = 0.0
    step = max(_BLOCK // rows, 1)
    for start in range(0, len(wanted), step):  # blocks of people, not rows
        block = wanted[start : start + step]
        distance = np.zeros((len(block), rows))
        for column in columns:
            distance += column.of(block)
        likeliest = distance <= distance.min(axis=1)[:, None] + _EQUAL
        if person is None:
            found = likeliest[np.arange(len(block)), block]
        else:
            found = (likeliest & (person[block][:, None] == person)).sum(axis=1)
        right += float((found / likeliest.sum(axis=1)).sum())
    return right / len(wanted)
