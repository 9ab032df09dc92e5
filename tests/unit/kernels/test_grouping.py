"""Groups of one column: at least k, contiguous, and for clusters the least squared distance."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels import groups_of_size as by_size
from ppdm_sql.treatments.kernels.grouping import (
    EXACT_UP_TO,
    cut_points,
    groups_of_clusters,
    means,
)
from ppdm_sql.treatments.kernels.groups_of_size import groups_of_size
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]

tied = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=60)
plain = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=60)
usual = settings(max_examples=cases(100))


def ordered(values: Sequence[float]) -> Floats:
    return np.sort(np.array(values, dtype=np.float64))


def split(values: Floats, starts: npt.NDArray[np.intp]) -> list[list[float]]:
    assert starts[0] == 0
    assert (np.diff(starts) > 0).all()
    return [part.tolist() for part in np.split(values, starts[1:])]


def loss(groups: Sequence[Sequence[float]]) -> Fraction:
    """Return the squared distance to the means, without any rounding."""
    total = Fraction(0)
    for group in groups:
        exact = [Fraction(value) for value in group]
        mean = sum(exact, Fraction(0)) / len(exact)
        total += sum(((value - mean) * (value - mean) for value in exact), Fraction(0))
    return total


def least_loss(values: Floats, clusters: int) -> Fraction:
    """Return the loss of the best of all ways to cut sorted values; equal ones stay together."""
    distinct = np.unique(values).tolist()
    best: Fraction | None = None
    for cuts in itertools.combinations(range(1, len(distinct)), clusters - 1):
        starts = [0, *(int(np.searchsorted(values, distinct[cut])) for cut in cuts)]
        found = loss(split(values, np.array(starts, dtype=np.intp)))
        best = found if best is None else min(best, found)
    assert best is not None
    return best


@given(tied | plain, st.integers(2, 10))
@example([1.0, 1.0, 1.0, 2.0], 2)
@example([1.0, 2.0, 2.0, 2.0, 3.0], 2)
@usual
def test_every_group_has_at_least_its_size(values: list[float], size: int) -> None:
    assume(len(values) >= size)
    groups = split(ordered(values), groups_of_size(ordered(values), size))
    assert all(len(group) >= size for group in groups)
    assert list(itertools.chain(*groups)) == sorted(values)
    for below, above in itertools.pairwise(groups):
        assert below[-1] < above[0], "equal values are in one group"


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=60, unique=True))
@usual
def test_without_ties_no_group_could_be_two(values: list[int]) -> None:
    for size in (2, 3, 7):
        if len(values) >= size:
            groups = split(ordered(values), groups_of_size(ordered(values), size))
            assert all(len(group) < 2 * size for group in groups)


def test_one_group_when_there_are_just_enough_or_all_are_equal() -> None:
    assert groups_of_size(ordered([3, 1, 2]), 3).tolist() == [0]
    assert groups_of_size(ordered([3, 1, 2]), 2).tolist() == [0]
    assert groups_of_size(ordered([7] * 10), 2).tolist() == [0]


def test_what_is_left_joins_the_group_it_is_nearer_to() -> None:
    assert groups_of_size(ordered([1, 2, 3, 6, 7]), 2).tolist() == [0, 3]
    assert groups_of_size(ordered([1, 2, 5, 6, 7]), 2).tolist() == [0, 2]


def test_incomes_of_document_004() -> None:
    """Groups in a row, each as small as can be, would lose 0.171 of the variance."""
    incomes = ordered(INCOMES)
    groups = split(incomes, groups_of_size(incomes, 3))
    assert [len(group) for group in groups] == [4, 3, 3]
    share = loss(groups) / loss([incomes.tolist()])
    assert round(float(share), 3) == 0.027


def least_loss_of_size(values: Floats, size: int) -> Fraction:
    """Return the loss of the best groups of at least `size`, by trying every last group."""
    distinct = [*np.unique(values).tolist(), math.inf]
    begins = [int(np.searchsorted(values, value)) for value in distinct]
    best: dict[int, Fraction] = {0: Fraction(0)}
    for end in begins[1:]:
        ways = [
            best[start] + loss([values[start:end].tolist()])
            for start in begins
            if start in best and end - start >= size
        ]
        if ways:
            best[end] = min(ways)
    return best[len(values)]


@given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=16), st.integers(2, 6))
@usual
def test_groups_of_a_size_are_the_best_there_are(values: list[float], size: int) -> None:
    assume(len(values) >= size)
    found = loss(split(ordered(values), groups_of_size(ordered(values), size)))
    assert found <= least_loss_of_size(ordered(values), size) * (1 + Fraction(1, 10**9))


@given(st.lists(st.integers(0, 90).map(float), min_size=12, max_size=60), st.integers(2, 6))
@usual
def test_in_blocks_no_group_is_smaller(values: list[float], size: int) -> None:
    with mock.patch.object(by_size, "EXACT_UP_TO", 7):
        groups = split(ordered(values), groups_of_size(ordered(values), size))
    assert all(len(group) >= size for group in groups)
    assert list(itertools.chain(*groups)) == sorted(values)


def test_many_rows_lose_little_more_than_the_least() -> None:
    """Parts of three rows instead of single ones, for groups of 201 and more."""
    values = np.sort(np.random.default_rng(4).lognormal(size=3000))
    found = split(values, groups_of_size(values, 250))
    with mock.patch.object(by_size, "_FINEST", 1000):
        best = split(values, groups_of_size(values, 250))
    assert loss(best) <= loss(found) <= loss(best) * Fraction(101, 100)


@given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=11), st.integers(2, 4))
@usual
def test_clusters_are_the_best_there_are(values: list[float], clusters: int) -> None:
    assume(len(set(values)) >= clusters)
    found = split(ordered(values), groups_of_clusters(ordered(values), clusters))
    assert len(found) == clusters
    assert loss(found) <= least_loss(ordered(values), clusters) * (1 + Fraction(1, 10**9))


@given(
    st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=3, max_size=10, unique=True),
    st.integers(2, 4),
)
@usual
def test_clusters_of_any_numbers_are_near_the_best(values: list[float], clusters: int) -> None:
    assume(len(set(values)) >= clusters)
    found = split(ordered(values), groups_of_clusters(ordered(values), clusters))
    spread = Fraction(max(values)) - Fraction(min(values))
    # Sums of squares are kept to about 1e-16 of the largest one.
    slack = spread**2 * Fraction(1, 10**12)
    assert loss(found) <= least_loss(ordered(values), clusters) + slack


@pytest.mark.parametrize(
    ("values", "clusters"),
    [
        ([0, 1, 1e9], 3),
        ([0, 1, 2, 1e9], 3),
        ([0, 1, 1e9, 1e9 + 2], 3),
        ([30_000, 30_010, 40_000, 40_004, 5e11], 4),
        ([0, 1e-9, 1], 3),
    ],
)
def test_one_value_far_away_does_not_blur_the_others(values: list[float], clusters: int) -> None:
    found = split(ordered(values), groups_of_clusters(ordered(values), clusters))
    assert len(found) == clusters
    assert loss(found) == least_loss(ordered(values), clusters)


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e15, 1e-15])
def test_the_unit_of_measure_does_not_matter(unit: float) -> None:
    values = ordered([1, 2, 3, 11, 12, 13, 31, 32, 33])
    assert groups_of_clusters(values * unit, 3).tolist() == [0, 3, 6]


@given(
    st.lists(st.integers(0, 60), min_size=3, max_size=10),
    st.integers(2, 4),
    st.sampled_from([2.0**52, -(2.0**52), 1e15, 1e9]),
)
@usual
def test_far_from_zero_small_differences_count(
    values: list[int], clusters: int, offset: float
) -> None:
    assume(len(set(values)) >= clusters)
    far = ordered([offset + value for value in values])
    found = split(far, groups_of_clusters(far, clusters))
    assert len(found) == clusters
    assert loss(found) <= least_loss(far, clusters) * (1 + Fraction(1, 10**9))


def test_three_clusters_of_the_document_s_incomes() -> None:
    values = ordered(INCOMES)
    starts = groups_of_clusters(values, 3)
    assert split(values, starts) == [
        [7650, 8763, 9657, 9954],
        [54359, 56030, 65982],
        [75675, 86791, 96786],
    ]
    averages = means(values, starts)
    assert averages == pytest.approx([9006, 58790.333333, 86417.333333], rel=1e-9)
    assert averages[0] != 36024, "the document prints the sum of the last cluster"
    assert averages[0] * 4 == 36024


def test_one_cluster_and_as_many_as_values() -> None:
    values = ordered([1, 1, 5, 9])
    assert groups_of_clusters(values, 1).tolist() == [0]
    assert groups_of_clusters(values, 3).tolist() == [0, 2, 3]


def many(count: int, seed: int = 1) -> Floats:
    return np.sort(np.random.default_rng(seed).normal(size=count))


@pytest.mark.parametrize("clusters", [2, 10, 100, 1000, 2000, EXACT_UP_TO + 399])
def test_beyond_the_exact_size_there_are_still_as_many_clusters_as_asked(clusters: int) -> None:
    values = many(EXACT_UP_TO + 500)
    assert len(split(values, groups_of_clusters(values, clusters))) == clusters


def test_beyond_the_exact_size_clear_clusters_are_found() -> None:
    rows = np.random.default_rng(5)
    values = np.sort(np.concatenate([rows.normal(centre, 1, 1500) for centre in (0, 40, 100)]))
    assert len(np.unique(values)) > EXACT_UP_TO
    assert groups_of_clusters(values, 3).tolist() == [0, 1500, 3000]


def test_beyond_the_exact_size_little_is_lost() -> None:
    """Lloyd's on 2,001 values against the exact answer on 2,000 of them."""
    values = many(EXACT_UP_TO + 1, 3)
    for clusters in (3, 8):
        exact = float(loss(split(values[:-1], groups_of_clusters(values[:-1], clusters))))
        near = float(loss(split(values, groups_of_clusters(values, clusters))))
        assert near <= exact * 1.03 + 1


def test_cut_points_lie_half_way_and_begin_with_nothing_below() -> None:
    values = ordered([1, 2, 8, 9])
    assert cut_points(values, np.array([0, 2])).tolist() == [-math.inf, 5.0]
    assert cut_points(values, np.array([0])).tolist() == [-math.inf]


@pytest.mark.parametrize("low", [1.0, -1.0, 1e299, 5e-324, -5e-324, 0.0])
def test_between_neighbouring_numbers_the_upper_is_the_cut(low: float) -> None:
    high = math.nextafter(low, math.inf)
    (_, cut) = cut_points(ordered([low, high]), np.array([0, 1])).tolist()
    assert low < cut <= high


@given(tied | plain, st.integers(2, 5))
@usual
def test_every_value_finds_its_own_group_by_the_cut_points(values: list[float], size: int) -> None:
    assume(len(values) >= size)
    sorted_values = ordered(values)
    starts = groups_of_size(sorted_values, size)
    found = np.searchsorted(cut_points(sorted_values, starts), sorted_values, side="right") - 1
    wanted = np.searchsorted(starts, np.arange(len(values)), side="right") - 1
    assert found.tolist() == wanted.tolist()


@given(plain, st.integers(2, 5))
@usual
def test_means_keep_the_sum(values: list[float], size: int) -> None:
    assume(len(values) >= size)
    sorted_values = ordered(values)
    starts = groups_of_size(sorted_values, size)
    groups = split(sorted_values, starts)
    averages = means(sorted_values, starts)
    for average, group in zip(averages.tolist(), groups, strict=True):
        exact = sum(map(Fraction, group), Fraction(0)) / len(group)
        largest = max(abs(value) for value in group)
        assert abs(Fraction(average) - exact) <= Fraction(largest) * Fraction(1, 10**13)
    total = math.fsum(a * len(g) for a, g in zip(averages.tolist(), groups, strict=True))
    near = 1e-12 * sum(map(abs, values))
    assert total == pytest.approx(math.fsum(values), rel=0, abs=near)


def squared_distances(values: Floats) -> Floats:
    """Return the cost of every range [start, end), from the definition."""
    count = len(values)
    costs = np.full((count + 1, count + 1), np.inf)
    for start, end in itertools.combinations(range(count + 1), 2):
        costs[start, end] = ((values[start:end] - values[start:end].mean()) ** 2).sum()
    return costs


@pytest.mark.parametrize("clusters", [2, 3, 7, 40, 99, 119, 120])
@pytest.mark.parametrize("kind", ["normal", "lognormal", "even"])
def test_many_clusters_cost_what_trying_every_start_finds(kind: str, clusters: int) -> None:
    numbers = np.random.default_rng(7)
    values = np.sort(
        {
            "normal": numbers.normal(size=120),
            "lognormal": numbers.lognormal(size=120),
            "even": np.arange(120.0),
        }[kind]
    )
    costs = squared_distances(values)
    best = costs[0]
    for _ in range(1, clusters):
        best = (best[:, None] + costs).min(axis=0)
    starts = groups_of_clusters(values, clusters)
    assert len(starts) == clusters
    found = sum(costs[start, end] for start, end in itertools.pairwise([*starts, len(values)]))
    assert found == pytest.approx(best[-1], rel=1e-9, abs=1e-12)
