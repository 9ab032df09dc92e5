"""Which classes reach targets, and how many rows at least must go where one does not.

A class that reaches k or distinct l keeps it whatever is merged into it. The other targets are
kept by merging only among classes that all reach them: a mixture of distributions is as diverse
and as close to the whole as the worst of them. So at any node below, the parts of a class that
are kept there reach the target together, too, and what had to go is at least what must be taken
from the class to reach it. This needs every row to be a person: somebody in two parts counts
once in their union, which is no mixture. Of proximity and of the spread of rare values nothing
follows from one node for another.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search.distance import distances, farthest
from ppdm_sql.groups.search.spread import is_spread, nearest
from ppdm_sql.groups.search.targets import (
    TOLERANCE,
    Alpha,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    Population,
    Proximity,
    RareSpread,
    RecursiveL,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.groups.search.census import Counted
    from ppdm_sql.groups.search.problem import BoolArray, FloatArray
    from ppdm_sql.groups.search.targets import MixedTarget, Target

_ROUNDING = 1e-6
"""In rows: a shortfall this little above a whole number is taken for rounding."""


def reach(targets: Iterable[Target], counted: Counted) -> BoolArray:
    """Tell of each class whether it reaches all targets."""
    reached = np.ones(counted.number, dtype=np.bool_)
    for target in targets:
        reached &= _reach(target, counted)
    return reached


def _reach(target: Target, counted: Counted) -> BoolArray:
    reached: BoolArray
    match target:
        case K():
            reached = counted.persons >= target.k
        case Population():
            reached = counted.population >= target.k
        case DistinctL():
            reached = counted.histogram(target.column).distinct() >= target.l
        case EntropyL():
            reached = counted.histogram(target.column).entropy() >= _least_entropy(target)
        case RecursiveL():
            dominance = counted.histogram(target.column).dominance(target.l)
            reached = dominance < target.c * (1 - TOLERANCE)
        case Closeness():
            reached = _distances(target, counted) <= target.t + TOLERANCE
        case Alpha():
            most = counted.histogram(target.column).largest(target.chosen)
            reached = most <= (target.share + TOLERANCE) * counted.persons
        case Proximity():
            column = counted.problem.sensitive[target.column]
            near = nearest(counted.histogram(target.column), column, target.distance)
            reached = near * target.l <= counted.persons
        case RareSpread():
            column = counted.problem.sensitive[target.column]
            reached = is_spread(counted.histogram(target.column), column, target)
    return reached


def shortfall(targets: Iterable[MixedTarget], counted: Counted) -> FloatArray:
    """Return how many rows of each class, at least, no node below can keep.

    At least 1 where a target is missed, 0 where all are reached.
    """
    least = np.zeros(counted.number)
    for target in targets:
        rows = np.ceil(_shortfall(target, counted) - _ROUNDING)
        missed = ~_reach(target, counted)
        least[missed] = np.maximum(least[missed], np.maximum(rows[missed], 1))
    return least


def _shortfall(target: MixedTarget, counted: Counted) -> FloatArray:
    """Return the rows to take from each class; means nothing where the target is reached.

    With a share f of rows R taken from a class P, the rest P' has P = (1 - f) P' + f R.
    """
    rows = counted.rows
    short: FloatArray
    match target:
        case EntropyL():
            # Entropy is concave and at least 0: H(P) >= (1 - f) ln l.
            least = _least_entropy(target)
            entropy = counted.histogram(target.column).entropy()
            short = rows * (1 - entropy / least) if least > 0 else np.zeros(counted.number)
        case RecursiveL():
            # Taking rows away never lengthens the tail: r1 - x < c * tail.
            histogram = counted.histogram(target.column)
            short = histogram.largest() - target.c * histogram.tail(target.l)
        case Closeness():
            # Distance is convex and at most the farthest: D(P) <= (1 - f) t + f * farthest.
            most = farthest(counted.problem.sensitive[target.column])
            room = most - target.t
            over = _distances(target, counted) - target.t
            short = rows * over / room if room > 0 else np.zeros(counted.number)
        case Alpha():
            # Best case: all of them hold the most frequent value: r1 - x <= share * (n - x).
            most_frequent = counted.histogram(target.column).largest(target.chosen)
            over = most_frequent - target.share * rows
            short = over / (1 - target.share) if target.share < 1 else np.zeros(counted.number)
    return short


def _least_entropy(target: EntropyL) -> float:
    return math.log(target.l) - TOLERANCE


def _distances(target: Closeness, counted: Counted) -> FloatArray:
    column = counted.problem.sensitive[target.column]
    return distances(counted.histogram(target.column), column)
