"""Match frequencies of aliases with a public marginal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Needs, Scope
from ppdm_sql.audit.attacks.scoring import chance_label

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target


@dataclass(frozen=True, slots=True)
class Frequency:
    """Half of the sample stands for a public marginal of the other half."""

    name: ClassVar[str] = "frequency"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "how frequent the categories are among comparable people"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Columns of categories, before and after."""
        column = target.columns[0]
        if target.scope is not Scope.COLUMN or column.original.labels is None:
            return False
        if column.released.labels is None or column.original.numbers is not None:
            return False
        return len(column.label_pair()[0]) >= 4

    def run(self, target: Target, scene: Scene) -> Finding:
        """Take the n-th most frequent alias for the n-th most frequent category."""
        x, y = target.columns[0].label_pair()
        order = scene.generator(self.name + target.label).permutation(len(x))
        public, attacked = order[: len(x) // 2], order[len(x) // 2 :]
        guess = by_frequency(x[public], y[attacked])
        share = float((guess == x[attacked]).mean())
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance_label(x[attacked]),
            f"matching frequencies names {SHARE} of the values",
            len(attacked),
        )


def by_frequency(public: IntArray, aliases: IntArray) -> IntArray:
    """Return for each alias the public category of the same rank by frequency; -1 beyond them."""
    categories = _ranked(public)
    ranked = _ranked(aliases)
    meaning = np.full(int(aliases.max()) + 1, -1, dtype=np.int64)
    size = min(len(categories), len(ranked))
    meaning[ranked[:size]] = categories[:size]
    return meaning[aliases]


def _ranked(codes: IntArray) -> IntArray:
    distinct, times = np.unique(codes, return_counts=True)
    return distinct[np.argsort(-times, kind="stable")]
