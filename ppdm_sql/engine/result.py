"""What a statement answers: rows, read as DuckDB users read them, and a sentence for people."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ppdm_sql.engine.duckdb import arrow_of
from ppdm_sql.engine.duckdb_errors import withheld
from ppdm_sql.engine.shown_rows import ShownRows, frame_of
from ppdm_sql.engine.table_rows import TableRows
from ppdm_sql.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd


class Result(ShownRows):
    """The rows of the last statement. As in DuckDB, the next statement ends an unread one."""

    def __init__(
        self,
        rows: Any = None,
        message: str = "",
        more: Result | None = None,
        hint: str = "",
        shows_errors: bool | None = None,
        reading: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        # A DuckDB connection with a result that waits, or a table that is already here.
        self._rows = TableRows(rows) if isinstance(rows, pa.Table) else rows
        self._shows_errors = shows_errors
        self._reading = reading
        self._description = [] if self._rows is None else list(self._rows.description or ())
        self.message = message
        """What was done, in one line; empty for plain SQL."""
        self.more = more
        """A second table that belongs to the first: the figures of DESCRIBE RELEASE."""
        self.hint = hint
        """Where all rows of a long table can be had, for whoever shows the first ones."""

    @property
    def sentence(self) -> str:
        """What was done; the same as `message`."""
        return self.message

    def _whole(self) -> pa.Table | None:
        """Return all rows and keep them to be read again; None where there are none."""
        if self._rows is None or not self.columns:
            return None
        if not isinstance(self._rows, TableRows):
            self._rows = TableRows(self.arrow())
        return self._rows.arrow()

    @property
    def description(self) -> list[tuple[Any, ...]]:
        """Names of the columns first, as DB-API has them; empty when there are no rows."""
        return self._description

    @property
    def columns(self) -> list[str]:
        """Names of the columns; empty when there are no rows to read."""
        return [column[0] for column in self._description]

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        with self._read():
            return self._rows.fetchone() if self._rows is not None else None

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        """Return the next rows."""
        with self._read():
            return self._rows.fetchmany(size) if self._rows is not None else []

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows that are left."""
        with self._read():
            return self._rows.fetchall() if self._rows is not None else []

    def df(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        return frame_of(self.arrow())

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        with self._read():
            rows = self._readable()
            return rows.arrow() if isinstance(rows, TableRows) else arrow_of(rows)

    @contextmanager
    def _read(self) -> Iterator[None]:
        waits = self._rows is not None and not isinstance(self._rows, TableRows)
        with self._reading() if waits else nullcontext(), withheld(is_shown=self._shows_errors):
            yield

    def _readable(self) -> Any:
        if self._rows is None:
            raise StatementError("this statement returns no rows", code="no_rows")
        return self._rows


def in_a_row(results: Sequence[Result]) -> Result:
    """Return several answers as one: each follows the last table of the one before it."""
    for one, after in pairwise(results):
        last = one
        while last.more is not None:
            last = last.more
        last.more = after
    return results[0]
