"""Translation, scaling, rotation: the geometric transformations of columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LARGEST = 1e300
"""Magnitudes from here on are not computed with: a result could pass the largest DOUBLE."""


def translation(x: pa.Array, by: pa.Array) -> pa.Array:
    """`ppdm_translation(x, by)`: x + by."""
    return _finite(pc.add(_bounded(x), by))


def scaling(x: pa.Array, by: pa.Array) -> pa.Array:
    """`ppdm_scaling(x, by)`: x · by."""
    return _finite(pc.multiply(_bounded(x), by))


def rotation(x: pa.Array, y: pa.Array, degrees: pa.Array) -> pa.Array:
    """`ppdm_rotation(x, y, degrees)`: the point (x, y) turned clockwise, as a struct."""
    cosine, sine = _directions(degrees)
    turned_x = _finite(pc.add(pc.multiply(x, cosine), pc.multiply(y, sine)))
    turned_y = _finite(pc.subtract(pc.multiply(y, cosine), pc.multiply(x, sine)))
    return pa.StructArray.from_arrays([turned_x, turned_y], names=["x", "y"])


def direction(degrees: float) -> tuple[float, float]:
    """Return cosine and sine of an angle."""
    return math.cos(math.radians(degrees)), math.sin(math.radians(degrees))


def _directions(degrees: pa.Array) -> tuple[pa.Array | pa.Scalar, pa.Array | pa.Scalar]:
    different = pc.unique(degrees)
    if len(different) == 1 and different[0].is_valid and math.isfinite(different[0].as_py()):
        cosine, sine = direction(different[0].as_py())
        return pa.scalar(cosine), pa.scalar(sine)
    radians = pc.multiply(pc.divide(degrees, 180.0), math.pi)
    return pc.cos(radians), pc.sin(radians)


def _bounded(x: pa.Array) -> pa.Array:
    """NULL for NaN, infinity and what is too large to compute with."""
    return pc.if_else(pc.less(pc.abs(x), LARGEST), x, pa.scalar(None, pa.float64()))


def _finite(y: pa.Array) -> pa.Array:
    """NULL for what is no number any more."""
    return pc.if_else(pc.is_finite(y), y, pa.scalar(None, pa.float64()))
