"""What a publication is made of: each release as it was written, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.errors import plural
from ppdm_sql.store.publications import Outgoing, PublishedRelease

if TYPE_CHECKING:
    from datetime import datetime

    from ppdm_sql.delivery.release_info import Info
    from ppdm_sql.publish.linking import Link
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.agreements import Agreement
    from ppdm_sql.store.catalog import Entry
    from ppdm_sql.store.publications import Publication, PublishedColumn


@dataclass(frozen=True, slots=True)
class Written:
    """One release as it was written."""

    entry: Entry
    rows: int
    treatments: str
    targets: tuple[str, ...]
    links: frozenset[Link] = field(repr=False)
    """What its pseudonyms share with those of other releases; secret."""
    agreement: Agreement | None
    """The agreement with other sites that it was made under."""
    accepted: tuple[Acceptance, ...]
    """What its owner accepted."""
    version: Version = field(repr=False)
    persons: int | None
    columns: tuple[PublishedColumn, ...] = field(repr=False)
    warnings: tuple[str, ...]
    """What is to be said of its rows alone."""

    @property
    def outgoing(self) -> Outgoing:
        """What the ledger keeps of it."""
        return Outgoing(self.entry, self.rows, self.persons, self.columns)

    def info(self, publication: Publication) -> Info:
        """Return what `release_info` says of it."""
        return {
            "release": str(self.entry.name),
            "version": self.entry.version,
            "published_at": publication.published_at,
            "rows": self.rows,
            "treatments": self.treatments,
            "targets": ", ".join(self.targets) or None,
            "publication": publication.name,
            "agreement": self.agreement.fingerprint if self.agreement else None,
            "accepted": ", ".join(map(str, self.accepted)) or None,
        }

    def published(self, publication: Publication) -> PublishedRelease:
        """Return what the ledger says of it."""
        entry = self.entry
        return PublishedRelease(
            publication,
            entry.name,
            entry.version,
            self.rows,
            entry.release_id,
            self.persons,
            self.columns,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Published:
    """What was published: where it is, which versions, what was warned of."""

    publication: Publication
    releases: tuple[PublishedRelease, ...]
    warnings: tuple[str, ...]
    replaced: datetime | None = None
    """When what stood there before was published, in UTC."""
    notes: tuple[str, ...] = ()
    """What else was done, such as persons who were left out."""

    @property
    def path(self) -> Path:
        """The file, or the folder."""
        return Path(self.publication.path)

    @property
    def message(self) -> str:
        """What was done, in one sentence."""
        listed = ", ".join(
            f"{one.release} (version {one.version}, {plural(one.rows, 'row')})"
            for one in self.releases
        )
        said = f"published {listed} to '{self.publication.path}'"
        if self.replaced is not None:
            said += f", in place of the publication of {self.replaced:%Y-%m-%d %H:%M} (UTC)"
        return "\n".join((said, *self.notes))

    def __repr__(self) -> str:
        return f"<{self.message}>"

    def __str__(self) -> str:
        return self.message
