"""From where to where the label of a number or a date goes: `[30, 40)`, `[38, 90]`, `2024-Q3`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED, Dates, OnlySuppress, Ranges
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.groups.hierarchy_kinds import Hierarchy
    from ppdm_sql.types import ColumnType

_RANGE = re.compile(r"\[(?P<low>.+), (?P<high>.+)(?P<end>[\])])")
_PERIOD = re.compile(r"(\d{1,4})(?:-(\d\d)(?:-(\d\d))?|-Q([1-4])|(s))?")
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_MONTHS = 12
DATES = (Kind.DATE, Kind.TIMESTAMP)
_SMALL = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE = 18
"""Digits of a DECIMAL that hold the ends of ranges of a shorter one."""


def has_ends(hierarchy: Hierarchy, type_: ColumnType) -> bool:
    """Whether labels are ranges of numbers or dates: groups with names, and digits, have no ends."""
    is_ranged = isinstance(hierarchy.shape, Ranges | Dates | OnlySuppress)
    return is_ranged and type_.kind in (*NUMBERS, *DATES)


def end_type(type_: ColumnType) -> str:
    """Return a type that holds the ends: a range goes beyond the largest value of a narrow column."""
    if type_.text in _SMALL:
        return "BIGINT"
    found = _DECIMAL.fullmatch(type_.text)
    if found is not None and int(found[1]) < _WIDE:
        return f"DECIMAL({_WIDE},{found[2]})"
    return type_.text


def ends_of(labels: pa.Array, type_: ColumnType) -> tuple[pa.Array, pa.Array]:
    """Return the least and the largest value of each label, as texts; NULL for a star and for NULL.

    Of numbers with decimals, and of times, a range ends before its largest value.
    """
    encoded = labels.dictionary_encode()
    ends = [_ends(label, type_) for label in encoded.dictionary.to_pylist()]
    low, high = ([end[side] for end in ends] for side in (0, 1))
    # A column of nothing but NULL has no labels to take from.
    return tuple(
        pa.array(side, pa.string()).take(encoded.indices)
        if side
        else pa.nulls(len(labels), pa.string())
        for side in (low, high)
    )


def _ends(label: str, type_: ColumnType) -> tuple[str | None, str | None]:
    if label == SUPPRESSED:
        return None, None
    found = _RANGE.fullmatch(label)
    if found is not None:
        low, high = found["low"], found["high"]
        if found["end"] == ")" and type_.kind is Kind.INTEGER:
            high = str(int(Decimal(high)) - 1)
        return low, high
    if type_.kind in DATES:
        days = period_of(label)
        if days is not None:
            last = days[1] - timedelta(days=1) if type_.kind is Kind.DATE else days[1]
            return days[0].isoformat(), last.isoformat()
    return label, label


def period_of(label: str) -> tuple[date, date] | None:
    """Return the first day of a period, and the first behind it; None where it is none."""
    found = _PERIOD.fullmatch(label)
    if found is None:
        return None
    year, month, day, quarter, decade = found.groups()
    try:
        if day is not None:
            first = date(int(year), int(month), int(day))
            return first, date.fromordinal(first.toordinal() + 1)
        months = 1 if month else 3 if quarter else 10 * _MONTHS if decade else _MONTHS
        start = int(month or 3 * int(quarter or 1) - 2)
        end = int(year) * _MONTHS + start - 1 + months
        return date(int(year), start, 1), date(end // _MONTHS, end % _MONTHS + 1, 1)
    except (ValueError, OverflowError):  # beyond Python's calendar
        return None
