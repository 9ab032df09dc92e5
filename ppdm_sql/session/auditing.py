"""AUDIT RELEASE: read what the audit needs, let it measure and attack, hand the report on."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql import __version__
from ppdm_sql.anonymity.hierarchies import climb, group_numbers
from ppdm_sql.audit.assembly import Material, assemble
from ppdm_sql.audit.diversity import SensitiveValues
from ppdm_sql.audit.figures import Figure
from ppdm_sql.audit.redaction import redacted
from ppdm_sql.audit.requirements import check_known
from ppdm_sql.audit.risk import classes_of
from ppdm_sql.audit.subject import (
    Column,
    Subject,
    Values,
    codes_of,
    common_codes,
    labels_of,
    numbers_of,
    same_values,
)
from ppdm_sql.compile import auditing as sql
from ppdm_sql.compile.targets import DUCKDB
from ppdm_sql.errors import PpdmError
from ppdm_sql.model.syntax import Role
from ppdm_sql.session.background import read_background
from ppdm_sql.session.creation import definition_of
from ppdm_sql.session.engine import engine_version
from ppdm_sql.session.figures import SUPPRESSED_ROWS
from ppdm_sql.store.figures import list_figures
from ppdm_sql.store.history import version_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.anonymity import BoolArray, FloatArray, IntArray
    from ppdm_sql.audit.report import Report
    from ppdm_sql.audit.requirements import Requirement
    from ppdm_sql.compile.auditing import AuditedColumn
    from ppdm_sql.model.release import Release
    from ppdm_sql.model.syntax import AuditRelease
    from ppdm_sql.names import Name
    from ppdm_sql.session.creation import Releases
    from ppdm_sql.store.catalog import Entry

_PRECISION = "precision of the release"
_MOST_VERSIONS = 5
"""Versions before that are looked at for what they showed as it was."""
_NOT_MATCHED = (
    "without a KEY that is there and different in every row, rows of two {} cannot be matched"
)


@dataclass(frozen=True)
class _Read:
    """The rows of one version."""

    entry: Entry
    release: Release
    columns: tuple[AuditedColumn, ...]
    table: pa.Table
    subject: Subject


def audit_release(
    releases: Releases,
    statement: AuditRelease,
    is_internal: bool,
    requirements: Sequence[Requirement] = (),
) -> Report:
    """Audit a release as it is now; all reads see the same data."""
    if requirements:
        _check_required(releases, statement, requirements)
    for versions in (_MOST_VERSIONS, 1, 0):
        try:
            material = _all_material(releases, statement, is_internal, versions)
        except _Unreadable:
            continue  # what failed has ended the transaction: all is read again, with fewer
        break
    material = replace(material, requirements=tuple(requirements))
    return assemble(material, is_internal, releases.on_stage)


class _Unreadable(Exception):
    """A version before cannot be read."""


def _check_required(
    releases: Releases, statement: AuditRelease, requirements: Sequence[Requirement]
) -> None:
    """Raise where a requirement cannot be meant, before the audit takes its time."""
    with _entry(releases, statement) as entry:
        names = [column.name.text for column in sql.audited_columns(releases.bind(entry))]
    check_known(requirements, names, statement.against is not None)


def _all_material(
    releases: Releases, statement: AuditRelease, is_internal: bool, versions: int
) -> Material:
    with _entry(releases, statement) as entry:
        return _material(releases, statement, entry, is_internal, versions)


@contextmanager
def _entry(releases: Releases, statement: AuditRelease) -> Iterator[Entry]:
    """Look a release up in a transaction; errors inside point at the statement."""
    with releases.engine.transaction():
        entry = releases.entry(statement.name, statement.span)
        try:
            yield entry
        except PpdmError as error:
            # A place in the stored definition is none that the owner just wrote.
            if error.span is None or error.span.text == entry.definition:
                error.span = statement.span
            raise


def _material(
    releases: Releases,
    statement: AuditRelease,
    entry: Entry,
    is_internal: bool,
    versions: int,
) -> Material:
    linked = () if statement.against is None else _linkable(releases.bind(entry))
    releases.on_stage("reading the release")
    read = _read(releases, entry, linked)
    releases.on_stage("reading the source")
    sensitive = tuple(_sensitive(releases, read))
    left_out: list[str] = []
    releases.on_stage("asking again")
    again = _asked_again(releases, read, left_out)
    earlier = _earlier(releases, read, left_out, versions)
    background = None
    if statement.against is not None:
        background = read_background(releases.engine, statement, read.release, read.table, left_out)
    suppressed = _suppressed_rows(releases, read)
    more = () if suppressed is None else _precision(releases, entry, suppressed, left_out)
    return Material(
        release=str(entry.name),
        version=entry.version,
        subject=read.subject,
        sensitive=sensitive,
        script=entry.definition if is_internal else redacted(definition_of(entry)),
        software=(
            ("ppdm-sql", __version__),
            ("DuckDB", engine_version()),
            ("NumPy", np.__version__),
            ("Python", platform.python_version()),
        ),
        again=again,
        earlier_numbers=earlier.numbers,
        earlier_classes=earlier.classes,
        earlier_shown=earlier.shown,
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


def _suppressed_rows(releases: Releases, read: _Read) -> _Suppressed | None:
    """Count the rows that do not leave, or as `*` only; None without GENERALIZE."""
    if read.release.grouping is None:
        return None
    table = releases.engine.query(sql.source_rows(read.release))
    rows = int(table.column(sql.COUNT)[0].as_py())
    stars = read.subject.is_suppressed
    leaving = read.subject.rows - (0 if stars is None else int(stars.sum()))
    return _Suppressed(rows - leaving, rows)


def _precision(
    releases: Releases, entry: Entry, suppressed: _Suppressed, left_out: list[str]
) -> tuple[Figure, ...]:
    """Return what was written down of the version, where its source still has those rows."""
    figures = {f.figure: f for f in list_figures(releases.engine, entry.storage)}
    before = _Suppressed(int(figures[SUPPRESSED_ROWS].value or 0), entry.source_rows)
    if suppressed != before:
        left_out.append("precision: the source has changed since; refresh the release")
        return ()
    found = figures[_PRECISION]
    return (Figure("utility", "precision", "", found.value, found.note),)


def _linkable(release: Release) -> tuple[Name, ...]:
    """Return the QUASI columns that show originals, or what a hierarchy makes of them."""
    return tuple(
        column.name
        for column in sql.audited_columns(release)
        if column.role is Role.QUASI and column.treatments in (("keep",), ("generalize",))
    )


def _read(releases: Releases, entry: Entry, linked: Sequence[Name] = ()) -> _Read:
    release = releases.bind(entry)
    rows = sql.audited_rows(release, entry.storage, DUCKDB, linked)
    table = releases.engine.query(sql.in_fixed_order(rows))
    columns = sql.audited_columns(release)
    person = None
    if sql.NUMBER in table.column_names:
        person = np.asarray(_array(table, sql.NUMBER), dtype=np.int64)
    elif sql.PERSON in table.column_names:
        person = labels_of(_array(table, sql.PERSON))[0] + 1
    subject = Subject(
        tuple(_column(index, column, table) for index, column in enumerate(columns)),
        table.num_rows,
        person,
        _flags(table, sql.IS_HIGH),
        _flags(table, sql.IS_SUPPRESSED),
    )
    return _Read(entry, release, columns, table, subject)


def _column(index: int, column: AuditedColumn, table: pa.Table) -> Column:
    released = _array(table, sql.released_column(index))
    original = _array(table, sql.original_column(index))
    is_common = column.is_numeric and original.type == released.type
    if column.is_numeric:
        codes = common_codes if is_common else _own_codes
        first, second = codes(original, released)
        before = Values(numbers_of(original), first)
        after = Values(numbers_of(released), second)
    elif column.is_generalized:
        texts = _array(table, sql.text_column(index))
        first, second = labels_of(texts, released)
        has_distances = column.source.type.kind in sql.MEASURED
        before = Values(numbers_of(original) if has_distances else None, first)
        after = Values(labels=second)
    else:
        first, second = labels_of(original, released)
        before, after = Values(labels=first), Values(labels=second)
    return Column(
        column.name.text,
        column.role,
        column.treatments,
        column.group,
        before,
        after,
        column.type.decimals,
        is_common,
    )


def _own_codes(*arrays: pa.Array) -> tuple[IntArray, ...]:
    return tuple(codes_of(array) for array in arrays)


def _flags(table: pa.Table, name: str) -> BoolArray | None:
    """Return a column of flags; None where there is none."""
    if name not in table.column_names:
        return None
    flags = pc.fill_null(_array(table, name), False).to_numpy(zero_copy_only=False)
    return np.asarray(flags, np.bool_)


def _sensitive(releases: Releases, read: _Read) -> list[SensitiveValues]:
    # Also where every KEY leaves once: somebody who is left out may stand in many rows.
    by_person = read.subject.person is not None
    found = []
    for index, column in enumerate(read.columns):
        if column.role is not Role.SENSITIVE:
            continue
        query = sql.reference_values(read.release, column, by_person)
        reference = releases.engine.query(query)
        kind = column.source.type.kind
        values = reference.column(0).combine_chunks()
        original = _array(read.table, sql.original_column(index))
        place = pc.index_in(original, value_set=values)
        found.append(
            SensitiveValues(
                column.name.text,
                np.asarray(place, dtype=np.int64),
                np.asarray(reference.column(sql.COUNT), dtype=np.int64),
                kind in sql.MEASURED,
                _tree(read.release, column, reference),
                numbers_of(original) if kind in sql.MEASURED else None,
            )
        )
    return found


def _tree(
    release: Release, column: AuditedColumn, reference: pa.Table
) -> tuple[IntArray, ...] | None:
    """Return the groups of a sensitive column's values, where the target of t names a hierarchy."""
    if release.grouping is None:
        return None
    for target in release.grouping.targets:
        if target.hierarchy is not None and target.column == column.source:
            texts, values = _array(reference, sql.TEXT), _array(reference, sql.NATIVE)
            ladder = climb(target.hierarchy.shape, values, texts)
            return tuple(group_numbers(labels) for labels in ladder.labels)
    return None


def _asked_again(
    releases: Releases, read: _Read, left_out: list[str]
) -> dict[str, tuple[FloatArray, ...]]:
    """Ask twice more for every column with noise, in other orders; rows are known by their KEY."""
    noised = {
        column.name.text: sql.released_column(index)
        for index, column in enumerate(read.columns)
        if "noise" in column.treatments and column.is_numeric
    }
    if not noised:
        return {}
    if not _has_unique_persons(read):
        left_out.append(f"averaging was not tried: {_NOT_MATCHED.format('answers')}")
        return {}
    rows = sql.audited_rows(read.release, read.entry.storage, DUCKDB)
    answers: dict[str, list[FloatArray]] = {name: [] for name in noised}
    for is_descending in (True, False):
        table = releases.engine.query(sql.asked_again(rows, list(noised.values()), is_descending))
        at = _places(read.table, table)
        for name, column in noised.items():
            answers[name].append(_aligned(numbers_of(_array(table, column)), at))
    return {name: tuple(found) for name, found in answers.items()}


class _Earlier(NamedTuple):
    """What the version before shows of the rows of this one."""

    numbers: Mapping[str, FloatArray] = MappingProxyType({})
    classes: IntArray | None = None
    shown: Mapping[str, BoolArray] = MappingProxyType({})


def _earlier(releases: Releases, read: _Read, left_out: list[str], versions: int) -> _Earlier:
    """Read versions before, row by row beside this one; what any of them showed stays shown."""
    before = version_before(releases.engine, read.entry)
    if before is None:
        return _Earlier()
    releases.on_stage("reading the version before")
    if not _has_unique_persons(read):
        left_out.append(f"differencing was not tried: {_NOT_MATCHED.format('versions')}")
        return _Earlier()
    if not versions:
        left_out.append("differencing was not tried: the version before cannot be read any more")
        return _Earlier()
    found = _beside(releases, read, before)
    if found is None:
        left_out.append("differencing was not tried: the version before has no KEY that is unique")
        return _Earlier()
    while (before := version_before(releases.engine, before)) is not None:
        versions -= 1
        if not versions:
            left_out.append("of earlier versions, not all were compared")
            break
        older = _beside(releases, read, before)
        if older is not None:
            found = found._replace(shown=_either(found.shown, older.shown))
    return found


def _beside(releases: Releases, read: _Read, before: Entry) -> _Earlier | None:
    """Return what a version shows of the rows of another; None where they cannot be matched."""
    try:
        other = _read(releases, before)
    except PpdmError:
        raise _Unreadable from None
    if not _has_unique_persons(other):
        return None
    at = _places(read.table, other.table)
    numbers = {
        column.name: _aligned(column.released.numbers, at)
        for column in other.subject.columns
        if column.released.numbers is not None
    }
    classes = classes_of(other.subject).of_row
    return _Earlier(
        numbers,
        np.where(at >= 0, classes[np.maximum(at, 0)], -1),
        _shown_before(read, other, at),
    )


def _either(
    first: Mapping[str, BoolArray], second: Mapping[str, BoolArray]
) -> Mapping[str, BoolArray]:
    """Return what one of two versions shows."""
    shared = {name: first[name] | second[name] for name in first.keys() & second.keys()}
    return {**first, **second, **shared}


def _shown_before(read: _Read, other: _Read, at: IntArray) -> dict[str, BoolArray]:
    """Tell of each column which of its originals another version shows, under whatever name."""
    place = pa.array(at, mask=at < 0)
    shown: dict[str, BoolArray] = {}
    for index, column in enumerate(read.columns):
        original = _array(read.table, sql.original_column(index))
        for there, before in enumerate(other.columns):
            if before.source.name == column.source.name:
                released = _array(other.table, sql.released_column(there)).take(place)
                name, same = column.name.text, same_values(released, original)
                shown[name] = shown[name] | same if name in shown else same
    return shown


def _has_unique_persons(read: _Read) -> bool:
    subject = read.subject
    return subject.person is not None and subject.rows > 0 and subject.repeated_persons is None


def _places(rows: pa.Table, others: pa.Table) -> IntArray:
    """Return where the rows of one table stand in another, by person; -1 for nowhere."""
    found = pc.index_in(_array(rows, sql.PERSON), value_set=_array(others, sql.PERSON))
    return np.asarray(found.fill_null(-1), dtype=np.int64)


def _aligned(values: FloatArray, at: IntArray) -> FloatArray:
    return np.where(at >= 0, values[np.maximum(at, 0)], np.nan)


def _array(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()
