"""Processes that open a store, look whether it is whole, run one statement and are killed.

Run as `python -m tests.end_to_end.victims`. It imports everything once and never opens a
database, so that a victim is a fork that takes milliseconds. Each line of standard input is an
order in JSON:

    database, prepare, statement    what to open, and what to run before the clock starts, and after
    delay                           seconds until it is killed; null: let it finish

Each line of standard output tells what the victim found when it opened the store, whether it was
killed and how long the statement took.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401 - pyarrow imports it when it first makes an array
import pyarrow.pandas_compat  # noqa: F401 - likewise

import ppdm_sql
import ppdm_sql.owner
import ppdm_sql.treatments
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.unparse import unparse
from ppdm_sql.store import catalog
from tests.end_to_end.state import tables_of_versions

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner


def main() -> None:
    # Files that a killed victim leaves are then the owner's alone; test_folder.py has the rest.
    os.umask(0o077)
    for statement in parse_script("CREATE RELEASE a.b FROM (SELECT 1 AS c) (c NEUTRAL)"):
        unparse(statement)
    for line in sys.stdin:
        print(json.dumps(_order(**json.loads(line))), flush=True)


def look(owner: Owner) -> dict[str, Any]:
    """Hold the store against the catalog; return the versions, and the latest aliases."""
    run = owner.connection.execute
    entries = catalog.list_entries(owner._engine)
    views = run(
        "SELECT schema_name, view_name FROM duckdb_views()"
        " WHERE NOT internal AND database_name = 'ppdm_store'"
    ).fetchall()
    listed = [tuple(part.text for part in entry.name.parts) for entry in entries]
    assert sorted(views) == sorted(listed), "a view without a release, or a release without one"
    recorded = run("SELECT release_id, version, unnest(tables) FROM ppdm_owner.versions").fetchall()
    tables = {table for _, _, table in recorded}
    assert tables == tables_of_versions(owner.connection), "orphan or missing tables"
    described = run(
        "SELECT release_id, version, count(*) FROM ppdm_owner.columns GROUP BY ALL"
    ).fetchall()
    assert {(i, v, 2) for i, v, _ in recorded} == set(described), "columns without a version"
    for entry in entries[-3:]:  # all of them would be slow when there are fifty
        rows = run(
            f"SELECT count(*) - (SELECT count(*) FROM clinic.people), count(illness) > 0,"
            f" count(id) = count(*) FROM {entry.name}"
        ).fetchall()
        assert rows == [(0, True, True)], "a release that does not answer"
    versions = {str(entry.name): entry.version for entry in entries}
    latest = {f"r1_v{versions[name] - i}_t1_0_aliases" for name in versions for i in range(3)}
    return {
        "versions": versions,
        "aliases": {
            table: dict(run(f"FROM ppdm_owner.{table}").fetchall()) for table in tables & latest
        },
    }


def _order(database: str, prepare: str, statement: str, delay: float | None) -> dict[str, Any]:
    reading, writing = os.pipe()
    victim = os.fork()
    if victim == 0:
        os.close(reading)
        _victim(database, prepare, statement, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer: dict[str, Any] = json.loads(pipe.readline())
        pipe.readline()
        start = time.perf_counter()
        if delay is not None:
            time.sleep(delay)
            os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        answer["took"] = time.perf_counter() - start
        answer["was_killed"] = os.WIFSIGNALED(status)
        answer["error"] = answer.get("error") or pipe.read()
    return answer


def _victim(database: str, prepare: str, statement: str, pipe: int) -> None:
    try:
        owner = ppdm_sql.connect(database)
        os.write(pipe, json.dumps({"found": look(owner)}).encode() + b"\n")
        owner.execute(prepare)
        os.write(pipe, b"ready\n")
        owner.execute(statement)
    except BaseException:  # noqa: BLE001 - whatever it is, the test shows it
        os.write(pipe, json.dumps({"error": traceback.format_exc()}).encode() + b"\n")
    finally:
        # Without closing: what was committed must be there all the same.
        os._exit(0)


if __name__ == "__main__":
    main()
