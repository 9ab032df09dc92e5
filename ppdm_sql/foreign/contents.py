"""What a database file lists: asked of any file of somebody else's before anything in it is read.

Whoever made a file may have put a view where a table is expected, and a view runs when it is read.
Opening a file runs nothing; neither does listing what is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.names import QualifiedName

if TYPE_CHECKING:
    from collections.abc import Iterable

OBJECTS = (
    "WITH found AS ("
    "SELECT 'table' AS kind, schema_name AS schema, table_name AS name, database_name"
    " FROM system.main.duckdb_tables() UNION ALL "
    "SELECT 'view', schema_name, view_name, database_name FROM system.main.duckdb_views()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'macro', schema_name, function_name, database_name FROM system.main.duckdb_functions()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'sequence', schema_name, sequence_name, database_name FROM system.main.duckdb_sequences()"
    " UNION ALL "
    "SELECT 'type', schema_name, type_name, database_name FROM system.main.duckdb_types()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'index', schema_name, index_name, database_name FROM system.main.duckdb_indexes() UNION ALL "
    "SELECT 'trigger', schema_name, trigger_name, database_name FROM system.main.duckdb_triggers() UNION ALL "
    "SELECT 'generated column', schema_name, table_name, database_name FROM system.main.duckdb_columns()"
    " WHERE is_generated"
    ") SELECT kind, schema, name FROM found WHERE database_name = ?"
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database file lists."""

    tables: frozenset[QualifiedName]
    others: tuple[str, ...] = ()
    """Everything that runs or computes when it is read: views, macros, generated columns, …"""


def contents_of(listed: Iterable[tuple[str, str, str]]) -> Contents:
    """Return what the rows of `OBJECTS` say."""
    rows = list(listed)
    return Contents(
        frozenset(QualifiedName.of(schema, name) for kind, schema, name in rows if kind == "table"),
        tuple(sorted({kind for kind, _, _ in rows} - {"table"})),
    )
