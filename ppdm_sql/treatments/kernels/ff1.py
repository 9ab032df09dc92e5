"""FF1 of NIST SP 800-38G: encryption of digits that gives as many digits, in bulk.

Ten rounds of a Feistel network over numbers of one length. A round is one AES block for each value
behind those that the tweak takes, so a column costs about ten AES blocks a value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Digits = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.uint64]
    Blocks = npt.NDArray[np.uint8]

LARGEST = 2**56
"""A half of a value is a number below this: a byte more of a digest still fits into 64 bits."""
FEWEST_VALUES = 1_000_000
"""As SP 800-38G asks: of fewer values, all can be tried."""
_ROUNDS, _BLOCK = 10, 16


def lengths(radix: int) -> tuple[int, int]:
    """Return how many digits a value has at least, and at most."""
    shortest, longest = 2, 2
    while radix**shortest < FEWEST_VALUES:
        shortest += 1
    while radix ** math.ceil((longest + 1) / 2) < LARGEST:
        longest += 1
    return shortest, longest


def encrypt(key: bytes, radix: int, digits: Digits, tweak: Blocks) -> Digits:
    """Return the digits of each row encrypted; each row has a tweak, all as long."""
    size = digits.shape[1]
    left = size // 2
    right = size - left
    width = math.ceil(math.ceil(right * math.log2(radix)) / 8)
    taken = 4 * math.ceil(width / 4) + 4
    aes = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update  # noqa: S305 - blocks differ
    state = _after_tweak(aes, _first_block(radix, size, left, tweak.shape[1]), tweak, width)
    a, b = _number(radix, digits[:, :left]), _number(radix, digits[:, left:])
    for at in range(_ROUNDS):
        modulus = np.uint64(radix ** (left if at % 2 == 0 else right))
        y = _remainder(_digest(aes, state, at, b, width)[:, :taken], modulus)
        a, b = b, (a + y) % modulus
    return np.hstack((_digits(radix, a, left), _digits(radix, b, right)))


def _first_block(radix: int, size: int, left: int, tweak: int) -> bytes:
    parts = (b"\1\2\1", radix.to_bytes(3), b"\x0a", bytes([left % 256]))
    return b"".join((*parts, size.to_bytes(4), tweak.to_bytes(4)))


def _after_tweak(
    aes: Callable[[bytes], bytes], first: bytes, tweak: Blocks, width: int
) -> tuple[Blocks, Blocks]:
    """Return the state before the last block, and what of the tweak stands in it.

    The last block ends in the number of the round and a half; the tweak and zeros are before.
    """
    rows, size = tweak.shape
    whole = np.zeros((rows, -(-(size + width + 1) // _BLOCK) * _BLOCK), dtype=np.uint8)
    whole[:, :size] = tweak
    state = np.tile(np.frombuffer(aes(first), dtype=np.uint8), (rows, 1))
    for start in range(0, whole.shape[1] - _BLOCK, _BLOCK):
        state = _aes(aes, state ^ whole[:, start : start + _BLOCK])
    return state, whole[:, -_BLOCK:]


def _digest(
    aes: Callable[[bytes], bytes], state: tuple[Blocks, Blocks], at: int, half: Numbers, width: int
) -> Blocks:
    before, last = state
    block = last.copy()
    block[:, -width - 1] = at
    block[:, -width:] = half.astype(">u8").view(np.uint8).reshape(-1, 8)[:, -width:]
    return _aes(aes, before ^ block)


def _aes(aes: Callable[[bytes], bytes], blocks: Blocks) -> Blocks:
    return np.frombuffer(aes(blocks.tobytes()), dtype=np.uint8).reshape(-1, _BLOCK)


def _remainder(digest: Blocks, modulus: np.uint64) -> Numbers:
    """Return a long number modulo a short one, byte by byte."""
    found = np.zeros(len(digest), dtype=np.uint64)
    for byte in digest.T:
        found = ((found << np.uint64(8)) | byte.astype(np.uint64)) % modulus
    return found


def _number(radix: int, digits: Digits) -> Numbers:
    found = np.zeros(len(digits), dtype=np.uint64)
    for digit in digits.T:
        found = found * np.uint64(radix) + digit.astype(np.uint64)
    return found


def _digits(radix: int, numbers: Numbers, size: int) -> Digits:
    found = np.empty((len(numbers), size), dtype=np.int64)
    for at in range(size - 1, -1, -1):
        found[:, at] = numbers % np.uint64(radix)
        numbers = numbers // np.uint64(radix)
    return found
