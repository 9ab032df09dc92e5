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
from ppdm_sql.release.lineage import is_plain, may_share, written_source
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
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.treatments.traits import Traits

_HERE, _THERE, _BOTH, _PERSON, _COUNT = "a", "b", "both", "ppdm_person", "n"
_STAR, _SHOWN = "ppdm_star", "ppdm_shown"
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
            read = [column]
            if key_column is not None and any(one.uses_row_key for one in rule.traits):
                told.append(key_column.identity)
                read.append(key_column)
            if not all(is_plain(one) for one in read):
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
            place = (one.release_id, one.version)
            more = abs(outgoing.rows - one.rows)
            if not summed or (place in seen and not 0 < more < _FEW):
                continue
            seen.add(place)
            is_same = place == (outgoing.entry.release_id, outgoing.entry.version)
            apart = (
                []
                if is_same
                else [_apart(releases, version, one, column.name, name) for name in summed]
            )
            few = [count for count in (more, *apart) if count is not None and 0 < count < _FEW]
            if few:
                yield (
                    f"{outgoing.entry.name}: sums of '{column.name}' were published before, of"
                    f" {plural(min(few), 'row')} more or less: the difference of the two sums is"
                    " the sum of these alone"
                )
                break
            if None in apart:
                yield (
                    f"{outgoing.entry.name}: sums of '{column.name}' were published before by"
                    f" {one.release}; without a KEY that both list, and one column that both sum, it"
                    " cannot be counted how many rows differ"
                )
                break


def _apart(
    releases: Releases, version: Version, published: PublishedRelease, here: str, there: str
) -> int | None:
    """Return how many values two versions do not have in common; None if nobody can tell."""
    other = _opened(releases, published)
    if other is None or not same_persons(version, other):
        return None
    first, second = _column_of(version, here), _column_of(other, there)
    is_one = first.identity == second.identity and is_plain(first) and is_plain(second)
    if not is_one and version.release.source != other.release.source:
        return None  # equal persons may have other values
    sides = []
    for side, name, alias in ((version, here, _HERE), (other, there, _THERE)):
        inner = _with_person(side).subquery(exp.to_identifier(_BOTH, quoted=True))
        person = column_of(_PERSON, _BOTH)
        known = named(exp.Count(this=column_of(name, _BOTH)), _COUNT)
        rows = exp.select(person, known).from_(inner).group_by(person.copy())
        sides.append(rows.subquery(exp.to_identifier(alias, quoted=True)))
    zero = exp.Literal.number(0)
    counts = [
        exp.Coalesce(this=column_of(_COUNT, alias), expressions=[zero.copy()])
        for alias in (_HERE, _THERE)
    ]
    differ = exp.Abs(this=exp.Sub(this=counts[0], expression=counts[1]))
    total = exp.cast(exp.Coalesce(this=exp.Sum(this=differ), expressions=[zero.copy()]), "BIGINT")
    query = exp.select(named(total, _COUNT)).from_(sides[0])
    try:
        found = version.engine.query(query.join(sides[1], on=_same_person(), join_type="full"))
    except PpdmError:
        return None  # its source is not what it was
    return int(found.column(_COUNT)[0].as_py())


def _column_of(version: Version, name: str) -> InputColumn:
    """Return the source column of a released one."""
    return next(
        column
        for rule in version.release.released_rules
        for released, column in zip(rule.names, rule.columns, strict=True)
        if released.text == name
    )


def _same_person() -> exp.Expr:
    """Rows without a KEY are one person's, here and there."""
    return exp.NullSafeEQ(this=column_of(_PERSON, _HERE), expression=column_of(_PERSON, _THERE))


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
        if k < 2:
            continue
        quasi = frozenset(_quasi_origins(version))
        is_countable = other is not None and same_persons(version, other)
        if not is_countable and not any(may_share(c.origins, quasi) for c in one.columns):
            continue
        row = None
        if other is not None and is_countable:
            try:
                (row,) = version.engine.query(_together(version, other, k)).to_pylist()
            except PpdmError:
                row = None  # its source is not what it was
        if row is None:
            yield (
                f"{version.entry.name}: {one.release} was published before and shows columns of the"
                " same tables; without a KEY that both list, classes of the two together cannot be"
                " counted"
            )
        elif row["persons"]:
            yield (
                f"{version.entry.name}: together with {one.release}, which was published before,"
                f" {plural(row['persons'], 'person')} of today's rows are in classes below"
                f" k = {k}, the smallest of {row['least']}"
            )


def _together(version: Version, other: Version, k: int) -> exp.Select:
    """Return how many persons are in a class below k of what two versions show, and the least.

    By all rows of a person: a class is of persons of whom both show the same. It counts where it is
    smaller than what one of the two shows. Not to be in one of them is something shown, too.
    """
    sides = [_by_person(side, alias) for side, alias in ((version, _HERE), (other, _THERE))]
    shown = [column_of(_SHOWN, alias) for alias in (_HERE, _THERE)]
    sizes: dict[str, exp.Expr] = {
        _COUNT: _crowd(*shown),
        "a": _crowd(shown[0]),
        "b": _crowd(shown[1]),
    }
    joined = exp.select(*(named(tree, name) for name, tree in sizes.items())).from_(sides[0])
    joined = joined.join(sides[1], on=_same_person(), join_type="full")
    for alias in (_HERE, _THERE):  # of stars nothing is seen, outside WHEN nothing is promised
        exempt = exp.Coalesce(this=column_of(_STAR, alias), expressions=[exp.false()])
        joined = joined.where(exp.Not(this=exempt))
    size = column_of(_COUNT, _BOTH)
    small = exp.LT(this=size, expression=exp.Literal.number(k))
    crowd = exp.Greatest(this=column_of("a", _BOTH), expressions=[column_of("b", _BOTH)])
    return (
        exp.select(
            named(exp.Count(this=exp.Star()), "persons"),
            named(exp.Min(this=size.copy()), "least"),
        )
        .from_(joined.subquery(exp.to_identifier(_BOTH, quoted=True)))
        .where(exp.and_(small, exp.LT(this=size.copy(), expression=crowd)))
    )


def _crowd(*shown: exp.Expr) -> exp.Expr:
    """Return how many persons show the same; who shows nothing is in no crowd of a single one."""
    window = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[one.copy() for one in shown])
    if len(shown) > 1:
        return window
    nothing = exp.Is(this=shown[0].copy(), expression=exp.null())
    return exp.case().when(nothing, exp.Literal.number(0)).else_(window)


def _by_person(version: Version, alias: str) -> exp.Subquery:
    """Return what all rows of each person show."""
    rows, exempt = _shown(version, alias)
    cells = [exp.cast(column_of(name, alias), "VARCHAR") for name in _quasi(version)]
    cells.append(exp.cast(exp.Literal.number(1), "VARCHAR"))  # without QUASI, all are alike
    row = exp.func("ROW", *cells, dialect="duckdb")
    listed: exp.Expr = exp.ArrayAgg(this=row)
    is_exempt: exp.Expr = exp.false()
    if exempt is not None:
        counted = exp.Where(this=exp.Not(this=exp.paren(exempt.copy())))
        listed = exp.Filter(this=listed, expression=counted)
        is_exempt = exp.func("BOOL_AND", exempt, dialect="duckdb")
    everything = exp.func("LIST_SORT", listed, dialect="duckdb")
    person = column_of(_PERSON, alias)
    query = exp.select(person, named(everything, _SHOWN), named(is_exempt, _STAR))
    query = query.from_(rows).group_by(person.copy())
    return query.subquery(exp.to_identifier(alias, quoted=True))


def _shown(version: Version, alias: str) -> tuple[exp.Subquery, exp.Expr | None]:
    """Return the rows of a version with their person, and which of them are promised nothing."""
    key = version.release.key
    assert key is not None  # asked before
    person = exp.cast(exp.column(exp.to_identifier(key.name.text, quoted=True)), "VARCHAR")
    carried: dict[str, exp.Expr] = {_PERSON: person}
    grouping = find_grouping(version.release)
    if grouping is None:
        return rows_with(version, carried).subquery(exp.to_identifier(alias, quoted=True)), None
    exempt: exp.Expr = column_of(_STAR, alias)
    if grouping.when is not None:
        carried[HIGH] = high_flag(grouping.when)
        exempt = exp.or_(exempt, exp.Not(this=column_of(HIGH, alias)))
    rows = grouped_select(version, carried, suppressed_flag=_STAR)
    return rows.subquery(exp.to_identifier(alias, quoted=True)), exempt


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
