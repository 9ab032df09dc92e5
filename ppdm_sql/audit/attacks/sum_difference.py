"""Two sums of nearly the same people: their difference is the few who came or left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, recovered, tolerance
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.attacks.tools.units import safe_unit
from ppdm_sql.errors import plural

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene

_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class SumDifference:
    """Who came since is drawn by lot: the ledger knows how many, not who.

    What this version's sum is off by is measured; that of the other one is taken as kept.
    """

    name: ClassVar[str] = "sum_difference"
    needs: ClassVar[Needs] = Needs.OTHERS
    knowledge: ClassVar[str] = "this version, and one that differs by a few rows"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns whose sums were published of a few rows more, or fewer."""
        column = target.columns[0]
        return target.scope is AimKind.COLUMN and column.name in scene.newcomers

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Guess that each of them has the mean of what the sums differ by."""
        column = whole(target.columns[0], scene)
        x, y = column.pair()
        unit = safe_unit(x, y)
        x, y = x / unit, y / unit
        few = min(scene.newcomers[column.name], len(x))
        near = tolerance(x)
        generator = scene.generator(self.name + target.label)
        drawn = [generator.choice(len(x), few, replace=False) for _ in range(_DRAWS)]
        came = x[np.stack(drawn)]
        guess = came.mean(axis=1, keepdims=True) + float(np.sum(y - x)) / few
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            recovered(came.ravel(), np.repeat(guess, few, axis=1).ravel(), near),
            chance_number(x, near),
            f"another publication differs from this one by {plural(few, 'row')}: the difference of the"
            f" sums gives {SHARE} of their values",
            len(x),
        )
