"""Bit++ and Bit--: the leading digit stays, every other digit d becomes (d ± 1) mod 10.

There is no secret in it: each undoes the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt

    Unsigned = npt.NDArray[np.uint64]

MOST_DIGITS = 19
"""Digits of the largest BIGINT."""


def shift_digits(values: Unsigned, by: int) -> Unsigned:
    """Return magnitudes with all digits but the first moved by 1 or -1.

    The result of 19 digits may pass a BIGINT but never an unsigned one.
    """
    shifted = values.copy()
    for place in range(MOST_DIGITS - 1):
        unit = 10**place
        later = values >= np.uint64(10 * unit)
        rest = values % np.uint64(10 * unit)
        wraps = rest >= np.uint64(9 * unit) if by > 0 else rest < np.uint64(unit)
        # Modulo 2**64: a negative step wraps around and the sum comes back.
        step = np.where(wraps, np.uint64(-9 * by * unit % 2**64), np.uint64(by * unit % 2**64))
        shifted += np.where(later, step, np.uint64(0))
    return shifted


def bit_plus(x: pa.Array) -> pa.Array:
    """`ppdm_bit_plus(x)`: HUGEINT, because 127 becomes 138."""
    return _shift_signed(x, 1)


def bit_minus(x: pa.Array) -> pa.Array:
    """`ppdm_bit_minus(x)`: HUGEINT, as its inverse is."""
    return _shift_signed(x, -1)


def _shift_signed(x: pa.Array, by: int) -> pa.Array:
    values = x.fill_null(0).to_numpy(zero_copy_only=False)
    # abs() of the smallest BIGINT is itself; as unsigned it is right again.
    magnitudes = np.abs(values).astype(np.uint64)
    shifted = pa.array(shift_digits(magnitudes, by)).cast(pa.decimal128(38, 0))
    signed = pa.compute.if_else(pa.array(values < 0), pa.compute.negate(shifted), shifted)
    return pa.compute.if_else(x.is_null(), pa.scalar(None, signed.type), signed)
