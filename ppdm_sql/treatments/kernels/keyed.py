"""Keyed randomness: a number for each row that only the holder of a key can compute.

    block  = 8 bytes of row key ‖ 8 bytes of the value as a DOUBLE, big-endian; in what formula 1
             made, and for the rows of `rho`, 8 bytes of purpose ‖ 8 bytes of row key
    r      = AES-128 of the block under the key
    u      = (top 52 bits of r + ½) · 2⁻⁵²      strictly between 0 and 1

Blocks are independent, so ECB is the right mode: AES as a keyed permutation, many blocks a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ppdm_sql.engine.kernel import KernelError, is_constant
from ppdm_sql.treatments.kernels.logarithm import natural_logarithm
from ppdm_sql.treatments.kernels.normal import normal_inverse

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

NOISE, SELECTION = b"noise\0\0\0", b"rho\0\0\0\0\0"
_KEY_BYTES = 16
_BELOW_ONE = 1.0 - 2.0**-53
_WORDS_TEXT = "the key must be two whole numbers, the same in every row"
_KEY_TEXT = "the key must be 32 hexadecimal digits, the same in every row"


def uniforms(key: bytes, purpose: bytes, rows: npt.NDArray[np.int64]) -> Floats:
    """Return one number a row, uniform in (0, 1), fixed by key, purpose and row key."""
    return _fractions(encrypted(key, purpose, rows))


def _fractions(blocks: npt.NDArray[np.uint64]) -> Floats:
    """Return the first word of each block as a number in (0, 1)."""
    bits = blocks[:, 0].astype(np.uint64)
    bits >>= np.uint64(12)
    # As the fraction of a DOUBLE they are a number from 1 on; every step from there is exact.
    bits |= np.uint64(0x3FF0_0000_0000_0000)
    numbers: Floats = bits.view(np.float64)
    numbers -= _BELOW_ONE
    return numbers


def encrypted(key: bytes, purpose: bytes, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return the block of each row under the key: two big-endian words, 128 secret bits."""
    return _encrypted(key, np.uint64(int.from_bytes(purpose)), rows.view(np.uint64))


def _encrypted(
    key: bytes, first: npt.NDArray[np.generic] | np.uint64, second: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    blocks = np.empty((len(second), 2), dtype=">u8")
    blocks[:, 0] = first.view(np.uint64)
    blocks[:, 1] = second
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - see above
    secret = encryptor.update(blocks.reshape(-1).view(np.uint8).data)
    return np.frombuffer(secret, dtype=">u8").reshape(-1, 2)


def standard_normal(high: pa.Array, low: pa.Array, row: pa.Array, value: pa.Array) -> pa.Array:
    """`ppdm_normal(key_high, key_low, row, value)`: of mean 0 and standard deviation 1."""
    return _standard(high, low, row, value, lambda u: normal_inverse(u, natural_logarithm))


def standard_laplace(high: pa.Array, low: pa.Array, row: pa.Array, value: pa.Array) -> pa.Array:
    """`ppdm_laplace(key_high, key_low, row, value)`: of mean 0 and scale 1."""
    return _standard(high, low, row, value, _laplace_inverse)


def standard_uniform(high: pa.Array, low: pa.Array, row: pa.Array, value: pa.Array) -> pa.Array:
    """`ppdm_uniform(key_high, key_low, row, value)`: between 0 and 1."""
    return _standard(high, low, row, value, lambda u: u)


def _standard(
    high: pa.Array,
    low: pa.Array,
    row: pa.Array,
    value: pa.Array,
    inverse: Callable[[Floats], Floats],
) -> pa.Array:
    if len(row) == 0:
        return pa.array([], pa.float64())
    key = one_number_key(high, low)
    bits = _bits_of(value)
    return _null_with(row, pa.array(inverse(_fractions(_encrypted(key, numbers_of(row), bits)))))


def _bits_of(value: pa.Array) -> npt.NDArray[np.uint64]:
    """Return values as their 64 bits: one zero, one NaN; 0 where they are NULL."""
    plain = value.fill_null(0.0) if value.null_count else value
    numbers: Floats = plain.to_numpy(zero_copy_only=False) + 0.0  # -0.0 becomes 0.0
    np.copyto(numbers, np.nan, where=np.isnan(numbers))
    return numbers.view(np.uint64)


def _laplace_inverse(u: Floats) -> Floats:
    is_low = u < 0.5
    logarithm = natural_logarithm(2.0 * np.where(is_low, u, 1.0 - u))
    return np.where(is_low, logarithm, -logarithm)


def drawn(key_high: pa.Array, key_low: pa.Array, row: pa.Array) -> pa.Array:
    """`ppdm_drawn(key_high, key_low, row)`: what noise is made of, the key in two halves.

    A text of the key for every row would cost more than the encryption.
    """
    if len(row) == 0:
        return pa.array([], pa.float64())
    key = one_number_key(key_high, key_low)
    return _null_with(row, pa.array(uniforms(key, NOISE, numbers_of(row))))


def key_words(key: bytes) -> tuple[int, int]:
    """Return the two halves of a key as `ppdm_drawn` takes them."""
    return int.from_bytes(key[:8], signed=True), int.from_bytes(key[8:16], signed=True)


def noise_normal(key: pa.Array, row: pa.Array, mean: pa.Array, stddev: pa.Array) -> pa.Array:
    """`ppdm_noise_normal(key, row, mean, stddev)`."""
    return _scaled(normal_inverse(_drawn(key, row, NOISE)), row, mean, stddev)


def noise_uniform(key: pa.Array, row: pa.Array, low: pa.Array, high: pa.Array) -> pa.Array:
    """`ppdm_noise_uniform(key, row, low, high)`."""
    return _scaled(_drawn(key, row, NOISE), row, low, pc.subtract(high, low))


def noise_laplace(key: pa.Array, row: pa.Array, mean: pa.Array, scale: pa.Array) -> pa.Array:
    """`ppdm_noise_laplace(key, row, mean, scale)`."""
    side = _drawn(key, row, NOISE) - 0.5
    standard = -np.sign(side) * np.log1p(-2 * np.abs(side))
    return _scaled(standard, row, mean, scale)


def selected(key: pa.Array, row: pa.Array, percent: pa.Array) -> pa.Array:
    """`ppdm_selected(key, row, percent)`: true for that share of the rows, always the same."""
    chosen = pc.less(pa.array(_drawn(key, row, SELECTION) * 100.0), percent)
    return _null_with(row, chosen)


def _drawn(key: pa.Array, row: pa.Array, purpose: bytes) -> Floats:
    """Return a uniform number a row; any number where the row key is NULL."""
    if len(row) == 0:
        return np.empty(0)
    return uniforms(one_key(key), purpose, numbers_of(row))


def numbers_of(row: pa.Array) -> npt.NDArray[np.int64]:
    """Return row keys, 0 where they are NULL."""
    rows: npt.NDArray[np.int64] = (row.fill_null(0) if row.null_count else row).to_numpy()
    return rows


def one_number_key(high: pa.Array, low: pa.Array) -> bytes:
    """Return the key whose halves stand in every row."""
    if high.null_count or low.null_count or not (is_constant(high) and is_constant(low)):
        raise KernelError(_WORDS_TEXT)
    return b"".join(int(half[0].as_py()).to_bytes(8, signed=True) for half in (high, low))


def one_key(key: pa.Array) -> bytes:
    """Return the key that stands in every row."""
    text = key[0].as_py()
    if text is None or not is_constant(key):
        raise KernelError(_KEY_TEXT)
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        raise KernelError(_KEY_TEXT) from None
    if len(secret) != _KEY_BYTES:
        raise KernelError(_KEY_TEXT)
    return secret


def _scaled(values: Floats, row: pa.Array, shift: pa.Array, scale: pa.Array) -> pa.Array:
    if shift.null_count or scale.null_count:
        return _null_with(row, pc.add(shift, pc.multiply(pa.array(values), scale)))
    values *= scale.to_numpy()
    values += shift.to_numpy()
    return _null_with(row, pa.array(values))


def _null_with(row: pa.Array, values: pa.Array) -> pa.Array:
    """NULL where the row key is NULL."""
    if not row.null_count:
        return values
    return pc.if_else(row.is_valid(), values, pa.scalar(None, values.type))
