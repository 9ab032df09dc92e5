"""Small openings that were found in the first version, each tried as it was done then."""

from __future__ import annotations

import grp
import os
import pwd
import time
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.cli import output
from ppdm_sql.engine.duckdb_errors import without_values
from ppdm_sql.errors import PpdmError, Refused, StoreError
from ppdm_sql.sites.sealing import seal

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner
    from tests.attack.conftest import Holding

VALUE = "Xanthippe"


# The gate

CALLED_WITHOUT_PARENTHESES = (
    "current_user", "user", "session_user", "current_role", "current_catalog", "current_schema",
    "localtime", "LocalTimestamp", '"current_user"',
)  # fmt: skip


@pytest.mark.parametrize("name", CALLED_WITHOUT_PARENTHESES)
def test_a_function_that_looks_like_a_column_does_not_pass(holding: Holding, name: str) -> None:
    with ppdm_sql.open_release(holding.file) as study:
        for query in (f"SELECT {name}", f"SELECT count(*) FROM research.people GROUP BY {name}"):
            with pytest.raises(Refused, match="may not be used here") as caught:
                study.sql(query)
            assert "write its table before it" in str(caught.value)


def test_every_name_that_duckdb_calls_so_is_known() -> None:
    """Asks DuckDB which of its functions it calls without parentheses."""
    from ppdm_sql.analyst.gate.functions import FUNCTIONS
    from ppdm_sql.analyst.gate.nodes import READ_AS_FUNCTIONS

    with duckdb.connect() as connection:
        names = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions()")
        found = set()
        for (name,) in names.fetchall() + [(name,) for name in READ_AS_FUNCTIONS]:
            quoted = '"' + name.replace('"', '""') + '"'
            try:
                connection.execute(f"EXPLAIN SELECT {quoted}")
            except duckdb.Error:
                continue
            found.add(name.lower())
    assert found - FUNCTIONS <= READ_AS_FUNCTIONS
    assert "user" in READ_AS_FUNCTIONS


def test_a_column_of_such_a_name_is_read_with_its_table(tmp_path: Path) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute('CREATE TABLE t AS SELECT 7 AS "user"')
        owner.execute('CREATE RELEASE r.t FROM t ("user" NEUTRAL)')
        owner.publish("r.t", to=tmp_path / "study.duckdb")
    with ppdm_sql.open_release(tmp_path / "study.duckdb") as study:
        assert study.sql("SELECT t.user FROM r.t").fetchall() == [(7,)]


# The safe

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")


@pytest.mark.parametrize("mode", [0o777, 0o707, 0o703])
def test_a_safe_that_others_could_replace_is_not_opened(tmp_path: Path, mode: int) -> None:
    """Under a folder that anybody writes to, another user renames the safe, and a new one is made."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    for safe in (shared / "owner" / "a.duckdb", shared / "deep" / "owner" / "a.duckdb"):
        with pytest.raises(StoreError, match="others may rename what is in") as caught:
            ppdm_sql.connect(safe)
        assert caught.value.code == "not_private"
        assert not safe.parent.exists()
    shared.chmod(0o1777)  # as /tmp is: others cannot rename what is not theirs
    ppdm_sql.connect(shared / "owner" / "a.duckdb").close()
    shared.chmod(mode)
    with pytest.raises(StoreError, match="others may rename"):
        ppdm_sql.connect(shared / "owner" / "a.duckdb")


@as_root
def test_a_folder_of_another_group_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    os.chown(shared, -1, 4321)
    shared.chmod(0o770)
    with pytest.raises(StoreError, match="others may rename"):
        ppdm_sql.connect(shared / "owner" / "a.duckdb")
    # The first group of a user may be everybody's, as `users` and `staff` are.
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="ada", pw_gid=4321))
    for name, members, is_refused in (
        ("users", [], True),
        ("ada", ["bob"], True),
        ("ada", [], False),
    ):
        group = SimpleNamespace(gr_name=name, gr_mem=members)
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: group)
        with pytest.raises(StoreError, match="others may rename") if is_refused else nullcontext():
            ppdm_sql.connect(shared / "owner" / "a.duckdb").close()


@as_root
@pytest.mark.parametrize("mode", [0o1777, 0o755])
def test_a_safe_in_a_folder_of_another_user_is_not_opened(tmp_path: Path, mode: int) -> None:
    """Before: whose folder it is was not asked, and the sticky bit does not bind its owner."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(mode)
    os.chown(theirs, 4321, -1)
    with pytest.raises(StoreError, match="belongs to another user") as caught:
        ppdm_sql.connect(theirs / "owner" / "a.duckdb")
    assert caught.value.code == "not_private"
    assert not (theirs / "owner").exists()


# Errors that carry another one

FAILS = (
    f"SELECT CAST('{VALUE}' AS DATE)",
    "SELECT CAST(name AS INTEGER) FROM t",
    "INSERT INTO unique_names SELECT name FROM t UNION ALL SELECT name FROM t",
    "SELECT error(name) FROM t",
)


@pytest.mark.parametrize("statement", FAILS)
def test_no_error_carries_duckdbs_own(owner: Owner, statement: str) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT '{VALUE}' AS name")
    owner.execute("CREATE TABLE unique_names (name VARCHAR PRIMARY KEY)")
    with pytest.raises(PpdmError) as caught:
        owner.execute(statement).fetchall()
    error: BaseException | None = caught.value
    while error is not None:
        assert isinstance(error, PpdmError)
        assert VALUE not in str(error).replace(statement, "")
        error = error.__context__ or error.__cause__


# Texts that are data


MADE_OF_DATA = (
    "SET VARIABLE v = (SELECT name FROM t); FROM query(getvariable('v'))",
    "SET VARIABLE v = (SELECT name FROM t); FROM query('SELECT ' || getvariable('v'))",
    "SET VARIABLE v = (SELECT name FROM t); FROM query_table(getvariable('v'))",
    "CREATE VIEW hidden AS FROM query(getvariable('v')); SET VARIABLE v = (SELECT name FROM t); FROM hidden",
    "SELECT nothing FROM (PIVOT t ON name USING count(*))",
)  # fmt: skip


@pytest.mark.parametrize("script", MADE_OF_DATA)
def test_a_text_that_is_data_is_not_quoted(owner: Owner, script: str) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT '{VALUE}' AS name")
    with pytest.raises(PpdmError) as caught:
        owner.execute(script).fetchall()
    assert VALUE not in str(caught.value)
    assert VALUE not in getattr(caught.value, "engine_text", "")


def test_what_stands_in_the_statement_is_still_told(owner: Owner) -> None:
    owner.execute("CREATE TABLE people AS SELECT 1 AS weight, DATE '2020-01-01' AS born")
    for query, said in (
        ("SELECT wieght FROM people", '"weight"'),
        ("FROM peeple", "people"),
        ("SELECT born + 'a' || 1.5 * born FROM people", "DATE"),
        ("SELECT sum(born) FROM people", "sum(DATE)"),
    ):
        with pytest.raises(PpdmError) as caught:
            owner.execute(query).fetchall()
        assert said in str(caught.value), query


def test_quotes_inside_quotes_are_compared() -> None:
    said = 'Binder Error: Referenced column "it\'s" not found'
    assert without_values(said, 'SELECT "it\'s"') == said
    assert without_values(said, "SELECT its") is None
    assert without_values('Parser Error: near "Ada"', "FROM query(getvariable('v'))") is None
    assert without_values('Parser Error: near "getvariable"', "getvariable(") is not None


# The terminal


def test_nothing_printed_steers_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m‮"
    output.print_note("error", f"there is no table '{evil}'")
    output.print_text(evil)
    output.print_table([evil], [(evil,)])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for form in ("csv", "json"):
        output.print_as(form)
        output._print_data([evil], [(evil,)])
        output.print_failure(ppdm_sql.PpdmError(evil, code="x"))
    output.print_as("table")
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert text
        assert not set(text) & set("\x1b\x07\x9b‮")


# What keeps INTERPRET busy

LONG = {
    "digits": "x > " + "9" * 40_000,
    "decimals": "x > 0." + "9" * 40_000,
    "minus signs": "x > " + "- " * 20_000 + "1",
    "many minus signs": "x > " + "-" * 200_000 + "1",
    "an IN list": "x IN (" + ", ".join(map(str, range(8_000))) + ")",
    "spaces": "x >" + " " * 2_000_000 + "1",
    "parentheses": "(" * 20_000 + "x = 1" + ")" * 20_000,
    "NOTs": "NOT " * 20_000 + "x = 1",
}


@pytest.mark.parametrize("what", LONG)
def test_a_long_condition_holds_nobody(owner: Owner, tmp_path: Path, what: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS id, range * 1.5 AS x FROM range(9)")
    owner.execute("CREATE RELEASE r.t FROM t (id KEY, x SENSITIVE AS scaling())")
    (tmp_path / "tree.txt").write_text(f"|--- {LONG[what]}\n")
    (tmp_path / "rules.csv").write_text(f'antecedents\n"frozenset({{{LONG[what]}}})"\n')
    start = time.process_time()
    for ask in (
        lambda: owner.interpret("r.t", LONG[what]),
        lambda: owner.interpret_file("r.t", tmp_path / "tree.txt"),
        lambda: owner.interpret_file("r.t", tmp_path / "rules.csv"),
    ):
        with suppress(PpdmError):
            ask()
    assert time.process_time() - start < 20


def test_an_error_shows_a_part_of_a_long_line(owner: Owner) -> None:
    with pytest.raises(PpdmError) as caught:
        owner.execute("SELECT 1; CREATE RELEASE " + "x" * 40_000 + "; SELECT " + "1, " * 10_000)
    assert len(str(caught.value)) < 2_000


# Passphrases


@pytest.mark.parametrize(
    "guessed",
    ["aaaaaaaaaaaa", "abababababab", "123456789012", "abcdefghijklmnop", "zyxwvutsrqponm"],
)
def test_a_passphrase_that_is_tried_first_is_refused(guessed: str) -> None:
    with pytest.raises(Refused, match="too easy to guess") as caught:
        seal(b"agreement", guessed)
    assert guessed not in str(caught.value)


def test_folders_that_were_left_are_cleared_by_the_next_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed process spilled holds raw rows."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "ppdm-spill-leftover.ppdm-scratch"
    mine = tmp_path / "ppdm-spill-results"  # somebody's own
    for folder in (left, mine):
        folder.mkdir(mode=0o700)
        (folder / "rows").write_text(VALUE)
    with ppdm_sql.connect(":memory:"):
        assert not left.exists()
        held = [path for path in tmp_path.iterdir() if path.name.startswith("ppdm-spill-")]
        with ppdm_sql.connect(":memory:"):
            assert all(path.exists() for path in held)  # of one that lives
    assert list(tmp_path.iterdir()) == [mine]


def test_a_file_that_is_no_hierarchy_is_not_quoted_behind_the_error(
    owner: Owner, tmp_path: Path
) -> None:
    file = tmp_path / "h.csv"
    file.write_text("SECRETV0;SECRETVG\nSECRETV1\n")
    with pytest.raises(ppdm_sql.PpdmError) as caught:
        owner.execute(f"CREATE HIERARCHY h FROM '{file}'")
    assert caught.value.__context__ is None
    assert "SECRET" not in str(caught.value)


def test_a_name_in_an_error_steers_no_terminal() -> None:
    error = ppdm_sql.PpdmError("there is no \x1b[31mtable", hint="write \x1b]0;x\x07")
    assert "\x1b" not in str(error)
    assert "\\x1b[31mtable" in str(error)
