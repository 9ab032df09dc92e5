"""round() through releases: exact for whole numbers to both ends, near for others."""

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

WHOLE = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, step: object) -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x QUASI AS round(to => {step}))"
    )


def nearest(value: int, step: int) -> int:
    return math.floor(Fraction(value, step) + Fraction(1, 2)) * step


@settings(max_examples=cases(60))
@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**62), 2**62)), max_size=9), st.integers(2, 10**6)
)
def test_whole_numbers_are_exact(shared: Owner, values: list[int | None], step: int) -> None:
    fill(shared, values, "BIGINT")
    release(shared, step)
    assert released(shared) == [None if v is None else nearest(v, step) for v in values]


@settings(max_examples=cases(60))
@given(st.lists(st.floats(-1e9, 1e9), max_size=9), st.sampled_from(["0.1", "0.25", "2.5", "1000"]))
def test_others_are_near(shared: Owner, values: list[float], step: str) -> None:
    fill(shared, values, "DOUBLE")
    release(shared, step)
    for value, found in zip(values, released(shared), strict=True):
        assert abs(found - value) <= float(step) / 2 * (1 + 1e-9) + 1e-6
        assert abs(found / float(step) - round(found / float(step))) < 1e-6


def test_fractions_are_written_as_they_are_read(shared: Owner) -> None:
    fill(shared, [0.26, 0.34, -0.05, 1.0], "DOUBLE")
    release(shared, "0.1")
    assert released(shared) == [0.3, 0.3, 0.0, 1.0]


def test_an_end_that_would_pass_is_refused(shared: Owner) -> None:
    fill(shared, [2**63 - 1], "BIGINT")
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, 1000)


def test_a_condition_is_one_on_the_original(shared: Owner) -> None:
    fill(shared, [12, 13, 17, 18], "INTEGER")
    release(shared, 5)
    said = shared.interpret("r.t", "x = 15").original
    assert said == "x BETWEEN 13 AND 17"
    assert shared.execute(f"SELECT x FROM t WHERE {said} ORDER BY x").fetchall() == [(13,), (17,)]


@pytest.mark.parametrize("step", [5, 4])
@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_conditions_on_whole_numbers_select_the_same_rows(
    shared: Owner, operator: str, step: int
) -> None:
    fill(shared, list(range(-30, 31)), "INTEGER")
    release(shared, step)
    for value in range(-20, 21):
        condition = f"x {operator} {value}"
        found = shared.interpret("r.t", condition)
        if found.is_complete:
            shown = f"SELECT count(*) FROM r.t WHERE {condition}"
            assert shared.execute(shown).fetchall() == (
                shared.execute(f"SELECT count(*) FROM t WHERE {found.original}").fetchall()
            )
        else:
            assert value % step != 0, condition


@pytest.mark.parametrize("step", [0.1, 0.25, 2.5, 7])
@pytest.mark.parametrize("type_", ["DOUBLE", "DECIMAL(10, 2)"])
def test_conditions_on_others_are_computed_as_the_view_is(
    shared: Owner, step: float, type_: str
) -> None:
    """Before: of tenths, three of four conditions selected other rows."""
    fill(shared, [round(at / 100, 2) for at in range(0, 3000, 7)], type_)
    release(shared, step)
    for value, count in shared.execute("SELECT x, count(*) FROM r.t GROUP BY ALL").fetchall():
        said = shared.interpret("r.t", f"x = {value!r}").original
        assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(count,)]


def test_what_a_small_step_makes_too_large_is_refused(shared: Owner) -> None:
    fill(shared, [9.8e299], "DOUBLE")
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, 1e-9)


@pytest.mark.parametrize("step", ["0", "-5", "'5'", "true"])
def test_what_is_no_step_is_refused(shared: Owner, step: str) -> None:
    fill(shared, [1], "INTEGER")
    with pytest.raises(TreatmentError, match="a number above 0"):
        release(shared, step)


def test_a_step_that_changes_nothing_is_refused(shared: Owner) -> None:
    fill(shared, [1], "INTEGER")
    with pytest.raises(TreatmentError, match="stay as they are"):
        release(shared, 1)


def test_a_text_is_no_multiple(owner: Owner) -> None:
    """Red before: KeyError."""
    owner.execute("CREATE TABLE t AS SELECT i AS id, i AS x FROM range(9) s(i)")
    owner.execute("CREATE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS round(to => 5))")
    assert not owner.interpret("r.t", "x = '1000'").is_complete
    assert not owner.interpret("r.t", "x IN ('a', 'b')").is_complete
