"""Compare two versions of a release: what do they tell together that neither tells alone?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.averaging import averaged_away
from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target


@dataclass(frozen=True, slots=True)
class DifferencingClasses:
    """Who is in one class here and in another there is in what the two have in common."""

    name: ClassVar[str] = "differencing_classes"
    knowledge: ClassVar[str] = "this version and the one before it, linked person by person"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """The whole, with an earlier version."""
        return target.scope is Scope.TABLE and scene.earlier is not None

    def run(self, target: Target, scene: Scene) -> Finding:
        """Count those whose class is smaller across both versions than the smallest of either."""
        earlier = scene.earlier
        assert earlier is not None
        share = newly_exposed(earlier.classes_now, earlier.classes_before)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            "",
            share,
            0.0,
            f"{SHARE} of the rows in both versions are in a smaller class across the two"
            " than in either",
            int(((earlier.classes_now >= 0) & (earlier.classes_before >= 0)).sum()),
        )


@dataclass(frozen=True, slots=True)
class DifferencingNumbers:
    """The mean of what the two versions say: noise that was drawn again averages away."""

    name: ClassVar[str] = "differencing"
    knowledge: ClassVar[str] = "this version and the one before it, linked person by person"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Columns of numbers that both versions have."""
        if target.scope is not Scope.COLUMN or scene.earlier is None:
            return False
        column = target.columns[0]
        return column.is_numeric and column.name in scene.earlier.numbers

    def run(self, target: Target, scene: Scene) -> Finding:
        """Say how much of the error's variance the mean is rid of."""
        column = target.columns[0]
        assert scene.earlier is not None
        before, after = column.original.numbers, column.released.numbers
        assert before is not None
        assert after is not None
        share = averaged_away(before, (after, scene.earlier.numbers[column.name]))
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            0.0,
            f"the mean of both versions is rid of {SHARE} of the error",
        )


def newly_exposed(now: IntArray, before: IntArray) -> float:
    """Return the share of rows in both versions whose joint class is smaller than both."""
    both = (now >= 0) & (before >= 0)
    if not both.any():
        return 0.0
    here, there = now[both], before[both]
    span = int(there.max()) + 1
    joint, at, times = np.unique(here * span + there, return_inverse=True, return_counts=True)
    del joint
    smaller = np.minimum(np.bincount(here)[here], np.bincount(there)[there])
    return float((times[at] < smaller).mean())
