"""When a guess counts as right: within the tolerance and rounding, whatever the numbers' size."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_sql.audit.attacks.known_pairs import KnownPairs
from ppdm_sql.audit.attacks.ordering import Ordering
from ppdm_sql.audit.attacks.scoring import chance_number, hits, percent, tolerance
from tests.unit.audit.attacks.running import attack_column
from tests.unit.audit.subjects import numbers

PHONES = 4_915_112_340_000 + np.random.default_rng(31).integers(0, 2_000, 2_000).astype(float)
TINY = 1e-10 * np.random.default_rng(32).random(2_000)


def test_shares_are_said_without_claiming_too_much() -> None:
    shown = [percent(share).replace("\u00a0", " ") for share in (0, 0.0004, 0.5, 0.9996, 1)]
    assert shown == ["0 %", "< 0.1 %", "50 %", "> 99.9 %", "100 %"]
    assert tolerance(np.empty(0)) == chance_number(np.empty(0), 0) == 0
    assert tolerance(np.array([0.0] * 99 + [50.0])) == 0.5


def test_a_guess_is_near_to_values_on_both_sides_of_it() -> None:
    assert chance_number(np.array([0.0, 1.0, 2.0, 9.0]), 1.0) == 0.75
    assert chance_number(np.array([0.0, 1.0, 2.0, 9.0]), 0.9) == 0.5


def test_rounding_is_no_error() -> None:
    x = np.array([0.3, 0.7, 1e15, 4_915_112_340_000.1])
    guess = np.array([0.1 + 0.2, 7 / 10, 1e15, 4_915_112_340_000.1 * 3 / 3])
    assert hits(x, guess, 0.0).all()
    assert not hits(x, np.full(4, np.nan), 1e300).any()


@pytest.mark.parametrize("x", [PHONES, TINY], ids=["large numbers", "small numbers"])
def test_noise_hides_numbers_of_any_size(x: np.ndarray) -> None:
    noised = x + np.random.default_rng(33).normal(0, np.ptp(x) / 2, len(x))
    column = numbers("x", x, noised, "noise")
    for attack in (Ordering(), KnownPairs(2), KnownPairs(20)):
        assert attack_column(attack, column).share < 0.06, attack.name


@pytest.mark.parametrize("x", [PHONES, TINY], ids=["large numbers", "small numbers"])
def test_a_shift_is_found_in_numbers_of_any_size(x: np.ndarray) -> None:
    column = numbers("x", x, x + 0.7 * np.ptp(x))
    assert attack_column(KnownPairs(2), column).share > 0.99
