"""Publishing against a plain copy; a published file against a plain table; sessions at once."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

import ppdm_sql
from bench.measure import Figure, best
from bench.spine import _RELEASE, _SOURCE, open_owner
from ppdm_sql.owner import Owner

_QUERY = """
SELECT diagnosis, count(*), avg(income), max(stay) FROM {} WHERE age > 2 AND bmi < 50
GROUP BY diagnosis ORDER BY ALL
"""
_SESSIONS, _QUERIES = 16, 100
_LARGER = 2
_READY = (
    "import time; import ppdm_sql; start = time.perf_counter();"
    "study = ppdm_sql.open_release({!r}); print(time.perf_counter() - start); study.close()"
)


def run(rows: int) -> Iterator[Figure]:
    """Measure at `rows`, and larger than memory at twice as many."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench") as folder,
        open_owner() as owner,
    ):
        file = Path(folder) / "study.duckdb"
        owner.execute(_SOURCE, {"rows": rows})
        owner.execute(_RELEASE)
        owner.execute("CHECKPOINT")
        yield from _publish(owner, file, rows)
        yield from _query(file, Path(folder) / "plain.duckdb")
        yield from _sessions(file)
    yield from _larger_than_memory(_LARGER * rows)


def _publish(owner: Owner, file: Path, rows: int) -> Iterator[Figure]:
    copy = best(lambda: _copy(owner, file.with_name("copy.duckdb"), "main.people"))
    published = best(lambda: owner.publish("research.people", to=file))
    yield Figure(f"plain copy of 8 columns to a new file, {rows / 1e6:g} M rows", copy, "s")
    yield Figure("PUBLISH RELEASE", published, "s")
    yield Figure("PUBLISH RELEASE / plain copy to a new file", published / copy, "×", 3.0)


def _copy(owner: Owner, path: Path, table: str) -> None:
    path.unlink(missing_ok=True)
    owner.execute(f"ATTACH '{path}' AS copied (STORAGE_VERSION 'v1.2.0')")
    owner.execute(f"CREATE TABLE copied.main.people AS FROM {table}")
    owner.execute("DETACH copied")


def _query(file: Path, plain: Path) -> Iterator[Figure]:
    """Compare the same rows: as published, and as a plain table of a DuckDB file."""
    with duckdb.connect(str(plain)) as connection:
        connection.execute(f"ATTACH '{file}' AS study (READ_ONLY)")
        connection.execute("CREATE TABLE main.people AS FROM study.research.people ORDER BY id")
    with (
        duckdb.connect(str(plain), read_only=True) as table,
        duckdb.connect(str(file), read_only=True) as published,
    ):
        usual = best(lambda: table.execute(_QUERY.format("main.people")).fetchall(), 5)
        ours = best(lambda: published.execute(_QUERY.format("research.people")).fetchall(), 5)
    yield Figure("filter + group-by on a plain table", usual, "s")
    yield Figure("the same on a published file / plain table", ours / usual, "×", 1.1)


def _sessions(file: Path) -> Iterator[Figure]:
    code = _READY.format(str(file))
    ready = min(
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
        for _ in range(7)
    )
    yield Figure("open_release until it is ready, first of a program", ready, "s", 0.3)
    small = "SELECT count(*) FROM release_info"
    with (
        ppdm_sql.open_release(file) as study,
        duckdb.connect(str(file), read_only=True) as plain,
    ):
        asked = best(lambda: study.sql(small).fetchall(), 50)
        direct = best(lambda: plain.execute(small).fetchall(), 50)
        wide = best(lambda: study.sql(_QUERY.format("research.people")).fetchall(), 3)
        usual = best(lambda: plain.execute(_QUERY.format("research.people")).fetchall(), 3)
    yield Figure("a session adds to a small query", (asked - direct) * 1000, "ms", 20.0)
    yield Figure("filter + group-by in a session / plain client", wide / usual, "×")
    with ThreadPoolExecutor(_SESSIONS) as pool:
        start = time.perf_counter()
        seconds = list(pool.map(lambda _: _one_session(file), range(_SESSIONS)))
        whole = time.perf_counter() - start
    spread = max(seconds) / statistics.median(seconds)
    asked_in_all = _SESSIONS * _QUERIES
    yield Figure(f"{_SESSIONS} sessions at once, {_QUERIES} queries each", whole, "s")
    yield Figure("their queries a second", asked_in_all / whole, "/s")
    yield Figure("slowest session / median", spread, "×", 5.0)


def _one_session(file: Path) -> float:
    with ppdm_sql.open_release(file, threads=1, memory_limit="200MB") as study:
        start = time.perf_counter()
        for turn in range(_QUERIES):
            study.sql(
                f"SELECT count(*) FROM research.people WHERE stay = {turn % 30} LIMIT 1"
            ).fetchall()
        return time.perf_counter() - start


def _larger_than_memory(rows: int) -> Iterator[Figure]:
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench") as folder,
        open_owner() as owner,
    ):
        owner.execute(_SOURCE, {"rows": rows})
        owner.execute("CHECKPOINT; SET memory_limit = '1GB'")
        owner.execute(_RELEASE)
        file = Path(folder) / "study.duckdb"
        start = time.perf_counter()
        owner.publish("research.people", to=file)
        seconds = time.perf_counter() - start
        yield Figure(f"PUBLISH RELEASE, {rows / 1e6:g} M rows, memory limit 1 GB", seconds, "s")
        yield Figure("size of that file", os.path.getsize(file) / 2**20, "MB")
