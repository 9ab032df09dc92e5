"""Which releases can be joined on their pseudonyms: those of one publication, and earlier ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.errors import PpdmError, Refused
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.identifying import MOSTLY, share_alone
from ppdm_sql.names import Name
from ppdm_sql.release.lineage import passed_releases
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import catalog
from ppdm_sql.store.publications import list_publications
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.model import BoundRule, Release, Step
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Publication, PublishedRelease

Link: TypeAlias = "tuple[str | None, str]"
"""The agreement that keys come from, if any, and what they belong to there; secret."""
LinksByName: TypeAlias = "Mapping[QualifiedName, frozenset[Link]]"
_JOINED = "whoever holds them can join the rows of one person"


def linking(release: Release) -> Iterator[tuple[BoundRule, Step, str]]:
    """Return the treatments whose values meet equal ones elsewhere, and where they meet."""
    for stage in range(release.depth):
        for rule, step in release.stage(stage):
            if step.treatment.traits.links_rows:
                yield rule, step, step.treatment.link()


def refuse_other_links(releases: Releases, version: Version) -> None:
    """Raise where rows stay linked by what no other key changes.

    A column of another release carries that one's pseudonyms; a mapping that has one alias a
    person is one.
    """
    sources = Sources(releases.engine)
    for rule in version.release.released_rules:
        if any(one.is_always_null or one.draws_from_keys for one in rule.traits):
            continue
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
            if renames and share_alone(version, column.name) > MOSTLY:
                raise Refused(
                    f"'{name}' cannot be made unlinkable: nearly every person has an alias of their"
                    " own, the same in every publication",
                    hint="treat it by pseudonym(), which gets other keys, or leave it out",
                    code="not_unlinkable",
                )


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
    found = [link for _, _, link in linking(release)]
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
    return frozenset((agreement, link) for link in found) | frozenset(carried)


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
            f"{' and '.join(names)} share pseudonyms: {_JOINED}; WITH (unlinkable = true) gives "
            "each release its own"
        )


def links_before(releases: Releases, publication: Publication, links: LinksByName) -> Iterator[str]:
    """Say which releases can be joined with others that were published before.

    Not of releases under an agreement: they are published apart so as to be joined. A version
    whose source is gone says nothing any more.
    """
    own = {
        name: {(agreement, link) for agreement, link in shared if agreement is None}
        for name, shared in links.items()
    }
    if not any(own.values()):
        return
    earlier: dict[QualifiedName, set[Link]] = defaultdict(set)
    versions = {
        (one.release, one.release_id, one.version): one
        for one in list_publications(releases.engine)
        if one.publication.name != publication.name and not one.publication.unlinkable
    }
    for one in versions.values():
        if one.release not in links:  # else it is said of this publication
            earlier[one.release] |= _links_then(releases, one)
    for name, shared in own.items():
        others = [str(other) for other, held in earlier.items() if held & shared]
        if others:
            verb = "was" if len(others) == 1 else "were"
            yield (
                f"{name} shares pseudonyms with {' and '.join(others)}, which {verb} published "
                f"before: {_JOINED}; WITH (unlinkable = true) gives each publication its own"
            )


def _links_then(releases: Releases, published: PublishedRelease) -> frozenset[Link]:
    """Return the links of a version that was published, as far as the store can still tell."""
    entry = catalog.published_entry(
        releases.engine, published.release, published.release_id, published.version
    )
    try:
        return frozenset() if entry is None else links_of(releases, releases.open(entry).release)
    except PpdmError:
        return frozenset()
