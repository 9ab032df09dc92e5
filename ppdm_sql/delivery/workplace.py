"""The last step of publishing: a new file or folder takes the place of the old one at once.

What is published is written in a folder of its own beside its place, closed to others, and
renamed when it is complete and checked.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
from contextlib import contextmanager, suppress
from glob import escape
from typing import TYPE_CHECKING

from ppdm_sql.errors import StoreError
from ppdm_sql.scratch import make_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKPLACE_PREFIX = ".ppdm-publish-"
_READABLE = 0o444
_ENTERABLE = 0o755
_AT_FDCWD, _NOREPLACE, _EXCHANGE = -100, 1, 2


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """Give a new locked folder inside `folder`; take it away at the end, with all that is left."""
    try:
        scratch = make_scratch(WORKPLACE_PREFIX, folder)
    except OSError as error:
        raise StoreError(
            f"nothing can be written to '{folder}': {error.strerror}", code="not_written"
        ) from None
    try:
        yield scratch.path
    finally:
        scratch.remove()


def digest_of(path: Path) -> str | None:
    """Return SHA-256 of a file, or of a folder's files with their names; None if it is not there."""
    try:
        if not path.is_dir():
            return _sha256(path)
        files = {file.name: _sha256(file) for file in sorted(path.iterdir())}
    except OSError:
        return None
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()


def is_left(target: Path, digest: str) -> bool:
    """Whether a process that died left a publication in its workplace: it is not out."""
    drafts = target.parent.glob(f"{WORKPLACE_PREFIX}*/{escape(target.name)}")
    return any(digest_of(draft) == digest for draft in drafts)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put_file(new: Path, target: Path) -> None:
    """Put a complete file in its place: a reader finds the old one or the new one."""
    with _moving_errors(target):
        new.chmod(_READABLE)
        _sync(new)
        _put(new, target)


def put_folder(new: Path, target: Path) -> None:
    """Put a complete folder in its place: a reader finds the old one or the new one."""
    with _moving_errors(target):
        for path in sorted(new.iterdir()):
            path.chmod(_READABLE)
            _sync(path)
        new.chmod(_ENTERABLE)
        _sync(new)
        _put(new, target)


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
    with suppress(OSError):  # it is in its place, whether the disk says so now or later
        _sync(target.parent)


def _rename(new: Path, target: Path, how: int) -> None:
    """Rename as only this call can: swap two folders at once, or never replace anything."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, "this system cannot swap two folders in one step")
    done = rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), ctypes.c_uint(how))
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def _moving_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"'{target}' could not be moved into place: {error.strerror}",
            hint="what was there is still there; publish under another name",
            code="not_written",
        ) from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
