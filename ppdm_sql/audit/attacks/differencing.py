"""Compare what was published: what do two versions tell together that neither tells alone?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import gain
from ppdm_sql.audit.attacks.tools.units import safe_unit
from ppdm_sql.groups.search.cells import numbered

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray, IntArray

_LEAST_ROWS = 10
_NOTHING = 1e-28
"""What is left of a square where all is explained but for rounding."""


@dataclass(frozen=True, slots=True)
class DifferencingClasses:
    """Who is in one class here and in another there is in what the two have in common."""

    name: ClassVar[str] = "differencing_classes"
    needs: ClassVar[Needs] = Needs.OTHERS
    knowledge: ClassVar[str] = "this version and what else was published, linked person by person"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, with something else that is out."""
        return target.scope is AimKind.TABLE and bool(scene.others) and scene.classes is not None

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count those whose class is smaller across all of it than the smallest of each."""
        now = scene.classes
        assert now is not None
        here = (now, np.bincount(now[now >= 0]))
        each = [(other.label, [(other.classes, other.sizes)]) for other in scene.others]
        if len(each) > 1:
            each.append(("all of them", [(one.classes, one.sizes) for one in scene.others]))
        found = [newly_exposed(here, *there) for _, there in each]
        share = max(found)
        label = each[found.index(share)][0]
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            "",
            share,
            0.0,
            f"together with {label}, {SHARE} of the rows are in a smaller class than any that one"
            " of the two shows",
            int((now >= 0).sum()),
        )


@dataclass(frozen=True, slots=True)
class DifferencingNumbers:
    """What else is out as it stands, and the best mixture of all that there is."""

    name: ClassVar[str] = "differencing"
    needs: ClassVar[Needs] = Needs.OTHERS
    knowledge: ClassVar[str] = (
        "this version and what else was published, linked person by person; how large the errors"
        " are, and the mean and spread of the original from a public source"
    )

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of numbers that something else shows, too."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or not column.is_numeric:
            return False
        return any(column.name in other.numbers for other in scene.others)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how much of this version's error the others take away."""
        column = target.columns[0]
        before, after = column.original.numbers, column.released.numbers
        assert before is not None
        assert after is not None
        there = [(o.label, n) for o in scene.others for n in o.numbers.get(column.name, ())]
        each = [(label, _rid(before, after, [numbers])) for label, numbers in there]
        if len(there) > 1:
            label = f"{len(there)} columns of what else was published"
            each.append((label, _rid(before, after, [numbers for _, numbers in there])))
        label, share = max(each, key=lambda one: one[1])
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            0.0,
            f"together with {label}, {SHARE} of the error can be removed",
        )


@dataclass(frozen=True, slots=True)
class DifferencingValues:
    """What was shown as it was, nothing that this version does takes back."""

    name: ClassVar[str] = "differencing_values"
    needs: ClassVar[Needs] = Needs.OTHERS
    knowledge: ClassVar[str] = "this version and what else was published, linked person by person"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns of any kind, also what this version shows nothing of."""
        if target.scope not in (AimKind.COLUMN, AimKind.HIDDEN):
            return False
        column = target.columns[0]
        is_there = any(column.name in other.shown for other in scene.others)
        return is_there and bool(column.original.known().any())

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count originals that something else shows and this version does not."""
        column = target.columns[0]
        shown = [other.shown[column.name] for other in scene.others if column.name in other.shown]
        learned = np.any(shown, axis=0) & ~column.is_shown()
        there = column.original.known()
        return Finding(
            self.name,
            self.knowledge,
            AimKind.COLUMN,
            target.label,
            float(learned[there].mean()),
            0.0,
            f"what else was published shows {SHARE} of the values, which this one does not",
            int(there.sum()),
        )


def _rid(before: FloatArray, after: FloatArray, others: list[FloatArray]) -> float:
    """Return how much of this version's error others take away: as they are, or mixed."""
    together = np.stack((before, after, *others))
    x, now, *there = together[:, ~np.isnan(together).any(axis=0)] / safe_unit(together)
    alone = max(shown_before(x, now, then) for then in there)
    return max(alone, mixed_away(x, now, *there))


def shown_before(x: FloatArray, now: FloatArray, then: FloatArray) -> float:
    """Return the share of this version's squared error that the earlier one, as it is, has not."""
    return gain(float(((now - x) ** 2).sum()), float(((then - x) ** 2).sum()))


def mixed_away(x: FloatArray, now: FloatArray, *others: FloatArray) -> float:
    """Return how much of the error of the best guess from this version others take away.

    The best guess is the best linear one. From independent errors it is the mean weighted by
    inverse variances; where another version was only shifted or scaled, it is that alone.
    Both sides guess their best: what noise shrinks by itself needs no second version.
    """
    rows = len(x)
    if rows < _LEAST_ROWS:
        return 0.0
    # What all have in common is subtracted first, so that a large offset hides nothing.
    x, now, *rest = (side - side[0] for side in (x, now, *others))
    others = tuple(rest)
    alone = left = _rest(x, now)
    seen: list[FloatArray] = []
    for other in others:
        news = _rest(other, now)
        for before in seen:  # what those before it did not tell already
            news = news - before * float(news @ before) / float(before @ before)
        size = float(news @ news)
        if size <= _NOTHING * float(other @ other):
            continue  # the same answer again
        left = left - news * float(left @ news) / size
        seen.append(news)
    if not seen or rows < _LEAST_ROWS + len(seen):
        return 0.0
    # More constants were fitted than without the others.
    fair = (rows - 2) / (rows - 2 - len(seen))
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
    return rest if float(rest @ rest) > _NOTHING * float(x @ x) else np.zeros(len(x))


def newly_exposed(*versions: tuple[IntArray, IntArray]) -> float:
    """Return the share of the first version's rows whose class across all of them is too small.

    Smaller than each of its classes, and than the smallest class of some version. Of a version, the
    class of each row and how many rows each class has, those that are nowhere else as well. Not to
    be in another version is a class, too: it is what is left when one is taken from the other.
    """
    there = versions[0][0] >= 0
    if not there.any():
        return 0.0
    sides, sizes, least = [], [], 0
    for classes, counts in versions:
        absent = len(counts)
        side = np.where(classes[there] >= 0, classes[there], absent)
        sides.append(side)
        sizes.append(np.append(counts, np.iinfo(np.int64).max)[side])
        if counts.any():
            least = max(least, int(counts[counts > 0].min()))
    joint = np.unique(numbered(sides, len(sides[0])), return_inverse=True)[1]
    together = np.bincount(joint)[joint]
    return float(((together < np.min(sizes, axis=0)) & (together < least)).mean())
