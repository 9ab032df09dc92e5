"""The distribution behind published noise, by expectation and maximization.

Agrawal and Srikant (SIGMOD 2000) in the form of Agrawal and Aggarwal (PODS 2001): shares of bins that
make the noisy values most likely. A noisy value that was rounded stands for its whole cell, and an
original one for all of its bin. It gives back how values are distributed, and no value.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.engine.kernel import Kernel, KernelError

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_TYPE = pa.list_(
    pa.struct([("low", pa.float64()), ("high", pa.float64()), ("share", pa.float64())])
)
_WRITTEN = re.compile(r"\s*(normal|laplace|uniform)\s*\(\s*([-+.\deE]+)\s*,\s*([-+.\deE]+)\s*\)\s*")
_WRITE = "write 'normal(mean, stddev)', 'laplace(mean, scale)' or 'uniform(low, high)'"
_MOST_BINS, _MOST_CELLS = 200, 400
_ROUNDS, _ENOUGH = 2_000, 1e-6
_MOST_DECIMALS = 6
# Gauss and Legendre: what a bin stands for is a mean over these places of it.
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def reconstructed(values: Floats, noise: str, bins: int) -> tuple[Floats, Floats]:
    """Return the edges of bins, and the share of the original values in each."""
    if not 1 <= bins <= _MOST_BINS:
        raise KernelError(f"the number of bins is one from 1 to {_MOST_BINS}")
    written = _WRITTEN.fullmatch(noise)
    if written is None:
        raise KernelError(_WRITE)
    word, first, second = written[1], float(written[2]), float(written[3])
    if (word == "uniform" and not first < second) or (word != "uniform" and not second > 0):
        raise KernelError(_WRITE)
    values = values[np.isfinite(values)]
    if not len(values):
        return np.empty(0), np.empty(0)
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    cells, counts = _cells(values)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1] - edges[0]) / 2
    chances = np.zeros((len(counts), bins))
    for place, weight in zip(_PLACES, _WEIGHTS / 2, strict=True):
        away = cells[:, None] - (middle + half * place)[None, :]
        below = _below(word, first, second, away)
        chances += weight * np.diff(below, axis=0)
    return edges, _likeliest(np.maximum(chances, np.finfo(float).tiny), counts)


def _likeliest(chances: Floats, counts: Floats) -> Floats:
    """Return the shares that make what was counted most likely."""
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(_ROUNDS):
        before = shares
        shares = shares * (chances.T @ (counts / (chances @ shares))) / counts.sum()
        if np.abs(shares - before).max() < _ENOUGH:
            break
    found: Floats = shares / shares.sum()
    return found


def _cells(values: Floats) -> tuple[Floats, Floats]:
    """Return the edges of cells that the values stand for, and how many are in each."""
    low, high = float(values.min()), float(values.max())
    unit = _unit(values)
    if unit is None:
        edges = np.linspace(low, high, _MOST_CELLS + 1) if high > low else np.array([low, low + 1])
    else:
        wide = max(math.ceil(((high - low) / unit + 1) / _MOST_CELLS), 1) * unit
        edges = np.arange(low - unit / 2, high + unit / 2 + wide, wide)
    counts, _ = np.histogram(values, edges)
    return edges, counts.astype(np.float64)


def _unit(values: Floats) -> float | None:
    """Return what the values were rounded to: 1, 0.1, …; None where they have many decimals."""
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6:
            return 10.0**-decimals
    return None


def _below(word: str, first: float, second: float, away: Floats) -> Floats:
    """Return the probability of noise up to a number."""
    if word == "uniform":
        return np.clip((away - first) / (second - first), 0.0, 1.0)
    z = (away - first) / second
    if word == "normal":
        found: Floats = np.asarray(_erfc(-z / math.sqrt(2)), dtype=np.float64) / 2
        return found
    tail = np.exp(-np.abs(z)) / 2
    return np.where(z < 0, tail, 1 - tail)


def _reconstruct(values: pa.Array, noise: pa.Array, bins: pa.Array) -> pa.Array:
    """`ppdm_reconstruct(list(x), 'normal(0, 10)', 20)`: a list of low, high and share."""
    rows: list[list[dict[str, float]] | None] = []
    for row in range(len(values)):  # a row is a whole group of rows
        if not values[row].is_valid or not noise[row].is_valid or not bins[row].is_valid:
            rows.append(None)
            continue
        numbers = values[row].values.drop_null().to_numpy(zero_copy_only=False)
        edges, shares = reconstructed(
            numbers.astype(np.float64), noise[row].as_py(), bins[row].as_py()
        )
        rows.append(
            [
                {"low": low, "high": high, "share": share}
                for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)
            ]
        )
    return pa.array(rows, _TYPE)


RECONSTRUCT = Kernel(
    "ppdm_reconstruct",
    ("DOUBLE[]", "VARCHAR", "INTEGER"),
    "STRUCT(low DOUBLE, high DOUBLE, share DOUBLE)[]",
    _reconstruct,
)
