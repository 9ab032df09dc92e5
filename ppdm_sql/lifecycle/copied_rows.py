"""Rows that a program holds, copied into the owner's database, so that a release can be made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ppdm_sql.engine.sql import create_schema, table_of
from ppdm_sql.errors import Refused
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, QualifiedName
from ppdm_sql.release.sources import Sources

if TYPE_CHECKING:
    from ppdm_sql.release.releases import Releases


def copy_in(releases: Releases, name: QualifiedName, rows: object, replace: bool) -> None:
    """Copy a frame into a table; another table of that name is replaced only if that is asked for."""
    full = QualifiedName((STORE_CATALOG, *releases.full_name(name).parts))
    if full.schema == OWNER_SCHEMA or full.name.is_reserved or len(full.parts) != 3:
        raise Refused(f"a table cannot be called '{name}'", code="reserved_name")
    engine = releases.engine
    with engine.transaction():
        there = Sources(engine).resolve(full)
        if there is not None and (there.view_sql is not None or not replace):
            kind = "view" if there.view_sql is not None else "table"
            raise Refused(
                f"there is already a {kind} '{name}'",
                hint="choose another name, or write replace=True to put these rows in its place",
                code="name_taken",
            )
        engine.run(create_schema(table_of(full)))
        held: Any = rows
        engine.create_table(full, held)
