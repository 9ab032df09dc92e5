"""PUBLISH RELEASE: what is released is written, checked, recorded and put in its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ppdm_sql.delivery.codebook import CODEBOOK
from ppdm_sql.delivery.destinations import CsvFolder, DatabaseFile, ParquetFolder
from ppdm_sql.delivery.outside_file import refuse_in_transaction
from ppdm_sql.delivery.place import Place, target_of
from ppdm_sql.delivery.release_info import INFO
from ppdm_sql.delivery.workplace import workplace
from ppdm_sql.errors import BindError, EngineError, EngineKind, PpdmError, Refused, StoreError
from ppdm_sql.publish.disclosed_together import disclosed_together
from ppdm_sql.publish.earlier_versions import EarlierVersions
from ppdm_sql.publish.linking import links_before, shared_links
from ppdm_sql.publish.options import (
    ALWAYS,
    CSV,
    DUCKDB,
    PARQUET,
    PUBLICATION,
    format_of,
    options_of,
)
from ppdm_sql.publish.settling import settle_publications
from ppdm_sql.publish.write import Writing, write
from ppdm_sql.publish.written import Published
from ppdm_sql.store.publications import (
    DONE,
    PENDING,
    Publication,
    list_publications,
    new_name,
    record_publication,
    set_state,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import PublishRelease
    from ppdm_sql.names import QualifiedName
    from ppdm_sql.publish.write import Together
    from ppdm_sql.release.releases import Releases

_FORMATS: dict[str, type[DatabaseFile] | type[ParquetFolder] | type[CsvFolder]] = {
    DUCKDB: DatabaseFile,
    PARQUET: ParquetFolder,
    CSV: CsvFolder,
}
_CAUSES = {
    EngineKind.DISK: "the disk is full or read-only",
    EngineKind.MEMORY: "out of memory",
}
_SHADOWS = (
    "SELECT DISTINCT function_name AS name FROM system.main.duckdb_functions() WHERE NOT internal"
    " INTERSECT SELECT function_name FROM system.main.duckdb_functions() WHERE internal ORDER BY name ASC"
)


def publish(
    releases: Releases, statement: PublishRelease, together: Together | None = None
) -> Published:
    """Write releases to a new file or folder and put it in its place, all or nothing."""
    engine = releases.engine
    refuse_in_transaction(engine, "PUBLISH", statement.span)
    format_ = format_of(statement)
    make = _FORMATS[format_]
    _refuse_shadows(engine, statement)
    options = options_of(statement, ALWAYS if together is None else together.linkable)
    names = _full_names(releases, statement)
    wanted = Place(statement.path, format_ != DUCKDB, statement.path_span)
    target = target_of(wanted, names)
    name = new_name()
    publication = Publication(
        name,
        datetime.now(UTC).replace(tzinfo=None, microsecond=0),
        str(target),
        format_,
        options.linkable == PUBLICATION,
        options.recipient,
        study=None if together is None else together.study,
        key_scope=options.key_scope(name),
    )
    replaced = _published_there(engine, target)
    with workplace(target.parent) as place:
        destination = make(engine, place / target.name)
        writing = Writing(releases, statement, publication, destination)
        try:
            with destination, engine.transaction():
                written, settled = write(writing, together)
        except EngineError as error:
            raise _could_not_write(error, target) from None
        signers = {one.agreement.fingerprint: one.agreement for one in written if one.agreement}
        keys = [agreement.signing_key for agreement in signers.values()]
        publication = replace(publication, digest=destination.complete(keys), state=PENDING)
        links = {one.entry.name: one.links for one in written}
        earlier = EarlierVersions(releases, publication.name)
        said = (
            *settled.warnings,
            *(warning for one in written for warning in one.warnings),
            *(shared_links(links) if together is None else ()),
            *links_before(earlier, publication, [(one.outgoing, one.links) for one in written]),
            *disclosed_together(
                earlier, publication, [(one.outgoing, one.version) for one in written]
            ),
        )
        warnings = tuple(dict.fromkeys(said))
        if warnings and options.is_strict:
            raise Refused(
                warnings[0],
                statement.span,
                "nothing was published; without strict = true this is a warning",
                code="strict",
            )
        releases.on_stage("putting it in its place")
        with engine.unstoppable():
            with engine.transaction():
                record_publication(engine, publication, [one.outgoing for one in written])
            try:
                target_of(wanted, names)  # again: somebody may have put something there
                destination.put(target)
            except BaseException:
                settle_publications(
                    engine
                )  # by what is there: Ctrl-C may have come after the rename
                raise
            _record_done(engine, publication)
    publication = replace(publication, state=DONE)
    listed = tuple(one.published(publication) for one in written)
    return Published(publication, listed, warnings, replaced, settled.notes)


def _published_there(engine: Engine, target: Path) -> datetime | None:
    """Return when what stands at a place was published, if the ledger knows."""
    times = [
        one.publication.published_at
        for one in list_publications(engine)
        if one.publication.path == str(target)
    ]
    return max(times) if times and target.exists() else None


def _record_done(engine: Engine, publication: Publication) -> None:
    try:
        with engine.transaction():
            set_state(engine, publication.name, DONE)
    except EngineError:
        raise StoreError(
            f"'{publication.path}' is published, but the store could not record it",
            hint="free some disk space and open the database again, which records it",
            code="not_recorded",
        ) from None


def _full_names(releases: Releases, statement: PublishRelease) -> list[QualifiedName]:
    names: list[QualifiedName] = []
    for release in statement.releases:
        name = releases.entry(release.name, release.span).name
        if name in names:
            raise BindError(f"'{name}' is listed twice", release.span, code="listed_twice")
        if name in (INFO, CODEBOOK):
            raise Refused(
                f"'{name}' is a reserved name: it says what a publication contains",
                release.span,
                "give the release another name",
                code="reserved_name",
            )
        names.append(name)
    return names


def _refuse_shadows(engine: Engine, statement: PublishRelease) -> None:
    """Refuse to write through a function that stands before one of DuckDB's own."""
    names = engine.query(_SHADOWS).column("name").to_pylist()
    if names:
        raise Refused(
            f"the function '{names[0]}' of this database hides DuckDB's own: releases are computed"
            " with that one",
            statement.span,
            "drop or rename it, then publish",
            code="shadowed_function",
        )


def _could_not_write(error: EngineError, target: Path) -> PpdmError:
    why = _CAUSES.get(error.kind)
    if why is None:
        return error
    return StoreError(
        f"'{target}' could not be written: {why}",
        error.span,
        "nothing was published; what was there is still there",
        code="not_written",
    )
