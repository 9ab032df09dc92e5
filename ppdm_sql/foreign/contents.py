"""What a database file holds, asked before anything in it is read.

Whoever made a file may have put a view where a table is expected, and a view runs when it is read.
Attaching a file runs nothing; neither does listing what is in it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.duckdb import Engine, OpenError
from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import EngineError, Refused
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

_LOOKED_AT = Name("looked_at")
_OBJECTS = (
    "WITH found AS ("
    "SELECT 'table' AS kind, schema_name AS schema, table_name AS name, database_name"
    " FROM duckdb_tables() UNION ALL "
    "SELECT 'view', schema_name, view_name, database_name FROM duckdb_views()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'macro', schema_name, function_name, database_name FROM duckdb_functions()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'sequence', schema_name, sequence_name, database_name FROM duckdb_sequences()"
    " UNION ALL "
    "SELECT 'type', schema_name, type_name, database_name FROM duckdb_types()"
    " WHERE NOT internal UNION ALL "
    "SELECT 'index', schema_name, index_name, database_name FROM duckdb_indexes() UNION ALL "
    "SELECT 'trigger', schema_name, trigger_name, database_name FROM duckdb_triggers() UNION ALL "
    "SELECT 'generated column', schema_name, table_name, database_name FROM duckdb_columns()"
    " WHERE is_generated"
    ") SELECT kind, schema, name FROM found WHERE database_name = ?"
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database file lists."""

    tables: frozenset[QualifiedName]
    others: tuple[str, ...]
    """Everything that runs or computes when it is read: views, macros, generated columns, …"""


def attach_foreign(engine: Engine, path: Path, alias: Name) -> frozenset[QualifiedName]:
    """Attach a file of somebody else's, for reading; return its tables.

    Raises, before anything in it is read, where there is anything else.
    """
    try:
        engine.attach(path, alias, read_only=True)
    except OpenError:
        raise EngineError(
            f"'{path}' cannot be opened as a DuckDB database", code="not_a_database"
        ) from None
    contents = _contents(engine, alias)
    if contents.others:
        raise Refused(
            f"'{path}' holds more than tables: {', '.join(contents.others)}",
            hint="PUBLISH RELEASE writes tables alone; a view of a stranger runs when it is read",
            code="foreign_objects",
        )
    return contents.tables


def contents_of(path: Path) -> Contents | None:
    """Return what a database file lists; None if it is no such file."""
    with _opened(path) as engine:
        return None if engine is None else _contents(engine, _LOOKED_AT)


def rows_of(path: Path, table: QualifiedName) -> pa.Table:
    """Return a table of a file whose contents were looked at."""
    with _opened(path) as engine:
        if engine is None:
            raise EngineError(
                f"'{path}' cannot be opened as a DuckDB database", code="not_a_database"
            )
        name = QualifiedName((_LOOKED_AT, *table.parts))
        return engine.query(exp.select("*").from_(table_of(name)))


@contextmanager
def _opened(path: Path) -> Iterator[Engine | None]:
    """Give an engine that reaches one file and nothing else; None if the file is no database."""
    engine = Engine.open()
    try:
        engine.reach_only(path, path.with_name(f"{path.name}.wal"))
        try:
            engine.attach(path, _LOOKED_AT, read_only=True)
        except OpenError:
            yield None
        else:
            yield engine
    finally:
        engine.close()


def _contents(engine: Engine, database: Name) -> Contents:
    rows = engine.query(_OBJECTS, (database.text,)).to_pylist()
    tables = [row for row in rows if row["kind"] == "table"]
    return Contents(
        frozenset(QualifiedName.of(row["schema"], row["name"]) for row in tables),
        tuple(sorted({row["kind"] for row in rows} - {"table"})),
    )
