"""Several threads of one process: each has a cursor of its own."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql import EngineError, Refused
from ppdm_sql.delivery import destinations

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

THREADS = 8
MADE = "CREATE RELEASE r.a{n} FROM clinic.people (id KEY AS pseudonym(), weight NEUTRAL AS noise(normal(0, 9)))"


@pytest.mark.filterwarnings("ignore:.*shares pseudonyms")
def test_eight_threads_create_read_refresh_publish_and_drop(people: Owner, tmp_path: Path) -> None:
    def work(number: int) -> list[tuple[int, ...]]:
        with people.cursor() as mine:
            mine.execute(MADE.format(n=number))
            counted = mine.execute(f"SELECT count(*) FROM r.a{number}").fetchall()
            mine.execute(f"REFRESH RELEASE r.a{number}")
            mine.publish(f"r.a{number}", to=tmp_path / f"{number}.duckdb")
            assert mine.execute(f"FROM r.a{number}").arrow().num_rows == 6
            if number % 2:
                mine.execute(f"DROP RELEASE r.a{number}")
            return counted

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == [[(6,)]] * THREADS
    assert [info.release for info in people.releases()] == ["r.a0", "r.a2", "r.a4", "r.a6"]
    assert len(people.publications()) == THREADS
    for number in range(THREADS):
        with ppdm_sql.open_release(tmp_path / f"{number}.duckdb") as study:
            assert study.sql(f"SELECT count(*) FROM r.a{number}").fetchall() == [(6,)]


def test_asyncio(people: Owner) -> None:
    def count() -> object:
        with people.cursor() as mine:
            return mine.execute("SELECT count(*) FROM clinic.people").fetchone()

    async def all_of_them() -> list[object]:
        return await asyncio.gather(*(asyncio.to_thread(count) for _ in range(THREADS)))

    assert asyncio.run(all_of_them()) == [(6,)] * THREADS


def test_a_cursor_is_where_the_owner_was_when_she_connected(people: Owner) -> None:
    people.execute("CREATE SCHEMA x; USE x; BEGIN; CREATE TABLE t AS SELECT 1")
    with people.cursor() as mine, pytest.raises(EngineError, match="does not exist"):
        mine.execute("FROM x.t")
    people.execute("COMMIT")
    of_a_cursor = people.cursor().cursor()
    assert of_a_cursor.execute("SELECT current_schema()").fetchall() == [("main",)]
    # A name that is a Python variable here is no table.
    with pytest.raises(EngineError, match="mine"):
        of_a_cursor.execute("FROM mine")


def test_functions_outlive_the_cursor_that_used_them_first(people: Owner, tmp_path: Path) -> None:
    with people.cursor() as first:
        first.execute(MADE.format(n=1))
        first.publish("r.a1", to=tmp_path / "1.duckdb")
    gc.collect()
    people.publish("r.a1", to=tmp_path / "2.duckdb")


def test_cursors_end_with_the_connection_they_come_from(safe: Path) -> None:
    owner = ppdm_sql.connect(safe)
    mine = owner.cursor()
    owner.close()
    with pytest.raises(EngineError, match="this connection is closed"):
        mine.execute("SELECT 1")
    ppdm_sql.connect(safe).close()


def test_a_cursor_keeps_the_lock(safe: Path) -> None:
    mine = ppdm_sql.connect(safe).cursor()
    gc.collect()
    with pytest.raises(ppdm_sql.StoreError, match="already open in this process"):
        ppdm_sql.connect(safe)
    assert mine.execute("SELECT 1").fetchall() == [(1,)]


def test_a_file_that_another_cursor_holds_is_not_published(
    people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.execute(MADE.format(n=1))
    monkeypatch.setattr(destinations, "_PATIENCE_S", 0.1)
    with people.cursor() as other:
        released = destinations.DatabaseFile.write

        def write(self: destinations.DatabaseFile, *arguments: object) -> object:
            made = released(self, *arguments)  # type: ignore[arg-type]
            other.execute("BEGIN; SELECT count(*) FROM duckdb_tables()").fetchall()
            return made

        monkeypatch.setattr(destinations.DatabaseFile, "write", write)
        with pytest.raises(Refused, match="another cursor holds") as caught:
            people.publish("r.a1", to=tmp_path / "1.duckdb")
    assert caught.value.code == "open_here"
    assert not (tmp_path / "1.duckdb").exists()
    monkeypatch.undo()
    people.publish("r.a1", to=tmp_path / "1.duckdb")
