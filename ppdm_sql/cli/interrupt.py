"""Ctrl-C while DuckDB computes.

Python runs its signal handlers between two of its own steps, and a statement is one long step in
DuckDB. So the signal is also written to a pipe, as the system's handler does at once, and a
thread that reads the pipe asks DuckDB to stop.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

_END = b"\0"


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
    while (found := os.read(reading, 1)) != _END:
        if found == bytes([signal.SIGINT]):
            owner.interrupt()
