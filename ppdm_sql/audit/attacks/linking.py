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
    """Everybody of the background is taken for a released person they fit; of several, by lot."""

    name: ClassVar[str] = "linking"
    needs: ClassVar[Needs] = Needs.TABLE
    knowledge: ClassVar[str] = "the background table"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, with a background that shares something."""
        return target.scope is AimKind.TABLE and scene.background is not None

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count people who are found, and where the background has the KEY, rightly found."""
        background = scene.background
        assert background is not None
        total = max(len(np.unique(background.people)), 1)
        released = max(len(np.unique(background.links)), 1)
        # A register of a whole town has few who could be found: more than were released cannot be.
        most = min(total, released)
        whose = "background" if total <= released else "release"
        about = ", ".join(background.columns)
        is_proven = _has_keys(background)
        found = expected_links(background, is_proven)
        text = f"{SHARE} of the {whose}'s people are found"
        if not np.isin(background.known, background.released).any():
            text = (
                "nobody of the background fits a released row: are its values written as the"
                " source writes them?"
            )
        elif not is_proven:
            text += ", if everybody who was released is in the background"
            if background.known_person is not None:
                text += "; no KEY is in both, so that none can be proven right"
        elif found < most:
            text += ", and others are taken for somebody else"
        share = min(found / most, 1.0)
        return Finding(
            self.name, self.knowledge, target.scope, about, share, 1 / released, text, most
        )


def _has_keys(background: Background) -> bool:
    """Tell whether a KEY that stands on both sides can prove who was rightly found."""
    known, released = background.known_person, background.released_person
    if known is None or released is None:
        return False
    return bool(np.isin(known[known >= 0], released).any())


def expected_links(background: Background, are_proven: bool) -> float:
    """Return how many released people are found, where lots are drawn among those who fit.

    Of a class with f released people and F of the background, each pair is drawn with a chance of
    1 / max(f, F). With a KEY, only people who are in both can be found; without one, the smaller
    side is taken to be all in the larger one. Who stands in several classes is looked for in the
    best of them.
    """
    span = int(background.links.max(initial=0)) + 1
    everybody = int(background.people.max(initial=0)) + 1
    pairs = np.unique(background.released * span + background.links)
    codes, at, released = np.unique(pairs // span, return_inverse=True, return_counts=True)
    meant = background.known >= 0
    people = np.unique(background.known[meant] * everybody + background.people[meant])
    fitting = np.bincount(
        *_counted(codes, np.unique(people // everybody, return_counts=True)), minlength=len(codes)
    )
    found = fitting > 0
    chance = np.where(found, 1 / np.maximum(released, np.maximum(fitting, 1)), 0.0)
    if are_proven:
        chances = chance[at] * _are_in_both(background, pairs, span)
    else:
        chances = (chance * np.minimum(1.0, fitting / released))[at]
    best = np.zeros(span)
    np.maximum.at(best, pairs % span, chances)
    return float(best.sum())


def _counted(codes: IntArray, counted: tuple[IntArray, IntArray]) -> tuple[IntArray, IntArray]:
    """Return where some codes stand among sorted others, and how often; those outside are none."""
    place = np.searchsorted(codes, counted[0])
    inside = place < len(codes)
    inside &= codes[np.where(inside, place, 0)] == counted[0]
    return place[inside], counted[1][inside]


def _are_in_both(background: Background, pairs: IntArray, span: int) -> BoolArray:
    """Tell of each pair of a code and a released person whether the background has them with it."""
    assert background.released_person is not None
    assert background.known_person is not None
    who = np.full(span, -1, dtype=np.int64)
    who[background.links] = background.released_person
    named = (background.known >= 0) & (background.known_person >= 0)
    size = int(max(background.known_person.max(initial=0), who.max(initial=0))) + 1
    there = background.known[named] * size + background.known_person[named]
    mine = who[pairs % span]
    both: BoolArray = (mine >= 0) & np.isin(pairs // span * size + mine, there)
    return both


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
