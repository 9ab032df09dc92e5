"""Translation, scaling and rotation as kernels: the document's numbers and what is not computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels.affine import LARGEST, direction, rotation, scaling, translation
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable

AGES = [29.0, 38.0, 34.0, 43.0, 42.0, 48.0]
SALARIES = [48.0, 72.0, 51.0, 65.0, 60.0, 53.0]
TURNED = [
    (39.543, 39.766),
    (53.971, 60.952),
    (45.111, 41.497),
    (57.171, 52.967),
    (55.015, 48.346),
    (59.187, 40.124),
]
JUST_BELOW = math.nextafter(LARGEST, 0)

numbers = st.floats(-1e12, 1e12, allow_nan=False)
angles = st.floats(-720, 720, allow_nan=False)
usual = settings(max_examples=cases(100))


def call(
    kernel: Callable[[pa.Array, pa.Array], pa.Array], x: list[float | None], by: float | None
) -> list[float | None]:
    values: list[float | None] = kernel(
        pa.array(x, pa.float64()), pa.array([by] * len(x), pa.float64())
    ).to_pylist()
    return values


def turn(
    x: list[float | None], y: list[float | None], degrees: list[float | None]
) -> list[tuple[float | None, float | None]]:
    columns = (pa.array(values, pa.float64()) for values in (x, y, degrees))
    return [(point["x"], point["y"]) for point in rotation(*columns).to_pylist()]


def test_translation_of_the_document() -> None:
    assert call(translation, [*AGES], -3.0) == [26, 35, 31, 40, 39, 45]
    assert call(translation, [*SALARIES], 5.0) == [53, 77, 56, 70, 65, 58]


def test_scaling_of_the_document_without_its_misprint() -> None:
    ages = call(scaling, [*AGES], 0.94)
    assert ages == pytest.approx([27.26, 35.72, 31.96, 40.42, 39.48, 45.12], rel=1e-14)
    assert ages[1] is not None
    assert round(ages[1]) == 36, "the document prints 35"
    assert call(scaling, [*SALARIES], 1.035) == pytest.approx(
        [49.68, 74.52, 52.785, 67.275, 62.1, 54.855], rel=1e-14
    )


def test_rotation_of_the_document_without_its_misprint() -> None:
    turned = turn([*AGES], [*SALARIES], [13.7] * 6)
    rounded = [(round(x or 0, 3), round(y or 0, 3)) for x, y in turned]
    assert rounded == TURNED
    assert rounded[4][1] != 48.354, "the document prints 48,354 for 48,346"


def test_the_turn_is_clockwise() -> None:
    ((x, y),) = turn([1.0], [0.0], [30.0])
    assert x == pytest.approx(math.sqrt(3) / 2)
    assert y == pytest.approx(-0.5)


@pytest.mark.parametrize("kernel", [translation, scaling])
@pytest.mark.parametrize(
    "x", [None, math.nan, math.inf, -math.inf, LARGEST, -LARGEST, 1.7e308, -1.7e308]
)
def test_what_cannot_be_computed_with_is_null(
    kernel: Callable[[pa.Array, pa.Array], pa.Array], x: float | None
) -> None:
    assert call(kernel, [x], 2.0) == [None]


@pytest.mark.parametrize("x", [JUST_BELOW, -JUST_BELOW, 5e-324, 0.0, -0.0])
def test_everything_below_is_computed(x: float) -> None:
    assert call(translation, [x], 2.5) == [x + 2.5]
    assert call(scaling, [x], 2.5) == [x * 2.5]


@pytest.mark.parametrize("kernel", [translation, scaling])
def test_a_missing_constant_gives_null(
    kernel: Callable[[pa.Array, pa.Array], pa.Array],
) -> None:
    assert call(kernel, [1.0, None], None) == [None, None]
    assert call(kernel, [], 1.0) == []


@pytest.mark.parametrize(
    ("kernel", "x", "by"),
    [(scaling, 1e200, 1e200), (scaling, -1e299, 1e10), (translation, 9e299, 1.79769313486e308)],
)
def test_a_result_that_passes_the_largest_double_is_null(
    kernel: Callable[[pa.Array, pa.Array], pa.Array], x: float, by: float
) -> None:
    assert call(kernel, [x], by) == [None]


@pytest.mark.parametrize("kernel", [translation, scaling])
@pytest.mark.parametrize("by", [math.inf, -math.inf, math.nan])
def test_a_constant_that_is_no_number_gives_null(
    kernel: Callable[[pa.Array, pa.Array], pa.Array], by: float
) -> None:
    assert call(kernel, [1.0], by) == [None]


def test_a_rotation_needs_both_coordinates_and_the_angle() -> None:
    nan, inf = math.nan, math.inf
    x = [None, 1.0, 1.0, nan, 1.0, inf]
    y = [1.0, None, 1.0, 1.0, -inf, 1.0]
    degrees = [30.0, 30.0, None, 30.0, 30.0, 30.0]
    assert turn([*x], [*y], [*degrees]) == [(None, None)] * 6


def test_a_turn_past_the_largest_double_is_null() -> None:
    for point in turn([1.7e308, -1.7e308], [1.7e308, 1.7e308], [45.0, 45.0]):
        assert None in point
        assert not any(value is not None and math.isinf(value) for value in point)


def test_an_angle_that_is_no_number_gives_no_point_alone_and_among_others() -> None:
    assert turn([1.0, 1.0], [2.0, 2.0], [math.inf, 0.0])[0] == (None, None)
    assert turn([1.0], [2.0], [math.inf]) == [(None, None)]


def test_no_points_give_no_points() -> None:
    assert turn([], [], []) == []


@given(st.lists(st.tuples(numbers, numbers, angles), min_size=2, max_size=20))
@usual
def test_an_angle_means_the_same_alone_and_among_others(
    points: list[tuple[float, float, float]],
) -> None:
    x, y, degrees = (list(column) for column in zip(*points, strict=True))
    together = turn([*x], [*y], [*degrees])
    for point, (a, b, angle) in zip(together, points, strict=True):
        ((alone_x, alone_y),) = turn([a], [b], [angle])
        near = 1e-12 * (math.hypot(a, b) or 1.0)
        assert point[0] == pytest.approx(alone_x, rel=0, abs=near)
        assert point[1] == pytest.approx(alone_y, rel=0, abs=near)


@given(numbers, numbers, angles)
@usual
def test_a_turn_keeps_lengths_and_a_turn_back_undoes_it(x: float, y: float, degrees: float) -> None:
    ((u, v),) = turn([x], [y], [degrees])
    assert u is not None
    assert v is not None
    assert math.hypot(u, v) == pytest.approx(math.hypot(x, y), rel=1e-12, abs=1e-300)
    ((back_x, back_y),) = turn([u], [v], [-degrees])
    near = 1e-12 * math.hypot(x, y)
    assert back_x == pytest.approx(x, rel=0, abs=near)
    assert back_y == pytest.approx(y, rel=0, abs=near)


@given(angles)
@usual
def test_a_direction_has_length_one(degrees: float) -> None:
    cosine, sine = direction(degrees)
    assert math.hypot(cosine, sine) == pytest.approx(1, rel=1e-15)
    assert math.degrees(math.atan2(sine, cosine)) % 360 == pytest.approx(
        degrees % 360, abs=1e-9
    ) or (degrees % 360 < 1e-9 or degrees % 360 > 360 - 1e-9)
