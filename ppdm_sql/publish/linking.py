"""Which releases can be joined on their pseudonyms: those of one publication, and earlier ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.errors import PpdmError
from ppdm_sql.store import catalog
from ppdm_sql.store.publications import list_publications

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.model import BoundRule, Release, Step
    from ppdm_sql.release.releases import Releases
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


def links_of(releases: Releases, release: Release) -> frozenset[Link]:
    """Return what the pseudonyms of a release share with those of others."""
    found = [link for _, _, link in linking(release)]
    agreement = releases.fingerprint_of(release) if found else None
    return frozenset((agreement, link) for link in found)


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
    whose release or source is gone says nothing any more.
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
    entry = catalog.find_entry(releases.engine, published.release)
    if entry is None or entry.release_id != published.release_id:
        return frozenset()
    for version in catalog.versions_held(releases.engine, entry):
        if version.version == published.version:
            try:
                return links_of(releases, releases.open(version).release)
            except PpdmError:
                return frozenset()
    return frozenset()
