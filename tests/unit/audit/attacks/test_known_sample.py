"""Rotations, turned back without knowing anybody who was released."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.audit.attacks.known_sample import KnownSample, best_turn
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from tests.unit.audit.attacks.running import attack_group
from tests.unit.audit.subjects import numbers, subject

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column

RNG = np.random.default_rng(23)
ROWS = 40_000
PEOPLE = np.stack(
    (RNG.normal(45, 12, ROWS), RNG.normal(60, 9, ROWS), RNG.gamma(3, 4, ROWS)), axis=1
)


def turn(*angles: float) -> np.ndarray:
    """Two columns turned, or three: the first with the second, then with the third."""
    size = len(angles) + 1
    whole = np.eye(size)
    for place, degrees in enumerate(angles, start=1):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        step = np.eye(size)
        step[0, 0] = step[place, place] = c
        step[place, 0], step[0, place] = s, -s
        whole = whole @ step
    return whole


def columns(rows: np.ndarray, released: np.ndarray, word: str = "rotation") -> list[Column]:
    return [
        numbers(f"c{i}", rows[:, i], released[:, i], word, group=1) for i in range(rows.shape[1])
    ]


@pytest.mark.parametrize("angles", [(13.7,), (201.0,), (75.0, 310.0)])
def test_who_was_never_seen_turns_everybody_back(angles: tuple[float, ...]) -> None:
    rows = PEOPLE[:, : len(angles) + 1]
    found = attack_group(KnownSample(), *columns(rows, rows @ turn(*angles)))
    assert found.share > 0.95
    assert found.chance < 0.05
    back = best_turn(rows[::2], rows[1::2] @ turn(*angles))
    assert turn(*angles) @ back == pytest.approx(np.eye(len(angles) + 1), abs=0.02)


def test_noise_under_the_name_of_a_rotation_is_not_turned_back() -> None:
    rows = PEOPLE[:, :2]
    noise = rows @ turn(40.0) + RNG.normal(0, 30, rows.shape)
    found = attack_group(KnownSample(), *columns(rows, noise))
    assert found.share < found.chance + 0.02


def test_it_is_for_rotations_alone() -> None:
    rows = PEOPLE[:, :2]
    mixed = [replace(c, treatments=("rotation", "noise")) for c in columns(rows, rows)]
    scene = Scene(subject(*mixed))
    assert not KnownSample().applies_to(Aim(AimKind.GROUP, tuple(mixed)), scene)
    assert not KnownSample().applies_to(Aim(AimKind.TABLE, tuple(mixed)), scene)
