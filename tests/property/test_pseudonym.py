"""Pseudonyms against hashlib, for any text and any number of any exact type."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.language.script import parse_name
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

usual = settings(
    max_examples=cases(60),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)

# Values in the text that DuckDB writes them in.
TYPES: dict[str, st.SearchStrategy[str]] = {
    "VARCHAR": st.text(max_size=20),
    "INTEGER": st.integers(-(2**31), 2**31 - 1).map(str),
    "HUGEINT": st.integers(-(2**127), 2**127 - 1).map(str),
    "DECIMAL(18,3)": st.decimals(-(10**14), 10**14, places=3).map(lambda d: f"{abs(d):f}"),
    "DATE": st.dates().map(str),
    "UUID": st.uuids().map(str),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[str | None]]:
    type_ = draw(st.sampled_from([*TYPES]))
    return type_, draw(st.lists(st.none() | TYPES[type_], min_size=1, max_size=30))


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def released(
    owner: Owner, type_: str, values: list[str | None], arguments: str, execution: str
) -> list[str | None]:
    arrived = pa.table({"v": pa.array(values, pa.string())})
    owner.connection.register("arrived", arrived)
    owner.connection.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT v::{type_} AS x FROM temp.main.arrived"
    )
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (x KEY AS pseudonym({arguments}))"
        f" WITH (execution = '{execution}')"
    )
    return [name for (name,) in owner.sql("FROM r.t").fetchall()]


@usual
@given(
    column=columns(),
    length=st.integers(12, 40),
    prefix=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=5
    ),
    execution=st.sampled_from(["native", "udf"]),
)
def test_a_pseudonym_is_what_hashlib_gives(
    shared: Owner,
    column: tuple[str, list[str | None]],
    length: int,
    prefix: str,
    execution: str,
) -> None:
    type_, values = column
    quoted = prefix.replace("'", "''")
    arguments = f"length => {length}, prefix => '{quoted}'"
    found = released(shared, type_, values, arguments, execution)
    table = shared._releases.entry(parse_name("r.t")).storage.parameter_table()
    ((key,),) = shared.sql(f"SELECT t0_0_key FROM {table}").fetchall()
    expected = [
        None
        if text is None
        else prefix + hashlib.sha256(f"{key}:p:{text}".encode()).hexdigest()[:length]
        for text in values
    ]
    assert found == expected
    # Two of 30 values meet in 48 bits once in 10^11 runs.
    assert len(set(found)) == len(set(values))
