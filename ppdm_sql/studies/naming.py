"""What released columns name beside whose a row is: other persons, and things that rows share.

Whoever holds a study joins its rows by the visit, the ward, the doctor that they name. Pseudonyms
name the same thing where they are drawn alike. Columns that are released so that equal values stay
equal name the same thing where keys of the database or REFERENCES lead from one to the other, or
both to a third, which need not be in the study; or where two releases show the same column.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError
from ppdm_sql.language.syntax import Role, TableSource
from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.names import QualifiedName, quote
from ppdm_sql.release.ancestry import column_ancestors, possible_columns
from ppdm_sql.release.lineage import base_column, column_identity, is_unfollowed
from ppdm_sql.release.sources import Sources
from ppdm_sql.studies.spelling import is_respelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Reference
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn


@dataclass(frozen=True, slots=True)
class Named:
    """A released column that names something."""

    name: Name
    original: Name
    """The column of the source."""
    meets: str
    """What it names: equal values of two columns that meet are the same thing."""
    is_pseudonym: bool
    """Whether what is released is compared, and not the original."""
    is_person: bool
    is_spelled: bool = False
    """Whether originals are compared without spaces and signs, which a treatment passes over."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The columns of one release that name something."""

    things: tuple[Named, ...] = ()
    """What rows can be joined by; other persons, too."""
    persons: tuple[Named, ...] = ()
    """Those that name persons of the study, however they are treated."""


def find_naming(
    engine: Engine, versions: Sequence[Version], spans: Sequence[Span | None], is_counted: bool
) -> tuple[Mapping[QualifiedName, Naming], Callable[[InputColumn], bool]]:
    """Return what columns of each release name, and whether a column of a source names something.

    Raise where that cannot be told.
    """
    finding = _Finding(Sources(engine), versions, is_counted)
    finding.tie()
    found = {
        version.entry.name: finding.naming(version, span)
        for version, span in zip(versions, spans, strict=True)
    }
    return found, finding.names_something


@dataclass
class _Finding:
    sources: Sources
    versions: Sequence[Version]
    is_counted: bool
    """Whether the study asks for persons who show the same."""
    ties: _Ties = field(default_factory=lambda: _Ties())
    held: Counter[str] = field(default_factory=Counter)
    """In how many releases each is shown."""
    persons: set[str] = field(default_factory=set)
    """What the KEYs are."""
    changed: set[str] = field(default_factory=set)
    """What some release shows in another form."""
    encrypted: set[str] = field(default_factory=set)
    """What some release shows under names that show a part of it, or leave its signs as they are."""
    ends: set[tuple[QualifiedName, Name]] = field(default_factory=set)
    """What is referred to."""
    by_other_key: dict[str, QualifiedName] = field(default_factory=dict)
    """What names persons by another key of their table, which is not in the study."""

    def tie(self) -> None:
        for origin, (table, name) in self.sources.foreign_keys.items():
            self.ties.tie(origin, base_column(table, name), refers=True)
            self.ends.add((table, name))
        for version in self.versions:
            written = {
                column.name: rule.references
                for rule in version.statement.rules
                for column in rule.columns
                if rule.references is not None
            }
            for rule in version.release.rules:
                for column in rule.columns:
                    own = self._identity(version, column)
                    for other in _origins(column):
                        self.ties.tie(own, other)
                    if column.entity:
                        self.ties.tie(own, column.entity, refers=True)
                    reference = written.get(column.name)
                    if reference is not None:
                        for end in ends_of(self.sources, reference):
                            self.ties.tie(own, end, refers=True)
                        self.ends.add((reference.table, reference.column))
        self._tie_lost()
        for version in self.versions:
            self._note_changed(version)
            key = version.release.key
            if key is not None:
                self.persons.add(self.ties.what(self._identity(version, key)))
            shown = {
                self.ties.what(self._identity(version, column))
                for rule in version.release.released_rules
                for column in rule.columns
            }
            self.held.update(shown)
        self._find_other_keys()

    def _tie_lost(self) -> None:
        """Tie columns that cannot be followed to the keys that they may be."""
        known = {
            self._identity(version, column)
            for version in self.versions
            for rule in version.release.rules
            for column in rule.columns
        }
        for version in self.versions:
            for rule in version.release.rules:
                for column in rule.columns:
                    own = self._identity(version, column)
                    if not is_unfollowed(frozenset({column.identity})):
                        continue
                    source = version.release.source
                    may_be = possible_columns(self.sources, source, column.name)
                    if is_unfollowed(column_ancestors(self.sources, source, column.name)):
                        may_be |= self.ties.called(column.name)  # nobody knows: by its name
                    for one in may_be:
                        if self.ties.is_tied(self.ties.what(one)) or one in known:
                            self.ties.tie(own, one)

    def names_something(self, column: InputColumn) -> bool:
        """Whether keys or REFERENCES lead from a column, or to it."""
        found = {self.ties.what(one) for one in (column.identity, *column.origins)}
        return bool(found & self.persons) or any(map(self.ties.is_tied, found))

    def naming(self, version: Version, span: Span | None) -> Naming:
        release = version.release
        things, persons = [], []
        for rule in release.released_rules:
            for at, column in enumerate(rule.columns):
                if rule.role is Role.KEY:
                    continue
                one = self._named(version, rule, at)
                if one is None:
                    continue
                self._check_dealt_out(version, rule, at, one, span)
                self._check_other_key(version, column, span)
                if len(rule.columns) > 1 and any(trait.mixes_columns for trait in rule.traits):
                    raise BindError(
                        f"'{column.name}' of {version.entry.name} names something, and its treatment"
                        " mixes it with other columns: what it joins cannot be counted",
                        span,
                        "write the column on a line of its own",
                        code="carried_names",
                    )
                if one.is_person:
                    persons.append(one)
                if one.is_pseudonym or _stays_equal(rule):
                    things.append(one)
                what = self.ties.what(self._identity(version, column))
                is_shown = not any(trait.is_always_null for trait in rule.traits)
                if what in self.encrypted and (one.is_pseudonym or _stays_equal(rule)):
                    spelled = f"as spelled: {what}"
                    things.append(replace(one, meets=spelled, is_pseudonym=False, is_spelled=True))
                self._check_spelling(version, rule, column, one, span)
                if what in self.changed and is_shown and not one.is_pseudonym:
                    shown = replace(one, meets=f"as shown: {what}", is_pseudonym=True)
                    things.append(shown)
        return Naming(tuple(things), tuple(persons))

    def _note_changed(self, version: Version) -> None:
        """Note what some release shows in another form: equal forms are joined, too."""
        for rule in version.release.released_rules:
            is_as_it_was = all(trait.shows_originals for trait in rule.traits)
            if is_as_it_was or rule.role is Role.KEY:
                continue
            found = {self.ties.what(self._identity(version, column)) for column in rule.columns}
            if meeting(rule) is None:
                self.changed |= found
            elif any(trait.shows_a_part for trait in rule.traits):
                self.encrypted |= found

    def _check_spelling(
        self, version: Version, rule: BoundRule, column: InputColumn, one: Named, span: Span | None
    ) -> None:
        """Raise where a name is computed from another one: what the two join is not counted.

        What is coarser than the name, as the month of a day, is none.
        """
        is_plain_name = not one.is_pseudonym and not one.is_person and _stays_equal(rule)
        says_it = any(
            column.name in [listed.name for listed in other.columns]
            and other.references is not None
            for other in version.statement.rules
        )
        if (
            not self.is_counted
            or not is_plain_name
            or says_it
            or not is_respelled(version, self.sources, column, next(_origins(column), None))
        ):
            return
        raise BindError(
            f"'{column.name}' of {version.entry.name} is computed from a column that names something,"
            " and written differently: what the two join cannot be counted",
            span,
            "release the column as its table has it, with pseudonym(), or leave it out",
            code="carried_names",
        )

    def _check_dealt_out(
        self, version: Version, rule: BoundRule, at: int, one: Named, span: Span | None
    ) -> None:
        """Raise where a name stands in other rows: nobody can make it NULL there."""
        what = self.ties.what(self._identity(version, rule.columns[at]))
        is_known = one.is_person or self.held[what] > 1
        if is_known and any(trait.shows_some_originals for trait in rule.traits):
            raise BindError(
                f"'{one.name}' of {version.entry.name} names something, and its treatment shows the names in"
                " other rows: who is left out would still be named there",
                span,
                "write pseudonym() for the column, or leave it out",
                code="carried_names",
            )

    def _check_other_key(self, version: Version, column: InputColumn, span: Span | None) -> None:
        """Raise where persons are named by another key of their table, which is not in the study."""
        what = self.ties.what(self._identity(version, column))
        table = self.by_other_key.get(what)
        if table is None or what in self.persons:
            return
        raise BindError(
            f"'{column.name}' of {version.entry.name} names persons by another key of"
            f" '{QualifiedName(table.parts[1:])}', so that nobody can tell who is left out",
            span,
            "add a release of that table to the study, or leave the column out",
            code="carried_names",
        )

    def _find_other_keys(self) -> None:
        """Find keys of tables that have a row for each person, and are no release of the study."""
        listed = {
            column_identity(self.sources, version.release.source, column.name)
            for version in self.versions
            for column in self.sources.columns(version.release.source)
        }
        for table, key in self.ends:
            origin = base_column(table, key)
            if origin in listed or not self.sources.is_unique(table, key):
                continue
            for column in self.sources.columns(TableSource(table)):
                whom = self.ties.what(base_column(table, column.name))
                if whom in self.persons and self.sources.is_unique(table, column.name):
                    self.by_other_key[self.ties.what(origin)] = table

    def _named(self, version: Version, rule: BoundRule, at: int) -> Named | None:
        """Return what a column names, if anything."""
        key = version.release.key
        assert key is not None  # a study has no release without one
        column = rule.columns[at]
        what = self.ties.what(self._identity(version, column))
        origins = {self.ties.what(one) for one in column.origins}
        is_person = bool(self.persons & {what, *origins}) or names_persons(rule, at, key.whose)
        meets = meeting(rule)
        is_thing = self.ties.is_tied(what) or self.held[what] > 1
        if meets is None and not is_thing and not is_person:
            return None
        shared = meets or ("person" if is_person else f"as it is: {what}")
        return Named(rule.names[at], column.name, shared, meets is not None, is_person)

    def _identity(self, version: Version, column: InputColumn) -> str:
        if is_unfollowed(frozenset({column.identity})):
            # Nobody knows where it is from; of one source, it is the same.
            source = version.release.source
            if isinstance(source, TableSource):
                return base_column(source.name, column.name)
            return f"{source}: {column.name.folded}"
        return column.identity


def ends_of(sources: Sources, reference: Reference) -> set[str]:
    """Return what is referred to: the column of a view, and the one of a table behind it."""
    there = TableSource(reference.table)
    found = {base_column(reference.table, reference.column)}
    end = column_identity(sources, there, reference.column)
    if is_unfollowed(frozenset({end})):
        return found | possible_columns(sources, there, reference.column)
    return found | {end}


def _origins(column: InputColumn) -> Iterator[str]:
    """Return the one column that a computed one is made of: a cast of a key is the key."""
    if len(column.origins) == 1 and not is_unfollowed(column.origins):
        yield from column.origins


def names_persons(rule: BoundRule, at: int, person: str) -> bool:
    """Whether a column names persons of the study: by what it is, or by what its names are of."""
    return rule.columns[at].whose == person or any(
        step.treatment.names_alike and step.treatment.link() == person for step in rule.steps
    )


def _stays_equal(rule: BoundRule) -> bool:
    """Whether equal values of a column are released alike, and other ones mostly not."""
    return not any(
        one.is_always_null or one.adds_noise or one.generalizes or one.shows_means
        for one in rule.traits
    )


@dataclass
class _Ties:
    """Columns that name the same thing, put together step by step."""

    _above: dict[str, str] = field(default_factory=dict)
    _tied: set[str] = field(default_factory=set)
    """Those that refer to something, or are referred to."""

    def what(self, one: str) -> str:
        """Return the name that all columns share which are tied together."""
        while one in self._above:
            one = self._above[one]
        return one

    def tie(self, one: str, other: str, *, refers: bool = False) -> None:
        ends = {self.what(one), self.what(other)}
        first = min(ends)
        for end in ends - {first}:
            self._above[end] = first
        if refers or ends & self._tied:
            self._tied.add(first)

    def called(self, name: Name) -> frozenset[str]:
        """Return the columns of tables that have a name."""
        listed = {*self._above, *self._above.values()}
        end = f".{quote(name.folded)}"
        return frozenset(one for one in listed if one.endswith(end))

    def is_tied(self, what: str) -> bool:
        """Whether a key or REFERENCES leads from it or to it."""
        return what in self._tied
