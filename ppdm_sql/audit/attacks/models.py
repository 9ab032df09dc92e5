"""How an attacker turns known pairs into guesses: the simplest model that fits them.

The words of a column's treatments are known to everybody: a published file has them in comments.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ppdm_sql.audit.attacks.band_edges import fit_bands
from ppdm_sql.audit.attacks.digit_shift import decimals_of, moved, moves
from ppdm_sql.audit.attacks.tools.two_sides import fit_sides
from ppdm_sql.audit.attacks.tools.units import safe_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.audit.attacks.tools.units import Model
    from ppdm_sql.groups.search import FloatArray
    from ppdm_sql.treatments.traits import Traits

Fit: TypeAlias = "Callable[[FloatArray, FloatArray], Model | None]"
EXACT = 1e-7
"""A model is exact within this share of what it explains varies by."""
ROUNDING = 256 * float(np.finfo(np.float64).eps)
"""Beside that, numbers round by so much of their size."""
MOST = 0.6
"""A model holds when it explains this share of the known exactly: rho may have moved the others."""
_NEARLY = 1e-3
AS_GOOD = 1.25
"""An error that is larger by this factor is as good."""


@np.errstate(over="ignore", invalid="ignore")  # a guess that is no number is none
def guess_numbers(
    x: FloatArray, y: FloatArray, unknown: FloatArray, traits: Sequence[Traits] = ()
) -> FloatArray:
    """Return guesses for released numbers, from known originals `x` of released `y`."""
    first, last = _digits(traits), _digits(traits[::-1])
    if moves(first):
        # There is no secret in digits: what came after them is fitted to moved ones.
        places = decimals_of(x)
        between = moved(x, places, moves(first))
        is_known = ~np.isnan(between)
        guess = guess_numbers(between[is_known], y[is_known], unknown, traits[len(first) :])
        return moved(guess, places, -moves(first))
    if moves(last):
        places = decimals_of(np.concatenate((y, unknown)))
        before, wanted = (moved(part, places, -moves(last)) for part in (y, unknown))
        is_known = ~np.isnan(before)
        return guess_numbers(
            x[is_known], before[is_known], wanted, traits[: len(traits) - len(last)]
        )
    exact = exact_model(x, y, unknown, traits)
    if exact is None:
        return likely_model(x, y, traits)[0](unknown)
    guess = exact(unknown)
    open_ = np.isnan(guess)
    return np.where(open_, likely_model(x, y, traits)[0](unknown), guess) if open_.any() else guess


def _digits(traits: Sequence[Traits]) -> tuple[Traits, ...]:
    """Return the treatments that a chain begins with and that move digits."""
    return tuple(takewhile(lambda one: one.moves_digits != 0, traits))


def exact_model(
    x: FloatArray, y: FloatArray, released: FloatArray, traits: Sequence[Traits]
) -> Model | None:
    """Return the simplest model that explains all known pairs exactly, or else most of them."""
    unit = safe_unit(x, y)
    # Bands are whole numbers: there are none where numbers need another unit. A word that has none
    # is not explained by them, however well a few people fit.
    fits = _FITS if unit == 1 and _may_have_bands(traits) else _FITS[:-1]
    model = _exact_model(x / unit, y / unit, released / unit, traits, fits)
    return None if model is None else _in_unit(model, unit)


def _may_have_bands(traits: Sequence[Traits]) -> bool:
    return not all(one.is_affine or one.adds_noise for one in traits) or not traits


def likely_model(x: FloatArray, y: FloatArray, traits: Sequence[Traits]) -> tuple[Model, float]:
    """Return the model that guesses known pairs best that it was not shown, and its usual error.

    The simplest one if that is nearly exact; the error is infinite where it could not be tried.
    """
    unit = safe_unit(x, y)
    model, error = _likely_model(x / unit, y / unit, traits)
    return _in_unit(model, unit), error * unit


def _in_unit(model: Model, unit: float) -> Model:
    return model if unit == 1 else lambda released: model(released / unit) * unit


def _exact_model(
    x: FloatArray,
    y: FloatArray,
    released: FloatArray,
    traits: Sequence[Traits],
    fits: Sequence[tuple[Fit, int]],
) -> Model | None:
    sides = fit_sides(x, y, released, traits)
    if sides is not None and _explains(sides, x, y, 0, MOST):
        return sides
    tried = [(fit(x, y), constants) for fit, constants in fits if len(x) > constants]
    for share in (1.0, MOST):
        for model, constants in tried:
            if model is not None and _explains(model, x, y, constants, share):
                return model
    return None


def _likely_model(x: FloatArray, y: FloatArray, traits: Sequence[Traits]) -> tuple[Model, float]:
    never = float("inf")
    if not len(x):
        return _nowhere, never
    if not np.ptp(x) and not np.ptp(y):  # one pair: which constant there is, only the words tell
        lone = _scale(x, y) if any(one.multiplies for one in traits) else None
        return lone or (_as_it_is if all(one.stays_near for one in traits) else _shift)(x, y), never
    simple: tuple[Fit, ...] = (_as_it_is, _shift, _scale)
    errors = [_left_out(fit, x, y) for fit in simple]
    near = _NEARLY * float(np.ptp(x))
    if len(x) < 3 and min(errors) > near and not any(one.stays_near for one in traits):
        return _or_mean(_line, x, y), never
    if len(x) >= 3:
        more: tuple[Fit, ...] = (_line, _between, _nearest)
        simple, errors = (*simple, *more), [*errors, *(_left_out(fit, x, y) for fit in more)]
    # A few known pairs cannot tell a little better from a little luckier: the simplest of the good.
    good = max(near, AS_GOOD * min(errors))
    best = next(i for i, error in enumerate(errors) if error <= good)
    return _or_mean(simple[best], x, y), errors[best]


def _explains(model: Model, x: FloatArray, y: FloatArray, constants: int, share: float) -> bool:
    spread = float(np.ptp(x))
    unit = spread / float(np.ptp(y)) if np.ptp(y) else 1.0
    size = float(np.abs(x).max() + unit * np.abs(y).max())
    explained = np.abs(model(y) - x) <= EXACT * spread + ROUNDING * size
    # Equal pairs are one: as many as a model has constants are explained by any.
    is_checked = len(np.unique(x[explained])) > constants
    return is_checked and int(explained.sum()) >= share * len(x)


def _or_mean(fit: Fit, x: FloatArray, y: FloatArray) -> Model:
    model, middle = fit(x, y), float(x.mean())
    return model or (lambda released: np.full(len(released), middle))


def _nowhere(released: FloatArray) -> FloatArray:
    return np.full(len(released), np.nan)


def _as_it_is(x: FloatArray, y: FloatArray) -> Model:
    return lambda released: released


def _shift(x: FloatArray, y: FloatArray) -> Model:
    by = float(np.median(y - x))
    return lambda released: released - by


def _scale(x: FloatArray, y: FloatArray) -> Model | None:
    usable = y != 0
    if not usable.any():
        return None
    # The factor of the least sum of distances: people who have 0 say nothing of it.
    ratio, weight = x[usable] / y[usable], np.abs(y[usable])
    order = np.argsort(ratio)
    middle = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
    by = float(ratio[order[min(middle, len(order) - 1)]])
    return lambda released: released * by


def _line(x: FloatArray, y: FloatArray) -> Model | None:
    middle, spread = float(y.mean()), float(np.ptp(y))
    if spread <= 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return None
    # In units of their own: released numbers may be far smaller than the originals.
    centered = (y - middle) / spread
    slope = float(centered @ (x - x.mean()) / (centered @ centered)) / spread
    start = float(x.mean())
    return lambda released: start + slope * (released - middle)


def _clean_line(x: FloatArray, y: FloatArray) -> Model | None:
    """Fit the line that most pairs agree on (Theil and Sen): some of them may be noise."""
    first, second = np.triu_indices(len(x), 1)
    run = y[second] - y[first]
    usable = np.abs(run) > 1e-12 * max(float(np.abs(y).max()), 1e-300)
    if not usable.any():
        return None
    slope = float(np.median((x[second] - x[first])[usable] / run[usable]))
    start = float(np.median(x - slope * y))
    return lambda released: start + slope * released


def _between(x: FloatArray, y: FloatArray) -> Model | None:
    """Go from known pair to known pair, and beyond the last on along the line of all."""
    line = _line(x, y)
    if line is None:
        return None
    order = np.argsort(y)
    ends = y[order[[0, -1]]]
    off = x[order[[0, -1]]] - line(ends)

    def inverse(released: FloatArray) -> FloatArray:
        inside = np.interp(released, y[order], x[order])
        beyond = line(released) + np.where(released < ends[0], off[0], off[1])
        return np.where((released < ends[0]) | (released > ends[1]), beyond, inside)

    return inverse


def _nearest(x: FloatArray, y: FloatArray) -> Model | None:
    """Move by what the nearest known pair was moved by."""
    order = np.argsort(y)
    known, by = y[order], (y - x)[order]

    def inverse(released: FloatArray) -> FloatArray:
        after = np.clip(np.searchsorted(known, released), 1, len(known) - 1)
        closer = np.where(
            np.abs(known[after - 1] - released) <= np.abs(known[after] - released), after - 1, after
        )
        result: FloatArray = released - by[closer]
        return result

    return inverse


def _left_out(fit: Fit, x: FloatArray, y: FloatArray) -> float:
    """Return the median error of a model for pairs that it was not shown."""
    errors = []
    for index in range(len(x)):  # known persons: at most twenty
        others = np.arange(len(x)) != index
        model = fit(x[others], y[others])
        if model is None:
            return float("inf")
        errors.append(abs(float(model(y[index : index + 1])[0]) - float(x[index])))
    return float(np.median(errors))


_FITS: tuple[tuple[Fit, int], ...] = (
    (_as_it_is, 0),
    (_shift, 1),
    (_scale, 1),
    (_clean_line, 2),
    (fit_bands, 2),
)
"""How models are fitted, and how many constants each has; the simplest first."""
