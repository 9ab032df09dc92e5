"""The engine room: transactions, bulk writing, errors without data, functions in connections."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql import EngineError, StoreError
from ppdm_sql.engine.duckdb_errors import engine_error, withheld
from ppdm_sql.names import QualifiedName
from ppdm_sql.store.opening import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.owner import Owner

CANARY = "Xanthippe-31.4159265"


@pytest.fixture
def engine() -> Iterator[Engine]:
    opened = open_database(None)
    yield opened
    opened.close()


def one(engine: Engine, query: str) -> Any:
    ((value,),) = (tuple(row.values()) for row in engine.query(query).to_pylist())
    return value


def run_and_fail(engine: Engine, statement: str) -> None:
    engine.run(statement)
    raise ZeroDivisionError


# Opening


def test_the_owners_database_is_in_use_under_our_own_name(safe: Path) -> None:
    opened = open_database(safe)
    assert one(opened, "SELECT current_database()") == "ppdm_store"
    assert str(opened.current_schema()) == "main"
    opened.close()


def test_nothing_but_the_owners_database_is_attached(engine: Engine) -> None:
    attached = engine.query(
        "SELECT database_name AS name FROM duckdb_databases() WHERE NOT internal"
    )
    assert sorted(attached.column("name").to_pylist()) == ["memory", "ppdm_store"]


def test_a_python_variable_is_no_table(engine: Engine) -> None:
    secret_table = pa.table({"a": [1]})
    with pytest.raises(EngineError, match="secret_table"):
        engine.query("FROM secret_table")
    assert secret_table.num_rows == 1


def test_the_current_schema_is_main_while_another_database_is_in_use(engine: Engine) -> None:
    engine.run("CREATE SCHEMA ppdm_store.other")
    engine.run("USE ppdm_store.other")
    assert str(engine.current_schema()) == "other"
    engine.run("USE memory")
    engine.run("CREATE SCHEMA memory.elsewhere")
    engine.run("USE memory.elsewhere")
    assert str(engine.current_schema()) == "main"


def test_progress_is_a_number_when_nothing_runs(engine: Engine) -> None:
    assert isinstance(engine.progress(), float)


# Running


def test_parameters_are_values_not_text(engine: Engine) -> None:
    found = engine.query("SELECT ? AS v, ? AS n", ("'; DROP TABLE x; --", None))
    assert found.to_pylist() == [{"v": "'; DROP TABLE x; --", "n": None}]


def test_a_tree_is_run_as_well_as_a_text(engine: Engine) -> None:
    assert engine.query(exp.select(exp.Literal.number(7).as_("n"))).to_pylist() == [{"n": 7}]


def test_run_runs_to_the_end(engine: Engine) -> None:
    engine.run("CREATE TABLE t AS SELECT range AS i FROM range(100_000)")
    with pytest.raises(EngineError):
        engine.run("SELECT CASE WHEN i = 99_999 THEN error('late') ELSE i END FROM t")


@pytest.mark.parametrize("name", ["plain", 'odd "name"', "semi;colon", "new\nline", "ümlaut ☃"])
def test_a_table_is_written_and_replaced_in_bulk(engine: Engine, name: str) -> None:
    table = QualifiedName.of("ppdm_store", "main", name)
    first = pa.table({"a b": [1, None], '"': ["x", None], "z": pa.array([b"", None], pa.binary())})
    engine.create_table(table, first)
    quoted = exp.to_identifier(name, quoted=True)
    assert engine.query(exp.select("*").from_(exp.Table(this=quoted))).to_pylist() == (
        first.to_pylist()
    )
    engine.create_table(table, pa.table({"other": ["y"]}))
    assert engine.query(exp.select("*").from_(exp.Table(this=quoted))).to_pylist() == [
        {"other": "y"}
    ]


def test_writing_in_bulk_leaves_nothing_behind(engine: Engine) -> None:
    def things() -> list[Any]:
        query = (
            "SELECT view_name AS n FROM duckdb_views() WHERE NOT internal"
            " UNION ALL SELECT table_name FROM duckdb_tables()"
        )
        return sorted(engine.query(query).column("n").to_pylist())

    engine.create_table(QualifiedName.of("ppdm_store", "main", "t"), pa.table({"a": [1]}))
    assert things() == ["t"]
    with pytest.raises(EngineError):
        engine.create_table(QualifiedName.of("ppdm_store", "nowhere", "t"), pa.table({"a": [1]}))
    assert things() == ["t"]


def test_writing_in_bulk_that_fails_inside_a_transaction_says_why(engine: Engine) -> None:
    engine.run("BEGIN")
    with pytest.raises(EngineError, match="nowhere"):
        engine.create_table(QualifiedName.of("ppdm_store", "nowhere", "t"), pa.table({"a": [1]}))
    engine.run("ROLLBACK")
    engine.create_table(QualifiedName.of("ppdm_store", "main", "t"), pa.table({"a": [1]}))


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_something_of_the_owner_with_our_internal_name_is_left_alone(
    engine: Engine, kind: str
) -> None:
    engine.run(f"CREATE TEMP {kind} ppdm_incoming AS SELECT 42 AS mine")
    engine.create_table(QualifiedName.of("ppdm_store", "main", "t"), pa.table({"a": [1]}))
    assert engine.query("FROM t").to_pylist() == [{"a": 1}]
    assert engine.query("FROM ppdm_incoming").to_pylist() == [{"mine": 42}]


def test_a_persistent_table_with_our_internal_name_is_not_read(engine: Engine) -> None:
    engine.run("CREATE TABLE ppdm_store.main.ppdm_incoming AS SELECT 42 AS mine")
    engine.create_table(QualifiedName.of("ppdm_store", "main", "t"), pa.table({"a": [1]}))
    assert engine.query("FROM t").to_pylist() == [{"a": 1}]
    assert engine.query("FROM ppdm_store.main.ppdm_incoming").to_pylist() == [{"mine": 42}]


# Transactions


def test_a_block_is_committed_or_rolled_back(engine: Engine) -> None:
    with engine.transaction():
        engine.run("CREATE TABLE kept (i INTEGER)")
    with pytest.raises(ZeroDivisionError), engine.transaction():
        run_and_fail(engine, "CREATE TABLE lost (i INTEGER)")
    tables = engine.query("SELECT table_name AS n FROM duckdb_tables()").column("n").to_pylist()
    assert tables == ["kept"]


def test_a_block_inside_a_block_is_part_of_it(engine: Engine) -> None:
    def outer() -> None:
        with engine.transaction():
            with engine.transaction():
                engine.run("CREATE TABLE lost (i INTEGER)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outer()
    assert engine.query("SELECT table_name FROM duckdb_tables()").num_rows == 0


def test_a_failing_block_aborts_the_transaction_around_it(engine: Engine) -> None:
    engine.run("BEGIN")
    engine.run("CREATE TABLE half (i INTEGER)")
    with pytest.raises(ZeroDivisionError), engine.transaction():
        raise ZeroDivisionError
    with pytest.raises(EngineError, match="aborted"):
        engine.run("SELECT 1")
    with pytest.raises(EngineError, match="aborted"), engine.transaction():
        pass
    engine.run("ROLLBACK")
    assert engine.query("SELECT table_name FROM duckdb_tables()").num_rows == 0


def test_the_error_of_a_block_is_the_one_that_is_told(engine: Engine) -> None:
    """Also where DuckDB has already rolled back by itself."""
    with pytest.raises(ZeroDivisionError), engine.transaction():
        run_and_fail(engine, "ROLLBACK")


# Errors


SPEAKING = [
    (duckdb.ParserException, "SELEC 1"),
    (duckdb.CatalogException, "FROM nowhere"),
    (duckdb.BinderException, "SELECT nothing FROM t"),
]
SILENT = [
    (duckdb.ConversionException, f"SELECT v::INTEGER FROM (SELECT '{CANARY}' AS v)"),
    (duckdb.InvalidInputException, f"SELECT error('{CANARY}')"),
    (duckdb.OutOfRangeException, "SELECT i * i FROM (SELECT 3141592650000::BIGINT AS i)"),
    (duckdb.ConstraintException, f"INSERT INTO u VALUES ('{CANARY}'), ('{CANARY}')"),
    (duckdb.Error, f"SELECT strptime('{CANARY}', '%Y')"),
    (duckdb.Error, f"SELECT json_extract('{{{CANARY}', '$.a')"),
    (duckdb.Error, f"SELECT regexp_matches('a', '({CANARY}')"),
    (duckdb.Error, f"SELECT '{CANARY}'::DATE"),
    (duckdb.Error, f"SELECT cast('{CANARY}' AS ENUM ('a'))"),
]


@pytest.mark.parametrize(("kind", "statement"), SPEAKING)
def test_an_error_of_names_or_grammar_is_told(
    engine: Engine, kind: type[duckdb.Error], statement: str
) -> None:
    engine.run("CREATE TABLE t (i INTEGER)")
    with pytest.raises(kind):
        engine.connection.execute(statement).fetchall()
    for call in (engine.query, engine.run, engine.plain):
        with pytest.raises(EngineError) as caught:
            call(statement)
        assert "LINE 1" not in caught.value.what
        assert caught.value.engine_text.startswith(caught.value.what)
    assert "LINE 1" in caught.value.engine_text


@pytest.mark.parametrize(("kind", "statement"), SILENT)
def test_an_error_that_may_hold_data_is_not_told(
    engine: Engine, kind: type[duckdb.Error], statement: str
) -> None:
    engine.run("CREATE TABLE u (v VARCHAR UNIQUE)")
    with pytest.raises(kind) as raw:
        engine.connection.execute(statement).fetchall()
    for call in (engine.query, engine.run):
        with pytest.raises(EngineError) as caught:
            call(statement)
        told = "".join(traceback.format_exception(caught.value, limit=0))
        assert CANARY not in told
        assert "314159265" not in told
        assert "withheld" in told
        assert caught.value.engine_text == ""
        assert type(raw.value).__name__.removesuffix("Exception") in caught.value.what


def test_the_type_of_an_enum_is_not_told(engine: Engine) -> None:
    """A binder error quotes types, and the type of an ENUM lists its values."""
    engine.run(f"CREATE TYPE mood AS ENUM ('{CANARY}', 'b'); CREATE TABLE e (m mood, s mood[])")
    for statement in ("SELECT m + 1 FROM e", "SELECT s + 1 FROM e", "SELECT sum(m) FROM e"):
        with pytest.raises(EngineError) as caught:
            engine.query(statement)
        assert CANARY not in str(caught.value)
        assert CANARY not in caught.value.engine_text


def test_the_original_error_is_not_shown_behind_ours() -> None:
    with pytest.raises(EngineError) as caught, withheld():
        raise duckdb.ConversionException(CANARY)
    assert CANARY not in "".join(traceback.format_exception(caught.value, limit=0))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_errors_of_others_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), withheld():
        raise ZeroDivisionError


def test_an_unknown_kind_of_error_is_withheld() -> None:
    error = engine_error(duckdb.Error(CANARY))
    assert CANARY not in str(error)
    assert isinstance(engine_error(duckdb.BinderException("name")), EngineError)


# Functions


def test_functions_are_registered_in_anybodys_connection() -> None:
    with duckdb.connect() as raw:
        names = ppdm_sql.register(raw)
        assert len(names) == len(set(names)) >= 2
        assert all(name.startswith("ppdm_") for name in names)
        for name in names:
            found = raw.execute(
                "SELECT count(*) FROM duckdb_functions() WHERE function_name = ?", [name]
            ).fetchall()
            assert found == [(1,)], name
        answer = raw.execute("SELECT ppdm_graded_grouping(45, [30, 60, 90])").fetchall()
        assert answer == [(1.5,)]


def test_registering_twice_is_no_error() -> None:
    with duckdb.connect() as raw:
        assert ppdm_sql.register(raw) == ppdm_sql.register(raw)
        assert raw.execute("SELECT ppdm_graded_grouping(45, [30, 60, 90])").fetchall() == [(1.5,)]


def test_registering_in_two_cursors_of_one_database_is_no_error() -> None:
    with duckdb.connect() as raw:
        first, second = raw.cursor(), raw.cursor()
        for connection in (first, second, raw, first, second):
            ppdm_sql.register(connection)
            for reader in (first, second, raw):
                answer = reader.execute("SELECT ppdm_graded_grouping(45, [30, 60, 90])").fetchall()
                assert answer == [(1.5,)]


def test_registering_in_the_owners_own_connection_is_no_error() -> None:
    with ppdm_sql.connect(":memory:") as owner:
        names = ppdm_sql.register(owner.connection)
        assert names
        owner.execute("CREATE TABLE t AS SELECT 45 AS x")
        owner.execute(
            "CREATE RELEASE r FROM t (x QUASI AS graded_grouping(bands => [30, 60]))"
            " WITH (execution = 'udf')"
        )
        assert owner.execute("FROM r").fetchall() == [(1.5,)]


def test_registering_leaves_a_transaction_alone() -> None:
    with duckdb.connect() as raw:
        raw.execute("BEGIN; CREATE TABLE t (i INTEGER)")
        ppdm_sql.register(raw)
        raw.execute("ROLLBACK")
        assert raw.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_the_functions_know_no_secret() -> None:
    """Parameters are arguments: a release of one connection tells nothing to another."""
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute("CREATE TABLE t AS SELECT 45.0 AS x")
        owner.execute("CREATE RELEASE r FROM t (x QUASI AS graded_grouping(bands => [30, 60]))")
        found = owner.connection.execute(
            "SELECT parameters, parameter_types FROM duckdb_functions()"
            " WHERE starts_with(function_name, 'ppdm_')"
        ).fetchall()
        assert found
        assert all(len(types) > 0 for _, types in found)


# Files that cannot be opened


def test_a_failed_open_closes_the_connection(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)
    safe.write_bytes(b"not a database at all" * 1000)
    safe.chmod(0o600)
    with pytest.raises(StoreError):
        open_database(safe)
    safe.unlink()
    opened = open_database(safe)
    opened.close()


# Errors of the owner's own statements


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("FROM 'gone.csv'", "gone.csv"),
        ("CREATE TABLE t AS FROM read_parquet('gone.parquet')", "gone.parquet"),
        ("COPY (SELECT 1) TO 'no/folder.csv'", "no/folder.csv"),
        ("ATTACH 'no/folder.duckdb'", "no/folder.duckdb"),
    ],
)
def test_a_missing_file_is_said(owner: Owner, statement: str, path: str) -> None:
    with pytest.raises(EngineError) as caught:
        owner.execute(statement)
    assert caught.value.what == f"cannot open '{path}': no such file or folder"
    assert caught.value.code == "no_such_file"


def test_a_path_that_is_data_is_not_said(owner: Owner) -> None:
    owner.execute(f"SET VARIABLE v = '{CANARY}'")
    with pytest.raises(EngineError, match="cannot open a file of this statement") as caught:
        owner.execute("FROM read_csv(getvariable('v'))")
    assert CANARY not in str(caught.value) + caught.value.engine_text


@pytest.mark.parametrize(
    "statement", ["SELECT v::INT FROM t", "CREATE TABLE u AS SELECT v::INT FROM t"]
)
def test_the_owner_may_see_the_errors_of_her_own_statements(statement: str) -> None:
    for shows in (False, True):
        with ppdm_sql.connect(":memory:", show_engine_errors=shows) as owner:
            owner.execute(f"CREATE TABLE t AS SELECT '{CANARY}' AS v")
            for runs in (owner, owner.cursor()):
                with pytest.raises(EngineError) as caught:
                    runs.execute(statement).fetchall()
                assert (CANARY in str(caught.value)) is shows
                assert ("--show-engine-errors" in str(caught.value)) is not shows


def test_errors_of_releases_show_nothing_all_the_same() -> None:
    with ppdm_sql.connect(":memory:", show_engine_errors=True) as owner:
        owner.execute(f"CREATE TABLE t AS SELECT '{CANARY}' AS v")
        with pytest.raises(ppdm_sql.PpdmError) as caught:
            owner.execute(
                "CREATE RELEASE r.t FROM (SELECT v::INT AS v FROM t) (v NEUTRAL AS mapping())"
            )
        assert CANARY not in str(caught.value)


def test_a_time_with_a_zone_can_be_read(owner: Owner) -> None:
    ((now,),) = owner.execute("SELECT now()").fetchall()
    assert now.tzinfo is not None
