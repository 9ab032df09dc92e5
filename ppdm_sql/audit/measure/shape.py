"""What the release keeps of how numeric columns vary together, and what classes cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.distances import in_deviations, is_constant
from ppdm_sql.audit.measure.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-12
"""An eigenvalue this small beside the largest is 0."""


def il1s(x: FloatArray, y: FloatArray) -> float | None:
    """Return Yancey's information loss: the mean of |x - y| / (sqrt(2) · S) over all cells.

    One column of each matrix a column of the table; constant columns are left out.
    """
    pairs = zip(x.T[varied(x)], y.T[varied(x)], strict=True)
    # By columns, in units of their own deviation: sums of squares must not leave the numbers.
    sides = [in_deviations(before, before, after) for before, after in pairs]
    losses = [np.abs(a - b) / (np.sqrt(2) * a.std(ddof=1)) for a, b in sides]
    found = float(np.mean(losses)) if losses else np.nan
    return found if np.isfinite(found) else None


def varied(matrix: FloatArray) -> BoolArray:
    """Tell which columns are not constant."""
    return np.array([not is_constant(column) for column in matrix.T], dtype=np.bool_)


def relative_difference(
    before: npt.NDArray[np.floating], after: npt.NDArray[np.floating]
) -> float | None:
    """Return the Frobenius norm of a difference by that of the original."""
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(before))
        found = float(np.linalg.norm(after - before)) / norm if norm > 0 else np.nan
    return found if np.isfinite(found) else None


def shape_figures(columns: Sequence[Column]) -> list[Figure]:
    """Return differences of covariance, correlation and eigenvalues of the numeric columns."""
    x, y = matrices(columns)
    if x.shape[0] < 2 or x.shape[1] < 1:
        return []
    about = ", ".join(column.name for column in columns)
    figures = [_figure("il1s", about, il1s(x, y), "mean |x - y| in units of sqrt(2) deviations")]
    if x.shape[1] < 2:
        return figures
    kept = varied(x)
    x, y = x[:, kept], y[:, kept]
    before, after = _in_units_of(x, y)
    # A constant has no correlation to keep; what became one has lost its own.
    here, there = _correlations(x), _correlations(y)
    return [
        *figures,
        _figure(
            "covariance",
            about,
            relative_difference(before, after),
            "difference of the covariance matrices, each column in units of its original deviation,"
            " relative to the original's",
        ),
        _figure(
            "eigenvalues",
            about,
            eigenvalue_difference(here, there),
            "sum of |a - b| / a over the eigenvalues of the correlation matrices, as sdcMicro",
        ),
        _figure(
            "correlations",
            about,
            relative_difference(here, there),
            "difference of the correlation matrices: what translation and scaling keep",
        ),
    ]


def eigenvalue_difference(before: FloatArray, after: FloatArray) -> float | None:
    """Return what sdcMicro calls `eigen`: the sum of |a - b| / a over both sides' eigenvalues.

    Those of the original that are 0 but for rounding can be divided by nothing, and are left out.
    """
    if not len(before):
        return None
    a, b = np.linalg.eigvalsh(before), np.linalg.eigvalsh(after)
    usable = a > _ROUNDING * a.max()
    return float((np.abs(a - b)[usable] / a[usable]).sum())


def _in_units_of(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the covariances of both, each column in units of the original's deviation.

    Otherwise the column of the largest numbers decides alone.
    """
    sides = [in_deviations(a, a, b) for a, b in zip(x.T, y.T, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        before, after = (
            np.atleast_2d(np.cov(np.stack(side)) if side else np.empty((0, 0)))
            for side in ([a for a, _ in sides], [b for _, b in sides])
        )
    return before, after


def matrices(columns: Sequence[Column]) -> tuple[FloatArray, FloatArray]:
    """Return original and released numbers of the rows that have all of them."""
    if not columns:
        return np.empty((0, 0)), np.empty((0, 0))
    x = np.stack([_numbers(column, released=False) for column in columns], axis=1)
    y = np.stack([_numbers(column, released=True) for column in columns], axis=1)
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    return x[complete], y[complete]


def discernibility(sizes: IntArray, suppressed: int, rows: int) -> int:
    """Return the sum of squared class sizes; a suppressed row costs as much as there are rows."""
    return int((sizes.astype(object) ** 2).sum()) + suppressed * rows


def class_figures(sizes: IntArray, suppressed: int) -> list[Figure]:
    """Return what classes of rows cost."""
    rows = int(sizes.sum()) + suppressed
    if not rows:
        return []
    figures = [
        Figure(
            "utility",
            "discernibility",
            "",
            float(discernibility(sizes, suppressed, rows)),
            "sum of squared class sizes: with how many rows each row can be mistaken",
            # Sizes are seen in the release: what is left over is how many were suppressed.
            is_owners=suppressed > 0,
        ),
    ]
    if len(sizes):
        mean = float(sizes.mean())
        figures.append(_figure("average_class", "", mean, "rows of a class on average"))
    return figures


def suppressed_figure(suppressed: int, rows: int) -> Figure:
    """Return the share of the source's rows that leave nothing of their quasi-identifiers."""
    share = suppressed / max(rows, 1)
    meaning = "share of the source's rows that GENERALIZE leaves out, or shows as * only"
    return Figure("utility", "suppressed", "", share, meaning, rows)


def _correlations(matrix: FloatArray) -> FloatArray:
    """Return the correlations of columns, 0 with and of a constant one."""
    columns = [
        np.zeros(len(column)) if is_constant(column) else in_deviations(column, column)[0]
        for column in matrix.T
    ]
    around = np.array([column - column.mean() for column in columns]).reshape(-1, len(matrix))
    products: FloatArray = around @ around.T / max(len(matrix), 1)
    return products


def _numbers(column: Column, released: bool) -> FloatArray:
    values = column.released if released else column.original
    assert values.numbers is not None
    return values.numbers


def _figure(name: str, about: str, value: float | None, sentence: str) -> Figure:
    return Figure("utility", name, about, value, sentence)
