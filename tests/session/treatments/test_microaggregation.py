"""microaggregation(): values become the means of their groups; groups are frozen at creation."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.kernels import mdav
from ppdm_sql.treatments.microaggregation import Microaggregation
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.types import ColumnType
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

    Floats = npt.NDArray[np.float64]

INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
LOW, MIDDLE, HIGH = 9006.0, 58790 + 1 / 3, 86417 + 1 / 3

usual = settings(max_examples=cases(60))


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def fill(owner: Owner, columns: Sequence[Sequence[float | None]], type_: str = "DOUBLE") -> None:
    """Make `t` with the columns c0, c1, … and a number `id` for each row."""
    named = {f"c{at}": pa.array(values, pa.float64()) for at, values in enumerate(columns)}
    rows = pa.table({"id": pa.array(range(len(columns[0])), pa.int32()), **named})
    owner.connection.register("incoming", rows)
    casts = ", ".join(f"c{at}::{type_} AS c{at}" for at in range(len(columns)))
    owner.connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT id, {casts} FROM temp.incoming")
    owner.connection.unregister("incoming")


def release(owner: Owner, arguments: str, count: int = 1, execution: str = "native") -> None:
    columns = ", ".join(f"c{at}" for at in range(count))
    owner.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t"
        f" (id KEY AS keep(), ({columns}) SENSITIVE AS microaggregation({arguments}))"
        f" WITH (execution = '{execution}')"
    )


def released(owner: Owner) -> list[Any]:
    """Return the released rows in order; of one column, its values."""
    rows = owner.sql("SELECT * EXCLUDE (id) FROM r.t ORDER BY id").fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]


def note(owner: Owner) -> str | None:
    return owner.describe("r.t")[1].note


def draw(columns: Sequence[Sequence[float]], **arguments: int) -> Drawn:
    """Form groups without an engine."""
    inputs = [
        InputColumn(Name(f"c{at}"), ColumnType("DOUBLE"), f"table:c{at}")
        for at in range(len(columns))
    ]
    call = TreatmentCall("microaggregation", tuple(Argument(k, v) for k, v in arguments.items()))
    treatment = Microaggregation.from_call(call, inputs)
    if len(columns) == 1:
        cell = pa.scalar(list(columns[0]), pa.list_(pa.float64()))
    else:
        fields = {f"c{at}": pa.float64() for at in range(len(columns))}
        rows = [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]
        cell = pa.scalar(rows, pa.list_(pa.struct(fields)))
    return treatment.draw({"values": cell}, RootKey(b"\0" * 32), None)


def ranges(drawn: Drawn, values: Sequence[float]) -> Floats:
    """Return the mean that each value finds by the cut points."""
    table = drawn.tables["ranges"]
    cuts, means = (table[name].to_numpy() for name in ("original", "released"))
    found: Floats = means[np.searchsorted(cuts, np.array(values), side="right") - 1]
    return found


@pytest.mark.parametrize("type_", ["INTEGER", "DOUBLE", "DECIMAL(10,2)"])
def test_three_clusters_of_the_document_s_incomes(shared: Owner, type_: str) -> None:
    fill(shared, [INCOMES], type_)
    release(shared, "clusters => 3")
    expected = [MIDDLE, HIGH, MIDDLE, LOW, LOW, HIGH, HIGH, MIDDLE, LOW, LOW]
    assert released(shared) == pytest.approx(expected, rel=1e-14)
    assert LOW in released(shared)
    assert 36024 not in released(shared), "the document prints the cluster's sum"
    assert math.fsum(released(shared)) == pytest.approx(sum(INCOMES), rel=1e-14)
    assert str(shared.sql("SELECT c0 FROM r.t").types[0]) == "DOUBLE"


def test_groups_of_size(shared: Owner) -> None:
    fill(shared, [INCOMES])
    release(shared, "size => 4", execution="udf")
    counted = Counter(released(shared))
    assert sorted(counted.values()) == [4, 6]
    assert counted[LOW] == 4


ties = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=50)
numbers = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=50)


@given(ties | numbers, st.integers(2, 9))
@usual
def test_no_mean_stands_for_fewer_values_than_asked(values: list[float], size: int) -> None:
    assume(len(values) >= size)
    drawn = draw([values], size=size)
    found = ranges(drawn, values)
    # Two neighbouring groups may have means that round to one number: count by range.
    cuts = drawn.tables["ranges"]["original"].to_numpy()
    counted = Counter((np.searchsorted(cuts, np.array(values), side="right") - 1).tolist())
    assert min(counted.values()) >= size
    assert len(counted) == drawn.parameters["groups"]
    assert min(counted.values()) == drawn.parameters["smallest"]
    near = 1e-12 * sum(map(abs, values))
    assert math.fsum(found) == pytest.approx(math.fsum(values), rel=0, abs=near)


@given(ties | numbers, st.integers(1, 5))
@usual
def test_a_value_becomes_the_mean_of_its_cluster(values: list[float], clusters: int) -> None:
    assume(len(set(values)) >= clusters)
    values = values * 2  # nobody is alone in a cluster
    drawn = draw([values], clusters=clusters)
    found = ranges(drawn, values)
    for mean in set(found.tolist()):
        members = [x for x, y in zip(values, found, strict=True) if y == mean]
        largest = max(map(abs, members))
        assert mean == pytest.approx(math.fsum(members) / len(members), rel=0, abs=1e-12 * largest)
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all(), "groups are ranges"


def test_later_values_take_the_nearest_group_and_groups_stay(shared: Owner) -> None:
    fill(shared, [[1, 2, 3, 11, 12, 13]])
    release(shared, "size => 3")
    assert released(shared) == [2, 2, 2, 12, 12, 12]
    later = [("-1e299", 2), ("6.99", 2), ("7", 12), ("7.01", 12), ("1e299", 12), ("NULL", None)]
    later += [("'nan'", None), ("'infinity'", None), ("'-infinity'", None), ("1e300", None)]
    for at, (value, _) in enumerate(later):
        shared.execute(f"INSERT INTO t VALUES ({at + 6}, {value})")
    expected = [2, 2, 2, 12, 12, 12, *(group for _, group in later)]
    assert released(shared) == expected
    shared.execute("DELETE FROM t WHERE id > 11; REFRESH RELEASE r.t")
    assert released(shared) == expected[:12], "a refresh keeps the groups"


def test_what_is_no_number_is_refused_at_creation(shared: Owner) -> None:
    for count in (1, 2):
        fill(shared, [[1, 2, 3, math.nan, math.inf, -math.inf, 1e300]] * count)
        with pytest.raises(TreatmentError) as caught:
            release(shared, "size => 2", count)
        names = ", ".join(f"c{at}" for at in range(count))
        assert caught.value.what == (
            f"microaggregation: 4 rows of '{names}' cannot be computed"
            " (NaN, infinite or out of range)"
        )


def test_null_stays_null_and_is_in_no_group(shared: Owner) -> None:
    fill(shared, [[None, 1, None, 3]])
    release(shared, "size => 2")
    assert released(shared) == [None, 2, None, 2]


def test_rows_keep_their_number_and_their_order_does_not_matter(shared: Owner) -> None:
    values = np.random.default_rng(3).integers(0, 50, 3000).astype(float)
    fill(shared, [values.tolist()])
    release(shared, "size => 7")
    assert len(released(shared)) == 3000
    by_value = dict(zip(values.tolist(), released(shared), strict=True))
    assert [by_value[x] for x in values.tolist()] == released(shared)
    assert ranges(draw([values.tolist()], size=7), values.tolist()) == pytest.approx(
        ranges(draw([sorted(values.tolist())], size=7), values.tolist()), rel=0
    )


def test_the_note_says_groups_smallest_and_loss(shared: Owner) -> None:
    fill(shared, [INCOMES])
    release(shared, "clusters => 3")
    values = np.array(INCOMES, dtype=float)
    within = ((values - np.array(released(shared))) ** 2).sum()
    loss = within / ((values - values.mean()) ** 2).sum()
    assert note(shared) == f"3 groups, the smallest of 3; {loss:.2%} of the variance is lost"
    ((told,),) = shared.execute("DESCRIBE RELEASE r.t").df()[["note"]].iloc[1:].to_numpy().tolist()
    assert told == note(shared)


def test_a_constant_column_loses_nothing(shared: Owner) -> None:
    fill(shared, [[5, 5, 5]])
    release(shared, "size => 2")
    assert released(shared) == [5, 5, 5]
    assert note(shared) == "1 groups, the smallest of 3; 0.00% of the variance is lost"


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("count", [1, 2])
def test_very_large_and_very_small_numbers_are_grouped_too(
    shared: Owner, unit: float, count: int
) -> None:
    fill(shared, [[unit * x for x in (1, 2, 3, 11, 12, 13)]] * count)
    release(shared, "size => 3", count)
    found = np.array(released(shared)).reshape(6, count)
    expected = np.repeat([[2.0] * count, [12.0] * count], 3, axis=0) * unit
    assert found == pytest.approx(expected, rel=1e-12)
    assert (note(shared) or "").startswith("2 groups, the smallest of 3; 2.6"), "the loss is known"


def test_beyond_the_exact_size_there_are_as_many_clusters_as_asked(shared: Owner) -> None:
    fill(shared, [np.random.default_rng(1).normal(size=2500).tolist() * 2])
    release(shared, "clusters => 1000")
    assert len(set(released(shared))) == 1000


@pytest.mark.parametrize("clusters", [3, 400])
def test_nobody_is_alone_in_a_cluster(shared: Owner, clusters: int) -> None:
    """Before: whoever was, was released with the value itself."""
    incomes = np.random.default_rng(1).uniform(20_000, 80_000, 500).round()
    fill(shared, [[*incomes, 4_711_853]])
    with pytest.raises(TreatmentError, match="would have one row") as caught:
        release(shared, f"clusters => {clusters}")
    assert caught.value.code == "data_does_not_fit"
    release(shared, "size => 5")
    assert max(released(shared)) < 1_500_000


def spread_rows(count: int, columns: int, seed: int, distinct: int = 7) -> list[list[float]]:
    """Return columns of few distinct values, so that rows repeat."""
    rows = np.random.default_rng(seed).integers(0, distinct, (columns, count))
    found: list[list[float]] = rows.astype(float).tolist()
    return found


@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(2, 9), st.integers(9, 80))
@usual
def test_no_row_of_means_stands_for_fewer_rows_than_asked(
    seed: int, columns: int, size: int, count: int
) -> None:
    data = spread_rows(count, columns, seed)
    drawn = draw(data, size=size)
    rows = drawn.tables["rows"].to_pylist()
    means = {
        tuple(row[f"original_{at}"] for at in range(columns)): tuple(
            row[f"released_{at}"] for at in range(columns)
        )
        for row in rows
    }
    assert len(means) == len(rows), "a row of values is listed once"
    found = [means[row] for row in zip(*data, strict=True)]
    assert min(Counter(found).values()) >= size
    for at in range(columns):
        total = math.fsum(row[at] for row in found)
        assert total == pytest.approx(math.fsum(data[at]), rel=1e-12, abs=1e-9)
    assert drawn.tables["groups"].num_rows == drawn.parameters["groups"]


def test_several_columns_through_sql(shared: Owner) -> None:
    data = [*spread_rows(400, 2, 1), *spread_rows(400, 1, 2, 40)]
    fill(shared, data)
    release(shared, "size => 5", 3)
    found = released(shared)
    assert len(found) == 400
    assert min(Counter(found).values()) >= 5
    assert np.array(found).sum(axis=0) == pytest.approx(np.array(data).sum(axis=1), rel=1e-12)
    groups, smallest = len(set(found)), min(Counter(found).values())
    assert (note(shared) or "").startswith(f"{groups} groups, the smallest of {smallest}; ")
    same = dict(zip(zip(*data, strict=True), found, strict=True))
    assert all(same[row] == y for row, y in zip(zip(*data, strict=True), found, strict=True))


def test_the_loss_of_several_columns_is_that_of_the_standardized_ones(shared: Owner) -> None:
    rows = np.random.default_rng(4)
    data = np.stack([rows.normal(0, 1, 60), rows.normal(500, 1000, 60)])
    fill(shared, data.tolist())
    release(shared, "size => 3", 2)
    scale = data.std(axis=1, keepdims=True)
    away = (data - np.array(released(shared)).T) / scale
    total = ((data - data.mean(axis=1, keepdims=True)) / scale) ** 2
    loss = (away**2).sum() / total.sum()
    assert note(shared) == f"20 groups, the smallest of 3; {loss:.2%} of the variance is lost"
    assert loss < 0.2, "the second column's size does not drown the first"


def test_a_later_row_takes_the_group_of_the_nearest_mean(shared: Owner) -> None:
    rows = np.random.default_rng(7)
    data = np.stack([rows.normal(0, 1, 90), rows.normal(0, 1000, 90)])
    fill(shared, data.tolist())
    release(shared, "size => 4", 2)
    first = np.array(released(shared))
    means = np.unique(first, axis=0)
    later = np.stack([rows.normal(0, 2, 40), rows.normal(0, 2000, 40)], axis=1)
    for at, (x, y) in enumerate(later.tolist()):
        shared.connection.execute("INSERT INTO t VALUES (?, ?, ?)", [90 + at, x, y])
    found = np.array(released(shared))
    assert (found[:90] == first).all()
    away = ((later[:, None] - means[None]) / data.std(axis=1)) ** 2
    assert (found[90:] == means[away.sum(axis=2).argmin(axis=1)]).all()


def test_a_row_with_a_null_has_no_group_and_leaves_nothing(shared: Owner) -> None:
    fill(shared, [[1, 2, None, 4], [1, None, 3, 4]])
    release(shared, "size => 2", 2)
    assert released(shared) == [(2.5, 2.5), (None, None), (None, None), (2.5, 2.5)]
    shared.execute("INSERT INTO t VALUES (4, 1, NULL), (5, 'nan', 1), (6, NULL, NULL)")
    assert released(shared)[4:] == [(None, None)] * 3


def test_minus_zero_is_zero(shared: Owner) -> None:
    fill(shared, [[0.0, -0.0, 5, 6], [0.0, 0.0, 5, 6]])
    release(shared, "size => 2", 2)
    assert released(shared) == [(0, 0), (0, 0), (5.5, 5.5), (5.5, 5.5)]


def test_a_column_that_never_changes_among_several(shared: Owner) -> None:
    fill(shared, [[1, 2, 11, 12], [7, 7, 7, 7]])
    release(shared, "size => 2", 2)
    assert released(shared) == [(1.5, 7), (1.5, 7), (11.5, 7), (11.5, 7)]


def test_many_distinct_rows_go_by_blocks_and_the_note_says_so(shared: Owner) -> None:
    count = mdav.EXACT_UP_TO + 1
    data = np.random.default_rng(9).normal(size=(2, count))
    fill(shared, data.tolist())
    release(shared, "size => 2000", 2)
    text = note(shared) or ""
    assert text.endswith(
        "; grouped in 2 blocks along the principal component, because there are more than 20,000"
        " distinct rows"
    )
    found = released(shared)
    assert min(Counter(found).values()) >= 2000
    assert np.array(found).sum(axis=0) == pytest.approx(data.sum(axis=1), abs=1e-7)


def test_blocks_never_make_groups_smaller_than_asked(shared: Owner) -> None:
    """Two blocks of 10,000 rows each cannot hold groups of 11,000."""
    fill(shared, np.random.default_rng(9).normal(size=(2, mdav.EXACT_UP_TO + 1)).tolist())
    release(shared, "size => 11000", 2)
    assert min(Counter(released(shared)).values()) >= 11_000


@pytest.mark.parametrize(
    ("columns", "arguments", "what"),
    [
        ([[1, 2, 3]], "size => 4", "microaggregation: 'c0' has 3 rows, fewer than the 4 asked for"),
        ([[None]], "size => 2", "microaggregation: 'c0' has 0 rows, fewer than the 2 asked for"),
        (
            [[], []],
            "size => 2",
            "microaggregation: 'c0, c1' has 0 rows, fewer than the 2 asked for",
        ),
        (
            [[1, 1, 2]],
            "clusters => 3",
            "microaggregation: 'c0' has 2 distinct values, fewer than the 3 asked for",
        ),
        (
            [[1, 2, 3], [1, 2, None]],
            "size => 3",
            "microaggregation: 'c0, c1' has 2 rows, fewer than the 3 asked for",
        ),
        ([[1, 2]], "", "microaggregation takes 'clusters' or 'size'"),
        ([[1, 2]], "clusters => 2, size => 2", "microaggregation takes 'clusters' or 'size'"),
        (
            [[1, 2], [1, 2]],
            "clusters => 2",
            "microaggregation: a group of columns is aggregated by 'size'",
        ),
        (
            [[1, 2]],
            "size => 1",
            "microaggregation: 'size' must be a whole number from 2 to 1000000",
        ),
        (
            [[1, 2]],
            "clusters => 0",
            "microaggregation: 'clusters' must be a whole number from 1 to 10000",
        ),
        (
            [[1, 2]],
            "size => 2.5",
            "microaggregation: 'size' must be a whole number from 2 to 1000000",
        ),
    ],
)
def test_what_it_refuses(
    shared: Owner, columns: list[list[float | None]], arguments: str, what: str
) -> None:
    fill(shared, columns)
    with pytest.raises(TreatmentError) as caught:
        release(shared, arguments, len(columns))
    assert caught.value.what == what


@pytest.mark.parametrize("type_", ["VARCHAR", "DATE"])
def test_only_numbers_are_aggregated(shared: Owner, type_: str) -> None:
    shared.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, c0 {type_})")
    with pytest.raises(TreatmentError, match=f"cannot treat 'c0' of type {type_}"):
        release(shared, "size => 2")


def test_no_cut_point_and_no_mean_is_told(shared: Owner) -> None:
    fill(shared, [INCOMES])
    release(shared, "clusters => 3")
    told = [shared.explain("r.t"), repr(draw([INCOMES], clusters=3))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told for secret in ("9006", "58790", "32156") if secret in text]


def test_what_it_says_of_itself() -> None:
    assert Microaggregation.exactness is Exactness.NONE
    assert not Microaggregation.kernels


def test_noise_on_the_means_uses_the_row_s_own_key(shared: Owner) -> None:
    """The row key survives a first stage that joins tables."""
    chain = "microaggregation(size => 5) THEN noise(uniform(1, 2), uniform(3, 4), round => false)"
    shared.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS id, i::DOUBLE AS c0, (i % 7)::DOUBLE AS c1"
        " FROM range(60) AS r (i);"
        "CREATE OR REPLACE RELEASE r.means FROM t"
        " (id KEY AS keep(), (c0, c1) SENSITIVE AS microaggregation(size => 5));"
        f"CREATE OR REPLACE RELEASE r.both FROM t (id KEY AS keep(), (c0, c1) SENSITIVE AS {chain});"
        "CREATE OR REPLACE RELEASE r.again FROM (SELECT * FROM t ORDER BY id DESC)"
        f" (id KEY AS keep(), (c0, c1) SENSITIVE AS {chain})"
    )
    means, both, again = (
        np.array(shared.sql(f"SELECT c0, c1 FROM {name} ORDER BY id").fetchall())
        for name in ("r.means", "r.both", "r.again")
    )
    noise = both - means
    assert ((noise > [1, 3]) & (noise < [2, 4])).all()
    assert len(np.unique(noise.round(9), axis=0)) == 60, "rows of one group have noise of their own"
    assert (both == again).all()


def test_of_two_groups_equally_near_a_later_row_takes_the_first(shared: Owner) -> None:
    """Whatever order the engine reads the groups in."""
    columns = [[0.0, 1.0, 9.0, 10.0], [0.0, 1.0, 9.0, 10.0]]
    fill(shared, columns)
    release(shared, "size => 2", 2)
    first = draw(columns, size=2).tables["groups"].to_pylist()[0]
    assert first["number"] == 0
    shared.execute("INSERT INTO t VALUES (4, 5, 5)")
    assert released(shared)[4] == (first["released_0"], first["released_1"])
    names = shared.sql(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'r%_groups'"
    ).fetchall()
    for (name,) in names:
        shared.execute(
            f"CREATE OR REPLACE TABLE ppdm_owner.{name} AS FROM ppdm_owner.{name} ORDER BY number DESC"
        )
    assert released(shared)[4] == (first["released_0"], first["released_1"])
