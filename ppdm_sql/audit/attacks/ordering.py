"""Match ranks with a public distribution: what keeps order can be put back in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, halves, recovered, tolerance

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray


@dataclass(frozen=True, slots=True)
class Ordering:
    """Half of the sample, without its order, stands for a public distribution of the other half."""

    name: ClassVar[str] = "ordering"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = (
        "how the original is distributed among comparable people, and whether its order was reversed"
    )

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of numbers."""
        if target.scope is not AimKind.COLUMN or not target.columns[0].is_numeric:
            return False
        return len(target.columns[0].pair()[0]) >= 4

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Give the value of a rank to whoever has the rank, in the right one of both directions."""
        x, y = target.columns[0].pair()
        near = tolerance(x)
        got = []
        for public, attacked in halves(len(x), scene.generator(self.name + target.label)):
            both = (by_rank(x[public], sign * y[attacked]) for sign in (1.0, -1.0))
            shares = [recovered(x[attacked], guess, near) for guess in both]
            got.append((*shares, chance_number(x[attacked], near)))
        onward, around, chance = np.mean(got, axis=0).tolist()
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            max(onward, around),
            chance,
            f"matching ranks with a public distribution gives {SHARE} of the values",
            len(x) - len(x) // 2,
        )


def by_rank(public: FloatArray, y: FloatArray) -> FloatArray:
    """Return for each released number the public quantile of its rank, equal ones alike."""
    ordered = np.sort(y)
    middle = (
        np.searchsorted(ordered, y, side="left") + np.searchsorted(ordered, y, side="right")
    ) / 2
    # What np.quantile does, in a fraction of its time for as many quantiles as rows.
    at = np.clip(middle / len(y), 0, 1) * (len(public) - 1)
    return np.interp(at, np.arange(len(public)), np.sort(public))
