"""PUBLISH RELEASE: what is released is written, checked, recorded and put in its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.delivery.destinations import DatabaseFile, ParquetFolder
from ppdm_sql.delivery.place import Place, target_of
from ppdm_sql.delivery.release_info import INFO
from ppdm_sql.delivery.workplace import workplace
from ppdm_sql.errors import (
    BindError,
    EngineError,
    EngineKind,
    PpdmError,
    Refused,
    StoreError,
    placed_at,
    plural,
)
from ppdm_sql.names import Name, QualifiedName, chain
from ppdm_sql.publish.checks import (
    check_again,
    check_pseudonyms,
    compare,
    refuse_identifiers,
    verify_targets,
)
from ppdm_sql.publish.disclosed_together import disclosed_together, persons_of, published_columns
from ppdm_sql.publish.earlier_versions import EarlierVersions
from ppdm_sql.publish.linking import (
    linking,
    links_before,
    links_of,
    shared_links,
)
from ppdm_sql.publish.options import DUCKDB, PARQUET, format_of, options_of
from ppdm_sql.publish.settling import settle_publications
from ppdm_sql.publish.snapshot import as_published, frozen_source, shuffled, taken
from ppdm_sql.publish.target_check import check_targets
from ppdm_sql.publish.unlinkable import under_keys
from ppdm_sql.release.acceptance import accepted_in
from ppdm_sql.release.version import released
from ppdm_sql.store import parameters
from ppdm_sql.store.publications import (
    DONE,
    PENDING,
    Outgoing,
    Publication,
    PublishedRelease,
    list_publications,
    new_name,
    record_publication,
    set_state,
)

if TYPE_CHECKING:
    from ppdm_sql.delivery.destinations import Destination
    from ppdm_sql.delivery.release_info import Info
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import PublishRelease
    from ppdm_sql.publish.linking import Link
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.agreements import Agreement
    from ppdm_sql.store.catalog import ColumnEntry, Entry
    from ppdm_sql.store.publications import PublishedColumn

_FORMATS: dict[str, type[DatabaseFile] | type[ParquetFolder]] = {
    DUCKDB: DatabaseFile,
    PARQUET: ParquetFolder,
}
_CAUSES = {
    EngineKind.DISK: "the disk is full or read-only",
    EngineKind.MEMORY: "out of memory",
}
_SHADOWS = (
    "SELECT DISTINCT function_name AS name FROM system.main.duckdb_functions() WHERE NOT internal"
    " INTERSECT SELECT function_name FROM system.main.duckdb_functions() WHERE internal ORDER BY name ASC"
)


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
        return said

    def __repr__(self) -> str:
        return f"<{self.message}>"

    def __str__(self) -> str:
        return self.message


def publish(releases: Releases, statement: PublishRelease) -> Published:
    """Write releases to a new file or folder and put it in its place, all or nothing."""
    engine = releases.engine
    if engine.in_transaction():
        raise Refused(
            "PUBLISH cannot run inside a transaction",
            statement.span,
            "write COMMIT before it",
            code="in_transaction",
        )
    format_ = format_of(statement)
    make = _FORMATS[format_]
    _refuse_shadows(engine, statement)
    options = options_of(statement)
    names = _full_names(releases, statement)
    wanted = Place(statement.path, format_ != DUCKDB, statement.path_span)
    target = target_of(wanted, names)
    publication = Publication(
        new_name(),
        datetime.now(UTC).replace(tzinfo=None, microsecond=0),
        str(target),
        format_,
        options.unlinkable,
        options.recipient,
    )
    replaced = _published_there(engine, target)
    with workplace(target.parent) as place:
        destination = make(engine, place / target.name)
        try:
            with destination, engine.transaction():
                written = _write(releases, statement, _Writing(publication, destination))
        except EngineError as error:
            raise _could_not_write(error, target) from None
        signers = {one.agreement.fingerprint: one.agreement for one in written if one.agreement}
        keys = [agreement.signing_key for agreement in signers.values()]
        publication = replace(publication, digest=destination.complete(keys), state=PENDING)
        links = {one.entry.name: one.links for one in written}
        earlier = EarlierVersions(releases)
        warnings = (
            *(warning for one in written for warning in one.warnings),
            *shared_links(links),
            *links_before(earlier, publication, [(one.outgoing, one.links) for one in written]),
            *disclosed_together(
                earlier, publication, [(one.outgoing, one.version) for one in written]
            ),
        )
        if warnings and options.is_strict:
            raise Refused(
                warnings[0],
                statement.span,
                "nothing was published; without strict = true this is a warning",
                code="strict",
            )
        releases.on_stage("putting it in its place")
        with engine.transaction():
            record_publication(engine, publication, [one.outgoing for one in written])
        try:
            target_of(wanted, names)  # again: somebody may have put something there
            destination.put(target)
        except BaseException:
            settle_publications(engine)  # by what is there: Ctrl-C may have come after the rename
            raise
        _record_done(engine, publication)
    publication = replace(publication, state=DONE)
    listed = tuple(one.published(publication) for one in written)
    return Published(publication, listed, warnings, replaced)


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


@dataclass(frozen=True, slots=True)
class _Writing:
    """What is being written, and where."""

    publication: Publication
    destination: Destination


def _write(releases: Releases, statement: PublishRelease, writing: _Writing) -> tuple[Written, ...]:
    written = []
    for release in statement.releases:
        entry = releases.entry(release.name, release.span)
        with placed_at(release.span):
            version = releases.open(entry)
            written.append(_write_release(releases, version, statement, writing))
    return tuple(written)


def _write_release(
    releases: Releases, version: Version, wanted: PublishRelease, writing: _Writing
) -> Written:
    publication, destination = writing.publication, writing.destination
    engine, entry = version.engine, version.entry
    releases.on_stage(f"writing {entry.name}")
    parameters.read_row(engine, entry.storage, entry.tables)  # without it, no row would leave
    columns = released(version.columns)
    comments = {column.name: _comment(column) for column in columns}
    links = links_of(releases, version.release)
    is_renamed = publication.unlinkable and bool(links)
    listed = [Name(column.name) for column in version.columns]
    accepted = (*version.release.accepted, *accepted_in(wanted.options, listed))
    with frozen_source(version) as fixed:
        warnings = check_again(fixed, accepted)
        with under_keys(releases, fixed, publication) as keyed, taken(keyed) as snapshot:
            refuse_identifiers(snapshot)
            check_targets(snapshot)
            one = Written(
                entry,
                snapshot.count(),
                ", ".join(f"{Name(column.name)}: {_words(column)}" for column in columns),
                verify_targets(fixed, accepted),
                frozenset() if is_renamed else links,
                releases.agreement_of(version.release),
                accepted,
                version,
                persons_of(fixed),
                published_columns(version),
                warnings,
            )
            shown = as_published(snapshot, publication.format == PARQUET)
            rows = shuffled(snapshot, shown)
            written = destination.write(entry.name, rows, comments, one.info(publication))
            releases.on_stage(f"checking {entry.name}")
            compare(snapshot, shown, written)
        if is_renamed:
            names = (name.text for rule, _, _ in linking(fixed.release) for name in rule.names)
            check_pseudonyms(fixed, written, list(dict.fromkeys(names)))
    return one


def _comment(column: ColumnEntry) -> str:
    return f"{column.role}, {_words(column)}"


def _words(column: ColumnEntry) -> str:
    return chain(column.treatments)


def _full_names(releases: Releases, statement: PublishRelease) -> list[QualifiedName]:
    names: list[QualifiedName] = []
    for release in statement.releases:
        name = releases.entry(release.name, release.span).name
        if name in names:
            raise BindError(f"'{name}' is listed twice", release.span, code="listed_twice")
        if name == INFO:
            raise Refused(
                f"'{name}' is a reserved name: it lists what a publication contains",
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
