"""Rows of Arrow, read as a DuckDB result is."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from ppdm_sql.engine.shown_rows import ShownRows, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import pyarrow as pa


_AT_ONCE = 10_000
"""Rows that become Python values together: they are many times as large."""


class Batched(Protocol):
    """Batches that come one after another, and can be read once."""

    schema: pa.Schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Return them."""
        ...


class TableRows(ShownRows):
    """Rows that are already here, or still come; `fetch…` hand them out one after another."""

    def __init__(self, source: pa.Table | Batched) -> None:
        self._source = source
        self._left: Iterator[tuple[Any, ...]] | None = None

    @property
    def description(self) -> list[tuple[str]]:
        """Names of the columns, as DB-API has them."""
        return [(name,) for name in self._source.schema.names]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._source.schema.names)

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        return next(self._rows(), None)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        """Return the next rows."""
        return list(islice(self._rows(), size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows that are left."""
        return list(self._rows())

    def df(self) -> pd.DataFrame:
        """Return the whole table as a pandas frame."""
        return frame_of(self.arrow())

    def arrow(self) -> pa.Table:
        """Return the whole table."""
        import pyarrow as pa

        return pa.table(self._source)

    to_arrow_table = arrow

    def _whole(self) -> pa.Table | None:
        """Return all rows; None where they still come and can be read once."""
        return self.arrow() if hasattr(self._source, "to_batches") else None

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        # Python values are made when somebody asks for them, a few at a time.
        if self._left is None:
            whole = getattr(self._source, "to_batches", None)
            batches = whole() if whole is not None else self._source
            self._left = (
                row
                for batch in batches
                for start in range(0, batch.num_rows, _AT_ONCE)
                for row in zip(
                    *(one.to_pylist() for one in batch.slice(start, _AT_ONCE).columns), strict=True
                )
            )
        return self._left
