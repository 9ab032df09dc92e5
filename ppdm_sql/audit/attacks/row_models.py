"""The same for columns that are treated together: a model a column, a pair, or the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ppdm_sql.audit.attacks.models import (
    AS_GOOD,
    EXACT,
    MOST,
    ROUNDING,
    exact_model,
    likely_model,
)
from ppdm_sql.audit.attacks.tools.units import safe_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.groups.search import BoolArray, FloatArray
    from ppdm_sql.treatments.traits import Traits

    FitMap: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
    """From originals and released rows to the map that takes released rows, and a 1, home."""

_TRIALS = 20
_GOOD = 0.05
"""A guess that is off by less than this share of the known spread is better than none."""


class _Kind(NamedTuple):
    """A kind of map: how many rows fix it, and how many it must explain to be believed."""

    fit: FitMap
    least: int
    needed: int


@np.errstate(over="ignore", invalid="ignore")  # a guess that is no number is none
def guess_rows(
    x: FloatArray, y: FloatArray, unknown: FloatArray, traits: Sequence[Traits] = ()
) -> FloatArray:
    """Return guesses for released rows, from known originals `x` of released `y`; NaN is NULL.

    The simplest explanation first: columns on their own; pairs in the order in which rotation and
    hybrid take them; all that is left as a whole. What none explains exactly is guessed by what
    does best for known rows that it was not shown.
    """
    guess = np.full(unknown.shape, np.nan)
    left = _columns_alone(x, y, unknown, traits, guess)
    size = x.shape[1]
    for first in range(0, size - 1, 2):
        left = _together(_PAIR, [first, first + 1], left, (x, y, unknown), guess)
    if size % 2 and size > 2:  # the last of an odd number is turned with the first
        left = _together(_CHAIN, [0, 1, size - 1], left, (x, y, unknown), guess)
    left = _together(_whole(len(left)), left, left, (x, y, unknown), guess)
    if left:
        guess[:, left] = _likely_rows(x[:, left], y[:, left], unknown[:, left], traits)
    return guess


def _columns_alone(
    x: FloatArray,
    y: FloatArray,
    unknown: FloatArray,
    traits: Sequence[Traits],
    guess: FloatArray,
) -> list[int]:
    """Fill in the columns that are explained on their own; return the others."""
    left = []
    for column in range(x.shape[1]):
        has = ~np.isnan(x[:, column] + y[:, column])
        model = exact_model(x[has, column], y[has, column], unknown[:, column], traits)
        if model is None:
            left.append(column)
        else:
            guess[:, column] = model(unknown[:, column])
    return left


def _together(
    kinds: Sequence[_Kind],
    columns: list[int],
    left: list[int],
    rows: tuple[FloatArray, FloatArray, FloatArray],
    guess: FloatArray,
) -> list[int]:
    """Fill in columns that one map explains; return what is left."""
    if not columns or not set(columns) <= set(left):
        return left
    x, y, unknown = (matrix[:, columns] for matrix in rows)
    complete = ~np.isnan(x + y).any(axis=1)
    x, y = x[complete], y[complete]
    # One unit for all of them: a turn in units of each column is none.
    unit = safe_unit(x, y)
    x, y = x / unit, y / unit
    for kind in kinds:
        found = _best_map(x, y, kind) if len(x) >= kind.least else None
        if found is not None:
            guess[:, columns] = unit * _applied(found, unknown / unit)
            return [column for column in left if column not in columns]
    return left


def _best_map(x: FloatArray, y: FloatArray, kind: _Kind) -> FloatArray | None:
    """Return the map that explains most known rows exactly; None where none explains enough.

    It is fitted to all of them, and to as few as fix it: others may have noise.
    """
    choices = [np.arange(len(x))]
    if kind.least == 1:
        choices += [np.array([row]) for row in range(len(x))]  # known persons, not rows of the data
    elif len(x) > kind.least:
        generator = np.random.default_rng(0)
        choices += [generator.choice(len(x), kind.least, replace=False) for _ in range(_TRIALS)]
    enough = max(MOST * len(x), kind.needed)
    best, most = None, 0
    for chosen in choices:
        found = kind.fit(x[chosen], y[chosen])
        explained = int(_explained(x, _applied(found, y), y).sum())
        if explained >= enough and explained > most:
            best, most = found, explained
        if explained == len(x):
            break
    return best


def _explained(x: FloatArray, guess: FloatArray, y: FloatArray) -> BoolArray:
    near = EXACT * np.ptp(x, axis=0) + ROUNDING * max(
        float(np.abs(x).max()), float(np.abs(y).max())
    )
    explained: BoolArray = (np.abs(guess - x) <= near).all(axis=1)
    return explained


def _likely_rows(
    x: FloatArray, y: FloatArray, unknown: FloatArray, traits: Sequence[Traits]
) -> FloatArray:
    """Guess each column by what does best on known rows left out: itself, a turn, an affine map."""
    size = x.shape[1]
    guess = np.full(unknown.shape, np.nan)
    errors = np.full(size, np.inf)
    for column in range(size):
        has = ~np.isnan(x[:, column] + y[:, column])
        model, errors[column] = likely_model(x[has, column], y[has, column], traits)
        guess[:, column] = model(unknown[:, column])
    complete = ~np.isnan(x + y).any(axis=1)
    x, y = x[complete], y[complete]
    if size < 2 or len(x) < 2:
        return guess
    unit = safe_unit(x, y)
    own = guess / unit, errors / unit
    return unit * _mapped(x / unit, y / unit, unknown / unit, own, traits)


def _mapped(
    x: FloatArray,
    y: FloatArray,
    unknown: FloatArray,
    own: tuple[FloatArray, FloatArray],
    traits: Sequence[Traits],
) -> FloatArray:
    """Return guesses and, where a map of all columns errs less than they do, those of the map."""
    guess, errors = own
    size = x.shape[1]
    if len(x) == size and not all(one.stays_near for one in traits):
        # So many rows fix a linear map and leave none to check it.
        bad = errors > _GOOD * np.ptp(x, axis=0)
        guess[:, bad] = _applied(_linear(x, y), unknown)[:, bad]
        return guess
    for fit in (_turn, _rigid, _affine):
        if fit is _affine and len(x) < size + 2:
            continue
        found, better = _applied(fit(x, y), unknown), _left_out(fit, x, y)
        chosen = better * AS_GOOD < errors
        guess[:, chosen] = found[:, chosen]
        errors = np.where(chosen, better, errors)
    return guess


def _left_out(fit: FitMap, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the median error of each column for rows that a map was not shown."""
    off = []
    for row in range(len(x)):  # known persons, not rows of the data
        others = np.arange(len(x)) != row
        off.append(np.abs(_applied(fit(x[others], y[others]), y[row : row + 1])[0] - x[row]))
    median: FloatArray = np.median(off, axis=0)
    return median


def _applied(found: FloatArray, rows: FloatArray) -> FloatArray:
    applied: FloatArray = rows @ found[:-1] + found[-1]
    return applied


def _turn(x: FloatArray, y: FloatArray) -> FloatArray:
    """The turn, or turn and reflection, that takes rows nearest home (Procrustes)."""
    left, _, right = np.linalg.svd(y.T @ x)
    return np.vstack((left @ right, np.zeros(x.shape[1])))


def _rigid(x: FloatArray, y: FloatArray) -> FloatArray:
    """A turn, then a shift."""
    turn = _turn(x - x.mean(axis=0), y - y.mean(axis=0))[:-1]
    return np.vstack((turn, x.mean(axis=0) - y.mean(axis=0) @ turn))


def _pair_turn(x: FloatArray, y: FloatArray) -> FloatArray:
    """A turn of two columns, without reflection: one row is enough."""
    cosine = float((x * y).sum())
    sine = float((y[:, 0] * x[:, 1] - y[:, 1] * x[:, 0]).sum())
    length = float(np.hypot(cosine, sine)) or 1.0
    c, s = cosine / length, sine / length
    return np.array([[c, s], [-s, c], [0.0, 0.0]])


def _pair_rigid(x: FloatArray, y: FloatArray) -> FloatArray:
    turn = _pair_turn(x - x.mean(axis=0), y - y.mean(axis=0))[:-1]
    return np.vstack((turn, x.mean(axis=0) - y.mean(axis=0) @ turn))


def _chain(x: FloatArray, y: FloatArray) -> FloatArray:
    """Two turns: the first column with the second, then what became of it with the third."""
    # What became of the second column is x1 cos - x0 sin, which the second turn leaves alone.
    (cosine, sine), *_ = np.linalg.lstsq(np.column_stack((x[:, 1], -x[:, 0])), y[:, 1], rcond=None)
    between = np.column_stack((cosine * x[:, 0] + sine * x[:, 1], x[:, 2]))
    later = _pair_turn(between, y[:, [0, 2]])[:-1]
    earlier = np.array([[cosine, sine], [-sine, cosine]])
    found = np.zeros((4, 3))
    found[[0, 2], 0], found[[0, 2], 2] = later[:, 0], later[:, 1]
    found[1, 1] = 1.0
    found[:, :2] = found[:, :2] @ earlier
    return found


def _linear(x: FloatArray, y: FloatArray) -> FloatArray:
    found = np.linalg.lstsq(y, x, rcond=None)[0]
    return np.vstack((found, np.zeros(x.shape[1])))


def _affine(x: FloatArray, y: FloatArray) -> FloatArray:
    wide = np.hstack((y, np.ones((len(y), 1))))
    return np.asarray(np.linalg.lstsq(wide, x, rcond=None)[0], dtype=np.float64)


# A row of a pair says two things and a turn has one constant: a row that agrees is a check.
_PAIR = (
    _Kind(_pair_turn, 1, 1),
    _Kind(_pair_rigid, 2, 2),
    _Kind(_linear, 2, 3),
    _Kind(_affine, 3, 4),
)
_CHAIN = (_Kind(_chain, 2, 2),)


def _whole(size: int) -> tuple[_Kind, ...]:
    return (_Kind(_turn, 2, 2), _Kind(_linear, size, size + 1), _Kind(_affine, size + 1, size + 2))
