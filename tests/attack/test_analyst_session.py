"""Everything an analyst might type into a session: refused in fixed words, and nothing happens."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.analyst.worker import Worker
from ppdm_sql.cli import main
from ppdm_sql.foreign import process as process_module
from ppdm_sql.foreign.child import open_tables
from tests.attack.canaries import everything_shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.analyst.session import Analyst
    from tests.attack.conftest import Holding

ATTACKS = {
    # shadowing: a macro before a built-in or an operator
    "shadow a function": "CREATE TEMP MACRO sha256(x) AS x",
    "shadow an operator": 'CREATE TEMP MACRO "*"(a, b) AS b',
    "shadow by a function": "CREATE FUNCTION sum(x) AS x",
    "temporary table": "CREATE TEMP TABLE people AS SELECT 1",
    "temporary view": "CREATE TEMP VIEW v AS FROM research.people",
    # catalogs: names, paths, settings
    "list settings": "FROM duckdb_settings()",
    "list databases and their paths": "FROM duckdb_databases()",
    "list databases by SHOW": "SHOW DATABASES",
    "list databases inside a query": "FROM (SHOW DATABASES)",
    "list tables inside a query": "WITH t AS (SHOW ALL TABLES) FROM t",
    "catalog by a view": "FROM duckdb_tables",
    "catalog of SQLite": "FROM sqlite_master",
    "catalog of PostgreSQL": "FROM pg_catalog.pg_class",
    "standard catalog": "FROM information_schema.tables",
    "catalog behind a CTE name": "WITH duckdb_tables AS (FROM duckdb_tables) FROM duckdb_tables",
    "catalog from a later CTE": "WITH a AS (FROM duckdb_views), duckdb_views AS (SELECT 1) FROM a",
    "catalog described": "DESCRIBE duckdb_tables",
    "catalog summarized": "SUMMARIZE duckdb_settings",
    "catalog in a scalar subquery": "SELECT (SELECT count(*) FROM duckdb_secrets())",
    "catalog in a join": "FROM research.people, duckdb_settings() s",
    "catalog in EXISTS": "SELECT EXISTS (FROM sqlite_master)",
    "one setting": "SELECT current_setting('temp_directory')",
    "a variable": "SELECT getvariable('x')",
    "the statement itself": "SELECT current_query()",
    "definition of a view": "SELECT pg_get_viewdef(1)",
    "storage of a table": "FROM pragma_storage_info('research.people')",
    "statistics of a column": "SELECT stats(weight) FROM research.people",
    # a statement inside a value
    "query()": "FROM query('FROM duckdb_settings()')",
    "query_table()": "FROM query_table('sqlite_master')",
    "serialized SQL": "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "serialize only": "SELECT json_serialize_sql('SELECT 1')",
    "prepare": "PREPARE p AS SELECT 1",
    "execute": "EXECUTE p",
    "parameter": "SELECT $secret",
    "positional parameter": "SELECT ?",
    "two statements": "SELECT 1; SELECT 2",
    "a second after a comment": "SELECT 1 /* ; */ ; DROP TABLE research.people",
    # a name of WITH where WITH is not seen
    "begin of a recursion": "WITH RECURSIVE duckdb_databases AS (SELECT path FROM duckdb_databases UNION ALL FROM duckdb_databases WHERE false) FROM duckdb_databases",
    "begin of a recursion, any name": "WITH RECURSIVE nowhere AS (FROM nowhere UNION ALL FROM nowhere) FROM nowhere",
    "inside the begin": "WITH RECURSIVE pg_settings AS (SELECT (SELECT max(setting) FROM pg_settings) AS x UNION ALL FROM pg_settings WHERE false) FROM pg_settings",
    "a file in a recursion": "WITH RECURSIVE \"/etc/passwd.csv\" AS (FROM \"/etc/passwd.csv\" UNION ALL FROM \"/etc/passwd.csv\") FROM \"/etc/passwd.csv\"",
    "before it is named": "WITH a AS (FROM duckdb_settings), duckdb_settings AS (SELECT 1) FROM a",
    "a view of DuckDB's": "WITH sqlite_master AS (SELECT 1 AS one) FROM sqlite_master",
    # files and the network
    "file by name": "FROM '/etc/passwd'",
    "file by quoted name": 'FROM "/etc/passwd.csv"',
    "CSV": "FROM read_csv('/etc/passwd')",
    "text": "FROM read_text('/etc/passwd')",
    "blob": "FROM read_blob('/proc/self/environ')",
    "parquet": "FROM read_parquet('https://example.org/x.parquet')",
    "glob": "FROM glob('/*')",
    "another database": "FROM read_duckdb('/tmp/x.duckdb')",
    "sniff": "FROM sniff_csv('/etc/passwd')",
    "a Python variable": "FROM holding",
    "copy out": "COPY research.people TO '/tmp/x.csv'",
    "copy in": "COPY research.people FROM '/etc/passwd'",
    "copy inside a CTE": "WITH x AS (COPY research.people TO '/tmp/x') FROM x",
    "export": "EXPORT DATABASE '/tmp/x'",
    "import": "IMPORT DATABASE '/tmp/x'",
    "attach a file": "ATTACH '/tmp/x.duckdb'",
    "attach memory": "ATTACH ':memory:' AS m",
    "detach": "DETACH study",
    "use": "USE memory",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "secret": "CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')",
    # settings and states
    "set": "SET threads = 64",
    "set memory": "SET memory_limit = '1TB'",
    "unlock": "SET lock_configuration = false",
    "reset": "RESET ALL",
    "set a variable": "SET VARIABLE x = 1",
    "pragma": "PRAGMA database_list",
    "pragma as a call": "CALL pragma_version()",
    "profiling": "PRAGMA enable_profiling",
    "logging": "CALL enable_logging()",
    "checkpoint": "CHECKPOINT",
    "begin": "BEGIN",
    "explain": "EXPLAIN ANALYZE FROM research.people",
    "seed": "SELECT setseed(0.5)",
    "sequence": "SELECT nextval('s')",
    "write to the log": "SELECT write_log('x')",
    # writes
    "insert": "INSERT INTO research.people SELECT * FROM research.people",
    "delete": "DELETE FROM research.people",
    "insert in a CTE": "WITH x AS (INSERT INTO release_info SELECT * FROM release_info RETURNING *) FROM x",
    "delete in a CTE": "WITH x AS (DELETE FROM research.people RETURNING *) FROM x",
    "update in a CTE": "WITH x AS (UPDATE research.people SET ward = '' RETURNING *) FROM x",
    "drop": "DROP TABLE research.people",
    "vacuum": "VACUUM",
    # errors that tell one value from another
    "like … escape": "SELECT count(*) FROM research.people WHERE id LIKE id ESCAPE ward",
    "like_escape": "SELECT like_escape(id, ward, ward) FROM research.people",
    "not ilike escape": "SELECT count(*) FROM research.people WHERE id NOT ILIKE id ESCAPE ward",
    "error of one's own": "SELECT error(id) FROM research.people",
    # bombs that are refused before they run
    "repeat": "SELECT repeat('x', 2000000000)",
    "lpad": "SELECT lpad('x', 2000000000, 'x')",
    "printf": "SELECT printf('%2000000000d', 1)",
    "levenshtein": "SELECT levenshtein(id, id) FROM research.people",
    "a list by range": "SELECT range(1000000000)",
    "reduce": "SELECT list_reduce([1, 2], lambda x, y: x + y)",
    "lambda": "SELECT list_transform([1], lambda x: x)",
    "comprehension": "SELECT [x + 1 FOR x IN [1, 2]]",
    "sleep": "SELECT sleep_ms(100000)",
    # names
    "a function of a schema": "SELECT system.main.sum(weight) FROM research.people",
    "a type of a schema": "SELECT CAST(1 AS main.mytype)",
    "a table of another database": "FROM memory.research.people",
    "a table at another time": "FROM research.people AT (VERSION => 1)",
    "a table of quotes": 'FROM "research.people"',
    "a name of semicolons": 'FROM "x; DROP TABLE research.people; --"',
    "full width letters": "FROM \uff52esearch.people",
    "nothing": "",
    "only a comment": "-- nothing",
    "a null byte": "SELECT 1 \0 FROM research.people",
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_session_refuses(study: Analyst, attack: str) -> None:
    """Tries the statement in a session, as an analyst would."""
    with pytest.raises(ppdm_sql.PpdmError) as caught:
        study.sql(ATTACKS[attack])
    assert "was ended" not in caught.value.what  # refused, not crashed
    assert study.sql("SELECT count(*) FROM research.people").fetchall() == [(5000,)]


@pytest.mark.parametrize(
    "attack", ["shadow a function", "file by name", "query()", "delete in a CTE", "unlock"]
)
def test_the_command_line_refuses(
    holding: Holding, capsys: pytest.CaptureFixture[str], attack: str
) -> None:
    """Tries the statement with `ppdm query`."""
    with pytest.raises(SystemExit) as end:
        main(["query", str(holding.file), ATTACKS[attack]])
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")


# Behind the gate


@pytest.fixture(scope="module")
def ungated(holding: Holding, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """The connection of a session with its gate taken away."""
    folder = tmp_path_factory.mktemp("ungated")
    # In one process, DuckDB opens a file under one configuration only.
    file = shutil.copy(holding.file, folder / "study.duckdb")
    settings = {"temp_directory": str(folder / "spill"), "threads": "2"}
    connection, contents = open_tables(str(file), settings)
    connection.execute("SET lock_configuration = true")
    yield Worker(connection, contents)
    connection.close()


LOCKED = (
    "FROM read_csv('/etc/passwd')", "FROM read_text('/etc/passwd')", "FROM '/etc/passwd.csv'",
    "FROM glob('/*')", "COPY research.people TO '/tmp/ppdm-attack.csv'",
    "EXPORT DATABASE '/tmp/ppdm-attack'", "ATTACH '/tmp/ppdm-attack.duckdb'", "INSTALL httpfs",
    "LOAD httpfs", "SET threads = 64", "SET enable_external_access = true", "RESET ALL",
    "SET lock_configuration = false", "SET memory_limit = '1TB'", "PRAGMA enable_profiling",
    "INSERT INTO research.people SELECT * FROM research.people", "DROP TABLE research.people",
    "WITH x AS (DELETE FROM research.people RETURNING *) FROM x", "CREATE TABLE research.t (i INTEGER)",
    "FROM holding", "CREATE PERSISTENT SECRET s (TYPE s3)",
)  # fmt: skip


@pytest.mark.parametrize("statement", LOCKED)
def test_the_connection_is_locked_without_the_gate(ungated: Worker, statement: str) -> None:
    """Tries what would matter if the gate let it through: the lock is the second wall."""
    with pytest.raises(duckdb.Error):
        ungated._connection.execute(statement).fetchall()
    assert not list(Path("/tmp").glob("ppdm-attack*"))


def test_without_the_gate_only_the_file_is_there(ungated: Worker, holding: Holding) -> None:
    """Lists everything of a session whose gate is open: the file is all there is to find."""
    tables = ungated._connection.execute("SELECT schema_name, table_name FROM duckdb_tables()")
    listed = [("main", "codebook"), ("main", "release_info"), ("research", "people")]
    assert sorted(tables.fetchall()) == listed
    databases = "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
    assert ungated._connection.execute(databases).fetchall() == [("study",)]


def test_the_other_process_knows_nothing_of_the_environment(
    holding: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks for passwords in the environment of the process, and for open files of the owner's."""
    monkeypatch.setenv("PGPASSWORD", "Wxpassword")
    with (
        ppdm_sql.connect(holding.owner) as owner,
        ppdm_sql.open_release(holding.file) as study,
    ):
        assert owner.releases()
        assert study._process is not None
        process = Path("/proc") / str(study._process.pid)
        assert b"Wxpassword" not in (process / "environ").read_bytes()
        opened = [os.readlink(path) for path in (process / "fd").iterdir()]
        assert not [path for path in opened if str(holding.owner.parent) in path]
        assert str(holding.file) in opened


# Errors


LEAKS = (
    "SELECT id::INTEGER FROM research.people",
    "SELECT CAST(illness AS DATE) FROM research.people",
    "SELECT strptime(id, '%Y') FROM research.people",
    "SELECT 9223372036854775807 + length(id) FROM research.people",
    "SELECT make_date(length(id), 99, 99) FROM research.people",
    "SELECT regexp_matches(id, illness || '(') FROM research.people",
    "SELECT date_trunc(id, DATE '2000-01-01') FROM research.people",
    "SELECT (SELECT id FROM research.people LIMIT 2) FROM research.people",
    "SELECT ilness FROM research.people",
    "SELECT p.x.y FROM research.people p",
)


@pytest.mark.parametrize("query", LEAKS)
def test_an_error_shows_no_value_and_no_name_one_did_not_write(study: Analyst, query: str) -> None:
    """Makes DuckDB fail on a value, whose own text would print it."""
    values = study.sql("SELECT DISTINCT unnest([id, illness]) FROM research.people").fetchall()
    with pytest.raises(ppdm_sql.PpdmError) as caught:
        study.sql(query).fetchall()
    shown = everything_shown(caught.value)
    assert not [value for (value,) in values if value in shown]
    for name in ("weight", "release_info", "study", "Candidate", "duckdb", "Exception: "):
        assert name not in shown.replace(query, "")


# Bombs


@pytest.fixture
def bombed(holding: Holding) -> Iterator[Analyst]:
    with ppdm_sql.open_release(holding.file, timeout_s=1.0, memory_limit="200MB") as opened:
        yield opened


TIME = {
    "cross join": "SELECT sum(a.i * b.i) FROM range(9000000) a(i), range(9000000) b(i)",
    "recursive CTE": "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT max(i) FROM t",
    "self join": "SELECT count(*) FROM research.people a, research.people b, research.people c WHERE a.id || b.id < c.id",
    "streamed rows": "SELECT a.i FROM range(90000000) a(i), range(90000000) b(i) WHERE (a.i + b.i) % 1000000007 = -1",
}  # fmt: skip


@pytest.mark.parametrize("bomb", TIME)
def test_time_is_bounded(bombed: Analyst, bomb: str) -> None:
    """Keeps DuckDB busy for days."""
    start = time.perf_counter()
    with pytest.raises(ppdm_sql.EngineError, match="took longer than 1 s and was stopped"):
        bombed.sql(TIME[bomb])
    assert time.perf_counter() - start < 5
    assert bombed.sql("SELECT 1").fetchall() == [(1,)]


MEMORY = {
    "aggregate": "SELECT length(string_agg('xxxxxxxxxxxxxxxxxxxxxxxxx', '')) FROM range(900000000)",
    "list": "SELECT len(list(i)) FROM range(900000000) t(i)",
    "doubled text": "WITH RECURSIVE t(n, s) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, s || s FROM t WHERE n < 36) SELECT max(length(s)) FROM t",
}  # fmt: skip


@pytest.mark.parametrize("bomb", MEMORY)
def test_memory_is_bounded(holding: Holding, bomb: str) -> None:
    """Makes values that no memory holds."""
    with ppdm_sql.open_release(holding.file, timeout_s=20, memory_limit="200MB") as study:
        with pytest.raises(ppdm_sql.EngineError, match=r"memory|needed more|took longer"):
            study.sql(MEMORY[bomb])
        assert study.sql("SELECT 1").fetchall() == [(1,)]


LONG = {
    "nested parentheses": "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "nested subqueries": "SELECT * FROM "
    + "(SELECT * FROM " * 3_000
    + "release_info"
    + ")" * 3_000,
    "a long sum": "SELECT " + "+".join("1" for _ in range(40_000)),
    "a long list": "SELECT 1 IN (" + ",".join(map(str, range(15_000))) + ")",
    "too long": "SELECT '" + "x" * 200_000 + "'",
    "many CASEs": "SELECT " + "CASE WHEN true THEN " * 2_000 + "1" + " END" * 2_000,
    "many unary signs": "SELECT " + "- " * 40_000 + "1",
    "many NOTs": "SELECT " + "NOT " * 20_000 + "true",
}


@pytest.mark.parametrize("bomb", LONG)
def test_long_and_deep_statements_end(holding: Holding, bomb: str) -> None:
    """Gives the parser and the gate more than they can hold."""
    with ppdm_sql.open_release(holding.file, timeout_s=10) as study:
        try:
            answer = study.sql(LONG[bomb]).fetchall()
        except ppdm_sql.PpdmError:
            answer = []
        assert len(answer) <= 1
        assert study.sql("SELECT 1").fetchall() == [(1,)]


def test_one_step_that_duckdb_cannot_stop_is_ended(
    holding: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs kernels that no interrupt stops and no memory limit counts, with the gate widened."""
    widened = (
        "import sys, json; sys.path += json.loads(sys.argv[1]); sys.modules['numpy'] = None;"
        "import ppdm_sql.analyst.gate.functions as f; f.FUNCTIONS |= {'levenshtein', 'repeat'};"
        "from ppdm_sql.foreign.child import main; main()"
    )
    monkeypatch.setattr(process_module, "_START", widened)
    with ppdm_sql.open_release(holding.file, timeout_s=1.0, memory_limit="200MB") as study:
        start = time.perf_counter()
        with pytest.raises(ppdm_sql.EngineError, match="took longer"):
            study.sql("SELECT levenshtein(repeat('a', 90000), repeat('b', 90000))")
        assert time.perf_counter() - start < 5
        with pytest.raises(ppdm_sql.EngineError, match=r"memory|needed more|took longer"):
            study.sql("SELECT length(repeat('x', 4000000000))")
        assert study.sql("SELECT length(repeat('x', 3))").fetchall() == [(3,)]


def test_a_statement_whose_asker_died_does_not_run_for_ever(holding: Holding) -> None:
    """Kills the asking side: the processor time of the other one is bounded by the system."""
    with ppdm_sql.open_release(holding.file, timeout_s=1.0, threads=1) as study:
        study.sql("SELECT 1")
        assert study._process is not None
        limits = (Path("/proc") / str(study._process.pid) / "limits").read_text()
    rows = {line[:26].strip(): line[26:].split() for line in limits.splitlines()}
    assert 1 <= int(rows["Max cpu time"][0]) <= 10
    assert rows["Max core file size"][0] == "0"
    assert int(rows["Max address space"][0]) < 3 * 2**30
    assert int(rows["Max open files"][0]) <= 64
