"""Versions that were published before the one that is audited: what they show of its rows.

A draft that nobody saw helps no attacker.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ppdm_sql.audit.measure.risk import classes_of
from ppdm_sql.audit.read import sql
from ppdm_sql.audit.read.subject import same_values
from ppdm_sql.audit.read.version import (
    NOT_MATCHED,
    aligned,
    array_of,
    has_unique_persons,
    places,
    read_version,
)
from ppdm_sql.errors import PpdmError
from ppdm_sql.store.catalog import published_before

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.audit.read.version import Audited
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.store.catalog import Entry


class Unreadable(Exception):
    """A version before cannot be read."""


class EarlierRows(NamedTuple):
    """What the version before shows of the rows of this one."""

    numbers: Mapping[str, FloatArray] = MappingProxyType({})
    classes: IntArray | None = None
    shown: Mapping[str, BoolArray] = MappingProxyType({})


def read_earlier(
    releases: Releases, read: Audited, left_out: list[str], versions: int
) -> EarlierRows:
    """Read what was published before, row by row beside this one; what was shown stays shown."""
    before = published_before(releases.engine, read.version.entry)
    if before is None:
        return EarlierRows()
    releases.on_stage("reading the version before")
    if not has_unique_persons(read):
        left_out.append(f"differencing was not tried: {NOT_MATCHED.format('versions')}")
        return EarlierRows()
    if not versions:
        left_out.append("differencing was not tried: the version before cannot be read any more")
        return EarlierRows()
    found = _beside(releases, read, before)
    if found is None:
        left_out.append("differencing was not tried: the version before has no KEY that is unique")
        return EarlierRows()
    while (before := published_before(releases.engine, before)) is not None:
        versions -= 1
        if not versions:
            left_out.append("of earlier versions, not all were compared")
            break
        older = _beside(releases, read, before)
        if older is not None:
            found = found._replace(shown=_either(found.shown, older.shown))
    return found


def _beside(releases: Releases, read: Audited, before: Entry) -> EarlierRows | None:
    """Return what a version shows of the rows of another; None where they cannot be matched."""
    try:
        other = read_version(releases.open(before))
    except PpdmError:
        raise Unreadable from None
    if not has_unique_persons(other):
        return None
    at = places(read.table, other.table)
    numbers = {
        column.name: aligned(column.released.numbers, at)
        for column in other.subject.columns
        if column.released.numbers is not None
    }
    classes = classes_of(other.subject).of_row
    return EarlierRows(
        numbers,
        np.where(at >= 0, classes[np.maximum(at, 0)], -1),
        _shown_before(read, other, at),
    )


def _either(
    first: Mapping[str, BoolArray], second: Mapping[str, BoolArray]
) -> Mapping[str, BoolArray]:
    """Return what one of two versions shows."""
    shared = {name: first[name] | second[name] for name in first.keys() & second.keys()}
    return {**first, **second, **shared}


def _shown_before(read: Audited, other: Audited, at: IntArray) -> dict[str, BoolArray]:
    """Tell of each column which of its originals another version shows, under whatever name."""
    place = pa.array(at, mask=at < 0)
    shown: dict[str, BoolArray] = {}
    for index, column in enumerate(read.columns):
        original = array_of(read.table, sql.original_column(index))
        for there, before in enumerate(other.columns):
            if before.source.name == column.source.name:
                released = array_of(other.table, sql.released_column(there)).take(place)
                name, same = column.name.text, same_values(released, original)
                shown[name] = shown[name] | same if name in shown else same
    return shown
