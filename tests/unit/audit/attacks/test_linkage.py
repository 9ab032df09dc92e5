"""Record linkage: who is found by all that is known of them, and who is not."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from ppdm_sql.audit.attacks.likeness import is_comparable, unlikeness
from ppdm_sql.audit.attacks.linkage import RecordLinkage
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from ppdm_sql.audit.read.subject import Column, Values
from ppdm_sql.language.syntax import Role
from tests.unit.audit.attacks.running import attack_table
from tests.unit.audit.subjects import labels, numbers, subject

RNG = np.random.default_rng(51)
X = RNG.uniform(0, 100, 4_000)
NOISE = RNG.normal(0, 30, 4_000)


def test_nearest_rows_are_the_right_ones_until_noise_hides_them() -> None:
    y = RNG.uniform(0, 100, 4_000)
    town = RNG.integers(0, 20, 4_000)
    weak = (
        numbers("x", X, 2 * X + 1),
        numbers("y", y, y - 5),
        labels("town", town, town, "keep", Role.QUASI),
    )
    found = attack_table(RecordLinkage(), *weak)
    assert found.share > 0.95
    assert found.chance == pytest.approx(1 / 4_000)
    strong = (numbers("x", X, X + 10 * NOISE, "noise"),)
    assert attack_table(RecordLinkage(), *strong).share < 0.02


def test_rows_that_cannot_be_told_apart_are_linked_by_lot() -> None:
    same = labels("town", [0] * 10, [0] * 10, "keep", Role.QUASI)
    assert attack_table(RecordLinkage(), same).share == pytest.approx(0.1)
    mapped = labels("town", range(10), range(10, 20))
    scene = Scene(subject(mapped))
    assert not RecordLinkage().applies_to(Aim(AimKind.TABLE, (mapped,)), scene)
    texts = Column("x", Role.QUASI, ("mapping",), 1, Values(X[:10]), mapped.released)
    assert not RecordLinkage().applies_to(Aim(AimKind.TABLE, (texts,)), Scene(subject(texts)))


def test_columns_that_were_turned_around_are_turned_back() -> None:
    found = attack_table(RecordLinkage(), numbers("x", X, -3 * X, "scaling"))
    assert found.share == pytest.approx(1)


def test_a_column_with_noise_does_not_hide_one_without() -> None:
    """What was hardly moved decides; rows that rho moved far are found by the other columns."""
    noised = numbers("n", X[::-1], X[::-1] + NOISE, "noise")
    assert attack_table(RecordLinkage(), numbers("x", X, X + 5), noised).share > 0.99
    some = np.where(RNG.random(4_000) < 0.05, RNG.permutation(X), X)
    y, z = X[::-1], np.roll(X, 7)
    columns = (numbers("x", X, some, "noise"), numbers("y", y, 3 * y), numbers("z", z, z - 8))
    assert attack_table(RecordLinkage(), *columns).share > 0.99


def test_null_is_known_too_and_not_for_a_number() -> None:
    x = np.where(np.arange(4_000) % 4 == 0, np.nan, X)
    found = attack_table(RecordLinkage(), numbers("x", x, 2 * x, "scaling"))
    assert found.share == pytest.approx(0.75, abs=0.05)  # those with a value, one by one


def generalized(name: str, ages: np.ndarray, width: int) -> Column:
    return Column(
        name,
        Role.QUASI,
        ("generalize",),
        7,
        Values(ages.astype(np.float64), ages),
        Values(labels=1_000 + ages // width),
    )


def test_generalized_columns_are_compared_by_what_they_can_stand_for() -> None:
    ages, zips = RNG.integers(0, 100, 2_000), RNG.integers(0, 1_000, 2_000)
    fine = labels("zip", zips, 5_000 + zips // 2, "generalize", Role.QUASI)
    alone = attack_table(RecordLinkage(), generalized("age", ages, 2), fine)
    assert alone.target == "age, zip"
    classes = np.unique(np.stack((ages // 2, zips // 2)), axis=1).shape[1]
    assert alone.share == pytest.approx(classes / 2_000)
    coarse = labels("zip", zips, np.full(2_000, 5_000), "generalize", Role.QUASI)
    crowd = attack_table(RecordLinkage(), generalized("age", ages, 50), coarse)
    assert crowd.share == pytest.approx(2 / 2_000)


def test_a_class_of_five_is_no_better_than_one_in_five() -> None:
    ages = np.repeat(np.arange(100), 20)
    zips = np.tile(np.arange(20), 100)
    columns = (
        generalized("age", ages, 1),
        labels("zip", zips, 100 + zips // 5, "generalize", Role.QUASI),
    )
    assert attack_table(RecordLinkage(), *columns).share == pytest.approx(1 / 5)


def test_untouched_rows_of_scba_do_not_betray_generalized_ones() -> None:
    town = RNG.integers(0, 50, 2_000)
    shown = np.where(np.arange(2_000) < 500, 99, town)
    column = labels("town", town, shown, "generalize", Role.QUASI)
    share = attack_table(RecordLinkage(), column).share
    assert share < 0.01


def test_many_categories_take_no_more_memory_than_the_people_that_are_linked() -> None:
    zips = np.arange(20_000)
    column = labels("zip", zips, 20_000 + zips // 2, "generalize", Role.QUASI)
    tracemalloc.start()
    try:
        found = attack_table(RecordLinkage(), column)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.share == pytest.approx(0.5)  # two show the same, one of them is right
    assert peak < 200_000_000  # a table of 20,000 categories and 10,000 groups has as many cells


def test_people_are_looked_for_among_all_rows_not_among_a_sample_of_them() -> None:
    ages = np.arange(40_000) // 10
    column = generalized("age", ages, 1)
    everybody = subject(column)
    scene = Scene(everybody.sample(2_000, np.random.default_rng(1)), everybody=everybody)
    found = RecordLinkage().run(Aim(AimKind.TABLE, scene.sample.columns), scene)
    assert found.share == pytest.approx(1 / 10)
    assert found.chance == pytest.approx(1 / 40_000)
    assert found.sentence.endswith("the nearest of all 40,000 released rows is the right one")


def test_what_can_be_compared_is_told_without_comparing() -> None:
    town = np.array([0, 1, -1])
    both = numbers("x", town, town), labels("x", town, town)
    assert is_comparable(both[0])
    assert is_comparable(labels("town", town, [5, 5, 5], "generalize"))
    assert is_comparable(labels("town", town, [0, 5, 5]))
    assert not is_comparable(labels("town", town, [4, 5, -1]))  # NULL is like nothing
    other_kind = replace(both[0], released=both[1].released)
    assert not is_comparable(other_kind)
    assert other_kind.is_shown().tolist() == [False, False, False]
    assert unlikeness(labels("town", town, [4, 5, -1])) is None


def test_noise_of_whole_days_leaves_the_time_of_day() -> None:
    days = RNG.uniform(0, 1_000, 4_000)
    moved = days + np.rint(RNG.normal(0, 500, 4_000))
    assert attack_table(RecordLinkage(), numbers("at", days, moved, "noise")).share > 0.95
    whole = np.floor(days)
    assert (
        attack_table(RecordLinkage(), numbers("at", whole, np.floor(moved), "noise")).share < 0.05
    )


def test_any_row_of_the_right_person_is_right() -> None:
    """Five rows each, all alike: whichever is taken, it is the person's."""
    person = np.repeat(np.arange(200), 5)
    column = labels("town", person, person, "keep", Role.QUASI)
    rows = attack_table(RecordLinkage(), column)
    assert rows.share == pytest.approx(1 / 5)
    scene = Scene(subject(column, person=person.tolist()))
    assert attack_table(RecordLinkage(), column, scene=scene).share == pytest.approx(1)


def test_few_rows_are_linked_too() -> None:
    column = labels("town", range(3), range(3), "keep", Role.QUASI)
    assert attack_table(RecordLinkage(), column).share == 1


def test_a_turn_keeps_how_far_rows_are_from_nothing() -> None:
    y = RNG.normal(0, 40, 4_000)
    c, s = np.cos(2.0), np.sin(2.0)
    turned = (
        numbers("x", X, c * X + s * y, "rotation", group=1),
        numbers("y", y, c * y - s * X, "rotation", group=1),
    )
    assert attack_table(RecordLinkage(), *turned).share > 0.9
    apart = [replace(column, group=i) for i, column in enumerate(turned)]
    assert attack_table(RecordLinkage(), *apart).share < 0.2
