"""Writing releases: rows are taken as they are now, checked, written, and compared with the file.

Of a study, the rows of all releases are taken before any is written.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ppdm_sql.errors import placed_at
from ppdm_sql.names import Name, chain
from ppdm_sql.publish.checks import (
    check_again,
    check_pseudonyms,
    compare,
    verify_targets,
)
from ppdm_sql.publish.codebook import codebook, disclosed_in
from ppdm_sql.publish.identifiers import identifiers_in_texts, refuse_identifiers
from ppdm_sql.publish.inner_releases import check_below
from ppdm_sql.publish.linking import links_of, refuse_other_links
from ppdm_sql.publish.options import PARQUET
from ppdm_sql.publish.published_columns import published_columns
from ppdm_sql.publish.snapshot import as_published, frozen_source, shuffled, taken
from ppdm_sql.publish.target_check import check_targets
from ppdm_sql.publish.written import Written
from ppdm_sql.release.acceptance import accepted_in
from ppdm_sql.release.entities import check_paths
from ppdm_sql.release.key_scope import linking, under_keys
from ppdm_sql.release.version import released
from ppdm_sql.store import parameters
from ppdm_sql.store.catalog import list_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlglot import exp

    from ppdm_sql.delivery.destinations import Destination
    from ppdm_sql.language.syntax import PublishRelease, ReleaseName
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.catalog import ColumnEntry
    from ppdm_sql.store.publications import Publication


class Together(Protocol):
    """What is decided over all releases of a publication, before any of them is written: a study."""

    @property
    def study(self) -> str:
        """Its name."""
        ...

    @property
    def linkable(self) -> str:
        """Whose pseudonyms it has, where the statement does not say."""
        ...

    def carried(self, version: Version) -> Mapping[str, exp.Expr]:
        """Return what must be kept beside the rows of a release to decide."""
        ...

    def settle(self, snapshots: Sequence[Snapshot]) -> Settled:
        """Take rows out until what goes out together is what was promised; raise if it cannot be."""
        ...


@dataclass(frozen=True, slots=True)
class Settled:
    """What was decided over several releases."""

    targets: tuple[str, ...] = ()
    """What holds over all of them, for `release_info`."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What its message says besides."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What is being written, and where."""

    releases: Releases
    statement: PublishRelease
    publication: Publication
    destination: Destination


@dataclass(frozen=True, slots=True)
class _Taken:
    """A release whose rows are taken, and not written yet."""

    version: Version
    fixed: Version
    """The same, over a source that stays as it is."""
    snapshot: Snapshot
    accepted: tuple[Acceptance, ...]
    warnings: tuple[str, ...]


def write(writing: Writing, together: Together | None) -> tuple[tuple[Written, ...], Settled]:
    """Write every release; return them, and what was decided over all of them together."""
    if together is None:  # one after the other: no more than one is held at a time
        written = []
        for release in writing.statement.releases:
            with placed_at(release.span), _take(writing, release, _nothing) as one:
                written.append(_write_release(writing, one, ()))
        return tuple(written), Settled()
    with ExitStack() as stack:
        everything = []
        for release in writing.statement.releases:
            with placed_at(release.span):
                everything.append(stack.enter_context(_take(writing, release, together.carried)))
        settled = together.settle([one.snapshot for one in everything])
        written = [_write_release(writing, one, settled.targets) for one in everything]
        return tuple(written), settled


@contextmanager
def _take(
    writing: Writing, release: ReleaseName, carried: Callable[[Version], Mapping[str, exp.Expr]]
) -> Iterator[_Taken]:
    """Give the rows of a release as they are now, under the keys of the publication."""
    releases, publication = writing.releases, writing.publication
    version = releases.open(releases.entry(release.name, release.span))
    entry = version.entry
    version.check_types()  # before a value of another type is read
    check_paths(version.engine, version.release.source)
    releases.on_stage(f"reading {entry.name}")
    parameters.read_row(version.engine, entry.storage, entry.tables)  # else no row would leave
    if publication.key_scope is not None:
        refuse_other_links(releases, version)
    listed = [Name(column.name) for column in version.columns]
    said = accepted_in(writing.statement.options, [*listed, *_all_columns(writing)])
    own = (one for one in said if one.column is None or one.column in listed)
    accepted = (*version.release.accepted, *own)
    with frozen_source(version) as fixed:
        warnings = check_again(fixed, accepted)
        check_below(releases, version)
        with (
            under_keys(releases.keys, fixed, publication) as keyed,
            taken(keyed, carried(fixed)) as snapshot,
        ):
            if keyed is not fixed:
                names = (name.text for rule, _, _ in linking(fixed.release) for name in rule.names)
                check_pseudonyms(fixed, snapshot.rows(), list(dict.fromkeys(names)))
            yield _Taken(version, fixed, snapshot, accepted, warnings)


def _all_columns(writing: Writing) -> list[Name]:
    """Return the columns of all releases: what is accepted is of one of them."""
    if len(writing.statement.releases) < 2 or not writing.statement.options:
        return []
    entries = (writing.releases.entry(one.name, one.span) for one in writing.statement.releases)
    engine = writing.releases.engine
    return [Name(one.name) for entry in entries for one in list_columns(engine, entry)]


def _nothing(_: Version) -> Mapping[str, exp.Expr]:
    return {}


def _write_release(writing: Writing, one: _Taken, targets: tuple[str, ...]) -> Written:
    releases, publication, snapshot = writing.releases, writing.publication, one.snapshot
    version = one.version
    entry, columns = version.entry, released(version.columns)
    releases.on_stage(f"writing {entry.name}")
    refuse_identifiers(snapshot)
    check_targets(snapshot)
    done = Written(
        entry,
        snapshot.count(),
        ", ".join(f"{Name(column.name)}: {_words(column)}" for column in columns),
        (*verify_targets(one.fixed, snapshot, one.accepted), *targets),
        links_of(releases, version.release),
        releases.agreement_of(version.release),
        one.accepted,
        version,
        snapshot.persons(),
        published_columns(releases, version),
        (*one.warnings, *identifiers_in_texts(snapshot)),
    )
    shown = as_published(snapshot, publication.format == PARQUET)
    rows = shuffled(snapshot, shown)
    comments = {column.name: _comment(column) for column in columns}
    disclosed = disclosed_in(writing.statement.options, version, _all_columns(writing))
    lines = list(codebook(snapshot, disclosed))
    written = writing.destination.write(entry.name, rows, comments, done.info(publication), lines)
    releases.on_stage(f"checking {entry.name}")
    compare(snapshot, shown, written)
    return done


def _comment(column: ColumnEntry) -> str:
    return f"{column.role}, {_words(column)}"


def _words(column: ColumnEntry) -> str:
    return chain(column.treatments)
