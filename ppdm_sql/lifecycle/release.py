"""CREATE, REFRESH and DROP RELEASE: everything inside the transaction of one statement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, PpdmError, Refused, TreatmentError, placed_at
from ppdm_sql.groups.register import with_register
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateStudy
from ppdm_sql.lifecycle.make_version import make_version
from ppdm_sql.lifecycle.pseudonyms_apart import pseudonyms_apart
from ppdm_sql.names import STORE_CATALOG, QualifiedName
from ppdm_sql.release.bind import check_new_names
from ppdm_sql.release.entities import check_paths, with_entities
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import catalog
from ppdm_sql.store.studies import list_studies

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import CreateRelease, DropRelease, RefreshRelease
    from ppdm_sql.lifecycle.make_version import Made
    from ppdm_sql.release.releases import Releases


def create_release(releases: Releases, statement: CreateRelease) -> Made:
    """CREATE [OR REPLACE] RELEASE."""
    check_new_names(statement)
    with releases.engine.transaction():
        named = replace(statement, name=releases.full_name(statement.name))
        previous = catalog.find_entry(releases.engine, named.name)
        if previous is not None and not statement.replace:
            raise BindError(
                f"there is already a release '{named.name}'",
                statement.name_span,
                "write CREATE OR REPLACE RELEASE, or DROP RELEASE first",
                code="release_exists",
            )
        sources = Sources(releases.engine)
        if previous is None:
            _check_free(named, sources)
        named = with_register(named, sources)
        named = with_entities(named, releases.engine, sources, releases.treatments)
        release = releases.bind(named, sources)
        definition = replace(named, source=release.source, replace=False)
        made = make_version(releases, release, definition, previous)
        apart = pseudonyms_apart(releases.engine, release)
        return replace(made, warnings=(*made.warnings, *apart))


def refresh_release(releases: Releases, statement: RefreshRelease) -> Made:
    """REFRESH RELEASE: the next version, with everything analysts know kept."""
    with releases.engine.transaction():
        entry = releases.entry(statement.name, statement.span)
        try:
            with placed_at(statement.span):
                version = releases.open(entry)
                version.check_types()
                check_paths(releases.engine, version.release.source)
                known = version.parameters
                return make_version(releases, version.release, version.statement, entry, known)
        except (TreatmentError, Refused) as error:
            error.hint = _without_refresh(error)
            raise
        except (KeyError, ValueError, pa.ArrowException):
            what = f"version {entry.version} of '{entry.name}' has lost its stored parameters"
            raise catalog.damaged(what) from None


def drop_release(releases: Releases, statement: DropRelease) -> bool:
    """DROP RELEASE: the view, every version, every table. False if there was none."""
    engine = releases.engine
    with engine.transaction():
        if statement.if_exists and releases.find(statement.name) is None:
            return False
        entry = releases.entry(statement.name, statement.span)
        _check_not_in_a_study(releases, entry.name, statement.span)
        name = QualifiedName((STORE_CATALOG, *entry.name.parts))
        there = Sources(engine).resolve(name)
        # The owner may have put a table in its place: that is not ours to drop.
        if there is not None and there.view_sql is not None:
            engine.run(exp.Drop(tables=[table_of(name)], kind="VIEW", exists=True))
        catalog.forget(engine, entry)
        return True


def _check_not_in_a_study(releases: Releases, name: QualifiedName, span: Span | None) -> None:
    for stored in list_studies(releases.engine):
        for study in parse_script(stored.definition):
            if isinstance(study, CreateStudy) and name in {one.name for one in study.members}:
                raise BindError(
                    f"'{name}' is part of study '{stored.name}'",
                    span,
                    f"write DROP STUDY {stored.name} first, or CREATE OR REPLACE STUDY without it",
                    code="in_use",
                )


def _check_free(statement: CreateRelease, sources: Sources) -> None:
    taken = sources.resolve(QualifiedName((STORE_CATALOG, *statement.name.parts)))
    if taken is not None:
        kind = "view" if taken.view_sql else "table"
        raise BindError(
            f"there is already a {kind} '{statement.name}'",
            statement.name_span,
            "choose another name: a release replaces only a release",
            code="name_taken",
        )


def _without_refresh(error: PpdmError) -> str:
    """Return what the owner can do about an error of REFRESH, which takes no other definition."""
    if isinstance(error, TreatmentError) and error.is_of_hierarchy:
        return f"{error.hint}; after CREATE OR REPLACE HIERARCHY, refresh again"
    advice = f": {error.hint}" if error.hint else " with another definition"
    return (
        "REFRESH keeps the definition. Correct the rows in the source and refresh again, or write "
        f"CREATE OR REPLACE RELEASE{advice}. That makes new parameters; translate earlier results with VERSION n"
    )
