"""The search where it is easily wrong: targets that merging breaks, limits, ties, time, size."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_sql.errors import InternalError
from ppdm_sql.groups.search import (
    Alpha,
    Axis,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    Problem,
    RecursiveL,
    Target,
    ilm,
    list_minimal,
    measure,
    precision,
    search_optimal,
)
from ppdm_sql.groups.search.losses import LossTable
from tests.unit.anonymity import plain
from tests.unit.anonymity.plain import ints
from tests.unit.anonymity.tables import random_table

# Found by trying thousands of seeds with a search that takes every target for monotone: it
# misses the best node of each of these.
BROKEN_BY_SUPPRESSION: list[tuple[Target, int, int]] = [
    (EntropyL(0, 2.0), 10, 20),
    (EntropyL(0, 2.0), 64, 14),
    (RecursiveL(0, 2, 3.0), 8, 18),
    (RecursiveL(0, 2, 1.0), 9, 19),
    (Closeness(0, 0.2), 15, 25),
    (Closeness(0, 0.3), 46, 26),
    (Closeness(1, 0.3), 51, 31),
    (Closeness(1, 0.2), 88, 38),
    (Alpha(0, 0.6), 2, 12),
    (Alpha(0, 0.5), 7, 17),
]
BROKEN_BY_PERSONS: list[tuple[Target, int, int]] = [
    (EntropyL(0, 2.0), 2374, 14),
    (EntropyL(0, 2.0), 2434, 14),
    (RecursiveL(0, 2, 3.0), 3122, 12),
    (RecursiveL(0, 2, 1.0), 3756, 16),
    (Closeness(0, 0.2), 252, 22),
    (Closeness(0, 0.2), 2229, 19),
    (Closeness(1, 0.3), 91, 11),
    (Closeness(1, 0.3), 927, 37),
    (Alpha(0, 0.5), 13, 23),
    (Alpha(0, 0.5), 43, 23),
]


@pytest.mark.parametrize(
    ("target", "seed", "rows", "has_persons", "suppression"),
    [(*case, False, 0.3) for case in BROKEN_BY_SUPPRESSION]
    + [(*case, True, 0.0) for case in BROKEN_BY_PERSONS],
)
def test_a_target_that_merging_breaks_prunes_nothing_it_should_not(
    target: Target, seed: int, rows: int, has_persons: bool, suppression: float
) -> None:
    table = random_table(seed, rows, has_persons)
    targets = (K(2), target)
    judged = {
        levels: plain.judge(table, targets, suppression, "ilm", levels)
        for levels in plain.all_nodes(table)
    }
    allowed = [levels for levels, node in judged.items() if node.is_allowed]
    is_broken = any(
        not above.is_allowed
        and any(all(a <= b for a, b in zip(low, levels, strict=True)) for low in allowed)
        for levels, above in judged.items()
    )
    assert is_broken, "no node above an allowed one fails: the case shows nothing"
    best = min(allowed, key=lambda levels: (round(judged[levels].loss, 12), levels))
    assert search_optimal(table.problem(), targets, suppression, "ilm").levels == best


def axis(*levels: list[int], leaves: int | None = None) -> Axis:
    """Return an axis whose hierarchy has just the values of the data as leaves."""
    return Axis(
        groups=tuple(ints(level) for level in levels),
        covered=tuple(ints(level.count(group) for group in level) for level in levels),
        leaves=leaves or len(levels[0]),
    )


def flat(values: int) -> Axis:
    """Return an axis with values and `*`."""
    return axis(list(range(values)), [0] * values)


def problem(axes: list[Axis], codes: list[list[int]], rows: list[int]) -> Problem:
    """Return a problem without fixed columns."""
    return Problem(tuple(axes), np.array(codes), ints([0] * len(rows)), ints(rows))


def test_the_two_highly_sensitive_rows_of_document_002() -> None:
    # HIV: 422035, 27, F; Cancer: 423012, 47, M. Digits from the right; 25- and 50-year ranges.
    zips = axis(*([0, 1] for _ in range(4)), [0, 0], [0, 0], [0, 0])
    ages = axis([0, 1], [0, 0], [0, 0])
    sexes = flat(2)
    high = problem([zips, ages, sexes], [[0, 1], [0, 1], [0, 1]], [1, 1])
    outcome = search_optimal(high, [K(2)], 0.0, "precision")
    assert outcome.levels == (4, 1, 1)  # 42****, one range, *
    assert outcome.loss == pytest.approx((4 / 6 + 1 / 2 + 1) / 3)
    assert outcome.classes is not None
    assert measure(high, outcome.classes).k == 2


def test_suppression_is_a_share_of_rows_and_its_limit_is_allowed() -> None:
    one = problem([flat(3)], [[0, 1, 2]], [12, 12, 1])
    at_limit = search_optimal(one, [K(2)], 1 / 25, "precision")
    assert at_limit.levels == (0,)
    assert at_limit.suppressed_rows == 1
    assert at_limit.suppressed is not None
    assert at_limit.suppressed.tolist() == [False, False, True]
    assert at_limit.loss == pytest.approx(1 / 25)
    below = search_optimal(one, [K(2)], 1 / 25 - 1e-6, "precision")
    assert below.levels == (1,)
    assert below.loss == 1


def test_where_nothing_reaches_the_targets_there_is_no_node() -> None:
    two = problem([flat(2)], [[0, 1]], [1, 1])
    outcome = search_optimal(two, [K(3)], 0.99, "ilm")
    assert outcome.levels is None
    assert outcome.classes is None
    assert outcome.is_proven
    assert list_minimal(two, [K(3)], 0.99, "ilm").found == ()


def test_everything_may_be_suppressed_only_at_a_hundred_percent() -> None:
    two = problem([flat(2)], [[0, 1]], [1, 1])
    outcome = search_optimal(two, [K(3)], 1.0, "ilm")
    assert outcome.levels == (0,)
    assert outcome.loss == 1
    assert outcome.suppressed_rows == 2


def test_without_targets_everything_stays_as_it_is() -> None:
    outcome = search_optimal(problem([flat(2)], [[0, 1]], [1, 1]), [], 0.0, "ilm")
    assert outcome.levels == (0,)
    assert outcome.loss == 0


def test_no_rows_lose_nothing() -> None:
    empty = Problem((flat(2),), np.empty((1, 0), dtype=np.int64), ints([]), ints([]))
    outcome = search_optimal(empty, [K(5)], 0.0, "ilm")
    assert outcome.levels == (0,)
    assert outcome.loss == 0


def test_of_equal_losses_the_lexicographically_smaller_levels_win() -> None:
    # Either axis alone, generalized, gives k = 2; both lose the same.
    square = problem([flat(2), flat(2)], [[0, 0, 1, 1], [0, 1, 0, 1]], [1, 1, 1, 1])
    outcome = search_optimal(square, [K(2)], 0.0, "precision")
    assert outcome.levels == (0, 1)
    listed = list_minimal(square, [K(2)], 0.0, "precision")
    assert [node.levels for node in listed.found] == [(0, 1), (1, 0)]


def test_fixed_columns_are_always_part_of_a_class() -> None:
    axes = (flat(2),)
    codes = np.array([[0, 1, 0, 1]])
    fixed = Problem(axes, codes, ints([-7, -7, 5, 5]), ints([1, 1, 1, 1]))
    assert search_optimal(fixed, [K(2)], 0.0, "ilm").levels == (1,)
    assert search_optimal(fixed, [K(3)], 0.0, "ilm").levels is None


def test_progress_ascends_to_the_whole_lattice() -> None:
    table = random_table(10, 20, False)
    for find in (search_optimal, list_minimal):
        told: list[float] = []
        find(table.problem(), [K(2), EntropyL(0, 2.0)], 0.3, "ilm", on_progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1
        assert all(0 <= share <= 1 for share in told)


def wide_problem(axes: int) -> Problem:
    """Return a problem whose lattice has 3^axes nodes and hardly anything to prune."""
    random = np.random.default_rng(5)
    codes = random.integers(0, 6, (axes, 300))
    one = axis([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0] * 6)
    column = [one] * axes
    return Problem(tuple(column), codes, ints([0] * 300), ints([1] * 300))


def test_a_lattice_too_large_to_hold_ends_in_time_with_a_node_that_is_allowed() -> None:
    wide = wide_problem(40)
    assert wide.nodes == 3**40
    outcome = search_optimal(wide, [K(3)], 0.2, "ilm", time_limit_s=0.3)
    assert not outcome.is_proven
    assert outcome.levels is not None
    assert outcome.classes is not None
    assert outcome.suppressed is not None
    assert measure(wide, outcome.classes, ~outcome.suppressed).k >= 3
    assert outcome.suppressed_rows <= 60
    assert outcome.loss < 1
    assert not list_minimal(wide, [K(3)], 0.2, "ilm", time_limit_s=0.1).is_proven


def test_no_time_at_all_still_tries_the_top() -> None:
    outcome = search_optimal(wide_problem(3), [K(3)], 0.0, "ilm", time_limit_s=-1)
    assert outcome.levels is not None
    assert not outcome.is_proven


def test_halves_of_nodes_are_forgotten_rather_than_fill_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = random_table(10, 30, False)
    targets = (K(2), DistinctL(0, 2))
    expected = search_optimal(table.problem(), targets, 0.1, "ilm")
    monkeypatch.setattr("ppdm_sql.groups.search.lattice._REMEMBERED_BYTES", 0)
    monkeypatch.setattr("ppdm_sql.groups.search.lattice._LEAST_REMEMBERED", 2)
    assert search_optimal(table.problem(), targets, 0.1, "ilm").levels == expected.levels


def test_nothing_of_the_data_is_in_a_repr() -> None:
    secret = 987_654_321
    said = Problem((flat(2),), np.array([[0, 1]]), ints([secret, secret]), ints([secret, secret]))
    assert str(secret) not in repr(said)
    assert str(secret) not in repr(search_optimal(said, [K(1)], 0.0, "ilm"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Axis((ints([0]),), (ints([1]),), 1),
        lambda: Axis((ints([0, 1]), ints([0, 1])), (ints([1, 1]), ints([2, 2])), 2),
        lambda: Problem((flat(1),), np.zeros((1, 2), dtype=np.int64), ints([0]), ints([1])),
        lambda: Problem((flat(1),), np.zeros((1, 1), dtype=np.int64), ints([0, 0]), ints([1])),
        lambda: Problem((flat(1),), np.zeros((1, 1), np.int64), ints([0]), ints([1]), ints([0])),
    ],
)
def test_a_problem_that_makes_no_sense_is_a_bug(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(InternalError):
        wrong()


def test_losses_of_a_node() -> None:
    # Level 1 of 2 and level 0 of 1; of 9 leaves the two groups cover 5 and 4.
    grouped = Axis(
        (ints([0, 1, 2]), ints([0, 0, 1]), ints([0, 0, 0])),
        (ints([1, 1, 1]), ints([5, 5, 4]), ints([9, 9, 9])),
        leaves=9,
    )
    two = problem([grouped, flat(2)], [[0, 1, 2], [0, 1, 0]], [1, 2, 5])
    assert precision(two, (1, 0)) == pytest.approx(1 / 4)
    assert ilm(two, (1, 0)) == pytest.approx((3 * 4 / 8 + 5 * 3 / 8) / 16)
    suppressed = np.array([False, False, True])
    assert precision(two, (1, 0), suppressed) == pytest.approx((3 / 2 + 10) / 16)
    assert ilm(two, (1, 0), suppressed) == pytest.approx((3 * 4 / 8 + 10) / 16)


def test_a_bound_takes_the_least_of_a_level_and_those_above() -> None:
    table = LossTable(problem([axis([0, 1], [0, 1], [0, 0]), flat(2)], [[0, 1]] * 2, [1, 1]), "ilm")
    sums = np.array([3.0, 1.0, 2.0, 5.0, 4.0])  # three levels, then two
    assert table.least_above(sums).tolist() == [1, 1, 2, 4, 4]
