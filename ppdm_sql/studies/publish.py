"""PUBLISH STUDY and REFRESH STUDY: all of its releases, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import placed_at
from ppdm_sql.language.syntax import PublishRelease, RefreshRelease, ReleaseName
from ppdm_sql.lifecycle.release import refresh_release
from ppdm_sql.publish.run import publish
from ppdm_sql.studies.leaving_out import LeavingOut
from ppdm_sql.studies.study import open_study, statement_of, stored_study

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import PublishStudy, RefreshStudy
    from ppdm_sql.lifecycle.make_version import Made
    from ppdm_sql.publish.written import Published
    from ppdm_sql.release.releases import Releases


def publish_study(releases: Releases, statement: PublishStudy) -> Published:
    """Publish the releases of a study together."""
    study = open_study(releases, statement.name, statement.name_span)
    names = tuple(
        ReleaseName(version.entry.name, statement.name_span) for version in study.versions
    )
    wanted = PublishRelease(
        names,
        statement.path,
        statement.format,
        statement.options,
        statement.span,
        statement.path_span,
        statement.format_span,
    )
    return publish(releases, wanted, LeavingOut(study, releases.keys, statement.name_span))


def refresh_study(releases: Releases, statement: RefreshStudy) -> list[Made]:
    """Refresh all releases of a study in one transaction."""
    stored = stored_study(releases, statement.name, statement.span)
    with releases.engine.transaction(), placed_at(statement.span):
        return [
            refresh_release(releases, RefreshRelease(member.name, statement.span))
            for member in statement_of(stored).members
        ]
