"""The command line: what it prints where, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.engine.duckdb_errors import engine_error
from ppdm_sql.errors import EngineKind
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RELEASE = """CREATE RELEASE research.people FROM clinic.people (
    id      KEY       AS pseudonym(),
    name    IDENTIFIER,
    weight  SENSITIVE AS graded_grouping(bands => [30, 60, 90, 120]),
    illness SENSITIVE AS mapping(prefix => 'Illness'),
    ward    NEUTRAL
);
"""
PPDM = [sys.executable, "-m", "ppdm_sql"]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONG = "SELECT sleep_ms(1500) IS NULL AS n"


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Ppdm:
    """Runs commands in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._patch = patch

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with self._patch.context() as patch, warnings.catch_warnings():
            patch.setattr(warnings, "showwarning", warnings.showwarning)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
            with pytest.raises(SystemExit) as end:
                main([str(argument) for argument in arguments])
        captured = self._capture.readouterr()
        code = end.value.code
        assert isinstance(code, int)
        return Done(code, captured.out, captured.err)


@pytest.fixture
def ppdm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ppdm:
    monkeypatch.delenv("PPDM_DB", raising=False)
    return Ppdm(capsys, monkeypatch)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with people and a release of them, to be copied."""
    path = tmp_path_factory.mktemp("template") / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(path) as owner:
        owner.execute(PEOPLE)
        owner.execute(RELEASE)
    return path


@pytest.fixture
def db(safe: Path, template: Path) -> str:
    """The path of a store of one's own."""
    shutil.copytree(template.parent, safe.parent)
    return str(safe)


def in_a_process(
    arguments: Sequence[str], stdin: str = "", env: dict[str, str] | None = None
) -> Done:
    done = subprocess.run(
        [*PPDM, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return Done(done.returncode, done.stdout, done.stderr)


# Help


def test_help_is_short_and_complete(ppdm: Ppdm) -> None:
    done = ppdm("--help")
    assert done.code == 0
    assert done.err == ""
    for command in ("run", "show", "describe", "explain", "publish", "query", "demo"):
        assert re.search(rf"^  {command} ", done.out, re.MULTILINE)
    assert done.out == ppdm("-h").out


def test_the_examples_in_the_help_stand_line_by_line(ppdm: Ppdm) -> None:
    out = ppdm("--help").out
    assert "\\b" not in out
    assert "\b" not in out
    lines = [line.strip() for line in out.splitlines()]
    assert "ppdm run release.sql --db owner/clinic.duckdb  run a script" in lines
    assert any(line.startswith("ppdm demo ") and line.endswith("in memory") for line in lines)
    assert any(line.startswith("ppdm show --db") for line in lines)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", ["SCRIPT", "--db", "--format", "--rows", "PPDM_DB", "default: 40"]),
        ("show", ["--db", "--format", "table|lines|csv|json"]),
        ("describe", ["RELEASE", "--db", "--format"]),
        ("explain", ["RELEASE", "--db", "--for"]),
        ("demo", ["--patients"]),
    ],
)
def test_every_command_explains_itself(ppdm: Ppdm, command: str, words: list[str]) -> None:
    done = ppdm(command, "--help")
    assert done.code == 0
    for word in words:
        assert word in done.out


def test_the_version_is_told(ppdm: Ppdm) -> None:
    assert ppdm("--version").out == f"ppdm, version {ppdm_sql.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bogus"],
        ["run"],
        ["run", "nowhere.sql", "--db", "x"],
        ["run", "-", "--db", "x", "--format", "xml"],
        ["run", "-", "--db", "x", "--rows", "many"],
        ["run", "-"],
        ["show"],
        ["describe", "--db", "x"],
        ["show", "--bogus"],
        ["demo", "--patients", "few"],
    ],
)
def test_a_wrong_command_ends_with_2(
    ppdm: Ppdm, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ppdm(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Usage:" in done.err
    assert list(tmp_path.iterdir()) == []


# run


def test_run_reads_a_file(ppdm: Ppdm, safe: Path, tmp_path: Path) -> None:
    script = tmp_path / "release.sql"
    script.write_text(PEOPLE + RELEASE + "SELECT count(*) AS n FROM research.people;")
    done = ppdm("run", str(script), "--db", str(safe))
    assert done.code == 0
    assert done.err == ""
    first, *table = done.out.splitlines()
    assert first == "created release research.people, version 1: 4 columns, 6 rows"
    assert re.search(r"│\s+6 │", "\n".join(table))


def test_run_reads_standard_input(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-", "--db", db, stdin="REFRESH RELEASE research.people")
    assert done == (0, "refreshed release research.people, version 2: 4 columns, 6 rows\n", "")


@pytest.mark.parametrize("script", ["", ";;", "-- nothing\n", "\n\n"])
def test_run_of_nothing_does_nothing(ppdm: Ppdm, db: str, script: str) -> None:
    assert ppdm("run", "-", "--db", db, stdin=script) == (0, "", "")


def test_run_in_memory(ppdm: Ppdm) -> None:
    done = ppdm("run", "-", "--db", ":memory:", stdin=PEOPLE + RELEASE)
    assert done.code == 0


def test_the_database_may_come_from_the_environment(
    ppdm: Ppdm, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PPDM_DB", db)
    assert "research.people" in ppdm("show", "--format", "csv").out
    assert ppdm("show", "--db", ":memory:", "--format", "csv").out.count("\n") == 1


def test_a_script_with_a_byte_order_mark(ppdm: Ppdm, db: str) -> None:
    script = b"\xef\xbb\xbfREFRESH RELEASE research.people"
    assert ppdm("run", "-", "--db", db, stdin=script).code == 0


def test_a_script_file_with_a_byte_order_mark(ppdm: Ppdm, db: str, tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_bytes(b"\xef\xbb\xbfREFRESH RELEASE research.people")
    assert ppdm("run", str(tmp_path / "s.sql"), "--db", db).code == 0


def test_a_script_that_is_not_utf_8_is_the_users_to_fix(
    ppdm: Ppdm, db: str, tmp_path: Path
) -> None:
    (tmp_path / "s.sql").write_bytes("SELECT 'Größe'".encode("latin-1"))
    done = ppdm("run", str(tmp_path / "s.sql"), "--db", db)
    assert done.code == 2
    assert "UTF-8" in done.err.upper()


# Formats


def test_rows_as_a_table(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-", "--db", db, stdin="SELECT 1 AS one, 'x' AS word, NULL AS nothing")
    assert "one" in done.out
    assert "NULL" in done.out
    assert done.out.splitlines()[-1].startswith("└")


def test_rows_as_csv(ppdm: Ppdm, db: str) -> None:
    query = 'SELECT 1 AS a, \'x,"y"\nz\' AS "b c", NULL AS c, 1.50::DECIMAL(4, 2) AS d'
    done = ppdm("run", "-", "--db", db, "--format", "csv", stdin=query)
    assert list(csv.reader(io.StringIO(done.out))) == [
        ["a", "b c", "c", "d"],
        ["1", 'x,"y"\nz', "", "1.50"],
    ]
    assert "\r" not in done.out


def parsed(text: str) -> list[dict[str, Any]]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def test_rows_as_json(ppdm: Ppdm, db: str) -> None:
    query = (
        "SELECT 1 AS a, 'ü\"\n' AS b, NULL AS c, [1, 2] AS d, {'x': 1} AS e,"
        " DATE '2020-01-31' AS f UNION ALL SELECT 2, '', '', [], {'x': NULL}, NULL ORDER BY a"
    )
    done = ppdm("run", "-", "--db", db, "--format", "json", stdin=query)
    first, second = parsed(done.out)
    assert first == {
        "a": 1,
        "b": 'ü"\n',
        "c": None,
        "d": [1, 2],
        "e": {"x": 1},
        "f": "2020-01-31",
    }
    assert second["a"] == 2


def test_numbers_that_json_does_not_know_are_still_json(ppdm: Ppdm, db: str) -> None:
    query = (
        "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, -'inf'::DOUBLE AS c, ['nan'::DOUBLE] AS d"
    )
    done = ppdm("run", "-", "--db", db, "--format", "json", stdin=query)
    assert done.code == 0
    assert len(parsed(done.out)) == 1


def test_columns_of_one_name_are_not_lost_in_json(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-", "--db", db, "--format", "json", stdin="SELECT 7 AS a, 8 AS a")
    if done.code == 0:
        assert {"7", "8"} <= set(re.findall(r"\d+", done.out))
    else:
        assert done.code == 2


@pytest.mark.parametrize("form", ["csv", "json"])
def test_data_formats_print_nothing_but_data(ppdm: Ppdm, db: str, form: str) -> None:
    script = "REFRESH RELEASE research.people; CREATE TABLE t (i INTEGER); SELECT 1 AS a"
    done = ppdm("run", "-", "--db", db, "--format", form, stdin=script)
    assert done.out == {"csv": "a\n1\n", "json": '{"a": 1}\n'}[form]


@pytest.mark.parametrize(
    ("rows", "shown", "cut"), [(3, 3, True), (5, 5, False), (1, 1, True), (100, 5, False)]
)
def test_long_tables_are_cut(ppdm: Ppdm, db: str, rows: int, shown: int, cut: bool) -> None:
    done = ppdm("run", "-", "--db", db, "--rows", str(rows), stdin="FROM range(10, 15)")
    assert len(re.findall(r"│\s+1\d │", done.out)) == shown
    assert ("the first" in done.out) is cut


def test_no_rows_may_be_asked_for(ppdm: Ppdm, db: str) -> None:
    assert ppdm("run", "-", "--db", db, "--rows", "0", stdin="FROM range(5)").code == 0


def test_fewer_than_no_rows_may_not_be_asked_for(ppdm: Ppdm, db: str) -> None:
    assert ppdm("run", "-", "--db", db, "--rows", "-1", stdin="FROM range(5)").code == 2


def test_data_formats_are_never_cut(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-", "--db", db, "--format", "csv", stdin="FROM range(1000)")
    assert len(done.out.splitlines()) == 1001


def test_after_a_table_that_was_cut_the_script_goes_on(ppdm: Ppdm, db: str) -> None:
    script = (
        "FROM range(100_000); SHOW RELEASES; FROM range(100_000);"
        " DESCRIBE RELEASE research.people; FROM range(100_000);"
        " EXPLAIN RELEASE research.people; FROM range(100_000); REFRESH RELEASE research.people"
    )
    done = ppdm("run", "-", "--db", db, "--rows", "2", stdin=script)
    assert done.err == ""
    assert done.code == 0
    assert "refreshed release research.people, version 2" in done.out


@pytest.mark.parametrize(
    "text",
    [
        "[red]x[/red]",
        "[/]",
        "\\[/x]",
        "\\[red]",
        "[[x]]",
        ":smile:",
        "\\",
        "a\\",
        "[",
        "]",
        "[/red",
    ],
)
def test_data_is_printed_as_it_is(ppdm: Ppdm, db: str, text: str) -> None:
    quoted = text.replace("'", "''")
    done = ppdm("run", "-", "--db", db, stdin=f"SELECT '{quoted}' AS \"{quoted}\"")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[1].strip("┃ ") == text
    assert lines[3].strip("│ ") == text


def test_data_cannot_steer_the_terminal(ppdm: Ppdm, db: str) -> None:
    """A patient may be called `ESC ]0;…`: printed raw, it would act on the owner's terminal."""
    query = "SELECT chr(27) || '[2J' || chr(27) || ']0;gone' || chr(7) || chr(8) || chr(155) AS a"
    done = ppdm("run", "-", "--db", db, stdin=query)
    assert done.code == 0
    assert not CONTROL.search(done.out)
    assert "\x9b" not in done.out


def test_wide_tables_are_not_cut_in_a_pipe(db: str) -> None:
    columns = ", ".join(f"'{'x' * 10}' AS column_number_{i}" for i in range(12))
    done = in_a_process(["run", "-", "--db", db], f"SELECT {columns}")
    assert "…" not in done.out
    assert done.out.count("x" * 10) == 12


# show, describe, explain


def test_show_lists_releases(ppdm: Ppdm, db: str) -> None:
    done = ppdm("show", "--db", db)
    assert done.code == 0
    assert "research.people" in done.out
    (row,) = parsed(ppdm("show", "--db", db, "--format", "json").out)
    assert (row["release"], row["version"], row["source"], row["columns"], row["rows"]) == (
        "research.people",
        1,
        "clinic.people",
        4,
        6,
    )


def test_show_of_an_empty_store(ppdm: Ppdm, safe: Path) -> None:
    ppdm_sql.connect(safe).close()
    for form in ("table", "csv", "json"):
        assert ppdm("show", "--db", str(safe), "--format", form).code == 0


def test_describe_shows_columns(ppdm: Ppdm, db: str) -> None:
    done = ppdm("describe", "research.people", "--db", db)
    assert done.code == 0
    assert "stays with the owner" in done.out
    rows = list(
        csv.DictReader(
            io.StringIO(ppdm("describe", "research.people", "--db", db, "--format", "csv").out)
        )
    )
    assert [row["column"] for row in rows] == ["id", "name", "weight", "illness", "ward"]
    assert [row["treatment"] for row in rows][2] == "graded_grouping"
    assert len(parsed(ppdm("describe", "research.people", "--db", db, "--format", "json").out)) == 5


def test_explain_prints_sql_that_runs(ppdm: Ppdm, db: str) -> None:
    done = ppdm("explain", "research.people", "--db", db, "--for", "duckdb")
    assert done.code == 0
    with ppdm_sql.connect(db) as owner:
        assert len(owner.execute(f"FROM ({done.out})").fetchall()) == 6


def test_show_describe_and_explain_as_statements_of_a_script(ppdm: Ppdm, db: str) -> None:
    script = "SHOW RELEASES; DESCRIBE RELEASE research.people; EXPLAIN RELEASE research.people"
    for form in ("table", "csv", "json"):
        done = ppdm("run", "-", "--db", db, "--format", form, stdin=script)
        assert done.err == ""
        assert done.code == 0
        assert "research.people" in done.out
        assert "graded_grouping" in done.out
        assert "SELECT" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", "research.nothing"],
        ["describe", "a b"],
        ["describe", ""],
        ["describe", "'x"],
        ["explain", "research.nothing"],
        ["explain", "research.people", "--for", "oracle"],
    ],
)
def test_a_question_that_cannot_be_answered_ends_with_2(
    ppdm: Ppdm, db: str, arguments: list[str]
) -> None:
    done = ppdm(*arguments, "--db", db)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")


# Errors


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("SELECT oops FROM clinic.people", ["oops", "line 1, column 8", "^^^^"]),
        ("CREATE RELEASE r FROM clinic.people (id KEYY)", ["unknown role", "KEYY", "^^^^"]),
        ("DROP RELEASE nothing", ["there is no release 'nothing'"]),
        ("CREATE RELEASE r FROM clinic.peple (id QUASI)", ["did you mean 'clinic.people'"]),
        ("SELECT name::INTEGER FROM clinic.people", ["Conversion error", "withheld"]),
        ("SELECT 'unfinished", ["never closed"]),
    ],
)
def test_an_error_is_told_on_standard_error_and_ends_with_2(
    ppdm: Ppdm, db: str, script: str, words: list[str]
) -> None:
    done = ppdm("run", "-", "--db", db, stdin=script)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert "Ada" not in done.err
    for word in words:
        assert word in done.err


def test_a_script_prints_until_its_first_error(ppdm: Ppdm, db: str) -> None:
    script = "SELECT 1 AS first; REFRESH RELEASE research.people; FROM oops; SELECT 2 AS second"
    done = ppdm("run", "-", "--db", db, stdin=script)
    assert done.code == 2
    assert "first" in done.out
    assert "version 2" in done.out
    assert "second" not in done.out
    assert done.err.count("error: ") == 1


def test_an_error_while_rows_are_read_ends_with_2(ppdm: Ppdm, db: str) -> None:
    query = "SELECT CASE WHEN range = 99_999 THEN error('Ada') ELSE range END FROM range(100_000)"
    for form in ("csv", "json"):
        done = ppdm("run", "-", "--db", db, "--format", form, stdin=query)
        assert done.code == 2
        assert "Ada" not in done.err


def test_a_warning_is_told_on_standard_error(ppdm: Ppdm, safe: Path) -> None:
    script = (
        "CREATE TABLE t AS SELECT 'name ' || range AS v FROM range(60);"
        "CREATE RELEASE r FROM t (v SENSITIVE AS mapping())"
    )
    done = ppdm("run", "-", "--db", str(safe), stdin=script)
    assert done.code == 0
    assert done.out == "created release main.r, version 1: 1 column, 60 rows\n"
    (line,) = done.err.splitlines()
    assert line.startswith("warning: mapping of 'v': 60 categories")


def test_every_warning_is_told_each_time(ppdm: Ppdm, safe: Path) -> None:
    script = (
        "CREATE TABLE t AS SELECT 'name ' || range AS v FROM range(60);"
        "CREATE RELEASE r FROM t (v SENSITIVE AS mapping()); REFRESH RELEASE r; REFRESH RELEASE r"
    )
    assert ppdm("run", "-", "--db", str(safe), stdin=script).err.count("warning: ") == 3


@pytest.mark.parametrize("name", ["", ".", "owner"])
def test_a_folder_as_database_is_refused(
    ppdm: Ppdm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "owner").mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path)
    done = ppdm("show", "--db", name)
    assert done.code == 2
    assert "is a folder" in done.err


def test_a_database_that_others_may_read_is_refused(ppdm: Ppdm, db: str) -> None:
    Path(db).parent.chmod(0o755)
    done = ppdm("show", "--db", db)
    assert done.code == 2
    assert f"chmod 700 '{Path(db).parent}'" in done.err


@pytest.mark.parametrize("name", ["owner/" + "a" * 300, "a" * 300 + "/clinic.duckdb"])
def test_a_path_that_cannot_be_is_the_users_to_fix(
    ppdm: Ppdm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ppdm("show", "--db", name).code == 2


@pytest.mark.parametrize("command", ["show", "describe", "explain"])
def test_a_question_makes_no_database(ppdm: Ppdm, safe: Path, command: str) -> None:
    """A mistyped path must not look like an empty store."""
    arguments = [command] if command == "show" else [command, "research.people"]
    assert ppdm(*arguments, "--db", str(safe)).code == 2
    assert not safe.exists()


def test_a_bug_ends_with_1_and_tells_no_data(
    ppdm: Ppdm, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("Ada has HIV")

    monkeypatch.setattr("ppdm_sql.lifecycle.describe.list_releases", broken)
    done = ppdm("show", "--db", db)
    assert done.code == 1
    assert done.out == ""
    assert "KeyError: this is a bug in ppdm-sql" in done.err
    assert "PPDM_DEBUG=1" in done.err
    assert "Ada" not in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("PPDM_DEBUG", "1")
    done = ppdm("show", "--db", db)
    assert done.code == 1
    assert "Traceback" in done.err
    assert "Ada has HIV" in done.err


def test_an_internal_error_ends_with_1(
    ppdm: Ppdm, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ppdm_sql.InternalError("something is wrong")

    monkeypatch.setattr("ppdm_sql.lifecycle.describe.list_releases", broken)
    assert ppdm("show", "--db", db).code == 1


# Real processes


def test_the_module_is_the_command(db: str) -> None:
    done = in_a_process(["show", "--format", "csv"], env={"PPDM_DB": db})
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines()[1].startswith("research.people,1,clinic.people,4,6,")


def test_the_installed_command_is_the_same() -> None:
    command = Path(sys.executable).with_name("ppdm")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"ppdm, version {ppdm_sql.__version__}\n")


def test_exit_codes_of_real_processes(db: str) -> None:
    assert in_a_process(["run", "-", "--db", db], "SELECT 1").code == 0
    done = in_a_process(["run", "-", "--db", db], "SELECT oops")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")


def test_a_pipe_gets_no_control_characters_and_no_bar(db: str) -> None:
    done = in_a_process(
        ["run", "-", "--db", db],
        f"{LONG}; REFRESH RELEASE research.people; FROM oops",
        env={"FORCE_COLOR": "", "TERM": "xterm-256color"},
    )
    assert done.code == 2
    assert not CONTROL.search(done.out)
    assert not CONTROL.search(done.err)
    assert done.err.startswith("error: ")


def test_a_reader_that_goes_away_is_no_bug(db: str) -> None:
    """`ppdm run … | head -1`"""
    process = subprocess.Popen(
        [*PPDM, "run", "-", "--db", db, "--format", "csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("FROM range(3_000_000)")
    process.stdin.close()
    assert process.stdout.readline() == "range\n"
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert "bug" not in err
    assert "Traceback" not in err


def test_stopping_with_the_keyboard(db: str) -> None:
    """Ctrl-C ends a long statement soon, with 130, and is not called a bug."""
    process = subprocess.Popen(
        [*PPDM, "run", "-", "--db", db],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            "SELECT 1 AS started; CREATE TABLE half AS"
            " SELECT max((a.range * b.range) % 7) FROM range(1_000_000) a, range(1_000_000) b"
        )
        process.stdin.close()
        while "started" not in process.stdout.readline():
            pass
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.stdin = None  # it is closed, and communicate() would flush it
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert err.strip() == "error: stopped; the statement that ran changed nothing"
    assert process.returncode == 130


# A terminal


@contextmanager
def on_a_terminal(
    arguments: Sequence[str], columns: int = 100
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PPDM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)},
        close_fds=True,
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def all_of(process: subprocess.Popen[bytes], terminal: int) -> str:
    parts = []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            parts.append(part)
        elif process.poll() is not None:
            break
    process.wait(10)
    return b"".join(parts).decode()


def test_long_work_shows_a_bar_on_a_terminal(db: str, tmp_path: Path) -> None:
    script = tmp_path / "long.sql"
    script.write_text(f"{LONG}; SELECT 1")
    with on_a_terminal(["run", str(script), "--db", db]) as (process, terminal):
        shown = all_of(process, terminal)
    assert process.returncode == 0
    assert "running" in shown
    assert "%" not in shown, "nobody can tell how far a sleep is"
    assert "━" in shown
    table = shown[shown.index("┏") :]
    assert "running" not in table, "the bar is gone before anything is printed"
    assert shown.index("\x1b[2K") < shown.index("┏"), "its line is erased"


def test_a_long_release_names_its_stages_on_a_terminal(db: str, tmp_path: Path) -> None:
    script = tmp_path / "long.sql"
    script.write_text(f"CREATE RELEASE r FROM ({LONG}) (n SENSITIVE AS mapping())")
    with on_a_terminal(["run", str(script), "--db", db]) as (process, terminal):
        shown = all_of(process, terminal)
    assert process.returncode == 0
    assert "reading statistics" in shown
    assert "created release main.r, version 1" in shown


def test_an_error_on_a_terminal_follows_no_bar(db: str, tmp_path: Path) -> None:
    script = tmp_path / "wrong.sql"
    script.write_text("SELECT oops")
    with on_a_terminal(["run", str(script), "--db", db]) as (process, terminal):
        shown = all_of(process, terminal)
    assert process.returncode == 2
    assert shown.startswith("error: ")


def test_the_owner_may_see_the_errors_of_duckdb(ppdm: Ppdm, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SELECT 'Xanthippe'::INTEGER", encoding="utf-8")
    for shown in ([], ["--show-engine-errors"]):
        done = ppdm("run", str(script), "--db", ":memory:", *shown)
        assert done.code == 2
        assert ("Could not convert string 'Xanthippe'" in done.err) is bool(shown)


# One line of help, one statement, silence, waiting, programs


def test_no_line_of_the_help_is_cut(ppdm: Ppdm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in ppdm("--help").out.replace("[ARGS]...", "")


def test_a_statement_on_the_command_line(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-c", "SELECT 42 AS answer", "--db", db, "--format", "csv")
    assert (done.code, done.out) == (0, "answer\n42\n")
    for both in (["-", "-c", "SELECT 1"], []):
        done = ppdm("run", *both, "--db", db)
        assert done.code == 2
        assert "name a script, or write -c and a statement" in done.err


def test_quiet_leaves_rows_warnings_and_errors(ppdm: Ppdm, db: str, tmp_path: Path) -> None:
    script = "REFRESH RELEASE research.people; SELECT 42 AS answer"
    assert "refreshed release" in ppdm("run", "-c", script, "--db", db).out
    quiet = ppdm("run", "-c", script, "--db", db, "--quiet").out
    assert "refreshed" not in quiet
    assert "42" in quiet
    study = str(tmp_path / "study.duckdb")
    assert ppdm("publish", "research.people", "--to", study, "--db", db, "-q").out == ""


def test_programs_get_json_of_everything(ppdm: Ppdm, db: str, tmp_path: Path) -> None:
    study = str(tmp_path / "study.duckdb")
    done = ppdm("publish", "research.people", "--to", study, "--db", db, "--format", "json")
    assert parsed(done.out) == [
        {"release": "research.people", "version": 1, "rows": 6, "persons": 6, "path": study}
    ]
    done = ppdm("explain", "research.people", "--db", db, "--format", "json")
    assert [list(row) for row in parsed(done.out)] == [["sql"]]
    done = ppdm("audit", "research.people", "--db", db, "--format", "json")
    assert json.loads(done.out)["verdict"]
    done = ppdm("audit", "research.people", "--db", db, "--format", "csv")
    assert done.out.startswith("part,name,")
    where = ("interpret", "research.people", "--where", "ward = 'nowhere'")
    assert [list(row) for row in parsed(ppdm(*where, "--db", db, "--format", "json").out)] == [
        ["condition"]
    ]
    done = ppdm("run", "-c", "REFRESH RELEASE research.people", "--db", db, "--format", "json")
    assert done.out == ""
    assert "refreshed release research.people" in json.loads(done.err)["message"]


def test_programs_get_the_code_of_an_error(ppdm: Ppdm, db: str) -> None:
    done = ppdm("run", "-c", "SELECT 1;\n DROP RELEASE r.nothing", "--db", db, "--format", "json")
    assert done.code == 2
    error = json.loads(done.err)["error"]
    assert error["code"] == "unknown_release"
    assert (error["line"], error["column"]) == (2, 15)
    assert set(error) == {"code", "message", "hint", "line", "column"}


def test_several_releases_are_refreshed_and_audited_at_once(ppdm: Ppdm, db: str) -> None:
    ppdm(
        "run",
        "-c",
        "CREATE RELEASE research.ages FROM clinic.people (id KEY, age NEUTRAL)",
        "--db",
        db,
    )
    both = "research.people, research.ages"
    out = ppdm("run", "-c", f"REFRESH RELEASE {both}", "--db", db).out
    assert re.findall(r"refreshed release (\S+), version 2", out) == both.split(", ")
    failed = ppdm("run", "-c", "REFRESH RELEASE research.people, research.nothing", "--db", db)
    assert failed.code == 2
    assert '"version": 2' in ppdm("show", "--db", db, "--format", "json").out  # all or nothing
    done = ppdm("audit", *both.split(", "), "--db", db)
    assert done.code == 0
    assert [line[3:] for line in done.out.splitlines() if line.startswith("── ")] == both.split(
        ", "
    )
    out = ppdm("run", "-c", f"AUDIT RELEASE {both}", "--db", db).out
    assert out.count("┃ part") >= 2
    done = ppdm("audit", *both.split(", "), "--html", "x.html", "--db", db)
    assert (done.code, Path("x.html").exists()) == (2, False)
    done = ppdm("run", "-c", f"AUDIT RELEASE {both} TO 'x.html'", "--db", db)
    assert "a report is of one release" in done.err


def test_a_locked_database_is_waited_for(ppdm: Ppdm, db: str) -> None:
    holds = (
        "import sys, time, ppdm_sql; o = ppdm_sql.connect(sys.argv[1]);"
        "print('open', flush=True); time.sleep(1.5)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds, db], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        done = ppdm("show", "--db", db)
        assert done.code == 2
        assert "is open in another process" in done.err
        assert ppdm("show", "--db", db, "--wait", "30").code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(ppdm: Ppdm, shell: str) -> None:
    assert "_PPDM_COMPLETE" in ppdm("completion", shell).out


def test_columns_are_described_in_eighty_letters(db: str) -> None:
    with on_a_terminal(["describe", "research.people", "--db", db], columns=80) as found:
        shown = all_of(*found)
    assert "…" not in shown
    assert max(map(len, CONTROL.sub("", re.sub(r"\x1b\[[0-9;]*m", "", shown)).splitlines())) <= 80


def test_ctrl_c_in_a_function_of_ours_is_no_error_of_the_user() -> None:
    error = duckdb.InvalidInputException("Python exception occurred: KeyboardInterrupt: ")
    assert engine_error(error).kind is EngineKind.INTERRUPTED


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_under_what_is_printed_is_no_bug(safe: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ppdm_sql", "run", "-c", "SELECT 1", "--db", str(safe)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: what is printed cannot be written: No space left on device\n"
