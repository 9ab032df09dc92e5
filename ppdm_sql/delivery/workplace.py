"""The last step of publishing: a new file or folder takes the place of the old one at once.

What is published is written in a folder of its own beside its place, closed to others, and
renamed when it is complete and checked. Such a folder is locked by the process that writes in it:
one that nobody locks is what a dead process left, and the next publication clears it away.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKPLACE_PREFIX = ".ppdm-publish-"
_READABLE = 0o444
_ENTERABLE = 0o755
_AT_FDCWD, _NOREPLACE, _EXCHANGE = -100, 1, 2


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """Give a new locked folder inside `folder`; take it away at the end, with all that is left."""
    try:
        _clear_debris(folder)
        path, lock = _locked_folder(folder)
    except OSError as error:
        raise StoreError(
            f"nothing can be written to '{folder}': {error.strerror}", code="not_written"
        ) from None
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def put_file(new: Path, target: Path) -> None:
    """Put a complete file in its place: a reader finds the old one or the new one."""
    with _told(target):
        new.chmod(_READABLE)
        _sync(new)
        _put(new, target)
        _sync(target.parent)


def put_folder(new: Path, target: Path) -> None:
    """Put a complete folder in its place: a reader finds the old one or the new one."""
    with _told(target):
        for path in sorted(new.iterdir()):
            path.chmod(_READABLE)
            _sync(path)
        new.chmod(_ENTERABLE)
        _sync(new)
        _put(new, target)
        _sync(target.parent)


def _put(new: Path, target: Path) -> None:
    """Give a new file or folder its name: in place of an old one, or where there is none.

    Something that appeared there since it was looked at is not replaced.
    """
    if not target.exists():
        _rename(new, target, _NOREPLACE)
    elif target.is_dir():
        _rename(new, target, _EXCHANGE)  # the old one is now in the workplace, and goes with it
    else:
        new.replace(target)


def _rename(new: Path, target: Path, how: int) -> None:
    """Rename as only this call can: swap two folders at once, or never replace anything."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, "this system cannot swap two folders at once")
    done = rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), ctypes.c_uint(how))
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"'{target}' cannot be put in its place: {error.strerror}",
            hint="what was there is still there; publish under another name",
            code="not_written",
        ) from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked_folder(folder: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=WORKPLACE_PREFIX, dir=folder))  # with mode 0700
        lock = _lock(path)
        # Somebody else may have taken it for debris before it was locked.
        if lock is not None and os.fstat(lock).st_nlink > 0:
            return path, lock
        if lock is not None:
            os.close(lock)


def _clear_debris(folder: Path) -> None:
    for path in folder.glob(f"{WORKPLACE_PREFIX}*"):
        lock = _lock(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _lock(path: Path) -> int | None:
    """Lock a folder for as long as this process lives; None if another one holds it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone meanwhile, another user's, or no folder at all
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
