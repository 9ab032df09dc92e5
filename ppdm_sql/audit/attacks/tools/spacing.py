"""Find the step of numbers that all lie whole steps apart, as whole numbers do however scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ppdm_sql.groups.search import FloatArray

_MOST_PARTS = 20
"""The smallest gap that is seen may be several steps."""
_NEAR = 1e-3
"""A gap is whole steps within so much of one: rounding is far less, chance is far more."""
_MOST = 0.9
"""So many gaps must be whole steps: some values may have been cut off, or have noise."""
_LUCK = 0.01
"""How probable it may be that gaps of any numbers look like whole steps."""
_ULPS = 1_000
"""Gaps of fewer units in the last place are rounding, or too few to divide."""


def gaps_of(values: FloatArray) -> FloatArray:
    """Return the gaps between neighbours, equal values and rounding aside."""
    if not len(values):
        return values
    gaps = np.diff(np.unique(values))
    seen: FloatArray = gaps[gaps > _ULPS * float(np.spacing(np.abs(values).max()))]
    return seen


def step_of(gaps: FloatArray) -> float | None:
    """Return the largest step that nearly all gaps are whole multiples of; None if none is seen.

    Of one gap nothing can be checked: it is the step.
    """
    if len(gaps) < 2:
        return float(gaps[0]) if len(gaps) else None
    smallest = float(gaps.min())
    parts = np.arange(1, _MOST_PARTS + 1)
    steps = parts[:, np.newaxis] * (gaps / smallest)
    is_whole = (np.abs(steps - np.rint(steps)) <= _NEAR).mean(axis=1) >= _MOST
    # With few gaps and many parts, some numbers fit by luck.
    luck = parts * (2 * _NEAR) ** (len(gaps) - 1)
    fitting = parts[is_whole & (luck < _LUCK)]
    return smallest / float(fitting[0]) if len(fitting) else None
