"""What the other process answers to those who read a whole file: columns, and rows."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from ppdm_sql.foreign.child import send_rows
from ppdm_sql.foreign.wire import send
from ppdm_sql.names import QualifiedName, quote

if TYPE_CHECKING:
    import duckdb

    from ppdm_sql.foreign.child import Answer
    from ppdm_sql.foreign.contents import Contents

_BATCH_ROWS = 100_000
_COLUMNS = (
    "SELECT column_name, data_type, comment FROM system.main.duckdb_columns()"
    " WHERE database_name = system.main.current_database() AND schema_name = ? AND table_name = ?"
    " ORDER BY column_index ASC"
)


def answering(connection: duckdb.DuckDBPyConnection, contents: Contents) -> Answer:
    """Return what answers requests for one file."""
    # Arrow has no word of its own for some types: they come back as they were.
    connection.execute("SET arrow_lossless_conversion = true")

    def answer(request: dict[str, Any], out: IO[bytes]) -> None:
        name = QualifiedName.of(*request["table"])
        if name not in contents.tables:
            send(out, {"error": "no such table"})
        elif request["what"] == "columns":
            place = [part.text for part in name.parts]
            send(out, {"columns": connection.execute(_COLUMNS, place).fetchall()})
        else:
            table = ".".join(quote(part.text) for part in name.parts)
            rows = connection.sql(f"FROM {table}").to_arrow_reader(_BATCH_ROWS)
            send_rows(out, rows.schema, rows, lambda _: {"error": "unreadable"})

    return answer
