"""Link a background table to the release by the quasi-identifiers they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Background, Scene
    from ppdm_sql.groups.search import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Linking:
    """Everybody of the background who fits exactly one released person is taken for that person."""

    name: ClassVar[str] = "linking"
    needs: ClassVar[Needs] = Needs.TABLE
    knowledge: ClassVar[str] = "the background table"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, with a background that shares something."""
        return target.scope is AimKind.TABLE and scene.background is not None

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count people who are linked, and where the background has the KEY, rightly linked."""
        background = scene.background
        assert background is not None
        links, right = link(background)
        total = max(len(np.unique(background.people)), 1)
        released = max(len(np.unique(background.links)), 1)
        # A register of a whole town has few who could be found: more than were released cannot be.
        most = min(total, released)
        whose = "background" if total <= released else "release"
        about = ", ".join(background.columns)
        found = 0.0 if right is None else expected_links(background, are_proven=True)
        text = f"{SHARE} of the {whose}'s people are found"
        if not np.isin(background.known, background.released).any():
            text = (
                "nobody of the background fits a released row: are its values written as the"
                " source writes them?"
            )
        elif right is None or not _share_keys(background):
            found = expected_links(background, are_proven=False)
            text += ", if everybody who was released is in the background"
            text += "" if right is None else "; no KEY is in both, so that none can be proven right"
        elif links > right:
            text += ", and others are taken for somebody else"
        share = min(found / most, 1.0)
        return Finding(
            self.name, self.knowledge, target.scope, about, share, 1 / released, text, most
        )


def _share_keys(background: Background) -> bool:
    known, released = background.known_person, background.released_person
    assert known is not None
    assert released is not None
    return bool(np.isin(known[known >= 0], released).any())


def link(background: Background) -> tuple[int, int | None]:
    """Return how many people fit exactly one released person, and how many of them are it."""
    fits, _ = _fitting(background)
    people = background.people
    found = len(np.unique(people[fits == 1]))
    if background.released_person is None or background.known_person is None:
        return found, None
    return found, len(np.unique(people[_is_right(background)]))


def _fitting(background: Background) -> tuple[IntArray, IntArray]:
    """Return how many released people each row of the background fits, and the first of them.

    Rows that the released KEY puts together are one person, whoever it is.
    """
    span = int(background.links.max(initial=0)) + 1
    pairs = np.unique(background.released * span + background.links)
    begin = np.searchsorted(pairs // span, background.known, side="left")
    fits = np.searchsorted(pairs // span, background.known, side="right") - begin
    fits = np.where(background.known >= 0, fits, 0)
    return fits, (pairs % span)[np.minimum(begin, len(pairs) - 1)]


def _is_right(background: Background) -> BoolArray:
    """Tell which rows of the background fit one released person only, and are that person's."""
    assert background.released_person is not None
    assert background.known_person is not None
    fits, first = _fitting(background)
    who = np.full(int(background.links.max(initial=0)) + 1, -1, dtype=np.int64)
    who[background.links] = background.released_person
    named = background.known_person
    # Without a KEY nobody knows who it is, neither here nor there.
    right: BoolArray = (fits == 1) & (who[first] == named) & (named >= 0)
    return right


def expected_links(background: Background, are_proven: bool) -> float:
    """Return how many released people are found, when one of all who fit a row is taken by lot.

    Whoever is not proven to be somebody by a KEY is taken to be among those who fit.
    """
    span = int(background.links.max(initial=0)) + 1
    everybody = int(background.people.max(initial=0)) + 1
    pairs = np.unique(background.released * span + background.links)
    codes, released = np.unique(pairs // span, return_counts=True)
    meant = background.known >= 0
    people = np.unique(background.known[meant] * everybody + background.people[meant])
    fitting, times = np.unique(people // everybody, return_counts=True)
    single = np.intersect1d(codes[released == 1], fitting)
    if are_proven:
        single = np.intersect1d(single, background.known[_is_right(background)])
    return float((1 / times[np.searchsorted(fitting, single)]).sum())


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
