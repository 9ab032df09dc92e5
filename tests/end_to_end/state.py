"""The complete state of an owner's database, to be compared before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ppdm_sql.names import quote

if TYPE_CHECKING:
    import duckdb

State: TypeAlias = "dict[str, list[tuple[Any, ...]]]"

# Object numbers and statistics change by themselves; so do the limits of a sequence, whose
# numbers are never used twice, not even after a rollback.
_CATALOGS = {
    "schemas": "SELECT database_name, schema_name, comment, sql FROM duckdb_schemas()"
    " WHERE NOT internal",
    "tables": "SELECT database_name, schema_name, table_name, temporary, comment, sql"
    " FROM duckdb_tables() WHERE NOT internal",
    "views": "SELECT database_name, schema_name, view_name, temporary, comment, sql"
    " FROM duckdb_views() WHERE NOT internal",
    "columns": "SELECT database_name, schema_name, table_name, column_name, column_default,"
    " is_nullable, data_type FROM duckdb_columns() WHERE NOT internal",
    "sequences": "SELECT database_name, schema_name, sequence_name, temporary,"
    " increment_by, cycle FROM duckdb_sequences()",
    "functions": "SELECT database_name, schema_name, function_name, function_type,"
    " parameters::VARCHAR, macro_definition FROM duckdb_functions() WHERE NOT internal",
    "types": "SELECT database_name, schema_name, type_name FROM duckdb_types() WHERE NOT internal",
    "indexes": "SELECT database_name, schema_name, index_name FROM duckdb_indexes()",
}


def whole_state(connection: duckdb.DuckDBPyConnection) -> State:
    """Return every catalog and the contents of every table."""
    state: State = {name: _rows(connection, query) for name, query in _CATALOGS.items()}
    for database, schema, table, *_ in state["tables"]:
        name = ".".join(quote(part) for part in (database, schema, table))
        state[f"rows of {name}"] = _rows(connection, f"FROM {name}")
    return state


def tables_of_versions(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the tables of the store that belong to some version of some release."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND regexp_matches(table_name, '^r[0-9]+_v[0-9]+_')"
    ).fetchall()
    return {name for (name,) in rows}


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return sorted(connection.execute(query).fetchall(), key=repr)
