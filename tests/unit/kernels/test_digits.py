"""Bit++ and Bit-- as kernels: the document's numbers, the ends of BIGINT, a slow definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels.digits import bit_minus, bit_plus, shift_digits
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable

SMALLEST, LARGEST = -(2**63), 2**63 - 1
INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
PLUS = [66093, 76786, 57141, 9768, 9065, 87802, 97897, 55460, 7761, 8874]
MINUS = [64871, 74564, 55929, 9546, 9843, 85680, 95675, 53248, 7549, 8652]

bigints = st.integers(SMALLEST, LARGEST) | st.integers(-1000, 1000)
usual = settings(max_examples=cases(100))


def slowly(x: int, by: int) -> int:
    """Return the definition, digit by digit as text."""
    digits = str(abs(x))
    moved = int(digits[0] + "".join(str((int(digit) + by) % 10) for digit in digits[1:]))
    return -moved if x < 0 else moved


def ints(kernel: Callable[[pa.Array], pa.Array], values: list[int | None]) -> list[int | None]:
    moved = kernel(pa.array(values, pa.int64())).to_pylist()
    return [None if y is None else int(y) for y in moved]


@pytest.mark.parametrize(("kernel", "printed"), [(bit_plus, PLUS), (bit_minus, MINUS)])
def test_the_incomes_of_the_document(
    kernel: Callable[[pa.Array], pa.Array], printed: list[int]
) -> None:
    assert ints(kernel, [*INCOMES]) == printed


@pytest.mark.parametrize(
    ("x", "plus", "minus"),
    [
        (0, 0, 0),
        (7, 7, 7),
        (-7, -7, -7),
        (9, 9, 9),
        (10, 11, 19),
        (19, 10, 18),
        (90, 91, 99),
        (99, 90, 98),
        (100, 111, 199),
        (127, 138, 116),
        (-128, -139, -117),
        (999, 900, 988),
        (1000, 1111, 1999),
        (10**18, 1111111111111111111, 1999999999999999999),
        (LARGEST, 9334483147965886918, 9112261925743664796),
        (SMALLEST, -9334483147965886919, -9112261925743664797),
    ],
)
def test_single_values(x: int, plus: int, minus: int) -> None:
    assert ints(bit_plus, [x]) == [plus]
    assert ints(bit_minus, [x]) == [minus]


def test_the_results_at_the_ends_need_more_than_a_bigint() -> None:
    (most,) = ints(bit_plus, [LARGEST])
    assert most is not None
    assert most > LARGEST
    assert bit_plus(pa.array([1])).type == bit_minus(pa.array([1])).type == pa.decimal128(38, 0)


@pytest.mark.parametrize("kernel", [bit_plus, bit_minus])
def test_null_stays_null_and_nothing_stays_nothing(kernel: Callable[[pa.Array], pa.Array]) -> None:
    assert ints(kernel, [None, 5, None]) == [None, 5, None]
    assert ints(kernel, []) == []
    assert ints(kernel, [None, None]) == [None, None]


def test_a_slice_of_a_longer_array_is_read_from_its_own_start() -> None:
    whole = pa.array([111, None, 25, 36, None, 47])
    assert [y and int(y) for y in bit_plus(whole.slice(1, 4)).to_pylist()] == [None, 26, 37, None]


@given(st.lists(bigints | st.none(), max_size=30))
@usual
def test_all_digits_but_the_first_move_by_one(values: list[int | None]) -> None:
    assert ints(bit_plus, values) == [None if x is None else slowly(x, 1) for x in values]
    assert ints(bit_minus, values) == [None if x is None else slowly(x, -1) for x in values]


@given(st.lists(st.integers(0, 10**19 - 1) | st.integers(0, 10**6), min_size=1, max_size=30))
@example([0, 9, 10, 10**18 - 1, 10**18, 10**19 - 1])
@usual
def test_one_undoes_the_other_over_all_numbers_of_19_digits(values: list[int]) -> None:
    magnitudes = np.array(values, dtype=np.uint64)
    for by in (1, -1):
        there = shift_digits(magnitudes, by)
        assert shift_digits(there, -by).tolist() == values


@given(st.lists(st.integers(0, 10**19 - 1), min_size=1, max_size=30))
@usual
def test_the_number_of_digits_and_the_first_digit_stay(values: list[int]) -> None:
    for y, x in zip(shift_digits(np.array(values, dtype=np.uint64), 1), values, strict=True):
        assert len(str(int(y))) == len(str(x))
        assert str(int(y))[0] == str(x)[0]


def test_the_input_is_not_written_to() -> None:
    values = np.array([1234, 99], dtype=np.uint64)
    shift_digits(values, 1)
    assert values.tolist() == [1234, 99]
