"""graded_grouping() through releases: bands, names, what lies outside, what it refuses."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PpdmError, TreatmentError
from ppdm_sql.treatments.band_limits import MAX_BANDS
from ppdm_sql.treatments.graded_grouping import GradedGrouping
from ppdm_sql.treatments.protocol import Exactness
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

VALUES = (30, 40, 70, 25, 15, 58, 73, 37, 90)
TABLE_3 = {
    "[15, 30, 45, 60, 75, 90]": [2, 2.667, 4.667, 1.667, 1, 3.867, 4.867, 2.467, 5.999],
    "[10, 40, 66.3, 90]": [1.667, 2, 3.156, 1.5, 1.167, 2.684, 3.283, 1.9, 3.999],
    "[10, 35, 50, 75, 90]": [1.8, 2.333, 3.8, 1.6, 1.2, 3.32, 3.92, 2.133, 4.999],
}
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
GAPS = "[[0, 10], [20, 30]]"
"""Two bands with a gap: below, above and between are outside."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def fill(owner: Owner, values: Sequence[object], type_: str = "DOUBLE") -> None:
    owner.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, x {type_})")
    if values:
        owner.connection.execute(
            "INSERT INTO t SELECT generate_subscripts($1, 1) - 1, unnest($1)", [[*values]]
        )


def release(owner: Owner, arguments: str, execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (x SENSITIVE AS graded_grouping({arguments}))"
        f" WITH (execution = '{execution}')"
    )


def released(owner: Owner) -> list[float | None]:
    return [y for (y,) in owner.sql("SELECT x FROM r.t").fetchall()]


def graded(
    owner: Owner,
    values: Sequence[object],
    arguments: str,
    type_: str = "DOUBLE",
    execution: str = "native",
) -> list[float | None]:
    fill(owner, values, type_)
    release(owner, arguments, execution)
    return released(owner)


def refused(owner: Owner, arguments: str, values: Sequence[object] = (1, 2, 3)) -> TreatmentError:
    fill(owner, values)
    with pytest.raises(TreatmentError) as caught:
        release(owner, arguments)
    return caught.value


def stored(owner: Owner, name: str = "r.t") -> tuple[GradedGrouping, Drawn]:
    """Return the treatment of a release's first column, and what it drew."""
    version = version_of(owner, name)
    bound = version.release
    step = bound.rules[0].steps[0]
    assert isinstance(step.treatment, GradedGrouping)
    return step.treatment, version.parameters[step.slot]


@pytest.mark.parametrize("execution", ["native", "udf"])
@pytest.mark.parametrize("type_", ["TINYINT", "DECIMAL(5,1)", "DOUBLE"])
@pytest.mark.parametrize("bands", TABLE_3)
def test_table_3_of_document_000(shared: Owner, bands: str, type_: str, execution: str) -> None:
    found = graded(shared, VALUES, f"bands => {bands}", type_, execution)
    assert [round(y or 0, 3) for y in found] == TABLE_3[bands]


def test_uniform_bands_correlate_with_the_original_but_for_the_end(shared: Owner) -> None:
    found = np.array(graded(shared, VALUES, "bands => [15, 30, 45, 60, 75, 90]"), dtype=np.float64)
    assert np.corrcoef(VALUES[:-1], found[:-1])[0, 1] == pytest.approx(1, abs=1e-15)
    assert np.corrcoef(VALUES, found)[0, 1] == pytest.approx(1, abs=2e-8)
    assert np.corrcoef(VALUES, found)[0, 1] < 1


def test_uneven_bands_correlate_as_the_formula_says_not_as_printed(shared: Owner) -> None:
    four = np.array(graded(shared, VALUES, "bands => [10, 35, 50, 75, 90]"), dtype=np.float64)
    assert round(float(np.corrcoef(VALUES, four)[0, 1]), 3) == 0.998  # printed 0.982


class TestBands:
    """The three ways to write bands, and names."""

    def test_a_number_cuts_the_range_into_equal_bands(self, shared: Owner) -> None:
        values = [0, 5, 10, 25, 40, 50]
        assert graded(shared, values, "bands => 5") == [1, 1.5, 2, 3.5, 5, 5.999]

    def test_a_number_may_stand_without_its_name(self, shared: Owner) -> None:
        assert graded(shared, [0, 5, 10], "2") == [1, 2, 2.999]

    def test_edges_are_shared_and_belong_to_the_upper_band(self, shared: Owner) -> None:
        assert graded(shared, [0, 10, 20], "bands => [0, 10, 20]") == [1, 2, 2.999]

    def test_pairs_leave_gaps(self, shared: Owner) -> None:
        assert graded(shared, [15, 22, 29, 30, 44], "bands => [[15, 29], [30, 44]]") == [
            1,
            1.5,
            1.999,
            2,
            2.999,
        ]

    def test_pairs_may_also_share_an_edge(self, shared: Owner) -> None:
        pairs = "bands => [[0, 10], [10, 20], [30, 40]]"
        assert graded(shared, [10, 20, 30, 40], pairs) == [2, 2.999, 3, 3.999]

    def test_limits_may_be_negative_and_fractions(self, shared: Owner) -> None:
        bands = "bands => [-2.5, -0.5, 1.5]"
        assert graded(shared, [-2.5, -1.5, -0.5, 1.5], bands) == [1, 1.5, 2, 2.999]

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            ("[0, 1]", [0, 0.5, 1, 1.999]),
            ("[-8, -3]", [-8, -7.5, -3, -3 + 0.999]),
            ("[10, 1000]", [10, 10.5, 1000, 1000.999]),
            ("[-2147483647, 2147483647]", [-2147483647, -2147483646.5, 2147483647, 2147483647.999]),
        ],
    )
    @pytest.mark.parametrize("execution", ["native", "udf"])
    def test_names(self, shared: Owner, names: str, expected: list[float], execution: str) -> None:
        arguments = f"bands => [0, 10, 20], names => {names}"
        found = graded(shared, [0, 5, 10, 20], arguments, execution=execution)
        assert found == expected

    def test_names_of_bands_that_are_cut_from_the_data(self, shared: Owner) -> None:
        assert graded(shared, [0, 5, 10], "bands => 2, names => [0, 5]") == [0, 5, 5.999]

    @pytest.mark.parametrize("execution", ["native", "udf"])
    def test_one_band(self, shared: Owner, execution: str) -> None:
        assert graded(shared, [0, 5, 10], "bands => 1", execution=execution) == [1, 1.5, 1.999]
        assert graded(shared, [0, 5, 10], "bands => [0, 10]", execution=execution) == [
            1,
            1.5,
            1.999,
        ]

    @pytest.mark.parametrize(
        ("bands", "execution"),
        [(f"{MAX_BANDS}", "native"), (f"{list(range(MAX_BANDS + 1))}", "udf")],
        ids=["a number, native", "edges, udf"],
    )
    def test_as_many_bands_as_there_may_be(self, shared: Owner, bands: str, execution: str) -> None:
        expected = [*range(1, MAX_BANDS + 1), MAX_BANDS + 0.999]
        values = range(MAX_BANDS + 1)
        assert graded(shared, values, f"bands => {bands}", execution=execution) == expected

    def test_as_many_bands_as_values(self, shared: Owner) -> None:
        assert graded(shared, [1, 2, 3], "bands => 3") == [1, pytest.approx(2.5), 3.999]

    def test_type_is_double(self, shared: Owner) -> None:
        graded(shared, [1, 2], "bands => [0, 5]", "INTEGER")
        assert [column.type for column in shared.describe("r.t")] == ["DOUBLE"]
        assert shared.sql("SELECT DISTINCT typeof(x) FROM r.t").fetchall() == [("DOUBLE",)]

    def test_exactness_is_what_describe_says(self, shared: Owner) -> None:
        graded(shared, [1, 2], "bands => [0, 5]")
        (column,) = shared.describe("r.t")
        assert column.inverse == Exactness.NEAR.value
        assert column.undone_by == GradedGrouping.undone_by


# Below, every edge, inside, in the gap nearer to one limit, as near to both, to the other, above.
PLACES = [-5, 0, 5, 10, 12, 15, 18, 20, 25, 30, 31, None]
NULLED = [None, 1, 1.5, 1.999, None, None, None, 2, 2.5, 2.999, None, None]
CLAMPED = [1, 1, 1.5, 1.999, 1.999, 2, 2, 2, 2.5, 2.999, 2.999, None]
INSIDE = [1, 1.5, 1.999, 2, 2.5, 2.999, None]
EXACT_TYPES = ["TINYINT", "HUGEINT", "DECIMAL(38,10)"]
FLOATING_TYPES = ["FLOAT", "DOUBLE"]


@pytest.mark.parametrize("execution", ["native", "udf"])
class TestOutside:
    """What becomes of values in no band, in columns of every numeric type."""

    @pytest.mark.parametrize("type_", EXACT_TYPES + FLOATING_TYPES)
    def test_null(self, shared: Owner, type_: str, execution: str) -> None:
        arguments = f"bands => {GAPS}, outside => 'null'"
        assert graded(shared, PLACES, arguments, type_, execution) == NULLED

    @pytest.mark.parametrize("type_", EXACT_TYPES + FLOATING_TYPES)
    def test_clamp_takes_the_nearest_limit(self, shared: Owner, type_: str, execution: str) -> None:
        arguments = f"bands => {GAPS}, outside => 'clamp'"
        assert graded(shared, PLACES, arguments, type_, execution) == CLAMPED

    @pytest.mark.parametrize("type_", EXACT_TYPES + FLOATING_TYPES)
    def test_error_counts_and_shows_no_value(
        self, shared: Owner, type_: str, execution: str
    ) -> None:
        fill(shared, PLACES, type_)
        with pytest.raises(TreatmentError) as caught:
            release(shared, f"bands => {GAPS}", execution)
        assert "5 values of 'x' lie in no band" in caught.value.what
        assert "outside => 'null'" in (caught.value.hint or "")
        assert caught.value.span is not None
        assert caught.value.span.source == f"graded_grouping(bands => {GAPS})"

    @pytest.mark.parametrize("type_", EXACT_TYPES + FLOATING_TYPES)
    def test_no_error_when_all_values_lie_in_bands(
        self, shared: Owner, type_: str, execution: str
    ) -> None:
        inside = [x for x, y in zip(PLACES, NULLED, strict=True) if y is not None or x is None]
        assert graded(shared, inside, f"bands => {GAPS}", type_, execution) == INSIDE

    @pytest.mark.parametrize("type_", FLOATING_TYPES)
    def test_nan_and_infinity_are_in_no_band(
        self, shared: Owner, type_: str, execution: str
    ) -> None:
        values = [5, math.nan, math.inf, -math.inf, None]
        nulled = [1.5, None, None, None, None]
        clamped = [1.5, None, 2.999, 1, None]
        bands = f"bands => {GAPS}"
        assert graded(shared, values, f"{bands}, outside => 'null'", type_, execution) == nulled
        assert graded(shared, values, f"{bands}, outside => 'clamp'", type_, execution) == clamped
        fill(shared, values, type_)
        with pytest.raises(TreatmentError, match="3 values of 'x' lie in no band"):
            release(shared, bands, execution)

    @pytest.mark.parametrize("type_", FLOATING_TYPES)
    def test_a_number_of_bands_is_cut_from_finite_values(
        self, shared: Owner, type_: str, execution: str
    ) -> None:
        values = [0, 5, 10, math.nan, math.inf, -math.inf, None]
        nulled = [1, 2, 2.999, None, None, None, None]
        clamped = [1, 2, 2.999, None, 2.999, 1, None]
        assert graded(shared, values, "bands => 2, outside => 'null'", type_, execution) == nulled
        assert graded(shared, values, "bands => 2, outside => 'clamp'", type_, execution) == clamped
        fill(shared, values, type_)
        with pytest.raises(TreatmentError, match="'x' holds 3 values that are NaN or infinite"):
            release(shared, "bands => 2", execution)

    def test_one_value_is_spoken_of_as_one(self, shared: Owner, execution: str) -> None:
        fill(shared, [1, 77])
        with pytest.raises(TreatmentError) as caught:
            release(shared, "bands => [0, 5]", execution)
        assert "1 value of 'x' lies in no band" in caught.value.what
        assert "77" not in str(caught.value)

    @pytest.mark.parametrize("word", ["NULL", "Clamp", "ERROR"])
    def test_words_may_be_written_in_capitals(
        self, shared: Owner, word: str, execution: str
    ) -> None:
        arguments = f"bands => [0, 10], outside => '{word}'"
        assert graded(shared, [5], arguments, execution=execution) == [1.5]

    def test_edges_of_hugeint_beyond_what_a_double_tells_apart(
        self, shared: Owner, execution: str
    ) -> None:
        large = 2**100
        fill(shared, [-large, 0, large], "HUGEINT")
        release(shared, f"bands => [-{large}, 0, {large}]", execution)
        assert released(shared) == [1, 2, 2.999]

    def test_decimals_on_their_edges(self, shared: Owner, execution: str) -> None:
        values = ["0.10", "0.20", "0.30"]
        arguments = "bands => [0.1, 0.2, 0.3]"
        assert graded(shared, values, arguments, "DECIMAL(4,2)", execution) == [1, 2, 2.999]

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as it is outside tests
    @pytest.mark.parametrize("bands", ["[-1.5e308, 1.5e308]", "1"])
    def test_bands_too_wide_for_a_number_are_refused_or_right(
        self, shared: Owner, bands: str, execution: str
    ) -> None:
        fill(shared, [-1.5e308, 0, 7.5e307, 1.5e308])
        try:
            release(shared, f"bands => {bands}", execution)
        except TreatmentError as error:
            assert "constant" not in error.what  # noqa: PT017 - either outcome is sound
            return
        assert released(shared) == [1, 1.5, 1.75, 1.999]


class TestRefused:
    """Arguments and data that make no bands; the error points at the argument."""

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            ("", "'bands' must be a number or a list"),
            ("bands => 'five'", "'bands' must be a number or a list"),
            ("bands => true", "'bands' must be a number or a list"),
            ("bands => null", "'bands' must be a number or a list"),
            ("bands => 2.5", "'bands' must be a number or a list"),
            ("bands => []", "'bands' must be a number or a list"),
            ("bands => 0", "'bands' must be a whole number from 1 to 256"),
            ("bands => -3", "'bands' must be a whole number from 1 to 256"),
            ("bands => 257", "'bands' must be a whole number from 1 to 256"),
            ("bands => [5]", "one limit makes no band"),
            ("bands => [5, 1]", "limits of bands must ascend"),
            ("bands => [1, 1]", "limits of bands must ascend"),
            ("bands => [1, 2, 2, 3]", "limits of bands must ascend"),
            ("bands => [1, 1.0000000000000000000001]", "limits of bands must ascend"),
            ("bands => ['a', 'b']", "limits of bands must be numbers"),
            ("bands => [1, true]", "limits of bands must be numbers"),
            ("bands => [1, null]", "limits of bands must be numbers"),
            ("bands => [1, normal(0, 1)]", "limits of bands must be numbers"),
            ("bands => [[5, 1]]", "limits of bands must ascend"),
            ("bands => [[1, 2, 3]]", "a band is a pair [low, high]"),
            ("bands => [[1]]", "a band is a pair [low, high]"),
            ("bands => [[1, 2], 3]", "a band is a pair [low, high]"),
            ("bands => [[1, 5], [4, 9]]", "bands must ascend and not overlap"),
            ("bands => [[6, 9], [1, 5]]", "bands must ascend and not overlap"),
            ("bands => [0, 5], names => [1, 2]", "1 band but 2 names"),
            ("bands => [0, 5, 9], names => [1]", "2 bands but 1 name"),
            ("bands => [0, 5, 9], names => [2, 1]", "names of bands must ascend"),
            ("bands => [0, 5, 9], names => [1, 1]", "names of bands must ascend"),
            ("bands => [0, 5, 9], names => ['a', 'b']", "'names' must be a list of whole numbers"),
            ("bands => [0, 5, 9], names => [1, 2.5]", "'names' must be a list of whole numbers"),
            ("bands => [0, 5, 9], names => [true, 2]", "'names' must be a list of whole numbers"),
            ("bands => [0, 5], names => 7", "'names' must be a list of whole numbers"),
            ("bands => [0, 5], names => [2147483648]", "names of bands must fit in 32 bits"),
            ("bands => [0, 5], names => [-2147483649]", "names of bands must fit in 32 bits"),
            ("bands => [0, 5], outside => 'drop'", "must be one of 'error', 'null', 'clamp'"),
            ("bands => [0, 5], outside => null", "must be one of 'error', 'null', 'clamp'"),
            ("bands => [0, 5], outside => 1", "must be one of 'error', 'null', 'clamp'"),
            ("bands => [0, 5], bins => 1", "unknown argument 'bins'"),
        ],
    )
    def test_arguments(self, shared: Owner, arguments: str, what: str) -> None:
        error = refused(shared, arguments)
        assert what in error.what
        assert error.span is not None
        assert error.span.source in (arguments, arguments.split("], ")[-1], "graded_grouping()")

    def test_more_than_256_bands_by_their_edges(self, shared: Owner) -> None:
        assert "at most 256 bands" in refused(shared, f"bands => {list(range(258))}").what
        pairs = [[2 * i, 2 * i + 1] for i in range(257)]
        assert "at most 256 bands" in refused(shared, f"bands => {pairs}").what

    def test_a_limit_larger_than_any_double(self, shared: Owner) -> None:
        fill(shared, [1, 2, 3])
        with pytest.raises(PpdmError) as caught:
            release(shared, f"bands => [0, 1{'0' * 400}]")
        assert caught.value.span is not None

    def test_no_more_bands_than_values(self, shared: Owner) -> None:
        error = refused(shared, "bands => 3", [1, 2, None])
        assert "3 bands for 2 values of 'x'" in error.what
        assert "at most bands => 2" in (error.hint or "")

    def test_a_constant_column(self, shared: Owner) -> None:
        error = refused(shared, "bands => 2", [7123, 7123, 7123])
        assert "'x' is constant" in error.what
        assert "7123" not in str(error)

    @pytest.mark.parametrize("values", [[], [None, None]], ids=["empty", "all null"])
    def test_a_column_without_values(self, shared: Owner, values: list[None]) -> None:
        error = refused(shared, "bands => 2", values)
        assert "'x' has no values to cut into bands" in error.what
        assert error.span is not None

    def test_a_column_without_finite_values(self, shared: Owner) -> None:
        error = refused(shared, "bands => 2, outside => 'null'", [math.nan, math.inf])
        assert "'x' has no values to cut into bands" in error.what

    @pytest.mark.parametrize("execution", ["native", "udf"])
    @pytest.mark.parametrize("values", [[], [None, None]], ids=["empty", "all null"])
    @pytest.mark.parametrize("outside", ["error", "null", "clamp"])
    def test_limits_need_no_values(
        self, shared: Owner, values: list[None], outside: str, execution: str
    ) -> None:
        arguments = f"bands => [0, 5], outside => '{outside}'"
        assert graded(shared, values, arguments, execution=execution) == values

    @pytest.mark.parametrize(
        "type_",
        ["VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "UUID", "INTERVAL", "INTEGER[]", "BLOB"],
    )
    def test_columns_that_are_no_numbers(self, shared: Owner, type_: str) -> None:
        fill(shared, [], type_)
        with pytest.raises(TreatmentError) as caught:
            release(shared, "bands => 5")
        assert caught.value.what == f"graded_grouping cannot treat 'x' of type {type_}"
        assert "mapping()" in (caught.value.hint or "")

    def test_an_enum_is_named_without_its_values(self, shared: Owner) -> None:
        shared.execute("CREATE TYPE mood AS ENUM ('hidden_value')")
        fill(shared, [], "mood")
        with pytest.raises(TreatmentError) as caught:
            release(shared, "bands => 5")
        assert "of type ENUM" in caught.value.what
        assert "hidden_value" not in str(caught.value)

    def test_a_group_of_columns(self, people: Owner) -> None:
        with pytest.raises(TreatmentError, match="one column at a time, not a group of 2"):
            people.execute(
                "CREATE RELEASE r.t FROM clinic.people"
                " ((age, weight) SENSITIVE AS graded_grouping(bands => 2))"
            )

    def test_nothing_stays_of_a_refused_release(self, owner: Owner) -> None:
        fill(owner, [1, 2, 99])
        tables = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        before = owner.sql(tables).fetchall()
        with pytest.raises(TreatmentError):
            release(owner, "bands => [0, 5]")
        assert owner.sql(tables).fetchall() == before
        assert owner.releases() == []


@pytest.mark.parametrize("execution", ["native", "udf"])
class TestLater:
    """What comes into the table after the release was made."""

    @pytest.mark.parametrize("bands", ["[0, 10]", "1", GAPS])
    @pytest.mark.parametrize("outside", ["error", "null"])
    def test_later_values_outside_are_null_never_raw(
        self, shared: Owner, bands: str, outside: str, execution: str
    ) -> None:
        fill(shared, [0, 10])
        release(shared, f"bands => {bands}, outside => '{outside}'", execution)
        shared.execute("INSERT INTO t VALUES (9, -1), (9, 15), (9, 99), (9, 'NaN'), (9, 'inf')")
        assert released(shared)[2:] == [None] * 5

    def test_later_values_outside_are_clamped(self, shared: Owner, execution: str) -> None:
        fill(shared, [0, 10])
        release(shared, f"bands => {GAPS}, outside => 'clamp'", execution)
        shared.execute("INSERT INTO t VALUES (9, -1), (9, 12), (9, 18), (9, 99), (9, 'inf')")
        assert released(shared)[2:] == [1, 1.999, 2, 2.999, 2.999]

    def test_later_values_inside_are_graded(self, shared: Owner, execution: str) -> None:
        fill(shared, [0, 10])
        release(shared, "bands => 1", execution)
        shared.execute("INSERT INTO t VALUES (9, 2.5)")
        assert released(shared)[2:] == [1.25]

    def test_refresh_keeps_the_bands(self, shared: Owner, execution: str) -> None:
        fill(shared, [0, 5, 10])
        release(shared, "bands => 2", execution)
        shared.execute("DELETE FROM t WHERE id = 2")  # the largest value
        shared.execute("INSERT INTO t VALUES (3, 7.5)")
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == [1, 2, 2.5]

    def test_refresh_fails_with_words_when_values_lie_outside(
        self, shared: Owner, execution: str
    ) -> None:
        fill(shared, [0, 5, 10])
        release(shared, "bands => 2", execution)
        (before,) = shared.releases()
        shared.execute("INSERT INTO t VALUES (3, 4711), (4, -1)")
        with pytest.raises(TreatmentError) as caught:
            shared.execute("REFRESH RELEASE r.t")
        assert "2 values of 'x' lie in no band" in caught.value.what
        assert "4711" not in str(caught.value)
        assert caught.value.span is not None
        assert caught.value.span.source == "r.t"
        assert shared.releases() == [before]
        assert released(shared) == [1, 2, 2.999, None, None]

    def test_refresh_with_clamp_keeps_on_clamping(self, shared: Owner, execution: str) -> None:
        fill(shared, [0, 5, 10])
        release(shared, "bands => 2, outside => 'clamp'", execution)
        shared.execute("INSERT INTO t VALUES (3, 4711), (4, -1)")
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == [1, 2, 2.999, 2.999, 1]

    def test_or_replace_cuts_again(self, shared: Owner, execution: str) -> None:
        fill(shared, [0, 10])
        release(shared, "bands => 1", execution)
        shared.execute("INSERT INTO t VALUES (2, 20)")
        release(shared, "bands => 1", execution)
        assert released(shared) == [1, 1.5, 1.999]


class TestInverse:
    """What the owner gets back, and conditions on released values rewritten for originals."""

    def test_originals_from_what_the_store_kept(self, shared: Owner) -> None:
        found = graded(shared, VALUES, "bands => [15, 30, 45, 60, 75, 90]", "INTEGER")
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(found)], drawn)
        assert originals.type == pa.float64()
        assert originals.to_pylist() == pytest.approx([float(x) for x in VALUES], abs=15e-12)

    def test_what_no_original_gives_is_null(self, shared: Owner) -> None:
        graded(shared, [0, 20], "bands => [0, 10, 20], names => [1, 5]")
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array([None, 0.5, 3, 4.9, 7.1, math.nan])], drawn)
        assert originals.null_count == 6

    def test_a_value_just_below_a_gap_is_not_given_back_as_one_beyond_it(
        self, shared: Owner
    ) -> None:
        """Its place rounds to 1, and its image to the name of the next band."""
        just_below = math.nextafter(29, 0)
        found = graded(shared, [just_below], "bands => [[0, 29], [40, 44]]")
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(found)], drawn)
        assert originals.to_pylist() == [pytest.approx(just_below, abs=29e-12)]

    def test_large_names_cost_what_doubles_of_their_size_cost(self, shared: Owner) -> None:
        names = "bands => [0, 10, 20], names => [2147483646, 2147483647]"
        found = graded(shared, [1, 2.3, 19.7], names)
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(found)], drawn)
        spacing = 10 * math.ulp(2147483647)
        assert originals.to_pylist() == pytest.approx([1, 2.3, 19.7], abs=spacing)

    @pytest.mark.parametrize(
        ("condition", "bands", "values"),
        [
            pytest.param("> 3.5", "[0, 10, 20, 30, 40]", [24, 25, 26], id="inside a band"),
            pytest.param(">= 2.5", "[0, 10, 20]", [14, 15, 16], id="at an image"),
            pytest.param("< 2", "[0, 10, 20]", [9, 10, 11], id="at a shared edge"),
            pytest.param("<= 2", "[0, 10, 20]", [9, 10, 11], id="at a shared edge, with it"),
            pytest.param("> 1.9995", "[0, 10, 20]", [9, 10, 11], id="just below a shared edge"),
            pytest.param("<= 1.9995", "[0, 10, 20]", [9, 10, 11], id="not above a shared edge"),
            pytest.param("> 2.9995", "[0, 10, 20]", [19, 19.999, 20], id="above the end's image"),
            pytest.param("<= 2.999", "[0, 10, 20]", [19, 19.999, 20], id="up to the end's image"),
            pytest.param("> 2.999", "[0, 10, 20]", [19, 19.999, 20], id="beyond the end's image"),
            pytest.param("= 2.999", "[0, 10, 20]", [19, 19.99, 20], id="the end's image"),
            pytest.param("<> 2.999", "[0, 10, 20]", [19, 19.99, 20], id="but the end's image"),
            pytest.param("= 2.4666666666666668", "[15, 30, 45]", [36, 37, 38], id="one image"),
            pytest.param("> 2.4666666666666668", "[15, 30, 45]", [36, 37, 38], id="above an image"),
            pytest.param("= 1.2325581395348837", "[-10, 33]", [-1, 0, 1], id="image of zero"),
            pytest.param("< 1.2325581395348837", "[-10, 33]", [-1, 0, 1], id="below that image"),
            pytest.param("> 0", "[0, 10]", [0, 5, 10, None], id="below everything"),
            pytest.param("< 0", "[0, 10]", [0, 5, 10, None], id="nothing below"),
            pytest.param("< 7", "[0, 10]", [0, 5, 10, None], id="above everything"),
            pytest.param("> 7", "[0, 10]", [0, 5, 10, None], id="nothing above"),
            pytest.param("> 1.5", GAPS, [2, 8, 12, 22, 40], id="gaps released as null"),
            pytest.param("< 2.5", GAPS, [-3, 2, 8, 12, 22, 40], id="below released as null"),
            pytest.param("<> 1.2", GAPS, [-3, 2, 8, 12, 22, 40], id="unequal, with nulls"),
            pytest.param("= 1", GAPS, [-3, 0, 2, 12, 18], id="first name"),
            pytest.param(">= 1", GAPS, [-3, 0, 2, 12, 18], id="from the first name"),
            pytest.param("< 1.999", GAPS, [5, 10, 12, 18], id="below an end"),
            pytest.param(">= 1.999", GAPS, [5, 10, 12, 18], id="from an end"),
            pytest.param(">= 2", GAPS, [10, 12, 18, 20], id="from the second name"),
            pytest.param("> 2.999", GAPS, [25, 30, 40], id="above the last end"),
            pytest.param("= 3", GAPS, [25, 30, 40], id="a whole step, which nothing becomes"),
        ],
    )
    @pytest.mark.parametrize("outside", ["null", "clamp"])
    def test_condition_selects_the_same_rows(
        self,
        shared: Owner,
        condition: str,
        bands: str,
        values: list[float | None],
        outside: str,
    ) -> None:
        graded(shared, values, f"bands => {bands}, outside => '{outside}'")
        treatment, drawn = stored(shared)
        sign, literal = condition.split()
        column = exp.column("x", table="t")
        rewritten = treatment.invert_condition(sign, float(literal), (column,), drawn)
        if rewritten is None and outside == "clamp":
            return  # a clamped value shares its image with a limit: said, not guessed
        assert rewritten is not None
        holds = OPERATORS[sign]
        wanted = [
            x
            for x, y in zip(values, released(shared), strict=True)
            if y is not None and holds(y, float(literal))
        ]
        found = shared.sql(f"SELECT x FROM t WHERE {to_sql(rewritten)} ORDER BY id").fetchall()
        assert [x for (x,) in found] == wanted

    def test_no_condition_for_a_text_or_an_operator_that_is_none(self, shared: Owner) -> None:
        graded(shared, [0, 5], "bands => [0, 10]")
        treatment, drawn = stored(shared)
        column = exp.column("x")
        assert treatment.invert_condition("=", "Flu", (column,), drawn) is None
        assert treatment.invert_condition("LIKE", 1.5, (column,), drawn) is None

    def test_condition_on_originals_names_no_secret_in_its_repr(self, shared: Owner) -> None:
        graded(shared, [4321, 4322], "bands => [4321, 4322]")
        treatment, drawn = stored(shared)
        assert "4321" not in repr(treatment)
        assert "4321" not in repr(drawn)


class TestChains:
    """Before and after THEN."""

    def test_mapping_cannot_follow(self, people: Owner) -> None:
        with pytest.raises(TreatmentError) as caught:
            people.execute(
                "CREATE RELEASE r.t FROM clinic.people"
                " (age SENSITIVE AS graded_grouping(bands => [0, 100]) THEN mapping())"
            )
        assert caught.value.what == "mapping cannot treat 'age' of type DOUBLE"
        assert "graded_grouping()" in (caught.value.hint or "")
        assert caught.value.span is not None
        assert caught.value.span.source == "mapping()"

    def test_after_keep_is_the_same_as_alone(self, people: Owner) -> None:
        treatment = "graded_grouping(bands => 5)"
        people.execute(
            f"CREATE RELEASE r.alone FROM clinic.people (age QUASI AS {treatment});"
            f"CREATE RELEASE r.after FROM clinic.people (age QUASI AS keep() THEN {treatment})"
        )
        assert people.sql("FROM r.after").fetchall() == people.sql("FROM r.alone").fetchall()

    @pytest.mark.parametrize("execution", ["native", "udf"])
    def test_statistics_of_the_second_are_of_what_the_first_released(
        self, shared: Owner, execution: str
    ) -> None:
        fill(shared, [0, 500, 1000])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (x SENSITIVE AS"
            " graded_grouping(bands => [0, 1000]) THEN graded_grouping(bands => 2))"
            f" WITH (execution = '{execution}')"
        )
        # 0, 500, 1000 became 1, 1.5, 1.999: two bands of half of 0.999 each.
        assert released(shared) == [1, pytest.approx(2 + 0.001 / 0.999), 2.999]

    def test_errors_of_the_second_point_at_it(self, shared: Owner) -> None:
        fill(shared, [0, 500, 1000])
        with pytest.raises(PpdmError) as caught:
            shared.execute(
                "CREATE OR REPLACE RELEASE r.t FROM t (x SENSITIVE AS"
                " graded_grouping(bands => [0, 1000]) THEN graded_grouping(bands => [5, 6]))"
            )
        assert "3 values of 'x' lie in no band" in caught.value.what
        assert caught.value.span is not None
        assert caught.value.span.source == "graded_grouping(bands => [5, 6])"
