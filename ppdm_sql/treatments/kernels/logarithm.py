"""A logarithm that is the same to the bit on every processor.

The one of the system's library is not: with other instructions its last bit differs now and then.
This one is made of sums, products and quotients alone, which are.

    x = m · 2^e, √½ ≤ m < √2      f = (m - 1) / (m + 1)      ln x = e · ln 2 + 2f (1 + f²/3 + f⁴/5 + …)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_LN_2 = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476
# |f| < 0.172, so that the terms after these are below the last bit.
_COEFFICIENTS = tuple(1.0 / odd for odd in range(23, 0, -2))


def natural_logarithm(x: Floats) -> Floats:
    """Return ln x of positive numbers, to about two units of the last bit."""
    m, e = np.frexp(x)
    is_small = m < _SQRT_HALF
    m = np.where(is_small, m * 2.0, m)
    exponent = (e - is_small).astype(np.float64)
    f = (m - 1.0) / (m + 1.0)
    square = f * f
    value = square * _COEFFICIENTS[0] + _COEFFICIENTS[1]
    for coefficient in _COEFFICIENTS[2:]:
        value *= square
        value += coefficient
    value *= f + f
    value += exponent * _LN_2
    return value
