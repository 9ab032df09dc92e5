"""How close the sensitive values of a class lie to each other: proximity, and how much they vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.errors import InternalError
from ppdm_sql.groups.search.histogram import sum_by
from ppdm_sql.groups.search.targets import TOLERANCE

if TYPE_CHECKING:
    from ppdm_sql.groups.search.histogram import Histogram
    from ppdm_sql.groups.search.problem import BoolArray, FloatArray, IntArray, Sensitive
    from ppdm_sql.groups.search.targets import RareSpread


def nearest(histogram: Histogram, column: Sensitive, distance: float) -> IntArray:
    """Return of each class how many values lie within a distance of one of its own, at most.

    Somebody with several such values counts as often: that errs on the side of the person.
    """
    if column.numbers is None:
        raise InternalError("only numbers lie near each other")
    # NULL is near NULL alone; a class of nothing else is as close as it can be.
    numbers = np.where(np.isnan(column.numbers), -np.inf, column.numbers)
    first = np.searchsorted(numbers, numbers - distance, side="left")
    behind = np.searchsorted(numbers, numbers + distance, side="right")
    # Entries are in order of class, then of value: a window of values is a window of entries.
    start = histogram.owner * column.values
    place = start + histogram.value
    counted = np.concatenate(([0], np.cumsum(histogram.count)))
    low = np.searchsorted(place, start + first[histogram.value], side="left")
    high = np.searchsorted(place, start + behind[histogram.value], side="left")
    most = np.zeros(histogram.classes, dtype=np.int64)
    np.maximum.at(most, histogram.owner, counted[high] - counted[low])
    return most


def is_spread(histogram: Histogram, column: Sensitive, target: RareSpread) -> BoolArray:
    """Tell of each class whether its values vary enough, if it holds a rare one."""
    holds_rare = _holds_rare(histogram, column, target.q)
    least = target.r * _whole_variance(column) * (1 - TOLERANCE)
    varies: BoolArray = _variances(histogram, column) >= least
    return ~holds_rare | ((histogram.distinct() >= target.p) & varies)


def least_spread(histogram: Histogram, column: Sensitive, rarer_than: float) -> float:
    """Return the least variance of classes with a rare value, in variances of the whole source."""
    whole = _whole_variance(column)
    variances = _variances(histogram, column)[_holds_rare(histogram, column, rarer_than)]
    if not len(variances) or not whole:
        return 1.0
    return float(variances.min() / whole)


def _holds_rare(histogram: Histogram, column: Sensitive, rarer_than: float) -> BoolArray:
    is_rare = column.reference[histogram.value] < rarer_than
    found = np.zeros(histogram.classes, dtype=np.bool_)
    found[histogram.owner[is_rare]] = True
    return found


def _variances(histogram: Histogram, column: Sensitive) -> FloatArray:
    """Return the variance of each class; of categories, how often two drawn ones differ."""
    owner, classes = histogram.owner, histogram.classes
    if column.numbers is None:
        return 1 - sum_by(owner, histogram.shares() ** 2, classes)
    numbers = column.numbers[histogram.value]
    weights = np.where(np.isnan(numbers), 0.0, histogram.count)
    numbers = np.nan_to_num(numbers, nan=0.0, posinf=np.inf, neginf=-np.inf)
    total = np.maximum(sum_by(owner, weights, classes), 1)
    # Classes of infinite numbers have no variance: NaN, which reaches nothing.
    with np.errstate(invalid="ignore"):
        mean = sum_by(owner, weights * numbers, classes) / total
        return sum_by(owner, weights * (numbers - mean[owner]) ** 2, classes) / total


def _whole_variance(column: Sensitive) -> float:
    if column.numbers is None:
        return float(1 - (column.reference**2).sum())
    is_number = ~np.isnan(column.numbers)
    shares, numbers = column.reference[is_number], column.numbers[is_number]
    if not shares.sum():
        return 0.0
    with np.errstate(invalid="ignore"):
        mean = np.average(numbers, weights=shares)
        return float(np.average((numbers - mean) ** 2, weights=shares))
