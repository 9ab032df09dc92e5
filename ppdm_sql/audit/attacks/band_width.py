"""Read distances off the spacing of released values, and the width of graded bands with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, recovered
from ppdm_sql.audit.attacks.tools.spacing import gaps_of, step_of
from ppdm_sql.treatments.kernels.bands import END_OF_BAND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray
    from ppdm_sql.treatments.traits import Traits

_MOST_BANDS = 1_000
_UNITS_TRIED = 21


@dataclass(frozen=True, slots=True)
class BandWidth:
    """Take the step that values lie apart for one unit of the original."""

    name: ClassVar[str] = "band_width"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Numbers; those of graded grouping in few bands."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or not column.is_numeric:
            return False
        y = column.pair()[1]
        if len(y) < 2:
            return False
        return not _has_bands(column.traits) or float(np.ptp(np.floor(y))) <= _MOST_BANDS

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how many distances from the smallest value come out exactly."""
        x, y = target.columns[0].pair()
        near = 1e-6 * max(float(np.ptp(x)), 1e-300)
        steps = placed(y, target.columns[0].traits)
        share = 0.0 if steps is None else _best_share(x - x.min(), steps - steps.min(), near)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance_number(x, near),
            f"the spacing of the values discloses {SHARE} of all distances from the smallest value,"
            " in an unknown unit",
            len(x),
        )


def _best_share(distance: FloatArray, steps: FloatArray, near: float) -> float:
    """Return how many distances are so many steps, in the unit that most of them agree on.

    The finding says that it leaves the unit open: the best is taken.
    """
    apart = steps > 0
    if not apart.any():
        return 0.0
    units = np.quantile(
        distance[apart] / steps[apart], np.linspace(0, 1, _UNITS_TRIED), method="nearest"
    )
    return max(recovered(distance, unit * steps, near) for unit in np.unique(units).tolist())


def _has_bands(traits: Sequence[Traits]) -> bool:
    return any(one.has_bands for one in traits)


def placed(y: FloatArray, traits: Sequence[Traits]) -> FloatArray | None:
    """Return values in steps, bands laid end to end; None if they lie no whole steps apart."""
    if _has_bands(traits):
        return _in_bands(y)
    step = step_of(gaps_of(y))
    return None if step is None else y / step


def _in_bands(y: FloatArray) -> FloatArray | None:
    names, at = np.unique(np.floor(y), return_inverse=True)
    parts = y - np.floor(y)
    # The end of a band does not lie where it belongs, but is known to be one.
    is_end = np.abs(parts - END_OF_BAND) < 1e-9
    bands = [y[(at == band) & ~is_end] for band in range(len(names))]  # bands, not rows
    gaps = [gaps_of(band) for band in bands]
    steps = [step_of(own) for own in gaps]
    widths = [1 / step for step in steps if step is not None]
    # One gap says nothing about whether there are steps, where others say that there are none.
    seen = [step is not None for own, step in zip(gaps, steps, strict=True) if len(own) > 1]
    if not widths or (seen and np.mean(seen) <= 0.5):
        return None
    usual = float(np.median(widths))
    width = np.array([usual if step is None else 1 / step for step in steps])
    starts = np.concatenate(([0.0], np.cumsum(width)[:-1]))
    result: FloatArray = starts[at] + np.where(is_end, 1.0, parts) * width[at]
    return result
