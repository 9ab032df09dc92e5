"""The process in which an analyst's statements run: started, given statements, killed at will.

It imports as little as it can, because somebody waits for it to start; so it talks to DuckDB
itself instead of through `engine/duckdb.py`. It holds nothing but a published file.

An answer with rows is a message, an Arrow stream and a second message, because an error can still
come while rows are read.
"""

from __future__ import annotations

import os
import resource
import sys
from typing import IO, TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from ppdm_sql.analyst.gate.admission import Surface, admit
from ppdm_sql.analyst.gate.redaction import redacted
from ppdm_sql.analyst.wire import receive, send
from ppdm_sql.errors import PpdmError
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Mapping

_BATCH_ROWS = 100_000
_OPEN_FILES = 64
_DEEP = 10_000
_LOCKED = {
    "access_mode": "READ_ONLY",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
_SURFACE = (
    "SELECT current_catalog() AS catalog, schema_name, table_name FROM duckdb_tables()"
    " WHERE database_name = current_catalog()"
)


class Worker:
    """One connection to one published file; nothing about it can be changed any more."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        rows = connection.execute(_SURFACE).fetchall()
        tables = frozenset(QualifiedName.of(schema, name) for _, schema, name in rows)
        self.surface = Surface(Name(rows[0][0] if rows else ""), tables)

    @classmethod
    def open(cls, path: str, settings: Mapping[str, str]) -> Worker:
        """Open a file read-only, with external access off, and lock the configuration."""
        connection = duckdb.connect(path, read_only=True, config={**_LOCKED, **settings})
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET lock_configuration = true")
        return cls(connection)

    def serialize(self, text: str) -> str:
        """Return DuckDB's parse of a text."""
        return self._one("SELECT json_serialize_sql(?)", text)

    def deserialize(self, tree: str) -> str:
        """Return the text that DuckDB writes of a parse."""
        return self._one("SELECT json_deserialize_sql(?::JSON)", tree)

    def answer(self, text: str, out: IO[bytes]) -> None:
        """Run one statement and write its rows, or what is wrong with it."""
        try:
            reader = self._connection.sql(admit(text, self, self.surface)).to_arrow_reader(
                _BATCH_ROWS
            )
        except PpdmError as error:
            send(out, _told(error))
            return
        except Exception as error:  # noqa: BLE001 - DuckDB's, or of a parse that nobody foresaw
            send(out, _told(_redacted(error, text)))
            return
        send(out, {})
        ended: dict[str, Any] = {}
        with pa.ipc.new_stream(out, reader.schema) as stream:
            try:
                for batch in reader:
                    stream.write_batch(batch)
            except Exception as error:  # noqa: BLE001 - Arrow gives DuckDB's errors as its own
                ended = _told(_redacted(error, text))
        send(out, ended)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _one(self, query: str, value: str) -> str:
        ((result,),) = self._connection.execute(query, [value]).fetchall()
        return str(result)


def _told(error: PpdmError) -> dict[str, Any]:
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


def _limit(orders: Mapping[str, Any]) -> None:
    """Have the system end what DuckDB does not count or cannot stop."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (orders["spill_bytes"], orders["spill_bytes"]))
    resource.setrlimit(resource.RLIMIT_AS, (orders["address_bytes"], orders["address_bytes"]))


def _limit_cpu(seconds: int) -> None:
    """Allow one statement its seconds, counted from what the process has used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


def _private_output() -> IO[bytes]:
    """Return standard output for answers alone; what libraries print goes nowhere."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return out


def main() -> None:
    """Take orders from standard input until it ends."""
    source, out = sys.stdin.buffer, _private_output()
    sys.setrecursionlimit(_DEEP)  # for JSON of statements that nest
    orders = receive(source)
    if orders is None:
        return
    try:
        worker = Worker.open(orders["path"], orders["settings"])
    except duckdb.Error:
        send(out, {"error": "StoreError", "what": "unreadable", "hint": None, "span": None})
        return
    _limit(orders)
    names = [
        [part.text for part in table.parts] for table in sorted(worker.surface.tables, key=str)
    ]
    send(out, {"tables": names})
    while (statement := receive(source)) is not None:
        _limit_cpu(orders["cpu_seconds"])
        worker.answer(statement["sql"], out)


if __name__ == "__main__":
    main()
