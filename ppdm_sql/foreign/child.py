"""The process in which a file of somebody else's is opened: limited first, then opened, then asked.

It imports as little as it can, because somebody waits for it to start; so it talks to DuckDB
itself instead of through `engine/duckdb.py`. It holds nothing but the file. What it answers is up
to a worker: a module with `answering(connection, contents)`.

An answer with rows is a message, frames of Arrow, an empty frame and a second message, because an
error can still come while rows are read.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import resource
import select
import signal
import sys
import threading
from typing import IO, TYPE_CHECKING, Any, Protocol

from ppdm_sql.foreign.wire import receive, send, send_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import duckdb
    import pyarrow as pa

    from ppdm_sql.foreign.contents import Contents

_PR_SET_PDEATHSIG = 1
_OPEN_FILES = 64
_DEEP = 10_000
LOCKED = {
    "access_mode": "READ_ONLY",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}


class Answer(Protocol):
    """Writes the answer to one request."""

    def __call__(self, request: dict[str, Any], out: IO[bytes]) -> None:
        """Answer it."""
        ...


def main() -> None:
    """Take orders from standard input until it ends."""
    source, out = sys.stdin.buffer, _private_output()
    orders = receive(source)
    if orders is None:
        return
    _die_with(orders["parent"], orders["by_signal"])
    _limit(orders)
    limit_cpu(orders["cpu_seconds"])
    sys.setrecursionlimit(_DEEP)  # for JSON of statements that nest
    answer = _opened(orders, out)
    if answer is None:
        return
    while (request := receive(source)) is not None:
        limit_cpu(orders["cpu_seconds"])
        answer(request, out)


def _opened(orders: dict[str, Any], out: IO[bytes]) -> Answer | None:
    """Open the file and say what is in it; None if it is none that is read."""
    import duckdb

    try:
        connection, contents = open_tables(orders["path"], orders["settings"])
    except duckdb.Error:
        send(out, {"error": "not a database"})
        return None
    if contents.others:
        send(out, {"error": "foreign objects", "others": contents.others})
        return None
    answering: Callable[..., Answer] = importlib.import_module(orders["worker"]).answering
    answer = answering(connection, contents)
    connection.execute("SET lock_configuration = true")
    send(out, {"tables": [[part.text for part in name.parts] for name in contents.tables]})
    return answer


def open_tables(
    path: str, settings: Mapping[str, str]
) -> tuple[duckdb.DuckDBPyConnection, Contents]:
    """Open a file read-only, with external access off; return what it lists."""
    import duckdb

    from ppdm_sql.foreign.contents import OBJECTS, contents_of

    connection = duckdb.connect(path, read_only=True, config={**LOCKED, **settings})
    connection.execute("SET enable_progress_bar = false")
    ((database,),) = connection.execute("SELECT system.main.current_database()").fetchall()
    return connection, contents_of(connection.execute(OBJECTS, [database]).fetchall())


def send_rows(
    out: IO[bytes],
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    described: Callable[[Exception], dict[str, Any]],
) -> None:
    """Write rows batch by batch, and how reading them ended."""
    send(out, {})
    send_frame(out, _stream(schema))
    ended: dict[str, Any] = {}
    try:
        for batch in batches:
            if batch.num_rows:
                send_frame(out, _stream(schema, batch))
    except Exception as error:  # noqa: BLE001 - Arrow gives DuckDB's errors as its own
        ended = described(error)
    send_frame(out)
    send(out, ended)


def _stream(schema: pa.Schema, *batches: pa.RecordBatch) -> memoryview:
    """Return a whole stream of Arrow: a batch alone would lack its dictionaries."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return memoryview(sink.getvalue())


def _die_with(parent: int, by_signal: bool) -> None:
    """End when the one who asks does: whatever is being computed is for nobody then."""
    threading.Thread(target=_watch, args=(sys.stdin.fileno(),), daemon=True).start()
    if by_signal:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the signal was asked for
            os._exit(1)


def _watch(handle: int) -> None:
    """End the process when nobody can write to its standard input any more."""
    poll = select.poll()
    poll.register(handle, 0)  # only what is always told: that the other end is closed
    poll.poll()
    os._exit(1)


def _limit(orders: Mapping[str, Any]) -> None:
    """Have the system end what DuckDB does not count or cannot stop."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (orders["spill_bytes"], orders["spill_bytes"]))
    resource.setrlimit(resource.RLIMIT_AS, (orders["address_bytes"], orders["address_bytes"]))


def limit_cpu(seconds: int) -> None:
    """Allow one request its seconds, counted from what the process has used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


def _private_output() -> IO[bytes]:
    """Return standard output for answers alone; what libraries print goes nowhere."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return out
