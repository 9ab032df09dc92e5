"""Hierarchies: the labels of each level, by their rules, and the refusals."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.errors import TreatmentError
from ppdm_sql.groups.hierarchy_kinds import OnlySuppress, SuppressDigits
from ppdm_sql.groups.hierarchy_levels import (
    Ladder,
    check_dates,
    check_listed,
    check_ranges,
    climb,
    group_numbers,
)
from tests.cases import cases


def labels(ladder: Ladder) -> list[list[str | None]]:
    return [level.to_pylist() for level in ladder.labels]


def texts_of(values: pa.Array) -> pa.Array:
    return values.cast(pa.string())


def test_digits_vanish_from_the_right() -> None:
    texts = pa.array(["423065", "12", None])
    assert labels(climb(SuppressDigits(), texts, texts)) == [
        ["423065", "12", None],
        ["42306*", "1*", None],
        ["4230**", "**", None],
        ["423***", "**", None],
        ["42****", "**", None],
        ["4*****", "**", None],
        ["*", "*", "*"],
    ]


def test_characters_are_counted_not_bytes() -> None:
    texts = pa.array(["äö€", "xyz"])
    assert labels(climb(SuppressDigits(), texts, texts))[1] == ["äö*", "xy*"]


def test_a_long_text_is_not_a_code() -> None:
    texts = pa.array(["x" * 65])
    with pytest.raises(TreatmentError, match="65 characters"):
        climb(SuppressDigits(), texts, texts)


@pytest.mark.parametrize(
    ("values", "widths", "origin", "expected"),
    [
        (
            pa.array([29, -3, None, 47]),
            (5, 10, 20),
            0,
            [
                ["[25, 30)", "[-5, 0)", None, "[45, 50)"],
                ["[20, 30)", "[-10, 0)", None, "[40, 50)"],
                ["[20, 40)", "[-20, 0)", None, "[40, 60)"],
            ],
        ),
        (pa.array([27, 47, 53]), (25,), 25, [["[25, 50)", "[25, 50)", "[50, 75)"]]),
        (
            pa.array([2.9, -3.5]),
            (0.5, 1),
            0.25,
            [["[2.75, 3.25)", "[-3.75, -3.25)"], ["[2.25, 3.25)", "[-3.75, -2.75)"]],
        ),
        # In binary 0.3 / 0.1 lies below 3: decimals are counted exactly.
        (pa.array([Decimal("0.3")]), (0.1,), 0, [["[0.3, 0.4)"]]),
        (pa.array([Decimal("29.99")]), (5,), 0, [["[25, 30)"]]),
        (pa.array([2**62]), (5,), 0, [["[4611686018427387900, 4611686018427387905)"]]),
    ],
)
def test_ranges_are_half_open(
    values: pa.Array, widths: tuple[float, ...], origin: float, expected: list[list[str | None]]
) -> None:
    ladder = climb(check_ranges(widths, origin), values, texts_of(values))
    assert labels(ladder)[1:-1] == expected
    assert labels(ladder)[-1] == ["*"] * len(values)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_ranges_refuse_what_has_no_place(value: float) -> None:
    values = pa.array([1.0, value])
    with pytest.raises(TreatmentError, match="NaN, infinite or too large"):
        climb(check_ranges((5,), 0), values, texts_of(values))


@pytest.mark.parametrize(
    ("widths", "origin", "what"),
    [
        ((5, 8), 0, "8 is not a multiple of 5"),
        ((10, 5), 0, "5 is not a multiple of 10"),
        ((5, 5), 0, "5 is not a multiple of 5"),
        ((0,), 0, "above 0"),
        ((-5,), 0, "above 0"),
        ((1e20,), 0, "below 1e15"),
        ((5,), 1e-12, "decimals"),
    ],
)
def test_ranges_nest(widths: tuple[float, ...], origin: float, what: str) -> None:
    with pytest.raises(TreatmentError, match=what):
        check_ranges(widths, origin)


def test_dates_by_their_units() -> None:
    values = pa.array([date(2020, 3, 5), date(1999, 12, 31), None])
    shape = check_dates(("day", "month", "quarter", "year", "decade"))
    assert labels(climb(shape, values, texts_of(values))) == [
        ["2020-03-05", "1999-12-31", None],
        ["2020-03", "1999-12", None],
        ["2020-Q1", "1999-Q4", None],
        ["2020", "1999", None],
        ["2020s", "1990s", None],
        ["*", "*", "*"],
    ]


def test_the_day_is_a_level_of_a_timestamp() -> None:
    values = pa.array([datetime(2020, 3, 5, 17, 30)])
    found = labels(climb(check_dates(("day", "year")), values, texts_of(values)))
    assert found[1:] == [["2020-03-05"], ["2020"], ["*"]]


@pytest.mark.parametrize("units", [("year", "month"), ("day", "day")])
def test_units_go_from_fine_to_coarse(units: tuple[str, ...]) -> None:
    with pytest.raises(TreatmentError, match="from fine to coarse"):
        check_dates(units)


def listed(*levels: list[str | None]) -> Any:
    return check_listed([pa.array(level, pa.string()) for level in levels])


def test_a_list_ends_in_a_star() -> None:
    shape = listed(["a", "b", "c"], ["x", "x", "y"])
    assert [level.to_pylist() for level in shape.levels][-1] == ["*", "*", "*"]
    assert len(listed(["a", "b"], ["*", "*"]).levels) == 2


def test_a_list_counts_the_leaves_that_are_not_in_the_data() -> None:
    shape = listed(["a", "b", "c", "d"], ["x", "x", "x", "y"])
    texts = pa.array(["a", None, "d"])
    ladder = climb(shape, texts, texts)
    assert labels(ladder) == [["a", None, "d"], ["x", None, "y"], ["*", "*", "*"]]
    assert [sizes.tolist() for sizes in ladder.covered] == [[1, 1, 1], [3, 1, 1], [5, 5, 5]]
    assert (ladder.leaves, ladder.height) == (5, 2)


def test_missing_values_are_counted_and_not_named() -> None:
    texts = pa.array(["a", "canary", "other", None])
    with pytest.raises(TreatmentError, match="2 values are not in the hierarchy") as caught:
        climb(listed(["a"], ["x"]), texts, texts)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("levels", "what"),
    [
        ([[]], "no values"),
        ([["a", "a"], ["x", "x"]], "1 value listed more than once"),
        ([["a", None], ["x", "y"]], "NULL"),
        (
            [["a", "b", "c"], ["x", "x", "y"], ["p", "q", "q"]],
            "a group of level 1 lies in two groups of level 2",
        ),
    ],
)
def test_a_list_must_be_a_hierarchy(levels: list[list[str | None]], what: str) -> None:
    with pytest.raises(TreatmentError, match=what):
        listed(*levels)


def test_without_a_hierarchy_a_value_stays_or_goes() -> None:
    values = pa.array([1, None])
    assert labels(climb(OnlySuppress(), values, texts_of(values))) == [["1", None], ["*", "*"]]


NUMBERS = st.one_of(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, unique=True),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, unique=True),
    st.lists(st.decimals(-1000, 1000, places=3), min_size=1, unique=True),
)


@settings(max_examples=cases(150))
@given(
    NUMBERS,
    st.sampled_from([(5, 10, 20), (0.1, 1, 10), (0.25, 2.5), (7,)]),
    st.sampled_from([0, 3, -2.5]),
)
def test_each_level_of_ranges_is_a_function_of_the_one_below(
    numbers: list[Any], widths: tuple[float, ...], origin: float
) -> None:
    values = pa.array(numbers)
    ladder = climb(check_ranges(widths, origin), values, texts_of(values))
    for below, above in pairwise(group_numbers(level) for level in ladder.labels):
        pairs = set(zip(below.tolist(), above.tolist(), strict=True))
        assert len(pairs) == len(set(below.tolist()))


@settings(max_examples=cases(100))
@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, unique=True))
def test_a_value_lies_in_its_range(numbers: list[Decimal]) -> None:
    values = pa.array(numbers, pa.decimal128(10, 2))
    ladder = climb(check_ranges((0.5, 10), -3), values, texts_of(values))
    for level in ladder.labels[1:-1]:
        for number, label in zip(numbers, level.to_pylist(), strict=True):
            low, high = (Decimal(part) for part in label.strip("[)").split(", "))
            assert low <= number < high
