"""Graded grouping against its definition, written out slowly, over bands and values of all kinds.

One definition, three ways to compute it: the kernel, the native SQL of a release, the kernel
called by DuckDB. All must agree bit for bit.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease
from ppdm_sql.names import Name
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.graded_grouping import GradedGrouping
from ppdm_sql.treatments.kernels.bands import Bands
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.types import ColumnType
from tests.cases import cases as number_of
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
BIG = 1e300
"""Limits of bands are no larger, so that differences of them are numbers."""
END = 0.999

# Without the phase that explains a failure: it runs a failing example hundreds of times more.
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
thorough = settings(max_examples=number_of(200), phases=PHASES)
usual = settings(thorough, max_examples=number_of(50))


@dataclass(frozen=True)
class Grouping:
    """Bands as an owner would write them."""

    pairs: tuple[tuple[float, float], ...]
    names: tuple[int, ...]
    outside: str

    @property
    def sql(self) -> str:
        pairs = ", ".join(f"[{low!r}, {high!r}]" for low, high in self.pairs)
        return (
            f"graded_grouping(bands => [{pairs}], names => {list(self.names)},"
            f" outside => '{self.outside}')"
        )

    @property
    def kernel(self) -> Bands:
        lows, highs = np.array(self.pairs, dtype=np.float64).T
        return Bands(lows.copy(), highs.copy(), np.array(self.names, dtype=np.float64))

    def has_end(self, i: int) -> bool:
        """Whether the upper limit of band i is not the first value of the next."""
        return i + 1 == len(self.pairs) or self.pairs[i][1] < self.pairs[i + 1][0]

    def band_of(self, x: float) -> int | None:
        """Return the band a value belongs to; a shared edge belongs to the upper one."""
        return next(
            (i for i, (low, high) in reversed([*enumerate(self.pairs)]) if low <= x <= high), None
        )

    def released(self, x: float | None) -> float | None:
        """Return what the document's formula and the owner's word on outside values give."""
        if x is None or math.isnan(x):
            return None
        i = self.band_of(x)
        if i is not None:
            low, high = self.pairs[i]
            if x == low:
                return float(self.names[i])
            if x == high:
                return self.names[i] + END
            line = self.names[i] + (x - low) / (high - low)
            # A place below 1 may round to 1; it must not reach the name of a band behind a gap.
            return (
                min(line, math.nextafter(self.names[i] + 1, -math.inf)) if self.has_end(i) else line
            )
        return self._clamped(x) if self.outside == "clamp" else None

    def _clamped(self, x: float) -> float:
        if x < self.pairs[0][0]:
            return float(self.names[0])
        below = max(i for i, (_, high) in enumerate(self.pairs) if high < x)
        if below + 1 == len(self.pairs):
            return self.names[below] + END
        is_nearer_below = x - self.pairs[below][1] < self.pairs[below + 1][0] - x
        return self.names[below] + END if is_nearer_below else float(self.names[below + 1])


whole_limits = st.integers(-1000, 1000).map(float)
wild_limits = st.floats(-BIG, BIG, allow_nan=False) | st.floats(
    -1e-300, 1e-300, allow_nan=False, allow_subnormal=True
)


@st.composite
def groupings(draw: st.DrawFn, largest_name: int = 2**31 - 1) -> Grouping:
    """Draw bands that share edges, that have gaps, or both."""
    numbers = draw(st.sampled_from([whole_limits, wild_limits]))
    edges = sorted(draw(st.sets(numbers.map(lambda x: x + 0.0), min_size=2, max_size=9)))
    pairs = [*itertools.pairwise(edges)]
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    pairs = [pair for pair, keep in zip(pairs, kept, strict=True) if keep] or pairs
    consecutive = draw(st.booleans())
    if consecutive:
        first = draw(st.integers(-5, 5))
        names = list(range(first, first + len(pairs)))
    else:
        unique = st.sets(
            st.integers(-largest_name, largest_name), min_size=len(pairs), max_size=len(pairs)
        )
        names = sorted(draw(unique))
    outside = draw(st.sampled_from(["error", "null", "clamp"]))
    return Grouping(tuple(pairs), tuple(names), outside)


def values_of(grouping: Grouping) -> st.SearchStrategy[float]:
    """Draw values in bands, on and beside every edge, in gaps, outside, of any size."""
    limits = [limit for pair in grouping.pairs for limit in pair]
    beside = [math.nextafter(limit, toward) for limit in limits for toward in (-1e308, 1e308)]
    within = st.sampled_from(grouping.pairs).flatmap(lambda pair: st.floats(*pair))
    between = st.floats(limits[0], limits[-1])
    anything = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
    return st.one_of(st.sampled_from([*limits, *beside]), within, between, anything)


@st.composite
def cases(
    draw: st.DrawFn, largest_name: int = 2**31 - 1
) -> tuple[Grouping, tuple[float | None, ...]]:
    grouping = draw(groupings(largest_name))
    values = st.lists(st.none() | values_of(grouping), min_size=1, max_size=40)
    return grouping, tuple(draw(values))


def bits(values: Sequence[float | None]) -> list[bytes | None]:
    """Return values so that two are equal only when every bit is."""
    return [None if value is None else struct.pack("<d", value) for value in values]


def without_nan(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in values]


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    yield connection
    connection.close()


def make_table(owner: Owner, values: Sequence[float | None], type_: str = "DOUBLE") -> None:
    owner.execute(f"CREATE OR REPLACE TABLE measured (id INTEGER, x {type_})")
    add_rows(owner, values)


def add_rows(owner: Owner, values: Sequence[float | None]) -> None:
    table = pa.table({"id": range(len(values)), "x": pa.array(values, pa.float64())})
    owner.connection.from_arrow(table).insert_into("measured")


def make_release(owner: Owner, grouping: Grouping, execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE study.measured FROM measured "
        f"(id NEUTRAL, x SENSITIVE AS {grouping.sql}) WITH (execution = '{execution}')"
    )


def read_release(owner: Owner) -> list[float | None]:
    return [y for (y,) in owner.sql("SELECT x FROM study.measured").fetchall()]


def drawn_of(owner: Owner) -> tuple[GradedGrouping, Drawn]:
    """Return the treatment of x in the release study.measured and what it drew."""
    version = version_of(owner, "study.measured")
    release = version.release
    step = release.rules[-1].steps[0]
    assert isinstance(step.treatment, GradedGrouping)
    return step.treatment, version.parameters[step.slot]


@thorough
@given(cases())
def test_kernel_is_the_definition(case: tuple[Grouping, tuple[float | None, ...]]) -> None:
    grouping, values = case
    numbers = np.array([math.nan if x is None else x for x in values], dtype=np.float64)
    graded = grouping.kernel.grade(numbers, clamp=grouping.outside == "clamp")
    assert bits(without_nan(graded)) == bits([grouping.released(x) for x in values])


@usual
@given(cases())
def test_native_sql_and_kernel_in_duckdb_are_the_definition(
    shared: Owner, case: tuple[Grouping, tuple[float | None, ...]]
) -> None:
    grouping, values = case
    expected = [grouping.released(x) for x in values]
    lost = sum(1 for x, y in zip(values, expected, strict=True) if x is not None and y is None)
    for execution in ("native", "udf"):
        if lost and grouping.outside == "error":
            make_table(shared, values)
            with pytest.raises(ppdm_sql.TreatmentError, match=rf"\b{lost} values? of 'x' lies? in"):
                make_release(shared, grouping, execution)
            # Made while all values lie in bands, then the others come: the view goes on.
            make_table(shared, [])
            make_release(shared, grouping, execution)
            add_rows(shared, values)
        else:
            make_table(shared, values)
            make_release(shared, grouping, execution)
        found = read_release(shared)
        assert bits(found) == bits(expected), execution
    # The owner gets back what the kernel gives, by what the store kept.
    treatment, drawn = drawn_of(shared)
    (originals,) = treatment.invert([pa.array(found, pa.float64())], drawn)
    numbers = np.array([math.nan if y is None else y for y in found], dtype=np.float64)
    assert bits(originals.to_pylist()) == bits(without_nan(grouping.kernel.ungrade(numbers)))


@usual
@given(
    st.lists(st.floats(-BIG, BIG), min_size=1, max_size=30),
    st.integers(1, 12),
    st.sampled_from(["native", "udf"]),
)
def test_a_number_of_bands_cuts_the_range_into_equal_ones(
    shared: Owner, values: list[float], count: int, execution: str
) -> None:
    low, high = min(values), max(values)
    edges = [float(edge) for edge in np.linspace(low, high, count + 1)]
    can_be_cut = len(values) >= count and all(a < b for a, b in itertools.pairwise(edges))
    make_table(shared, values)
    statement = (
        "CREATE OR REPLACE RELEASE study.measured FROM measured (x SENSITIVE AS"
        f" graded_grouping(bands => {count})) WITH (execution = '{execution}')"
    )
    if not can_be_cut:
        with pytest.raises(ppdm_sql.TreatmentError):
            shared.execute(statement)
        return
    shared.execute(statement)
    assert (edges[0], edges[-1]) == (low, high)
    cut = Grouping(tuple(itertools.pairwise(edges)), tuple(range(1, count + 1)), outside="error")
    assert bits(read_release(shared)) == bits([cut.released(x) for x in values])


@thorough
@given(cases(largest_name=1000))
def test_inverse_gives_originals_back_to_a_millionth_of_a_millionth_of_the_band(
    case: tuple[Grouping, tuple[float | None, ...]],
) -> None:
    grouping, values = case
    kept = [(x, i) for x in values if x is not None and (i := grouping.band_of(x)) is not None]
    released = grouping.kernel.grade(np.array([x for x, _ in kept], dtype=np.float64))
    originals = grouping.kernel.ungrade(released)
    for (x, i), y, original in zip(kept, released, originals, strict=True):
        low, high = grouping.pairs[i]
        name = grouping.names[i]
        if grouping.has_end(i) and y == name + END:
            assert original == high  # a value at 0.999 shares its image with the end
            continue
        # A double next to a limit cannot be told from it more finely than doubles are spaced.
        spacing = max(math.ulp(low), math.ulp(high))
        assert abs(original - x) <= 1e-12 * (high - low) + spacing


@thorough
@given(cases())
def test_order_is_kept_but_for_the_end_of_a_band(
    case: tuple[Grouping, tuple[float | None, ...]],
) -> None:
    grouping, values = case
    inside = sorted(x for x in values if x is not None and grouping.band_of(x) is not None)
    released = grouping.kernel.grade(np.array(inside, dtype=np.float64))
    for k in range(len(inside) - 1):
        x, upper = inside[k], inside[k + 1]
        i = grouping.band_of(x)
        assert i is not None
        is_exception = upper == grouping.pairs[i][1] and grouping.has_end(i)
        if is_exception and released[k] > grouping.names[i] + END:
            assert released[k + 1] == grouping.names[i] + END
        else:
            assert released[k] <= released[k + 1]


@st.composite
def thresholds(draw: st.DrawFn, grouping: Grouping, values: Sequence[float | None]) -> list[float]:
    """Draw thresholds in bands, at edges and ends, between names, above and below everything."""
    images = [y for x in values if (y := grouping.released(x)) is not None]
    names = [float(name) for name in grouping.names]
    near_end = [name + place for name in names for place in (END, 0.9985, 0.9995, 1.0)]
    beside = [math.nextafter(y, toward) for y in images[:5] for toward in (-1e308, 1e308)]
    extremes = [names[0] - 1, names[-1] + 1, names[-1] + 2, -1e300, 1e300, -math.inf, math.inf]
    between = st.floats(names[0] - 1, names[-1] + 2)
    listed = st.sampled_from([*images, *names, *near_end, *beside, *extremes])
    return draw(st.lists(listed | between, min_size=1, max_size=4))


@st.composite
def conditions(
    draw: st.DrawFn, outside: str
) -> tuple[Grouping, tuple[float | None, ...], list[float]]:
    drawn, values = draw(cases(largest_name=1000))
    grouping = Grouping(drawn.pairs, drawn.names, outside)
    if outside == "error":
        values = tuple(x for x in values if x is None or grouping.band_of(x) is not None)
    return grouping, values, draw(thresholds(grouping, values))


def treatment_of(grouping: Grouping, type_: str) -> tuple[GradedGrouping, Drawn]:
    (statement,) = parse_script(f"CREATE RELEASE r FROM t (x SENSITIVE AS {grouping.sql})")
    assert isinstance(statement, CreateRelease)
    (call,) = statement.rules[0].treatments
    column = InputColumn(Name("x"), ColumnType(type_), "column:x")
    treatment = GradedGrouping.from_call(call, (column,))
    return treatment, treatment.draw({}, RootKey(bytes(32)), None)


def assert_same_rows(
    connection: duckdb.DuckDBPyConnection,
    grouping: Grouping,
    values: Sequence[float | None],
    literals: Sequence[float],
    type_: str = "DOUBLE",
) -> None:
    """Hold every rewritten condition on x against the condition on y, row by row."""
    released = [grouping.released(x) for x in values]
    table = pa.table({"x": pa.array(values, pa.float64()), "y": pa.array(released, pa.float64())})
    connection.register("arrived", table)
    connection.execute(
        f"CREATE OR REPLACE TABLE measured AS SELECT x::{type_} AS x, y FROM arrived"
    )
    treatment, drawn = treatment_of(grouping, type_)
    rewritten: dict[str, str] = {}
    for literal, operator in itertools.product(literals, OPERATORS):
        column = exp.column("x", table="measured", quoted=True)
        condition = treatment.invert_condition(operator, literal, (column,), drawn)
        if condition is None:
            # A clamped value shares its image with a limit: that is said, not guessed.
            assert grouping.outside == "clamp"
        else:
            rewritten[f"y {operator} '{literal!r}'::DOUBLE"] = to_sql(condition)
    if not rewritten:
        return
    # The inverse is good to about 1e-12: a row on the threshold itself may fall either way.
    counts = ", ".join(
        f"count(*) FILTER (coalesce({direct}, false) <> coalesce(({condition}), false)"
        f" AND NOT coalesce(abs(y - {direct.split(' ', 2)[2]}) < 1e-9, false))"
        for direct, condition in rewritten.items()
    )
    (wrong,) = connection.execute(f"SELECT {counts or 0} FROM measured").fetchall()
    assert [item for item, rows in zip(rewritten.items(), wrong, strict=False) if rows] == []


@settings(usual, max_examples=number_of(60))
@given(conditions(outside="error"))
def test_conditions_select_the_same_rows(
    engine: duckdb.DuckDBPyConnection,
    case: tuple[Grouping, tuple[float | None, ...], list[float]],
) -> None:
    assert_same_rows(engine, *case)


@usual
@given(st.sampled_from(["null", "clamp"]).flatmap(lambda outside: conditions(outside)))
def test_conditions_select_the_same_rows_where_values_lie_outside(
    engine: duckdb.DuckDBPyConnection,
    case: tuple[Grouping, tuple[float | None, ...], list[float]],
) -> None:
    assert_same_rows(engine, *case)


@usual
@given(
    type_=st.sampled_from(["TINYINT", "INTEGER", "HUGEINT", "DECIMAL(10,2)", "FLOAT"]),
    values=st.lists(st.none() | st.integers(-100, 100).map(float), min_size=1, max_size=30),
    places=st.lists(st.floats(-1, 6), min_size=1, max_size=2),
)
def test_conditions_select_the_same_rows_of_every_numeric_type(
    engine: duckdb.DuckDBPyConnection,
    type_: str,
    values: list[float | None],
    places: list[float],
) -> None:
    grouping = Grouping(((-100, -10), (-10, 33), (34, 100)), (0, 1, 4), "null")
    images = [y for x in values if (y := grouping.released(x)) is not None]
    assert_same_rows(engine, grouping, values, [*places, *images[:2], 1.999], type_)
