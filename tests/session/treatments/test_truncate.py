"""truncate() through releases: compared with Python, whatever the date."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.treatments.truncate import UNITS
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def cut(moment: datetime, unit: str) -> datetime:
    day = datetime(moment.year, moment.month, moment.day)
    match unit:
        case "year":
            return datetime(moment.year, 1, 1)
        case "quarter":
            return datetime(moment.year, 3 * ((moment.month - 1) // 3) + 1, 1)
        case "month":
            return datetime(moment.year, moment.month, 1)
        case "week":
            return day - timedelta(days=moment.weekday())
        case "day":
            return day
        case _:
            return moment.replace(minute=0, second=0, microsecond=0)


def release(owner: Owner, unit: str) -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x QUASI AS truncate('{unit}'))"
    )


@settings(max_examples=cases(60))
@given(
    st.lists(
        st.one_of(st.none(), st.datetimes(datetime(1, 1, 8), datetime(9999, 12, 31))), max_size=9
    ),
    st.sampled_from(UNITS),
)
def test_moments_are_cut_as_python_cuts_them(
    shared: Owner, moments: list[datetime | None], unit: str
) -> None:
    fill(shared, moments, "TIMESTAMP")
    release(shared, unit)
    assert released(shared) == [None if one is None else cut(one, unit) for one in moments]


@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week"])
def test_dates_stay_dates(shared: Owner, unit: str) -> None:
    days = [date(2024, 2, 29), date(1999, 12, 31), None]
    fill(shared, days, "DATE")
    release(shared, unit)
    expected = [d and cut(datetime(d.year, d.month, d.day), unit).date() for d in days]
    assert released(shared) == expected


def test_a_condition_is_one_on_the_original(shared: Owner) -> None:
    fill(shared, [date(2024, 2, 29), date(2024, 3, 1), date(2024, 1, 1)], "DATE")
    release(shared, "month")
    said = shared.interpret("r.t", "x >= DATE '2024-02-01'").original
    assert said == "DATE_TRUNC('MONTH', x) >= '2024-02-01'"
    assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("call", "type_", "what"),
    [
        ("truncate()", "DATE", "how much is cut off"),
        ("truncate('day')", "DATE", "has no day to cut off"),
        ("truncate('century')", "DATE", "must be one of"),
        ("truncate('month')", "INTEGER", "cannot treat"),
    ],
)
def test_what_it_refuses(shared: Owner, call: str, type_: str, what: str) -> None:
    fill(shared, [None], type_)
    with pytest.raises(TreatmentError, match=what):
        shared.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY, x QUASI AS {call})")


def test_what_no_calendar_has_is_refused_and_null_later(shared: Owner) -> None:
    fill(shared, ["infinity", "0044-03-15 (BC)"], "DATE")
    with pytest.raises(TreatmentError, match="2 rows of 'x' cannot be computed"):
        release(shared, "year")
    fill(shared, ["2024-05-05"], "DATE")
    release(shared, "year")
    shared.execute("INSERT INTO t VALUES (8, 'infinity'), (9, '0044-03-15 (BC)')")
    assert released(shared)[1:] == [None, None]
