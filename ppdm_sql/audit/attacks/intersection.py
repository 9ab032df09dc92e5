"""A person's class here and there: which sensitive values do the two have in common?

Ganta, Kasiviswanathan and Smith (2008): two releases that are each diverse enough leave one value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs, OtherValues

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import IntArray

_AT_ONCE = 4_000_000
"""Values of classes that are held at once."""


@dataclass(frozen=True, slots=True)
class Intersection:
    """Nobody is linked: where somebody is, and their quasi-identifiers, is enough."""

    name: ClassVar[str] = "intersection"
    needs: ClassVar[Needs] = Needs.OTHERS
    knowledge: ClassVar[str] = (
        "this version, what else was published, people's quasi-identifiers, and in which they are"
    )

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, where something else shows a SENSITIVE column, too."""
        is_there = any(other.values for other in scene.others)
        return target.scope is AimKind.TABLE and is_there and scene.classes is not None

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count people of whom the two classes leave one value; the pair that tells most."""
        now = scene.classes
        assert now is not None
        found = [
            self._finding(target, column, other.label, left_alone(now, other.classes, values))
            for other in scene.others
            for column, values in other.values.items()
        ]
        return max(found, key=lambda one: (one.gain, one.share))

    def _finding(
        self, target: Aim, column: str, label: str, left: tuple[float, float, int]
    ) -> Finding:
        share, alone, of = left
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            column,
            share,
            alone,
            f"together with {label}, one {column} is left for {SHARE} of the people"
            " (guessing: what one of the two releases discloses alone)",
            of,
            (column,),
        )


def left_alone(now: IntArray, there: IntArray, values: OtherValues) -> tuple[float, float, int]:
    """Return for how many rows one value is left, for how many one side alone says it, of all."""
    rows = (now >= 0) & (values.here >= 0)
    if not rows.any():
        return 0.0, 0.0, 0
    # Not to be there is a class of its own here: what is left when one is taken from the other.
    absent_from = int(max(there.max(initial=0), values.classes.max(initial=0))) + 1
    absent = rows & (there < 0)
    there = np.where(absent, absent_from + now, there)
    values = OtherValues(
        values.here,
        np.concatenate((values.there, values.here[absent])),
        np.concatenate((values.classes, there[absent])),
    )
    span = int(max(values.here.max(initial=0), values.there.max(initial=0))) + 1
    mine, theirs = _values(now, values.here, span), _values(values.classes, values.there, span)
    size = int(max(there.max(initial=0), values.classes.max(initial=0))) + 1
    joint, at = np.unique(now[rows] * size + there[rows], return_inverse=True)
    here, yonder = joint // size, joint % size
    begin, times = _stretch(mine, here, span)
    common = np.zeros(len(joint), dtype=np.int64)
    ends = np.cumsum(times)
    # In stretches, so that many values of large classes do not fill the memory.
    cuts = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + _AT_ONCE, _AT_ONCE)))
    for low, high in zip(cuts, np.append(cuts[1:], len(joint)), strict=True):
        part = slice(low, high)
        owner = np.repeat(np.arange(low, high), times[part])
        first = np.repeat(begin[part] - (np.cumsum(times[part]) - times[part]), times[part])
        value = mine[first + np.arange(len(owner))] % span
        hit = np.isin(yonder[owner] * span + value, theirs)
        common += np.bincount(owner, hit, minlength=len(joint)).astype(np.int64)
    disclosed_there = (_stretch(theirs, yonder, span)[1] == 1) & (yonder < absent_from)
    alone = (times == 1) | disclosed_there
    total = int(rows.sum())
    return float((common == 1)[at].mean()), float(alone[at].mean()), total


def _values(classes: IntArray, values: IntArray, span: int) -> IntArray:
    """Return every class with every value in it, as sorted numbers."""
    shown = (classes >= 0) & (values >= 0)
    return np.unique(classes[shown] * span + values[shown])


def _stretch(pairs: IntArray, classes: IntArray, span: int) -> tuple[IntArray, IntArray]:
    """Return where the values of classes begin among sorted pairs, and how many there are."""
    begin = np.searchsorted(pairs, classes * span)
    return begin, np.searchsorted(pairs, (classes + 1) * span) - begin
