"""Attacks with what else is out: versions before, and other releases of the same persons."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.attacks import run_attacks
from ppdm_sql.audit.attacks.differencing import (
    DifferencingClasses,
    DifferencingNumbers,
    DifferencingValues,
    mixed_away,
    newly_exposed,
)
from ppdm_sql.audit.attacks.intersection import Intersection, left_alone
from ppdm_sql.audit.attacks.person_rows import PersonRows, averaged_rows
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Finding, Other, OtherValues, Scene
from ppdm_sql.audit.attacks.sum_difference import SumDifference
from ppdm_sql.audit.read.subject import Column, same_values
from tests.cases import cases
from tests.unit.audit.attacks.running import attack_column, attack_table
from tests.unit.audit.attacks.test_public_knowledge import texts
from tests.unit.audit.subjects import labels, numbers, subject

RNG = np.random.default_rng(21)
X = RNG.uniform(0, 100, 4_000)
NOISE = RNG.normal(0, 30, 4_000)


def differenced(now: np.ndarray, before: np.ndarray) -> float:
    column = numbers("x", X, now, "noise")
    scene = Scene(subject(column), others=(Other("version 1", {"x": (before,)}),))
    return attack_column(DifferencingNumbers(), column, scene).share


SMALL_NOISE = NOISE / 5


def test_two_versions_with_new_noise_tell_more_than_one() -> None:
    again, unknown = RNG.normal(0, 6, len(X)), np.full(len(X), np.nan)
    assert differenced(X + SMALL_NOISE, X + again) == pytest.approx(0.5, abs=0.05)
    assert differenced(X + SMALL_NOISE, X + 2 * again) == pytest.approx(0.2, abs=0.05)
    # Noise of two sizes from one draw would be undone altogether.
    assert differenced(X + SMALL_NOISE, X + 2 * SMALL_NOISE) == pytest.approx(1)
    assert differenced(X + SMALL_NOISE, unknown) == 0


@pytest.mark.parametrize("before", [X, X + 17, 3 * X, 5 - 2 * X])
def test_an_earlier_version_without_noise_tells_all(before: np.ndarray) -> None:
    assert differenced(X + NOISE, before) == pytest.approx(1)


def test_an_earlier_version_shows_what_only_was_moved_since() -> None:
    assert differenced(X + 17, X) == differenced(2 * X, X) == 1
    assert differenced(X + 17, X + 17) == differenced(X, X) == 0


@pytest.mark.parametrize(
    "before",
    [X + NOISE, 2 * (X + NOISE) + 1, RNG.permutation(X), np.zeros(len(X))],
    ids=["the same", "the same, scaled", "other people's", "nothing"],
)
def test_an_earlier_version_that_knows_no_more_tells_no_more(before: np.ndarray) -> None:
    assert differenced(X + NOISE, before) < 0.005


def test_few_rows_are_not_mixed() -> None:
    assert mixed_away(X[:9], X[:9] + NOISE[:9], X[:9]) == 0


def test_a_version_that_shows_nothing_leaves_all_to_the_one_before() -> None:
    assert differenced(np.zeros(len(X)), X + SMALL_NOISE) > 0.9


def test_values_of_two_tables_are_compared_whatever_they_are_read_as() -> None:
    days = pa.array([0, 1, None], pa.date32())
    assert same_values(days, days.cast(pa.timestamp("us"))).tolist() == [True, True, False]
    assert same_values(pa.array([1.0, 2.5]), pa.array([1, 2])).tolist() == [True, False]
    assert same_values(texts("a", None, "c"), texts("a", None, "b")).tolist() == [
        True,
        False,
        False,
    ]
    assert same_values(texts("34", "3*"), pa.array([34, 35])).tolist() == [True, False]


def shown_before(column: Column, shown: np.ndarray) -> list[Finding]:
    everybody = np.zeros(len(shown), dtype=np.int64)
    before = Other("version 1", shown={column.name: shown})
    # A column that shows nothing is no other attack's, and the release has others.
    other = labels("other", everybody, everybody, "keep")
    found = run_attacks(Scene(subject(column, other), others=(before,)))
    return [f for f in found if f.target == column.name]


def test_what_an_earlier_version_showed_and_this_one_hides_is_learned() -> None:
    every, half = np.ones(4, dtype=np.bool_), np.array([True, False, True, False])
    towns, gone = [0, 1, 2, 3], [-1, -1, -1, -1]
    for hidden in (
        labels("x", towns, gone, "suppress"),
        numbers("x", towns, [np.nan] * 4, "suppress"),
        labels("x", towns, [9, 9, 8, 8], "generalize"),
    ):
        (found,) = shown_before(hidden, every)
        assert (found.attack, found.scope, found.share) == ("differencing_values", "column", 1)
        assert (found.of, found.columns) == (4, ("x",))
        assert shown_before(hidden, half)[0].share == 0.5
        assert shown_before(hidden, ~every)[0].share == 0


def test_what_this_version_shows_anyway_is_not_learned_from_an_earlier_one() -> None:
    every = np.ones(4, dtype=np.bool_)
    moved = {
        "labels": labels("x", [0, 1, 2, -1], [0, 1, 7, 7], "mapping"),
        "numbers": numbers("x", [0, 1, 2, np.nan], [0, 1, 7, 7], "noise"),
    }
    for column in moved.values():
        found = [f for f in shown_before(column, every) if f.attack == "differencing_values"]
        assert [f.share for f in found] == [pytest.approx(1 / 3)]  # NULL is no value
    nothing = labels("x", [-1, -1], [-1, -1], "suppress")
    assert shown_before(nothing, np.zeros(2, dtype=np.bool_)) == []
    scene = Scene(subject(nothing))
    assert not DifferencingValues().applies_to(Aim(AimKind.HIDDEN, (nothing,)), scene)


def test_versions_with_one_partition_expose_nobody() -> None:
    column = numbers("x", X, X + NOISE, "noise")
    everybody = np.zeros(len(X), dtype=np.int64)
    before = Other("version 1", classes=everybody, sizes=np.array([len(X)]))
    scene = Scene(subject(column), others=(before,), classes=everybody)
    assert attack_table(DifferencingClasses(), column, scene=scene).share == 0
    assert not DifferencingNumbers().applies_to(
        Aim(AimKind.COLUMN, (column,)), Scene(subject(column))
    )


def sized(classes: list[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.array(classes, dtype=np.int64)
    return numbers, np.bincount(numbers[numbers >= 0])


def test_two_partitions_leave_what_they_have_in_common() -> None:
    here, there = sized([0, 0, 1, 1, -1]), sized([0, 1, 0, 1, 0])
    assert newly_exposed(here, there) == 1  # everybody is alone across the two
    assert newly_exposed(here, here) == 0
    assert newly_exposed(sized([-1]), sized([0])) == 0


def test_who_is_in_one_version_only_made_its_classes_larger() -> None:
    """Seven here, seven there, four of them in both: who is known to be in both is one of four."""
    here = np.zeros(7, dtype=np.int64), np.array([7])
    there = np.array([-1, -1, -1, 0, 0, 0, 0]), np.array([7])
    assert newly_exposed(here, there) == 1


@settings(max_examples=cases(100))
@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=20))
def test_newly_exposed_is_what_plain_counting_gives(rows: list[tuple[int, int, int]]) -> None:
    """Not to be in another version is a class there; of the first, only its own rows count."""
    for sides in (2, 3):
        mine = [row[:sides] for row in rows if row[0] >= 0]
        least = max(
            (min(counts) for i in range(sides) if (counts := sizes([row[i] for row in rows]))),
            default=0,
        )
        exposed = sum(
            mine.count(row) < least
            and all(
                mine.count(row) < sum(r[i] == row[i] for r in rows)
                for i in range(sides)
                if row[i] >= 0
            )
            for row in mine
        )
        versions = [sized([row[i] for row in rows]) for i in range(sides)]
        assert newly_exposed(*versions) == pytest.approx(exposed / max(len(mine), 1))


def sizes(classes: list[int]) -> list[int]:
    return [classes.count(one) for one in set(classes) if one >= 0]


def test_twenty_releases_leave_little_of_the_noise() -> None:
    """sd 10 becomes 10 / sqrt(20) = 2.2 in the mean of twenty draws."""
    generator = np.random.default_rng(31)
    x = generator.normal(80, 40, 4_000)
    draws = [x + generator.normal(0, 10, len(x)) for _ in range(20)]
    column = numbers("x", x, draws[0], "noise")
    others = tuple(Other(f"r{i}", {"x": (draw,)}) for i, draw in enumerate(draws[1:]))
    found = attack_column(DifferencingNumbers(), column, Scene(subject(column), others=others))
    best = 1 / (1 / 40**2 + 20 / 10**2)  # the variance that is left
    alone = 1 / (1 / 40**2 + 1 / 10**2)
    assert found.share == pytest.approx(1 - best / alone, abs=0.01)
    assert "19 columns of what else was published" in found.sentence
    (one, *_) = others
    pair = attack_column(DifferencingNumbers(), column, Scene(subject(column), others=(one,)))
    assert pair.share < found.share
    assert "together with r0, " in pair.sentence


def test_the_same_answer_twenty_times_is_one() -> None:
    column = numbers("x", X, X + NOISE, "noise")
    others = tuple(Other(f"r{i}", {"x": (X + NOISE,)}) for i in range(20))
    found = attack_column(DifferencingNumbers(), column, Scene(subject(column), others=others))
    assert found.share == 0


SETS = st.lists(
    st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(-1, 3)), min_size=1, max_size=16
)


@settings(max_examples=cases(150))
@given(SETS, st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3)), max_size=6))
def test_values_in_common_are_those_of_plain_sets(
    rows: list[tuple[int, int, int]], more: list[tuple[int, int]]
) -> None:
    """`more` are people of the other release who are not in this one."""
    now, there, value = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    others = [(c, v) for _, c, v in rows] + more
    classes, values = (np.array(side, dtype=np.int64) for side in zip(*others, strict=True))
    share, alone, of = left_alone(now, there, OtherValues(value, values, classes))
    people = [row for row in rows if row[0] >= 0 and row[2] >= 0]
    mine = {c: {v for a, _, v in rows if a == c and v >= 0} for c, _, _ in people}
    theirs = {c: {v for a, v in others if a == c and v >= 0} for _, c, _ in people}
    # Who is not there is in what is left of the class here.
    rest = {c: {v for a, b, v in people if (a, b) == (c, -1)} for c, _, _ in people}
    left = sum(len(mine[a] & (theirs[b] if b >= 0 else rest[a])) == 1 for a, b, _ in people)
    either = sum(len(mine[a]) == 1 or (b >= 0 and len(theirs[b]) == 1) for a, b, _ in people)
    assert of == len(people)
    assert share == pytest.approx(left / max(len(people), 1))
    assert alone == pytest.approx(either / max(len(people), 1))


def test_two_diverse_releases_leave_one_value() -> None:
    """The example of Ganta, Kasiviswanathan and Smith: each is 2-diverse, both are not."""
    column = labels("illness", [0, 1, 2, 3], [0, 1, 2, 3], "keep")
    here, there = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    values = {"illness": OtherValues(np.arange(4), np.arange(4), there)}
    other = Other("research.b version 1", classes=there, values=values)
    scene = Scene(subject(column), others=(other,), classes=here)
    found = attack_table(Intersection(), column, scene=scene)
    assert (found.share, found.chance, found.of) == (1, 0, 4)
    assert found.columns == ("illness",)
    assert "research.b version 1" in found.sentence
    same = Other(
        "b", classes=here, values={"illness": OtherValues(np.arange(4), np.arange(4), here)}
    )
    scene = Scene(subject(column), others=(same,), classes=here)
    assert attack_table(Intersection(), column, scene=scene).share == 0
    aim = Aim(AimKind.TABLE, (column,))
    assert not Intersection().applies_to(aim, Scene(subject(column), classes=here))


def test_the_column_that_gains_most_is_told() -> None:
    """One that either release gives away alone hides nothing of another that both give together."""
    column = labels("illness", [0, 1, 2, 3], [0, 1, 2, 3], "keep")
    here, there = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    known = OtherValues(here, here, there)
    values = {"known": known, "illness": OtherValues(np.arange(4), np.arange(4), there)}
    other = Other("b", classes=there, sizes=np.array([2, 2]), values=values)
    found = attack_table(
        Intersection(), column, scene=Scene(subject(column), others=(other,), classes=here)
    )
    assert (found.target, found.share, found.chance) == ("illness", 1, 0)


@pytest.mark.parametrize("offset", [0, 1e12, 1e14])
def test_a_large_offset_hides_no_mixture(offset: float) -> None:
    generator = np.random.default_rng(33)
    x = generator.normal(0, 40, 2_000)
    first, second = x + generator.normal(0, 30, 2_000), x + generator.normal(0, 30, 2_000)
    found = mixed_away(x + offset, first + offset, second + offset)
    assert found == pytest.approx(mixed_away(x, first, second), abs=0.02)


def summed(released: np.ndarray, newcomers: int = 1) -> Finding:
    column = numbers("x", X, released, "microaggregation")
    return attack_column(
        SumDifference(), column, Scene(subject(column), newcomers={"x": newcomers})
    )


def test_a_newcomer_is_the_difference_of_two_sums() -> None:
    groups = np.sort(X).reshape(-1, 5).mean(axis=1).repeat(5)
    means = np.empty(len(X))
    means[np.argsort(X)] = groups
    assert summed(means).share == 1
    assert summed(means).chance < 0.05
    assert "differs from this one by 1 row" in summed(means).sentence
    assert summed(means, 4).share < 0.2  # the mean of four says little of each
    assert summed(means + 0.1).share == 0  # the sum is off by 400
    column = numbers("x", X, means, "microaggregation")
    assert not SumDifference().applies_to(Aim(AimKind.COLUMN, (column,)), Scene(subject(column)))


def test_noise_for_each_row_averages_over_the_rows_of_a_person() -> None:
    generator = np.random.default_rng(32)
    person = np.repeat(np.arange(500), 8)
    weight = generator.normal(80, 15, 500)[person]
    noise = generator.normal(0, 5, len(person))
    column = numbers("weight", weight, weight + noise, "noise")
    found = attack_column(PersonRows(), column, Scene(subject(column), links=person))
    assert found.share == pytest.approx(7 / 8, abs=0.02)
    # One noise a person: there is nothing to average.
    column = numbers("weight", weight, weight + noise[:500][person], "noise")
    found = attack_column(PersonRows(), column, Scene(subject(column), links=person))
    assert found.share == pytest.approx(0, abs=1e-6)
    # Rows that are nothing alike tell nothing of each other.
    apart = generator.normal(80, 50, len(person))
    assert averaged_rows(apart, apart + noise, person) == 0
    aim = Aim(AimKind.COLUMN, (column,))
    assert not PersonRows().applies_to(aim, Scene(subject(column)))
    assert not PersonRows().applies_to(aim, Scene(subject(column), links=np.arange(len(person))))


def test_means_are_of_rows_that_have_a_number() -> None:
    x, y = np.array([1.0, 1.0, np.nan, 5.0]), np.array([2.0, 0.0, 9.0, 7.0])
    assert averaged_rows(x, y, np.array([0, 0, 0, 1])) == 1
    assert averaged_rows(x[2:], y[2:], np.array([0, 1])) == 0
    assert averaged_rows(x[2:3], y[2:3], np.array([0])) == 0
