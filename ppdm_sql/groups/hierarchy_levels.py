"""Hierarchies at work: the levels of the values a column really has.

Labels are texts; two values belong to one group of a level when their labels there are equal.
NULL is a value of its own, NULL at every level but the last, where everything is `*`.
A table or file that ends in one group has no star above it, unless there are NULLs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED, Dates, Listed, Ranges, SuppressDigits
from ppdm_sql.language.syntax.hierarchies import DATE_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.hierarchy_kinds import Shape

_MOST_DIGITS = 64
_MOST = Decimal(10) ** 15
_MOST_DECIMALS = 9
_MOST_UNITS = 2.0**62


@dataclass(frozen=True, slots=True)
class Ladder:
    """The labels of some values at every level, and how much of the hierarchy each covers."""

    labels: tuple[pa.Array, ...] = field(repr=False)
    covered: tuple[np.ndarray[Any, np.dtype[np.int64]], ...] = field(repr=False)
    """How many leaves of the hierarchy share the label of a value."""
    leaves: int

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.labels) - 1


def says_two_things(ladder: Ladder) -> bool:
    """Whether one text stands for different values at two levels, as a value `*` and the star."""
    meanings: dict[str, list[int]] = {}
    for level in ladder.labels:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(level.to_pylist()):
            if text is not None:
                groups[text].append(number)
        if any(meanings.setdefault(text, group) != group for text, group in groups.items()):
            return True
    return False


def climb(shape: Shape, values: pa.Array, texts: pa.Array) -> Ladder:
    """Return the levels of distinct values; `texts` are the values as the engine writes them."""
    match shape:
        case SuppressDigits():
            levels = _digit_levels(texts)
        case Ranges():
            levels = _range_levels(shape, values, texts)
        case Dates():
            levels = _date_levels(shape, values, texts)
        case Listed():
            return _listed_ladder(shape, texts)
        case _:
            levels = [texts]
    labels = (*levels, _stars(len(texts)))
    return Ladder(labels, tuple(_sizes(level) for level in labels), len(texts))


def group_numbers(labels: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a number for each label, equal for equal ones; NULL is one of them."""
    encoded = labels.dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices, dtype=np.int64)


def check_ranges(widths: Sequence[int | float], origin: float) -> Ranges:
    """Return the shape of RANGES (…); every width is a multiple of the one before."""
    exact = tuple(Decimal(repr(width)) for width in widths)
    if any(width <= 0 for width in exact):
        raise TreatmentError("a range has a width above 0", code="bad_hierarchy")
    start = Decimal(repr(origin))
    if any(abs(number) > _MOST or _decimals(number) > _MOST_DECIMALS for number in (*exact, start)):
        raise TreatmentError(
            f"the numbers of RANGES lie below 1e15 and have at most {_MOST_DECIMALS} decimals",
            code="bad_hierarchy",
        )
    for smaller, larger in pairwise(exact):
        if larger <= smaller or larger % smaller:
            raise TreatmentError(
                f"{larger} is not a multiple of {smaller}: a range of one level must be made of "
                "whole ranges of the level below",
                hint="write widths such as (5, 10, 20)",
                code="bad_hierarchy",
            )
    return Ranges(exact, start)


def check_dates(units: Sequence[str]) -> Dates:
    """Return the shape of DATE (…): units from fine to coarse."""
    places = [DATE_UNITS.index(unit) for unit in units]
    if places != sorted(set(places)):
        raise TreatmentError(
            "the units of dates go from fine to coarse, each once",
            hint=f"the order is {', '.join(DATE_UNITS)}",
            code="bad_hierarchy",
        )
    return Dates(tuple(units))


def check_listed(levels: Sequence[pa.Array], *, is_whole: bool = False) -> Listed:
    """Return the shape of listed values: each level must be a function of the level below.

    A list that is whole, as files and tables are, and ends in one group needs no star above it.
    """
    if not levels or len(levels[0]) == 0:
        raise TreatmentError("there are no values in this hierarchy", code="bad_hierarchy")
    if any(level.null_count for level in levels):
        raise TreatmentError(
            "some cells of this hierarchy are NULL",
            hint="every value has a text at every level; NULL in the data needs no row",
            code="bad_hierarchy",
        )
    repeated = len(levels[0]) - pc.count_distinct(levels[0]).as_py()
    if repeated:
        raise TreatmentError(
            f"{plural(repeated, 'value')} listed more than once: a hierarchy has each value once",
            code="bad_hierarchy",
        )
    for number, (below, above) in enumerate(pairwise(levels), start=1):
        lower, upper = group_numbers(below), group_numbers(above)
        pairs = np.unique(lower * (upper.max() + 1) + upper)
        if len(pairs) > lower.max() + 1:
            raise TreatmentError(
                f"a group of level {number - 1} lies in two groups of level {number}",
                hint="every group must lie inside one group of the next level",
                code="bad_hierarchy",
            )
    has_top = len(levels) > 1 and pc.all(pc.equal(levels[-1], SUPPRESSED)).as_py()
    has_top |= is_whole and len(levels) > 1 and pc.count_distinct(levels[-1]).as_py() == 1
    return Listed(tuple(levels) if has_top else (*levels, _stars(len(levels[0]))))


def _stars(count: int) -> pa.Array:
    return pa.repeat(pa.scalar(SUPPRESSED), count)


def _sizes(labels: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    numbers = group_numbers(labels)
    sizes: np.ndarray[Any, np.dtype[np.int64]] = np.bincount(numbers)[numbers]
    return sizes


def _listed_ladder(shape: Listed, texts: pa.Array) -> Ladder:
    places = pc.index_in(texts, value_set=shape.levels[0])
    missing = pc.and_(pc.is_null(places), pc.is_valid(texts))
    count = pc.sum(missing).as_py() or 0
    if count:
        verb = "is" if count == 1 else "are"
        raise TreatmentError(
            f"{plural(count, 'value')} {verb} not in the hierarchy",
            hint="add what is missing: SELECT DISTINCT of the column lists what there is, DESCRIBE HIERARCHY what"
            " is known; or filter such rows in the source",
            code="outside_hierarchy",
        )
    has_null = bool(texts.null_count)
    leaves = len(shape.levels[0]) + has_null
    # A star is written last, unless the owner has a word of her own for everything.
    ends_in_star = pc.all(pc.equal(shape.levels[-1], SUPPRESSED)).as_py()
    listed = shape.levels[:-1] if ends_in_star else shape.levels
    labels = [pc.take(level, places) for level in listed]
    sizes = [np.append(_sizes(level), 1) for level in listed]
    # The appended 1 is NULL, a leaf of its own.
    at = np.asarray(pc.fill_null(places, len(shape.levels[0])), dtype=np.int64)
    covered = [size[at] for size in sizes]
    if not ends_in_star and not has_null:
        return Ladder(tuple(labels), tuple(covered), leaves)
    everything = np.full(len(texts), leaves, dtype=np.int64)
    return Ladder((*labels, _stars(len(texts))), (*covered, everything), leaves)


def _digit_levels(texts: pa.Array) -> list[pa.Array]:
    lengths = pc.utf8_length(texts)
    longest = pc.max(lengths).as_py() or 1
    if longest > _MOST_DIGITS:
        raise TreatmentError(
            f"some values have {longest} characters, and each would be a level",
            hint=f"SUPPRESS DIGITS RIGHT is for codes of at most {_MOST_DIGITS} characters",
            code="bad_hierarchy",
        )
    levels = [texts]
    for level in range(1, longest):
        kept = pc.utf8_slice_codeunits(texts, 0, -level)
        hidden = pc.min_element_wise(lengths, pa.scalar(level, lengths.type), skip_nulls=False)
        stars = pc.binary_repeat(pa.scalar(SUPPRESSED), hidden)
        levels.append(pc.binary_join_element_wise(kept, stars, ""))
    return levels


def _date_levels(shape: Dates, values: pa.Array, texts: pa.Array) -> list[pa.Array]:
    year = pc.year(values)
    years = pc.cast(year, pa.string())
    months = pc.utf8_lpad(pc.cast(pc.month(values), pa.string()), 2, "0")
    days = pc.utf8_lpad(pc.cast(pc.day(values), pa.string()), 2, "0")
    quarters = pc.cast(pc.quarter(values), pa.string())
    decade = pc.subtract(year, pa.array(np.mod(np.asarray(pc.fill_null(year, 0)), 10)))
    labels = {
        "day": pc.binary_join_element_wise(years, months, days, "-"),
        "month": pc.binary_join_element_wise(years, months, "-"),
        "quarter": pc.binary_join_element_wise(years, quarters, "-Q"),
        "year": years,
        "decade": pc.binary_join_element_wise(pc.cast(decade, pa.string()), "s", ""),
    }
    # A date is a day already: that level would be the value again.
    units = [unit for unit in shape.units if unit != "day" or not pa.types.is_date(values.type)]
    return [texts, *(labels[unit] for unit in units)]


def _range_levels(shape: Ranges, values: pa.Array, texts: pa.Array) -> list[pa.Array]:
    scale = max(_decimals(number) for number in (*shape.widths, shape.origin))
    first = _cells(values, shape.widths[0], shape.origin)
    levels = [texts]
    for width in shape.widths:
        # Wider ranges are counted from the narrowest, so that each is made of whole ones.
        cells = np.floor_divide(first, int(width / shape.widths[0]))
        units = int(width.scaleb(scale))
        low = int(shape.origin.scaleb(scale)) + cells * units
        ends = [_plain_number(pa.array(end), scale) for end in (low, low + units)]
        label = pc.binary_join_element_wise(
            pc.binary_join_element_wise("[", ends[0], ""),
            pc.binary_join_element_wise(ends[1], ")", ""),
            ", ",
        )
        levels.append(pc.if_else(pc.is_valid(values), label, pa.scalar(None, pa.string())))
    return levels


def _cells(
    values: pa.Array, width: Decimal, origin: Decimal
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of the range each value lies in; 0 for NULL."""
    of_column = values.type.scale if pa.types.is_decimal(values.type) else 0
    scale = max(_decimals(width), _decimals(origin), of_column)
    exact = _in_units(values, scale)
    if exact is not None:
        places: np.ndarray[Any, np.dtype[np.int64]] = exact - int(origin.scaleb(scale))
        return places // int(width.scaleb(scale))
    numbers = np.asarray(pc.fill_null(pc.cast(values, pa.float64(), safe=False), 0.0))
    cells = np.floor((numbers - float(origin)) / float(width))
    # Beyond this, a bound of a range would not fit 64 bits.
    most = _MOST_UNITS / 10.0**_MOST_DECIMALS / float(max(width, Decimal(1)))
    if not np.isfinite(cells).all() or (np.abs(cells) > most).any():
        raise TreatmentError(
            "some values are NaN, infinite or too large for these ranges",
            hint="filter them in a (SELECT …) source, or write wider ranges",
            code="outside_hierarchy",
        )
    return cells.astype(np.int64)


def _decimals(number: Decimal) -> int:
    return max(-int(number.normalize().as_tuple().exponent), 0)


def _in_units(values: pa.Array, scale: int) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return numbers as whole multiples of 10 ** -scale; None where 64 bits cannot."""
    if pa.types.is_floating(values.type):
        return None
    try:
        step = pa.scalar(Decimal(10) ** scale, pa.decimal128(scale + 1, 0))
        exact = pc.cast(pc.fill_null(values, 0), pa.decimal128(38 - scale - 2, scale))
        return np.asarray(pc.cast(pc.multiply(exact, step), pa.int64()), dtype=np.int64)
    except pa.ArrowInvalid:
        return None


def _plain_number(units: pa.Array, scale: int) -> pa.Array:
    if scale == 0:
        return pc.cast(units, pa.string())
    step = pa.scalar(Decimal(1).scaleb(-scale))
    return pc.cast(pc.multiply(pc.cast(units, pa.decimal128(19, 0)), step), pa.string())
