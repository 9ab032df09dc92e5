"""What tests look into: versions of releases, and binding without a store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ppdm_sql.groups.bind import bind_grouping
from ppdm_sql.language.script import parse_name

if TYPE_CHECKING:
    from ppdm_sql.names import Name
    from ppdm_sql.owner import Owner
    from ppdm_sql.release.version import Version


class NoHierarchies:
    """A store without hierarchies."""

    def find(self, name: Name) -> None:
        return None

    def names(self) -> tuple[str, ...]:
        return ()


bind_clause = partial(bind_grouping, NoHierarchies())


def version_of(owner: Owner, name: str = "r.t") -> Version:
    """Return the newest version of a release, opened."""
    releases = owner._releases
    return releases.open(releases.entry(parse_name(name)))
