"""The distribution behind noise: on simulated data, whose distribution is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ppdm_sql
from ppdm_sql.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Callable

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

ROWS = 40_000
NOISES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal(0, 10)": lambda g: g.normal(0, 10, ROWS),
    "normal(3, 20)": lambda g: g.normal(3, 20, ROWS),
    "laplace(0, 8)": lambda g: g.laplace(0, 8, ROWS),
    "uniform(-25, 25)": lambda g: g.uniform(-25, 25, ROWS),
}


def two_hills(generator: np.random.Generator) -> Floats:
    """Values around 40 and 110: noise fills the gap between."""
    sides = generator.random(ROWS) < 0.3
    return np.where(sides, generator.normal(40, 5, ROWS), generator.normal(110, 8, ROWS))


def distance(shares: Floats, edges: Floats, values: Floats) -> float:
    """Return how much of the values would have to be moved for the histograms to be alike."""
    expected = np.histogram(values, edges)[0] / len(values)
    return float(np.abs(np.asarray(shares) - expected).sum() / 2)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_it_finds_the_hills_that_noise_hid(noise: str, decimals: int | None) -> None:
    """Nearer by far than the noisy values themselves, also where these were rounded."""
    generator = np.random.default_rng(7)
    values = two_hills(generator)
    noisy = values + NOISES[noise](generator)
    if decimals is not None:
        noisy = np.round(noisy, decimals)
    found = ppdm_sql.reconstruct(noisy, noise, 25).arrow()
    edges = np.append(found["low"].to_numpy(), found["high"].to_numpy()[-1])
    off = distance(found["share"].to_numpy(), edges, values)
    as_it_is = distance(np.histogram(noisy, edges)[0] / ROWS, edges, values)
    assert off < 0.12
    assert off < as_it_is / 2
    middle = (found["low"].to_numpy() > 60) & (found["high"].to_numpy() < 85)
    assert found["share"].to_numpy()[middle].sum() < 0.03


def test_without_much_noise_it_is_the_histogram() -> None:
    generator = np.random.default_rng(3)
    values = np.round(two_hills(generator))
    found = ppdm_sql.reconstruct(values, "normal(0, 0.01)", 20).arrow()
    edges = np.append(found["low"].to_numpy(), found["high"].to_numpy()[-1])
    assert distance(found["share"].to_numpy(), edges, values) < 0.05


@pytest.mark.parametrize("noise", ["normal(0)", "normal(0, 0)", "uniform(5, 1)", "gauss(0, 1)", ""])
def test_noise_that_is_none(noise: str) -> None:
    with pytest.raises(StatementError, match="write 'normal"):
        ppdm_sql.reconstruct([1.0, 2.0], noise)


def test_few_values_and_odd_ones() -> None:
    assert ppdm_sql.reconstruct([], "normal(0, 1)").arrow().num_rows == 0
    assert ppdm_sql.reconstruct([5.0] * 9, "normal(0, 1)", 3).arrow().num_rows == 3
    odd = ppdm_sql.reconstruct([1.0, np.nan, np.inf, 2.0], "laplace(0, 1)", 2).arrow()
    assert sum(odd["share"].to_pylist()) == pytest.approx(1)
    with pytest.raises(StatementError, match="from 1 to 200"):
        ppdm_sql.reconstruct([1.0], "normal(0, 1)", 0)
