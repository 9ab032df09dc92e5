"""How DuckDB calls a kernel: whole arrays in, fixed texts out when something is wrong."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


class KernelError(ValueError):
    """An argument that a kernel refuses. Its text is fixed: it reaches whoever runs the query."""


def guarded(name: str, function: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Return a kernel that takes DuckDB's chunked columns and never tells a value."""

    @wraps(function)
    def call(*columns: pa.ChunkedArray) -> pa.Array:
        try:
            return function(*(column.combine_chunks() for column in columns))
        except KernelError:
            raise
        except Exception:  # noqa: BLE001 - whatever it says, it may say a value
            raise KernelError(f"{name}: these arguments cannot be computed") from None

    return call
