"""Secret numbers: from the system's generator, or from a key that several sites share.

The keyed ones are defined here to the bit, by AES in counter mode, and rest on no generator of
Python: two sites with different versions must draw the same.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ppdm_sql.randomness.permutation import secret_permutation

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

_BLOCK = 16


class Source(Protocol):
    """Where random bytes come from."""

    def take(self, count: int) -> bytes:
        """Return so many bytes that nobody without the secret can predict."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """The system's generator: never the same twice."""

    def take(self, count: int) -> bytes:
        """Return bytes of the system's generator."""
        return secrets.token_bytes(count)


class Stream:
    """A stream of bytes that follows from a key of 32 bytes: AES-256 in counter mode."""

    __slots__ = ("_next",)

    def __init__(self, key: bytes) -> None:
        stream = Cipher(algorithms.AES(key), modes.CTR(bytes(_BLOCK))).encryptor()
        self._next: Callable[[bytes], bytes] = stream.update

    def take(self, count: int) -> bytes:
        """Return the next bytes of the stream."""
        return self._next(bytes(count))


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws numbers from a source of bytes."""

    source: Source = field(default_factory=System, repr=False)

    def uniform(self, low: float, high: float) -> float:
        """Return a number between two limits, from 53 bits."""
        return low + (high - low) * ((int.from_bytes(self.source.take(8)) >> 11) * 2.0**-53)

    def sign(self) -> int:
        """Return 1 or -1."""
        return 1 if self.choice(2) else -1

    def choice(self, count: int) -> int:
        """Return a number from 0 to count - 1, each with the same chance."""
        limit = 2**64 - 2**64 % count
        while (number := int.from_bytes(self.source.take(8))) >= limit:
            pass  # a remainder would make small numbers more likely
        return number % count

    def permutation(self, count: int) -> npt.NDArray[np.intp]:
        """Return 0 … count-1 in a random order."""
        return secret_permutation(count, self.source.take)
