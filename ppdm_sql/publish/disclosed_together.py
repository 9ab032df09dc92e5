"""What goes out, judged together with what is out: draws that average, classes that shrink, sums.

The ledger knows which versions were published, not the rows of then. So stored versions are run on
the rows of today, and what is said is of these. People who left since, and values that were
overwritten, are not seen.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.errors import PpdmError, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.parameters import parameter_column
from ppdm_sql.publish.inner_releases import classes_below, inner_columns
from ppdm_sql.publish.noises_together import noises_together
from ppdm_sql.publish.published_columns import may_be_one, traits_of_column
from ppdm_sql.publish.two_versions import are_alike, small_classes, values_apart
from ppdm_sql.publish.two_ways import shown_in_two_ways
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import is_gone_table, may_share, table_of_origin
from ppdm_sql.release.row_key import numbers_rows
from ppdm_sql.release.version import same_persons
from ppdm_sql.store import parameters
from ppdm_sql.store.publications import PublishedColumn, PublishedRelease, list_publications

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.publish.earlier_versions import EarlierVersions
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Outgoing, Publication

_ROWS, _COUNT = "s", "n"
_MOST_VERSIONS = 20
"""Versions that classes are counted together with: each costs a join."""
_FEW = 5
"""Newcomers below which a difference of sums tells something of each."""


def _is_uncounted(version: Version, other: Version) -> bool:
    """Whether classes may be cut row by row although they are not by all rows of a person."""
    return _repeats_persons(version) and not are_alike(version, other)


def _repeats_persons(version: Version) -> bool:
    key = version.release.key
    assert key is not None  # two versions were counted by it
    value = column_of(key.name.text, _ROWS)
    distinct = exp.Count(this=exp.Distinct(expressions=[value]))
    differ = exp.LT(this=distinct, expression=exp.Count(this=value.copy()))
    query = exp.select(named(differ, _COUNT)).from_(source_table(version.release.source, _ROWS))
    return bool(version.engine.query(query).column(_COUNT)[0].as_py())


def disclosed_together(
    versions: EarlierVersions,
    publication: Publication,
    outgoing: Sequence[tuple[Outgoing, Version]],
) -> Iterator[str]:
    """Say what this publication gives away together with those before it."""
    earlier = [
        one
        for one in list_publications(versions.releases.engine)
        if one.publication.name != publication.name
    ]
    for one, version in outgoing:
        yield from noises_together(versions, version, one, earlier)
        yield from _sums(versions, version, one, earlier)
        yield from _groups(versions, version, one, earlier)
        if version.release.agreement is None:  # those are made to be put together
            yield from shown_in_two_ways(versions, version, one, earlier)
        yield from _classes(versions, version, earlier)
        mine = _tables(version)
        if any(may_share(mine, _tables_then(before, None)) for before in earlier):
            yield from classes_below(versions.releases, version)
        # Those of one publication are judged together, too.
        entry = one.entry
        earlier.append(
            PublishedRelease(
                publication,
                entry.name,
                entry.version,
                one.rows,
                entry.release_id,
                one.persons,
                one.columns,
            )
        )


def _sums(
    versions: EarlierVersions,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
) -> Iterator[str]:
    """Say which sums are out of which this publication has a few values more or less."""
    releases, sources = versions.releases, versions.sources
    for column in outgoing.columns:
        if not any(one.keeps_sums for one in traits_of_column(releases, column)):
            continue
        yield from _sums_beside(versions, version, outgoing, column)
        seen: set[tuple[int, int]] = set()
        for one in reversed(earlier):
            summed = [
                other.name
                for other in one.columns
                if may_be_one(sources, other, column)
                and any(traits.keeps_sums for traits in traits_of_column(releases, other))
            ]
            place = (one.release_id, one.version)
            more = abs(outgoing.rows - one.rows)
            if not summed or (place in seen and not 0 < more < _FEW):
                continue
            seen.add(place)
            is_same = place == (outgoing.entry.release_id, outgoing.entry.version)
            other = None if is_same else versions.open(one)
            apart = [
                None if other is None else values_apart(version, other, column.name, name)
                for name in (() if is_same else summed)
            ]
            few = [count for count in (more, *apart) if count is not None and 0 < count < _FEW]
            if few:
                yield (
                    f"{outgoing.entry.name}: {one.release}, which {versions.when(one)}, has the sum of"
                    f" '{column.name}', too, and the two differ by {plural(min(few), 'row')}: subtracting the sums"
                    f" gives the {'value of that row' if min(few) == 1 else 'sum of these rows'}"
                )
                break
            if None in apart:
                yield (
                    f"{outgoing.entry.name}: {one.release}, which {versions.when(one)}, has sums of"
                    f" '{column.name}', too; without a KEY that both list, and one column that both"
                    " sum, it cannot be counted how many rows differ"
                )
                break


def _sums_beside(
    versions: EarlierVersions, version: Version, outgoing: Outgoing, column: PublishedColumn
) -> Iterator[str]:
    """Say where a column beside it sums nearly the same values."""
    for other in outgoing.columns:
        if other.name <= column.name or not may_be_one(versions.sources, other, column):
            continue
        if any(traits.keeps_sums for traits in traits_of_column(versions.releases, other)):
            apart = values_apart(version, version, column.name, other.name)
            if apart is not None and 0 < apart < _FEW:
                yield (
                    f"{outgoing.entry.name}: '{column.name}' and '{other.name}' sum the same column and"
                    f" differ by {plural(apart, 'row')}: subtracting the sums gives"
                    f" the {'value of that row' if apart == 1 else 'sum of these rows'}"
                )


def _groups(
    versions: EarlierVersions,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
) -> Iterator[str]:
    """Say where means over other groups of one column are out."""

    def shows_means(column: PublishedColumn) -> bool:
        return any(one.shows_means for one in traits_of_column(versions.releases, column))

    for column in filter(shows_means, outgoing.columns):
        others: list[tuple[str, Version | None, PublishedColumn]] = [
            ("beside it", version, other)
            for other in filter(shows_means, outgoing.columns)
            if other.name > column.name
        ]
        others += [
            (f"by {one.release}, which {versions.when(one)}", versions.open(one), other)
            for one in reversed(earlier)
            for other in filter(shows_means, one.columns)
        ]
        mine = _means(versions, version, column.name)
        for where, opened, other in others:
            if may_be_one(versions.sources, other, column) and (
                opened is None or _means(versions, opened, other.name) != mine
            ):
                yield (
                    f"{outgoing.entry.name}: '{column.name}' is shown in other groups {where}: where"
                    " groups of the two end one row apart, the difference of their sums is the value of"
                    " that row; publish groups of one size"
                )
                break


def _means(versions: EarlierVersions, version: Version, column: str) -> str:
    """Return a digest of the groups of a column, as the store keeps them, here and below."""
    digest = hashlib.sha256()
    for one in inner_columns(versions.releases, version)[column]:
        digest.update(_means(versions, one.version, one.column.text).encode())
    for rule in version.release.released_rules:
        if column not in {name.text for name in rule.names}:
            continue
        for step in rule.steps:
            prefix = f"_{parameter_column(step.slot, '')}"
            for name in (one for one in version.entry.tables if prefix in one):
                rows = version.engine.query(
                    exp.select("*").from_(table_of(parameters.owner_table(name)))
                )
                cells = np.array([column.to_numpy() for column in rows.columns])
                digest.update(cells[:, np.lexsort(cells)].tobytes())
    return digest.hexdigest()


def _classes(
    versions: EarlierVersions, version: Version, earlier: Sequence[PublishedRelease]
) -> Iterator[str]:
    """Say where two releases of the same persons cut classes smaller than k, on today's rows."""
    grouping = find_grouping(version.release)
    seen: set[tuple[int, int]] = {(version.entry.release_id, version.entry.version)}
    gone: dict[str, None] = {}
    for one in reversed(earlier):
        if (one.release_id, one.version) in seen:
            continue
        if len(seen) > _MOST_VERSIONS:
            yield (
                f"{version.entry.name}: classes were counted together with the last"
                f" {_MOST_VERSIONS} versions that were published, not with older ones"
            )
            return
        seen.add((one.release_id, one.version))
        other = versions.open(one)
        groupings = [grouping, None if other is None else find_grouping(other.release)]
        k = max((found.k for found in groupings if found is not None), default=1)
        if k < 2 and not (other is None and _was_generalized(versions.releases, one)):
            continue
        is_countable = other is not None and same_persons(version, other)
        then = _tables_then(one, other) | (_tables(other) if other is not None else frozenset())
        if not is_countable and not may_share(_tables(version), then):
            if _is_of_gone_tables(versions, one):
                gone[str(one.release)] = None
            continue
        row = None
        if other is not None and is_countable:
            try:
                (row,) = version.engine.query(small_classes(version, other, k)).to_pylist()
            except PpdmError:
                row = None  # its source is not what it was
        if row is None:
            yield (
                f"{version.entry.name}: {versions.why_not(one)}"
                if versions.why_not(one)
                else f"{version.entry.name}: {one.release} {versions.when(one)} and shows columns of the"
                " same tables; without a KEY that both list, classes of the two together cannot be"
                " counted"
            )
        elif other is not None and not row["persons"] and _is_uncounted(version, other):
            yield (
                f"{version.entry.name}: {one.release} {versions.when(one)}, about the same persons."
                " Over all rows of a person, no class gets smaller than k. Row by row, classes of the"
                " two together cannot be counted, because persons have several rows"
            )
        elif row["persons"]:
            yield (
                f"{version.entry.name}: combined with {one.release}, which {versions.when(one)},"
                f" it puts {plural(row['persons'], 'person')} of today's rows into classes smaller than"
                f" k = {k};"
                f" the smallest class has {plural(row['least'], 'person')}"
            )
    if gone:
        verb = "was" if len(gone) == 1 else "were"
        yield (
            f"{version.entry.name}: {' and '.join(gone)} {verb} published before, from tables that are"
            " gone or have another name now; if these are the same persons, classes of the two together"
            " cannot be counted"
        )


def _was_generalized(releases: Releases, published: PublishedRelease) -> bool:
    each = (traits_of_column(releases, column) for column in published.columns)
    return any(traits.generalizes for found in each for traits in found)


def _is_of_gone_tables(versions: EarlierVersions, published: PublishedRelease) -> bool:
    origins = {one for column in published.columns for one in column.origins}
    return any(
        is_gone_table(versions.sources, origin) for origin in origins if origin.startswith("table:")
    )


def _tables(version: Version) -> frozenset[str]:
    """Return the tables that a version is about: those of its columns and its KEY."""
    rules = version.release.released_rules
    columns = [column for rule in rules if rule.role is not Role.KEY for column in rule.columns]
    key = version.release.key
    if key is not None and not numbers_rows(version.release.source, key.name):
        columns.append(key)
    return frozenset(table_of_origin(one) for column in columns for one in column.origins)


def _tables_then(published: PublishedRelease, other: Version | None) -> frozenset[str]:
    """Return the tables that it was about when it was published."""
    key = None if other is None else other.release.key
    is_number = (
        other is not None and key is not None and numbers_rows(other.release.source, key.name)
    )
    columns = (one for one in published.columns if not (is_number and one.role is Role.KEY))
    return frozenset(table_of_origin(one) for column in columns for one in column.origins)
