"""What an analyst holds: a published file, opened in a process of its own that can be ended.

The file is all there is to read. The process is what bounds time and memory: DuckDB cannot stop
one long step, so a statement that takes too long is ended with the process, and the next one
starts another.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ppdm_sql.analyst.wire import receive, send
from ppdm_sql.errors import (
    EngineError,
    InternalError,
    PpdmError,
    Refused,
    Span,
    StatementError,
    StoreError,
)

if TYPE_CHECKING:
    import os

    from ppdm_sql.engine.table_rows import TableRows

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]i?B)\Z", re.IGNORECASE)
_ERRORS: dict[str, type[PpdmError]] = {
    error.__name__: error for error in (EngineError, Refused, StatementError)
}
_ADDRESS_BYTES = 3 * 2**29
"""What Python, DuckDB and Arrow need beside DuckDB's own limit, which does not count all."""
_SPILL_TIMES = 8
"""How many times its memory a session may spill."""
# Allocators that map a gigabyte in advance would make a limit on memory say nothing.
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# numpy would double the time to start, and nothing there needs it.
_START = (
    "import sys, json; sys.path += json.loads(sys.argv[1]); sys.modules['numpy'] = None;"
    "from ppdm_sql.analyst.worker import main; main()"
)


class Analyst:
    """Runs queries on a published file; close it, or use it in a `with` block."""

    def __init__(self, path: Path, timeout_s: float, memory_limit: str, threads: int) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._memory = _bytes(memory_limit)
        self._threads = threads
        self._one_at_a_time = threading.Lock()
        self._process: _Process | None = None
        self._is_closed = False
        self._tables: list[str] = []

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        timeout_s: float = 60.0,
        memory_limit: str = "1GB",
        threads: int = 2,
    ) -> Self:
        """Open a published file read-only; raise when it is none."""
        file = Path(path).absolute()
        if not file.exists():
            raise StoreError(f"there is no file '{path}'", code="no_such_file")
        if not file.is_file():
            raise StoreError(
                f"'{path}' is not a file",
                hint="a folder of Parquet files is read with any program that reads Parquet",
                code="wrong_kind_of_file",
            )
        if timeout_s <= 0 or threads < 1:
            raise StatementError(
                "a session needs at least some time and one thread", code="bad_limit"
            )
        analyst = cls(file, timeout_s, memory_limit, threads)
        analyst._running()
        return analyst

    def sql(self, query: str) -> TableRows:
        """Run one SELECT, DESCRIBE, SUMMARIZE or SHOW TABLES and return its rows."""
        from ppdm_sql.engine.table_rows import TableRows

        try:
            query.encode()
        except UnicodeEncodeError:
            raise StatementError(
                "the statement is not valid Unicode text", code="not_text"
            ) from None
        with self._one_at_a_time:
            if self._is_closed:
                raise StatementError(
                    "this session is closed", hint="open the file again", code="closed"
                )
            process = self._running()
            timer = threading.Timer(self._timeout_s, process.time_is_up)
            timer.daemon = True
            timer.start()
            try:
                return TableRows(process.ask(query))
            except _Gone:
                self._process = None
                process.end()
                raise _ended(process, self._timeout_s) from None
            except BaseException as error:
                if not isinstance(error, PpdmError):  # Ctrl-C: the work ends with the process
                    self._process = None
                    process.end()
                raise
            finally:
                timer.cancel()

    def tables(self) -> list[str]:
        """Return the names of the tables that can be queried."""
        return list(self._tables)

    def close(self) -> None:
        """End the process, for good."""
        with self._one_at_a_time:
            self._is_closed = True
            if self._process is not None:
                self._process.end()
                self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ppdm_sql analyst of {str(self._path)!r}>"

    def _running(self) -> _Process:
        if self._process is None:
            process = _Process()
            try:
                self._tables = process.open(self._orders(process.folder))
            except BaseException:
                process.end()
                raise
            self._process = process
        return self._process

    def _orders(self, folder: str) -> dict[str, Any]:
        spill = self._memory * _SPILL_TIMES
        return {
            "path": str(self._path),
            "settings": {
                "threads": str(self._threads),
                "memory_limit": f"{self._memory}B",
                "temp_directory": folder,
                "max_temp_directory_size": f"{spill}B",
            },
            "spill_bytes": spill,
            "address_bytes": self._memory + _ADDRESS_BYTES,
            "cpu_seconds": int(self._timeout_s * self._threads) + 1,
        }


class _Gone(Exception):
    """The process ended before it answered."""


class _Process:
    """The other side: a process, the folder it may spill to, and what is said to it."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="ppdm-analyst-")  # with mode 0700
        self.is_late = False
        self._popen = subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
            [sys.executable, "-I", "-S", "-c", _START, json.dumps(_search_path())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # whatever a library prints there may hold data
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the one who asks
        )
        if self._popen.stdin is None or self._popen.stdout is None:
            raise InternalError("a process without its pipes")
        self._in, self._out = self._popen.stdin, self._popen.stdout
        self._end = weakref.finalize(self, _end, self._popen, self.folder)

    def open(self, orders: dict[str, Any]) -> list[str]:
        """Have it open the file; return the names of the tables in it."""
        import pyarrow.ipc  # noqa: F401 - while the other process starts, and before it is needed

        from ppdm_sql.names import QualifiedName

        try:
            self._send(orders)
            answer = self._receive()
        except _Gone:
            answer = {"error": "StoreError"}
        names = [QualifiedName.of(*parts) for parts in answer.get("tables", ())]
        if "error" in answer or QualifiedName.of("main", "release_info") not in names:
            raise StoreError(
                f"'{orders['path']}' is not a published release",
                hint="PUBLISH RELEASE … TO 'study.duckdb' makes one",
                code="not_a_publication",
            )
        return [str(name) for name in names]

    def ask(self, query: str) -> Any:
        """Return the rows of one statement as an Arrow table."""
        import pyarrow as pa

        self._send({"sql": query})
        _raise_told(self._receive(), query)
        try:
            with pa.ipc.open_stream(self._out) as stream:
                table = stream.read_all()
        except (pa.ArrowException, EOFError):
            raise _Gone from None
        _raise_told(self._receive(), query)
        return table

    def time_is_up(self) -> None:
        """End it because it takes too long; may be called from another thread."""
        self.is_late = True
        self._popen.kill()

    def end(self) -> None:
        """End it, and remove what it spilled."""
        self._end()

    def _send(self, message: dict[str, Any]) -> None:
        try:
            send(self._in, message)
        except OSError:
            raise _Gone from None

    def _receive(self) -> dict[str, Any]:
        message = receive(self._out)
        if message is None:
            raise _Gone
        return message


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # it was waiting to be written to a process that is gone
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _raise_told(message: dict[str, Any], query: str) -> None:
    """Raise what the other side says is wrong."""
    if "error" not in message:
        return
    place = message.get("span")
    span = Span(query, *place) if place else None
    kind = _ERRORS.get(message["error"], EngineError)
    raise kind(message["what"], span, message["hint"], code=message.get("code"))


def _ended(process: _Process, timeout_s: float) -> EngineError:
    if process.is_late:
        return EngineError(
            f"the statement took longer than {timeout_s:g} s and was ended",
            hint="ask for less, or open the release with a longer timeout",
            code="timeout",
        )
    return EngineError(
        "the statement needed more than a session has and was ended",
        hint="ask for less, or open the release with a higher memory_limit",
        code="out_of_resources",
    )


def _bytes(size: str) -> int:
    found = _SIZE.match(size.strip())
    if found is None:
        raise StatementError("a memory limit is written like '1GB' or '512MB'", code="bad_limit")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def _search_path() -> list[str]:
    """Return where the other process finds what it imports; it reads nothing of the site."""
    specs = (find_spec(name) for name in ("ppdm_sql", "duckdb", "pyarrow"))
    origins = (spec.origin for spec in specs if spec is not None and spec.origin is not None)
    return list(dict.fromkeys(str(Path(origin).parents[1]) for origin in origins))
