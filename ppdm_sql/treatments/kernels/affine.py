"""Translation, scaling, rotation: the geometric transformations of columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.engine.kernel import is_constant

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LARGEST = 1e300
"""Magnitudes from here on are not computed with: a result could pass the largest DOUBLE."""


def translation(x: pa.Array, by: pa.Array) -> pa.Array:
    """`ppdm_translation(x, by)`: x + by."""
    values = _floats(x)
    with np.errstate(invalid="ignore", over="ignore"):
        return _finite(values + _floats(by), _is_computable(values))


def scaling(x: pa.Array, by: pa.Array) -> pa.Array:
    """`ppdm_scaling(x, by)`: x · by."""
    values = _floats(x)
    with np.errstate(invalid="ignore", over="ignore"):
        return _finite(values * _floats(by), _is_computable(values))


def rotation(x: pa.Array, y: pa.Array, degrees: pa.Array) -> pa.Array:
    """`ppdm_rotation(x, y, degrees)`: the point (x, y) turned clockwise, as a struct."""
    across, up = _floats(x), _floats(y)
    with np.errstate(invalid="ignore", over="ignore"):
        cosine, sine = _directions(degrees)
        turned_x = _finite(across * cosine + up * sine)
        turned_y = _finite(up * cosine - across * sine)
    return pa.StructArray.from_arrays([turned_x, turned_y], names=["x", "y"])


def direction(degrees: float) -> tuple[float, float]:
    """Return cosine and sine of an angle."""
    return math.cos(math.radians(degrees)), math.sin(math.radians(degrees))


def _directions(degrees: pa.Array) -> tuple[Floats | float, Floats | float]:
    if len(degrees) and is_constant(degrees) and not degrees.null_count:
        angle = degrees[0].as_py()
        if math.isfinite(angle):
            return direction(angle)
    radians = _floats(degrees) / 180.0 * math.pi
    return np.cos(radians), np.sin(radians)


def _floats(column: pa.Array) -> Floats:
    """Return a column with NaN for NULL."""
    values: Floats = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _is_computable(x: Floats) -> npt.NDArray[np.bool_]:
    """Whether values are numbers, and not too large to compute with."""
    computable: npt.NDArray[np.bool_] = np.abs(x) < LARGEST
    return computable


def _finite(y: Floats, where: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """NULL for what is no number, or no number any more."""
    kept = np.isfinite(y) if where is None else np.isfinite(y) & where
    return pa.array(y) if kept.all() else pa.array(y, mask=~kept)
