"""A file of somebody else's, held open by a process of its own that can be ended at any moment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import weakref
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_sql.errors import EngineError, InternalError, Refused, StatementError, StoreError
from ppdm_sql.foreign.channel import Channel, Gone, Late, Patience
from ppdm_sql.names import QualifiedName
from ppdm_sql.scratch import Scratch, make_scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]i?B)\Z", re.IGNORECASE)
_ADDRESS_BYTES = 3 * 2**29
"""What Python, DuckDB and Arrow need beside DuckDB's own limit, which does not count all."""
_SPILL_TIMES = 8
"""How many times its memory a process may spill."""
# Allocators that map a gigabyte in advance would make a limit on memory say nothing.
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# numpy would double the time to start, and nothing there needs it.
_START = (
    "import sys, json; sys.path += json.loads(sys.argv[1]); sys.modules['numpy'] = None;"
    "from ppdm_sql.foreign.child import main; main()"
)
_FOLDER = "ppdm-analyst-"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use."""

    timeout_s: float = 60.0
    """For opening the file, and for each request."""
    memory_bytes: int = 10**9
    threads: int = 2
    frame_bytes: int = 10**9
    """The largest batch of rows that is taken from it."""

    def __post_init__(self) -> None:
        if self.timeout_s <= 0 or self.threads < 1:
            raise StatementError("timeout and threads must be above 0", code="bad_limit")


def bytes_of(size: str, what: str = "a memory limit") -> int:
    """Return a size such as `512MB` as a number."""
    found = _SIZE.match(size.strip())
    if found is None:
        raise StatementError(f"{what} is written like '1GB' or '512MB'", code="bad_limit")
    return int(float(found[1]) * _UNITS[found[2].upper()])


class ForeignProcess:
    """The other side: a process, the folder it may spill to, and what is said to it."""

    def __init__(self, path: Path, worker: str, limits: Limits, called: Path | None = None) -> None:
        self._limits = limits
        scratch = make_scratch(_FOLDER)
        try:
            popen = subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
                [sys.executable, "-I", "-S", "-c", _START, json.dumps(_search_path())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # whatever a library prints there may hold data
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the one who asks
            )
        except BaseException:
            scratch.remove()
            raise
        if popen.stdin is None or popen.stdout is None:
            raise InternalError("a process without its pipes")
        self.folder = str(scratch.path)
        self.pid = popen.pid
        self._end = weakref.finalize(self, _end, popen, scratch, os.getpid())
        self._channel = Channel(popen.stdin.fileno(), popen.stdout.fileno())
        try:
            self.tables = self._open(path, worker, called or path)
        except BaseException:
            self.end()
            raise

    def ask(self, request: dict[str, Any], patience: Patience) -> dict[str, Any]:
        """Return what it answers to one request; rows may follow."""
        self._channel.send(request, patience)
        return self._channel.receive(patience)

    def rows(
        self, patience: Patience, check: Callable[[dict[str, Any]], None]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Return the rows that follow an answer; `check` is given the message after the last."""
        import pyarrow as pa

        def stream() -> pa.RecordBatchStreamReader | None:
            data = self._channel.frame(patience, self._limits.frame_bytes)
            return pa.ipc.open_stream(pa.py_buffer(data)) if data else None

        def batches() -> Iterator[pa.RecordBatch]:
            while True:
                try:
                    found = stream()
                    batch = found.read_next_batch() if found else None
                    if batch is not None:
                        batch.validate()
                except (pa.ArrowException, StopIteration):
                    raise Gone from None
                if batch is None:
                    check(self._channel.receive(patience))
                    return
                yield batch

        try:
            first = stream()
        except pa.ArrowException:
            raise Gone from None
        if first is None:
            raise Gone
        schema = first.schema
        return schema, batches()

    def patience(self) -> Patience:
        """Return the time that one request may take."""
        return Patience(self._limits.timeout_s)

    def end(self) -> None:
        """End it, and remove what it spilled."""
        self._end()

    def _open(self, path: Path, worker: str, called: Path) -> frozenset[QualifiedName]:
        import pyarrow.ipc  # noqa: F401 - while the other process starts, and before it is needed

        try:
            answer = self.ask(self._orders(path, worker), self.patience())
        except Late:
            raise EngineError(
                f"opening '{called}' took longer than {self._limits.timeout_s:g} s and was stopped",
                code="timeout",
            ) from None
        except Gone:
            answer = {"error": "not a database"}
        if "others" in answer:
            raise Refused(
                f"'{called}' contains more than tables: {', '.join(map(str, answer['others']))}",
                hint="PUBLISH RELEASE writes tables alone; a view of somebody else's would run when it is read",
                code="foreign_objects",
            )
        if "error" in answer:
            raise StoreError(
                f"'{called}' cannot be opened as a DuckDB database", code="not_a_database"
            )
        return frozenset(QualifiedName.of(*parts) for parts in answer["tables"])

    def _orders(self, path: Path, worker: str) -> dict[str, Any]:
        limits = self._limits
        spill = limits.memory_bytes * _SPILL_TIMES
        return {
            "path": str(path),
            "worker": worker,
            "parent": os.getpid(),
            # The signal comes when the *thread* ends that started the process.
            "by_signal": threading.current_thread() is threading.main_thread(),
            "settings": {
                "threads": str(limits.threads),
                "memory_limit": f"{limits.memory_bytes}B",
                "temp_directory": self.folder,
                "max_temp_directory_size": f"{spill}B",
            },
            "spill_bytes": spill,
            "address_bytes": limits.memory_bytes + _ADDRESS_BYTES,
            "cpu_seconds": int(limits.timeout_s * limits.threads) + 1,
        }


def _end(process: subprocess.Popen[bytes], scratch: Scratch, owner: int) -> None:
    if os.getpid() != owner:
        return  # a fork: the process and its folder are still the parent's
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
    scratch.remove()


def _search_path() -> list[str]:
    """Return where the other process finds what it imports; it reads nothing of the site."""
    specs = (find_spec(name) for name in ("ppdm_sql", "duckdb", "pyarrow"))
    origins = (spec.origin for spec in specs if spec is not None and spec.origin is not None)
    return list(dict.fromkeys(str(Path(origin).parents[1]) for origin in origins))
