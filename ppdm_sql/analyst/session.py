"""What an analyst holds: a published file, opened in a process of its own that can be ended.

The file is all there is to read. The process is what bounds time and memory: DuckDB cannot stop
one long step, so a statement that takes too long is ended with the process, and the next one
starts another. What comes back is bounded here: rows and bytes of a whole answer, or the batches
of one that is read piece by piece.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ppdm_sql.analyst.parameters import to_message
from ppdm_sql.delivery.release_info import INFO
from ppdm_sql.errors import EngineError, PpdmError, Refused, Span, StatementError, StoreError
from ppdm_sql.foreign.channel import Gone, Late, TooLarge
from ppdm_sql.foreign.process import ForeignProcess, Limits

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from ppdm_sql.analyst.parameters import Parameters
    from ppdm_sql.engine.table_rows import TableRows

_ERRORS: dict[str, type[PpdmError]] = {
    error.__name__: error for error in (EngineError, Refused, StatementError)
}
_WORKER = "ppdm_sql.analyst.worker"


class Analyst:
    """Runs queries on a published file; close it, or use it in a `with` block."""

    def __init__(self, path: Path, limits: Limits, max_rows: int) -> None:
        self._path = path
        self._limits = limits
        self._max_rows = max_rows
        self._one_at_a_time = threading.Lock()
        self._process: ForeignProcess | None = None
        self._is_closed = False
        self._tables: list[str] = []

    @classmethod
    def open(cls, path: str | os.PathLike[str], limits: Limits, max_rows: int) -> Self:
        """Open a published file read-only; raise when it is none."""
        file = Path(path).absolute()
        if not file.exists():
            raise StoreError(f"there is no file '{path}'", code="no_such_file")
        if not file.is_file():
            raise StoreError(
                f"'{path}' is not a file",
                hint="the files in a folder are read with any program that reads Parquet or CSV",
                code="wrong_kind_of_file",
            )
        if max_rows < 1 or limits.frame_bytes < 1:
            raise StatementError("max_rows and max_bytes must be above 0", code="bad_limit")
        analyst = cls(file, limits, max_rows)
        analyst._running()
        return analyst

    def sql(self, query: str, parameters: Parameters = ()) -> TableRows:
        """Run one SELECT, DESCRIBE, SUMMARIZE or SHOW TABLES and return its rows.

        `parameters` are the values of `?` or `$name` in it: a list, or a dict of names. An answer
        of more than `max_rows` or `max_bytes` is refused; `batches` reads any.
        """
        import pyarrow as pa

        from ppdm_sql.engine.table_rows import TableRows

        kept: list[pa.RecordBatch] = []
        rows = size = 0
        with self.batches(query, parameters) as found:
            for batch in found:
                rows, size = rows + batch.num_rows, size + _size_of(batch)
                if rows > self._max_rows or size > self._limits.frame_bytes:
                    raise self._too_large()
                kept.append(batch)
        return TableRows(pa.Table.from_batches(kept, found.schema))

    def batches(self, query: str, parameters: Parameters = ()) -> Batches:
        """Run one statement and return its rows batch by batch, however many they are.

        The next statement waits until the last batch is read, or the answer is closed. Time counts
        while a batch is waited for.
        """
        try:
            query.encode()
        except UnicodeEncodeError:
            raise StatementError(
                "the statement is not valid Unicode text", code="not_text"
            ) from None
        values = to_message(parameters)
        self._one_at_a_time.acquire()
        try:
            return Batches(self._finish, self._failure, *self._ask(query, values))
        except BaseException:
            self._one_at_a_time.release()
            raise

    def tables(self) -> list[str]:
        """Return the names of the tables that can be queried."""
        return list(self._tables)

    def close(self) -> None:
        """End the process, for good; an answer that is being read ends with it."""
        self._is_closed = True
        self._end_process()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ppdm_sql analyst of {str(self._path)!r}>"

    def _finish(self, is_whole: bool) -> None:
        """Let the next statement run; what is left of an answer ends with the process."""
        if not is_whole:
            self._end_process()
        self._one_at_a_time.release()

    def _failure(self, error: Gone | Late | TooLarge) -> PpdmError:
        """Return what is said when the process does not answer to the end."""
        if self._is_closed:
            return _closed()
        if isinstance(error, TooLarge):
            return self._too_large()
        if isinstance(error, Late):
            return EngineError(
                f"the statement took longer than {self._limits.timeout_s:g} s and was stopped",
                hint="ask for less, or open the release with a longer timeout",
                code="timeout",
            )
        return EngineError(
            "the statement needed more memory than the session may use",
            hint="ask for less, or open the release with a higher memory_limit",
            code="out_of_resources",
        )

    def _too_large(self) -> PpdmError:
        """Return what is said of an answer that does not fit."""
        return EngineError(
            f"the answer has more than {self._max_rows:,} rows or "
            f"{self._limits.frame_bytes / 1e6:,.0f} MB",
            hint="ask for less, read it with batches(), or open the release with a higher "
            "max_rows or max_bytes",
            code="answer_too_large",
        )

    def _ask(self, query: str, values: object) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        def check(message: dict[str, Any]) -> None:
            _raise_reported(message, query)

        process = self._running()
        patience = process.patience()
        try:
            check(process.ask({"sql": query, "parameters": values}, patience))
            return process.rows(patience, check)
        except (Gone, Late, TooLarge) as error:
            self._end_process()
            raise self._failure(error) from None
        except PpdmError:
            raise
        except BaseException:  # Ctrl-C: the work ends with the process
            self._end_process()
            raise

    def _running(self) -> ForeignProcess:
        if self._is_closed:
            raise _closed()
        if self._process is None:
            try:
                process = ForeignProcess(self._path, _WORKER, self._limits)
            except (Refused, StoreError) as error:
                raise self._not_a_publication(error) from None
            if INFO not in process.tables or self._is_closed:
                process.end()
                raise _closed() if self._is_closed else self._not_a_publication()
            self._tables = sorted(str(name) for name in process.tables)
            self._process = process
        return self._process

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _not_a_publication(self, why: PpdmError | None = None) -> PpdmError:
        """Return what is said of another file; one that would run something is named as such."""
        what = f"'{self._path}' is not a published release"
        if isinstance(why, Refused):
            return Refused(f"{what}: {why.what}", hint=why.hint, code="foreign_objects")
        hint = "PUBLISH RELEASE … TO 'study.duckdb' makes one"
        return StoreError(what, hint=hint, code="not_a_publication")


class Batches:
    """The rows of one answer as Arrow batches; close it, or use it in a `with` block.

    pyarrow, polars, pandas and DuckDB read it as a stream.
    """

    def __init__(
        self,
        finish: Callable[[bool], None],
        failure: Callable[[Gone | Late | TooLarge], PpdmError],
        schema: pa.Schema,
        batches: Iterator[pa.RecordBatch],
    ) -> None:
        self.schema = schema
        self._finish_session = finish
        self._failure = failure
        self._batches = batches
        self._is_open = True
        self._one_at_a_time = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> pa.RecordBatch:
        with self._one_at_a_time:
            return self._next()

    def _next(self) -> pa.RecordBatch:
        if not self._is_open:
            raise StopIteration
        try:
            return next(self._batches)
        except StopIteration:
            self._finish(is_whole=True)
            raise
        except (Gone, Late, TooLarge) as error:
            self._finish(is_whole=False)
            raise self._failure(error) from None
        except PpdmError:  # said behind the last batch
            self._finish(is_whole=True)
            raise
        except BaseException:
            self._finish(is_whole=False)
            raise

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_batches(self.schema, self)
        return reader.__arrow_c_stream__(requested_schema)

    def close(self) -> None:
        """Let the next statement run; batches that were not read are gone."""
        self._finish(is_whole=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _finish(self, is_whole: bool) -> None:
        if self._is_open:
            self._is_open = False
            self._finish_session(is_whole)


def _size_of(batch: pa.RecordBatch) -> int:
    """Return how large an answer is: a value counts as eight bytes, however tightly it is packed."""
    return max(int(batch.nbytes), 8 * sum(map(_values_in, batch.columns)))


def _values_in(array: pa.Array) -> int:
    """Return how many values there are, those in lists and structs too."""
    import pyarrow as pa

    if pa.types.is_struct(array.type):
        return sum(map(_values_in, array.flatten()))
    if pa.types.is_map(array.type):
        return _values_in(array.keys) + _values_in(array.items)
    if pa.types.is_nested(array.type) and hasattr(array, "flatten"):
        return len(array) + _values_in(array.flatten())
    return len(array)


def _closed() -> StatementError:
    return StatementError("this session is closed", hint="open the file again", code="closed")


def _raise_reported(message: dict[str, Any], query: str) -> None:
    """Raise what the other side says is wrong."""
    if "error" not in message:
        return
    place = message.get("span")
    span = Span(query, *place) if place else None
    kind = _ERRORS.get(message["error"], EngineError)
    raise kind(message["what"], span, message["hint"], code=message.get("code"))
