"""The lock of a store: one process at a time opens the owner's database."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def lock(database: Path) -> int | None:
    """Take the lock of a store; return its handle, or None if somebody has it.

    DuckDB locks the database file itself, and POSIX lets go of that lock as soon as this process
    closes any handle of the file: a copy, a look at its first bytes. So there is a second lock, on
    a file of its own, and nobody but DuckDB opens the database. Where the file system knows no
    such locks, DuckDB's is the only one.
    """
    handle = os.open(lock_of(database), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(handle)
            return None
    return handle


def unlock(handle: int) -> None:
    """Give a lock back, also where a forked process still holds the handle."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def lock_of(database: Path) -> Path:
    """Return the name of a store's lock: it stays there, empty."""
    return database.with_name(f".{database.name}.lock")
