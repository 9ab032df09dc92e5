"""Reading a database file of somebody else's: its tables, their columns, their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ppdm_sql.errors import EngineError
from ppdm_sql.foreign.channel import Gone, Late, TooLarge
from ppdm_sql.foreign.process import ForeignProcess, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from ppdm_sql.names import QualifiedName

_HOUR = 3600.0
_WORKER = "ppdm_sql.foreign.reader"


@dataclass(frozen=True, slots=True)
class ForeignColumn:
    """A column as the file lists it."""

    name: str
    type: str
    comment: str | None


class ForeignFile:
    """A database file, read through a process of its own; raises where it is more than tables."""

    def __init__(
        self,
        path: Path,
        limits: Limits = Limits(timeout_s=_HOUR),  # noqa: B008 - frozen
        called: Path | None = None,
    ) -> None:
        """`called` is the file as people know it, where `path` is a copy."""
        self._called = called or path
        self._process = ForeignProcess(path, _WORKER, limits, self._called)
        self.tables = self._process.tables

    def columns(self, table: QualifiedName) -> list[ForeignColumn]:
        """Return the columns of a table, in their order."""
        answer = self._asked(table, "columns")
        return [ForeignColumn(*column) for column in answer["columns"]]

    def rows(self, table: QualifiedName) -> pa.RecordBatchReader:
        """Return the rows of a table, batch by batch."""
        import pyarrow as pa

        self._asked(table, "rows")
        try:
            schema, batches = self._process.rows(self._process.patience(), self._check)
        except (Gone, Late, TooLarge):
            raise self._unreadable() from None
        return pa.RecordBatchReader.from_batches(schema, self._guarded(batches))

    def close(self) -> None:
        """End the process."""
        self._process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(self, table: QualifiedName, what: str) -> dict[str, list[list[str]]]:
        request = {"what": what, "table": [part.text for part in table.parts]}
        try:
            answer = self._process.ask(request, self._process.patience())
        except (Gone, Late):
            raise self._unreadable() from None
        self._check(answer)
        return answer

    def _guarded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except (Gone, Late, TooLarge):
            raise self._unreadable() from None

    def _check(self, answer: dict[str, object]) -> None:
        if "error" in answer:
            raise self._unreadable()

    def _unreadable(self) -> EngineError:
        return EngineError(f"'{self._called}' cannot be read", code="not_read")
