"""Which releases can be joined on their pseudonyms: those of one publication, and earlier ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import PpdmError, Refused
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.identifying import FEWEST, MOSTLY, share_alone
from ppdm_sql.names import Name
from ppdm_sql.release.ancestry import passed_releases
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.key_scope import linking
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import catalog
from ppdm_sql.store.publications import list_publications
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.publish.earlier_versions import EarlierVersions
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import (
        Outgoing,
        Publication,
        PublishedColumn,
        PublishedRelease,
    )

Link: TypeAlias = "tuple[str | None, str]"
"""The agreement that keys come from, if any, and what they belong to there; secret."""
LinksByName: TypeAlias = "Mapping[QualifiedName, frozenset[Link]]"
_ROWS = "s"
_FEW_ROWS = 10
"""Of one alias: a person has few rows, a ward has many."""
_JOINED = "whoever holds them can join the rows of one person"


def refuse_other_links(releases: Releases, version: Version) -> None:
    """Raise where rows stay linked by what no other key changes.

    A column of another release carries that one's pseudonyms; a mapping that has one alias a
    person is one.
    """
    if version.release.agreement is not None and any(linking(version.release)):
        raise Refused(
            f"'{version.entry.name}' is made under an agreement, so that sites can join on its"
            " pseudonyms",
            hint="leave unlinkable out, or release the table without the agreement",
            code="not_agreed",
        )
    sources = Sources(releases.engine)
    for rule in version.release.released_rules:
        if any(one.is_always_null or one.draws_from_keys for one in rule.traits):
            continue
        if rule.role is Role.KEY:
            raise Refused(
                f"'{rule.names[0]}' cannot be made unlinkable: it is the KEY, and only pseudonym()"
                " gives it other values in every publication",
                hint="write KEY AS pseudonym(), or KEY alone, which is not released",
                code="not_unlinkable",
            )
        for name, column in zip(rule.names, rule.columns, strict=True):
            passed = passed_releases(sources, version.release.source, column.name)
            inner = next((one for one in passed if _links_in(releases, *one)), None)
            if inner is not None:
                raise Refused(
                    f"'{name}' cannot be made unlinkable: it carries the pseudonyms of"
                    f" '{inner[0]}', which other publications show too",
                    hint="release it from the table itself, with a pseudonym() of its own",
                    code="not_unlinkable",
                )
            renames = any(one.renames and not one.generalizes for one in rule.traits)
            if renames and _is_one_a_person(version, column.name):
                raise Refused(
                    f"'{name}' cannot be made unlinkable: nearly every person has an alias of their"
                    " own, the same in every publication",
                    hint="treat it by pseudonym(), which gets other keys, or leave it out",
                    code="not_unlinkable",
                )


def _is_one_a_person(version: Version, column: Name) -> bool:
    """Whether nearly everybody has a value of their own there.

    Without a KEY nobody knows whose a row is: many values of few rows each are taken for that.
    """
    if version.release.key is not None:
        return share_alone(version, column, fewest=1) > MOSTLY
    value = column_of(column.text, _ROWS)
    query = exp.select(
        named(exp.Count(this=exp.Distinct(expressions=[value])), "values"),
        named(exp.Count(this=value.copy()), "rows"),
    ).from_(source_table(version.release.source, _ROWS))
    (row,) = version.engine.query(query).to_pylist()
    return bool(row["values"] >= FEWEST and row["rows"] < _FEW_ROWS * row["values"])


def _links_in(releases: Releases, name: QualifiedName, column: Name) -> bool:
    """Whether a column of another release tells persons apart."""
    entry = catalog.find_entry(releases.engine, name)
    listed = [] if entry is None else catalog.list_columns(releases.engine, entry)
    for one in listed:
        if Name(one.name) == column:
            traits = [traits_of(word, releases.treatments) for word in one.treatments]
            return one.role is Role.KEY or any(trait.links_rows for trait in traits)
    return False


def links_of(releases: Releases, release: Release) -> frozenset[Link]:
    """Return what the pseudonyms of a release share with those of others.

    A column of another release carries that one's.
    """
    found = list(linking(release))
    agreement = releases.fingerprint_of(release) if found else None
    sources = Sources(releases.engine)
    carried = (
        links
        for rule in release.released_rules
        if not any(one.is_always_null for one in rule.traits)
        for column in rule.columns
        for inner in passed_releases(sources, release.source, column.name)
        for links in _links_of_column(releases, *inner)
    )
    own = ((None if rule.is_private else agreement, link) for rule, _, link in found)
    return frozenset(own) | frozenset(carried)


def _links_of_column(releases: Releases, name: QualifiedName, column: Name) -> Iterator[Link]:
    """Return the links of one column of another release, as far as the store can tell."""
    entry = catalog.find_entry(releases.engine, name)
    try:
        release = None if entry is None else releases.open(entry).release
    except PpdmError:
        return
    if release is None:
        return
    agreement = releases.fingerprint_of(release)
    for rule, _, link in linking(release):
        if column in rule.names:
            yield agreement, link


def shared_links(links: LinksByName) -> Iterator[str]:
    """Say which releases of one publication can be joined on their pseudonyms."""
    holders: defaultdict[Link, list[str]] = defaultdict(list)
    for name, shared in links.items():
        for link in shared:
            holders[link].append(str(name))
    groups = dict.fromkeys(tuple(names) for names in holders.values() if len(names) > 1)
    for names in groups:
        yield (
            f"{' and '.join(names)} share pseudonyms: {_JOINED}; if they should not be joined, publish"
            " them apart, each WITH (unlinkable = true)"
        )


def links_before(
    versions: EarlierVersions,
    publication: Publication,
    outgoing: Sequence[tuple[Outgoing, frozenset[Link]]],
) -> Iterator[str]:
    """Say which releases can be joined with others that were published before.

    Not of releases under an agreement: they are published apart so as to be joined. Nor of the
    same columns of the same release: that is the same study, once more.
    """
    releases = versions.releases
    earlier = {
        (one.release, one.release_id, one.version): one
        for one in list_publications(releases.engine)
        if one.publication.name != publication.name
        and _scope(one.publication) == _scope(publication)
    }
    again = {(release.entry.release_id, _names(release)) for release, _ in outgoing}
    links_then: dict[object, frozenset[Link] | None] = {}
    for release, links in outgoing:
        own = {(agreement, link) for agreement, link in links if agreement is None}
        if not own:
            continue
        keys = _linking_keys(releases, release.columns)
        others: dict[str, None] = {}
        unknown: dict[str, PublishedRelease] = {}
        for place, one in earlier.items():
            if (one.release_id, _names(one)) in again:
                continue
            if place not in links_then:
                links_then[place] = _links_then(versions, one)
            then, is_itself = links_then[place], one.release == release.entry.name
            called = f"{one.release}{f' (version {one.version})' * is_itself}"
            # By the ledger, too: a view may have been replaced since, or the source be gone.
            if (then or frozenset()) & own or _linking_keys(releases, one.columns) & keys:
                others[called] = None
            elif then is None and _linking_keys(releases, one.columns):
                unknown[called] = one
        if unknown:
            reasons = [why for one in unknown.values() if (why := versions.why_not(one))]
            yield from (f"{release.entry.name}: {why}" for why in reasons)
        if any(versions.why_not(one) is None for one in unknown.values()):
            yield (
                f"{release.entry.name} may share pseudonyms with {' and '.join(unknown)}, published"
                f" before: the source is not what it was, so that nobody can tell; {_JOINED}"
            )
        if others:
            verb = "was" if len(others) == 1 else "were"
            yield (
                f"{release.entry.name} shares pseudonyms with {' and '.join(others)}, which {verb} "
                f"published before: {_JOINED}; WITH (unlinkable = true) gives each publication its own"
            )


def _scope(publication: Publication) -> str | None:
    """Return what the pseudonyms of a publication meet in; of an earlier program, nothing."""
    is_alone = publication.unlinkable and publication.key_scope is None
    return publication.name if is_alone else publication.key_scope


def _names(published: PublishedRelease | Outgoing) -> frozenset[str]:
    return frozenset(column.name for column in published.columns)


def _linking_keys(releases: Releases, columns: Sequence[PublishedColumn]) -> set[str]:
    """Return what the ledger knows the pseudonyms of columns by."""
    return {
        column.key_id
        for column in columns
        if any(traits_of(word, releases.treatments).links_rows for word in column.treatments)
    }


def _links_then(versions: EarlierVersions, published: PublishedRelease) -> frozenset[Link] | None:
    """Return the links of a version that was published; None where the store cannot tell."""
    version = versions.open(published)
    try:
        return None if version is None else links_of(versions.releases, version.release)
    except PpdmError:
        return None
