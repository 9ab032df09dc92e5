"""age_at() through releases: compared with Python, day by day."""

from __future__ import annotations

from datetime import date
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

DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))
OPERATORS = ("=", "<", "<=", ">", ">=")


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def age(born: date, day: date) -> int | None:
    years = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    return years if years >= 0 else None


def release(owner: Owner, day: date) -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x QUASI AS age_at('{day}'))"
    )


@settings(max_examples=cases(60))
@given(st.lists(DAYS, max_size=9), DAYS, st.sampled_from(["DATE", "TIMESTAMP"]))
def test_ages_are_those_of_python(shared: Owner, born: list[date], day: date, type_: str) -> None:
    fill(shared, [*born, None], type_)
    release(shared, day)
    assert released(shared) == [*(age(one, day) for one in born), None]


@settings(max_examples=cases(60))
@given(st.lists(DAYS, max_size=9), DAYS, st.integers(0, 90), st.sampled_from(OPERATORS))
def test_a_condition_is_one_on_days_of_birth(
    shared: Owner, born: list[date], day: date, limit: int, operator: str
) -> None:
    fill(shared, born, "DATE")
    release(shared, day)
    answer = shared.interpret("r.t", f"x {operator} {limit}")
    if not answer.is_complete:
        return
    found = shared.execute(f"SELECT id FROM t WHERE {answer.original} ORDER BY id").fetchall()
    here = shared.execute(f"SELECT id FROM r.t WHERE x {operator} {limit} ORDER BY id").fetchall()
    assert found == here


def test_who_is_born_on_29_february_turns_a_year_on_1_march(shared: Owner) -> None:
    fill(shared, [date(2000, 2, 29)], "DATE")
    for day, expected in ((date(2001, 2, 28), 0), (date(2001, 3, 1), 1), (date(2004, 2, 29), 4)):
        release(shared, day)
        assert released(shared) == [expected]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("age_at('today')", "this is no day"),
        ("age_at()", "must be a text"),
        ("age_at(2026)", "text"),
    ],
)
def test_what_it_refuses(shared: Owner, call: str, what: str) -> None:
    fill(shared, [None], "DATE")
    with pytest.raises(TreatmentError, match=what):
        shared.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY, x QUASI AS {call})")
