"""The kernel of graded grouping on numbers one can check by hand."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.engine.kernel import KernelError, guarded
from ppdm_sql.treatments.kernels.bands import (
    EDGES_TEXT,
    END_OF_BAND,
    Bands,
    graded_bands,
    graded_grouping,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Document 000, table 3. Where the document prints a misprint, the formula's value stands here.
VALUES = [30, 40, 70, 25, 15, 58, 73, 37, 90]
FIVE = ([15, 30, 45, 60, 75, 90], [2, 2.667, 4.667, 1.667, 1, 3.867, 4.867, 2.467, 5.999])
THREE = ([10, 40, 66.3, 90], [1.667, 2, 3.156, 1.5, 1.167, 2.684, 3.283, 1.9, 3.999])
FOUR = ([10, 35, 50, 75, 90], [1.8, 2.333, 3.8, 1.6, 1.2, 3.32, 3.92, 2.133, 4.999])
PRINTED_THREE = [1.667, 2, 3.16, 1.5, 1.167, 2.68, 3.88, 1.9, 3.99]
PRINTED_FOUR = [1.8, 2.267, 3.80, 1.6, 1.2, 3.28, 3.92, 2.13, 4.99]


def bands(edges: Sequence[float], names: Sequence[int] | None = None) -> Bands:
    limits = np.array(edges, dtype=np.float64)
    numbers = range(1, len(edges)) if names is None else names
    return Bands(limits[:-1], limits[1:], np.array(numbers, dtype=np.float64))


def with_gaps(pairs: Sequence[tuple[float, float]], names: Sequence[int] | None = None) -> Bands:
    lows, highs = np.array(pairs, dtype=np.float64).T
    numbers = range(1, len(pairs) + 1) if names is None else names
    return Bands(lows, highs, np.array(numbers, dtype=np.float64))


def grade(of: Bands, values: Sequence[float], clamp: bool = False) -> list[float | None]:
    graded = of.grade(np.array(values, dtype=np.float64), clamp)
    return [None if math.isnan(y) else float(y) for y in graded]


def ungrade(of: Bands, values: Sequence[float]) -> list[float | None]:
    originals = of.ungrade(np.array(values, dtype=np.float64))
    return [None if math.isnan(x) else float(x) for x in originals]


def doubles(*values: float | None) -> pa.Array:
    return pa.array(values, pa.float64())


def lists(*values: Sequence[float | None] | None) -> pa.Array:
    return pa.array(values, pa.list_(pa.float64()))


@pytest.mark.parametrize(("edges", "expected"), [FIVE, THREE, FOUR], ids=["k=5", "k=3", "k=4"])
def test_table_3_of_document_000(edges: list[float], expected: list[float]) -> None:
    graded = bands(edges).grade(np.array(VALUES, dtype=np.float64))
    assert np.round(graded, 3).tolist() == expected


@pytest.mark.parametrize(("edges", "expected"), [FIVE, THREE, FOUR], ids=["k=5", "k=3", "k=4"])
def test_table_3_is_the_formula_to_the_last_bit_but_one(
    edges: list[float], expected: list[float]
) -> None:
    exact = [Fraction(str(edge)) for edge in edges]
    for x, y in zip(VALUES, grade(bands(edges), VALUES), strict=True):
        if x == edges[-1]:
            assert y == len(edges) - 1 + END_OF_BAND
            continue
        (i,) = (i for i in range(len(edges) - 1) if exact[i] <= x < exact[i + 1])
        formula = i + 1 + (x - exact[i]) / (exact[i + 1] - exact[i])
        assert y == pytest.approx(float(formula), abs=1e-15, rel=1e-15)


def test_misprints_of_table_3_are_not_reproduced() -> None:
    three = dict(zip(VALUES, grade(bands(THREE[0]), VALUES), strict=True))
    four = dict(zip(VALUES, grade(bands(FOUR[0]), VALUES), strict=True))
    assert three[73] == pytest.approx(3.283, abs=5e-4)  # printed 3.88
    assert four[40] == pytest.approx(2.333, abs=5e-4)  # printed 2.267
    assert four[58] == pytest.approx(3.32, abs=5e-4)  # printed 3.28


def test_what_table_3_prints_is_otherwise_what_we_compute() -> None:
    five = [2, 2.667, 4.667, 1.667, 1, 3.867, 4.867, 2.467, 5.99]
    for edges, printed, misprinted in (
        (FIVE[0], five, set[int]()),
        (THREE[0], PRINTED_THREE, {73}),
        (FOUR[0], PRINTED_FOUR, {40, 58}),
    ):
        for x, y, shown in zip(VALUES, grade(bands(edges), VALUES), printed, strict=True):
            assert y is not None
            if x == 90:
                assert math.floor(y * 100) / 100 == shown  # cut, not rounded
            elif x not in misprinted:
                assert y == pytest.approx(shown, abs=5e-3)
            else:
                assert abs(y - shown) > 0.03


def correlation(y: Sequence[float | None]) -> float:
    return float(np.corrcoef(VALUES, np.array(y, dtype=np.float64))[0, 1])


def test_correlation_of_uniform_bands_is_one_but_for_the_end() -> None:
    five = grade(bands(FIVE[0]), VALUES)
    assert correlation(five) != 1.0
    assert correlation(five) == pytest.approx(1, abs=2e-8)
    without_end = np.corrcoef(VALUES[:-1], np.array(five[:-1], dtype=np.float64))[0, 1]
    assert without_end == pytest.approx(1, abs=1e-15)


def test_correlation_of_four_bands_is_not_what_the_document_prints() -> None:
    assert round(correlation(PRINTED_FOUR), 3) == 0.998  # printed 0.982
    assert round(correlation(grade(bands(FOUR[0]), VALUES)), 3) == 0.998


def test_correlation_of_three_bands_as_printed_comes_from_its_misprint() -> None:
    assert round(correlation(PRINTED_THREE), 3) == 0.983
    assert round(correlation(grade(bands(THREE[0]), VALUES)), 3) == 0.999


def test_only_the_last_shared_edge_takes_the_end() -> None:
    assert grade(bands([0, 10, 20]), [0, 10, 20]) == [1, 2, 2.999]


def test_every_band_before_a_gap_has_an_end_of_its_own() -> None:
    gaps = with_gaps([(15, 29), (30, 44), (44, 50)])
    assert grade(gaps, [15, 22, 29, 30, 44, 50]) == [1, 1.5, 1.999, 2, 3, 3.999]


def test_names_may_start_anywhere_and_leave_some_out() -> None:
    assert grade(bands([0, 10, 20], [0, 1]), [0, 5, 10, 20]) == [0, 0.5, 1, 1.999]
    assert grade(bands([0, 10, 20], [-7, 12]), [0, 5, 10, 20]) == [-7, -6.5, 12, 12.999]


def test_values_in_no_band_are_nan() -> None:
    gaps = with_gaps([(0, 10), (20, 30)])
    assert grade(gaps, [-1, 12, 31, math.nan, math.inf, -math.inf]) == [None] * 6


def test_clamp_takes_the_nearest_limit() -> None:
    gaps = with_gaps([(0, 10), (20, 30)])
    below = {-1: 1, -math.inf: 1}
    above = {31: 2.999, math.inf: 2.999}
    between = {11: 1.999, 14.9: 1.999, 15.1: 2, 19: 2}
    expected = below | above | between
    assert grade(gaps, list(expected), clamp=True) == list(expected.values())


def test_clamp_takes_the_upper_limit_where_both_are_as_near() -> None:
    assert grade(with_gaps([(0, 10), (20, 30)]), [15], clamp=True) == [2]


def test_clamp_leaves_nan_and_values_inside_alone() -> None:
    gaps = with_gaps([(0, 10), (20, 30)])
    inside = [0, 5, 10, 20, 25, 30]
    assert grade(gaps, inside, clamp=True) == grade(gaps, inside)
    assert grade(gaps, [math.nan], clamp=True) == [None]


def test_a_value_far_above_a_narrow_band_is_no_number_error() -> None:
    narrow = with_gaps([(0, 5e-324), (1, 2)])
    assert grade(narrow, [0, 0.5, 5e-324, 1.5]) == [1, None, 1.999, 2.5]


def test_ungrade_returns_limits_lines_and_ends() -> None:
    gaps = with_gaps([(15, 29), (30, 44)])
    assert ungrade(gaps, [1, 1.5, 1.999, 2, 2.25, 2.999]) == [15, 22, 29, 30, 33.5, 44]


def test_ungrade_returns_a_place_where_an_edge_is_shared_and_has_no_end() -> None:
    (original,) = ungrade(bands([0, 1000, 2000]), [1.999])
    assert original == pytest.approx(999, abs=1e-9)


def test_ungrade_knows_no_original_outside_the_names() -> None:
    named = bands([0, 10, 20], [1, 5])
    assert ungrade(named, [0.5, 2.5, 4.999, 6.1, math.nan]) == [None] * 5
    assert ungrade(named, [math.inf, -math.inf]) == [None, None]


def test_ungrade_at_a_whole_step_is_the_upper_limit() -> None:
    """Rounding can lift a place just below 1 to 1: it still is the band's upper end."""
    assert ungrade(bands([0, 10, 20], [1, 5]), [2, 6]) == [10, 20]


def test_bands_do_not_show_their_limits_in_repr() -> None:
    assert "4321" not in repr(bands([4321, 4322]))


class TestFunctions:
    """The two functions as DuckDB calls them: constants are repeated in every row."""

    def test_edges_make_bands_named_from_one(self) -> None:
        graded = graded_grouping(doubles(15, 37, 90, None), lists(*[FIVE[0]] * 4))
        assert graded.type == pa.float64()
        assert graded.to_pylist() == [1, pytest.approx(2.466667, abs=1e-6), 5.999, None]

    def test_values_outside_and_nan_are_null(self) -> None:
        graded = graded_grouping(doubles(-1, 11, math.nan, math.inf), lists(*[[0, 10]] * 4))
        assert graded.null_count == 4

    @pytest.mark.parametrize("edges", [None, []], ids=["null", "no rows"])
    def test_null_edges_and_no_rows_give_nulls(self, edges: list[float] | None) -> None:
        rows = 0 if edges == [] else 3
        graded = graded_grouping(doubles(*[1.0] * rows), lists(*[None] * rows))
        assert graded.type == pa.float64()
        assert graded.to_pylist() == [None] * rows

    @pytest.mark.parametrize(
        "edges",
        [
            pytest.param([[], []], id="empty"),
            pytest.param([[1], [1]], id="one edge"),
            pytest.param([[2, 1], [2, 1]], id="descending"),
            pytest.param([[1, 1], [1, 1]], id="equal"),
            pytest.param([[1, math.nan], [1, math.nan]], id="nan"),
            pytest.param([[1, None], [1, None]], id="null inside"),
            pytest.param([[1, 2], [1, 3]], id="different"),
            pytest.param([[1, 2], None], id="null in one row"),
            pytest.param([[1, 2], [1, 2, 3]], id="of different lengths"),
            pytest.param([[1, 2, 1], [2]], id="of lengths that add up"),
        ],
    )
    def test_bad_edges_are_refused_with_a_fixed_text(
        self, edges: list[list[float | None] | None]
    ) -> None:
        with pytest.raises(KernelError) as caught:
            graded_grouping(doubles(1, 1), lists(*edges))
        assert str(caught.value) == EDGES_TEXT

    def test_any_limits_and_names(self) -> None:
        graded = graded_bands(
            doubles(-1, 0, 5, 12, 30, None),
            lists(*[[0, 20]] * 6),
            lists(*[[10, 30]] * 6),
            lists(*[[4, 9]] * 6),
            pa.array([False] * 6),
        )
        assert graded.to_pylist() == [None, 4, 4.5, None, 9.999, None]

    def test_any_limits_and_names_clamped(self) -> None:
        graded = graded_bands(
            doubles(-1, 12, 31, None, math.nan),
            lists(*[[0, 20]] * 5),
            lists(*[[10, 30]] * 5),
            lists(*[[4, 9]] * 5),
            pa.array([True] * 5),
        )
        assert graded.to_pylist() == [4, 4.999, 9.999, None, None]

    def test_a_null_list_gives_nulls(self) -> None:
        for missing in range(3):
            given = [lists([0]), lists([1]), lists([1])]
            given[missing] = lists(None)
            low, high, name = given
            graded = graded_bands(doubles(0.5), low, high, name, pa.array([False]))
            assert graded.to_pylist() == [None]

    def test_no_rows_give_no_rows(self) -> None:
        graded = graded_bands(doubles(), lists(), lists(), lists(), pa.array([], pa.bool_()))
        assert graded.to_pylist() == []


class TestInAnybodysConnection:
    """`ppdm_sql.register`: an app calls the functions with constants or columns of its own."""

    @pytest.fixture
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        opened = duckdb.connect(":memory:")
        ppdm_sql.register(opened)
        yield opened
        opened.close()

    def test_table_3(self, connection: duckdb.DuckDBPyConnection) -> None:
        rows = connection.execute(
            "SELECT ppdm_graded_grouping(x, [15, 30, 45, 60, 75, 90]) FROM unnest(?) AS t(x)",
            [VALUES],
        ).fetchall()
        assert [round(y, 3) for (y,) in rows] == FIVE[1]

    def test_more_rows_than_a_chunk(self, connection: duckdb.DuckDBPyConnection) -> None:
        (differ,) = connection.execute(
            "SELECT count(*) FILTER (ppdm_graded_grouping(x, [0, 10000]) IS DISTINCT FROM "
            "1 + x::DOUBLE / 10000) FROM range(9_999) AS t(x)"
        ).fetchall()
        assert differ == (0,)

    def test_an_error_tells_no_value(self, connection: duckdb.DuckDBPyConnection) -> None:
        with pytest.raises(duckdb.Error) as caught:
            connection.execute(
                "SELECT ppdm_graded_grouping(x, [x, x + 1]) FROM (VALUES (98765), (43210)) AS t(x)"
            ).fetchall()
        assert EDGES_TEXT in str(caught.value)
        assert "98765" not in str(caught.value)
        assert "43210" not in str(caught.value)

    def test_edges_that_differ_from_row_to_row_are_refused_or_honoured(
        self, connection: duckdb.DuckDBPyConnection
    ) -> None:
        with pytest.raises(duckdb.Error, match=re.escape(EDGES_TEXT)):
            connection.execute(
                "SELECT ppdm_graded_grouping(5, [0, 10 + x]) FROM range(3000) AS t(x)"
            ).fetchall()

    @pytest.mark.parametrize(
        "limits",
        [
            pytest.param("[0, 20], [10], [1, 2]", id="too few highs"),
            pytest.param("[0, 20], [10, 30], [1]", id="too few names"),
            pytest.param("[20, 0], [30, 10], [1, 2]", id="descending"),
            pytest.param("[0, 5], [10, 15], [1, 2]", id="overlapping"),
            pytest.param("[10, 20], [0, 30], [1, 2]", id="high below low"),
            pytest.param("[0, 20], [10, 30], [2, 1]", id="names descend"),
            pytest.param("[0, 'NaN'::DOUBLE], [10, 30], [1, 2]", id="nan"),
            pytest.param("[]::DOUBLE[], []::DOUBLE[], []::DOUBLE[]", id="no band"),
        ],
    )
    def test_limits_that_make_no_bands_are_refused(
        self, connection: duckdb.DuckDBPyConnection, limits: str
    ) -> None:
        with pytest.raises(duckdb.Error):
            connection.execute(
                f"SELECT ppdm_graded_bands(x, {limits}, true) FROM (VALUES (12), (25)) AS t(x)"
            ).fetchall()

    def test_clamp_must_be_the_same_in_every_row_or_is_honoured_row_by_row(
        self, connection: duckdb.DuckDBPyConnection
    ) -> None:
        """Which rows share a chunk is DuckDB's business: the first row must not decide."""
        query = (
            "SELECT ppdm_graded_bands(-1, [0], [1], [1], clamp)"
            " FROM (VALUES (true), (false), (NULL)) AS t(clamp)"
        )
        try:
            rows = connection.execute(query).fetchall()
        except duckdb.Error:
            return
        assert rows == [(1,), (None,), (None,)]

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as it is outside tests
    def test_bands_too_wide_for_a_number_are_refused_or_right(
        self, connection: duckdb.DuckDBPyConnection
    ) -> None:
        query = (
            "SELECT ppdm_graded_bands(x, [-1.5e308], [1.5e308], [1], false)"
            " FROM (VALUES (-1.5e308), (0), (7.5e307), (1.5e308)) AS t(x)"
        )
        try:
            rows = connection.execute(query).fetchall()
        except duckdb.Error:
            return
        assert rows == [(1,), (1.5,), (1.75,), (1.999,)]


def test_guard_hides_what_a_kernel_says_but_its_own_fixed_texts() -> None:
    def leaks(x: pa.Array) -> pa.Array:
        raise RuntimeError(f"cannot compute {x[0].as_py()}")

    def refuses(x: pa.Array) -> pa.Array:
        raise KernelError("a fixed text")

    column = pa.chunked_array([[4321.0]])
    with pytest.raises(KernelError) as caught:
        guarded("ppdm_leaks", leaks)(column)
    assert "4321" not in str(caught.value)
    assert "ppdm_leaks" in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(KernelError, match=r"\Aa fixed text\Z"):
        guarded("ppdm_refuses", refuses)(column)


def test_guard_joins_the_chunks_it_is_given() -> None:
    def count(x: pa.Array) -> pa.Array:
        assert isinstance(x, pa.Array)
        return pa.array([len(x)])

    assert guarded("ppdm_count", count)(pa.chunked_array([[1.0], [2.0, 3.0]])).to_pylist() == [3]
