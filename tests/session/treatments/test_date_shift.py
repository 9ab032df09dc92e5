"""date_shift() through releases: one shift a person, whatever the column, table or release."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, TreatmentError
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own tables `t` and `u`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def visits(owner: Owner, persons: int = 400) -> None:
    owner.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i // 2 AS id, DATE '2020-02-28' + (i % 7)::INTEGER AS day,"
        " TIMESTAMP '2020-02-28 23:59:59.25' + INTERVAL (i) HOUR AS moment,"
        f" TIMESTAMPTZ '2020-02-28 12:00:00+00' AS zoned FROM range({2 * persons}) AS r(i)"
    )


def release(owner: Owner, call: str = "date_shift()", name: str = "r.t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE {name} FROM t (id KEY OF patient AS keep(),"
        f" day NEUTRAL AS {call}, moment NEUTRAL AS {call}, zoned NEUTRAL AS {call})"
    )


def shifts(owner: Owner, name: str = "r.t") -> list[tuple[int, timedelta]]:
    """By how much each row moved, by its person; each column must have moved alike."""
    rows = owner.sql(
        "SELECT t.id, r.day - t.day, r.moment - t.moment, r.zoned - t.zoned"
        f" FROM (SELECT *, row_number() OVER () AS n FROM t) AS t"
        f" POSITIONAL JOIN (FROM {name}) AS r ORDER BY t.n"
    ).fetchall()
    for _, day, moment, zoned in rows:
        assert timedelta(days=day) == moment == zoned
    return [(person, moment) for person, _, moment, _ in rows]


def test_all_dates_of_a_person_move_together(shared: Owner) -> None:
    visits(shared)
    release(shared)
    found: dict[int, set[timedelta]] = {}
    for person, shift in shifts(shared):
        found.setdefault(person, set()).add(shift)
    assert all(len(each) == 1 for each in found.values())
    drawn = [next(iter(each)).days for each in found.values()]
    assert all(1 <= abs(days) <= 365 for days in drawn)
    assert len(set(drawn)) > 200  # of 400 persons and 730 shifts
    assert {days > 0 for days in drawn} == {True, False}


@pytest.mark.parametrize(("call", "length"), [("date_shift(2)", 2), ("date_shift(days => 9)", 9)])
def test_every_shift_but_none_is_as_likely(shared: Owner, call: str, length: int) -> None:
    """6,000 persons; a cell of n/2d expected stays within six standard deviations."""
    visits(shared, 6000)
    release(shared, call)
    days = [shift.days for _, shift in shifts(shared)][::2]
    expected = len(days) / (2 * length)
    for shift in (*range(-length, 0), *range(1, length + 1)):
        assert abs(days.count(shift) - expected) < 6 * expected**0.5
    assert 0 not in days


def test_weeks_keep_the_day_of_the_week(shared: Owner) -> None:
    visits(shared)
    release(shared, "date_shift(days => 100, unit => 'week')")
    days = {shift.days for _, shift in shifts(shared)}
    assert all(day % 7 == 0 and 7 <= abs(day) <= 98 for day in days)
    assert len(days) == 28


def test_a_person_moves_alike_in_every_table_release_and_version(shared: Owner) -> None:
    visits(shared)
    release(shared)
    before = shifts(shared)
    shared.execute(
        "CREATE OR REPLACE TABLE u AS SELECT id AS who, day AS other FROM t;"
        "CREATE OR REPLACE RELEASE r.u FROM u (who KEY OF patient AS keep(),"
        " other QUASI AS date_shift())"
    )
    moved = shared.sql(
        "SELECT r.who, r.other - u.other FROM u POSITIONAL JOIN (FROM r.u) AS r"
    ).fetchall()
    assert [(who, timedelta(days=days)) for who, days in moved] == before
    shared.execute("REFRESH RELEASE r.t")
    assert shifts(shared) == before
    release(shared, "date_shift(days => 364)")
    assert shifts(shared) != before, "another size is another shift"


def test_dates_of_nobody_are_not_released(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE t AS SELECT NULL::INTEGER AS id, DATE '2020-01-01' AS d"
    )
    with pytest.warns(PrivacyWarning, match="1 row of 'd' have no KEY"):
        shared.execute("CREATE OR REPLACE RELEASE r.t FROM t (id KEY, d NEUTRAL AS date_shift())")
    assert shared.sql("FROM r.t").fetchall() == [(None,)]


def test_a_date_at_the_end_of_the_calendar_is_null(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS id, CASE i WHEN 0 THEN 'infinity'::DATE"
        " WHEN 1 THEN '5881580-07-10'::DATE WHEN 2 THEN '5877642-06-25 (BC)'::DATE"
        " ELSE NULL END AS d FROM range(20) AS r(i)"
    )
    with pytest.warns(PrivacyWarning, match="that no calendar has"):
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), d NEUTRAL AS date_shift())"
        )
    assert set(shared.sql("SELECT d FROM r.t WHERE id = 0 OR id > 2").fetchall()) == {(None,)}


@settings(max_examples=cases(60))
@given(st.lists(st.tuples(st.integers(-5, 5), MOMENTS), min_size=1, max_size=20))
def test_order_and_time_between_dates_stay(shared: Owner, rows: list[tuple[int, datetime]]) -> None:
    shared.execute("CREATE OR REPLACE TABLE t (n INTEGER, id INTEGER, moment TIMESTAMP, day DATE)")
    for number, (person, moment) in enumerate(rows):
        shared.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [number, person, moment, moment.date()])
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (n NEUTRAL, id KEY OF patient,"
        " moment NEUTRAL AS date_shift(days => 400), day NEUTRAL AS date_shift(days => 400))"
    )
    released = shared.sql("SELECT moment, day FROM r.t ORDER BY n").fetchall()
    for (person, moment), (moved, day) in zip(rows, released, strict=True):
        for (other, another), (then, _) in zip(rows, released, strict=True):
            if person == other:
                assert moved - then == moment - another
        assert (moved.date() - day) == timedelta(0)


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("d NEUTRAL AS date_shift(days => 0)", "days"),
        ("d NEUTRAL AS date_shift(days => 6, unit => 'week')", "fewer days than a week"),
        ("d NEUTRAL AS date_shift(unit => 'month')", "unit"),
        ("x NEUTRAL AS date_shift()", "treats"),
    ],
)
def test_what_makes_no_shift_is_refused(shared: Owner, rule: str, what: str) -> None:
    shared.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS id, 2 AS x, DATE '2020-01-01' AS d")
    with pytest.raises(TreatmentError, match=what):
        shared.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY, {rule})")


def test_a_row_without_a_key_is_refused(shared: Owner) -> None:
    shared.execute("CREATE OR REPLACE TABLE t AS SELECT DATE '2020-01-01' AS d")
    with pytest.raises(BindError, match="needs a row key"):
        shared.execute("CREATE OR REPLACE RELEASE r.t FROM t (d NEUTRAL AS date_shift())")


def test_a_released_date_is_not_translated_back(shared: Owner) -> None:
    visits(shared, 5)
    release(shared)
    answer = shared.interpret("r.t", "day > DATE '2020-01-01'")
    assert not answer.is_complete
    assert "date_shift" in " ".join(answer.notes)


def test_sites_of_one_agreement_move_a_person_alike() -> None:
    agreed = "CREATE AGREEMENT north (id KEY AS pseudonym(), day NEUTRAL AS date_shift())"
    found = []
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(agreed)
        for type_ in ("INTEGER", "VARCHAR"):
            owner.execute(
                f"CREATE OR REPLACE TABLE t AS SELECT i::{type_} AS id, DATE '2020-01-01' AS day"
                " FROM range(9) AS r(i);"
                "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS pseudonym(), day NEUTRAL AS date_shift())"
                " WITH (agreement = 'north')"
            )
            found.append(sorted(owner.sql("FROM r.t").fetchall()))
    assert found[0] == found[1]
    assert {day for _, day in found[0]} - {date(2020, 1, 1)}
