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

_GROUP = 10_000
"""Four digits are moved at once, by a table."""


def _table(by: int) -> Unsigned:
    """Return what becomes of groups of four digits: leading ones first, then inner ones."""
    group = np.arange(_GROUP)
    moved = sum((group // unit + by) % 10 * unit for unit in (1, 10, 100, 1000))
    leading = np.where(group < 100, np.where(group < 10, 1, 10), np.where(group < 1000, 100, 1000))
    first = group - group % leading + moved % leading
    return np.concatenate((first, moved)).astype(np.uint64)


_TABLES = {by: _table(by) for by in (1, -1)}


def shift_digits(values: Unsigned, by: int) -> Unsigned:
    """Return magnitudes with all digits but the first moved by 1 or -1.

    The result of 19 digits may pass a BIGINT but never an unsigned one.
    """
    group, table = np.uint64(_GROUP), _TABLES[by]
    shifted = np.zeros_like(values)
    rest, unit = values, 1
    while rest.any():
        higher = rest // group
        place = rest - higher * group
        place += (higher > 0) * group
        shifted += table.take(place.view(np.int64)) * np.uint64(unit)
        rest, unit = higher, unit * _GROUP
    return shifted


def bit_plus(x: pa.Array) -> pa.Array:
    """`ppdm_bit_plus(x)`: HUGEINT, because 127 becomes 138."""
    return _shift_signed(x, 1)


def bit_minus(x: pa.Array) -> pa.Array:
    """`ppdm_bit_minus(x)`: HUGEINT, as its inverse is."""
    return _shift_signed(x, -1)


def _shift_signed(x: pa.Array, by: int) -> pa.Array:
    values = (x.fill_null(0) if x.null_count else x).to_numpy(zero_copy_only=False)
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
    words = np.zeros((len(magnitudes), 2), dtype=np.int64)
    words[:, 0] = magnitudes.view(np.int64)
    if is_negative.any():
        np.negative(words[:, 0], where=is_negative, out=words[:, 0])
        words[:, 1] = np.where(is_negative & (magnitudes > 0), -1, 0)
    type_ = pa.decimal128(precision, scale)
    numbers = pa.Array.from_buffers(type_, len(words), [None, pa.py_buffer(words)])
    if not is_null.true_count:
        return numbers
    return pc.if_else(is_null, pa.scalar(None, type_), numbers)
