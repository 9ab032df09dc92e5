"""The other side of a session, in this process: what it writes for a statement."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.analyst.worker import Worker
from ppdm_sql.foreign.child import open_tables
from ppdm_sql.foreign.wire import LENGTH_BYTES, receive, send, send_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute("CREATE TABLE t AS SELECT range AS i, 'Jane' AS name FROM range(3)")
        owner.execute("CREATE RELEASE r.t FROM t (i NEUTRAL, name NEUTRAL)")
        owner.publish("r.t", to=tmp_path / "study.duckdb")
    connection, contents = open_tables(str(tmp_path / "study.duckdb"), {"threads": "1"})
    yield Worker(connection, contents)
    connection.close()


def asked(worker: Worker, text: str) -> tuple[dict[str, Any] | None, pa.Table | None, Any]:
    out = io.BytesIO()
    worker.answer({"sql": text}, out)
    out.seek(0)
    first = receive(out)
    if first:
        assert out.read() == b""
        return first, None, None
    frames = []
    while length := int.from_bytes(out.read(LENGTH_BYTES)):
        frames.append(pa.py_buffer(out.read(length)))
    rows = pa.concat_tables(pa.ipc.open_stream(frame).read_all() for frame in frames)
    return first, rows, receive(out)


def test_rows_are_a_message_frames_and_a_message(worker: Worker) -> None:
    first, rows, last = asked(worker, "SELECT i FROM r.t ORDER BY i")
    assert first == last == {}
    assert rows is not None
    assert rows.to_pydict() == {"i": [0, 1, 2]}


def test_a_refusal_is_one_message(worker: Worker) -> None:
    told, _, _ = asked(worker, "SELECT getenv('HOME')")
    assert told == {
        "error": "Refused",
        "code": "not_admitted",
        "what": "the function 'getenv' may not be used here",
        "hint": None,
        "span": [7, 21],
    }


def test_an_error_of_duckdb_is_one_message_without_data(worker: Worker) -> None:
    told, _, _ = asked(worker, "SELECT j FROM r.t")
    assert told is not None
    assert (told["error"], told["what"]) == ("EngineError", "there is no column 'j' here")


def test_a_mistake_of_ours_is_told_in_fixed_words(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*_: object) -> str:
        raise KeyError("Jane")

    monkeypatch.setattr("ppdm_sql.analyst.worker.admit", mistaken)
    told, _, _ = asked(worker, "SELECT 1")
    assert told is not None
    assert (told["error"], told["what"]) == ("EngineError", "DuckDB could not run this statement")


def test_an_error_while_rows_are_read_is_the_last_message(worker: Worker) -> None:
    query = "SELECT CAST(CASE WHEN i < 250000 THEN '1' ELSE 'Jane' END AS INTEGER) FROM range(250001) r(i)"
    first, _, last = asked(worker, query)
    assert first == {}
    assert last["what"] == "a value cannot be converted to the requested type"
    assert "Jane" not in str(last)


def test_messages_survive_the_way_and_nothing_else_does() -> None:
    pipe = io.BytesIO()
    send(pipe, {"sql": "é☃\n"})
    pipe.seek(0)
    assert receive(pipe) == {"sql": "é☃\n"}
    assert receive(pipe) is None
    for broken in (b"ab", b"[]", b"{", b"[" * 100_000):
        pipe = io.BytesIO()
        send_frame(pipe, broken)
        pipe.seek(0)
        assert receive(pipe) is None
    for broken in (b"", b"\0\0", b"\0" * 7 + b"\5ab", b"\xff" * 8 + b"{}"):
        assert receive(io.BytesIO(broken)) is None
