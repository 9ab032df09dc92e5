"""Attacks that need nothing: each succeeds on a weak release and fails on a protected one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_sql.audit.attacks.averaging import Averaging, averaged_away
from ppdm_sql.audit.attacks.band_width import BandWidth, placed
from ppdm_sql.audit.attacks.digit_shift import DigitShift, decimals_of, has_few_decimals
from ppdm_sql.audit.attacks.face_value import FaceValue
from ppdm_sql.audit.attacks.mean_kept import MeanKept, given_back
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Finding, Scene
from ppdm_sql.audit.attacks.scoring import chance_number, tolerance
from ppdm_sql.audit.attacks.tools.spacing import gaps_of, step_of
from ppdm_sql.treatments import traits_of
from ppdm_sql.treatments.kernels.bands import Bands
from ppdm_sql.treatments.kernels.digits import shift_digits
from tests.unit.audit.attacks.running import attack_column
from tests.unit.audit.subjects import labels, numbers, subject

# Document 004, table 2.
INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
BIT_PLUS = [66093, 76786, 57141, 9768, 9065, 87802, 97897, 55460, 7761, 8874]
BIT_MINUS = [64871, 74564, 55929, 9546, 9843, 85680, 95675, 53248, 7549, 8652]


@pytest.mark.parametrize(("word", "released"), [("bit_plus", BIT_PLUS), ("bit_minus", BIT_MINUS)])
def test_digits_are_moved_back(word: str, released: list[int]) -> None:
    found = attack_column(DigitShift(), numbers("income", INCOMES, released, word))
    assert found.share == 1
    assert found.chance == pytest.approx(0.1)
    assert "decimals" in found.knowledge
    typed = replace(numbers("income", INCOMES, released, word), decimals=0)
    assert attack_column(DigitShift(), typed).knowledge == "none"
    assert attack_column(DigitShift(), typed).share == found.share


@pytest.mark.parametrize("words", [("translation",), ("noise",), ("bit_plus", "bit_minus")])
def test_digits_that_no_treatment_moved_are_left_alone(words: tuple[str, ...]) -> None:
    ages = np.arange(20.0, 90.0)
    column = replace(numbers("age", ages, ages + 1), treatments=words)
    assert not DigitShift().applies_to(Aim(AimKind.COLUMN, (column,)), Scene(subject(column)))


def test_only_the_words_say_which_way_digits_moved() -> None:
    """A guess that fits the truth better is none of somebody who does not have it."""
    ages = np.arange(20.0, 90.0)
    assert attack_column(DigitShift(), numbers("age", ages, ages + 1, "bit_minus")).share == 0
    twice = replace(numbers("x", INCOMES, BIT_PLUS), treatments=("bit_plus", "bit_plus"))
    assert attack_column(DigitShift(), twice).share == 0


def test_a_scale_that_only_the_release_shows_is_used() -> None:
    found = attack_column(DigitShift(), numbers("x", [10, 25], [11.11, 26.11], "bit_plus"))
    assert found.share == 1


def test_digits_with_decimals_and_signs_are_moved_back() -> None:
    found = attack_column(DigitShift(), numbers("x", [12.5, -340.99], [13.61, -351.00], "bit_plus"))
    assert found.share == 1


def test_moving_digits_gets_nothing_of_noise() -> None:
    generator = np.random.default_rng(1)
    noised = np.array(BIT_PLUS * 20) + generator.normal(0, 5_000, 200).round()
    column = replace(
        numbers("income", INCOMES * 20, noised, "noise"), treatments=("bit_plus", "noise")
    )
    assert attack_column(DigitShift(), column).share < 0.05


def test_decimals_that_all_became_zeros_are_moved_back() -> None:
    x = 10.99 + np.arange(80)
    released = np.array([int(f"{whole // 10}{(whole + 1) % 10}") for whole in range(10, 90)])
    found = attack_column(DigitShift(), numbers("x", x, released, "bit_plus"))
    assert found.share == 1


def test_a_number_that_is_too_long_is_left_out_alone() -> None:
    column = numbers("income", [*INCOMES, 2.0**60], [*BIT_PLUS, 2.0**60], "bit_plus")
    assert attack_column(DigitShift(), column).share == pytest.approx(10 / 11)


@pytest.mark.parametrize("by", [-3, -2, 2, 3])
def test_digits_that_moved_several_times_are_moved_back(by: int) -> None:
    incomes = np.array(INCOMES, dtype=np.uint64)
    released = incomes
    for _ in range(abs(by)):
        released = shift_digits(released, 1 if by > 0 else -1)
    words = ("bit_plus" if by > 0 else "bit_minus",) * abs(by)
    column = replace(numbers("income", incomes, released), treatments=words)
    assert attack_column(DigitShift(), column).share == 1


def test_digits_of_long_fractions_are_left_alone() -> None:
    few = has_few_decimals(np.array([1 / 3, 1e300, 1.25, 12345.678901, 0.1, -7]))
    assert few.tolist() == [False, False, True, True, True, True]
    assert decimals_of(np.array([1 / 3, 1e300, 12.5, 7])) == 1
    assert decimals_of(np.array([12345.678901])) == 6
    target = Aim(AimKind.COLUMN, (numbers("x", [1, 2], [1 / 3, 2 / 3], "bit_plus"),))
    assert not DigitShift().applies_to(target, Scene(subject(*target.columns)))
    text = Aim(AimKind.COLUMN, (labels("x", [1], [1]),))
    assert not DigitShift().applies_to(text, Scene(subject(*text.columns)))


def test_values_near_the_original_are_taken_as_they_stand() -> None:
    x = np.sort(np.random.default_rng(4).uniform(0, 100, 2_000))
    grouped = x.reshape(-1, 2).mean(axis=1).repeat(2)
    found = attack_column(FaceValue(), numbers("x", x, grouped, "microaggregation"))
    assert found.share > 0.99
    assert found.knowledge == "none"
    assert found.of == 2_000
    assert found.chance == chance_number(x, tolerance(x)) > 0
    hidden = attack_column(FaceValue(), numbers("x", x, x + 40))
    assert hidden.share == 0
    noised = x + np.random.default_rng(5).normal(0, 50, 2_000)
    assert attack_column(FaceValue(), numbers("x", x, noised, "noise")).share < 0.03


@pytest.mark.parametrize("unit", [1, 0.1])
def test_small_noise_on_numbers_with_few_decimals_is_rounded_away(unit: float) -> None:
    kids = unit * np.random.default_rng(13).integers(0, 6, 2_000)
    noise = np.random.default_rng(14).normal(0, 1, 2_000)
    found = attack_column(FaceValue(), numbers("kids", kids, kids + 0.3 * unit * noise, "noise"))
    assert found.share == pytest.approx(0.904, abs=0.02)  # within half a unit
    hidden = attack_column(FaceValue(), numbers("kids", kids, kids + 9 * unit * noise, "noise"))
    assert hidden.share < 0.08
    real = kids + 0.1 * unit * np.random.default_rng(15).random(2_000)
    shown = attack_column(FaceValue(), numbers("x", real, real + 0.3 * unit * noise, "noise"))
    assert shown.share < 0.2


def test_labels_that_stayed_are_taken_as_they_stand() -> None:
    town = np.random.default_rng(6).integers(0, 5, 1_000)
    some = np.where(np.arange(1_000) % 4 == 0, 9, town)
    found = attack_column(FaceValue(), labels("town", town, some))
    assert found.share == 0.75
    assert found.chance == np.bincount(town).max() / 1_000
    assert attack_column(FaceValue(), labels("town", town, town + 5)).share == 0
    nothing = Aim(AimKind.COLUMN, (labels("town", [-1, 1], [1, -1]),))
    assert not FaceValue().applies_to(nothing, Scene(subject(*nothing.columns)))
    both = numbers("x", [1], [1]), labels("x", [1], [1])
    other_kind = Aim(AimKind.COLUMN, (replace(both[0], released=both[1].released),))
    assert not FaceValue().applies_to(other_kind, Scene(subject(*other_kind.columns)))
    whole = Aim(AimKind.TABLE, (labels("town", town, town),))
    assert not FaceValue().applies_to(whole, Scene(subject(*whole.columns)))


def graded(x: np.ndarray, edges: list[float]) -> np.ndarray:
    """Document 000's formula, plainly."""
    low = np.searchsorted(edges, x, side="right") - 1
    low = np.minimum(low, len(edges) - 2)
    limits = np.array(edges)
    part = (x - limits[low]) / (limits[low + 1] - limits[low])
    return np.asarray(low + 1 + np.minimum(part, 0.999))


AGES = np.random.default_rng(2).integers(15, 90, 2_000).astype(float)
WEIGHTS = np.random.default_rng(3).normal(75, 12, 2_000).clip(31, 149)


def spacing(x: np.ndarray, released: np.ndarray, word: str = "graded_grouping") -> float:
    return attack_column(BandWidth(), numbers("x", x, released, word)).share


@pytest.mark.parametrize("edges", [[15, 30, 45, 60, 75, 90], [15, 20, 45, 62, 90]])
def test_band_width_is_read_off_the_spacing_of_ages(edges: list[float]) -> None:
    found = attack_column(BandWidth(), numbers("age", AGES, graded(AGES, edges), "graded_grouping"))
    assert found.share > 0.99
    assert found.knowledge == "none"
    assert "in an unknown unit" in found.sentence
    assert found.chance == np.unique(AGES, return_counts=True)[1].max() / 2_000


def test_whole_numbers_show_their_spacing_however_they_were_scaled_or_moved() -> None:
    for by in (0.62, 1.37, 2.93):
        assert spacing(AGES, by * AGES, "scaling") == 1
    assert spacing(AGES, AGES + 123.456, "translation") == 1
    assert spacing(AGES * 1e9, AGES * 1e9 + 0.1, "translation") == 1
    assert spacing(AGES[:6], 1.37 * AGES[:6], "scaling") == 1


@pytest.mark.parametrize("unit", [500, 5, 3, 0.5, 0.25, 0.01])
def test_originals_of_any_unit_show_their_spacing(unit: float) -> None:
    x = unit * np.random.default_rng(7).integers(0, 20, 500)
    assert spacing(x, graded(x, [0, 4 * unit, 8 * unit, 20 * unit])) == 1
    assert spacing(x, 1.37 * x, "scaling") == 1


def test_a_step_that_no_two_values_lie_apart_is_found() -> None:
    """Few of all cents are there: gaps are several of them."""
    cents = 1_000 + np.random.default_rng(8).integers(0, 900_000, 2_000) / 100
    edges = np.linspace(cents.min(), 10_001, 6).tolist()
    assert spacing(cents, graded(cents, edges)) > 0.99
    assert spacing(cents, 1.37 * cents, "scaling") > 0.99
    primes = np.array([0.0, 15, 21, 31, 46, 67])  # gaps of 15, 6, 10, 15, 21
    assert step_of(gaps_of(primes * 1.37)) == pytest.approx(1.37)
    assert spacing(primes, 1.37 * primes, "scaling") == 1


def test_the_end_of_a_band_is_read_as_its_end() -> None:
    x = np.arange(0.0, 121.0)
    released = Bands(np.array([0.0, 40]), np.array([40.0, 120]), np.array([1.0, 2])).grade(x)
    assert released[-1] == 2.999
    assert spacing(x, released) == 1


def test_spacing_of_real_numbers_stays_hidden() -> None:
    """Equal bands keep ratios of distances, but no step tells that there are equal bands."""
    for rows in (5, 10, 50, 2_000):
        x = WEIGHTS[:rows]
        assert spacing(x, graded(x, [30, 60, 90, 120, 150])) == 0
        assert spacing(x, 1.37 * x, "scaling") == spacing(x, x + 17, "translation") == 0
    assert spacing(AGES, AGES + np.random.default_rng(9).normal(0, 3, 2_000), "noise") == 0


def test_a_distance_is_told_exactly_or_not_at_all() -> None:
    x = np.random.default_rng(10).uniform(0, 1_000, 2_000)
    assert spacing(x, np.rint(x), "translation") < 0.02


def test_without_two_values_in_a_band_there_is_no_spacing() -> None:
    assert placed(np.array([1.5, 2.5, 3.5]), [traits_of("graded_grouping")]) is None
    assert spacing(np.array([1.0, 2, 3]), np.array([1.5, 2.5, 3.5])) == 0
    assert spacing(np.array([1.0, 2, 3]), np.full(3, 7.0), "translation") == 0
    assert len(gaps_of(np.empty(0))) == 0


def test_one_gap_in_each_band_is_its_step() -> None:
    kids = np.random.default_rng(12).integers(0, 6, 500).astype(float)
    assert spacing(kids, graded(kids, [0, 2, 4, 6])) == 1


def test_band_width_looks_at_few_bands_only() -> None:
    for released in ([1, 5_000], [1, np.nan]):
        column = numbers("x", [1, 2], released, "graded_grouping")
        assert not BandWidth().applies_to(Aim(AimKind.COLUMN, (column,)), Scene(subject(column)))


def mean_noised(x: np.ndarray, factor: float = 2) -> np.ndarray:
    """Document 004: values above the mean go down by one amount, those below go up by another."""
    above = x >= x.mean()
    amounts = factor * x.mean() / np.array([above.sum(), (~above).sum()])
    return np.asarray(np.where(above, x - amounts[0], x + amounts[1]))


def kept(x: np.ndarray, released: np.ndarray) -> Finding:
    return attack_column(MeanKept(), numbers("pay", x, released, "mean_noise"))


def test_mean_noise_is_undone_by_the_mean_that_it_keeps() -> None:
    pay = np.random.default_rng(16).uniform(1_000, 90_000, 120)
    found = kept(pay, mean_noised(pay))
    assert found.share > 0.9
    assert found.knowledge == "none"
    assert found.of == 120
    assert found.chance == chance_number(pay, tolerance(pay)) > 0
    assert kept(pay, mean_noised(pay, 6)).share < 0.05
    assert kept(pay, pay + np.random.default_rng(17).normal(0, 20_000, 120)).share < 0.06
    assert kept(pay - 91_000, mean_noised(pay - 91_000)).share == 1  # sides that went apart


@pytest.mark.parametrize("places", [0, 2])
def test_few_decimals_tell_which_side_a_value_came_from(places: int) -> None:
    pay = np.random.default_rng(18).uniform(1_000, 90_000, 20).round(places)
    assert kept(pay, mean_noised(pay)).share == 1
    assert kept(pay, mean_noised(pay, 6)).share == 0
    many = np.random.default_rng(19).uniform(0, 100, 5_000).round(places)
    assert kept(many, mean_noised(many)).share == 1


def test_the_mean_is_that_of_all_rows() -> None:
    pay = np.random.default_rng(20).uniform(1_000, 90_000, 300)
    everybody = subject(numbers("pay", pay, mean_noised(pay), "mean_noise"))
    sample = everybody.take(np.arange(0, 300, 5))
    column = sample.columns[0]
    assert attack_column(MeanKept(), column, Scene(sample)).share < 0.1
    assert attack_column(MeanKept(), column, Scene(sample, everybody=everybody)).share > 0.9


def test_only_mean_noise_alone_keeps_such_a_mean() -> None:
    ages = np.arange(20.0, 90.0)
    for words in (("noise",), ("mean_noise", "translation")):
        column = replace(numbers("age", ages, ages), treatments=words)
        assert not MeanKept().applies_to(Aim(AimKind.COLUMN, (column,)), Scene(subject(column)))
    text = labels("x", [1, 2], [1, 2], "mean_noise")
    assert not MeanKept().applies_to(Aim(AimKind.COLUMN, (text,)), Scene(subject(text)))
    assert given_back(np.full(3, 7.0), np.full(3, 7.0), 0).tolist() == [7, 7, 7]
    large = 1e306 * ages
    assert kept(large, mean_noised(ages) * 1e306).share > 0.9


def noisy(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 10, 1_000)


def test_noise_that_is_drawn_anew_is_averaged_away() -> None:
    x = np.linspace(0, 100, 1_000)
    column = numbers("x", x, x + noisy(1), "noise")
    scene = Scene(subject(column), again={"x": (x + noisy(2), x + noisy(3))})
    found = attack_column(Averaging(), column, scene)
    assert found.share == pytest.approx(2 / 3, abs=0.1)


def test_noise_that_is_fixed_is_not() -> None:
    x = np.linspace(0, 100, 1_000)
    y = x + noisy(1)
    column = numbers("x", x, y, "noise")
    found = attack_column(Averaging(), column, Scene(subject(column), again={"x": (y, y)}))
    assert found.share == 0


def test_averaging_needs_rows_that_both_answers_have() -> None:
    x = np.array([1.0, 2.0])
    assert averaged_away(x, (x + 1, np.array([np.nan, np.nan]))) == 0
    target = Aim(AimKind.COLUMN, (numbers("x", x, x),))
    assert not Averaging().applies_to(target, Scene(subject(*target.columns)))
