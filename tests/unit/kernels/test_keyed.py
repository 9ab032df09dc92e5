"""Keyed randomness: block by block against AES itself, and as a distribution.

The keys are fixed, so every test here is deterministic. The limits of the statistical ones are
those that a true random source would pass in all but one of a million runs (ERROR_RATE).
"""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppdm_sql.engine.kernel import KernelError
from ppdm_sql.treatments.kernels import keyed
from ppdm_sql.treatments.kernels.keyed import (
    NOISE,
    SELECTION,
    drawn,
    key_words,
    noise_laplace,
    noise_normal,
    noise_uniform,
    selected,
    uniforms,
)
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.int64]

ERROR_RATE = 1e-6
SIGMAS = NormalDist().inv_cdf(1 - ERROR_RATE / 2)
KOLMOGOROV = math.sqrt(-math.log(ERROR_RATE / 2) / 2)
"""The two-sided limit of √n · D, by the first term of Kolmogorov's series."""
COUNT = 100_000
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
OTHER = bytes.fromhex("603deb1015ca71be2b73aef0857d7781")
KEY_TEXT = "the key must be 32 hexadecimal digits, the same in every row"

rows_of_all_kinds: dict[str, Rows] = {
    "counted": np.arange(COUNT, dtype=np.int64),
    "negative": -np.arange(1, COUNT + 1, dtype=np.int64),
    "multiples": np.arange(COUNT, dtype=np.int64) << np.int64(32),
    "from the top": np.int64(2**63 - 1) - np.arange(COUNT, dtype=np.int64),
}
bigints = st.integers(-(2**63), 2**63 - 1)
usual = settings(max_examples=cases(50))


def one_block(key: bytes, purpose: bytes, row: int) -> float:
    """Return the number of one row, from the definition."""
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    block = purpose + row.to_bytes(8, "big", signed=True)
    top = int.from_bytes(encryptor.update(block)[:8], "big") >> 12
    return (top + 0.5) / 2.0**52


def constant(value: object, count: int) -> pa.Array:
    return pa.array([value] * count)


def draw(
    kernel: Callable[..., pa.Array], rows: Rows, first: float, second: float, key: bytes = KEY
) -> Floats:
    count = len(rows)
    drawn = kernel(
        constant(key.hex(), count),
        pa.array(rows),
        constant(float(first), count),
        constant(float(second), count),
    )
    values: Floats = drawn.to_numpy()
    return values


def distance(values: Floats, distribution: Callable[[Floats], Floats]) -> float:
    """Return Kolmogorov and Smirnov's √n · D of values against a distribution."""
    ordered = distribution(np.sort(values))
    count = len(values)
    above = (np.arange(1, count + 1) / count - ordered).max()
    below = (ordered - np.arange(count) / count).max()
    return math.sqrt(count) * float(max(above, below))


def correlation(a: Floats, b: Floats) -> float:
    """Return √n · r, which is about standard normal when nothing ties a to b."""
    return math.sqrt(len(a)) * float(np.corrcoef(a, b)[0, 1])


def normal_probability(z: Floats) -> Floats:
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in z])


def laplace_probability(x: Floats) -> Floats:
    return np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-x) / 2)


@given(st.binary(min_size=16, max_size=16), st.lists(bigints, min_size=1, max_size=20))
@example(KEY, [0, 1, -1, 2**63 - 1, -(2**63)])
@usual
def test_each_row_is_one_block_of_aes(key: bytes, rows: list[int]) -> None:
    for purpose in (NOISE, SELECTION):
        found = uniforms(key, purpose, np.array(rows, dtype=np.int64))
        assert found.tolist() == [one_block(key, purpose, row) for row in rows]


def test_the_standard_s_own_example_block() -> None:
    """FIPS 197, appendix C.1: a block that is known to encrypt to 69c4e0d86a7b0430…"""
    key = bytes(range(16))
    row = int.from_bytes(bytes.fromhex("8899aabbccddeeff"), "big", signed=True)
    (u,) = uniforms(key, bytes.fromhex("0011223344556677"), np.array([row], dtype=np.int64))
    assert u == (0x69C4E0D86A7B0430 // 2**12 + 0.5) / 2**52


def test_purposes_are_eight_bytes_and_apart() -> None:
    assert len(NOISE) == len(SELECTION) == 8
    assert NOISE != SELECTION


class StuckCipher:
    """A cipher whose every byte comes out the same."""

    byte = 0

    def __init__(self, *_: object) -> None:
        pass

    def encryptor(self) -> StuckCipher:
        return self

    def update(self, blocks: bytes) -> bytes:
        return bytes([self.byte]) * len(blocks)


@pytest.mark.parametrize(("byte", "u"), [(0x00, 2.0**-53), (0xFF, 1 - 2.0**-53)])
def test_the_least_and_the_largest_draw_stay_inside_and_finite(
    byte: int, u: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StuckCipher, "byte", byte)
    monkeypatch.setattr(keyed, "Cipher", StuckCipher)
    rows = np.array([1, 2], dtype=np.int64)
    assert uniforms(KEY, NOISE, rows).tolist() == [u, u]
    assert 0 < u < 1
    for kernel in (noise_normal, noise_laplace, noise_uniform):
        assert np.isfinite(draw(kernel, rows, 0.0, 1.0)).all()
    assert abs(draw(noise_normal, rows, 0.0, 1.0)[0]) == pytest.approx(8.2095361516)
    assert abs(draw(noise_laplace, rows, 0.0, 1.0)[0]) == pytest.approx(52 * math.log(2))


@pytest.mark.parametrize("kind", rows_of_all_kinds)
def test_numbers_are_uniform_whatever_the_row_keys_look_like(kind: str) -> None:
    rows = rows_of_all_kinds[kind]
    u = uniforms(KEY, NOISE, rows)
    assert 0 < u.min() < u.max() < 1
    assert len(np.unique(u)) == COUNT
    assert distance(u, lambda x: x) < KOLMOGOROV
    assert abs(u.mean() - 0.5) < SIGMAS * math.sqrt(1 / 12 / COUNT)
    assert abs(u.var() - 1 / 12) < SIGMAS * math.sqrt(1 / 180 / COUNT)
    assert abs(correlation(u, rows.astype(np.float64))) < SIGMAS, "with the row key"
    assert abs(correlation(u[1:], u[:-1])) < SIGMAS, "with the row before"


@pytest.mark.parametrize(
    ("one", "another"),
    [((KEY, NOISE), (OTHER, NOISE)), ((KEY, NOISE), (KEY, SELECTION))],
    ids=["two keys", "two purposes"],
)
def test_two_keys_and_two_purposes_have_nothing_in_common(
    one: tuple[bytes, bytes], another: tuple[bytes, bytes]
) -> None:
    rows = rows_of_all_kinds["counted"]
    a, b = uniforms(*one, rows), uniforms(*another, rows)
    assert abs(correlation(a, b)) < SIGMAS
    assert abs(correlation((a - 0.5) ** 2, (b - 0.5) ** 2)) < SIGMAS
    assert distance((a - b) % 1, lambda x: x) < KOLMOGOROV


def test_keys_that_differ_in_one_bit_have_nothing_in_common() -> None:
    rows = rows_of_all_kinds["counted"]
    near = bytes([KEY[0] ^ 1]) + KEY[1:]
    assert abs(correlation(uniforms(KEY, NOISE, rows), uniforms(near, NOISE, rows))) < SIGMAS


def test_normal_noise_is_normal() -> None:
    rows = rows_of_all_kinds["counted"]
    e = draw(noise_normal, rows, 5.0, 10.0)
    z = (e - 5) / 10
    assert distance(z, normal_probability) < KOLMOGOROV
    assert abs(z.mean()) < SIGMAS / math.sqrt(COUNT)
    assert abs(z.var() - 1) < SIGMAS * math.sqrt(2 / COUNT)
    assert abs((z**3).mean()) < SIGMAS * math.sqrt(15 / COUNT)
    assert abs(correlation(z, rows.astype(np.float64))) < SIGMAS
    assert abs(correlation(z, draw(noise_normal, rows, 5.0, 10.0, OTHER))) < SIGMAS


def test_uniform_noise_is_uniform() -> None:
    rows = rows_of_all_kinds["counted"]
    e = draw(noise_uniform, rows, -12.0, 18.0)
    assert -12 < e.min() < e.max() < 18
    assert distance((e + 12) / 30, lambda x: x) < KOLMOGOROV
    assert abs(e.mean() - 3) < SIGMAS * 30 * math.sqrt(1 / 12 / COUNT)


def test_laplace_noise_is_laplace() -> None:
    rows = rows_of_all_kinds["counted"]
    e = (draw(noise_laplace, rows, -2.0, 3.0) + 2) / 3
    assert distance(e, laplace_probability) < KOLMOGOROV
    assert abs(e.mean()) < SIGMAS * math.sqrt(2 / COUNT)
    assert abs(e.var() - 2) < SIGMAS * math.sqrt(20 / COUNT)
    assert abs(correlation(e, rows.astype(np.float64))) < SIGMAS


def test_the_statistics_can_fail() -> None:
    """A wrong spread, a wrong shape and a tie to the row key would be seen."""
    rows = rows_of_all_kinds["counted"]
    z = draw(noise_normal, rows, 0.0, 1.0)
    assert distance(z * 1.05, normal_probability) > KOLMOGOROV
    assert distance(draw(noise_laplace, rows, 0.0, 0.7), normal_probability) > KOLMOGOROV
    assert abs(correlation(z + rows / COUNT / 10, rows.astype(np.float64))) > SIGMAS


def test_noise_is_the_inverse_of_its_distribution_at_the_row_s_number() -> None:
    rows = np.arange(-50, 50, dtype=np.int64)
    u = [one_block(KEY, NOISE, int(row)) for row in rows]
    normal = [2 + 3 * NormalDist().inv_cdf(p) for p in u]
    uniform = [-12 + 30 * p for p in u]
    laplace = [1 + 2 * (math.log(2 * p) if p < 0.5 else -math.log(2 * (1 - p))) for p in u]
    assert draw(noise_normal, rows, 2.0, 3.0) == pytest.approx(normal, rel=1e-12, abs=1e-13)
    assert draw(noise_uniform, rows, -12.0, 18.0) == pytest.approx(uniform, rel=1e-13)
    assert draw(noise_laplace, rows, 1.0, 2.0) == pytest.approx(laplace, rel=1e-11, abs=1e-12)


def test_larger_draws_give_larger_noise_in_every_distribution() -> None:
    rows = np.arange(1000, dtype=np.int64)
    order = np.argsort(uniforms(KEY, NOISE, rows))
    for kernel in (noise_normal, noise_uniform, noise_laplace):
        assert (np.diff(draw(kernel, rows, 0.0, 1.0)[order]) > 0).all()


def choose(rows: Rows, percent: float, key: bytes = KEY) -> npt.NDArray[np.bool_]:
    count = len(rows)
    found = selected(constant(key.hex(), count), pa.array(rows), constant(percent, count))
    chosen: npt.NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return chosen


@pytest.mark.parametrize("percent", [0.5, 5.0, 50.0, 95.0])
def test_the_share_of_chosen_rows(percent: float) -> None:
    share = choose(rows_of_all_kinds["counted"], percent).mean()
    p = percent / 100
    assert abs(share - p) < SIGMAS * math.sqrt(p * (1 - p) / COUNT)


def test_a_larger_share_holds_every_row_of_a_smaller_one() -> None:
    rows = rows_of_all_kinds["negative"]
    shares = [choose(rows, percent) for percent in (0.0, 1.0, 5.0, 10.0, 60.0, 100.0)]
    for smaller, larger in itertools.pairwise(shares):
        assert (larger | ~smaller).all()
    assert not shares[0].any()
    assert shares[-1].all()


def test_being_chosen_says_nothing_about_the_noise() -> None:
    rows = rows_of_all_kinds["counted"]
    chosen = choose(rows, 30.0).astype(np.float64)
    assert abs(correlation(chosen, uniforms(KEY, NOISE, rows))) < SIGMAS
    assert abs(correlation(chosen, draw(noise_normal, rows, 0.0, 1.0) ** 2)) < SIGMAS


def test_a_row_without_a_key_gets_nothing() -> None:
    rows = pa.array([1, None, 3], pa.int64())
    key = constant(KEY.hex(), 3)
    zeros, ones = constant(0.0, 3), constant(1.0, 3)
    for kernel in (noise_normal, noise_uniform, noise_laplace):
        found = kernel(key, rows, zeros, ones).to_pylist()
        assert [value is None for value in found] == [False, True, False]
    assert selected(key, rows, constant(100.0, 3)).to_pylist() == [True, None, True]


def test_no_rows_give_nothing_even_without_a_key() -> None:
    keys, rows = pa.array([], pa.string()), pa.array([], pa.int64())
    numbers = pa.array([], pa.float64())
    for kernel in (noise_normal, noise_uniform, noise_laplace):
        assert kernel(keys, rows, numbers, numbers).to_pylist() == []
    assert selected(keys, rows, numbers).to_pylist() == []


def test_numbers_may_differ_from_row_to_row_and_a_missing_one_gives_null() -> None:
    rows = pa.array([7, 7, 7], pa.int64())
    key = constant(KEY.hex(), 3)
    scales = pa.array([1.0, 10.0, None])
    small, large, missing = noise_normal(key, rows, constant(0.0, 3), scales).to_pylist()
    assert large == pytest.approx(10 * small)
    assert missing is None


HEX = KEY.hex()


@pytest.mark.parametrize(
    "keys",
    [
        ["zz" * 16],
        [HEX[:-2]],
        [HEX + "00"],
        [HEX[:-1]],
        [""],
        [None],
        [HEX, OTHER.hex()],
        [HEX, None],
        [None, HEX],
        ["é" * 32],
    ],
    ids=[
        "no digits", "short", "long", "odd", "empty", "NULL", "two keys", "NULL later",
        "NULL first", "no ASCII",
    ],
)  # fmt: skip
def test_a_wrong_key_is_refused_with_a_fixed_text(keys: list[Any]) -> None:
    rows = pa.array(range(len(keys)), pa.int64())
    numbers = constant(1.0, len(keys))
    for kernel in (noise_normal, noise_uniform, noise_laplace):
        with pytest.raises(KernelError) as caught:
            kernel(pa.array(keys, pa.string()), rows, numbers, numbers)
        assert str(caught.value) == KEY_TEXT
    with pytest.raises(KernelError, match=f"^{KEY_TEXT}$"):
        selected(pa.array(keys, pa.string()), rows, numbers)


def test_capital_digits_are_the_same_key() -> None:
    rows = pa.array([5], pa.int64())
    zero, one = constant(0.0, 1), constant(1.0, 1)
    assert noise_normal(constant(HEX.upper(), 1), rows, zero, one) == noise_normal(
        constant(HEX, 1), rows, zero, one
    )


def halves(key: bytes, count: int) -> tuple[pa.Array, pa.Array]:
    high, low = key_words(key)
    return pa.array([high] * count, pa.int64()), pa.array([low] * count, pa.int64())


@given(st.binary(min_size=16, max_size=16), st.lists(bigints | st.none(), min_size=1, max_size=20))
@usual
def test_what_noise_is_made_of_is_the_same_with_a_key_in_halves(
    key: bytes, rows: list[int | None]
) -> None:
    found = drawn(*halves(key, len(rows)), pa.array(rows, pa.int64())).to_pylist()
    assert found == [None if row is None else one_block(key, NOISE, row) for row in rows]


def test_no_rows_draw_nothing() -> None:
    found = drawn(*halves(KEY, 0), pa.array([], pa.int64()))
    assert (len(found), found.type) == (0, pa.float64())


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("wrong", [None, 7])
def test_half_a_key_that_changes_or_is_missing_is_refused(half: int, wrong: int | None) -> None:
    columns = [column.to_pylist() for column in halves(KEY, 3)]
    columns[half][2] = wrong
    with pytest.raises(KernelError, match=r"^the key must be two whole numbers, the same"):
        drawn(*(pa.array(column, pa.int64()) for column in (*columns, [1, 2, 3])))
