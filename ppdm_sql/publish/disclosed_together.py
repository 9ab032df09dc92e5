"""What goes out, judged together with what is out: draws that average, classes that shrink, sums.

The ledger knows which versions were published, not the rows of then. So stored versions are run on
the rows of today, and what is said is of these. People who left since, and values that were
overwritten, are not seen.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import PpdmError, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.parameters import parameter_column
from ppdm_sql.publish.two_versions import are_alike, small_classes, values_apart
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import (
    is_gone,
    is_gone_table,
    is_plain,
    may_share,
    table_of_origin,
    written_source,
)
from ppdm_sql.release.sources import Sources
from ppdm_sql.release.version import same_persons
from ppdm_sql.store import parameters
from ppdm_sql.store.publications import PublishedColumn, PublishedRelease, list_publications
from ppdm_sql.treatments import traits_of
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.publish.earlier_versions import EarlierVersions
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Outgoing, Publication
    from ppdm_sql.treatments.traits import Traits

_ROWS, _COUNT = "s", "n"
_MOST_VERSIONS = 20
"""Versions that classes are counted together with: each costs a join."""
_FEW = 5
"""Newcomers below which a difference of sums tells something of each."""


def published_columns(version: Version) -> tuple[PublishedColumn, ...]:
    """Return the columns of a version as the ledger keeps them."""
    row = parameters.read_row(version.engine, version.entry.storage, version.entry.tables)
    found = []
    key_column = version.release.key
    # What a name stands for is written in the source: `w + 1` and `w + 2` may both be called w.
    source = written_source(Sources(version.engine), version.release.source)
    for rule in version.release.released_rules:
        drawn = _drawn(rule, row, version.entry.tables)
        for name, column in zip(rule.names, rule.columns, strict=True):
            key_parts: list[object] = [column.identity, drawn]
            read = [column]
            if key_column is not None and any(one.uses_row_key for one in rule.traits):
                key_parts.append(key_column.identity)
                if key_column.type.kind is not Kind.INTEGER:  # as which it draws another noise
                    key_parts.append(key_column.type.kind.name)
                read.append(key_column)
            # One noise per person is what its key says, whatever its values are computed by.
            is_shared = any(step.treatment.shares_noise for step in rule.steps)
            if not is_shared and not all(is_plain(one) for one in read):
                key_parts.append(source)
            key = hashlib.sha256(json.dumps(key_parts).encode()).hexdigest()[:16]
            origins = column.origins or frozenset({column.identity})
            found.append(PublishedColumn(name.text, rule.role, rule.words, origins, key))
    return tuple(found)


def persons_of(version: Version) -> int | None:
    """Return how many persons the source of a version is about; None without a KEY."""
    key = version.release.key
    if key is None:
        return None
    counted = exp.Count(this=exp.Distinct(expressions=[column_of(key.name.text, _ROWS)]))
    query = exp.select(named(counted, _COUNT)).from_(source_table(version.release.source, _ROWS))
    return int(version.engine.query(query).column(_COUNT)[0].as_py())


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
        yield from _draws(versions, one, earlier)
        yield from _same_noise(version, one, earlier)
        yield from _sums(versions, version, one, earlier)
        yield from _classes(versions, version, earlier)
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


def _draws(
    versions: EarlierVersions, outgoing: Outgoing, earlier: Sequence[PublishedRelease]
) -> Iterator[str]:
    """Say which noises of one column are out that are draws of their own."""
    releases, sources = versions.releases, versions.sources
    for column in outgoing.columns:
        if not any(one.adds_noise for one in _traits(releases, column)):
            continue
        others = {
            other.key_id: str(release)
            for release, other in (
                *((one.release, other) for one in earlier for other in one.columns),
                *((outgoing.entry.name, other) for other in outgoing.columns),
            )
            if _may_be_one(sources, other, column)
            and any(traits.adds_noise for traits in _traits(releases, other))
        }
        others.pop(column.key_id, None)
        if others:
            draws = len(others) + 1
            names = ", ".join(sorted(set(others.values())))
            yield (
                f"{outgoing.entry.name}: {draws} independent noises of '{column.name}' are published"
                f" with this one (the others in {names}): their average has only"
                f" {1 / math.sqrt(draws):.0%} of the standard deviation of one"
            )


def _same_noise(
    version: Version, outgoing: Outgoing, earlier: Sequence[PublishedRelease]
) -> Iterator[str]:
    """Say where one noise per person was published before: it does not depend on the value."""
    shared = {
        name.text
        for rule in version.release.released_rules
        if any(step.treatment.shares_noise for step in rule.steps)
        for name in rule.names
    }
    before = {other.key_id: one.release for one in earlier for other in one.columns}
    for column in outgoing.columns:
        if column.name in shared and column.key_id in before:
            yield (
                f"{outgoing.entry.name}: '{column.name}' has one noise per person, the same as in the"
                f" publication of {before[column.key_id]} before: values that changed since, or another"
                " unit, are disclosed exactly by the difference"
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
        if not any(one.keeps_sums for one in _traits(releases, column)):
            continue
        yield from _sums_beside(versions, version, outgoing, column)
        seen: set[tuple[int, int]] = set()
        for one in reversed(earlier):
            summed = [
                other.name
                for other in one.columns
                if _may_be_one(sources, other, column)
                and any(traits.keeps_sums for traits in _traits(releases, other))
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
                    f"{outgoing.entry.name}: the sum of '{column.name}' was published before, and the"
                    f" two publications differ by {plural(min(few), 'row')}: subtracting the sums"
                    f" gives the {'value of that row' if min(few) == 1 else 'sum of these rows'}"
                )
                break
            if None in apart:
                yield (
                    f"{outgoing.entry.name}: sums of '{column.name}' were published before by"
                    f" {one.release}; without a KEY that both list, and one column that both sum, it"
                    " cannot be counted how many rows differ"
                )
                break


def _sums_beside(
    versions: EarlierVersions, version: Version, outgoing: Outgoing, column: PublishedColumn
) -> Iterator[str]:
    """Say where a column beside it sums nearly the same values."""
    for other in outgoing.columns:
        if other.name <= column.name or not _may_be_one(versions.sources, other, column):
            continue
        if any(traits.keeps_sums for traits in _traits(versions.releases, other)):
            apart = values_apart(version, version, column.name, other.name)
            if apart is not None and 0 < apart < _FEW:
                yield (
                    f"{outgoing.entry.name}: '{column.name}' and '{other.name}' sum the same column and"
                    f" differ by {plural(apart, 'row')}: subtracting the sums gives"
                    f" the {'value of that row' if apart == 1 else 'sum of these rows'}"
                )


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
        then = _tables_then(one) | (_tables(other) if other is not None else frozenset())
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
                f"{version.entry.name}: {one.release} was published before and shows columns of the"
                " same tables; without a KEY that both list, classes of the two together cannot be"
                " counted"
            )
        elif other is not None and not row["persons"] and _is_uncounted(version, other):
            yield (
                f"{version.entry.name}: {one.release} was published before about the same persons."
                " Over all rows of a person, no class gets smaller than k. Row by row, classes of the"
                " two together cannot be counted, because persons have several rows"
            )
        elif row["persons"]:
            yield (
                f"{version.entry.name}: combined with {one.release}, which was published before,"
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
    each = (_traits(releases, column) for column in published.columns)
    return any(traits.generalizes for found in each for traits in found)


def _is_of_gone_tables(versions: EarlierVersions, published: PublishedRelease) -> bool:
    origins = {one for column in published.columns for one in column.origins}
    return any(
        is_gone_table(versions.sources, origin) for origin in origins if origin.startswith("table:")
    )


def _may_be_one(sources: Sources, other: PublishedColumn, column: PublishedColumn) -> bool:
    """Whether two columns may come from one, which may have been renamed since."""
    if may_share(other.origins, column.origins):
        return True
    tables = set(map(table_of_origin, column.origins))
    gone = {origin for origin in other.origins if is_gone(sources, origin)}
    return any(
        table_of_origin(origin) in tables or is_gone_table(sources, origin) for origin in gone
    )


def _tables(version: Version) -> frozenset[str]:
    """Return the tables that a version is about: those of its columns and its KEY."""
    rules = version.release.released_rules
    columns = [column for rule in rules for column in rule.columns]
    columns += [version.release.key] if version.release.key is not None else []
    return frozenset(table_of_origin(one) for column in columns for one in column.origins)


def _tables_then(published: PublishedRelease) -> frozenset[str]:
    origins = {one for column in published.columns for one in column.origins}
    return frozenset(map(table_of_origin, origins))


def _traits(releases: Releases, column: PublishedColumn) -> list[Traits]:
    return [traits_of(word, releases.treatments) for word in column.treatments]


def _drawn(rule: BoundRule, row: Mapping[str, Parameter], tables: Sequence[str]) -> list[object]:
    """Return what the treatments of a rule fixed: numbers, and the names of their tables."""
    found: list[object] = []
    for step in rule.steps:
        prefix = parameter_column(step.slot, "")
        own = {k.removeprefix(prefix): v for k, v in row.items() if k.startswith(prefix)}
        kept = step.treatment.ledger_parameters(own)
        found += [step.treatment.keyword, sorted(kept.items())]
        found += [name for name in tables if f"_{prefix}" in name]
    return found
