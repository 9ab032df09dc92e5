"""Read the width of graded bands off the spacing of the values in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.band_edges import LEAST_STEP
from ppdm_sql.audit.attacks.protocol import NONE, SHARE, Finding, Needs, Scope
from ppdm_sql.audit.attacks.scoring import chance_number, recovered

if TYPE_CHECKING:
    from ppdm_sql.anonymity import FloatArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target

_UNITS = (1.0, 0.1, 0.01, 10.0, 100.0)
"""Originals come in whole units, or in a decimal part of one. The finding says that it leaves open
which: the best is taken."""
_MOST_BANDS = 1_000


@dataclass(frozen=True, slots=True)
class BandWidth:
    """Take the smallest step between values of a band for one unit of the original."""

    name: ClassVar[str] = "band_width"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Numbers in few bands."""
        if target.scope is not Scope.COLUMN or not target.columns[0].is_numeric:
            return False
        y = target.columns[0].pair()[1]
        return len(y) > 1 and float(np.ptp(np.floor(y))) <= _MOST_BANDS

    def run(self, target: Target, scene: Scene) -> Finding:
        """Say how many distances from the smallest value come out exactly."""
        x, y = target.columns[0].pair()
        distance = x - x.min()
        steps = placed(y)
        near = 1e-6 * max(float(np.ptp(x)), 1e-300)
        share = 0.0
        if steps is not None:
            share = max(recovered(distance, unit * (steps - steps.min()), near) for unit in _UNITS)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance_number(x, near),
            f"the spacing of the values tells {SHARE} of all distances from the smallest value,"
            " but for the unit they are counted in",
            len(x),
        )


def placed(y: FloatArray) -> FloatArray | None:
    """Return values in units of the smallest step, bands laid end to end; None if none is seen."""
    bands = np.floor(y)
    distinct = np.unique(y)
    owner = np.floor(distinct)
    steps = np.diff(distinct)
    inside = (np.diff(owner) == 0) & (steps > LEAST_STEP)
    if not inside.any():
        return None
    widths: dict[float, float] = {}
    for band in np.unique(owner):  # bands, not rows
        own = steps[inside & (owner[:-1] == band)]
        if len(own):
            widths[float(band)] = 1 / float(own.min())
    usual = float(np.median(list(widths.values())))
    names = np.unique(bands)
    width = np.array([widths.get(float(band), usual) for band in names])
    starts = np.concatenate(([0.0], np.cumsum(width)[:-1]))
    at = np.searchsorted(names, bands)
    result: FloatArray = starts[at] + (y - bands) * width[at]
    return result
