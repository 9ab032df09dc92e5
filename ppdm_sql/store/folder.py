"""The folder is the safe: who may enter it decides who may read the store.

DuckDB writes its WAL and spill files with the process's umask, raw rows inside, so a mode on the
database file alone protects nothing. The folder must be the owner's alone.
"""

from __future__ import annotations

import grp
import os
import pwd
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

_MAGIC = b"DUCK"
"""What a database of DuckDB has in its ninth to twelfth byte, encrypted or not."""
_PUBLISHED = "; a published file is read with `ppdm query`"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_USERS, _ALL_USERS = Path("/proc/self/uid_map"), ["0", "0", "4294967295"]
_UNKNOWN_USER = Path("/proc/sys/kernel/overflowuid")


def prepare(database: Path) -> None:
    """Make the folder of a new store, or check that an existing one is the owner's alone."""
    if os.name != "posix":
        raise StoreError(
            "the owner's store needs a POSIX system, whose file modes can be checked",
            code="no_posix",
        )
    folder = database.parent
    try:
        _check_parents(folder)
        if not folder.exists() and not folder.is_symlink():
            for parent in reversed(folder.parents):
                parent.mkdir(mode=0o755, exist_ok=True)  # never for others to write, as by umask 0
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
    except OSError as error:
        raise StoreError(
            f"the folder '{folder}' cannot be made: {error.strerror}", code="not_opened"
        ) from None
    try:
        _check_places(folder, database)
    except StoreError:
        check_kind(database)
        raise


def _check_places(folder: Path, database: Path) -> None:
    try:
        _check_folder(folder, database)
        if database.exists() or database.is_symlink():
            _check_file(database)
        log = wal_of(database)
        if log.exists() or log.is_symlink():
            # DuckDB writes it with the modes of the process; after a crash it is still there.
            _check_file(log, may_be_wide=True)
            log.chmod(0o600)
    except OSError as error:
        raise StoreError(
            f"'{database}' cannot be reached: {error.strerror}", code="not_opened"
        ) from None


def make_whole(database: Path, make: Callable[[Path], None]) -> None:
    """Make a database that is not there under another name, and name it when it is whole.

    Whoever is killed while DuckDB writes the first blocks of a file leaves one that cannot be opened.
    """
    if database.exists():
        return
    draft = database.with_name(f".{database.name}.{secrets.token_hex(8)}")
    try:
        make(draft)
        draft.chmod(0o600)
        # Another process was faster, or this file system has no links: DuckDB goes on from there.
        with suppress(OSError):
            database.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)


def secure(database: Path) -> None:
    """Take a file that DuckDB just made away from everybody else."""
    for path in (database, wal_of(database)):
        if path.exists():
            path.chmod(0o600)


def wal_of(database: Path) -> Path:
    """Return the name of a database's write-ahead log."""
    return database.with_name(database.name + ".wal")


def spill_folder(database: Path) -> Path:
    """Return where DuckDB may spill: inside the safe."""
    return database.with_name(database.name + ".spill")


def check_kind(database: Path) -> None:
    """Raise for a file that is no database: then who else may read it is not the matter.

    Opens and closes the file, which drops the locks this process has on it: only for a file that
    cannot be opened as a store.
    """
    try:
        if not stat.S_ISREG(database.lstat().st_mode):
            return
        with database.open("rb") as file:
            beginning = file.read(12)
    except OSError:
        return  # told below, if it is not there to be made
    # An empty file is taken as a new database.
    if beginning and not beginning.endswith(_MAGIC):
        raise StoreError(
            f"'{database}' is not a DuckDB database",
            hint="the owner's database is a file of its own; a script reads others, such as "
            f"FROM '{database.name}'",
            code="not_a_database",
        )


def _check_parents(folder: Path) -> None:
    """Raise where somebody else could put another folder in the place of the safe.

    A new store would then be made there without a word, and the old one be theirs. The sticky bit,
    as /tmp has it, keeps others from renaming what is not theirs, but not whom the folder is.
    """
    allowed = (0, os.geteuid())
    for parent in folder.parents:
        if not parent.exists():
            continue  # made by us, if all above it are well
        found = parent.stat()
        if found.st_uid not in allowed and not _is_roots_outside(found.st_uid):
            raise StoreError(
                f"'{parent}' belongs to another user (uid {found.st_uid}), who may rename what is in"
                " it, the folder of the database too",
                hint="put the database elsewhere, for example into your home",
                code="not_private",
            )
        is_wide = found.st_mode & stat.S_IWOTH or (
            found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid)
        )
        if is_wide and not found.st_mode & stat.S_ISVTX:
            raise StoreError(
                f"others may rename what is in '{parent}' (mode {stat.S_IMODE(found.st_mode):04o}), "
                "the folder of the database too",
                hint=f"run chmod o-w,g-w '{parent}', or put the database elsewhere",
                code="not_private",
            )


def _is_roots_outside(uid: int) -> bool:
    """Whether a user is one of outside this container, as whom the root of the machine appears."""
    with suppress(OSError):
        if _USERS.read_text(encoding="ascii").split() != _ALL_USERS:
            return uid == int(_UNKNOWN_USER.read_text(encoding="ascii"))
    return False


def _is_private_group(gid: int) -> bool:
    """Whether nobody but this user and root is in a group: many systems give each user one."""
    if gid == 0:
        return True
    try:
        own, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == own.pw_gid and group.gr_name == own.pw_name and set(group.gr_mem) <= {own.pw_name}


def _check_folder(folder: Path, database: Path) -> None:
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(
            f"the folder '{folder}' is a symbolic link",
            hint="name the folder that it points to",
            code="symbolic_link",
        )
    if not stat.S_ISDIR(found.st_mode):
        raise StoreError(f"'{folder}' is not a folder", code="wrong_kind_of_file")
    _check_owner(folder, found)
    if found.st_mode & _OTHERS:
        raise StoreError(
            f"others may enter the folder '{folder}' (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=_own_folder(folder, found, database) + (_PUBLISHED if database.exists() else ""),
            code="not_private",
        )


def _own_folder(folder: Path, found: os.stat_result, database: Path) -> str:
    """Say how the database gets a safe: nobody should shut others out of /tmp or of their home."""
    own = f"put the database in a folder of its own: owner/{database.name}, which is made for you"
    is_shared = found.st_mode & stat.S_ISVTX or folder in (Path("/"), Path.home())
    return own if is_shared else f"{own}; or, if nobody else needs it, run chmod 700 '{folder}'"


def _check_file(path: Path, may_be_wide: bool = False) -> None:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(
            f"'{path}' is a symbolic link",
            hint="name the database that it points to",
            code="symbolic_link",
        )
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"'{path}' is not a file", code="wrong_kind_of_file")
    _check_owner(path, found)
    if found.st_mode & _OTHERS and not may_be_wide:
        raise StoreError(
            f"other users can read or change '{path}' (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=f"if it is your database, run chmod 600 '{path}'{_PUBLISHED}",
            code="not_private",
        )


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise StoreError(
            f"'{path}' belongs to another user (uid {found.st_uid})",
            hint=f"run chown {os.geteuid()} '{path}', or run as that user",
            code="not_private",
        )
