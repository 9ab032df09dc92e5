"""Compare two versions of a release: what do they tell together that neither tells alone?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import gain
from ppdm_sql.audit.attacks.units import safe_unit

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray, IntArray

_LEAST_ROWS = 10


@dataclass(frozen=True, slots=True)
class DifferencingClasses:
    """Who is in one class here and in another there is in what the two have in common."""

    name: ClassVar[str] = "differencing_classes"
    needs: ClassVar[Needs] = Needs.VERSION
    knowledge: ClassVar[str] = "this version and the one before it, linked person by person"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, with an earlier version."""
        return target.scope is AimKind.TABLE and scene.earlier is not None

    def run(self, target: Aim, scene: Scene) -> Finding:
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
    """The earlier version as it stands, and the best mixture of what the two say."""

    name: ClassVar[str] = "differencing"
    needs: ClassVar[Needs] = Needs.VERSION
    knowledge: ClassVar[str] = (
        "this version and the one before it, linked person by person; how large the errors are, and"
        " the mean and spread of the original from a public source"
    )

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of numbers that both versions have."""
        if target.scope is not AimKind.COLUMN or scene.earlier is None:
            return False
        column = target.columns[0]
        return column.is_numeric and column.name in scene.earlier.numbers

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how much of this version's error the earlier one takes away."""
        column = target.columns[0]
        assert scene.earlier is not None
        before, after = column.original.numbers, column.released.numbers
        assert before is not None
        assert after is not None
        together = np.stack((before, after, scene.earlier.numbers[column.name]))
        x, now, then = together[:, ~np.isnan(together).any(axis=0)] / safe_unit(together)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            max(shown_before(x, now, then), mixed_away(x, now, then)),
            0.0,
            f"together with the version before, this one is rid of {SHARE} of its error",
        )


@dataclass(frozen=True, slots=True)
class DifferencingValues:
    """What an earlier version showed as it was, nothing that this one does takes back."""

    name: ClassVar[str] = "differencing_values"
    needs: ClassVar[Needs] = Needs.VERSION
    knowledge: ClassVar[str] = "this version and those before it, linked person by person"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of any kind, also what this version shows nothing of."""
        if target.scope not in (AimKind.COLUMN, AimKind.HIDDEN) or scene.earlier is None:
            return False
        column = target.columns[0]
        return column.name in scene.earlier.shown and bool(column.original.known().any())

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count originals that the earlier version shows and this one does not."""
        column = target.columns[0]
        assert scene.earlier is not None
        learned = scene.earlier.shown[column.name] & ~column.is_shown()
        there = column.original.known()
        return Finding(
            self.name,
            self.knowledge,
            AimKind.COLUMN,
            target.label,
            float(learned[there].mean()),
            0.0,
            f"an earlier version shows {SHARE} of the values, which this one does not",
            int(there.sum()),
        )


def shown_before(x: FloatArray, now: FloatArray, then: FloatArray) -> float:
    """Return the share of this version's squared error that the earlier one, as it is, has not."""
    return gain(float(((now - x) ** 2).sum()), float(((then - x) ** 2).sum()))


def mixed_away(x: FloatArray, now: FloatArray, then: FloatArray) -> float:
    """Return how much of the error of the best guess from this version the earlier one takes away.

    The best guess is the best linear one. From two independent errors it is the mean weighted by
    inverse variances; where the earlier version was only shifted or scaled, it is that alone.
    Both sides guess their best: what noise shrinks by itself needs no second version.
    """
    rows = len(x)
    if rows < _LEAST_ROWS:
        return 0.0
    alone = _rest(x, now)
    news = _rest(then, now)
    size = float(news @ news)
    if size <= 0:
        return 0.0  # the same answer twice
    left = alone - news * float(alone @ news) / size
    # One more constant was fitted than without the earlier version.
    fair = (rows - 2) / (rows - 3)
    return gain(float(alone @ alone), fair * float(left @ left))


def _rest(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return what the best line in y does not explain of x."""
    centered: FloatArray = x - x.mean()
    spread = y - y.mean()
    size = float(spread @ spread)
    if size <= 0:
        return centered
    rest: FloatArray = centered - spread * float(spread @ centered) / size
    # What is explained up to rounding is explained.
    return rest if float(rest @ rest) > 1e-28 * float(x @ x) else np.zeros(len(x))


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
