"""Record linkage: which released row is likest to what is known of somebody?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.likeness import is_comparable, unlikeness
from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Needs, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.likeness import Unlikeness
    from ppdm_sql.audit.attacks.protocol import Scene, Target

MOST_ROWS = 2_000
_BLOCK = 200
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class RecordLinkage:
    """The likeliest released row by all columns that can be compared, generalized ones too."""

    name: ClassVar[str] = "record_linkage"
    needs: ClassVar[Needs] = Needs.PERSON
    knowledge: ClassVar[str] = (
        "all original values of a person but the KEY, and of each column how far it was moved and"
        " whether it was turned around"
    )

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """The whole."""
        if target.scope is not Scope.TABLE or scene.sample.rows < 10:
            return False
        return any(is_comparable(column) for column in target.columns)

    def run(self, target: Target, scene: Scene) -> Finding:
        """Link people of a sample to rows of the same sample; ties are broken by lot."""
        sample = scene.sample.sample(MOST_ROWS, scene.generator(self.name))
        wide = {column.name: column for column in target.columns}
        compared = {
            column.name: found
            for column in sample.columns
            if column.name in wide and (found := unlikeness(column, wide[column.name])) is not None
        }
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            ", ".join(compared),
            correct_links(list(compared.values()), sample.rows),
            1 / sample.rows,
            f"the nearest row is the right one for {SHARE} of {sample.rows:,} people, all"
            " of them in the sample",
            sample.rows,
        )


def correct_links(columns: Sequence[Unlikeness], rows: int) -> float:
    """Return the expected share of right links when each person takes the likeliest row."""
    right = 0.0
    for start in range(0, rows, _BLOCK):  # blocks, to bound the memory of all distances
        block = np.arange(start, min(start + _BLOCK, rows))
        distance = np.zeros((len(block), rows))
        for column in columns:
            distance += column.of(block)
        least = distance.min(axis=1)
        own = distance[np.arange(len(block)), block]
        ties = (distance <= least[:, None] + _EQUAL).sum(axis=1)
        right += float(((own <= least + _EQUAL) / ties).sum())
    return right / rows
