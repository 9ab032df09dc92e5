"""The inverse of the normal distribution against two oracles, out to the last representable u."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels.normal import normal_inverse
from tests.cases import cases

STANDARD = NormalDist()
SMALLEST_U, LARGEST_U = 2.0**-53, 1 - 2.0**-53
"""The ends of what keyed randomness draws."""
CHANGES = [0.075, 0.925, math.exp(-25), 1 - math.exp(-25)]
"""Where one rational approximation hands over to the next."""

usual = settings(max_examples=cases(150))


def inverse(*u: float) -> list[float]:
    values: list[float] = normal_inverse(np.array(u)).tolist()
    return values


@pytest.mark.parametrize(
    "u",
    [
        SMALLEST_U,
        LARGEST_U,
        0.5,
        0.25,
        0.975,
        1e-5,
        1e-10,
        1e-14,
        1e-300,
        5e-324,
        *CHANGES,
        *(math.nextafter(u, side) for u in CHANGES for side in (0, 1)),
    ],
)
def test_the_standard_library_agrees(u: float) -> None:
    assert inverse(u)[0] == pytest.approx(STANDARD.inv_cdf(u), rel=1e-14, abs=1e-16)


@given(st.floats(SMALLEST_U, LARGEST_U))
@example(0.5)
@usual
def test_the_standard_library_agrees_everywhere(u: float) -> None:
    assert inverse(u)[0] == pytest.approx(STANDARD.inv_cdf(u), rel=1e-13, abs=1e-15)


@given(st.floats(1e-300, 0.5))
@usual
def test_the_error_function_gives_the_probability_back(u: float) -> None:
    (z,) = inverse(u)
    # Where the tail is steep, the last bit of z is worth |z| times as much in u.
    assert 0.5 * math.erfc(-z / math.sqrt(2)) == pytest.approx(u, rel=1e-15 * (10 + z * z))


def test_known_quantiles() -> None:
    assert inverse(0.5) == [0.0]
    assert inverse(0.975)[0] == pytest.approx(1.959963984540054, rel=1e-15)
    assert inverse(SMALLEST_U)[0] == pytest.approx(-8.209536151601387, rel=1e-14)


def test_the_ends_are_finite_and_mirror_each_other() -> None:
    low, high = inverse(SMALLEST_U, LARGEST_U)
    assert math.isfinite(low)
    assert low == -high


@given(st.integers(0, 2**52 - 1))
@usual
def test_both_sides_mirror_each_other(top: int) -> None:
    u = (top + 0.5) * 2.0**-52
    low, high = inverse(u, 1 - u)
    assert low == -high


def test_larger_u_never_gives_a_smaller_quantile() -> None:
    steps = np.concatenate((np.logspace(-300, -1, 5_000), np.linspace(0.1, 0.9, 20_001)[1:]))
    assert (np.diff(normal_inverse(steps)) > 0).all()


def test_the_input_is_not_written_to_and_nothing_gives_nothing() -> None:
    u = np.array([0.001, 0.4])
    normal_inverse(u)
    assert u.tolist() == [0.001, 0.4]
    assert normal_inverse(np.empty(0)).tolist() == []
