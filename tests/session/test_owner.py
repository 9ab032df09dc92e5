"""The owner's session: scripts, results, questions, and what people are told."""

from __future__ import annotations

import warnings
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql import BindError, EngineError, PrivacyWarning, StatementError
from ppdm_sql.engine.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.owner import Owner

RELEASE = """CREATE RELEASE research.people FROM clinic.people (
    id      KEY       AS pseudonym(),
    name    IDENTIFIER,
    weight  SENSITIVE AS graded_grouping(bands => [30, 60, 90, 120]),
    illness SENSITIVE AS mapping(prefix => 'Illness') THEN mapping(prefix => 'Again')
)"""


# Opening and closing


def test_an_owner_says_where_it_is_and_nothing_else(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        assert repr(owner) == f"<ppdm_sql owner of {str(safe)!r}>"
    with ppdm_sql.connect(":memory:") as owner:
        assert repr(owner) == "<ppdm_sql owner of ':memory:'>"


def test_leaving_the_block_closes_the_database(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")
    with pytest.raises(EngineError):
        owner.execute("FROM t")
    with duckdb.connect(str(safe)) as raw:
        assert raw.execute("FROM t").fetchall() == [(1,)]


def test_leaving_the_block_by_an_error_closes_the_database(safe: Path) -> None:
    with pytest.raises(ZeroDivisionError), ppdm_sql.connect(safe):
        raise ZeroDivisionError
    with duckdb.connect(str(safe)):
        pass


def test_closing_twice_is_no_error() -> None:
    owner = ppdm_sql.connect(":memory:")
    owner.close()
    owner.close()


def test_a_trial_in_memory_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        with ppdm_sql.connect(":memory:") as owner:
            owner.execute("CREATE TABLE t AS SELECT 1 AS i")
            owner.execute("CREATE RELEASE r FROM t (i NEUTRAL)")
    assert list(tmp_path.iterdir()) == []


def test_two_trials_in_memory_know_nothing_of_each_other() -> None:
    with ppdm_sql.connect(":memory:") as one, ppdm_sql.connect(":memory:") as other:
        one.execute("CREATE TABLE t AS SELECT 1 AS i; CREATE RELEASE r FROM t (i NEUTRAL)")
        assert other.releases() == []
        with pytest.raises(EngineError):
            other.execute("FROM t")


# Scripts and results


def test_a_script_answers_with_its_last_result(people: Owner) -> None:
    assert people.execute("SELECT 1; SELECT 2 AS two, 3 AS three").fetchall() == [(2, 3)]
    assert people.execute("").fetchall() == []
    assert people.execute(" ; -- nothing\n;").fetchall() == []


def test_every_statement_has_its_result(people: Owner) -> None:
    found = [
        (result.message, result.columns)
        for result in people.results(
            f"SELECT 1 AS a; {RELEASE}; CREATE TABLE t (i INTEGER); FROM t"
        )
    ]
    assert found == [
        ("", ["a"]),
        ("created release research.people, version 1: 3 columns, 6 rows", []),
        ("", []),
        ("", ["i"]),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, NULL)) AS v (n, t)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL) RETURNING n, t",
    ],
)
def test_rows_are_read_as_duckdb_users_read_them(owner: Owner, statement: str) -> None:
    owner.execute("CREATE TABLE t (n INTEGER, t VARCHAR)")
    rows = [(1, "a"), (2, "b"), (3, None)]
    assert owner.execute(statement).fetchall() == rows
    result = owner.execute(statement)
    assert result.columns == ["n", "t"]
    assert result.fetchone() == rows[0]
    assert result.fetchmany(1) == rows[1:2]
    assert result.fetchall() == rows[2:]
    assert result.fetchone() is None
    frame = owner.execute(statement).df()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (3, 2)
    table = owner.execute(statement).arrow()
    assert isinstance(table, pa.Table)
    assert table.column("n").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("SHOW RELEASES", "research.people"),
        ("DESCRIBE RELEASE research.people", "id"),
        ("EXPLAIN RELEASE research.people", "SELECT"),
    ],
)
def test_answers_of_ours_are_read_like_any_rows(people: Owner, statement: str, first: str) -> None:
    people.execute(RELEASE)
    assert str(people.execute(statement).fetchall()[0][0]).startswith(first)
    assert people.execute(statement).df().shape[0] >= 1
    assert people.execute(statement).arrow().num_rows >= 1
    assert people.sql(statement).fetchall()
    row = people.execute(statement).fetchone()
    assert row is not None
    assert str(row[0]).startswith(first)
    assert len(people.execute(statement).fetchmany(1)) == 1


QUESTIONS: dict[str, Callable[[Owner], object]] = {
    "releases()": lambda owner: owner.releases(),
    "describe()": lambda owner: owner.describe("research.people"),
    "explain()": lambda owner: owner.explain("research.people"),
    "sql(plain)": lambda owner: owner.sql("SELECT 1").fetchall(),
    "sql(ours)": lambda owner: owner.sql("SHOW RELEASES").fetchall(),
    "SHOW": lambda owner: owner.execute("SHOW RELEASES").fetchall(),
    "DESCRIBE": lambda owner: owner.execute("DESCRIBE RELEASE research.people").fetchall(),
    "EXPLAIN": lambda owner: owner.execute("EXPLAIN RELEASE research.people").fetchall(),
    "REFRESH": lambda owner: owner.execute("REFRESH RELEASE research.people").message,
    "SELECT": lambda owner: owner.execute("SELECT 1").fetchall(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_unread_result_is_ended_by_whatever_comes_next(people: Owner, question: str) -> None:
    people.execute(RELEASE)
    unread = people.execute("FROM range(1_000_000)")
    assert unread.fetchone() == (0,)
    assert QUESTIONS[question](people)


def test_a_statement_without_rows_says_so(people: Owner) -> None:
    done = people.execute("CREATE TABLE t (i INTEGER)")
    assert done.columns == []
    assert done.fetchone() is None
    assert done.fetchmany(3) == []
    assert done.fetchall() == []
    with pytest.raises(StatementError, match="returns no rows"):
        done.df()
    with pytest.raises(StatementError, match="returns no rows"):
        done.arrow()
    assert Result().columns == []


@pytest.mark.parametrize(
    "statement",
    [
        "PIVOT clinic.people ON ward USING count(*) GROUP BY illness",
        "SUMMARIZE clinic.people",
        "DESCRIBE clinic.people",
        "SHOW TABLES FROM clinic",
        "EXPLAIN SELECT 1",
        "CALL pragma_version()",
        "PRAGMA version",
        "PREPARE q AS SELECT 4 AS a; EXECUTE q",
        "VALUES (1), (2)",
        "FROM clinic.people",
        "WITH t AS (SELECT 1) FROM t",
        "SET VARIABLE x = 3; SELECT getvariable('x')",
        "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
        'SELECT \'a;b\' AS x, $$;$$ AS y, "c;d" FROM (SELECT 1 AS "c;d")',
    ],
)
def test_everything_else_is_plain_duckdb(people: Owner, statement: str) -> None:
    assert people.execute(statement).fetchall()


def test_parameters_go_with_one_plain_statement(people: Owner) -> None:
    assert people.execute("SELECT ? + 1", [1]).fetchall() == [(2,)]
    assert people.execute("SELECT $a || 'b'", {"a": "a"}).fetchall() == [("ab",)]
    people.execute("INSERT INTO clinic.people (id) VALUES (?)", [99])
    assert len(people.execute("FROM clinic.people WHERE id = 99").fetchall()) == 1
    assert people.sql("SELECT ? + 1", [1]).fetchall() == [(2,)]
    for script in ("SELECT ?; SELECT ?", RELEASE, "", "SHOW RELEASES"):
        with pytest.raises(StatementError, match="one plain SQL statement"):
            people.execute(script, [1])


def test_sql_gives_a_relation_of_duckdb(people: Owner) -> None:
    people.execute(RELEASE)
    relation = people.sql("FROM research.people")
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert relation.aggregate("count(*)").fetchall() == [(6,)]
    assert relation.df().shape == (6, 3)


@pytest.mark.parametrize("script", ["SELECT 1; SELECT 2", "", "-- nothing"])
def test_sql_takes_exactly_one_statement(people: Owner, script: str) -> None:
    with pytest.raises(StatementError, match="one statement"):
        people.sql(script)


@pytest.mark.parametrize(
    "statement",
    [
        RELEASE.replace("research.people", "research.other"),
        "REFRESH RELEASE research.people",
        "DROP RELEASE research.people",
    ],
)
def test_sql_does_not_fail_after_it_has_done_something(people: Owner, statement: str) -> None:
    """It may refuse a statement that has no rows, but then before it runs it."""
    people.execute(RELEASE)
    before = people.releases()
    try:
        people.sql(statement)
    except ppdm_sql.PpdmError:
        assert people.releases() == before
    else:
        assert people.releases() != before


def test_the_connection_underneath_is_a_duckdb_connection(people: Owner) -> None:
    people.execute(RELEASE)
    assert isinstance(people.connection, duckdb.DuckDBPyConnection)
    assert len(people.connection.execute("FROM research.people").fetchall()) == 6


def test_a_cursor_reads_the_release_too(people: Owner) -> None:
    people.execute(RELEASE)
    cursor = people.connection.cursor()
    assert len(cursor.execute("FROM ppdm_store.research.people").fetchall()) == 6


# What people are told


def test_messages_say_what_was_done(people: Owner) -> None:
    assert people.execute(RELEASE).message == (
        "created release research.people, version 1: 3 columns, 6 rows"
    )
    assert people.execute("REFRESH RELEASE research.people").message == (
        "refreshed release research.people, version 2: 3 columns, 6 rows"
    )
    replace = "CREATE OR REPLACE RELEASE research.people FROM clinic.people (ward NEUTRAL)"
    assert people.execute(replace).message == (
        "created release research.people, version 3: 1 column, 6 rows"
    )
    assert people.execute("DROP RELEASE research.people").message == (
        "dropped release research.people"
    )


def test_large_numbers_are_told_readably(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS i FROM range(12_345)")
    assert "12,345 rows" in owner.execute("CREATE RELEASE r FROM t (i KEY AS keep())").message


def test_a_warning_points_at_the_line_that_ran_the_script(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 'name ' || range AS v FROM range(60)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        owner.execute("CREATE RELEASE r FROM t (v SENSITIVE AS mapping())")
    (warning,) = caught
    assert warning.category is PrivacyWarning
    assert "60 categories in 60 rows" in str(warning.message)
    assert Path(warning.filename) == Path(__file__)
    assert [info.release for info in owner.releases()] == ["main.r"]


def test_stages_are_told_for_a_progress_bar(people: Owner) -> None:
    told: list[str] = []
    people.on_stage(told.append)
    people.execute(RELEASE)
    assert told == ["reading statistics", "checking"] * 2
    assert people.progress() <= 100


# Questions


def test_releases_are_listed_by_name(people: Owner) -> None:
    assert people.releases() == []
    assert people.execute("SHOW RELEASES").fetchall() == []
    people.execute(RELEASE)
    people.execute("CREATE RELEASE a.b FROM (SELECT id FROM clinic.people) (id KEY AS pseudonym())")
    first, second = people.releases()
    assert (first.release, first.version, first.source) == ("a.b", 1, "(SELECT …)")
    assert (second.release, second.source, second.columns, second.rows) == (
        "research.people",
        "clinic.people",
        3,
        6,
    )
    assert isinstance(second.created_at, datetime)
    shown = people.execute("SHOW RELEASES")
    assert shown.columns == [
        "release",
        "version",
        "source",
        "columns",
        "rows",
        "waiting",
        "created_at",
    ]
    assert [row[0] for row in shown.fetchall()] == ["a.b", "research.people"]


def test_a_release_is_described_column_by_column(people: Owner) -> None:
    people.execute(RELEASE)
    described = people.describe("research.people")
    assert [(info.column, info.role, info.treatment, info.type) for info in described] == [
        ("id", "KEY", "pseudonym", "VARCHAR"),
        ("name", "IDENTIFIER", "stays with the owner", None),
        ("weight", "SENSITIVE", "graded_grouping", "DOUBLE"),
        ("illness", "SENSITIVE", "mapping then mapping", "VARCHAR"),
    ]
    rows = people.execute("DESCRIBE RELEASE research.people").fetchall()
    assert [row[:4] for row in rows] == [
        (info.column, info.role, info.treatment, info.type) for info in described
    ]
    assert people.describe('"research"."PEOPLE"') == described


def test_explain_gives_the_select_of_the_view(people: Owner) -> None:
    people.execute(RELEASE)
    text = people.explain("research.people")
    assert text == people.execute("EXPLAIN RELEASE research.people FOR duckdb").fetchall()[0][0]
    assert "ppdm_store" not in text
    assert sorted(people.execute(f"FROM ({text})").fetchall()) == sorted(
        people.execute("FROM research.people").fetchall()
    )


def test_explain_follows_the_current_version(people: Owner) -> None:
    people.execute(f"{RELEASE}; REFRESH RELEASE research.people")
    assert "r1_v2_" in people.explain("research.people")
    assert "r1_v1_" not in people.explain("research.people")


@pytest.mark.parametrize("name", ["people", "research.peopel", "clinic.people", "ppdm_owner.store"])
def test_a_release_that_is_not_there_is_named_with_those_that_are(people: Owner, name: str) -> None:
    people.execute(RELEASE)
    for question in (people.describe, people.explain):
        with pytest.raises(BindError) as caught:
            question(name)
        assert f"there is no release '{name}'" in str(caught.value)
        assert "research.people" in str(caught.value)


def test_an_unknown_engine_is_named_with_those_that_are_known(people: Owner) -> None:
    people.execute(RELEASE)
    with pytest.raises(BindError, match=r"engines: .*duckdb"):
        people.explain("research.people", "oracle")


@pytest.mark.parametrize("name", ["", "a b", "a.b.c.d", "'a'", "a;", "a.", '""'])
def test_a_name_that_is_none_is_refused(people: Owner, name: str) -> None:
    with pytest.raises(StatementError):
        people.describe(name)


# What is refused


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE RELEASE clinic.people FROM clinic.people (ward NEUTRAL)",
        "CREATE RELEASE clinic.seen FROM clinic.people (ward NEUTRAL)",
        "CREATE OR REPLACE RELEASE clinic.people FROM clinic.people (ward NEUTRAL)",
        "CREATE OR REPLACE RELEASE clinic.seen FROM clinic.people (ward NEUTRAL)",
        "CREATE RELEASE clinic.PEOPLE FROM clinic.people (ward NEUTRAL)",
    ],
)
def test_a_release_replaces_no_table_and_no_view_of_the_owner(
    people: Owner, statement: str
) -> None:
    people.execute("CREATE VIEW clinic.seen AS SELECT 1 AS i")
    with pytest.raises(BindError):
        people.execute(statement)
    assert len(people.execute("FROM clinic.people").fetchall()) == 6
    assert people.execute("FROM clinic.seen").fetchall() == [(1,)]
    assert people.releases() == []


def test_drop_leaves_a_table_that_took_the_place_of_the_view(people: Owner) -> None:
    """It may refuse, but then in words."""
    people.execute(RELEASE)
    people.execute("DROP VIEW research.people; CREATE TABLE research.people AS SELECT 1 AS i")
    with suppress(ppdm_sql.PpdmError):
        people.execute("DROP RELEASE research.people")
    assert people.execute("FROM research.people").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM clinic.people",
        "FROM clinic.people",
        "FROM clinic.people SELECT id, ward",
        "SELECT id, ward FROM clinic.people WHERE age > 30 ORDER BY id LIMIT 3",
        "SELECT * FROM clinic.people AS a JOIN clinic.people AS b USING (id, ward)",
        "SELECT id, ward FROM clinic.people NATURAL JOIN (SELECT id FROM clinic.people)",
        "SELECT a.id, b.ward FROM clinic.people AS a, clinic.people AS b WHERE a.id = b.id",
        "WITH p AS (SELECT * FROM clinic.people) SELECT * FROM p",
        "WITH RECURSIVE n AS (SELECT 1 AS id UNION FROM n SELECT id % 5 + 1) FROM n SELECT *, id AS ward",
        "SELECT id, ward FROM clinic.people UNION ALL SELECT id + 10, ward FROM clinic.people",
        "SELECT DISTINCT ON (ward) id, ward FROM clinic.people",
        "SELECT id, ward FROM clinic.people QUALIFY row_number() OVER (ORDER BY id) < 4",
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (id, ward)",
        "SELECT range AS id, 'w' AS ward FROM range(5)",
        "SELECT unnest([1, 2, 3]) AS id, 'w' AS ward",
        "SELECT * REPLACE (ward || '!' AS ward) FROM clinic.people",
        "SELECT id, (SELECT max(ward) FROM clinic.people) AS ward FROM clinic.people",
        "FROM clinic.people AS a WHERE EXISTS (FROM clinic.people AS b WHERE b.age > a.age)",
        "SELECT a.id, b.ward FROM clinic.people AS a, LATERAL (SELECT a.ward AS ward) AS b",
        "SELECT id, ward FROM clinic.people USING SAMPLE 100%",
        "SELECT id, list_filter([ward], lambda x: x > '')[1] AS ward FROM clinic.people",
        "SELECT id, ward, CASE WHEN name LIKE 'A%' ESCAPE '$' THEN 1 END AS c FROM clinic.people",
        "SELECT id, ward FROM clinic.people -- a comment; at the end\n",
        "SELECT id, 'it''s; \"odd\" (' AS ward FROM clinic.people",
        "SELECT id, ward FROM clinic.people POSITIONAL JOIN (SELECT 1 AS one FROM range(6))",
        "SELECT a.id, a.ward FROM clinic.people AS a ASOF JOIN clinic.people AS b ON a.age >= b.age",
    ],
)
def test_a_source_may_be_any_select(people: Owner, query: str) -> None:
    """What DuckDB reads, a release reads: the same rows, now and after a refresh."""
    expected = people.execute(f"SELECT id, ward FROM ({query}) ORDER BY ALL").fetchall()
    assert expected
    people.execute(f"CREATE RELEASE r FROM ({query}) (id KEY AS keep(), ward NEUTRAL)")
    assert people.execute("FROM r ORDER BY ALL").fetchall() == expected
    people.execute("REFRESH RELEASE r")
    assert people.execute("FROM r ORDER BY ALL").fetchall() == expected
    assert people.execute(f"FROM ({people.explain('r')}) ORDER BY ALL").fetchall() == expected


def test_a_release_of_a_release_is_allowed(people: Owner) -> None:
    people.execute(RELEASE)
    people.execute("CREATE RELEASE second.people FROM research.people (illness NEUTRAL)")
    assert len(people.execute("FROM second.people").fetchall()) == 6


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE RELEASE research.people FROM research.people (illness NEUTRAL)",
        "CREATE OR REPLACE RELEASE research.people FROM (FROM research.people) (illness NEUTRAL)",
        "CREATE OR REPLACE RELEASE research.people FROM second.people (illness NEUTRAL)",
        "CREATE OR REPLACE RELEASE research.people FROM clinic.seen (illness NEUTRAL)",
    ],
)
def test_a_release_does_not_read_itself(people: Owner, statement: str) -> None:
    people.execute(RELEASE)
    people.execute("CREATE RELEASE second.people FROM research.people (illness NEUTRAL)")
    people.execute("CREATE VIEW clinic.seen AS FROM research.people")
    with pytest.raises(ppdm_sql.PpdmError):
        people.execute(statement)
    assert len(people.execute("FROM research.people").fetchall()) == 6
    assert [info.version for info in people.releases()] == [1, 1]


def test_two_sessions_agree_on_pseudonyms_of_one_column(people: Owner) -> None:
    people.execute("CREATE VIEW clinic.seen AS SELECT id AS number FROM clinic.people")
    people.execute("CREATE RELEASE a FROM clinic.people (id KEY AS pseudonym())")
    people.execute("CREATE RELEASE b FROM clinic.seen (number KEY AS pseudonym())")
    assert sorted(people.execute("FROM a").fetchall()) == sorted(
        people.execute("FROM b").fetchall()
    )
