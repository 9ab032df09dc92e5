"""Each statement happens or does not; inside the owner's own transaction, with everything in it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

import ppdm_sql
from ppdm_sql import EngineError, PpdmError
from ppdm_sql.engine.duckdb import Engine
from tests.conftest import PEOPLE
from tests.end_to_end.state import tables_of_versions, whole_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

RULES = """(
    id      KEY       AS pseudonym(prefix => 'P-'),
    illness SENSITIVE AS mapping(prefix => 'Illness')
)"""
CREATE = f"CREATE RELEASE research.people FROM clinic.people {RULES}"
REPLACE = f"CREATE OR REPLACE RELEASE research.people FROM clinic.people {RULES}"
OTHER = f"CREATE RELEASE research.others FROM clinic.people {RULES}"
REFRESH = "REFRESH RELEASE research.people"
DROP = "DROP RELEASE research.people"
NEW_PATIENT = "INSERT INTO clinic.people VALUES (7, 'Gi', 33, 70.0, 10.0, 'Gout', 'D')"

STATEMENTS = {
    "create": ("", CREATE),
    "replace": (CREATE, REPLACE),
    "refresh": (f"{CREATE}; {NEW_PATIENT}", REFRESH),
    "drop": (f"{CREATE}; {OTHER}; {REFRESH}", DROP),
}


class Broken(Exception):
    """Raised where a test breaks something."""


class Breaker:
    """Lets the engine's verbs raise at the n-th call, when they have done their work."""

    def __init__(self, patch: pytest.MonkeyPatch, error: BaseException) -> None:
        self.calls = 0
        self.at = -1
        self.error = error
        for verb in ("run", "query", "create_table", "columns"):
            patch.setattr(Engine, verb, self._wrapped(getattr(Engine, verb)))

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            mine = self.calls
            answer = real(*arguments, **named)
            if mine == self.at:
                raise self.error
            return answer

        return call


@pytest.fixture
def people_in_file(safe: Path) -> Iterator[Owner]:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PEOPLE)
        yield owner


def is_usable(owner: Owner) -> bool:
    return owner.execute("SELECT count(*) FROM clinic.people").fetchone() is not None


def in_transaction(owner: Owner) -> bool:
    first, second = (owner.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return first == second


# A failure at every point


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_statement_that_fails_anywhere_changes_nothing(
    people: Owner, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, statement = STATEMENTS[case]
    people.execute(prepare)
    before = whole_state(people.connection)
    breaker = Breaker(monkeypatch, Broken())
    for point in range(1, 200):
        breaker.calls, breaker.at = 0, point
        try:
            people.execute(statement)
        except Broken:
            breaker.at = -1
            assert whole_state(people.connection) == before, f"at call {point}"
            assert not in_transaction(people)
        else:
            break
    assert 5 < point < 199
    assert whole_state(people.connection) != before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), EngineError("broken")])
def test_whatever_the_failure_is_nothing_is_changed(
    people: Owner, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    people.execute(CREATE)
    before = whole_state(people.connection)
    breaker = Breaker(monkeypatch, error)
    for point in (1, 5, 9, 13):
        breaker.calls, breaker.at = 0, point
        with pytest.raises(type(error)):
            people.execute(REFRESH)
        breaker.at = -1
        assert whole_state(people.connection) == before
        assert not in_transaction(people)


def test_a_failure_in_a_file_changes_nothing_for_the_next_connection(
    people_in_file: Owner, safe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people_in_file.execute(CREATE)
    before = whole_state(people_in_file.connection)
    with monkeypatch.context() as patch:
        breaker = Breaker(patch, Broken())
        breaker.at = 12
        with pytest.raises(Broken):
            people_in_file.execute(REPLACE)
    people_in_file.close()
    with ppdm_sql.connect(safe) as owner:
        assert whole_state(owner.connection) == before


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_commit_that_fails_changes_nothing(
    people: Owner, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, statement = STATEMENTS[case]
    people.execute(prepare)
    before = whole_state(people.connection)
    real = people.connection

    class NoCommit:
        def commit(self) -> None:
            raise Broken

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    with monkeypatch.context() as patch:
        patch.setattr(people._engine, "connection", NoCommit())
        with pytest.raises(Broken):
            people.execute(statement)
    assert whole_state(people.connection) == before
    assert is_usable(people)


def test_a_conflict_with_another_connection_changes_nothing(people: Owner) -> None:
    people.execute(CREATE)
    other = people.connection.cursor()
    other.execute("BEGIN")
    other.execute("UPDATE ppdm_store.ppdm_owner.releases SET version = 7").fetchall()
    with pytest.raises(EngineError):
        people.execute(REFRESH)
    other.execute("ROLLBACK")
    assert [info.version for info in people.releases()] == [1]
    assert len(tables_of_versions(people.connection)) == 2
    people.execute(REFRESH)
    assert [info.version for info in people.releases()] == [2]


def test_an_interrupt_changes_nothing(owner: Owner) -> None:
    owner.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.t AS SELECT range AS i FROM range(9)")
    before = whole_state(owner.connection)
    done = threading.Event()

    def interrupt() -> None:
        while not done.wait(0.1):
            owner.connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(EngineError, match="stopped"):
            owner.execute(
                "CREATE RELEASE r FROM (SELECT (a.range * b.range) % 7 AS i"
                " FROM range(200_000) AS a, range(200_000) AS b) (i SENSITIVE AS mapping())"
            )
    finally:
        done.set()
        thread.join()
    assert whole_state(owner.connection) == before
    assert owner.execute("SELECT count(*) FROM clinic.t").fetchall() == [(9,)]


# The owner's own transaction


def test_rollback_takes_everything_back(people: Owner) -> None:
    people.execute(f"{CREATE}; {OTHER}")
    before = whole_state(people.connection)
    people.execute("BEGIN")
    people.execute("CREATE TABLE clinic.more AS SELECT 1 AS i")
    people.execute(NEW_PATIENT)
    people.execute(REFRESH)
    people.execute("DROP RELEASE research.others")
    people.execute(REPLACE)
    people.execute(CREATE.replace("research.people", "new_schema.third"))
    assert [info.version for info in people.releases()] == [1, 3]
    people.execute("ROLLBACK")
    assert whole_state(people.connection) == before
    assert len(people.execute("FROM research.people").fetchall()) == 6


def test_commit_keeps_everything(people_in_file: Owner, safe: Path) -> None:
    people_in_file.execute(f"{CREATE}; {OTHER}")
    people_in_file.execute(f"BEGIN; {NEW_PATIENT}; {REFRESH}; DROP RELEASE research.others; COMMIT")
    after = whole_state(people_in_file.connection)
    people_in_file.close()
    with ppdm_sql.connect(safe) as owner:
        assert whole_state(owner.connection) == after
        assert [(i.release, i.version, i.rows) for i in owner.releases()] == [
            ("research.people", 2, 7)
        ]
        assert len(owner.execute("FROM research.people").fetchall()) == 7


def test_inside_a_transaction_a_release_sees_and_is_seen(people: Owner) -> None:
    people.execute(f"BEGIN; {CREATE}")
    assert len(people.execute("FROM research.people").fetchall()) == 6
    outside = people.connection.cursor()
    seen = outside.execute("SELECT count(*) FROM duckdb_views() WHERE view_name = 'people'")
    assert seen.fetchall() == [(0,)]
    people.execute("COMMIT")
    assert len(outside.execute("FROM ppdm_store.research.people").fetchall()) == 6


@pytest.mark.parametrize(
    "failing",
    [
        CREATE,  # it exists already
        "DROP RELEASE research.nothing",
        "REFRESH RELEASE research.nothing",
        "CREATE RELEASE research.new FROM clinic.people (nothing KEY)",
        "CREATE RELEASE a.new FROM clinic.people (age QUASI AS graded_grouping(bands => [1, 2]))",
        "CREATE RELEASE research.new FROM clinic.nothing (id KEY)",
        "CREATE RELEASE ppdm_owner.new FROM clinic.people (ward NEUTRAL)",
        "CREATE RELEASE a.new FROM (SELECT name::INT AS n FROM clinic.people) (n KEY AS mapping())",
    ],
)
def test_a_failing_release_statement_aborts_the_owners_transaction(
    people: Owner, failing: str
) -> None:
    people.execute(CREATE)
    before = whole_state(people.connection)
    people.execute(f"BEGIN; CREATE TABLE clinic.half AS SELECT 1 AS i; {REFRESH}; {OTHER}")
    with pytest.raises(PpdmError):
        people.execute(failing)
    with pytest.raises(EngineError, match="aborted"):
        people.execute("SELECT 1")
    with pytest.raises(EngineError, match="aborted"):
        people.execute("SHOW RELEASES")
    people.execute("COMMIT")  # DuckDB takes COMMIT of an aborted transaction for ROLLBACK
    assert whole_state(people.connection) == before
    people.execute(REFRESH)
    assert [info.version for info in people.releases()] == [2]


def test_a_failure_at_any_point_inside_a_transaction_keeps_nothing(
    people: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.execute(CREATE)
    before = whole_state(people.connection)
    breaker = Breaker(monkeypatch, Broken())
    for point in range(1, 200):
        breaker.calls, breaker.at = 0, -1
        people.execute("BEGIN; CREATE TABLE clinic.half AS SELECT 1 AS i")
        breaker.calls, breaker.at = 0, point
        try:
            people.execute(REFRESH)
        except Broken:
            breaker.at = -1
            people.execute("COMMIT")
            assert whole_state(people.connection) == before, f"at call {point}"
        else:
            break
    breaker.at = -1
    assert 5 < point < 199
    people.execute("COMMIT")
    assert [info.version for info in people.releases()] == [2]


def test_drop_and_create_again_in_one_transaction(people_in_file: Owner, safe: Path) -> None:
    people_in_file.execute(CREATE)
    old_tables = tables_of_versions(people_in_file.connection)
    people_in_file.execute(f"BEGIN; {DROP}; {CREATE}; COMMIT")
    new_tables = tables_of_versions(people_in_file.connection)
    assert len(new_tables) == len(old_tables)
    assert not new_tables & old_tables
    people_in_file.close()
    with ppdm_sql.connect(safe) as owner:
        assert [(info.release, info.version) for info in owner.releases()] == [
            ("research.people", 1)
        ]
        assert len(owner.execute("FROM research.people").fetchall()) == 6


def test_create_and_drop_again_in_one_transaction(people: Owner) -> None:
    before = whole_state(people.connection)
    people.execute(f"BEGIN; {CREATE}; {REFRESH}; {DROP}; COMMIT")
    after = whole_state(people.connection)
    before["schemas"] = after["schemas"]  # the schema of the release stays
    assert after == before


def test_create_and_replace_many_times_in_one_transaction(people: Owner) -> None:
    people.execute(f"BEGIN; {CREATE}; {REPLACE}; {REFRESH}; {REPLACE}; COMMIT")
    assert [info.version for info in people.releases()] == [4]
    assert len(people.execute("FROM research.people").fetchall()) == 6


def test_a_release_of_a_table_made_in_the_same_transaction(people: Owner) -> None:
    people.execute(
        "BEGIN; CREATE TABLE clinic.new AS SELECT 'a' AS v;"
        " CREATE RELEASE research.new FROM clinic.new (v SENSITIVE AS mapping()); COMMIT"
    )
    assert people.execute("FROM research.new").fetchall() == [("v_1",)]


def test_the_connection_is_usable_after_rollback(people: Owner) -> None:
    people.execute(f"BEGIN; {CREATE}; ROLLBACK")
    assert not in_transaction(people)
    people.execute(CREATE)
    assert len(people.execute("FROM research.people").fetchall()) == 6


def test_a_read_only_transaction_refuses_a_release(people: Owner) -> None:
    before = whole_state(people.connection)
    people.execute("BEGIN TRANSACTION READ ONLY")
    with pytest.raises(EngineError):
        people.execute(CREATE)
    people.execute("ROLLBACK")
    assert whole_state(people.connection) == before


def test_questions_leave_the_owners_transaction_open(people: Owner) -> None:
    people.execute(f"BEGIN; {CREATE}")
    people.execute("SHOW RELEASES; DESCRIBE RELEASE research.people")
    people.execute("EXPLAIN RELEASE research.people")
    people.releases()
    people.describe("research.people")
    people.explain("research.people")
    assert in_transaction(people)
    people.execute("ROLLBACK")
    assert people.releases() == []


def test_a_transaction_of_the_connection_underneath_counts_too(people: Owner) -> None:
    before = whole_state(people.connection)
    people.connection.begin()
    people.execute(CREATE)
    people.connection.rollback()
    assert whole_state(people.connection) == before


# Scripts


def test_a_script_stops_at_its_first_error_and_keeps_what_was_before(people: Owner) -> None:
    with pytest.raises(PpdmError):
        people.execute(f"{CREATE}; DROP RELEASE research.nothing; {OTHER}")
    assert [info.release for info in people.releases()] == ["research.people"]
    assert is_usable(people)


def test_a_script_with_a_mistake_anywhere_runs_nothing(people: Owner) -> None:
    before = whole_state(people.connection)
    with pytest.raises(ppdm_sql.StatementError):
        people.execute(f"CREATE TABLE clinic.half (i INTEGER); {CREATE}; DROP RELEASE")
    assert whole_state(people.connection) == before


def test_an_unread_result_does_not_disturb_the_next_release(people: Owner) -> None:
    unread = people.execute("FROM range(1_000_000)")
    assert unread.fetchone() == (0,)
    people.execute(CREATE)
    assert [info.version for info in people.releases()] == [1]


def test_an_unread_result_does_not_end_the_owners_transaction(people: Owner) -> None:
    people.execute("BEGIN; CREATE TABLE t AS SELECT 1 AS i")
    for statement in ("INSERT INTO t VALUES (2)", CREATE, REFRESH, "SHOW RELEASES", "SELECT 1"):
        assert people.execute("FROM range(1_000_000)").fetchone() == (0,)
        people.execute(statement)
        assert in_transaction(people)
    people.execute("COMMIT")
    assert len(people.execute("FROM t").fetchall()) == 2
    assert [info.version for info in people.releases()] == [2]


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("INSERT INTO t VALUES (2) RETURNING i", 2),
        ("INSERT INTO t SELECT 2 FROM range(1)", 2),
        ("WITH new AS (INSERT INTO t VALUES (2) RETURNING i) FROM new", 2),
        ("WITH old AS (DELETE FROM t RETURNING i) SELECT count(*) FROM old", 0),
    ],
)
def test_a_change_that_answers_with_rows_happens_though_nobody_reads_them(
    owner: Owner, statement: str, left: int
) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS i")
    owner.execute(f"{statement}; SELECT 1")
    assert owner.execute("SELECT count(*) FROM t").fetchall() == [(left,)]
