"""The format of a store: making a new one, checking one, and upgrading one of an earlier program.

A store is the tables of the oldest format, changed by every migration since, in order; a new one
is made the same way, so that both are alike.
"""

from __future__ import annotations

import os
import secrets
import shutil
from datetime import UTC, datetime
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING

from ppdm_sql.engine.duckdb_errors import OpenError
from ppdm_sql.errors import EngineError, EngineKind, InternalError, StoreError, plural
from ppdm_sql.names import STORE_CATALOG
from ppdm_sql.store.catalog import damaged
from ppdm_sql.store.keys import ROOT_KEY_BYTES, RootKey, new_root_key

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine

OLDEST = 2
FORMAT = 5
_TABLES = frozenset({"store", "releases", "versions", "columns", "figures", "hierarchies"})
"""What every format has; the migrations add more."""


_VIEWS_OF_RELEASES = (
    "SELECT count(*) AS views FROM system.main.duckdb_views() WHERE NOT internal"
    " AND database_name = 'ppdm_store' AND system.main.contains(sql, 'ppdm_owner')"
)


def open_store(engine: Engine, database: Path | None = None) -> RootKey:
    """Make the store of a new database, or check and upgrade that of an existing one.

    Returns its root key. `database` is the file that is copied before it is upgraded.
    """
    names = _tables(engine)
    if names is None:
        _check_never_was(engine)
        with engine.transaction():
            _make(engine)
            return _read_root_key(engine)
    if "store" not in names:
        raise damaged("store missing")
    found = _format(engine)
    if missing := _TABLES - names:
        raise damaged(f"{', '.join(sorted(missing))} missing")
    root_key = _read_root_key(engine)
    if found < FORMAT:
        copy = None if database is None else _copy_beside(engine, database, found)
        try:
            with engine.transaction():
                _upgrade(engine, found)
        except EngineError as error:
            if copy is not None:
                copy.unlink(missing_ok=True)  # the store is as it was
            if error.kind is not EngineKind.OTHER:
                raise
            what = f"its tables are not those of format {found}"
            raise damaged(f"{what}, so it cannot be upgraded to {FORMAT}") from None
    return root_key


def _tables(engine: Engine) -> set[str] | None:
    """Return the tables of the store; None where there is no store yet."""
    found = engine.query(
        "SELECT schema_name, table_name FROM system.main.duckdb_schemas() LEFT JOIN system.main.duckdb_tables()"
        " USING (database_name, schema_name)"
        " WHERE schema_name = 'ppdm_owner' AND database_name = 'ppdm_store'"
    )
    if found.num_rows == 0:
        return None
    return set(found.column("table_name").to_pylist()) - {None}


def _check_never_was(engine: Engine) -> None:
    """Raise where releases are left of a store that is gone: a new root key would be another one.

    Names would change without a word, and no results could be read back.
    """
    (row,) = engine.query(_VIEWS_OF_RELEASES).to_pylist()
    if row["views"]:
        raise StoreError(
            f"the owner's store is gone, and {plural(row['views'], 'view')} of releases"
            f" {'is' if row['views'] == 1 else 'are'} left: somebody dropped the schema ppdm_owner",
            hint="restore the database from a backup; without one, drop these views and begin anew: all"
            " pseudonyms and parameters will be others",
            code="store_damaged",
        )


def _make(engine: Engine) -> None:
    _run(engine, OLDEST)
    now = datetime.now(UTC).replace(tzinfo=None)
    engine.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."store" VALUES (?, ?, ?)',
        (OLDEST, new_root_key(), now),
    )
    _upgrade(engine, OLDEST)


def _upgrade(engine: Engine, found: int) -> None:
    for number in range(found + 1, FORMAT + 1):
        _run(engine, number)
    engine.run('UPDATE "ppdm_store"."ppdm_owner"."store" SET format = ?', (FORMAT,))


def _run(engine: Engine, number: int) -> None:
    script = files("ppdm_sql.store").joinpath("sql", f"format_{number}.sql")
    engine.run(script.read_text(encoding="utf-8"))


def _format(engine: Engine) -> int:
    rows = engine.query('SELECT format FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) != 1:
        raise damaged("its root key is missing")
    found = int(rows[0]["format"])
    if not OLDEST <= found <= FORMAT:
        raise StoreError(
            f"the owner's store has format {found}, this version of ppdm-sql reads {OLDEST} to {FORMAT}",
            hint="use the version of ppdm-sql that made it",
            code="store_format",
        )
    return found


def _read_root_key(engine: Engine) -> RootKey:
    rows = engine.query('SELECT root_key FROM "ppdm_store"."ppdm_owner"."store"').to_pylist()
    if len(rows) != 1 or len(rows[0]["root_key"] or b"") != ROOT_KEY_BYTES:
        raise damaged("its root key is missing")
    return RootKey(rows[0]["root_key"])


def _copy_beside(engine: Engine, database: Path, found: int) -> Path:
    """Keep the database as it is, beside it: an earlier program can go on with the copy.

    The file is let go of meanwhile, so that all of it is on disk; the lock of the store stays.
    """
    engine.use_nothing()
    engine.detach(STORE_CATALOG)
    try:
        copy = _copy(database, found)
    except OSError as error:
        raise StoreError(
            f"'{database}' has an older format and cannot be copied before it is upgraded: "
            f"{error.strerror}",
            hint="nothing was changed; free some space in its folder",
            code="store_format",
        ) from None
    try:
        engine.attach(database, STORE_CATALOG)
    except OpenError:
        raise StoreError(
            f"'{database}' was opened by another process while it was copied",
            hint="nothing was changed; connect again",
            code="open_elsewhere",
        ) from None
    engine.use(STORE_CATALOG)
    return copy


def _copy(database: Path, found: int) -> Path:
    """Copy a file under a name that nothing has; the name is there when the copy is whole."""
    draft = database.with_name(f".{database.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as target, database.open("rb") as source:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        for number in count():
            copy = database.with_name(
                f"{database.name}.format-{found}{f'.{number}' * (number > 0)}"
            )
            if not copy.exists():
                draft.rename(copy)
                return copy
    finally:
        draft.unlink(missing_ok=True)
    raise InternalError("there is always another name")
