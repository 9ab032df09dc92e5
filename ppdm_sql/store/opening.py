"""Opening the owner's database: the folder checked, the lock taken, the file made whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.engine.duckdb import Engine
from ppdm_sql.engine.duckdb_errors import OpenError
from ppdm_sql.errors import StoreError
from ppdm_sql.names import STORE_CATALOG
from ppdm_sql.scratch import make_scratch
from ppdm_sql.store import folder, lock

if TYPE_CHECKING:
    from pathlib import Path


def open_database(database: Path | None) -> Engine:
    """Open a database file in its safe, or one in memory for a trial."""
    engine = Engine.open()
    try:
        if database is None:
            _open_in_memory(engine)
        else:
            _open_file(engine, database)
        engine.use(STORE_CATALOG)
    except BaseException:
        engine.close()
        raise
    return engine


def _open_in_memory(engine: Engine) -> None:
    # DuckDB's own choice is a folder that everybody enters, where the process stands.
    scratch = make_scratch("ppdm-spill-")
    engine.at_end(scratch.remove)
    engine.spill_to(str(scratch.path))
    engine.attach(":memory:", STORE_CATALOG)


def _open_file(engine: Engine, database: Path) -> None:
    folder.prepare(database)
    _lock(engine, database)
    engine.spill_to(str(folder.spill_folder(database)))

    def make(draft: Path) -> None:
        engine.attach(draft, STORE_CATALOG)
        engine.detach(STORE_CATALOG)

    try:
        folder.make_whole(database, make)
        engine.attach(database, STORE_CATALOG)
    except OpenError as error:
        raise _as_store_error(database, error) from None
    folder.secure(database)


def _lock(engine: Engine, database: Path) -> None:
    try:
        handle = lock.lock(database)
    except OSError as error:
        raise StoreError(
            f"'{database}' cannot be locked: {error.strerror}", code="not_opened"
        ) from None
    if handle is not None:
        engine.at_end(lock.unlock, handle)
        return
    held = OpenError(OpenError.ELSEWHERE)
    try:
        # DuckDB's error names who holds it. For reading: should DuckDB find no lock of its own,
        # nothing is written.
        engine.attach(database, STORE_CATALOG, read_only=True)
    except OpenError as error:
        held = error if error.why == OpenError.HERE or error.holder else held
    raise _as_store_error(database, held)


def _as_store_error(database: Path, error: OpenError) -> StoreError:
    if error.why == OpenError.HERE:
        return StoreError(
            f"'{database}' is already open in this process",
            hint="close the other connection, or share it",
            code="open_here",
        )
    if error.why == OpenError.ELSEWHERE:
        who = f": {error.holder}" if error.holder else ""
        advice = "stop it, or wait for it (ppdm … --wait 30)" if who else "`fuser` shows which one"
        return StoreError(
            f"'{database}' is open in another process{who}",
            hint=f"one process at a time may open it; {advice}",
            code="open_elsewhere",
        )
    if database.exists():
        folder.check_kind(database)
        return StoreError(
            f"'{database}' cannot be opened as a DuckDB database",
            hint="it is not a database, is damaged, or was written by a newer DuckDB",
            code="not_a_database",
        )
    return StoreError(f"'{database}' cannot be made: {error.why}", code="not_opened")
