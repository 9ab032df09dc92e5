"""FF1 beside the sample vectors of NIST."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels import ff1

ALPHABET = string.digits + string.ascii_lowercase
KEYS = {
    128: "2B7E151628AED2A6ABF7158809CF4F3C",
    192: "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F",
    256: "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94",
}
PLAIN = "0123456789"
LONG = "0123456789abcdefghi"
NUMBERS = "39383736353433323130"
LETTERS = "3737373770717273373737"
SAMPLES = [
    (128, 10, "", PLAIN, "2433477484"),
    (128, 10, NUMBERS, PLAIN, "6124200773"),
    (128, 36, LETTERS, LONG, "a9tv40mll9kdu509eum"),
    (192, 10, "", PLAIN, "2830668132"),
    (192, 10, NUMBERS, PLAIN, "2496655549"),
    (192, 36, LETTERS, LONG, "xbj3kv35jrawxv32ysr"),
    (256, 10, "", PLAIN, "6657667009"),
    (256, 10, NUMBERS, PLAIN, "1001623463"),
    (256, 36, LETTERS, LONG, "xs8a0azh2avyalyzuwd"),
]


def digits(text: str) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[ALPHABET.index(letter) for letter in text]])


def bytes_of(text: str) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(bytes.fromhex(text), dtype=np.uint8).reshape(1, -1)


@pytest.mark.parametrize(("bits", "radix", "tweak", "plain", "secret"), SAMPLES)
def test_samples_of_nist(bits: int, radix: int, tweak: str, plain: str, secret: str) -> None:
    key = bytes.fromhex(KEYS[bits])
    found = ff1.encrypt(key, radix, digits(plain), bytes_of(tweak))
    assert "".join(ALPHABET[digit] for digit in found[0]) == secret


@given(st.data(), st.integers(2, 62), st.integers(0, 40))
def test_rows_are_encrypted_each_by_itself(data: st.DataObject, radix: int, tweak: int) -> None:
    """Over all lengths that are allowed: the halves stay below what 64 bits can hold."""
    size = data.draw(st.integers(*ff1.lengths(radix)))
    row = st.lists(st.integers(0, radix - 1), min_size=size, max_size=size)
    values = np.array(data.draw(st.lists(row, min_size=1, max_size=5)), dtype=np.int64)
    tweaks = np.arange(len(values) * tweak, dtype=np.uint8).reshape(len(values), tweak)
    found = ff1.encrypt(b"k" * 32, radix, values, tweaks)
    assert found.min() >= 0
    assert found.max() < radix
    alone = [
        ff1.encrypt(b"k" * 32, radix, values[at : at + 1], tweaks[at : at + 1])[0].tolist()
        for at in range(len(values))
    ]
    assert found.tolist() == alone


def test_shortest_and_longest() -> None:
    assert ff1.lengths(10) == (6, 32)
    assert ff1.lengths(36) == (4, 20)
    assert ff1.lengths(2) == (20, 110)


def test_all_values_of_a_short_domain_are_taken_once() -> None:
    values = np.array([[int(digit) for digit in f"{number:06d}"] for number in range(0, 10**6, 7)])
    found = ff1.encrypt(b"k" * 32, 10, values, np.empty((len(values), 0), dtype=np.uint8))
    assert len({tuple(row) for row in found.tolist()}) == len(values)
