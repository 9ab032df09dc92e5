"""Which version of a release results are read with, and whether it can still be read.

Every CREATE OR REPLACE draws anew: the same alias then means something else. So results are read
with the version that they come from, and an answer says so where there is a choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, PpdmError, StoreError
from ppdm_sql.session.creation import check_types
from ppdm_sql.store import catalog
from ppdm_sql.store.history import versions_held

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.model.release import Release
    from ppdm_sql.names import QualifiedName
    from ppdm_sql.session.creation import Releases
    from ppdm_sql.store.catalog import Entry

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


def find_version(releases: Releases, wanted: Wanted) -> tuple[Entry, tuple[str, ...]]:
    """Return the version that is wanted, and what is to be said of the choice."""
    newest = releases.entry(wanted.name, wanted.span)
    held = versions_held(releases.engine, newest)
    if wanted.version is None:
        if all(entry.version == newest.version for entry in held):
            return newest, ()
        note = (
            f"read as version {newest.version} of {newest.name} "
            "(VERSION n reads results of an earlier one)"
        )
        return newest, (note,)
    for entry in held:
        if entry.version == wanted.version:
            return entry, ()
    raise BindError(
        f"the store holds no version {wanted.version} of '{newest.name}'",
        wanted.version_span or wanted.span,
        _listed([entry.version for entry in held]),
    )


def bind_version(releases: Releases, entry: Entry, span: Span | None) -> Release:
    """Return a version bound to its source; raise where that is not what it was made of."""
    try:
        release = releases.bind(entry)
        check_types(release, catalog.list_columns(releases.engine, entry))
    except PpdmError as error:
        # Its place is in the stored definition, which nobody wrote just now.
        error.span = span
        if not isinstance(error, StoreError):
            which = f"version {entry.version} of '{entry.name}'"
            error.what = f"{which} does not fit its source as it is now: {error.what}"
            error.hint = _AS_IT_WAS
        raise
    return release


def _listed(versions: list[int]) -> str:
    more = len(versions) - _MOST_LISTED
    latest = ", ".join(map(str, versions[-_MOST_LISTED:]))
    return f"versions: {latest}" + (f" and {more} earlier ones" if more > 0 else "")
