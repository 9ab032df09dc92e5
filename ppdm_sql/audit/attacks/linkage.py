"""Record linkage: whose released row is nearest to what is known of them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.anonymity import FloatArray, IntArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target
    from ppdm_sql.audit.subject import Column

MOST_ROWS = 2_000
_BLOCK = 200


@dataclass(frozen=True, slots=True)
class RecordLinkage:
    """The nearest released row by all columns that can be compared, numbers by their ranks."""

    name: ClassVar[str] = "record_linkage"
    knowledge: ClassVar[str] = "all original values of a person but the KEY"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """The whole."""
        if target.scope is not Scope.TABLE or scene.sample.rows < 10:
            return False
        return bool(_comparable(target.columns))

    def run(self, target: Target, scene: Scene) -> Finding:
        """Link people of a sample to rows of the same sample; ties are broken by lot."""
        generator = scene.generator(self.name)
        sample = scene.sample.sample(MOST_ROWS, generator)
        names = {column.name for column in target.columns}
        columns = _comparable([column for column in sample.columns if column.name in names])
        share = correct_links(columns, sample.rows, generator)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            ", ".join(column.name for column in columns),
            share,
            1 / sample.rows,
            f"the nearest row is the right one for {SHARE} of {sample.rows:,} people, all"
            " of them in the sample",
            sample.rows,
        )


def correct_links(columns: Sequence[Column], rows: int, generator: np.random.Generator) -> float:
    """Return the expected share of right links when each person takes the nearest row."""
    numbers = [c for c in columns if c.is_numeric]
    texts = [c for c in columns if not c.is_numeric]
    x = np.stack([_ranks(c.original.numbers) for c in numbers], axis=1) if numbers else None
    y = np.stack([_ranks(c.released.numbers) for c in numbers], axis=1) if numbers else None
    right = 0.0
    for start in range(0, rows, _BLOCK):  # blocks, to bound the memory of all distances
        block = np.arange(start, min(start + _BLOCK, rows))
        distance = np.zeros((len(block), rows))
        if x is not None and y is not None:
            for i in range(x.shape[1]):
                distance += (x[block, i][:, None] - y[:, i]) ** 2
        for column in texts:
            before, after = column.original.labels, column.released.labels
            assert before is not None
            assert after is not None
            distance += before[block][:, None] != after
        least = distance.min(axis=1)
        own = distance[np.arange(len(block)), block]
        ties = (distance <= least[:, None] + 1e-12).sum(axis=1)
        right += float(((own <= least + 1e-12) / ties).sum())
    return right / rows


def _ranks(values: FloatArray | None) -> FloatArray:
    """Return ranks between 0 and 1, NULL in the middle: blind to translation and scale."""
    assert values is not None
    known = ~np.isnan(values)
    ranks = np.full(len(values), 0.5)
    ordered: FloatArray = np.sort(values[known])
    place: IntArray = np.searchsorted(ordered, values[known])
    ranks[known] = place / max(len(ordered) - 1, 1)
    return ranks


def _comparable(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return numbers, and categories that some rows show as they are."""
    return tuple(column for column in columns if column.is_numeric or _shows_some(column))


def _shows_some(column: Column) -> bool:
    before, after = column.original.labels, column.released.labels
    if before is None or after is None:
        return False
    return bool((before[column.original.known()] == after[column.original.known()]).any())
