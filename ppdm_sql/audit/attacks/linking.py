"""Link a background table to the release by the quasi-identifiers they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope
from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.audit.small import coarse_share

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.attacks.protocol import Background, Scene, Target


@dataclass(frozen=True, slots=True)
class Linking:
    """Everybody of the background who fits exactly one released row is taken for that row."""

    name: ClassVar[str] = "linking"
    knowledge: ClassVar[str] = "the background table"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """The whole, with a background that shares something."""
        return target.scope is Scope.TABLE and scene.background is not None

    def run(self, target: Target, scene: Scene) -> Finding:
        """Count links, and where the background has the KEY, right links only."""
        background = scene.background
        assert background is not None
        links, right = link(background)
        total = max(len(background.known), 1)
        about = ", ".join(background.columns)
        if right is None:
            share = links / total
            text = f"{SHARE} of the background's people fit one released row only"
        else:
            share = right / total
            # Only the share of the finding itself can be rounded later on.
            fit = percent(coarse_share(links / total, total))
            text = (
                f"{SHARE} of the background's people are found: {fit} fit one released row only,"
                " the others of these wrongly"
            )
        chance = 1 / max(len(background.released), 1)
        return Finding(self.name, self.knowledge, target.scope, about, share, chance, text, total)


def link(background: Background) -> tuple[int, int | None]:
    """Return how many people fit exactly one released row, and how many of them are it."""
    known = background.known
    order = np.argsort(background.released, kind="stable")
    ordered = background.released[order]
    begin = np.searchsorted(ordered, known, side="left")
    fits = np.searchsorted(ordered, known, side="right") - begin
    single = (fits == 1) & (known >= 0)
    if background.released_person is None or background.known_person is None:
        return int(single.sum()), None
    found: IntArray = background.released_person[order[begin[single]]]
    return int(single.sum()), int((found == background.known_person[single]).sum())


def population(background: Background, of_row: IntArray, classes: int) -> IntArray:
    """Return how many people of the background could be in each class of the release.

    A class whose rows differ in what can be compared counts the people of any of them.
    """
    keys, times = np.unique(background.known[background.known >= 0], return_counts=True)
    counted = of_row >= 0
    span = int(background.released.max(initial=0)) + 1
    pairs = np.unique(of_row[counted] * span + background.released[counted])
    owner, shown = pairs // span, pairs % span
    at = np.searchsorted(keys, shown)
    there = (
        (at < len(keys)) & (keys[np.minimum(at, len(keys) - 1)] == shown) if len(keys) else at < 0
    )
    amounts = np.where(there, times[np.minimum(at, len(keys) - 1)] if len(keys) else 0, 0)
    return np.bincount(owner, amounts, minlength=classes).astype(np.int64)
