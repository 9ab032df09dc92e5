"""Graded bands from known pairs: which edges explain where values were put."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.tools.units import Model
    from ppdm_sql.groups.search import FloatArray

LEAST_STEP = 1e-7
"""Two values of a band that are nearer than this tell nothing of its width."""


def fit_bands(x: FloatArray, y: FloatArray) -> Model | None:
    """Fit bands that share their edges: two pairs give one band, its edges help the next."""
    edges = _edges(x, y)
    if not edges:
        return None
    names = np.array(sorted(edges))
    places = np.array([edges[name] for name in names.tolist()])

    def place(wanted: FloatArray) -> FloatArray:
        at = np.minimum(np.searchsorted(names, wanted), len(names) - 1)
        return np.where(names[at] == wanted, places[at], np.nan)

    def inverse(released: FloatArray) -> FloatArray:
        bands = np.floor(released)
        low, high = place(bands), place(bands + 1)
        values: FloatArray = low + (released - bands) * (high - low)
        return values

    # As many edges as pairs in bands that have them fit anything.
    return inverse if np.isfinite(inverse(y)).sum() > len(edges) else None


def _edges(x: FloatArray, y: FloatArray) -> dict[float, float]:
    edges: dict[float, float] = {}
    bands, parts = np.floor(y), y - np.floor(y)
    for band in np.unique(bands):
        inside = bands == band
        if np.ptp(parts[inside]) > LEAST_STEP:
            slope, start = np.polyfit(parts[inside], x[inside], 1)
            edges[float(band)], edges[float(band) + 1] = float(start), float(start + slope)
    for _ in range(len(np.unique(bands))):
        for band, part, value in zip(bands.tolist(), parts.tolist(), x.tolist(), strict=True):
            low, high = edges.get(band), edges.get(band + 1)
            if low is not None and high is None and part > 0:
                edges[band + 1] = low + (value - low) / part
            elif high is not None and low is None and part < 1:
                edges[band] = (value - part * high) / (1 - part)
    return edges
