"""Undo mean_noise: one amount off what is above the mean, one onto what is below, the mean kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.tools.units import Model
    from ppdm_sql.groups.search import FloatArray
    from ppdm_sql.treatments.traits import Traits


def keeps_mean_alone(traits: Sequence[Traits]) -> bool:
    """Tell whether nothing but one treatment that keeps the mean was applied."""
    return [one.keeps_mean for one in traits] == [True]


def fit_sides(
    x: FloatArray, y: FloatArray, released: FloatArray, traits: Sequence[Traits]
) -> Model | None:
    """Return what undoes it, from known pairs on one side of the mean or on both.

    The release shows the mean and how many are on each side of it; one amount gives the other,
    for what is taken from the one side goes to the other.
    """
    shown = released[~np.isnan(released)]
    if not keeps_mean_alone(traits) or not len(x) or not len(shown):
        return None
    middle = float(shown.mean())
    above = x >= middle
    counts = int((shown >= middle).sum()), int((shown < middle).sum())
    if not all(counts):
        return None
    amounts = [float(np.median((y - x)[side])) if side.any() else 0.0 for side in (above, ~above)]
    if above.all():
        amounts[1] = -amounts[0] * counts[0] / counts[1]
    elif not above.any():
        amounts[0] = -amounts[1] * counts[1] / counts[0]
    return lambda values: values - np.where(values >= middle, amounts[0], amounts[1])
