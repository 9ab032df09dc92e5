"""Files outside the database: whole or not there, whatever ends the program in between.

A file is written beside its place, brought to the disk, and named when it is whole. What a program
that was killed left there is cleared by the next one that writes the same file.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ppdm_sql.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span

_MARK_BYTES = 4
_OLD_S = 600
"""A draft of this age is nobody's any more."""


def refuse_in_transaction(engine: Engine, what: str, span: Span | None) -> None:
    """Raise where ROLLBACK could take back what was said of a file, and not the file."""
    if engine.in_transaction():
        raise Refused(
            f"{what} cannot run inside a transaction",
            span,
            "write COMMIT before it",
            code="in_transaction",
        )


@contextmanager
def drafts_of(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Give names beside files that are to be written; whatever is left there afterwards goes."""
    for path in paths:
        _sweep(path)
    drafts = [path.with_name(f".{path.name}.{secrets.token_hex(_MARK_BYTES)}") for path in paths]
    try:
        yield drafts
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def write_draft(draft: Path, content: bytes, mode: int) -> None:
    """Write a whole file that is not there, down to the disk."""
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def put_new(draft: Path, path: Path) -> None:
    """Name a file that is whole; raise `FileExistsError` where there is one of that name."""
    path.hardlink_to(draft)
    draft.unlink()
    sync_folder(path.parent)


def put_instead(draft: Path, path: Path) -> None:
    """Name a file that is whole, in place of one that may be there."""
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; where it cannot be, they are in their place all the same."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(path: Path) -> None:
    """Clear drafts that somebody who was killed left of a file."""
    left = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _MARK_BYTES}}}")
    with suppress(OSError):
        for other in path.parent.iterdir():
            is_one = left.fullmatch(other.name) and other.is_file() and not other.is_symlink()
            if is_one and time.time() - other.stat().st_mtime > _OLD_S:
                other.unlink(missing_ok=True)
