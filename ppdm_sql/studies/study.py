"""A study, opened: its releases as they are now, whose rows they are, what refers to what."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, placed_at, suggest
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateStudy, Role
from ppdm_sql.language.unparse import unparse
from ppdm_sql.publish.options import LINKABLE, RECIPIENT
from ppdm_sql.release.ancestry import possible_columns, shown_columns
from ppdm_sql.release.lineage import base_column, column_identity, is_unfollowed
from ppdm_sql.release.options import unknown_option
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import catalog
from ppdm_sql.store.studies import list_studies, record_study
from ppdm_sql.studies.members import check_members, check_named
from ppdm_sql.studies.naming import ends_of, find_naming
from ppdm_sql.treatments.protocol import InputColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Member, Source, TargetClause
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.studies import StoredStudy
    from ppdm_sql.studies.naming import Naming

_COUNTED = ("k", "l")


@dataclass(frozen=True, slots=True)
class StudyTarget:
    """One target over all rows of a person: k, or l of a column of one of the releases."""

    clause: TargetClause
    release: QualifiedName | None = None
    column: InputColumn | None = None

    def __str__(self) -> str:
        of = "" if self.column is None else f"({self.column.name})"
        return f"{self.clause.word}{of} = {self.clause.value}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A released column that refers to rows of another release, or of its own."""

    child: QualifiedName
    column: InputColumn
    name: Name
    parent: QualifiedName
    key: InputColumn


@dataclass(frozen=True, slots=True)
class Study:
    """What a CREATE STUDY means now."""

    statement: CreateStudy = field(repr=False)
    versions: tuple[Version, ...] = field(repr=False)
    """Its releases, in the order of the statement."""
    targets: tuple[StudyTarget, ...]
    across: tuple[QualifiedName, ...]
    """The releases whose rows are put together for the targets."""
    references: tuple[Reference, ...]
    naming: Mapping[QualifiedName, Naming] = field(repr=False)
    """What columns of each release name."""
    linkable: str = RECIPIENT

    @property
    def name(self) -> Name:
        """Its name."""
        return self.statement.name

    @property
    def percent(self) -> float:
        """How many of a hundred persons may be left out."""
        return self.statement.across.percent if self.statement.across else 0

    @property
    def k(self) -> int:
        """How many persons must show the same over all tables; 1 where nothing asks for more."""
        return next((int(one.clause.value) for one in self.targets if one.column is None), 1)

    def most_rows(self, release: QualifiedName) -> int | None:
        """Return how many rows of a person a release shows; None: all."""
        pairs = zip(self.statement.members, self.versions, strict=True)
        return next(one.most_rows for one, version in pairs if version.entry.name == release)


def create_study(releases: Releases, statement: CreateStudy) -> Study:
    """CREATE [OR REPLACE] STUDY: everything is looked up, so that mistakes show here."""
    with releases.engine.transaction():
        stored = find_study(releases, statement.name)
        if stored is not None and not statement.replace:
            raise BindError(
                f"there is already a study '{stored.name}'",
                statement.name_span,
                "write CREATE OR REPLACE STUDY, or DROP STUDY first",
                code="study_exists",
            )
        study = bind_study(releases, statement)
        names = (version.entry.name for version in study.versions)
        members = tuple(
            replace(one, name=name) for one, name in zip(statement.members, names, strict=True)
        )
        across = statement.across and replace(
            statement.across,
            releases=tuple(
                replace(one, name=releases.full_name(one.name)) for one in statement.across.releases
            ),
        )
        full = replace(statement, members=members, across=across, replace=False)
        record_study(releases.engine, statement.name, unparse(full))
        return study


def said_of(study: Study) -> Iterator[str]:
    """Return a warning where dates of one person move by different numbers of days."""
    shifts = {
        step.treatment.drawn_for(): f"'{rule.names[0]}' of {version.entry.name}"
        for version in study.versions
        for rule in version.release.released_rules
        for step in rule.steps
        if step.treatment.traits.uses_row_key and not step.treatment.traits.adds_noise
    }
    if len(shifts) < 2:
        return
    yield (
        f"study '{study.name}': {' and '.join(shifts.values())} are moved by different numbers of days,"
        " so the time between them is lost; write the same arguments for both"
    )


def find_study(releases: Releases, name: Name) -> StoredStudy | None:
    """Return a study of the store by its name."""
    return next((one for one in list_studies(releases.engine) if one.name == name), None)


def stored_study(releases: Releases, name: Name, span: Span | None) -> StoredStudy:
    """Return a study of the store; raise when it has none of that name."""
    stored = find_study(releases, name)
    if stored is None:
        known = [str(one.name) for one in list_studies(releases.engine)]
        raise BindError(
            f"there is no study '{name}'",
            span,
            suggest(name.text, known, "studies"),
            code="unknown_study",
        )
    return stored


def statement_of(stored: StoredStudy) -> CreateStudy:
    """Return the statement that made a study, as the store keeps it."""
    statements = parse_script(stored.definition)
    if len(statements) != 1 or not isinstance(statements[0], CreateStudy):
        raise catalog.damaged(f"study '{stored.name}' cannot be read")
    return statements[0]


def open_study(releases: Releases, name: Name, span: Span | None) -> Study:
    """Return a study as it is now; errors in its stored text point at `span`."""
    stored = stored_study(releases, name, span)
    with placed_at(span):
        return bind_study(releases, statement_of(stored))


def bind_study(releases: Releases, statement: CreateStudy) -> Study:
    """Look everything up that a CREATE STUDY names."""
    versions = tuple(_version(releases, member) for member in statement.members)
    names = [version.entry.name for version in versions]
    for at, member in enumerate(statement.members):
        if names[at] in names[:at]:
            raise BindError(f"'{names[at]}' is listed twice", member.span, code="listed_twice")
    check_members(releases, statement, versions)
    across = _across(releases, statement, names)
    spans = [one.span for one in statement.members]
    naming, names_something = find_naming(
        releases.engine, versions, spans, statement.across is not None
    )
    check_named(releases, statement, versions, names_something)
    return Study(
        statement,
        versions,
        tuple(_targets(statement, versions, across)),
        across,
        tuple(_references(versions)),
        naming,
        _linkable(statement),
    )


def _version(releases: Releases, member: Member) -> Version:
    version = releases.open(releases.entry(member.name, member.span), member.span)
    if version.release.agreement is not None:
        raise BindError(
            f"'{version.entry.name}' is made under an agreement: what several sites put together is"
            " no study of one",
            member.span,
            "release the table without the agreement",
            code="not_agreed",
        )
    return version


def _across(
    releases: Releases, statement: CreateStudy, names: list[QualifiedName]
) -> tuple[QualifiedName, ...]:
    clause = statement.across
    if clause is None or not clause.releases:
        return tuple(names)
    found = []
    for one in clause.releases:
        full = releases.full_name(one.name)
        if full not in names:
            raise BindError(
                f"'{one.name}' is not in the study",
                one.span,
                suggest(str(full), map(str, names), "releases"),
                code="unknown_release",
            )
        found.append(next(name for name in names if name == full))
    return tuple(dict.fromkeys(found))


def _targets(
    statement: CreateStudy, versions: tuple[Version, ...], across: tuple[QualifiedName, ...]
) -> Iterator[StudyTarget]:
    if statement.across is None:
        return
    seen: set[str] = set()
    for clause in statement.across.targets:
        if clause.word not in _COUNTED or not isinstance(clause.value, int) or clause.value < 2:
            raise BindError(
                f"over several tables, {clause.word} {clause.comparison} {clause.value} cannot be"
                " counted",
                clause.span,
                "write k = 5, or l(column) = 2: whole numbers from 2 on",
                code="bad_target",
            )
        if clause.column is None:
            if "k" in seen:
                raise BindError("k is given twice", clause.span, code="bad_target")
            seen.add("k")
            yield StudyTarget(clause)
            continue
        column = clause.column.name
        holders = [
            (version.entry.name, source)
            for version in versions
            if version.entry.name in across
            for rule in version.release.rules
            if rule.role is Role.SENSITIVE
            for name, source in zip(rule.names, rule.columns, strict=True)
            if name == column
        ]
        if len(holders) != 1:
            where = "several of the releases have" if holders else "none of the releases has"
            raise BindError(
                f"{where} a SENSITIVE column '{column}'",
                clause.column.span,
                "give it a name of its own in a (SELECT …) source" if holders else None,
                code="unknown_column",
            )
        yield StudyTarget(clause, *holders[0])


def _references(versions: tuple[Version, ...]) -> Iterator[Reference]:
    """Return what refers to a column of a release of the study, however the two are treated."""
    keys = [list(_keys(version)) for version in versions]
    for version in versions:
        for rule, at, written in _written(version):
            for other, there in zip(versions, keys, strict=True):
                for key, may_be in there:
                    is_it = bool(may_be & written)
                    is_itself = other is version and key.name == rule.columns[at].name
                    if is_it and not is_itself:
                        yield Reference(
                            version.entry.name,
                            rule.columns[at],
                            rule.names[at],
                            other.entry.name,
                            key,
                        )


def _keys(version: Version) -> Iterator[tuple[InputColumn, frozenset[str]]]:
    """Return what others can refer to: columns of a release and of its source, and what they may be."""
    sources, source = Sources(version.engine), version.release.source
    listed = [column for rule in version.release.rules for column in rule.columns]
    for column in listed:
        yield column, _may_be(sources, source, column)
    known = {column.name for column in listed}
    for other in sources.columns(source):
        if other.name not in known:
            identity = column_identity(sources, source, other.name)
            column = InputColumn(other.name, other.type, identity)
            yield column, _may_be(sources, source, column)


def _may_be(sources: Sources, source: Source, column: InputColumn) -> frozenset[str]:
    if is_unfollowed(frozenset({column.identity})):
        return column.origins | possible_columns(sources, source, column.name)
    return column.origins | {column.identity}


def _written(version: Version) -> Iterator[tuple[BoundRule, int, frozenset[str]]]:
    """Return what each released column refers to: columns of tables, the last and those between."""
    said = {
        column.name: rule.references
        for rule in version.statement.rules
        for column in rule.columns
        if rule.references is not None
    }
    sources = Sources(version.engine)
    keys = sources.foreign_keys
    for rule in version.release.released_rules:
        for place, column in enumerate(rule.columns):
            reference = said.get(column.name)
            found: set[str] = set()
            if reference is not None:
                found |= ends_of(sources, reference)
            waiting = [column.identity, *(column.origins if len(column.origins) == 1 else ())]
            if is_unfollowed(frozenset({column.identity})):
                waiting += shown_columns(sources, version.release.source, column.name)
            while waiting:
                at = waiting.pop()
                end = base_column(*keys[at]) if at in keys else None
                if end is not None and end not in found:
                    found.add(end)
                    waiting.append(end)
            if found:
                yield rule, place, frozenset(found)


def _linkable(statement: CreateStudy) -> str:
    for option in statement.options:
        if option.name != "linkable":
            raise unknown_option(option, ("linkable",))
        if option.value not in LINKABLE:
            listed = ", ".join(f"'{one}'" for one in LINKABLE)
            raise BindError(
                f"option 'linkable' must be one of {listed}", option.span, code="bad_option"
            )
        return str(option.value)
    return RECIPIENT
