"""Results are read with the version that they come from, or the answer says which was taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.errors import BindError, StatementError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ppdm_sql.owner import Owner

SOURCE = """
CREATE SCHEMA s;
CREATE TABLE s.visits AS
SELECT i AS id, 20 + i AS age, ['Flu', 'Asthma', 'HIV', 'Cancer', 'Gout'][1 + i % 5] AS illness
FROM range(10) AS r (i);
"""
RELEASE = """
CREATE OR REPLACE RELEASE research.visits FROM s.visits (
    id KEY, age QUASI AS translation(by => {by}), illness SENSITIVE AS mapping(prefix => '{prefix}')
)
"""
NOTE = "translated with version 3 of research.visits, the newest; for results of an earlier version, write VERSION n"


def release(by: int, prefix: str = "Dx") -> str:
    return RELEASE.format(by=by, prefix=prefix)


@pytest.fixture
def visits(owner: Owner) -> Owner:
    """Three versions: one, one drawn anew, and that one refreshed."""
    owner.execute(SOURCE + release(100) + ";" + release(5))
    owner.execute("REFRESH RELEASE research.visits")
    return owner


@pytest.mark.parametrize(
    ("version", "expected"), [(1, "age >= 25"), (2, "age >= 120"), (3, "age >= 120")]
)
def test_a_condition_is_read_with_the_version_that_is_named(
    visits: Owner, version: int, expected: str
) -> None:
    done = visits.interpret("research.visits", "age >= 125", version=version)
    assert (done.original, done.notes, done.is_complete) == (expected, (), True)
    statement = f"INTERPRET RELEASE research.visits VERSION {version} WHERE age >= 125"
    assert visits.execute(statement).fetchall() == [(expected, None)]


def test_the_newest_is_taken_and_said_where_none_is_named(visits: Owner) -> None:
    done = visits.interpret("research.visits", "age >= 125")
    assert (done.original, done.notes) == ("age >= 120", (NOTE,))
    rows = visits.execute("INTERPRET RELEASE research.visits WHERE age >= 125").fetchall()
    assert rows == [("age >= 120", NOTE)]
    assert visits.interpret_table("research.visits", pa.table({"age": [125]})).notes == (NOTE,)


def test_nothing_is_said_while_there_is_one_version(owner: Owner) -> None:
    owner.execute(SOURCE + release(100))
    assert owner.interpret("research.visits", "age >= 125").notes == ()


def test_what_is_said_of_the_version_stands_before_other_notes(visits: Owner) -> None:
    done = visits.interpret("research.visits", "illness > 'Dx_1'")
    assert (done.notes[0], len(done.notes)) == (NOTE, 2)


def test_tables_are_read_with_the_version_that_is_named(visits: Owner, tmp_path: Path) -> None:
    visits.execute("CREATE TABLE results AS SELECT 125 AS age")
    named = visits.execute("INTERPRET RELEASE research.visits VERSION 1 TABLE results")
    assert (named.fetchall(), named.message) == ([(25,)], "")
    newest = visits.execute("INTERPRET RELEASE research.visits TABLE results")
    assert (newest.fetchall(), newest.message) == ([(120,)], NOTE)
    for table in ("results", pa.table({"age": [125]})):
        done = visits.interpret_table("research.visits", table, version=1)
        assert (done.table.column("age").to_pylist(), done.notes) == ([25], ())
    (tmp_path / "tree.txt").write_text("|--- age <= 125\n", encoding="utf-8")
    read = visits.interpret_file("research.visits", tmp_path / "tree.txt", version=1)
    assert read.table.column("text").to_pylist() == ["|--- age <= 25"]


def test_aliases_of_a_published_file_are_read_with_the_version_it_tells(
    owner: Owner, tmp_path: Path
) -> None:
    owner.execute(SOURCE + release(100))
    owner.execute(f"PUBLISH RELEASE research.visits TO '{tmp_path}/study.duckdb'")
    for by in (1, 2, 3):
        owner.execute(release(by))
    with ppdm_sql.open_release(tmp_path / "study.duckdb") as study:
        ((version,),) = study.sql("SELECT version FROM release_info").fetchall()
        aliases = study.sql("SELECT age, illness FROM research.visits").fetchall()
    illnesses = dict(owner.execute("SELECT age, illness FROM s.visits").fetchall())
    for age, alias in aliases:
        text = f"illness = '{alias}'"
        done = owner.interpret("research.visits", text, version=version)
        assert done.original == f"illness = '{illnesses[age - 100]}'"


def test_a_version_has_its_own_columns(visits: Owner) -> None:
    visits.execute("CREATE OR REPLACE RELEASE research.visits FROM s.visits (id KEY, age QUASI)")
    with pytest.raises(BindError, match="there is no column 'illness'"):
        visits.interpret("research.visits", "illness = 'Dx_1'")
    assert visits.interpret("research.visits", "illness = 'Dx_1'", version=3).is_complete


def test_pseudonyms_of_an_earlier_version_are_found_again(owner: Owner) -> None:
    owner.execute(SOURCE)
    owner.execute("CREATE RELEASE r FROM s.visits (id KEY AS pseudonym(prefix => 'A-'))")
    ((name,),) = owner.execute("SELECT id FROM r LIMIT 1").fetchall()
    owner.execute("CREATE OR REPLACE RELEASE r FROM s.visits (id KEY AS pseudonym())")
    assert not owner.interpret("r", f"id = '{name}'").is_complete
    assert owner.interpret("r", f"id = '{name}'", version=1).is_complete


@pytest.mark.parametrize("version", [0, 4, 10**17])
def test_an_unknown_version_is_told_with_those_there_are(visits: Owner, version: int) -> None:
    with pytest.raises(BindError) as caught:
        visits.execute(
            f"SELECT 1;\nINTERPRET RELEASE research.visits VERSION {version} WHERE age > 1"
        )
    error = caught.value
    assert error.what == f"the store holds no version {version} of 'research.visits'"
    assert error.hint == "versions: 1, 2, 3"
    assert (error.line, error.span and error.span.source) == (2, str(version))


def test_many_versions_are_listed_from_the_latest(visits: Owner) -> None:
    for _ in range(9):
        visits.execute("REFRESH RELEASE research.visits")
    with pytest.raises(BindError) as caught:
        visits.interpret("research.visits", "age > 1", version=-1)
    assert caught.value.hint == "versions: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 earlier ones"


def test_a_version_whose_tables_are_gone_is_not_among_them(visits: Owner) -> None:
    listing = "SELECT tables FROM ppdm_store.ppdm_owner.versions WHERE version = 1"
    (tables,) = visits.connection.execute(listing).fetchall()[0]
    visits.connection.execute(f'DROP TABLE ppdm_store.ppdm_owner."{tables[-1]}"')
    with pytest.raises(BindError, match="no version 1") as caught:
        visits.interpret("research.visits", "age > 125", version=1)
    assert caught.value.hint == "versions: 2, 3"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("ALTER TABLE s.visits DROP COLUMN illness", "illness"),
        ("ALTER TABLE s.visits ALTER illness TYPE BLOB", "illness"),
        ("ALTER TABLE s.visits ALTER age TYPE HUGEINT", "the type of 'age' was BIGINT"),
        ("DROP TABLE s.visits", "s.visits"),
    ],
)
def test_a_source_that_changed_since_is_said_at_the_statement(
    visits: Owner, change: str, what: str
) -> None:
    visits.execute("CREATE OR REPLACE RELEASE research.visits FROM s.visits (id KEY, age QUASI)")
    visits.execute(change)
    with pytest.raises(ppdm_sql.PpdmError, match=what) as caught:
        visits.execute("INTERPRET RELEASE research.visits VERSION 1 WHERE age > 125")
    error = caught.value
    told = "version 1 of 'research.visits' does not fit its source as it is now: "
    assert error.what.startswith(told)
    assert (error.line, "columns and types back" in str(error.hint)) == (1, True)


def test_a_view_of_the_same_name_brings_an_earlier_version_back(visits: Owner) -> None:
    visits.execute("ALTER TABLE s.visits RENAME TO today")
    visits.execute("CREATE VIEW s.visits AS SELECT id, age, 'none' AS illness FROM s.today")
    done = visits.interpret("research.visits", "age > 125", version=1)
    assert done.original == "age > 25"


def test_no_word_is_reserved(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS version")
    make = "CREATE OR REPLACE RELEASE version FROM t (version NEUTRAL AS translation(by => {}))"
    owner.execute(make.format(5))
    owner.execute(make.format(7))
    rows = owner.execute("INTERPRET RELEASE version VERSION 1 WHERE version = 6").fetchall()
    assert rows == [("version = 1", None)]
    rows = owner.execute("INTERPRET RELEASE version WHERE version = 8").fetchall()
    assert rows[0][0] == "version = 1"
    passing = "interpret release version version 1 passing others where version = 6 and x = 3"
    assert owner.execute(passing).fetchall() == [("version = 1 AND x = 3", None)]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("VERSION WHERE age > 1", "expected the number of a version, found 'WHERE'"),
        ("VERSION 1.5 WHERE age > 1", "expected the number of a version, found '1.5'"),
        ("VERSION -1 WHERE age > 1", "expected the number of a version, found '-'"),
        ("VERSION '1' WHERE age > 1", "expected the number of a version, found a string"),
        (f"VERSION {'9' * 5000} WHERE age > 1", "expected the number of a version"),
        ("VERSION 1", "expected WHERE or TABLE, found the end"),
        ("PASSING OTHERS VERSION 1 WHERE age > 1", "VERSION stands before PASSING OTHERS"),
    ],
)
def test_what_is_no_version_is_refused(visits: Owner, words: str, what: str) -> None:
    with pytest.raises(StatementError, match=what):
        visits.execute(f"INTERPRET RELEASE research.visits {words}")


@pytest.fixture
def run(safe: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(SOURCE + release(100) + ";" + release(5))

    def called(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["interpret", "research.visits", *arguments, "--db", str(safe)])
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return called


def test_the_command_line(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text("|--- age <= 125\n", encoding="utf-8")
    note = f"note: {NOTE}\n".replace("version 3", "version 2")
    assert run("--where", "age >= 125") == (0, "age >= 120\n", note)
    assert run("--where", "age >= 125", "--version", "1") == (0, "age >= 25\n", "")
    assert run(str(tmp_path / "tree.txt"), "--version", "1") == (0, "|--- age <= 25\n", "")
    code, out, err = run("--where", "age >= 125", "--version", "3")
    assert (code, out) == (2, "")
    assert "no version 3" in err
    assert "versions: 1, 2" in err
    assert run("--where", "age >= 125", "--version", "none")[0] == 2
