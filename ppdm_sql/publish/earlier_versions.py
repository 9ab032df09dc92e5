"""The versions that were published before, each read once while one PUBLISH runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import PpdmError
from ppdm_sql.release.sources import Sources
from ppdm_sql.release.version import open_version
from ppdm_sql.store import catalog
from ppdm_sql.treatments import traits_of
from ppdm_sql.treatments.traits import UNKNOWN

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import CreateRelease
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.catalog import Entry
    from ppdm_sql.store.publications import PublishedRelease


class EarlierVersions:
    """Opens versions of the ledger; those of one definition are bound once, all of one catalog."""

    def __init__(self, releases: Releases, publication: str) -> None:
        self.releases = releases
        self._publication = publication
        self.sources = Sources(releases.engine)
        self._opened: dict[tuple[int, int], Version | None] = {}
        self._bound: dict[str, Release] = {}

    def when(self, published: PublishedRelease) -> str:
        """Say when it was published: before, or with what is published now."""
        if published.publication.name == self._publication:
            return "is in the same publication"
        return "was published before"

    def why_not(self, published: PublishedRelease) -> str | None:
        """Say why it cannot be compared, where a treatment is not known here; else None."""
        known = self.releases.treatments
        words = dict.fromkeys(word for one in published.columns for word in one.treatments)
        unknown = [word for word in words if traits_of(word, known) is UNKNOWN]
        if not unknown:
            return None
        listed = " and ".join(f"'{word}'" for word in unknown)
        return (
            f"{published.release} uses {listed}, which this program does not know, so the two cannot be"
            " compared; publish from a program with connect(treatments=[…])"
        )

    def open(self, published: PublishedRelease) -> Version | None:
        """Return a version that was published; None where its source or tables are gone."""
        place = published.release_id, published.version
        if place not in self._opened:
            entry = catalog.published_entry(self.releases.engine, published.release, *place)
            self._opened[place] = None if entry is None else self._open(entry)
        return self._opened[place]

    def _open(self, entry: Entry) -> Version | None:
        def bind(statement: CreateRelease) -> Release:
            if entry.definition not in self._bound:
                self._bound[entry.definition] = self.releases.bind(statement, self.sources)
            return self._bound[entry.definition]

        try:
            return open_version(self.releases.engine, entry, bind, None)
        except PpdmError:
            return None
