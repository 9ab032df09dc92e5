"""A connection that several threads use: it says so, and nobody reads the rows of another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import PpdmError

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

ASK = "SELECT count(*) FROM t WHERE i % 10 < ?"
MISUSED = ("other_thread", "result_ended")


def test_no_thread_reads_the_rows_of_another(owner: Owner) -> None:
    """Red before: one of sixty answers was another thread's, four were None."""
    owner.execute("CREATE TABLE t AS SELECT i FROM range(100000) s(i)")

    def ask(at: int) -> tuple[object, object]:
        try:
            return at, owner.execute(ASK, [at % 10]).fetchone()
        except PpdmError as error:
            return at, error.code

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(200)))
    wrong = [(at, one) for at, one in found if one not in (*MISUSED, (at % 10 * 10_000,))]  # type: ignore[operator]
    assert wrong == []


def test_a_cursor_for_each_thread_answers_each(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i FROM range(100000) s(i)")

    def ask(at: int) -> object:
        return owner.cursor().execute(ASK, [at % 10]).fetchone()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == [(at % 10 * 10_000,) for at in range(40)]


def test_one_after_another_threads_may_share(owner: Owner) -> None:
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(owner.execute, "SELECT 1").result().fetchall() for _ in range(8)]
    assert asked == [[(1,)]] * 8


def test_an_older_result_is_not_read_as_the_newer_one(owner: Owner) -> None:
    first = owner.execute("SELECT 1 AS a")
    second = owner.execute("SELECT 2 AS b")
    assert first.columns == ["a"]
    with pytest.raises(PpdmError, match="another statement has ended this result") as caught:
        first.fetchall()
    assert caught.value.code == "result_ended"
    assert second.fetchall() == [(2,)]
