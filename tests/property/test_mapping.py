"""Mapping: one alias a value and back again, for every type it accepts, whatever the values."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PrivacyWarning
from ppdm_sql.treatments.mapping import Mapping
from tests.cases import cases
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

usual = settings(
    max_examples=cases(50),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)


def whole(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


# Values as the text that DuckDB reads them from.
TYPES: dict[str, st.SearchStrategy[str]] = {
    "VARCHAR": st.text(max_size=12),
    "BOOLEAN": st.sampled_from(["true", "false"]),
    "TINYINT": whole(-128, 127),
    "UBIGINT": whole(0, 2**64 - 1),
    "INTEGER": whole(-(2**31), 2**31 - 1),
    "BIGINT": whole(-(2**63), 2**63 - 1),
    "HUGEINT": whole(-(2**127), 2**127 - 1),
    "UHUGEINT": whole(0, 2**128 - 1),
    "DECIMAL(9,2)": st.decimals(-9_999_999, 9_999_999, places=2).map(str),
    "DECIMAL(38,10)": st.decimals(-(10**27), 10**27, places=10).map(lambda d: f"{d:f}"),
    "DATE": st.dates().map(str) | st.sampled_from(["infinity", "-infinity", "0044-03-15 (BC)"]),
    "TIMESTAMP": st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)).map(str),
    "TIMESTAMP_S": st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1)).map(str),
    "UUID": st.uuids().map(str),
    "ENUM('Flu', 'it''s', 'ü', '')": st.sampled_from(["Flu", "it's", "ü", ""]),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[str | None]]:
    type_ = draw(st.sampled_from([*TYPES]))
    pool = draw(st.lists(TYPES[type_], min_size=1, max_size=12))
    return type_, draw(st.lists(st.none() | st.sampled_from(pool), max_size=40))


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def fill(owner: Owner, type_: str, values: Sequence[str | None]) -> None:
    owner.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, x {type_})")
    add(owner, values)


def add(owner: Owner, values: Sequence[str | None]) -> None:
    arrived = pa.table({"v": pa.array(values, pa.string()), "n": pa.array(range(len(values)))})
    owner.connection.register("arrived", arrived)
    owner.connection.execute(
        "INSERT INTO t SELECT (SELECT count(*) FROM t) + n, v FROM temp.main.arrived"
    )


def release(owner: Owner, statement: str = "CREATE OR REPLACE") -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        if statement == "REFRESH":
            owner.execute("REFRESH RELEASE r.t")
        else:
            owner.execute(f"{statement} RELEASE r.t FROM t (id NEUTRAL, x SENSITIVE AS mapping())")


def stored(owner: Owner) -> tuple[Mapping, Drawn]:
    version = version_of(owner, "r.t")
    bound = version.release
    step = bound.rules[-1].steps[0]
    assert isinstance(step.treatment, Mapping)
    return step.treatment, version.parameters[step.slot]


def read(owner: Owner) -> pa.Table:
    return owner.sql("SELECT id, x FROM r.t ORDER BY id").to_arrow_table()


def count(owner: Owner, query: str) -> int:
    ((found,),) = owner.connection.execute(query).fetchall()
    return int(found)


@settings(usual, max_examples=cases(70))
@given(columns())
def test_aliases_and_values_stand_for_each_other(
    shared: Owner, column: tuple[str, list[str | None]]
) -> None:
    type_, values = column
    fill(shared, type_, values)
    release(shared)
    rows = read(shared)
    assert rows.column("id").to_pylist() == list(range(len(values)))
    both = "t JOIN r.t r USING (id)"
    for wrong in (
        f"SELECT id FROM {both} WHERE (t.x IS NULL) <> (r.x IS NULL)",
        f"SELECT t.x FROM {both} GROUP BY t.x HAVING count(DISTINCT r.x) > 1",
        f"SELECT r.x FROM {both} GROUP BY r.x HAVING count(DISTINCT t.x) > 1",
    ):
        assert count(shared, f"SELECT count(*) FROM ({wrong})") == 0, wrong
    distinct = count(shared, "SELECT count(DISTINCT x) FROM t")
    aliases = set(rows.column("x").to_pylist()) - {None}
    assert aliases == {f"x_{n}" for n in range(1, distinct + 1)}
    treatment, drawn = stored(shared)
    check_inverse(shared, type_, treatment, drawn, rows)
    for alias in sorted(aliases)[:2]:
        check_conditions(shared, type_, treatment, drawn, alias)


def check_inverse(
    owner: Owner, type_: str, treatment: Mapping, drawn: Drawn, rows: pa.Table
) -> None:
    (originals,) = treatment.invert([rows.column("x").combine_chunks()], drawn)
    owner.connection.register("back", pa.table({"id": rows.column("id"), "x": originals}))
    assert len(originals) == rows.num_rows
    different = count(
        owner,
        "SELECT count(*) FROM t JOIN temp.main.back b USING (id)"
        f" WHERE t.x IS DISTINCT FROM b.x::{type_}",
    )
    assert different == 0


def check_conditions(
    owner: Owner, type_: str, treatment: Mapping, drawn: Drawn, alias: str
) -> None:
    for operator in ("=", "<>"):
        columns = (exp.column("x", table="t"),)
        condition = treatment.invert_condition(operator, alias, columns, drawn)
        if condition is None:
            assert type_ == "DATE"  # a date beyond the calendar of Python has no literal
            continue
        different = count(
            owner,
            "SELECT count(*) FROM t JOIN r.t r USING (id) WHERE"
            f" coalesce(r.x {operator} '{alias}', false)"
            f" <> coalesce(({to_sql(condition)}), false)",
        )
        assert different == 0, f"x {operator} {alias}"


@usual
@given(columns(), st.data())
def test_refresh_keeps_aliases_and_adds_only_new_ones(
    shared: Owner, column: tuple[str, list[str | None]], data: st.DataObject
) -> None:
    type_, values = column
    later = data.draw(st.lists(TYPES[type_], max_size=10), label="later")
    fill(shared, type_, values)
    release(shared)
    before = read(shared).to_pylist()
    known = count(shared, "SELECT count(DISTINCT x) FROM t")
    add(shared, later)
    # What is new is NULL, never raw; what is known has its alias.
    new = count(
        shared,
        f"SELECT count(*) FROM t WHERE id >= {len(values)} AND x NOT IN"
        f" (SELECT x FROM t WHERE id < {len(values)} AND x IS NOT NULL)",
    )
    waiting = read(shared).to_pylist()[len(values) :]
    assert sum(row["x"] is None for row in waiting) == new
    assert all(row["x"] is None or re.fullmatch(r"x_\d+", row["x"]) for row in waiting)
    release(shared, "REFRESH")
    after = read(shared).to_pylist()
    assert after[: len(values)] == before
    distinct = count(shared, "SELECT count(DISTINCT x) FROM t")
    aliases = {row["x"] for row in after} - {None}
    assert aliases == {f"x_{n}" for n in range(1, distinct + 1)}
    assert distinct >= known
