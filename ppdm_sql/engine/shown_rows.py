"""Rows that show themselves: at a prompt, in a notebook, in a loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ppdm_sql.errors import EngineError, StatementError
from ppdm_sql.terminal_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import pyarrow as pa

MOST_SHOWN = 20
"""Rows that a prompt or a notebook shows."""


class ShownRows(ABC):
    """What everything that holds rows has beside `fetch…`: it shows its first rows."""

    @abstractmethod
    def _whole(self) -> pa.Table | None:
        """Return all rows and keep them to be read again; None where there are none to show."""
        ...

    @abstractmethod
    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        ...

    @abstractmethod
    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Return the rows that are left, one after another."""
        return iter(self.fetchone, None)

    def pl(self) -> Any:
        """Return the rows as a polars frame; polars must be installed."""
        from importlib import import_module

        try:
            polars = import_module("polars")
        except ModuleNotFoundError:
            raise StatementError(
                "polars is not installed",
                hint="pip install polars; or take .df() or .arrow()",
                code="not_installed",
            ) from None
        return polars.from_arrow(self.arrow())

    def show(self) -> None:
        """Print the first rows."""
        print(self)  # noqa: T201 - that is what it is for

    def __repr__(self) -> str:
        try:
            table = self._whole()
        except EngineError as error:
            if error.code != "result_ended":
                raise
            return f"<{error.what}>"
        if table is None:
            return harmless(self.sentence) or f"<{type(self).__name__} without rows>"
        return harmless("\n".join(filter(None, [self.sentence, _text(table), _rest(table)])))

    def _repr_html_(self) -> str:
        from html import escape

        table = self._whole()
        said = f"<p>{escape(self.sentence)}</p>" if self.sentence else ""
        if table is None:
            return said or "<p>no rows</p>"
        rest = _rest(table)
        return (
            said
            + _frame(table).to_html(index=False, na_rep="NULL")
            + (f"<p>{rest}</p>" * bool(rest))
        )

    @property
    def sentence(self) -> str:
        """What was done, where there is something to say."""
        return ""


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Return a table as a pandas frame, its days as pandas knows days: they have `.dt`."""
    import pyarrow as pa

    fields = [
        field.with_type(pa.timestamp("us")) if pa.types.is_date(field.type) else field
        for field in table.schema
    ]
    with suppress(pa.ArrowInvalid):  # a day that no clock of pandas reaches
        table = table.cast(pa.schema(fields, table.schema.metadata))
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.slice(0, MOST_SHOWN).to_pandas()
    return frame


def _text(table: pa.Table) -> str:
    return _frame(table).to_string(index=False, na_rep="NULL", max_colwidth=60)


def _rest(table: pa.Table) -> str:
    return f"({MOST_SHOWN} of {table.num_rows:,} rows)" if table.num_rows > MOST_SHOWN else ""
