"""Secret numbers: fixed by a key to the bit, or never the same twice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ppdm_sql.randomness.draws import Draws, Stream

KEY = bytes(range(32))


def keyed() -> Draws:
    return Draws(Stream(KEY))


def test_a_stream_is_aes_in_counter_mode_from_zero() -> None:
    blocks = b"".join(block.to_bytes(16) for block in range(3))
    ecb = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    expected = ecb.update(blocks)
    stream = Stream(KEY)
    assert stream.take(5) + stream.take(11) + stream.take(32) == expected


def test_numbers_of_a_key_are_these_at_every_site() -> None:
    """Pinned: two versions of this program must draw the same."""
    draws = keyed()
    assert draws.uniform(0.25, 1.0) == 0.960632356028978
    assert draws.uniform(10, 80) == 56.47113378170861
    assert [draws.choice(4), draws.sign(), draws.choice(3)] == [1, 1, 1]
    assert keyed().permutation(6).tolist() == [4, 3, 5, 2, 0, 1]


def test_a_number_has_53_bits_of_the_stream() -> None:
    first = int.from_bytes(Stream(KEY).take(8)) >> 11
    assert keyed().uniform(0, 1) == first / 2**53


def test_the_system_never_repeats_itself() -> None:
    """Fails by chance once in 2^53 runs."""
    assert Draws().uniform(0, 1) != Draws().uniform(0, 1)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_choice_is_as_likely(count: int) -> None:
    """Of a fixed stream, so it never fails by chance."""
    draws, times = keyed(), 4000
    shares = np.bincount([draws.choice(count) for _ in range(times)], minlength=count) / times
    limit = 5 * math.sqrt(1 / count * (1 - 1 / count) / times)
    assert len(shares) == count
    assert (abs(shares - 1 / count) <= limit).all()


def test_numbers_that_would_favour_small_choices_are_drawn_again() -> None:
    class Bytes:
        def __init__(self) -> None:
            self.left = [b"\xff" * 8, (5).to_bytes(8)]

        def take(self, count: int) -> bytes:
            assert count == 8
            return self.left.pop(0)

    assert Draws(Bytes()).choice(3) == 2


def test_nothing_of_a_stream_is_printed() -> None:
    assert KEY.hex() not in repr(keyed()) + repr(Stream(KEY))
    assert "Stream" not in repr(keyed())
