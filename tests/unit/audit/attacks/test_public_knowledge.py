"""Attacks with distributions, other columns, other tables and other versions."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from operator import eq

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.attacks import ATTACKS, run_attacks
from ppdm_sql.audit.attacks.frequency import Frequency, by_frequency
from ppdm_sql.audit.attacks.linking import Linking, expected_links, population
from ppdm_sql.audit.attacks.ordering import Ordering, by_rank
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Background, Scene
from ppdm_sql.audit.attacks.spectral import Spectral
from ppdm_sql.audit.read.matching import Shared, match
from tests.cases import cases
from tests.unit.audit.attacks.running import attack_column, attack_table
from tests.unit.audit.subjects import labels, numbers, subject

RNG = np.random.default_rng(21)
X = RNG.uniform(0, 100, 4_000)
NOISE = RNG.normal(0, 30, 4_000)


def test_what_keeps_order_is_put_back_in_order() -> None:
    kept = attack_column(Ordering(), numbers("x", X, np.log1p(X)))
    assert kept.share > 0.5
    assert "order was reversed" in kept.knowledge
    assert kept.of == 2_000
    assert kept.chance == pytest.approx(0.025, abs=0.01)
    assert attack_column(Ordering(), numbers("x", X, -X)).share > 0.5
    assert attack_column(Ordering(), numbers("x", X, X + 3 * NOISE, "noise")).share < 0.1


def test_whose_values_are_public_is_not_attacked_by_their_ranks() -> None:
    """Of few people, the distribution of others says little; their own would say all."""
    few = np.random.default_rng(22).uniform(0, 100, 400)
    assert attack_column(Ordering(), numbers("x", few, np.log1p(few))).share < 0.5


def test_a_split_more_or_less_moves_little() -> None:
    shares = []
    for seed in range(20):
        column = numbers("x", X[:400], np.log1p(X[:400]))
        shares.append(attack_column(Ordering(), column, Scene(subject(column), seed)).share)
    assert np.std(shares) < 0.08


def test_equal_ranks_get_equal_guesses() -> None:
    assert by_rank(np.array([0.0, 10.0]), np.array([5.0, 5.0])).tolist() == [5.0, 5.0]
    few = Aim(AimKind.COLUMN, (numbers("x", [1, 2], [1, 2]),))
    assert not Ordering().applies_to(few, Scene(subject(*few.columns)))


def test_frequencies_name_aliases_unless_all_are_alike() -> None:
    skewed = RNG.choice(5, 4_000, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    alias = np.array([3, 1, 4, 0, 2])
    found = attack_column(Frequency(), labels("illness", skewed, alias[skewed]))
    assert found.share > 0.99
    assert found.of == 2_000
    assert found.chance == pytest.approx(0.4, abs=0.03)
    hidden = attack_column(Frequency(), labels("illness", skewed, RNG.integers(0, 5, 4_000)))
    assert hidden.share < hidden.chance


def named_by_frequency(x: np.ndarray, aliases: np.ndarray, seed: int) -> float:
    column = labels("c", x, aliases)
    return attack_column(Frequency(), column, Scene(subject(column), seed)).share


def test_equally_frequent_categories_stay_unnamed() -> None:
    """Numbered by first appearance, as they are, categories and aliases have equal numbers."""
    shares = []
    for seed in range(200):
        drawn = np.random.default_rng(seed).permutation(np.repeat(np.arange(10), 4))
        x = np.argsort(np.argsort(np.unique(drawn, return_index=True)[1]))[drawn]
        shares.append(named_by_frequency(x, x + 10, seed))
    # The public half is the rest of so few rows: what is frequent there is rare here.
    assert np.mean(shares) < 0.13


def test_a_uniform_column_of_many_rows_stays_at_chance() -> None:
    shares = []
    for seed in range(20):
        x = np.random.default_rng(seed).integers(0, 10, 4_000)
        shares.append(named_by_frequency(x, (x + 3) % 10, seed))
    assert np.mean(shares) < 0.2


def test_whose_categories_are_public_is_not_attacked_by_their_frequency() -> None:
    """Frequencies of the same people would name every alias that is as frequent as no other."""
    x = np.repeat(np.arange(12), np.arange(20, 32))
    assert named_by_frequency(x, 11 - x, 0) < 0.5


def test_frequencies_of_all_rows_tell_more_than_those_of_a_sample() -> None:
    shares = 1 + 0.03 * np.arange(20)
    x = np.random.default_rng(23).choice(20, 200_000, p=shares / shares.sum())
    column = labels("c", x, (x + 7) % 20)
    everybody = subject(column)
    sample = everybody.sample(5_000, np.random.default_rng(1))
    few = attack_column(Frequency(), sample.columns[0], Scene(sample))
    many = attack_column(Frequency(), sample.columns[0], Scene(sample, everybody=everybody))
    assert many.share > few.share + 0.2
    assert (few.of, many.of) == (2_500, 100_000)


def test_more_aliases_than_categories_stay_unnamed() -> None:
    named = by_frequency(np.array([7]), np.array([0, 0, 1]), np.random.default_rng(0))
    assert named.tolist() == [7, 7, -1]


def test_frequency_is_for_categories_only() -> None:
    scene = Scene(subject(numbers("x", X, X)))
    assert not Frequency().applies_to(Aim(AimKind.COLUMN, scene.sample.columns), scene)


def test_correlated_columns_filter_each_others_noise() -> None:
    twins = [numbers(f"x{i}", X, X + RNG.normal(0, 30, 4_000), "noise") for i in range(4)]
    found = attack_table(Spectral(), *twins)
    assert found.share > 0.6
    assert found.share > found.chance + 0.1
    strangers = [
        numbers(f"x{i}", RNG.uniform(0, 100, 4_000), np.zeros(4_000), "noise") for i in range(2)
    ]
    strangers = [
        numbers(c.name, c.pair()[0], c.pair()[0] + RNG.normal(0, 30, 4_000), "noise")
        for c in strangers
    ]
    apart = attack_table(Spectral(), *strangers)
    assert apart.share == pytest.approx(apart.chance, abs=0.02)


def test_a_sparse_column_does_not_switch_the_filter_off() -> None:
    twins = [numbers(f"x{i}", X, X + RNG.normal(0, 30, 4_000), "noise") for i in range(4)]
    once = np.where(np.arange(4_000) == 7, 3.0, np.nan)
    few = np.where(np.arange(4_000) % 10 == 7, X, np.nan)
    sparse = [numbers("once", once, once, "keep"), numbers("few", few, few, "noise")]
    found = attack_table(Spectral(), *twins, *sparse)
    assert found.share > 0.6
    assert found.columns == ("x0", "x1", "x2", "x3")
    alone = Aim(AimKind.TABLE, (numbers("once", once, once, "noise"),))
    assert not Spectral().applies_to(alone, Scene(subject(*alone.columns)))


def test_spectral_needs_noise() -> None:
    scene = Scene(subject(numbers("x", X, X)))
    assert not Spectral().applies_to(Aim(AimKind.TABLE, scene.sample.columns), scene)


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string())


def people(zips: list[str], ages: list[str], released: list[str], known: list[str]) -> list[Shared]:
    """A town of zips kept as they are, ages generalized; the background knows both."""
    return [
        Shared("zip", texts(*zips), texts(*zips), texts(*zips), is_generalized=False),
        Shared("age", texts(*ages), texts(*released), texts(*known), is_generalized=True),
    ]


def test_background_finds_whoever_is_alone() -> None:
    shared = people(["1", "1", "2"], ["30", "31", "40"], ["30", "31", "40"], ["30", "31", "40"])
    who = texts("a", "b", "c")
    background = match(shared, True, (who, texts("a", "d", "c")))
    assert background is not None
    assert (
        expected_links(background, are_proven=True) == 2
    )  # the second of the background is somebody else
    scene = Scene(subject(numbers("x", [1, 2, 3], [1, 2, 3])), background=background)
    found = attack_table(Linking(), *scene.sample.columns, scene=scene)
    assert found.share == pytest.approx(2 / 3)
    assert found.sentence.endswith("are found, and others are taken for somebody else")
    unproven = match(shared, True, None)
    assert unproven is not None
    assert expected_links(unproven, are_proven=False) == 3
    scene = Scene(scene.sample, background=unproven)
    assert attack_table(Linking(), *scene.sample.columns, scene=scene).share == 1


def test_a_register_of_a_town_finds_one_of_those_who_fit_one_row() -> None:
    """200 people of the register fit each released row: one of them is right."""
    towns = [str(i) for i in range(10)]
    register = [town for town in towns for _ in range(200)]
    shared = [Shared("town", texts(*towns), texts(*towns), texts(*register), is_generalized=False)]
    unproven = match(shared, True, None)
    table = subject(numbers("x", range(10), range(10)))
    found = attack_table(Linking(), *table.columns, scene=Scene(table, background=unproven))
    assert found.share == pytest.approx(1 / 200)
    assert found.of == 10
    keys = [f"{i // 200}" if i % 200 == 0 else f"x{i}" for i in range(2_000)]
    proven = match(shared, True, (texts(*towns), texts(*keys)))
    found = attack_table(Linking(), *table.columns, scene=Scene(table, background=proven))
    assert found.share == pytest.approx(1 / 200)
    assert found.sentence.endswith(
        "of the release's people are found, and others are taken for somebody else"
    )


def test_a_register_that_tells_people_apart_finds_all_who_were_released() -> None:
    towns, register = [str(i) for i in range(10)], [str(i) for i in range(2_000)]
    shared = [Shared("town", texts(*towns), texts(*towns), texts(*register), is_generalized=False)]
    table = subject(numbers("x", range(10), range(10)))
    for keys in (None, (texts(*towns), texts(*register))):
        scene = Scene(table, background=match(shared, True, keys))
        assert attack_table(Linking(), *table.columns, scene=scene).share == 1


def test_a_background_that_is_written_otherwise_is_no_protection() -> None:
    table = subject(numbers("x", [1, 2], [1, 2]))
    elsewhere = match(people(["1", "2"], ["30", "40"], ["30", "40"], ["x", "y"]), True, None)
    found = attack_table(Linking(), *table.columns, scene=Scene(table, background=elsewhere))
    assert found.share == 0
    assert found.sentence.startswith("nobody of the background fits a released row")
    other_keys = match(
        people(["1", "2"], ["30", "40"], ["30", "40"], ["30", "40"]),
        True,
        (texts("a", "b"), texts("y", "z")),
    )
    found = attack_table(Linking(), *table.columns, scene=Scene(table, background=other_keys))
    assert found.share == 1
    assert found.sentence.endswith("no KEY is in both, so that none can be proven right")


def test_background_draws_lots_in_classes() -> None:
    """Two known people fit a class of three: each pair is drawn once in three."""
    shared = people(["1", "1", "1"], ["30", "31", "32"], ["3*", "3*", "3*"], ["30", "31", "55"])
    background = match(shared, True, None)
    assert background is not None
    assert expected_links(background, are_proven=False) == pytest.approx(2 / 3)
    assert background.known.tolist().count(-1) == 1  # nobody released is 55
    assert population(background, np.zeros(3, dtype=np.int64), 1).tolist() == [2]


def test_a_high_class_alone_is_compared_as_it_is() -> None:
    shared = people(["1", "1", "2"], ["30", "31", "40"], ["*", "*", "40"], ["30", "31", "40"])
    background = match(shared, False, None)
    assert background is not None
    assert expected_links(background, are_proven=False) == 1
    regions = match(shared[1:], True, None)  # 30 and 31 are `*`, which the data tell
    assert regions is not None
    assert match([], True, None) is None


def test_an_original_released_in_two_ways_is_compared_as_it_is() -> None:
    shared = [Shared("age", texts("30", "30"), texts("3*", "*"), texts("30"), True)]
    background = match(shared, True, None)
    assert background is not None
    assert expected_links(background, are_proven=False) == 0


def test_population_counts_everybody_who_could_be_in_a_class() -> None:
    background = Background(("zip",), np.array([0, 1, 5]), np.array([0, 0, 1, 7, -1]))
    assert population(background, np.array([0, 0, 1]), 2).tolist() == [3, 0]
    visits = Background(
        ("zip",), np.array([0, 1]), np.array([0, 0, 1]), np.array([0, 1]), np.array([7, 7, 8])
    )
    assert population(visits, np.array([0, 1]), 2).tolist() == [1, 1]  # two rows, one person
    empty = Background(("zip",), np.array([0]), np.array([-1]))
    assert population(empty, np.array([0]), 1).tolist() == [0]


def test_names_are_unique_and_knowledge_is_said() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.knowledge for attack in ATTACKS)


def test_all_attacks_run_on_a_mixed_table_and_stay_between_0_and_1() -> None:
    found = run_attacks(
        Scene(
            subject(
                numbers("x", X, X + NOISE, "noise"),
                numbers("y", X, X * 2, "scaling"),
                numbers("g", X, X, "rotation", group=9),
                numbers("h", X, X, "rotation", group=9),
                labels("c", RNG.integers(0, 4, 4_000), RNG.integers(0, 4, 4_000)),
                numbers("gone", X, np.full(4_000, np.nan), "suppress"),
            )
        )
    )
    assert {f.attack for f in found} >= {"ordering", "spectral", "known_input", "frequency"}
    assert all(0 <= f.share <= 1 and 0 <= f.chance <= 1 for f in found)
    assert not any("gone" in f.target for f in found)


def test_rows_that_the_key_puts_together_are_one_person() -> None:
    """Two rows of each person: whichever is drawn is right, and by person everybody is alone."""
    shown, who = np.array([0, 0, 1, 1]), np.array([5, 5, 6, 6])
    bare = Background(("zip",), shown, np.array([0, 1]), who, np.array([5, 6]))
    assert expected_links(bare, are_proven=True) == 2
    together = replace(bare, released_link=np.array([0, 0, 1, 1]))
    assert expected_links(together, are_proven=True) == 2
    wrong = replace(bare, released_link=np.array([0, 0, 1, 1]), known_person=np.array([6, -1]))
    assert expected_links(wrong, are_proven=True) == 0


def test_nobody_is_named_by_a_key_that_is_not_there() -> None:
    nameless = Background(
        ("zip",), np.array([0, 1]), np.array([0, 1]), np.array([-1, -1]), np.array([-1, -1])
    )
    assert expected_links(nameless, are_proven=True) == 0
    table = subject(numbers("x", [1, 2], [1, 2]))
    found = attack_table(Linking(), *table.columns, scene=Scene(table, background=nameless))
    assert found.sentence.endswith("so that none can be proven right")


@settings(max_examples=cases(60))
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=1, max_size=9))
def test_lots_are_drawn_as_by_trying_all_of_them(rows: list[tuple[int, bool, bool]]) -> None:
    """Match the smaller side of each class into the larger in every way; count who is right."""
    people = [(code, who) for who, (code, _, _) in enumerate(rows)]
    released = [person for person, row in zip(people, rows, strict=True) if row[1]]
    known = [person for person, row in zip(people, rows, strict=True) if row[2]]
    if not released or not known:
        return
    background = Background(
        ("zip",),
        np.array([code for code, _ in released]),
        np.array([code for code, _ in known]),
        np.array([who for _, who in released]),
        np.array([who for _, who in known]),
    )
    expected = 0.0
    for code in range(4):
        here = [who for c, who in released if c == code]
        there = [who for c, who in known if c == code]
        few, many = sorted((here, there), key=len)
        ways = list(permutations(many, len(few)))
        expected += np.mean([sum(map(eq, few, way)) for way in ways])
    assert expected_links(background, are_proven=True) == pytest.approx(expected)
