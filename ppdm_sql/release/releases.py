"""The releases of one store: found by name, bound to their sources, opened as versions.

Every CREATE OR REPLACE draws anew: the same alias then means something else. So results are read
with the version that they come from, and an answer says so where there is a choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, InternalError, PpdmError, StoreError, placed_at, suggest
from ppdm_sql.names import QualifiedName
from ppdm_sql.release.bind import bind_release
from ppdm_sql.release.sources import Sources
from ppdm_sql.release.version import open_version
from ppdm_sql.store import agreements, catalog
from ppdm_sql.store.publications import list_publications

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import CreateRelease
    from ppdm_sql.release.bind import BindClause
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.agreements import Agreement
    from ppdm_sql.store.catalog import Entry
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.store.publications import PublishedRelease
    from ppdm_sql.treatments.treatment import Treatment

_MOST_LISTED = 10
_AS_IT_WAS = "give its source the columns and types back that it had, or a view of the same name"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A release as a statement names it."""

    name: QualifiedName
    version: int | None = None
    """None: the newest."""
    span: Span | None = None
    version_span: Span | None = None
    publication: str | None = None
    """The publication that results come from, by the name that `release_info` gives."""


@dataclass(frozen=True)
class Releases:
    """The releases of one store."""

    engine: Engine
    keys: RootKey
    treatments: Sequence[type[Treatment]]
    bind_clause: BindClause
    """Binds what stands behind GENERALIZE."""
    tell: Callable[[str], None] = lambda _: None
    """Told what is being done, for a progress bar."""

    def on_stage(self, what: str) -> None:
        """Say what is done next; end here where somebody wants to stop."""
        self.engine.check()
        self.tell(what)

    def find(self, name: QualifiedName) -> Entry | None:
        """Return what the store knows of a release, if it knows one of that name."""
        return catalog.find_entry(self.engine, self.full_name(name))

    def entry(self, name: QualifiedName, span: Span | None = None) -> Entry:
        """Return what the store knows of a release; raise when it knows none of that name."""
        entry = self.find(name)
        if entry is None:
            known = [str(other.name) for other in catalog.list_entries(self.engine)]
            raise BindError(
                f"there is no release '{name}'",
                span,
                suggest(str(name), known, "releases"),
                code="unknown_release",
            )
        return entry

    def bind(self, statement: CreateRelease, sources: Sources | None = None) -> Release:
        """Return what a CREATE RELEASE means for its source as it is now."""
        sources = sources or Sources(self.engine)
        return bind_release(statement, sources, self.treatments, self.bind_clause)

    def open(self, entry: Entry, span: Span | None = None) -> Version:
        """Return a version bound to its source as it is now; errors point at `span`."""
        return open_version(self.engine, entry, self.bind, span)

    def open_wanted(self, wanted: Wanted) -> tuple[Version, tuple[str, ...]]:
        """Return the version that a statement wants, and what is to be said of the choice.

        Raises where its source is not what it was made of.
        """
        entry, said = self._choose(wanted)
        try:
            version = self.open(entry, wanted.span)
            with placed_at(wanted.span):
                version.check_types()
        except PpdmError as error:
            if not isinstance(error, StoreError):
                which = f"version {entry.version} of '{entry.name}'"
                error.what = f"{which} does not fit its source as it is now: {error.what}"
                error.hint = _AS_IT_WAS
            raise
        return version, said

    def full_name(self, name: QualifiedName) -> QualifiedName:
        """Return a name with its schema."""
        if name.schema is not None:
            return name
        return QualifiedName((self.engine.current_schema(), name.name))

    def keys_of(self, release: Release) -> RootKey:
        """Return the keys that a release draws from: the store's own, or its agreement's."""
        agreement = self.agreement_of(release)
        return self.keys if agreement is None else agreement.keys

    def fingerprint_of(self, release: Release) -> str | None:
        """Return the fingerprint of a release's agreement: what other sites compare."""
        agreement = self.agreement_of(release)
        return None if agreement is None else agreement.fingerprint

    def agreement_of(self, release: Release) -> Agreement | None:
        """Return the agreement that a release is made under, if there is one."""
        if release.agreement is None:
            return None
        agreement = agreements.find_agreement(self.engine, release.agreement)
        if agreement is None:
            raise InternalError("a release was bound to an agreement that is missing")
        return agreement

    def publication_of(self, wanted: Wanted) -> PublishedRelease:
        """Return a release as a publication has it; raise where there is none."""
        full = self.full_name(wanted.name)
        listed = [one for one in list_publications(self.engine) if one.release == full]
        for one in listed:
            if one.publication.name == wanted.publication:
                return one
        raise BindError(
            f"'{full}' is in no publication of this name",
            wanted.version_span or wanted.span,
            suggest(str(wanted.publication), [one.publication.name for one in listed]),
            code="unknown_publication",
        )

    def _choose(self, wanted: Wanted) -> tuple[Entry, tuple[str, ...]]:
        if wanted.publication is not None:
            published = self.publication_of(wanted)
            entry = catalog.published_entry(
                self.engine, published.release, published.release_id, published.version
            )
            if entry is None:
                raise catalog.damaged("a version that was published is missing")
            return entry, ()
        return self._choose_version(wanted)

    def _choose_version(self, wanted: Wanted) -> tuple[Entry, tuple[str, ...]]:
        current, published = self.find(wanted.name), self._published(wanted.name)
        newest = current or (published[-1] if published else self.entry(wanted.name, wanted.span))
        own = [entry for entry in published if entry.release_id == newest.release_id]
        held = own if current is None else catalog.versions_held(self.engine, newest)
        # Numbers begin again where a release of the same name was dropped before.
        others = {entry.version for entry in published if entry.release_id != newest.release_id}
        if wanted.version in others:
            raise BindError(
                f"version {wanted.version} of '{newest.name}' is not clear: a release of this name that"
                " was dropped has one, too",
                wanted.version_span or wanted.span,
                "give a new release another name: then each is read under its own",
                code="unknown_version",
            )
        if wanted.version is None:
            notes = []
            if any(entry.version != newest.version for entry in held):
                notes.append(
                    f"translated with version {newest.version} of {newest.name}, the newest; for"
                    " results of an earlier version, write VERSION n"
                )
            if others:
                notes.append(
                    f"a release of the name {newest.name} was published and dropped before this one"
                    " was made: results of that one are not read by this"
                )
            return newest, tuple(notes)
        for entry in held:
            if entry.version == wanted.version:
                return entry, ()
        raise BindError(
            f"the store holds no version {wanted.version} of '{newest.name}'",
            wanted.version_span or wanted.span,
            _listed([entry.version for entry in held]),
            code="unknown_version",
        )

    def _published(self, name: QualifiedName) -> list[Entry]:
        """Return the versions that were published under a name, also of releases dropped since."""
        full = self.full_name(name)
        listed = (one for one in list_publications(self.engine) if one.release == full)
        places = sorted({(one.release_id, one.version) for one in listed})
        found = (catalog.published_entry(self.engine, full, *place) for place in places)
        return [entry for entry in found if entry is not None]


def _listed(versions: list[int]) -> str:
    more = len(versions) - _MOST_LISTED
    latest = ", ".join(map(str, versions[-_MOST_LISTED:]))
    return f"versions: {latest}" + (f" and {more} earlier ones" if more > 0 else "")
