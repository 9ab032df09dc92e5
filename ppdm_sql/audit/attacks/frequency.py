"""Match frequencies of aliases with a public marginal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_label, halves
from ppdm_sql.audit.attacks.tools.everybody import whole

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import IntArray


@dataclass(frozen=True, slots=True)
class Frequency:
    """Half of all rows stands for a public marginal of the other half."""

    name: ClassVar[str] = "frequency"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "how frequent the categories are among comparable people"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of categories, before and after."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or column.original.labels is None:
            return False
        if column.released.labels is None or column.original.numbers is not None:
            return False
        return len(column.label_pair()[0]) >= 4

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Take the n-th most frequent alias for the n-th most frequent category."""
        # Of all rows: how near frequencies can be and still be told apart goes with their number.
        x, y = whole(target.columns[0], scene).label_pair()
        generator = scene.generator(self.name + target.label)
        got = []
        for public, attacked in halves(len(x), generator):
            guess = by_frequency(x[public], y[attacked], generator)
            got.append((float((guess == x[attacked]).mean()), chance_label(x[attacked])))
        share, chance = np.mean(got, axis=0).tolist()
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"matching frequencies names {SHARE} of the values",
            len(x) - len(x) // 2,
        )


def by_frequency(public: IntArray, aliases: IntArray, generator: np.random.Generator) -> IntArray:
    """Return for each alias the public category of the same rank by frequency; -1 beyond them."""
    categories, ranked = _ranked(public, generator), _ranked(aliases, generator)
    meaning = np.full(int(aliases.max()) + 1, -1, dtype=np.int64)
    size = min(len(categories), len(ranked))
    meaning[ranked[:size]] = categories[:size]
    return meaning[aliases]


def _ranked(codes: IntArray, generator: np.random.Generator) -> IntArray:
    distinct, times = np.unique(codes, return_counts=True)
    # Equally frequent ones in any order: numbers of categories and aliases, which both count the
    # same rows, would tell which belong together.
    return distinct[np.lexsort((generator.random(len(distinct)), -times))]
