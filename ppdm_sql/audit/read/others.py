"""What else is out about the rows that are audited: versions before, and other releases.

A draft that nobody saw helps no attacker, unless the owner names its release. Published versions
are run on the rows of today: people who left since, and values that were overwritten, are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ppdm_sql.audit.attacks.protocol import OtherValues
from ppdm_sql.audit.measure.risk import classes_of
from ppdm_sql.audit.read import sql
from ppdm_sql.audit.read.subject import labels_of, same_values
from ppdm_sql.audit.read.version import (
    NOT_MATCHED,
    aligned,
    array_of,
    has_unique_persons,
    places,
    read_version,
)
from ppdm_sql.errors import BindError, PpdmError
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.lineage import may_share, table_of_origin
from ppdm_sql.release.version import same_persons
from ppdm_sql.store.catalog import published_entry
from ppdm_sql.store.publications import list_publications
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.audit.read.sql import AuditedColumn
    from ppdm_sql.audit.read.version import Audited
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray
    from ppdm_sql.language.syntax import AuditRelease
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.catalog import Entry
    from ppdm_sql.store.publications import PublishedRelease

_MOST = 10
"""Published versions that are looked at, the latest first: each is read as a whole."""
FEW = 5
"""Newcomers below which a difference of sums tells something of each."""


class Unreadable(Exception):
    """A version that was published cannot be read any more; reading it ended the transaction."""

    def __init__(self, entry: Entry) -> None:
        super().__init__("a published version cannot be read")
        self.version = (entry.release_id, entry.version)


@dataclass(frozen=True, slots=True)
class OtherRows:
    """What another version shows of all rows of this one."""

    label: str
    numbers: Mapping[str, tuple[FloatArray, ...]] = field(repr=False)
    classes: IntArray = field(repr=False)
    sizes: IntArray = field(repr=False)
    shown: Mapping[str, BoolArray] = field(repr=False)
    values: Mapping[str, OtherValues] = field(repr=False)
    apart: Mapping[str, int] = field(default_factory=dict)
    """Of columns whose sums it keeps, how many rows have a value here or there, not in both."""


def read_others(
    releases: Releases,
    read: Audited,
    statement: AuditRelease,
    unreadable: set[tuple[int, int]],
    left_out: list[str],
) -> tuple[OtherRows, ...]:
    """Read what else is out, row by row beside this one."""
    named = [
        _named(releases, read, statement, place) for place in range(len(statement.together_with))
    ]
    published = list(_published(releases, read, named, unreadable, left_out))
    if not named and not published:
        return ()
    releases.on_stage("reading what else was published")
    if not has_unique_persons(read):
        left_out.append(f"differencing was not tried: {NOT_MATCHED.format('versions')}")
        return ()
    found = []
    for version in (*named, *published):
        beside = _beside(read, version)
        if beside is None:
            left_out.append(
                f"differencing was not tried with {_label(read, version.entry)}, which has no KEY"
                " that is unique"
            )
        else:
            found.append(beside)
    return tuple(found)


def newcomers(releases: Releases, read: Audited, others: Sequence[OtherRows]) -> dict[str, int]:
    """Return columns whose sums are out of few rows more or less, and the fewest such rows."""
    found: dict[str, int] = {}
    summed = [c for c in read.columns if any(t.keeps_sums for t in c.traits) and c.is_numeric]
    names = {column.name.text for column in summed}
    for other in others:
        for name in names & other.apart.keys():
            if 0 < other.apart[name] < FEW:
                found[name] = min(other.apart[name], found.get(name, FEW))
    for one in list_publications(releases.engine) if summed else ():
        more = abs(read.subject.rows - one.rows)
        if not 0 < more < FEW:
            continue
        for column in summed:
            if any(_shows_sums(releases, one, column)):
                found[column.name.text] = min(more, found.get(column.name.text, more))
    return found


def _shows_sums(
    releases: Releases, published: PublishedRelease, column: AuditedColumn
) -> Iterator[bool]:
    for other in published.columns:
        if other.origins & column.source.origins:
            words = (traits_of(word, releases.treatments) for word in other.treatments)
            yield any(traits.keeps_sums for traits in words)


def _named(releases: Releases, read: Audited, statement: AuditRelease, place: int) -> Version:
    """Open a release that the owner names."""
    name, span = statement.together_with[place], statement.together_spans[place]
    version = releases.open(releases.entry(name, span), span)
    if version.entry.release_id == read.version.entry.release_id:
        raise BindError(
            "a release is audited together with others",
            span,
            "leave TOGETHER WITH out: what was published of it is looked at anyway",
            code="same_release",
        )
    if not same_persons(read.version, version):
        raise BindError(
            f"'{name}' and '{statement.name}' list no KEY that is the same column of one table",
            span,
            "rows of two releases are matched by their KEY: list it in both",
            code="no_common_key",
        )
    return version


def _published(
    releases: Releases,
    read: Audited,
    named: Sequence[Version],
    unreadable: set[tuple[int, int]],
    left_out: list[str],
) -> Iterator[Version]:
    """Open what was published of the same rows, the latest first."""
    entry = read.version.entry
    seen = {(one.release_id, one.version) for one in (entry, *(v.entry for v in named))}
    opened = 0
    for one in reversed(list_publications(releases.engine)):
        if (one.release_id, one.version) in seen:
            continue
        seen.add((one.release_id, one.version))
        other = published_entry(releases.engine, one.release, one.release_id, one.version)
        if other is None or (one.release_id, one.version) in unreadable:
            if one.release_id == entry.release_id or _are_of_one_table(read, one):
                left_out.append(
                    f"differencing was not tried with {one.release} version {one.version}, which"
                    " cannot be read any more"
                )
            continue
        try:
            version = releases.open(other)
        except PpdmError:
            raise Unreadable(other) from None
        if not same_persons(read.version, version):
            if one.release_id == entry.release_id or _are_of_one_table(read, one):
                left_out.append(
                    f"differencing was not tried with {_label(read, other)}: the two list no KEY"
                    " that is written in the same way"
                )
            continue
        if opened == _MOST:
            left_out.append(f"of what else was published, only the latest {_MOST} were compared")
            return
        opened += 1
        yield version


def _are_of_one_table(read: Audited, published: PublishedRelease) -> bool:
    here = {one for column in read.columns for one in column.source.origins}
    there = {one for column in published.columns for one in column.origins}
    return may_share(*(frozenset(map(table_of_origin, side)) for side in (here, there)))


def _label(read: Audited, entry: Entry) -> str:
    if entry.release_id == read.version.entry.release_id:
        return f"version {entry.version}"
    return f"{entry.name} version {entry.version}"


def _beside(read: Audited, version: Version) -> OtherRows | None:
    """Return what a version shows of the rows of another; None where they cannot be matched."""
    try:
        other = read_version(version)
    except PpdmError:
        raise Unreadable(version.entry) from None
    if not has_unique_persons(other):
        return None
    at = places(read.table, other.table)
    classes = classes_of(other.subject).of_row
    numbers: dict[str, tuple[FloatArray, ...]] = {}
    shown: dict[str, BoolArray] = {}
    values: dict[str, OtherValues] = {}
    apart: dict[str, int] = {}
    is_here = np.zeros(other.subject.rows, dtype=np.bool_)
    is_here[at[at >= 0]] = True
    place = pa.array(at, mask=at < 0)
    for here, column in enumerate(read.columns):
        name = column.name.text
        original = array_of(read.table, sql.original_column(here))
        for there, before in enumerate(other.columns):
            if not _is_same(column, before):
                continue
            released = array_of(other.table, sql.released_column(there)).take(place)
            same = same_values(released, original)
            shown[name] = shown[name] | same if name in shown else same
            measured = other.subject.columns[there].released.numbers
            if measured is not None:
                numbers[name] = (*numbers.get(name, ()), aligned(measured, at))
                mine = read.subject.columns[here].released.numbers
                if mine is not None and any(t.keeps_sums for t in before.traits):
                    differ = np.isnan(mine) != np.isnan(numbers[name][-1])
                    gone = ~is_here & ~np.isnan(measured)
                    apart[name] = int(differ.sum() + gone.sum())
            if _shows(column) and _shows(before):
                first, second = labels_of(
                    array_of(read.table, sql.released_column(here)),
                    array_of(other.table, sql.released_column(there)),
                )
                values[name] = OtherValues(first + 1, second + 1, classes)  # NULL is a value
    return OtherRows(
        _label(read, version.entry),
        numbers,
        np.where(at >= 0, classes[np.maximum(at, 0)], -1),
        np.bincount(classes[classes >= 0]),
        shown,
        values,
        apart,
    )


def _is_same(column: AuditedColumn, other: AuditedColumn) -> bool:
    """Tell whether two columns show the same column of a table."""
    if column.source.origins and other.source.origins:
        return column.source.origins == other.source.origins
    return column.source.name == other.source.name


def _shows(column: AuditedColumn) -> bool:
    """Tell whether it is SENSITIVE and shows the original values."""
    return column.role is Role.SENSITIVE and all(t.shows_originals for t in column.traits)
