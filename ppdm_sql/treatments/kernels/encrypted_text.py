"""Texts of an alphabet, encrypted so that they keep their length, their ends and what separates.

Letters and digits of the alphabet are encrypted; spaces, dots and dashes stay where they are. What
holds any other letter or digit does not fit, and is NULL.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.engine.kernel import KernelError, is_constant
from ppdm_sql.treatments.kernels import ff1

if TYPE_CHECKING:
    import numpy.typing as npt

    Marks = npt.NDArray[np.bool_]
    Letters = npt.NDArray[np.uint32]

_PLAIN = string.ascii_letters + string.digits
_ASCII = 128


def encrypt_text(
    key: pa.Array, alphabet: pa.Array, left: pa.Array, right: pa.Array, value: pa.Array
) -> pa.Array:
    """`ppdm_encrypt(key, alphabet, keep_prefix, keep_suffix, value)`."""
    settings = (key, alphabet, left, right)
    if len(value) == 0:
        return pa.array([], pa.string())
    if not all(map(is_constant, settings)) or any(one.null_count for one in settings):
        raise KernelError("key, alphabet and ends must be the same in every row")
    secret, letters, first, last = (one[0].as_py() for one in settings)
    coded = value.dictionary_encode()
    texts = _encrypted(bytes.fromhex(secret), letters, (first, last), coded.dictionary)
    return texts.take(coded.indices)


def _encrypted(key: bytes, alphabet: str, ends: tuple[int, int], texts: pa.Array) -> pa.Array:
    """Encrypt texts, those with equally many letters of the alphabet together."""
    plain = texts.fill_null("").to_pylist()
    # One column beyond the longest, so that no text is empty; numpy drops zeros at the end.
    width = max(map(len, plain), default=0) + 1
    letters = np.array(plain, dtype=f"<U{width}").view(np.uint32).reshape(len(plain), width)
    codes = _codes(alphabet)
    digit = np.where(letters < _ASCII, codes[np.minimum(letters, _ASCII - 1)], -2)
    fits = ~(digit == -2).any(axis=1) & ~np.array(["\0" in text for text in plain], dtype=bool)
    sizes = np.where(fits, (digit >= 0).sum(axis=1), 0)
    shortest, longest = ff1.lengths(len(alphabet))
    sizes -= sum(ends)
    done = np.zeros(len(plain), dtype=bool)
    signs = np.array([ord(letter) for letter in alphabet], dtype=np.uint32)
    for size in range(shortest, min(longest, int(sizes.max(initial=0))) + 1):
        rows = np.flatnonzero(sizes == size)
        if not len(rows):
            continue
        mine = letters[rows]
        is_digit = digit[rows] >= 0
        all_of = digit[rows][is_digit].reshape(len(rows), -1)
        stop = all_of.shape[1] - ends[1]
        tweak = np.hstack((all_of[:, : ends[0]], all_of[:, stop:])).astype(np.uint8)
        all_of[:, ends[0] : stop] = ff1.encrypt(
            key, len(alphabet), all_of[:, ends[0] : stop], tweak
        )
        mine[is_digit] = signs[all_of.reshape(-1)]
        letters[rows] = mine
        done[rows] = True
    found = letters.view(f"<U{width}").reshape(-1).tolist()
    valid = np.asarray(texts.is_valid()) & done
    return pa.array(found, pa.string(), mask=~valid)


def _codes(alphabet: str) -> npt.NDArray[np.int64]:
    """Return for each ASCII letter its digit; -1 for what stays, -2 for what does not fit."""
    codes = np.full(_ASCII, -1, dtype=np.int64)
    codes[[ord(letter) for letter in _PLAIN]] = -2
    for digit, letter in enumerate(alphabet):
        codes[ord(letter)] = digit
    return codes
