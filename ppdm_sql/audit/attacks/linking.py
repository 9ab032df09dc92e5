"""Link a background table to the release by the quasi-identifiers they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Needs, Scope

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.attacks.protocol import Background, Scene, Target


@dataclass(frozen=True, slots=True)
class Linking:
    """Everybody of the background who fits exactly one released person is taken for that person."""

    name: ClassVar[str] = "linking"
    needs: ClassVar[Needs] = Needs.TABLE
    knowledge: ClassVar[str] = "the background table"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """The whole, with a background that shares something."""
        return target.scope is Scope.TABLE and scene.background is not None

    def run(self, target: Target, scene: Scene) -> Finding:
        """Count people who are linked, and where the background has the KEY, rightly linked."""
        background = scene.background
        assert background is not None
        links, right = link(background)
        total = max(len(np.unique(background.people)), 1)
        about = ", ".join(background.columns)
        share = (links if right is None else right) / total
        text = f"{SHARE} of the background's people fit one released person only"
        if not np.isin(background.known, background.released).any():
            text = (
                "nobody of the background fits a released row: are its values written as the"
                " source writes them?"
            )
        elif right is not None and not _share_keys(background):
            share = links / total
            text += "; whether it is the right one cannot be told, for no KEY is in both"
        elif right is not None:
            text = f"{SHARE} of the background's people are found"
            text += ", and others are taken for somebody else" if links > right else ""
        chance = 1 / max(len(np.unique(background.links)), 1)
        return Finding(self.name, self.knowledge, target.scope, about, share, chance, text, total)


def _share_keys(background: Background) -> bool:
    known, released = background.known_person, background.released_person
    assert known is not None
    assert released is not None
    return bool(np.isin(known[known >= 0], released).any())


def link(background: Background) -> tuple[int, int | None]:
    """Return how many people fit exactly one released person, and how many of them are it.

    Rows that the released KEY puts together are one person, whoever it is.
    """
    span = int(background.links.max(initial=0)) + 1
    pairs = np.unique(background.released * span + background.links)
    code, linked = pairs // span, pairs % span
    begin = np.searchsorted(code, background.known, side="left")
    fits = np.searchsorted(code, background.known, side="right") - begin
    single = (fits == 1) & (background.known >= 0)
    people = background.people
    found = len(np.unique(people[single]))
    if background.released_person is None or background.known_person is None:
        return found, None
    who = np.full(span, -1, dtype=np.int64)
    who[background.links] = background.released_person
    # Without a KEY nobody knows who it is, neither here nor there.
    named = background.known_person[single]
    is_right = (who[linked[begin[single]]] == named) & (named >= 0)
    return found, len(np.unique(people[single][is_right]))


def population(background: Background, of_row: IntArray, classes: int) -> IntArray:
    """Return how many people of the background could be in each class of the release.

    A class whose rows differ in what can be compared counts the people of any of them.
    """
    meant = background.known >= 0
    everybody = int(background.people.max(initial=0)) + 1
    # A person is one, however many rows they have.
    distinct = np.unique(background.known[meant] * everybody + background.people[meant])
    keys, times = np.unique(distinct // everybody, return_counts=True)
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
