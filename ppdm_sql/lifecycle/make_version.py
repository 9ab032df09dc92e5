"""Making a version of a release: statistics, parameters, checks, GENERALIZE, the view, the record."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, create_schema, named, table_of, to_sql
from ppdm_sql.errors import BindError, EngineError, EngineKind, PpdmError, Refused, plural
from ppdm_sql.groups.compile import COMBINATIONS, REGISTER, SLOT, find_grouping
from ppdm_sql.groups.hierarchy_kinds import Listed, SuppressDigits
from ppdm_sql.groups.label_ends import end_type
from ppdm_sql.groups.messages import figures_of, warnings_of
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.language.syntax import FileSource, QuerySource
from ppdm_sql.language.unparse import unparse
from ppdm_sql.lifecycle.averages import noise_that_averages, shared_noise
from ppdm_sql.lifecycle.identifying import (
    identifying_aggregates,
    identifying_columns,
    identifying_groups,
)
from ppdm_sql.lifecycle.keys_of_persons import said_of_keys
from ppdm_sql.lifecycle.other_persons import other_persons
from ppdm_sql.lifecycle.twins import estimates, find_twins, go_together
from ppdm_sql.names import STORE_CATALOG, QualifiedName
from ppdm_sql.parameters import Drawn, parameter_column
from ppdm_sql.release.acceptance import raise_unaccepted
from ppdm_sql.release.compile import (
    KEYED_ROWS,
    KEYS,
    ROWS,
    checks_query,
    source_table,
    statistics_query,
)
from ppdm_sql.release.lineage import is_plain, written_source
from ppdm_sql.release.row_key import canonical_key
from ppdm_sql.release.sources import Sources
from ppdm_sql.release.version import Version
from ppdm_sql.store import catalog, parameters
from ppdm_sql.store.catalog import ColumnEntry, Facts
from ppdm_sql.store.figures import VersionFigure, record_figures
from ppdm_sql.treatments.numbers import NUMBERS, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.groups.compile import Grouping
    from ppdm_sql.groups.findings import Findings
    from ppdm_sql.language.syntax import CreateRelease, Source
    from ppdm_sql.names import Name
    from ppdm_sql.parameters import DrawnBySlot
    from ppdm_sql.release.acceptance import Objection
    from ppdm_sql.release.model import BoundRule, Release, Step
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.store.catalog import Entry
    from ppdm_sql.treatments.protocol import InputColumn


_BY_ORIGINS = 2
"""The formula from which rows are keyed by where their KEY comes from, through any expression."""
_BY_CHAIN = 3
"""The formula from which noise depends on every treatment before it."""
_BY_SOURCE = 4
"""The formula from which one noise per person is another one for another expression."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a statement made of a release."""

    name: QualifiedName
    version: int
    rows: int
    """Rows that leave; a record that GENERALIZE leaves out is none of them."""
    columns: int
    warnings: tuple[str, ...]
    findings: Findings | None = None
    """What GENERALIZE reached and cost."""


def make_version(
    releases: Releases,
    release: Release,
    statement: CreateRelease,
    previous: Entry | None,
    known: DrawnBySlot | None = None,
) -> Made:
    """Make the next version of a release, or the first of a new one, and its view.

    `known` is what the version before drew, where a refresh keeps it.
    """
    engine, definition = releases.engine, unparse(statement)
    entry = catalog.next_entry(engine, release.name, definition, release.formula, previous)
    version = Version(release, entry.storage, engine=engine, entry=entry, statement=statement)
    return _Making(releases, version, known or {}, known is not None).make()


@dataclass(frozen=True)
class _Making:
    """One version in the making, inside the transaction of its statement."""

    releases: Releases
    version: Version
    known: DrawnBySlot
    """What the version before drew: what analysts know is kept."""
    is_refresh: bool = False

    def make(self) -> Made:
        version, release, engine = self.version, self.version.release, self.version.engine
        drawn: dict[str, Drawn] = {}
        warnings = list(said_of_keys(release))
        warnings += self._keys_together()
        source_rows = 0
        for stage in range(release.depth):
            self.releases.on_stage("reading statistics")
            more = identifying_aggregates(release) | estimates(release) if stage == 0 else None
            found = self._one_row(statistics_query(version, stage, more))
            if stage == 0:
                warnings += self._objected(*identifying_columns(version, found))
                warnings += go_together(version, found, release.accepted)
            source_rows = int(found.get(ROWS, source_rows))
            if KEYS in found:
                noises = list(noise_that_averages(release, found[KEYED_ROWS], found[KEYS]))
                warnings += self._objected(noises, shared_noise(release, source_rows, found[KEYS]))
            drawn |= self._draw(stage, found, drawn)
            parameters.write_parameters(engine, version.entry.storage, drawn)
            self.releases.on_stage("checking")
            found |= self._one_row(checks_query(version, stage))
            warnings += _verify(release, stage, found)
        warnings += self._objected(list(find_twins(version)))
        warnings += other_persons(version)
        generalizing = self._generalizing(drawn)
        if generalizing and not self.is_refresh:
            generalizing.check_chosen()
        done = generalizing.write_combinations() if generalizing else None
        source_rows = done.population.rows if done else source_rows
        self._create_view()
        facts = Facts(source_rows, source_rows, source=called(release.source))
        findings = None
        if generalizing is not None and done is not None:
            findings = generalizing.findings(done)
            linking = generalizing.linking_objection(findings.linked)
            warnings += self._objected([linking] if linking else [])
            warnings += self._objected(identifying_groups(version))
            warnings += warnings_of(findings)
            facts = replace(
                facts,
                released_rows=source_rows - findings.left_out_rows,
                suppressed_rows=done.recoding.suppressed_rows,
                precision=done.precision,
                waiting=to_sql(findings.grouping.waiting(version)),
            )
        figures = [] if findings is None else figures_of(findings)
        record_figures(engine, version.entry.storage, [*figures, *_accepted(release)])
        columns = list(_columns(release, drawn))
        tables = parameters.table_names(version.entry.storage, drawn)
        if findings is not None:
            tables.append(version.storage.lookup_table(SLOT, COMBINATIONS).name.text)
            if findings.population is not None:
                tables.append(version.storage.lookup_table(SLOT, REGISTER).name.text)
        entry = replace(version.entry, facts=facts, tables=tuple(tables))
        catalog.record_version(engine, entry, columns)
        return Made(
            release.name,
            version.entry.version,
            facts.released_rows,
            sum(1 for column in columns if column.treatments),
            tuple(warnings),
            findings,
        )

    def _keys_together(self) -> list[str]:
        """Raise where two KEYs of this site are one under the agreement; a refresh warns of it."""
        release = self.version.release
        if release.agreement is None or release.key is None:
            return []
        key = column_of(release.key.name.text, "s")
        texts = (exp.cast(key, "VARCHAR"), canonical_key(key))
        counts = (exp.Count(this=exp.Distinct(expressions=[text])) for text in texts)
        query = exp.select(*(named(one, f"n{at}") for at, one in enumerate(counts)))
        (row,) = self.version.engine.query(
            query.from_(source_table(release.source, "s"))
        ).to_pylist()
        lost = row["n0"] - row["n1"]
        if lost <= 0:
            return []
        what = (
            f"{plural(lost, 'KEY')} of '{release.key.name}' would be the same as another under the"
            " agreement, which compares them without spaces and without upper case"
        )
        if not self.is_refresh:
            raise Refused(
                what,
                release.source.span,
                "give such persons other KEYs in a (SELECT …) source",
                code="names_collide",
            )
        return [what]

    def _objected(self, objections: Sequence[Objection], warnings: Sequence[str] = ()) -> list[str]:
        """Raise what was not accepted; a refresh, which takes no other definition, warns of it.

        PUBLISH looks again, and refuses.
        """
        if self.is_refresh:
            known = self.version.release.accepted
            return [*warnings, *(one.what for one in objections if one.accepting not in known)]
        raise_unaccepted(objections, self.version.release.accepted)
        return list(warnings)

    def _generalizing(self, drawn: dict[str, Drawn]) -> Generalizing | None:
        """Return what carries GENERALIZE out, the values of WHEN written where views find them."""
        grouping = find_grouping(self.version.release)
        if grouping is None:
            return None
        if grouping.parameters:
            drawn[SLOT] = Drawn(grouping.parameters)
            parameters.write_parameters(self.version.engine, self.version.entry.storage, drawn)
        return Generalizing(self.version, self.releases.on_stage)

    def _draw(self, stage: int, found: Mapping[str, Any], earlier: DrawnBySlot) -> dict[str, Drawn]:
        drawn = {}
        release = self.version.release
        keys = replace(self.releases.keys_of(release), formula=release.formula)
        if release.row_key is not None:
            identity = _row_identity(release, release.row_key)
            keys = replace(keys, row_identity=identity, person=release.row_key.whose)
        own = replace(
            self.releases.keys,
            formula=keys.formula,
            row_identity=keys.row_identity,
            person=keys.person,
        )
        for rule, step in release.stage(stage):
            statistics = _own(found, step.slot)
            chained = replace(
                own if rule.is_private else keys,
                before=_before(rule, step, stage, earlier, release.formula),
                source=self._said(rule, step),
            )
            try:
                values = step.treatment.draw(statistics, chained, self.known.get(step.slot))
            except PpdmError as error:
                raise error.at(step.span) from None
            drawn[step.slot] = values
        parameters.write_tables(self.version.engine, self.version.entry.storage, drawn)
        return drawn

    def _said(self, rule: BoundRule, step: Step) -> str:
        """Return what the source says of columns whose noise their values do not decide.

        Two expressions may have one name, in two tables: one noise for both gives the difference.
        """
        release, treatment = self.version.release, step.treatment
        is_shared = treatment.shares_noise
        if release.formula < _BY_SOURCE or not is_shared or all(map(is_plain, rule.columns)):
            return ""
        return written_source(Sources(self.version.engine), release.source)

    def _one_row(self, query: exp.Expr | None) -> dict[str, Any]:
        """Run a query of aggregates; lists stay Arrow, because they can be long."""
        if query is None:
            return {}
        table = self.version.engine.query(query)
        cells = {name: table.column(name)[0] for name in table.column_names}
        return {
            name: cell if hasattr(cell, "values") else cell.as_py() for name, cell in cells.items()
        }

    def _create_view(self) -> None:
        release, engine = self.version.release, self.version.engine
        view = table_of(QualifiedName((STORE_CATALOG, *release.name.parts)))
        engine.run(create_schema(view))
        select = self.version.select()
        engine.run(exp.Create(this=view, kind="VIEW", expression=select, replace=True))
        try:
            engine.columns(exp.select("*").from_(view.copy()))
        except EngineError as error:
            # A view that reads itself through another fails only when it is read.
            if error.kind is not EngineKind.RECURSION:
                raise
            raise BindError(
                "a release cannot be its own source", release.source.span, code="own_source"
            ) from None


def _row_identity(release: Release, key: InputColumn) -> str:
    """Return what belongs to whole rows is keyed by: the same however a source writes its KEY."""
    if release.formula < _BY_ORIGINS or release.agreement is not None:
        return key.identity
    return " + ".join(sorted(key.origins)) or key.identity


def _accepted(release: Release) -> list[VersionFigure]:
    listed = ", ".join(map(str, release.accepted))
    return [VersionFigure("accepted", None, listed)] if listed else []


def called(source: Source) -> str:
    """Return a source as people call it."""
    match source:
        case FileSource(path):
            return path
        case QuerySource():
            return "(SELECT …)"
        case _:
            parts = source.name.parts
            return str(QualifiedName(parts[1:] if parts[0] == STORE_CATALOG else parts))


def _columns(release: Release, drawn: DrawnBySlot) -> Iterator[ColumnEntry]:
    """Return the columns of a release as the store lists them."""
    grouping = find_grouping(release)
    for rule in release.rules:
        said = (step.treatment.note(drawn[step.slot]) for step in rule.steps if rule.is_released)
        notes = [note for note in said if note]
        if rule.is_generalized and grouping is not None:
            notes = [_hierarchy_note(grouping, rule.names[0])]
        for name, source, type_ in zip(rule.names, rule.columns, rule.output_types, strict=True):
            yield ColumnEntry(
                name.text,
                rule.role,
                rule.words,
                str(source.type),
                str(type_) if rule.is_released else None,
                "; ".join(notes) or None,
                source.identity,
                source.whose,
                meeting(rule),
            )
            ends = None if grouping is None or not rule.is_generalized else grouping.ends(name)
            for end in ends or ():
                note = f"an end of the range of '{name}'"
                yield ColumnEntry(
                    end, rule.role, rule.words, str(source.type), end_type(source.type), note
                )


def meeting(rule: BoundRule) -> str | None:
    """Return the same text for columns whose pseudonyms are equal where their values are."""
    joined = [step.treatment for step in rule.steps if step.treatment.traits.draws_from_keys]
    if not rule.is_released or not joined:
        return None
    said = repr([(treatment.keyword, treatment.meets()) for treatment in joined])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _hierarchy_note(grouping: Grouping, name: Name) -> str:
    column = next(column for column in grouping.columns if column.name == name)
    shape = column.hierarchy.shape
    has_ranges = column.column.type.kind in (*NUMBERS, *TIMES)
    if (
        grouping.method == "mondrian"
        and has_ranges
        and not isinstance(shape, SuppressDigits | Listed)
    ):
        return "ranges of the data: their ends are original values"
    return (
        shape.word if column.hierarchy.name is None else f"by {column.hierarchy.name}: {shape.word}"
    )


def _before(rule: BoundRule, step: Step, stage: int, drawn: DrawnBySlot, formula: int) -> str:
    """Return the treatments before one in its chain and their parameters, as one text.

    Noise after `scaling()` must not be the same under two factors: the difference of the two
    releases would be a multiple of the original values. Nor may it be that of the values as they
    were: what `bit_plus()` added would stand alone.
    """
    is_whole = formula >= _BY_CHAIN and step.treatment.traits.adds_noise
    parameters = [
        (place, earlier.treatment.keyword, sorted(drawn[earlier.slot].parameters.items()))
        for place, earlier in enumerate(rule.steps[:stage])
        if earlier.slot in drawn and (is_whole or drawn[earlier.slot].parameters)
    ]
    return repr(parameters) if parameters else ""


def _verify(release: Release, stage: int, found: Mapping[str, Any]) -> list[str]:
    warnings: list[str] = []
    for _, step in release.stage(stage):
        try:
            warnings += step.treatment.verify(_own(found, step.slot))
        except PpdmError as error:
            raise error.at(step.span) from None
    return warnings


def _own(found: Mapping[str, Any], slot: str) -> dict[str, Any]:
    prefix = parameter_column(slot, "")
    return {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }
