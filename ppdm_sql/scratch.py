"""Folders for work in progress: locked by whoever works there, cleared by the next one otherwise.

A process that is killed leaves its folder behind, perhaps with raw rows in it. Nobody locks such a
folder any more, so whoever makes the next one beside it takes it away first.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

_DRAWN = 8
"""Letters that the system draws for a name."""
_SUFFIX = ".ppdm-scratch"
"""A name that nobody gives a folder of their own: it is removed with all that is in it."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder with mode 0700 that belongs to this process until it is removed."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Take the folder away with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def make_scratch(prefix: str, parent: Path | None = None) -> Scratch:
    """Make a locked folder in `parent`, or where the system has temporary files.

    Folders of the same prefix that dead processes left there are removed.
    """
    parent = parent or Path(tempfile.gettempdir())
    for left in parent.glob(f"{prefix}{'?' * _DRAWN}{_SUFFIX}"):
        lock = _lock(left)
        if lock is not None:
            Scratch(left, lock).remove()
    while True:
        path = Path(tempfile.mkdtemp(_SUFFIX, prefix, parent))  # with mode 0700
        lock = _lock(path)
        # Somebody else may have taken it for one that was left, before it was locked.
        if lock is not None and os.fstat(lock).st_nlink > 0:
            return Scratch(path, lock)
        if lock is not None:
            os.close(lock)


def _lock(path: Path) -> int | None:
    """Lock a folder of this user's for as long as this process lives; None if another one has it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone meanwhile, another user's, or no folder at all
        return None
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise PermissionError
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
