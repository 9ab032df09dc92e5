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
from ppdm_sql.groups.compile import HIGH, find_grouping, fixed_quasi, grouped_select, high_flag
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import Name
from ppdm_sql.parameters import parameter_column
from ppdm_sql.release.compile import rows_with, source_table
from ppdm_sql.release.lineage import is_followed, may_share, written_source
from ppdm_sql.release.sources import Sources
from ppdm_sql.release.version import same_persons
from ppdm_sql.store import catalog, parameters
from ppdm_sql.store.publications import PublishedColumn, PublishedRelease, list_publications
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Outgoing, Publication
    from ppdm_sql.treatments.traits import Traits

_HERE, _THERE, _BOTH, _PERSON, _COUNT = "a", "b", "both", "ppdm_person", "n"
_STAR = "ppdm_star"
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
        drawn = _drawn(rule, dict(row), version.entry.tables)
        for name, column in zip(rule.names, rule.columns, strict=True):
            told: list[object] = [column.identity, drawn]
            is_by_row = any(one.uses_row_key for one in rule.traits) and key_column is not None
            if not is_followed(column.identity) or (
                is_by_row and key_column is not None and not is_followed(key_column.identity)
            ):
                told.append(source)
            key = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
            origins = column.origins or frozenset({column.identity})
            found.append(PublishedColumn(name.text, rule.role, rule.words, origins, key))
    return tuple(found)


def persons_of(version: Version) -> int | None:
    """Return how many persons the source of a version is about; None without a KEY."""
    key = version.release.key
    if key is None:
        return None
    counted = exp.Count(this=exp.Distinct(expressions=[column_of(key.name.text, _HERE)]))
    query = exp.select(named(counted, _COUNT)).from_(source_table(version.release.source, _HERE))
    return int(version.engine.query(query).column(_COUNT)[0].as_py())


def told_together(
    releases: Releases, publication: Publication, outgoing: Sequence[tuple[Outgoing, Version]]
) -> Iterator[str]:
    """Say what this publication gives away together with those before it."""
    earlier = [
        one
        for one in list_publications(releases.engine)
        if one.publication.name != publication.name
    ]
    for one, version in outgoing:
        yield from _draws(releases, one, earlier)
        yield from _sums(releases, version, one, earlier)
        yield from _classes(releases, version, earlier)
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
    releases: Releases, outgoing: Outgoing, earlier: Sequence[PublishedRelease]
) -> Iterator[str]:
    """Say which noises of one column are out that are draws of their own."""
    for column in outgoing.columns:
        if not any(one.adds_noise for one in _traits(releases, column)):
            continue
        others = {
            other.key_id: str(release)
            for release, other in (
                *((one.release, other) for one in earlier for other in one.columns),
                *((outgoing.entry.name, other) for other in outgoing.columns),
            )
            if may_share(other.origins, column.origins)
            and any(traits.adds_noise for traits in _traits(releases, other))
        }
        others.pop(column.key_id, None)
        if others:
            draws = len(others) + 1
            names = ", ".join(sorted(set(others.values())))
            yield (
                f"{outgoing.entry.name}: with {names}, {draws} noises of '{column.name}' are"
                " published that were drawn independently; their average has"
                f" {1 / math.sqrt(draws):.0%} of the deviation of one"
            )


def _sums(
    releases: Releases,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
) -> Iterator[str]:
    """Say which sums are out of which this publication has a few values more or less."""
    for column in outgoing.columns:
        if not any(one.keeps_sums for one in _traits(releases, column)):
            continue
        seen: set[tuple[int, int]] = set()
        for one in reversed(earlier):
            summed = [
                other.name
                for other in one.columns
                if may_share(other.origins, column.origins)
                and any(traits.keeps_sums for traits in _traits(releases, other))
            ]
            more = abs(outgoing.rows - one.rows)
            if not summed or (not 0 < more < _FEW and (one.release_id, one.version) in seen):
                continue
            seen.add((one.release_id, one.version))
            known = None
            if not 0 < more < _FEW:
                known = _apart(releases, version, one, column.name, summed[0])
                more = 0 if known is None else known
            if 0 < more < _FEW:
                yield (
                    f"{outgoing.entry.name}: sums of '{column.name}' were published before, of"
                    f" {plural(more, 'row')} more or less: the difference of the two sums is"
                    " the sum of these alone"
                )
                break
            if known is None and one.release_id != outgoing.entry.release_id:
                yield (
                    f"{outgoing.entry.name}: sums of '{column.name}' were published before by"
                    f" {one.release}; without a KEY that both list in the same way it cannot be"
                    " counted how many rows differ"
                )
                break


def _apart(
    releases: Releases, version: Version, published: PublishedRelease, here: str, there: str
) -> int | None:
    """Return how many persons have a value in one of two versions only; None if nobody can tell."""
    other = _opened(releases, published)
    if other is None or not same_persons(version, other):
        return None
    sides = []
    for side, name, alias in ((version, here, _HERE), (other, there, _THERE)):
        inner = _with_person(side).subquery(exp.to_identifier(_BOTH, quoted=True))
        known = exp.Not(this=exp.Is(this=column_of(name, _BOTH), expression=exp.null()))
        rows = exp.select(column_of(_PERSON, _BOTH)).from_(inner).where(known).distinct()
        sides.append(rows.subquery(exp.to_identifier(alias, quoted=True)))
    on = exp.EQ(this=column_of(_PERSON, _HERE), expression=column_of(_PERSON, _THERE))
    alone = exp.or_(
        *(
            exp.Is(this=column_of(_PERSON, alias), expression=exp.null())
            for alias in (_HERE, _THERE)
        )
    )
    count = exp.select(named(exp.Count(this=exp.Star()), _COUNT)).from_(sides[0])
    try:
        found = version.engine.query(count.join(sides[1], on=on, join_type="full").where(alone))
    except PpdmError:
        return None  # its source is not what it was
    return int(found.column(_COUNT)[0].as_py())


def _with_person(version: Version) -> exp.Select:
    """Return the rows of a version with whom they are about."""
    key = version.release.key
    assert key is not None  # asked before
    person = exp.cast(exp.column(exp.to_identifier(key.name.text, quoted=True)), "VARCHAR")
    if find_grouping(version.release) is None:
        return rows_with(version, {_PERSON: person})
    return grouped_select(version, {_PERSON: person})


def _classes(
    releases: Releases, version: Version, earlier: Sequence[PublishedRelease]
) -> Iterator[str]:
    """Say where two releases of the same persons cut classes smaller than k, on today's rows."""
    grouping = find_grouping(version.release)
    seen: set[tuple[int, int]] = {(version.entry.release_id, version.entry.version)}
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
        other = _opened(releases, one)
        groupings = [grouping, None if other is None else find_grouping(other.release)]
        k = max((found.k for found in groupings if found is not None), default=1)
        if k < 2 or not all(_quasi(side) for side in (version, other) if side is not None):
            continue
        if other is None or not same_persons(version, other):
            shown = {origin for column in one.columns for origin in column.origins}
            if not shown & _quasi_origins(version):
                continue
            yield (
                f"{version.entry.name}: {one.release} was published before and shows columns of the"
                " same tables; without a KEY that both list, classes of the two together cannot be"
                " counted"
            )
            continue
        try:
            (row,) = version.engine.query(_together(version, other, k)).to_pylist()
        except PpdmError:
            continue  # its source is not what it was
        if row["persons"]:
            yield (
                f"{version.entry.name}: together with {one.release}, which was published before,"
                f" {plural(row['persons'], 'person')} of today's rows are in classes below"
                f" k = {k}, the smallest of {row['least']}"
            )


def _together(version: Version, other: Version, k: int) -> exp.Select:
    """Return how many persons are in classes below k of what two versions show, and the least."""
    mine, theirs = _shown(version, _HERE), _shown(other, _THERE)
    on = exp.EQ(this=column_of(_PERSON, _HERE), expression=column_of(_PERSON, _THERE))
    columns: list[exp.Expr] = [column_of(name, _HERE) for name in mine[1]]
    columns += [column_of(name, _THERE) for name in theirs[1]]
    # Who is in one of them only is a class, too: what is left when one is taken from the other.
    columns += [
        exp.Is(this=column_of(_PERSON, alias), expression=exp.null()) for alias in (_HERE, _THERE)
    ]
    either = exp.Coalesce(this=column_of(_PERSON, _HERE), expressions=[column_of(_PERSON, _THERE)])
    persons = exp.Count(this=exp.Distinct(expressions=[either]))
    classes = (
        exp.select(named(persons, _COUNT))
        .from_(mine[0])
        .join(theirs[0], on=on, join_type="full")
        .group_by(*(column.copy() for column in columns))
    )
    small = exp.LT(this=column_of(_COUNT, _BOTH), expression=exp.Literal.number(k))
    total = exp.Coalesce(
        this=exp.Sum(this=column_of(_COUNT, _BOTH)), expressions=[exp.Literal.number(0)]
    )
    return (
        exp.select(
            named(exp.cast(total, "BIGINT"), "persons"),
            named(exp.Min(this=column_of(_COUNT, _BOTH)), "least"),
        )
        .from_(classes.subquery(exp.to_identifier(_BOTH, quoted=True)))
        .where(small)
    )


def _shown(version: Version, alias: str) -> tuple[exp.Subquery, list[str]]:
    """Return the rows of a version with their person, and its QUASI columns."""
    key = version.release.key
    assert key is not None  # asked before
    person = exp.cast(exp.column(exp.to_identifier(key.name.text, quoted=True)), "VARCHAR")
    carried: dict[str, exp.Expr] = {_PERSON: person}
    grouping = find_grouping(version.release)
    if grouping is None:
        rows = rows_with(version, carried)
        return rows.subquery(exp.to_identifier(alias, quoted=True)), _quasi(version)
    # Rows outside WHEN are not promised anything, and of stars nothing is seen.
    if grouping.when is not None:
        carried[HIGH] = high_flag(grouping.when)
    inner = grouped_select(version, carried, suppressed_flag=_STAR)
    treated = exp.select("*").from_(inner.subquery(exp.to_identifier(alias, quoted=True)))
    treated = treated.where(exp.Not(this=column_of(_STAR, alias)))
    if grouping.when is not None:
        treated = treated.where(column_of(HIGH, alias))
    return treated.subquery(exp.to_identifier(alias, quoted=True)), _quasi(version)


def _quasi(version: Version) -> list[str]:
    return [
        name.text
        for rule in version.release.released_rules
        if rule.role is Role.QUASI and not any(one.is_always_null for one in rule.traits)
        for name in rule.names
    ]


def _quasi_origins(version: Version) -> set[str]:
    grouping = find_grouping(version.release)
    fixed = {name for name, _ in fixed_quasi(version.release)}
    grouped = {column.name for column in grouping.columns} if grouping else set[Name]()
    return {
        origin
        for rule in version.release.released_rules
        for name, column in zip(rule.names, rule.columns, strict=True)
        if name in fixed | grouped
        for origin in column.origins
    }


def _opened(releases: Releases, published: PublishedRelease) -> Version | None:
    """Return a version that was published; None where its source or tables are gone."""
    entry = catalog.published_entry(
        releases.engine, published.release, published.release_id, published.version
    )
    try:
        return None if entry is None else releases.open(entry)
    except PpdmError:
        return None


def _traits(releases: Releases, column: PublishedColumn) -> list[Traits]:
    return [traits_of(word, releases.treatments) for word in column.treatments]


def _drawn(rule: BoundRule, row: dict[str, object], tables: Sequence[str]) -> list[object]:
    """Return what the treatments of a rule fixed: numbers, and the names of their tables."""
    found: list[object] = []
    for step in rule.steps:
        prefix = parameter_column(step.slot, "")
        own = {k.removeprefix(prefix): v for k, v in row.items() if k.startswith(prefix)}
        found += [step.treatment.keyword, sorted(own.items())]
        found += [name for name in tables if f"_{prefix}" in name]
    return found
