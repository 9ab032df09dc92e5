"""What the other process answers to an analyst: one statement at a time, behind the gate."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from ppdm_sql.analyst.gate.admission import Surface, admit
from ppdm_sql.analyst.gate.redaction import redacted
from ppdm_sql.analyst.parameters import check_names, from_message
from ppdm_sql.errors import PpdmError
from ppdm_sql.foreign.child import send_rows
from ppdm_sql.foreign.wire import send
from ppdm_sql.names import Name

if TYPE_CHECKING:
    import duckdb

    from ppdm_sql.foreign.child import Answer
    from ppdm_sql.foreign.contents import Contents

_BATCH_ROWS = 100_000
_OWN_VIEWS = "SELECT view_name FROM system.main.duckdb_views() WHERE internal"


def answering(connection: duckdb.DuckDBPyConnection, contents: Contents) -> Answer:
    """Return what answers requests for one published file."""
    return Worker(connection, contents).answer


class Worker:
    """One connection to one published file."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, contents: Contents) -> None:
        self._connection = connection
        ((catalog,),) = connection.execute("SELECT system.main.current_database()").fetchall()
        own = frozenset(Name(name) for (name,) in connection.execute(_OWN_VIEWS).fetchall())
        self.surface = Surface(Name(catalog), contents.tables, own)

    def serialize(self, text: str) -> str:
        """Return DuckDB's parse of a text."""
        return self._one("SELECT system.main.json_serialize_sql(?)", text)

    def deserialize(self, tree: str) -> str:
        """Return the text that DuckDB writes of a parse."""
        return self._one("SELECT system.main.json_deserialize_sql(?::JSON)", tree)

    def answer(self, request: dict[str, Any], out: IO[bytes]) -> None:
        """Run one statement and write its rows, or what is wrong with it."""
        text = request["sql"]
        try:
            admitted = admit(text, self, self.surface)
            values = from_message(request.get("parameters", ()))
            (statement,) = self._connection.extract_statements(admitted)
            check_names(values, statement.named_parameters)
            relation = self._connection.sql(admitted, params=values or None)
            reader = relation.to_arrow_reader(_BATCH_ROWS)
        except PpdmError as error:
            send(out, _described(error))
        except Exception as error:  # noqa: BLE001 - DuckDB's, or of a parse that nobody foresaw
            send(out, _described(_redacted(error, text)))
        else:
            send_rows(out, reader.schema, reader, lambda error: _described(_redacted(error, text)))

    def _one(self, query: str, value: str) -> str:
        ((result,),) = self._connection.execute(query, [value]).fetchall()
        return str(result)


def _described(error: PpdmError) -> dict[str, Any]:
    span = error.span
    return {
        "error": type(error).__name__,
        "code": error.code,
        "what": error.what,
        "hint": error.hint,
        "span": None if span is None else [span.start, span.end],
    }


def _redacted(error: Exception, text: str) -> PpdmError:
    # An error of a stream reaches us through Arrow, which keeps DuckDB's name of it.
    kinds = {"Conversion Error": "ConversionException", "Out of Memory": "OutOfMemoryException"}
    kind = next((kinds[words] for words in kinds if words in str(error)), type(error).__name__)
    return redacted(kind, str(error), text)
