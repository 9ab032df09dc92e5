"""The mean of all rows of a person: noise that is drawn for each of them averages away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import gain
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.attacks.tools.units import safe_unit

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class PersonRows:
    """Rows that are seen to be one person's have values that are much alike: a weight, a pulse."""

    name: ClassVar[str] = "averaging_rows"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns with noise, where something released puts rows together."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or not column.is_numeric or scene.links is None:
            return False
        is_repeated = bool((np.bincount(scene.links) > 1).any())
        return is_repeated and any(t.adds_noise for t in column.traits)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how much of the noise's variance the mean of a person's rows is rid of."""
        column = whole(target.columns[0], scene)
        before, after = column.original.numbers, column.released.numbers
        assert before is not None
        assert after is not None
        assert scene.links is not None
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            averaged_rows(before, after, scene.links),
            0.0,
            f"the mean of all rows of a person takes away {SHARE} of the noise",
        )


def averaged_rows(x: FloatArray, y: FloatArray, links: IntArray) -> float:
    """Return the share of the noise's variance that means over linked rows are rid of.

    Of people who have several rows: the others have nothing to average.
    """
    both = ~np.isnan(x + y)
    unit = safe_unit(x, y)
    x, y, links = x[both] / unit, y[both] / unit, links[both]
    times = np.bincount(links)
    several = times[links] > 1 if len(links) else np.zeros(0, dtype=np.bool_)
    if several.sum() < 2:
        return 0.0
    # Around their own mean, so that large numbers do not lose what is summed.
    middle = float(y.mean())
    means = np.bincount(links, y - middle) / np.maximum(times, 1) + middle
    x, y, guess = x[several], y[several], means[links][several]
    return gain(float(np.var(y - x)), float(np.var(guess - x)))
