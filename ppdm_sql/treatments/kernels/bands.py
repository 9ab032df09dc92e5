"""Graded grouping: a value becomes its band's name plus its place inside the band.

    y = V_i                            x = L_i
    y = V_i + (x - L_i)/(U_i - L_i)    L_i < x < U_i
    y = V_i + 0.999                    x = U_i

An edge shared by two bands belongs to the upper one, so only the last band and bands before a
gap have an end that takes the 0.999.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.engine.kernel import KernelError, is_constant

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

END_OF_BAND = 0.999
"""What an upper limit adds to its band's name."""

EDGES_TEXT = "ppdm_graded_grouping: edges must be the same increasing list in every row"


@dataclass(frozen=True, slots=True)
class Bands:
    """Lower limits, upper limits and names of bands, ascending."""

    lows: Floats = field(repr=False)
    highs: Floats = field(repr=False)
    names: Floats = field(repr=False)

    def grade(self, x: Floats, clamp: bool = False) -> Floats:
        """Return the graded values; NaN for what lies in no band."""
        at = np.searchsorted(self.lows, x, side="right") - 1
        below = (at < 0).nonzero()[0]
        at[below] = 0
        low, high, name = self.lows.take(at), self.highs.take(at), self.names.take(at)
        with np.errstate(invalid="ignore", over="ignore"):
            y: Floats = name + (x - low) / (high - low)
        # A place just below 1 may round up to it.
        np.minimum(y, np.where(self._has_end(), below_next(self.names), np.inf).take(at), out=y)
        beyond = (~(x < high)).nonzero()[0]  # NaN too, which belongs to the last band
        if len(beyond):
            value, end = x[beyond], name[beyond] + END_OF_BAND
            y[beyond] = np.where(value == high[beyond], end, np.nan)
            if clamp:
                clamped = self._clamped(value, at[beyond])
                y[beyond] = np.where(value > high[beyond], clamped, y[beyond])
        y[below] = self.names[0] if clamp else np.nan
        return y

    def _clamped(self, value: Floats, at: npt.NDArray[np.intp]) -> Floats:
        """The image of the nearest limit, for values above their band's end."""
        last = len(self.lows) - 1
        above = np.minimum(at + 1, last)
        end = self.names[at] + END_OF_BAND
        nearer_below = (at == last) | (value - self.highs[at] < self.lows[above] - value)
        return np.where(nearer_below, end, self.names[above])

    def ungrade(self, y: Floats) -> Floats:
        """Return the original values; NaN for what no original value gives.

        Exact to about 1e-12 of a band's width. At 0.999 of a band whose end takes the 0.999,
        two originals share an image: the end is returned.
        """
        x: Floats = np.full(y.shape, np.nan)
        band = np.searchsorted(self.names, y, side="right") - 1
        known = (band >= 0) & ~np.isnan(y)
        at = band[known]
        low, high, name = self.lows[at], self.highs[at], self.names[at]
        place = y[known] - name
        original = low + place * (high - low)
        is_end = (y[known] == name + END_OF_BAND) & self._has_end()[at]
        original = np.where(is_end | (place == 1), high, original)
        x[known] = np.where(place > 1, np.nan, original)
        return x

    def snap(self, original: float, released: float) -> float:
        """Return the shortest number whose image is `released`: 40, not 39.99999999999999."""
        for digits in range(16):
            shorter = round(original, digits)
            if abs(shorter - original) > 1e-9 * float((self.highs - self.lows).min()):
                continue
            if self.grade(np.array([shorter]))[0] == released:
                return shorter
        return original

    def ranges(self) -> list[tuple[float, float]]:
        """Return the ranges that bands cover, those with a shared edge as one."""
        ends = self._has_end()
        starts = np.append(True, ends[:-1])
        return list(zip(self.lows[starts].tolist(), self.highs[ends].tolist(), strict=True))

    def _has_end(self) -> npt.NDArray[np.bool_]:
        """Whether a band's upper limit is its own, not the next band's first value."""
        return np.append(self.highs[:-1] < self.lows[1:], True)


def below_next(names: Floats) -> Floats:
    """Return the largest number below the next whole one: a place rounds up to it at most."""
    below: Floats = np.nextafter(names + 1, -np.inf)
    return below


def graded_grouping(x: pa.Array, edges: pa.Array) -> pa.Array:
    """`ppdm_graded_grouping(x, edges)`: bands that share their edges, named 1, 2, …."""
    limits = _constant(edges)
    if limits is None:
        return pa.nulls(len(x), pa.float64())
    if len(limits) < 2 or not np.all(limits[:-1] < limits[1:]):
        raise KernelError(EDGES_TEXT)
    names = np.arange(1, len(limits), dtype=np.float64)
    return _grade(x, _checked(limits[:-1], limits[1:], names), clamp=False)


def graded_bands(
    x: pa.Array, lows: pa.Array, highs: pa.Array, names: pa.Array, clamp: pa.Array
) -> pa.Array:
    """`ppdm_graded_bands(x, lows, highs, names, clamp)`: bands of any limits and names."""
    low, high, name = (_constant(column) for column in (lows, highs, names))
    if low is None or high is None or name is None:
        return pa.nulls(len(x), pa.float64())
    if not is_constant(clamp):
        raise KernelError(EDGES_TEXT)
    return _grade(x, _checked(low, high, name), clamp=bool(clamp[0].as_py()))


def _checked(lows: Floats, highs: Floats, names: Floats) -> Bands:
    """Return bands; refuse limits that make none."""
    if not len(lows) == len(highs) == len(names) or not len(lows):
        raise KernelError(EDGES_TEXT)
    with np.errstate(invalid="ignore", over="ignore"):
        makes_bands = (
            np.all(lows < highs)
            and np.all(highs[:-1] <= lows[1:])
            and np.all(names[:-1] < names[1:])
            and np.all(np.isfinite(highs - lows))
            and np.all(np.isfinite(names))
        )
    if not makes_bands:
        raise KernelError(EDGES_TEXT)
    return Bands(lows, highs, names)


def _grade(x: pa.Array, bands: Bands, clamp: bool) -> pa.Array:
    values = np.asarray(x.to_numpy(zero_copy_only=False), dtype=np.float64)
    y = bands.grade(values, clamp)
    lost = np.isnan(y)
    return pa.array(y, mask=lost) if lost.any() else pa.array(y)


def _constant(column: pa.Array) -> Floats | None:
    """Return the one list that stands in every row; None when it is NULL or there is no row."""
    if len(column) == 0 or column.null_count == len(column):
        return None
    if not is_constant(column):
        raise KernelError(EDGES_TEXT)
    first: Floats = np.asarray(column[0].values.to_numpy(zero_copy_only=False), dtype=np.float64)
    return first
