"""A Python function that DuckDB calls: whole arrays in, fixed texts out when something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Kernel:
    """A vectorised function over Arrow arrays, registered in DuckDB under `name`.

    Stateless: parameters are arguments, because any connection of the process can call it.
    """

    name: str
    arguments: tuple[str, ...]
    """DuckDB types."""
    returns: str
    function: Callable[..., pa.Array]


class KernelError(ValueError):
    """An argument that a kernel refuses. Its text is fixed: it reaches whoever runs the query."""


def guarded(name: str, function: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Return a kernel that takes DuckDB's chunked columns and never tells a value."""

    @wraps(function)
    def call(*columns: pa.ChunkedArray) -> pa.Array:
        try:
            return function(*map(_whole, columns))
        except KernelError:
            raise
        except Exception:  # noqa: BLE001 - whatever it says, it may say a value
            raise KernelError(f"{name}: these arguments cannot be computed") from None

    return call


def is_constant(column: pa.Array) -> bool:
    """Whether a column holds one value: DuckDB hands a parameter over once for every row.

    Neighbours are compared, in one pass and without a copy; NaN is never constant.
    """
    return bool(column.slice(1).equals(column.slice(0, max(len(column) - 1, 0))))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; DuckDB sends one chunk at a time, nothing is copied then."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
