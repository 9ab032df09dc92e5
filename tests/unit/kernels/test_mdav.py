"""MDAV: every group has at least k rows; on small data it is the published algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels import mdav as module
from ppdm_sql.treatments.kernels.mdav import EXACT_UP_TO, blocks, mdav, principal_component
from tests.cases import cases

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]

usual = settings(max_examples=cases(100))


def ones(points: Floats) -> Counts:
    return np.ones(len(points), dtype=np.int64)


def cloud(count: int, columns: int = 2, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, columns))


def sizes(groups: npt.NDArray[np.intp], weights: Counts) -> list[int]:
    """Return how many rows each group has; group numbers must have no gaps."""
    counted = np.bincount(groups, weights=weights).astype(int).tolist()
    assert all(counted), "a group without rows"
    return [int(count) for count in counted]


def loss(points: Floats, groups: npt.NDArray[np.intp]) -> float:
    return sum(
        float(((points[groups == g] - points[groups == g].mean(axis=0)) ** 2).sum())
        for g in range(int(groups.max()) + 1)
    )


def slowly(points: Floats, size: int) -> npt.NDArray[np.intp]:
    """Return MDAV as it is published (Domingo-Ferrer and Torra, 2005), row by row."""
    left = list(range(len(points)))
    groups = np.full(len(points), -1, dtype=np.intp)
    made = 0

    def far_from(centre: Floats) -> int:
        return max(left, key=lambda i: float(((points[i] - centre) ** 2).sum()))

    def take(around: int) -> None:
        nonlocal made
        near = sorted(left, key=lambda i: float(((points[i] - points[around]) ** 2).sum()))
        for i in near[:size]:
            groups[i] = made
            left.remove(i)
        made += 1

    while len(left) >= 3 * size:
        first = far_from(points[left].mean(axis=0))
        take(first)
        take(far_from(points[first]))
    if len(left) >= 2 * size:
        take(far_from(points[left].mean(axis=0)))
    groups[left] = made
    return groups


@st.composite
def weighted_points(draw: st.DrawFn) -> tuple[Floats, Counts]:
    """Draw distinct rows, some of them lying in line or far away, each with how often it occurs."""
    columns = draw(st.integers(2, 4))
    number = st.integers(-3, 3).map(float) | st.floats(-100, 100, allow_nan=False)
    rows = draw(
        st.lists(st.tuples(*[number] * columns), min_size=1, max_size=40, unique=True).map(
            lambda found: sorted({tuple(x + 0.0 for x in row) for row in found})
        )
    )
    weights = draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    return np.array(rows, dtype=np.float64), np.array(weights, dtype=np.int64)


@given(weighted_points(), st.integers(2, 12))
@example((np.array([[0.0, 0.0]]), np.array([5])), 5)
@example((np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([1, 9])), 5)
@usual
def test_every_group_has_at_least_its_size(drawn: tuple[Floats, Counts], size: int) -> None:
    points, weights = drawn
    assume(weights.sum() >= size)
    groups = mdav(points, weights, size)
    assert len(groups) == len(points)
    assert min(sizes(groups, weights)) >= size


@pytest.mark.parametrize("size", [2, 3, 5, 10])
@pytest.mark.parametrize("count", [11, 29, 30, 31, 100])
@pytest.mark.parametrize("columns", [2, 3])
def test_on_small_data_it_is_the_published_algorithm(size: int, count: int, columns: int) -> None:
    points = cloud(count, columns, seed=count + columns)
    found, plain = mdav(points, ones(points), size), slowly(points, size)
    assert loss(points, found) == pytest.approx(loss(points, plain), rel=1e-9)
    assert sorted(sizes(found, ones(points))) == sorted(sizes(plain, ones(points)))


def test_without_repeated_rows_no_group_could_be_two() -> None:
    points = cloud(200, seed=4)
    for size in (2, 3, 7, 50):
        assert max(sizes(mdav(points, ones(points), size), ones(points))) < 2 * size


def test_similar_rows_are_together() -> None:
    centres = np.array([[0, 0], [50, 0], [0, 50], [50, 50]], dtype=np.float64)
    points = np.concatenate([centre + cloud(5, seed=at) for at, centre in enumerate(centres)])
    groups = mdav(points, ones(points), 5)
    assert sizes(groups, ones(points)) == [5, 5, 5, 5]
    for at in range(4):
        assert len(set(groups[5 * at : 5 * at + 5].tolist())) == 1


def test_a_row_that_occurs_often_enough_may_be_alone() -> None:
    points = np.array([[0.0, 0.0], [10.0, 10.0], [10.0, 11.0], [11.0, 10.0]])
    groups = mdav(points, np.array([9, 1, 1, 1]), 3)
    assert sizes(groups, np.array([9, 1, 1, 1])) in ([9, 3], [3, 9])


def test_too_few_rows_for_two_groups_are_one() -> None:
    points = cloud(5)
    assert set(mdav(points, ones(points), 3).tolist()) == {0}


def test_up_to_the_stated_size_all_is_one_block() -> None:
    assert EXACT_UP_TO == 20_000
    points = cloud(EXACT_UP_TO)
    assert [len(block) for block in blocks(points, ones(points), 5)] == [EXACT_UP_TO]


def test_beyond_it_blocks_follow_the_direction_of_most_spread() -> None:
    points = cloud(EXACT_UP_TO + 1) * np.array([1.0, 30.0])
    first, second = blocks(points, ones(points), 5)
    assert sorted([*first.tolist(), *second.tolist()]) == list(range(EXACT_UP_TO + 1))
    assert abs(len(first) - len(second)) <= 1
    along = points @ principal_component(points, ones(points))
    assert along[first].max() <= along[second].min()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of 50 rows, so that many of them are quick."""
    monkeypatch.setattr(module, "EXACT_UP_TO", 50)
    return 50


@pytest.mark.parametrize("size", [2, 5, 10, 24, 25, 26, 40, 49, 50, 51, 60, 100, 120])
def test_groups_are_large_enough_whatever_the_blocks(small_blocks: int, size: int) -> None:
    points = cloud(2 * small_blocks + 21, seed=size)
    assert min(sizes(mdav(points, ones(points), size), ones(points))) >= size


def test_groups_are_large_enough_beyond_the_stated_size() -> None:
    points = cloud(EXACT_UP_TO + 1)
    assert min(sizes(mdav(points, ones(points), 11_000), ones(points))) >= 11_000


def test_blocks_with_repeated_rows(small_blocks: int) -> None:
    points = cloud(3 * small_blocks)
    weights = np.random.default_rng(2).integers(1, 5, len(points))
    assert len(blocks(points, weights, 4)) == 3
    assert min(sizes(mdav(points, weights, 4), weights)) >= 4


def test_blocks_cost_little(small_blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points = cloud(200, seed=9)
    by_blocks = loss(points, mdav(points, ones(points), 5))
    monkeypatch.setattr(module, "EXACT_UP_TO", 1000)
    whole = loss(points, mdav(points, ones(points), 5))
    assert whole <= by_blocks < 2 * whole


@pytest.mark.parametrize("angle", [0.0, 20.0, 90.0, 135.0])
def test_the_principal_component_is_the_long_axis(angle: float) -> None:
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    across = np.array([-along[1], along[0]])
    rows = np.random.default_rng(1)
    points = np.outer(rows.normal(0, 20, 500), along) + np.outer(rows.normal(0, 1, 500), across)
    found = principal_component(points, ones(points))
    assert abs(found @ along) == pytest.approx(1, abs=1e-3)
    assert found[np.argmax(np.abs(found))] > 0, "its direction does not depend on the library"


def test_the_principal_component_counts_repeated_rows() -> None:
    points = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0]])
    assert abs(principal_component(points, np.array([1, 1, 1, 1]))[1]) == pytest.approx(1)
    assert abs(principal_component(points, np.array([50, 50, 1, 1]))[0]) == pytest.approx(1)
