"""Who is known, what is attacked, what is gained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.audit.attacks.known_pairs import KnownPairs
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Finding, Scene
from ppdm_sql.language.syntax import Role
from tests.unit.audit.subjects import labels, numbers, subject

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column


def test_whoever_knows_a_person_knows_all_their_rows() -> None:
    """40 aliases, 50 visits each person: two persons tell nearly all of them."""
    generator = np.random.default_rng(7)
    x = generator.integers(0, 40, 10_000)
    person = np.repeat(np.arange(200), 50)
    column = labels("ward", x, 100 + (x * 7) % 40)
    rows = [find(column, person=None), find(column, person=person.tolist())]
    assert rows[0] < 0.15
    assert rows[1] > 0.8


def find(column: Column, person: list[int] | None) -> float:
    scene = Scene(subject(column, person=person))
    return KnownPairs(2).run(Aim(AimKind.COLUMN, (column,)), scene).share


def test_nobody_is_guessed_who_is_known() -> None:
    """Three people and two of them known: one row is guessed, and wrongly."""
    column = labels("ward", [0, 1, 2], [10, 11, 12])
    assert find(column, person=None) == 0
    scene = Scene(subject(column, person=[1, 1, 2]))
    assert not KnownPairs(2).applies_to(Aim(AimKind.COLUMN, (column,)), scene)


def test_a_key_is_attacked_unless_it_is_renamed() -> None:
    ids = np.arange(1_000, 2_000)
    for treatment, is_aimed_at in (("bit_plus", True), ("translation", True), ("pseudonym", False)):
        key = numbers("id", ids, ids + 3, treatment, Role.KEY)
        aimed = [t.label for t in Scene(subject(key)).targets() if t.scope is AimKind.COLUMN]
        assert (aimed == ["id"]) == is_aimed_at
        assert all(t.scope is not AimKind.TABLE for t in Scene(subject(key)).targets())


def test_a_gain_is_of_what_guessing_leaves_open() -> None:
    """7 of 2,000: whoever guesses gets 99.65 %, and whoever attacks gets the seven."""
    rare = Finding("frequency", "", AimKind.COLUMN, "hiv", 1.0, 0.9965, "")
    assert rare.gain == pytest.approx(1)
    assert replace(rare, share=0.9).gain == 0
    assert replace(rare, chance=1.0).gain == 0
