"""Whole numbers that were turned lie on a turned grid: its lines show the angle."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_sql.audit.attacks.grid import Grid, angle_of
from tests.unit.audit.attacks.running import attack_group
from tests.unit.audit.attacks.test_known_pairs import turned
from tests.unit.audit.subjects import numbers

ROWS = 1500


def columns(x: np.ndarray, y: np.ndarray, degrees: float, more: float = 0.0) -> list:  # type: ignore[type-arg]
    noise = np.random.default_rng(9).normal(0, 1, (2, len(x))) * more
    sides = zip(("x", "y"), (x, y), turned(degrees, x, y), noise, strict=True)
    return [numbers(n, before, after + e, "rotation", group=1) for n, before, after, e in sides]


def people(seed: int, decimals: int = 0) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.random.default_rng(seed)
    return drawn.normal(27, 5, ROWS).round(decimals), drawn.normal(75, 12, ROWS).round()


@pytest.mark.parametrize("degrees", [1.0, 31.0, 44.999, 89.0, 137.5, 200.0, 301.25])
@pytest.mark.parametrize("decimals", [0, 1])
def test_whole_numbers_are_turned_back(degrees: float, decimals: int) -> None:
    found = attack_group(Grid(), *columns(*people(1, decimals), degrees))
    assert found.share == 1.0
    assert found.chance < 0.2


def test_numbers_of_many_decimals_are_not() -> None:
    drawn = np.random.default_rng(2)
    found = attack_group(
        Grid(), *columns(drawn.normal(27, 5, ROWS), drawn.normal(75, 12, ROWS), 31)
    )
    assert found.share == 0


def test_rows_that_noise_left_alone_are_turned_back() -> None:
    """As of `rotation() THEN noise(…, rho => 5)`."""
    made = columns(*people(5), 31)
    some = np.random.default_rng(6).random(ROWS) < 0.05
    noisy = [
        numbers(
            one.name,
            one.pair()[0],
            one.pair()[1] + np.where(some, np.random.default_rng(at).normal(0, 2, ROWS), 0),
            "rotation",
            group=1,
        )
        for at, one in enumerate(made)
    ]
    found = attack_group(Grid(), *noisy)
    assert found.share == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("more", [0.01, 1.0])
def test_noise_hides_the_grid(more: float) -> None:
    assert attack_group(Grid(), *columns(*people(3), 31, more)).share == 0


@pytest.mark.parametrize("degrees", [0.0, 12.0, 45.0, 89.0])
def test_the_angle_is_that_of_the_grid(degrees: float) -> None:
    x, y = turned(degrees, *people(4))
    angle = angle_of(np.stack([x, y], axis=1))
    assert angle is not None
    off = (np.degrees(angle) + degrees) % 90
    assert min(off, 90 - off) < 1e-6


def test_few_points_say_nothing() -> None:
    assert angle_of(np.zeros((0, 2))) is None
    assert angle_of(np.array([[1.0, 2.0]])) is None
    assert angle_of(np.array([[0.0, 0.0], [3.0, 4.0], [9.0, 1.0]])) is None
