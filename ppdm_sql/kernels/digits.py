"""Bit++ and Bit--: the leading digit stays, every other digit d becomes (d ± 1) mod 10.

There is no secret in it: each undoes the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    return decimals(shift_digits(magnitudes, by), values < 0, x.is_null(), 38, 0)


def unscaled(y: pa.Array) -> tuple[Unsigned, npt.NDArray[np.bool_]]:
    """Return the digits of numbers as magnitudes, and which are negative; 0 for NULL.

    A DECIMAL is stored as a whole number of 128 bits; magnitudes here need 64 of them.
    """
    scale = y.type.scale if pa.types.is_decimal(y.type) else 0
    exact = y.cast(pa.decimal128(38, scale)).fill_null(0)
    words = np.frombuffer(exact.buffers()[1], dtype=np.int64)
    words = words.reshape(-1, 2)[exact.offset : exact.offset + len(exact)]
    low, is_negative = words[:, 0].view(np.uint64), words[:, 1] < 0
    return np.where(is_negative, np.uint64(0) - low, low), is_negative


def decimals(
    magnitudes: Unsigned,
    is_negative: npt.NDArray[np.bool_],
    is_null: pa.Array,
    precision: int,
    scale: int,
) -> pa.Array:
    """Return magnitudes with their signs as DECIMAL."""
    words = np.empty((len(magnitudes), 2), dtype=np.int64)
    words[:, 0] = np.where(is_negative, np.uint64(0) - magnitudes, magnitudes).view(np.int64)
    words[:, 1] = np.where(is_negative & (magnitudes > 0), -1, 0)
    type_ = pa.decimal128(precision, scale)
    numbers = pa.Array.from_buffers(type_, len(words), [None, pa.py_buffer(words.tobytes())])
    return pc.if_else(is_null, pa.scalar(None, type_), numbers)
