"""Ask again and again, and average the noise away: must gain nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import gain
from ppdm_sql.audit.attacks.tools.units import safe_unit

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray


@dataclass(frozen=True, slots=True)
class Averaging:
    """The mean of several answers to the same question about the same people."""

    name: ClassVar[str] = "averaging"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns that were asked for again."""
        if target.scope is not AimKind.COLUMN or not target.columns[0].is_numeric:
            return False
        return target.columns[0].name in scene.again

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how much of the noise's variance the mean is rid of."""
        column = target.columns[0]
        before, after = column.original.numbers, column.released.numbers
        assert before is not None
        assert after is not None
        share = averaged_away(before, (after, *scene.again[column.name]))
        asked = len(scene.again[column.name]) + 1
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            0.0,
            f"asking {asked} times and averaging takes away {SHARE} of the noise",
        )


def averaged_away(x: FloatArray, answers: tuple[FloatArray, ...]) -> float:
    """Return the share of the first answer's error variance that the mean of all is rid of."""
    together = np.stack((x, *answers))
    known = ~np.isnan(together).any(axis=0)
    if known.sum() < 2:
        return 0.0
    rows = together[:, known] / safe_unit(together)
    return gain(float(np.var(rows[1] - rows[0])), float(np.var(rows[1:].mean(axis=0) - rows[0])))
