"""AUDIT RELEASE: read what the audit needs, let it measure and attack, hand the report on."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.about import __version__
from ppdm_sql.audit.assembly import Material, assemble
from ppdm_sql.audit.measure.diversity import SensitiveValues
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.read import sql
from ppdm_sql.audit.read.background import read_background
from ppdm_sql.audit.read.others import Unreadable, newcomers, read_others
from ppdm_sql.audit.read.subject import numbers_of
from ppdm_sql.audit.read.version import (
    NOT_MATCHED,
    aligned,
    array_of,
    has_unique_persons,
    places,
    read_version,
)
from ppdm_sql.audit.report.requirements import check_known
from ppdm_sql.audit.report.script import redacted
from ppdm_sql.engine.duckdb import engine_version
from ppdm_sql.errors import PpdmError
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.groups.hierarchy_levels import climb, group_numbers
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.audit.read.sql import AuditedColumn
    from ppdm_sql.audit.read.version import Audited
    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.audit.report.outcome import Requirement
    from ppdm_sql.groups.search import FloatArray, IntArray
    from ppdm_sql.language.syntax import AuditRelease
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.catalog import Entry

_PRECISION = "measures utility, not safety; untouched rows count as 1"


def audit_release(
    releases: Releases,
    statement: AuditRelease,
    is_internal: bool,
    requirements: Sequence[Requirement] = (),
) -> Report:
    """Audit a release as it is now; all reads see the same data."""
    unreadable: set[tuple[int, int]] = set()
    while True:
        try:
            with _opened(releases, statement) as version:
                names = [column.name.text for column in sql.audited_columns(version.release)]
                # Before anything is read: a requirement that cannot be meant must not cost a minute.
                check_known(requirements, names, statement.against is not None)
                material = _material(releases, statement, version, is_internal, unreadable)
        except Unreadable as error:
            unreadable.add(error.version)
            continue  # what failed has ended the transaction: all is read again, without it
        break
    material = replace(material, requirements=tuple(requirements))
    return assemble(material, is_internal, releases.on_stage)


@contextmanager
def _opened(releases: Releases, statement: AuditRelease) -> Iterator[Version]:
    """Open a release in a transaction; errors inside point at the statement."""
    with releases.engine.transaction():
        entry = releases.entry(statement.name, statement.span)
        try:
            yield releases.open(entry, statement.span)
        except PpdmError as error:
            # A place in the stored definition is none that the owner just wrote.
            if error.span is None or error.span.text == entry.definition:
                error.span = statement.span
            raise


def _material(
    releases: Releases,
    statement: AuditRelease,
    version: Version,
    is_internal: bool,
    unreadable: set[tuple[int, int]],
) -> Material:
    entry = version.entry
    linked = () if statement.against is None else _linkable(version.release)
    releases.on_stage("reading the release")
    read = read_version(version, linked)
    releases.on_stage("reading the source")
    sensitive = tuple(_sensitive(releases, read))
    left_out: list[str] = []
    releases.on_stage("asking again")
    again = _asked_again(releases, read, left_out)
    others = read_others(releases, read, statement, unreadable, left_out)
    background = None
    if statement.against is not None:
        background = read_background(read.version, statement, read.table, left_out)
    suppressed = _suppressed_rows(releases, read)
    more = () if suppressed is None else _precision(entry, suppressed, left_out)
    return Material(
        release=str(entry.name),
        version=entry.version,
        subject=read.subject,
        sensitive=sensitive,
        script=entry.definition if is_internal else redacted(version.statement),
        software=(
            ("ppdm-sql", __version__),
            ("DuckDB", engine_version()),
            ("NumPy", np.__version__),
            ("Python", platform.python_version()),
        ),
        again=again,
        accepted=", ".join(map(str, version.release.accepted)) or None,
        others=others,
        newcomers=newcomers(releases, read, others),
        together_with=", ".join(map(str, statement.together_with)) or None,
        background=background,
        against=None if statement.against is None else str(statement.against),
        suppressed=None if suppressed is None else suppressed.rows,
        more_figures=more,
        left_out=tuple(left_out),
    )


class _Suppressed(NamedTuple):
    """What GENERALIZE lets nothing be seen of, as the source is now."""

    rows: int
    of: int


def _suppressed_rows(releases: Releases, read: Audited) -> _Suppressed | None:
    """Count the rows that do not leave, or as `*` only; None without GENERALIZE."""
    if read.version.release.grouping is None:
        return None
    table = releases.engine.query(sql.source_rows(read.version))
    rows = int(table.column(sql.COUNT)[0].as_py())
    stars = read.subject.is_suppressed
    released = read.subject.rows - (0 if stars is None else int(stars.sum()))
    return _Suppressed(rows - released, rows)


def _precision(entry: Entry, suppressed: _Suppressed, left_out: list[str]) -> tuple[Figure, ...]:
    """Return what was written down of the version, where its source still has those rows."""
    facts = entry.facts
    if suppressed != _Suppressed(facts.suppressed_rows or 0, facts.source_rows):
        left_out.append("precision: the source has changed since; refresh the release")
        return ()
    return (Figure("utility", "precision", "", facts.precision, _PRECISION),)


def _linkable(release: Release) -> tuple[Name, ...]:
    """Return the QUASI columns that show originals, or what a hierarchy makes of them."""
    return tuple(
        column.name
        for column in sql.audited_columns(release)
        if column.role is Role.QUASI
        and all(t.shows_originals or t.generalizes for t in column.traits)
    )


def _sensitive(releases: Releases, read: Audited) -> list[SensitiveValues]:
    # Also where every KEY leaves once: somebody who is left out may stand in many rows.
    by_person = read.subject.person is not None
    found = []
    for index, column in enumerate(read.columns):
        if column.role is not Role.SENSITIVE:
            continue
        query = sql.reference_values(read.version, column, by_person)
        reference = releases.engine.query(query)
        kind = column.source.type.kind
        values = reference.column(0).combine_chunks()
        original = array_of(read.table, sql.original_column(index))
        place = pc.index_in(original, value_set=values)
        found.append(
            SensitiveValues(
                column.name.text,
                np.asarray(place, dtype=np.int64),
                np.asarray(reference.column(sql.COUNT), dtype=np.int64),
                kind in sql.MEASURED,
                _tree(read.version.release, column, reference),
                numbers_of(original) if kind in sql.MEASURED else None,
            )
        )
    return found


def _tree(
    release: Release, column: AuditedColumn, reference: pa.Table
) -> tuple[IntArray, ...] | None:
    """Return the groups of a sensitive column's values, where the target of t names a hierarchy."""
    grouping = find_grouping(release)
    if grouping is None:
        return None
    for target in grouping.targets:
        if target.hierarchy is not None and target.column == column.source:
            texts, values = array_of(reference, sql.TEXT), array_of(reference, sql.NATIVE)
            ladder = climb(target.hierarchy.shape, values, texts)
            return tuple(group_numbers(labels) for labels in ladder.labels)
    return None


def _asked_again(
    releases: Releases, read: Audited, left_out: list[str]
) -> dict[str, tuple[FloatArray, ...]]:
    """Ask twice more for every column with noise, in other orders; rows are known by their KEY."""
    noised = {
        column.name.text: sql.released_column(index)
        for index, column in enumerate(read.columns)
        if any(t.adds_noise for t in column.traits) and column.is_numeric
    }
    if not noised:
        return {}
    if not has_unique_persons(read):
        left_out.append(f"averaging was not tried: {NOT_MATCHED.format('answers')}")
        return {}
    rows = sql.audited_rows(read.version)
    answers: dict[str, list[FloatArray]] = {name: [] for name in noised}
    for is_descending in (True, False):
        table = releases.engine.query(sql.asked_again(rows, list(noised.values()), is_descending))
        at = places(read.table, table)
        for name, column in noised.items():
            answers[name].append(aligned(numbers_of(array_of(table, column)), at))
    return {name: tuple(found) for name, found in answers.items()}
