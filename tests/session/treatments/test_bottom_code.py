"""bottom_code() is top_code() turned around."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


@settings(max_examples=cases(60))
@given(st.lists(st.one_of(st.none(), st.integers(-200, 200)), max_size=9), st.integers(-150, 150))
def test_nothing_is_below_the_limit(shared: Owner, values: list[int | None], limit: int) -> None:
    fill(shared, values, "INTEGER")
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(),"
        f" x QUASI AS bottom_code(at => {limit}))"
    )
    assert released(shared) == [None if v is None else max(v, limit) for v in values]
    said = shared.interpret("r.t", f"x = {limit}").original
    count = sum(value is not None and value <= limit for value in values)
    assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(count,)]


def test_a_label_and_a_share(shared: Owner) -> None:
    fill(shared, list(range(1, 101)), "INTEGER")
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(),"
        " x QUASI AS bottom_code(percent => 5, shown => 'label'))"
    )
    assert released(shared)[:7] == ["5-"] * 5 + ["6", "7"]
