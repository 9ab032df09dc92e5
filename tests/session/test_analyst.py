"""A session on a published file: answers, limits, life and death of the process behind it."""

from __future__ import annotations

import datetime
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import ppdm_sql
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.analyst.session import Analyst

SLOW = "SELECT sum(a.i * b.i) FROM range(9000000) a(i), range(9000000) b(i)"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published file; one column of every type that leaves."""
    path = tmp_path_factory.mktemp("published") / "study.duckdb"
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(PEOPLE)
        owner.execute("CREATE TABLE kinds AS SELECT * EXCLUDE (geometry) FROM test_all_types()")
        owner.execute(
            "CREATE RELEASE research.people FROM clinic.people (id KEY AS pseudonym(),"
            " age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]), ward NEUTRAL);"
            "CREATE RELEASE research.kinds FROM kinds (bool NEUTRAL, bigint NEUTRAL, hugeint NEUTRAL,"
            " date NEUTRAL, timestamp NEUTRAL, float NEUTRAL, double NEUTRAL, dec_18_6 NEUTRAL,"
            " uuid NEUTRAL, interval NEUTRAL, varchar NEUTRAL, blob NEUTRAL, small_enum NEUTRAL,"
            " int_array NEUTRAL, struct NEUTRAL, map NEUTRAL)"
        )
        owner.publish("research.people", "research.kinds", to=path)
    return path


@pytest.fixture
def study(file: Path) -> Iterator[Analyst]:
    with ppdm_sql.open_release(file) as opened:
        yield opened


def process_of(study: Analyst) -> int:
    assert study._process is not None
    return study._process.pid


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_answers_are_read_in_four_ways(study: Analyst) -> None:
    query = "SELECT ward, count(*) AS n FROM research.people GROUP BY ward ORDER BY ward"
    rows = [("A", 2), ("B", 2), ("C", 1), (None, 1)]
    assert study.sql(query).fetchall() == rows
    answer = study.sql(query)
    assert answer.columns == ["ward", "n"]
    assert answer.fetchone() == rows[0]
    assert answer.fetchmany(2) == rows[1:3]
    assert answer.fetchall() == rows[3:]
    assert answer.fetchone() is None
    assert answer.arrow().to_pydict() == {"ward": ["A", "B", "C", None], "n": [2, 2, 1, 1]}
    frame = study.sql(query).df()
    assert isinstance(frame, pd.DataFrame)
    assert frame["n"].tolist() == [2, 2, 1, 1]


def test_values_are_those_of_the_file(study: Analyst, file: Path) -> None:
    with duckdb.connect(file, read_only=True) as client:
        plain = client.sql("FROM research.kinds").to_arrow_table()
    answer = study.sql("FROM research.kinds").arrow()
    assert answer.schema.names == plain.schema.names
    assert answer.equals(plain)
    ages = [age for (age,) in study.sql("SELECT age FROM research.people ORDER BY age").fetchall()]
    assert [age and round(age, 3) for age in ages] == [1.667, 2.0, 2.667, 3.867, 4.667, None]
    row = study.sql("SELECT 1.5, DATE '2020-01-02', NULL, [1, 2], 'é☃', 'nan'::DOUBLE").fetchone()
    assert row is not None
    assert row[:5] == (Decimal("1.5"), datetime.date(2020, 1, 2), None, [1, 2], "é☃")
    assert math.isnan(row[5])


def test_an_answer_may_have_no_rows_or_very_many(study: Analyst) -> None:
    assert study.sql("SELECT id FROM research.people WHERE false").arrow().num_rows == 0
    many = study.sql("SELECT i, 'text ' || i AS t FROM range(350000) r(i)").arrow()
    assert many.num_rows == 350_000
    assert many.column("i")[349_999].as_py() == 349_999


def test_an_error_in_the_middle_of_the_rows_is_an_error(study: Analyst) -> None:
    query = (
        "SELECT CAST(CASE WHEN i < 300000 THEN '1' ELSE 'x' END AS INTEGER) FROM range(300001) r(i)"
    )
    with pytest.raises(ppdm_sql.EngineError, match="cannot be converted"):
        study.sql(query)
    assert study.sql("SELECT 1").fetchall() == [(1,)]


def test_tables_and_their_description(study: Analyst) -> None:
    assert study.tables() == [
        "main.codebook",
        "main.release_info",
        "research.kinds",
        "research.people",
    ]
    assert study.sql("SHOW TABLES").fetchall() == [
        ("main", "codebook"),
        ("main", "release_info"),
        ("research", "kinds"),
        ("research", "people"),
    ]
    described = study.sql("DESCRIBE research.people").df()
    assert described["column_name"].tolist() == ["id", "age", "ward"]
    summary = study.sql("SUMMARIZE research.people").df()
    assert summary["count"].tolist() == [6, 6, 6]


def test_an_error_points_into_the_statement(study: Analyst) -> None:
    with pytest.raises(ppdm_sql.EngineError) as caught:
        study.sql("SELECT id,\n       agee\nFROM research.people")
    assert (caught.value.line, caught.value.column) == (2, 8)
    with pytest.raises(ppdm_sql.StatementError, match="not valid Unicode"):
        study.sql("SELECT '\ud800'")


def test_time_is_up(file: Path) -> None:
    with ppdm_sql.open_release(file, timeout_s=3) as study:
        pid = process_of(study)
        start = time.perf_counter()
        with pytest.raises(ppdm_sql.EngineError, match=r"took longer than 3 s and was stopped"):
            study.sql(SLOW)
        assert time.perf_counter() - start < 12
        assert not is_running(pid)
        assert study.sql("SELECT 1").fetchall() == [(1,)]
        assert process_of(study) != pid


def test_a_process_that_died_is_told_and_started_again(study: Analyst) -> None:
    os.kill(process_of(study), 9)
    with pytest.raises(ppdm_sql.EngineError, match="needed more memory"):
        study.sql("SELECT 1")
    assert study.sql("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_ends_the_work(study: Analyst) -> None:
    pid = process_of(study)
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.4, signal.pthread_kill, (main, signal.SIGINT)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        study.sql(SLOW)
    assert time.perf_counter() - start < 12
    assert not is_running(pid)
    assert study.sql("SELECT 1").fetchall() == [(1,)]


def test_closing_leaves_no_process_and_no_folder(file: Path) -> None:
    study = ppdm_sql.open_release(file)
    pid = process_of(study)
    assert study._process is not None
    folder = Path(study._process.folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    study.close()
    study.close()
    assert not is_running(pid)
    assert not folder.exists()


def test_a_session_that_is_forgotten_ends(file: Path) -> None:
    study = ppdm_sql.open_release(file)
    pid = process_of(study)
    del study
    gc.collect()
    assert not is_running(pid)


def test_several_threads_share_a_session(study: Analyst) -> None:
    found: list[Any] = []

    def ask(number: int) -> None:
        for _ in range(5):
            found.append(study.sql(f"SELECT {number}").fetchall() == [(number,)])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


def test_a_large_sort_spills_and_leaves_nothing(file: Path) -> None:
    with ppdm_sql.open_release(file, memory_limit="100MB") as study:
        query = (
            "SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY hash(i)) AS n"
            " FROM range(5000000) r(i))"
        )
        assert study.sql(query).fetchall() == [(5_000_000 * 5_000_001 // 2,)]
        assert study._process is not None
        folder = study._process.folder
    assert not os.path.exists(folder)


def test_what_is_not_a_publication_is_not_opened(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE t AS SELECT 1 AS i")
    (tmp_path / "text.duckdb").write_text("no database")
    (tmp_path / "empty.duckdb").write_bytes(b"")
    for name in ("other", "text", "empty"):
        with pytest.raises(ppdm_sql.StoreError, match="is not a published release"):
            ppdm_sql.open_release(tmp_path / f"{name}.duckdb")
    with pytest.raises(ppdm_sql.StoreError, match="there is no file"):
        ppdm_sql.open_release(tmp_path / "nowhere.duckdb")
    with pytest.raises(ppdm_sql.StoreError, match="is not a file"):
        ppdm_sql.open_release(tmp_path)


@pytest.mark.parametrize(
    "options", [{"timeout_s": 0}, {"threads": 0}, {"memory_limit": "lots"}, {"memory_limit": "1"}]
)
def test_limits_that_are_none_are_refused(file: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ppdm_sql.StatementError):
        ppdm_sql.open_release(file, **options)


def test_a_session_shows_no_data_of_itself(study: Analyst, file: Path) -> None:
    assert repr(study) == f"<ppdm_sql analyst of {str(file)!r}>"


def test_it_starts_without_the_heavy_libraries(study: Analyst) -> None:
    maps = Path(f"/proc/{process_of(study)}/maps").read_text()
    assert "duckdb" in maps
    for library in ("numpy", "pandas", "cryptography"):
        assert f"/{library}/" not in maps


# Bounded answers


def test_a_large_answer_is_refused_before_it_is_whole(file: Path) -> None:
    """The caller's memory is bounded as the other process's is."""
    with ppdm_sql.open_release(file, max_rows=1_000, max_bytes="1MB", timeout_s=30) as study:
        before = resident()
        for query in (
            "SELECT i FROM range(1001) t(i)",
            "SELECT " + ", ".join(f"i + {n}" for n in range(20)) + " FROM range(10000000000) t(i)",
            "SELECT string_agg('xxxxxxxxxxxxxxxxxxxxx') FROM range(100000)",
        ):
            with pytest.raises(
                ppdm_sql.EngineError, match="the answer has more than 1,000 rows"
            ) as e:
                study.sql(query)
            assert e.value.code == "answer_too_large"
        assert resident() - before < 100_000_000
        assert len(study.sql("SELECT i FROM range(1000) t(i)").fetchall()) == 1_000


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_any_answer_is_read_batch_by_batch(file: Path) -> None:
    with ppdm_sql.open_release(file, max_rows=10) as study:
        with study.batches("SELECT i FROM range(1000000) t(i)") as batches:
            assert batches.schema.names == ["i"]
            assert sum(batch.num_rows for batch in batches) == 1_000_000
        table = pa.table(study.batches("SELECT i FROM range(300000) t(i)"))
        assert table.column("i").to_pylist() == list(range(300_000))
        assert pa.table(study.batches("SELECT 1 AS i WHERE false")).num_rows == 0


def test_an_answer_that_is_left_lets_the_next_one_run(study: Analyst) -> None:
    first = process_of(study)
    with study.batches("SELECT i FROM range(100000000) t(i)") as batches:
        next(batches)
    assert list(batches) == []
    assert not is_running(first)
    assert study.sql("SELECT 1").fetchall() == [(1,)]
    forgotten = study.batches("SELECT i FROM range(100000000) t(i)")
    del forgotten
    assert study.sql("SELECT 2").fetchall() == [(2,)]


def test_time_counts_while_a_batch_is_waited_for(file: Path) -> None:
    with ppdm_sql.open_release(file, timeout_s=1.0) as study:
        batches = study.batches("SELECT i FROM range(300000) t(i)")
        next(batches)
        time.sleep(1.2)
        assert sum(batch.num_rows for batch in batches) == 200_000
        with pytest.raises(ppdm_sql.EngineError, match="took longer than 1 s"):
            list(study.batches("SELECT i FROM range(100000) t(i) UNION ALL " + SLOW))


def test_closing_ends_an_answer_that_is_being_read(file: Path) -> None:
    study = ppdm_sql.open_release(file)
    batches = study.batches("SELECT i FROM range(100000000) t(i)")
    next(batches)
    study.close()
    with pytest.raises(ppdm_sql.StatementError, match="this session is closed"):
        for _ in batches:
            pass
    with pytest.raises(ppdm_sql.StatementError, match="this session is closed"):
        study.sql("SELECT 1")


# Files that are more than tables, or keep whoever opens them busy


@pytest.mark.parametrize("what", ["view", "macro", "sequence", "type", "generated column"])
def test_what_runs_when_it_is_read_is_not_opened(file: Path, tmp_path: Path, what: str) -> None:
    statements = {
        "view": "CREATE VIEW v AS SELECT 1",
        "macro": "CREATE MACRO lower(x) AS x",
        "sequence": "CREATE SEQUENCE s",
        "type": "CREATE TYPE e AS ENUM ('a')",
        "generated column": "CREATE TABLE g (a INTEGER, b INTEGER GENERATED ALWAYS AS (a))",
    }
    copy = tmp_path / "study.duckdb"
    copy.write_bytes(file.read_bytes())
    with duckdb.connect(copy) as other:
        other.execute(statements[what])
    with pytest.raises(ppdm_sql.Refused, match=f"contains more than tables: {what}") as caught:
        ppdm_sql.open_release(copy)
    assert caught.value.code == "foreign_objects"


@pytest.mark.parametrize(
    "answer",
    ["list({'a': i % 2 = 0})", "list(i % 2 = 0)", "map(['a'], [list(i % 3 = 0)])"],
)
def test_tightly_packed_values_count_as_much_as_others(file: Path, answer: str) -> None:
    """Before: a bit of Arrow counted as a bit, and became a hundred bytes of Python."""
    query = f"SELECT {answer} AS x FROM range(2000000) t(i)"
    with (
        ppdm_sql.open_release(file, max_bytes="10MB") as study,
        pytest.raises(ppdm_sql.EngineError) as caught,
    ):
        study.sql(query)
    assert caught.value.code == "answer_too_large"


LISTING = ("tables", "views", "functions", "sequences", "types", "indexes", "triggers", "columns")


@pytest.mark.parametrize("schema", ["main", '"system"'])
def test_a_file_cannot_hide_what_it_holds(file: Path, tmp_path: Path, schema: str) -> None:
    """Before: a macro of the name of DuckDB's own listing was asked in its place."""
    copy = tmp_path / "study.duckdb"
    copy.write_bytes(file.read_bytes())
    with duckdb.connect(copy) as other:
        names = [f"duckdb_{name}" for name in LISTING]
        columns = {
            name: [column for column, *_ in other.execute(f"DESCRIBE FROM {name}()").fetchall()]
            for name in names
        }
        other.execute(f"CREATE SCHEMA IF NOT EXISTS study.{schema}")
        for name, listed in columns.items():
            nothing = ", ".join(f'NULL AS "{column}"' for column in listed)
            other.execute(
                f"CREATE MACRO study.{schema}.{name}() AS TABLE SELECT {nothing} WHERE false"
            )
        for name in ("current_catalog", "current_database", "current_schema"):
            other.execute(f"CREATE MACRO study.{schema}.{name}() AS 'other'")
        for name in ("json_serialize_sql", "json_deserialize_sql"):
            other.execute(f"CREATE MACRO study.{schema}.{name}(x) AS x")
    with pytest.raises(ppdm_sql.Refused, match="contains more than tables: macro") as caught:
        ppdm_sql.open_release(copy)
    assert caught.value.code == "foreign_objects"


def test_opening_has_a_time_and_limits_that_are_set_before(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Has the other process look at its own limits, and wait, where it would open the file."""
    said = tmp_path / "limits"
    slow = (
        "import sys, json, time, shutil; sys.path += json.loads(sys.argv[1]);"
        "sys.modules['numpy'] = None; import ppdm_sql.foreign.child as child\n"
        "def open_tables(path, settings):\n"
        f"    shutil.copyfile('/proc/self/limits', {str(said)!r}); time.sleep(60)\n"
        "child.open_tables = open_tables; child.main()"
    )
    monkeypatch.setattr("ppdm_sql.foreign.process._START", slow)
    start = time.perf_counter()
    with pytest.raises(ppdm_sql.EngineError, match=r"opening .* took longer than 1 s") as caught:
        ppdm_sql.open_release(file, timeout_s=1.0)
    assert caught.value.code == "timeout"
    assert time.perf_counter() - start < 10
    rows = {line[:26].strip(): line[26:].split() for line in said.read_text().splitlines()}
    assert int(rows["Max address space"][0]) < 3 * 2**30
    assert int(rows["Max cpu time"][0]) < 10


# The end of the one who asks

ASKER = """
import sys, threading, time, ppdm_sql
def ask():
    global study
    study = ppdm_sql.open_release(sys.argv[1])
    print(study._process.pid, study._process.folder, flush=True)
if sys.argv[2] == "thread":
    thread = threading.Thread(target=ask); thread.start(); thread.join()
    assert study.sql("SELECT 1").fetchall() == [(1,)]
else:
    ask()
print("ready", flush=True)
study.sql("SELECT sum(a.i * b.i) FROM range(9000000) a(i), range(9000000) b(i)")
"""


@pytest.mark.parametrize("started_in", ["main", "thread"])
def test_the_other_process_ends_with_the_one_who_asks(
    file: Path, started_in: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a folder of their own: any other session would clear what is left there.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    asker = subprocess.Popen(
        [sys.executable, "-c", ASKER, str(file), started_in], stdout=subprocess.PIPE, text=True
    )
    assert asker.stdout is not None
    pid, folder = asker.stdout.readline().split()
    assert asker.stdout.readline() == "ready\n"
    time.sleep(0.3)
    assert is_running(int(pid))
    asker.kill()
    asker.wait()
    asker.stdout.close()
    deadline = time.monotonic() + 5
    while is_running(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(int(pid))
    assert Path(folder).exists()  # nobody was left to remove it
    with ppdm_sql.open_release(file):
        assert not Path(folder).exists()  # but the next one does
