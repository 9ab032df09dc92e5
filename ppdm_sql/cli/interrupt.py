"""Ctrl-C while DuckDB computes.

Python runs its signal handlers between two of its own steps, and a statement is one long step in
DuckDB. So the signal is also written to a pipe, as the system's handler does at once, and a
thread that reads the pipe asks DuckDB to stop.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

_END = b"\0"
_AGAIN_S = 0.1


@contextmanager
def interruptible(owner: Owner) -> Iterator[None]:
    """Let Ctrl-C stop what the owner runs in the block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    thread = threading.Thread(target=_watch, args=(owner, reading), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        os.write(writing, _END)
        thread.join()
        os.close(reading)
        os.close(writing)


def _watch(owner: Owner, reading: int) -> None:
    is_stopping = False
    while True:
        # Again and again: between two statements there is nothing to stop yet.
        ready, _, _ = select.select([reading], [], [], _AGAIN_S if is_stopping else None)
        if ready:
            number = os.read(reading, 1)
            if number == _END:
                return
            is_stopping = is_stopping or number == bytes([signal.SIGINT])
        if is_stopping:
            owner.interrupt()
