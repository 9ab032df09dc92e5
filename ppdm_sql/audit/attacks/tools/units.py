"""Units in which squares of very large and very small numbers are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import FloatArray

Model: TypeAlias = "Callable[[FloatArray], FloatArray]"
"""What gives originals for released numbers."""
_LARGEST = 1e60
"""Up to here, products of four are numbers; so are those of one by this."""


def safe_unit(*parts: FloatArray) -> float:
    """Return 1, or a power of two near the largest number where that is very large or small.

    Dividing by a power of two rounds nothing; usual numbers are left alone, because some models
    mean them as they are: the bands of graded grouping are whole numbers.
    """
    sizes = [float(np.nanmax(np.abs(part))) for part in parts if not np.isnan(part).all()]
    largest = max(sizes, default=0.0)
    if largest == 0 or 1 / _LARGEST <= largest <= _LARGEST:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))


def is_turned_alone(column: Column) -> bool:
    """Tell whether distances between rows are kept, and nothing else was done."""
    return [one.keeps_distances for one in column.traits] == [True]
