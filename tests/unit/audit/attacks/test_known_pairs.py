"""Known persons: what they undo, and what they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.attacks.known_input import KnownInput
from ppdm_sql.audit.attacks.known_pairs import PERSONS, KnownPairs
from ppdm_sql.audit.attacks.models import EXACT, guess_numbers
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from ppdm_sql.language.syntax import Role
from ppdm_sql.treatments import traits_of
from ppdm_sql.treatments.kernels.digits import shift_digits
from tests.cases import cases
from tests.unit.audit.attacks.running import attack_column, attack_group
from tests.unit.audit.attacks.test_without_knowledge import graded
from tests.unit.audit.subjects import labels, numbers, subject

AGES = np.random.default_rng(11).normal(45, 12, 2_000)
SALARIES = np.random.default_rng(12).normal(60_000, 9_000, 2_000)


def turned(degrees: float, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    angle = np.radians(degrees)
    return x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)


@pytest.mark.parametrize(
    "released",
    [AGES - 3, 0.93 * AGES, 1.7 * AGES + 11, graded(AGES, [0, 30, 60, 90, 120])],
    ids=["translation", "scaling", "affine", "uniform bands"],
)
def test_two_known_persons_undo_affine_treatments(released: np.ndarray) -> None:
    found = attack_column(KnownPairs(2), numbers("age", AGES, released))
    assert found.attack == "known_pairs_2"
    assert found.share > 0.99
    assert found.chance < 0.05


def test_twenty_known_persons_undo_uneven_bands() -> None:
    column = numbers("age", AGES, graded(AGES, [0, 40, 46, 55, 120]), "graded_grouping")
    few, many = (attack_column(KnownPairs(n), column).share for n in (2, 20))
    assert few < 0.5
    assert many > 0.8


@pytest.mark.parametrize("persons", [2, 5, 20])
def test_known_persons_do_not_undo_noise(persons: int) -> None:
    noised = AGES + np.random.default_rng(13).normal(0, 12, len(AGES))
    found = attack_column(KnownPairs(persons), numbers("age", AGES, noised, "noise"))
    assert found.share < 0.05


def test_rho_leaves_the_other_rows_to_known_persons() -> None:
    """Document 003's privacy enhance: noise for 5 % of the rows hides those 5 % only."""
    generator = np.random.default_rng(16)
    chosen = generator.random(len(AGES)) < 0.05
    more = np.where(chosen, generator.uniform(-12, 18, len(AGES)), 0)
    for released in (AGES - 3 + more, 0.93 * AGES + more, 1.7 * AGES + 11 + more):
        found = attack_column(KnownPairs(20), numbers("age", AGES, released))
        assert found.share == pytest.approx(0.95, abs=0.02)
    x, y = turned(13.7, AGES, SALARIES)
    columns = (
        numbers("age", AGES, x + more, "rotation"),
        numbers("salary", SALARIES, y + more * 1_000, "rotation"),
    )
    assert attack_group(KnownPairs(20), *columns).share == pytest.approx(0.95, abs=0.02)
    mixed = (
        numbers("age", AGES, 2 * x + 7 + more, "hybrid"),
        numbers("salary", SALARIES, y - 5 + more * 1_000, "hybrid"),
    )
    assert attack_group(KnownPairs(20), *mixed).share == pytest.approx(0.95, abs=0.03)


def shifted(x: np.ndarray, by: int) -> np.ndarray:
    return shift_digits(x.astype(np.uint64), by).astype(float)


def test_digits_that_moved_are_moved_for_known_persons() -> None:
    pay = np.random.default_rng(15).integers(1_000, 90_000, 2_000)
    up, down = shifted(pay, 1), shifted(pay, -1)
    chains = [
        (("bit_plus", "translation"), up + 777.5),
        (("bit_plus", "scaling"), 1.37 * up),
        (("bit_minus", "translation"), down - 100),
        (("bit_plus", "bit_minus", "bit_plus", "translation"), up + 3),
        (("translation", "bit_plus"), shifted(pay + 777, 1)),
        (("scaling", "bit_minus", "bit_minus"), shifted(shifted(3 * pay, -1), -1)),
        (("bit_minus", "translation", "bit_plus"), shifted(shifted(pay, -1) + 777, 1)),
    ]
    for words, released in chains:
        column = replace(numbers("pay", pay, released), treatments=words)
        assert attack_column(KnownPairs(2), column).share == 1, words
        assert attack_column(KnownPairs(20), column).share == 1, words
    cents = pay / 100
    column = replace(numbers("pay", cents, 2.5 * up / 100), treatments=("bit_plus", "scaling"))
    assert attack_column(KnownPairs(20), column).share == 1
    noised = up + np.random.default_rng(20).normal(0, 30_000, 2_000)
    hidden = replace(numbers("pay", pay, noised), treatments=("bit_plus", "noise"))
    assert attack_column(KnownPairs(20), hidden).share < 0.05


def test_known_numbers_that_are_too_long_to_move_their_digits_tell_nothing() -> None:
    guess = guess_numbers(
        np.array([1e300]), np.array([7.0]), np.array([5.0]), [traits_of("bit_plus")]
    )
    assert np.isnan(guess).all()


def mean_noised(x: np.ndarray) -> np.ndarray:
    """Document 004: values above the mean go down by one amount, those below go up by another."""
    above = x >= x.mean()
    moved: np.ndarray = np.where(
        above, x - 2 * x.mean() / above.sum(), x + 2 * x.mean() / (~above).sum()
    )
    return moved


@pytest.mark.parametrize("persons", [2, 5, 20])
def test_mean_noise_falls_to_known_persons(persons: int) -> None:
    column = numbers("salary", SALARIES, mean_noised(SALARIES), "mean_noise")
    assert attack_column(KnownPairs(persons), column).share > 0.98
    noised = SALARIES + np.random.default_rng(19).normal(0, 9_000, len(SALARIES))
    hidden = numbers("salary", SALARIES, noised, "mean_noise")
    assert attack_column(KnownPairs(persons), hidden).share < 0.05


def test_mean_noise_of_few_rows_falls_to_one_known_on_any_side() -> None:
    incomes = np.array([10_000.0, 11_000, 12_000, 90_000, 95_000, 99_000])
    released = mean_noised(incomes)
    for known in (0, 5):
        pair = incomes[[known]], released[[known]]
        guess = guess_numbers(*pair, released, [traits_of("mean_noise")])
        assert guess == pytest.approx(incomes)
    assert guess_numbers(
        incomes[:1], released[:1], np.full(3, 7.0), [traits_of("mean_noise")]
    ).shape == (3,)


def test_a_known_person_names_an_alias() -> None:
    illness = np.random.default_rng(14).choice(5, 2_000, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    column = labels("illness", illness, 9 - illness)
    assert attack_column(KnownPairs(20), column).share > 0.85
    hidden = labels("illness", illness, np.arange(2_000))  # every row an alias of its own
    found = attack_column(KnownPairs(20), hidden)
    assert found.share < found.chance + 0.05


def test_what_is_mixed_or_too_few_is_not_attacked_alone() -> None:
    column = numbers("age", AGES, AGES, "rotation")
    turned_alone = Aim(AimKind.COLUMN, (column,))
    assert not KnownPairs(2).applies_to(turned_alone, Scene(subject(column)))
    few = Aim(AimKind.COLUMN, (numbers("age", [1, 2], [1, 2]),))
    assert not KnownPairs(2).applies_to(few, Scene(subject(*few.columns)))
    mixed = Aim(AimKind.GROUP, (column, labels("a", [0] * 2_000, [0] * 2_000)))
    assert not KnownInput().applies_to(mixed, Scene(subject(*mixed.columns)))
    assert not KnownPairs(2).applies_to(mixed, Scene(subject(*mixed.columns)))
    whole = Aim(AimKind.TABLE, (column,))
    assert not KnownPairs(2).applies_to(whole, Scene(subject(column)))


@pytest.mark.parametrize("size", [0.001, 0.3])
def test_more_known_persons_never_tell_less_of_small_noise(size: float) -> None:
    x = np.random.default_rng(17).uniform(0, 1_000, 2_000)
    column = numbers("x", x, x + np.random.default_rng(18).normal(0, size, 2_000), "noise")
    shares = [attack_column(KnownPairs(persons), column).share for persons in (2, 5, 20)]
    assert shares == pytest.approx([1, 1, 1], abs=0.001)


def test_values_beyond_the_known_ones_are_guessed_along_the_line() -> None:
    """A curve that is nearly straight: neither clamped to what is known nor given up."""
    x = np.linspace(0, 100, 2_001)
    y = 3 * x + 2 * np.sin(x / 30)
    known = np.searchsorted(x, [20, 35, 50, 65, 80])
    guess = guess_numbers(x[known], y[known], y, [traits_of("translation")])
    assert np.abs(guess - x).max() < 1.5


def test_bands_need_more_pairs_than_edges() -> None:
    x = np.array([253.78, 625.38, 253.42, 807.66, 252.73])
    y = x + np.array([0.0003, -0.0016, 0.0014, 0.0007, -0.0004])
    unknown = np.linspace(0, 1_000, 50)
    assert guess_numbers(x, y, unknown) == pytest.approx(unknown, abs=0.1)


def test_values_in_bands_of_which_nobody_is_known_are_guessed() -> None:
    released = graded(AGES, [0, 40, 46, 55, 120])
    known = np.flatnonzero((released < 3) & (released > 1))[:20]
    guess = guess_numbers(AGES[known], released[known], released)
    assert not np.isnan(guess).any()
    inside = released < 3
    assert guess[inside] == pytest.approx(AGES[inside], abs=0.05)


@settings(max_examples=cases(60))
@example(0.1, -1e-05, [0, 1, 500, -500])
@given(
    st.floats(0.1, 10),
    st.floats(-100, 100),
    st.lists(st.integers(-1_000, 1_000), min_size=3, max_size=8, unique=True),
)
def test_any_line_is_found(slope: float, shift: float, known: list[int]) -> None:
    x = np.array(known, dtype=float)
    unknown = np.linspace(-50, 50, 7)
    guess = guess_numbers(x, slope * x + shift, slope * unknown + shift)
    # A simpler model, exact for the known within EXACT, is off by more as far away as others are.
    assert guess == pytest.approx(unknown, abs=EXACT * (2 * np.ptp(x) + 2 * 2_000))


def test_equal_released_values_are_guessed_by_their_mean() -> None:
    guess = guess_numbers(np.array([1.0, 3.0]), np.array([5.0, 5.0]), np.array([5.0, 5.0]))
    assert guess.tolist() == [2.0, 2.0]
    many = guess_numbers(np.array([1.0, 3.0, 8.0]), np.zeros(3), np.zeros(2))
    assert len(many) == 2


def test_one_known_value_is_read_as_the_treatment_says() -> None:
    x, y, unknown = np.array([4.0]), np.array([8.0]), np.array([6.0])
    assert guess_numbers(x, y, unknown, [traits_of("translation")]).tolist() == [2]
    assert guess_numbers(x, y, unknown, [traits_of("scaling")]).tolist() == [3]
    assert guess_numbers(x, y, unknown, [traits_of("noise")]).tolist() == [6]
    assert np.isnan(guess_numbers(x[:0], y[:0], unknown, [traits_of("scaling")])).all()


def test_targets_are_columns_groups_and_the_whole() -> None:
    scene = Scene(
        subject(
            numbers("age", [1, 2], [2, 3], "rotation", group=1),
            numbers("pay", [1, 2], [2, 3], "rotation", group=1),
            numbers("kept", [1, 2], [1, 2], "keep"),
            labels("zip", [0, 1], [3, 3], "generalize", Role.QUASI),
            numbers("gone", [1, 2], [np.nan, np.nan], "suppress"),
            labels("key", [0, 1], [5, 6], "pseudonym", Role.KEY),
        )
    )
    found = [(target.scope, target.label) for target in scene.targets()]
    assert found == [
        (AimKind.COLUMN, "age"),
        (AimKind.COLUMN, "pay"),
        (AimKind.HIDDEN, "zip"),
        (AimKind.HIDDEN, "gone"),
        (AimKind.GROUP, "age, pay"),
        (AimKind.TABLE, "age, pay, kept, zip"),
    ]


MANY_ZEROS = np.where(np.random.default_rng(17).random(2_000) < 0.6, 0.0, SALARIES)


@pytest.mark.parametrize("x", [AGES, MANY_ZEROS, AGES.round()], ids=["normal", "zeros", "whole"])
@pytest.mark.parametrize(
    "word", ["scaling", "translation", "noise", "graded_grouping", "microaggregation"]
)
def test_more_people_never_get_less(word: str, x: np.ndarray) -> None:
    noise = np.random.default_rng(18).normal(0, 2, len(x))
    released = {
        "scaling": 0.93 * x + noise,
        "translation": x + 7 + noise,
        "noise": x + 3 * noise,
        "graded_grouping": graded(x, [0, 30, 46, 55, 1e6]),
        "microaggregation": x.round(-1),
    }[word]
    shares = [attack_column(KnownPairs(n), numbers("x", x, released, word)).share for n in PERSONS]
    assert shares == sorted(shares)


@pytest.mark.parametrize("word", ["rotation", "hybrid"])
@pytest.mark.parametrize("seed", range(4))
def test_more_people_never_take_a_turn_for_bands(word: str, seed: int) -> None:
    """What a few people fit by luck is no explanation, where the word is known."""
    generator = np.random.default_rng(seed)
    x, y = generator.normal(50, 12, 3_000), generator.normal(10, 3, 3_000)
    turns = turned(13.7 + seed, x, y)
    columns = [numbers(n, a, b, word) for n, a, b in zip("xy", (x, y), turns, strict=True)]
    shares = [attack_group(KnownPairs(n), *columns).share for n in PERSONS]
    assert shares == sorted(shares)
    assert shares[-1] > 0.99


def test_people_who_have_nothing_say_nothing_of_a_factor() -> None:
    noise = np.random.default_rng(19).normal(0, 100, len(MANY_ZEROS))
    column = numbers("pay", MANY_ZEROS, 0.93 * MANY_ZEROS + noise)
    column = replace(column, treatments=("scaling", "noise"))
    zero = float((MANY_ZEROS == 0).mean())
    assert attack_column(KnownPairs(20), column).share > zero + 0.3
