"""random_round() through releases: a multiple beside the value, right on average, and no second try."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

ROWS = 40_000


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, step: object, name: str = "t", source: str = "t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.{name} FROM {source}"
        f" (id KEY AS keep(), x QUASI AS random_round(to => {step}))"
    )


def many(owner: Owner, value: str = "3", type_: str = "INTEGER") -> None:
    owner.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT i AS id, {value}::{type_} AS x FROM range({ROWS}) s(i)"
    )


@settings(max_examples=cases(60))
@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**62), 2**62)), max_size=9), st.integers(2, 10**6)
)
def test_whole_numbers_become_one_of_two_multiples(
    shared: Owner, values: list[int | None], step: int
) -> None:
    fill(shared, values, "BIGINT")
    release(shared, step)
    for value, found in zip(values, released(shared), strict=True):
        if value is None:
            assert found is None
        else:
            assert found in {value // step * step, -(-value // step) * step}


@settings(max_examples=cases(60))
@given(st.lists(st.floats(-1e9, 1e9), max_size=9), st.sampled_from(["0.1", "0.25", "2.5", "1000"]))
def test_others_stay_within_a_step(shared: Owner, values: list[float], step: str) -> None:
    fill(shared, values, "DOUBLE")
    release(shared, step)
    for value, found in zip(values, released(shared), strict=True):
        assert abs(found - value) <= float(step) * (1 + 1e-9) + 1e-6
        steps = found / float(step)
        assert abs(steps - round(steps)) < 1e-6 + 1e-15 * abs(steps)


@pytest.mark.parametrize(("value", "type_", "step"), [("3", "INTEGER", 5), ("0.07", "DOUBLE", 0.1)])
def test_the_mean_is_right_on_average(shared: Owner, value: str, type_: str, step: float) -> None:
    many(shared, value, type_)
    release(shared, step)
    share = Fraction(value) / Fraction(str(step))
    mean, kinds = shared.execute("SELECT avg(x), count(DISTINCT x) FROM r.t").fetchall()[0]
    assert kinds == 2
    error = math.sqrt(float(share * (1 - share)) / ROWS) * step
    assert abs(mean - float(value)) < 5 * error


def test_asking_again_gains_nothing(shared: Owner) -> None:
    many(shared)
    release(shared, 5)
    shared.execute("CREATE OR REPLACE TABLE first AS SELECT * FROM r.t")
    shared.execute("REFRESH RELEASE r.t")
    again = "SELECT count(*) FROM first JOIN {} USING (id) WHERE first.x <> {}.x"
    assert shared.execute(again.format("r.t", "t")).fetchall() == [(0,)]
    release(shared, 5, "other", "(SELECT id, x FROM t WHERE id < 1000)")
    assert shared.execute(again.format("r.other", "other")).fetchall() == [(0,)]


def test_another_value_of_the_row_draws_anew(shared: Owner) -> None:
    many(shared, "3 + 5 * (i % 2)")
    release(shared, 5)
    shared.execute("CREATE OR REPLACE TABLE first AS SELECT * FROM r.t")
    shared.execute("UPDATE t SET x = x + 5")
    shared.execute("REFRESH RELEASE r.t")
    moved = "SELECT count(*) FROM first JOIN r.t USING (id) WHERE t.x - first.x <> 5"
    ((others,),) = shared.execute(moved).fetchall()
    assert 0.4 * ROWS < others < 0.56 * ROWS  # 2 · 0.6 · 0.4 of them


def test_a_row_without_a_key_is_refused(shared: Owner) -> None:
    fill(shared, [3, 4], "INTEGER")
    shared.execute("UPDATE t SET id = NULL WHERE x = 4")
    with pytest.raises(TreatmentError, match="KEY"):
        release(shared, 5)


def test_a_step_that_changes_nothing_is_refused(shared: Owner) -> None:
    fill(shared, [1], "INTEGER")
    with pytest.raises(TreatmentError, match=r"random_round\(to => 5\)"):
        release(shared, 1)
