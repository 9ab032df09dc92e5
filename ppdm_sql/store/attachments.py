"""Other databases of the owner's, which sources are read from: the store remembers them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.engine.duckdb_errors import OpenError
from ppdm_sql.errors import Refused, StoreError
from ppdm_sql.names import STORE_CATALOG, Name

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine

_TAKEN = ("memory", "system", "temp")


def attach(engine: Engine, name: Name, path: Path) -> None:
    """Attach a database for reading, now and whenever the store is opened."""
    if name.is_reserved or name.folded in _TAKEN or name == STORE_CATALOG:
        raise Refused(f"a database cannot be attached as '{name}'", code="reserved_name")
    known = attachments(engine)
    if known.get(name) == path and name in _attached(engine):
        return
    if not path.exists():
        raise StoreError(f"there is no database '{path}'", code="no_such_file")
    if name in _attached(engine):
        if name not in known:
            raise Refused(
                f"there is already a database called '{name}'",
                hint="choose another name",
                code="name_taken",
            )
        engine.detach(name)
    try:
        engine.attach(path, name, read_only=True)
    except OpenError:
        raise StoreError(
            f"'{path}' cannot be attached as a DuckDB database for reading",
            hint="close it in other programs; other kinds of files are read by their path",
            code="not_a_database",
        ) from None
    with engine.transaction():
        engine.run(
            'DELETE FROM "ppdm_store"."ppdm_owner"."attachments" WHERE lower(attached_name) = ?',
            (name.folded,),
        )
        engine.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."attachments" VALUES (?, ?)',
            (name.text, str(path)),
        )


def attach_again(engine: Engine) -> None:
    """Attach what the store remembers, as far as it is there; what is missing is said where it is used."""
    for name, path in attachments(engine).items():
        try:
            if path.exists():
                engine.attach(path, name, read_only=True)
        except OpenError:
            continue


def attachments(engine: Engine) -> dict[Name, Path]:
    """Return the databases that the store remembers."""
    rows = engine.query(
        'SELECT attached_name, path FROM "ppdm_store"."ppdm_owner"."attachments"'
        " ORDER BY attached_name ASC"
    ).to_pylist()
    return {Name(row["attached_name"]): Path(row["path"]) for row in rows}


def missing(engine: Engine, name: Name | None) -> Path | None:
    """Return where a database was that the store remembers and that is not attached."""
    if name is None or name in _attached(engine):
        return None
    return attachments(engine).get(name)


def _attached(engine: Engine) -> set[Name]:
    rows = engine.query("SELECT database_name AS name FROM system.main.duckdb_databases()")
    return {Name(one) for one in rows.column("name").to_pylist()}
