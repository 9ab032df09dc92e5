"""Making, refreshing and dropping releases: everything inside the transaction of one statement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.bind import bind_release, check_new_names
from ppdm_sql.compile.query import (
    KEYS,
    ROWS,
    checks_query,
    parameter_column,
    statistics_query,
)
from ppdm_sql.compile.release import compile_release
from ppdm_sql.compile.render import table_of
from ppdm_sql.compile.targets import DUCKDB
from ppdm_sql.errors import (
    BindError,
    EngineError,
    InternalError,
    PpdmError,
    Refused,
    TreatmentError,
    suggest,
)
from ppdm_sql.model.grouping import SLOT
from ppdm_sql.model.syntax import CreateRelease, Role
from ppdm_sql.model.transform import Checks, Drawn, Draws
from ppdm_sql.names import STORE_CATALOG, QualifiedName
from ppdm_sql.session.figures import rows_left_out
from ppdm_sql.session.generalizing import Generalizing
from ppdm_sql.session.sources import Sources
from ppdm_sql.statements.script import parse_script
from ppdm_sql.statements.unparse import unparse
from ppdm_sql.store import agreements, catalog, parameters
from ppdm_sql.store.figures import record_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.errors import Span
    from ppdm_sql.model.release import BoundRule, DrawnBySlot, Release
    from ppdm_sql.model.syntax import DropRelease, RefreshRelease
    from ppdm_sql.model.transform import Transform
    from ppdm_sql.names import Name
    from ppdm_sql.session.engine import Engine
    from ppdm_sql.store.agreements import Agreement
    from ppdm_sql.store.catalog import ColumnEntry, Entry
    from ppdm_sql.store.figures import Figure
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.store.parameters import VersionStorage


_REPEATED_KEYS = (
    "the KEY is NULL or repeated in some rows: rows of the same key get the same noise, so "
    "differences between them are the true ones, and the noise's decimals tell which rows are one "
    "person's"
)

_KEPT_KEY = (
    "the KEY '{}' leaves as it is: whoever knows somebody's finds their rows; write KEY "
    "alone, which does not leave, or KEY AS pseudonym()"
)


@dataclass(frozen=True, slots=True)
class Made:
    """What a statement made of a release."""

    name: QualifiedName
    version: int
    rows: int
    """Rows that leave; a record that GENERALIZE leaves out is none of them."""
    columns: int
    warnings: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    """What GENERALIZE reached and cost."""


@dataclass(frozen=True)
class Releases:
    """The releases of one store."""

    engine: Engine
    keys: RootKey
    transforms: Sequence[type[Transform]]
    on_stage: Callable[[str], None] = lambda _: None
    """Told what is being done, for a progress bar."""

    def create(self, statement: CreateRelease) -> Made:
        """CREATE [OR REPLACE] RELEASE."""
        check_new_names(statement)
        with self.engine.transaction():
            named = replace(statement, name=self.full_name(statement.name))
            previous = catalog.find_entry(self.engine, named.name)
            if previous is not None and not statement.replace:
                raise BindError(
                    f"there is already a release '{named.name}'",
                    statement.name_span,
                    "write CREATE OR REPLACE RELEASE, or DROP RELEASE first",
                )
            sources = Sources(self.engine)
            if previous is None:
                _check_free(named, sources)
            release = bind_release(named, sources, self.transforms)
            definition = unparse(replace(named, source=release.source, replace=False))
            return self._make_version(release, definition, previous, {})

    def refresh(self, statement: RefreshRelease) -> Made:
        """REFRESH RELEASE: the next version, with everything analysts know kept."""
        with self.engine.transaction():
            entry = self.entry(statement.name, statement.span)
            try:
                release = self.bind(entry)
                check_types(release, catalog.list_columns(self.engine, entry))
                drawn = parameters.read_drawn(self.engine, entry.storage, release, entry.tables)
                return self._make_version(release, entry.definition, entry, drawn)
            except PpdmError as error:
                # Its place is in the stored definition, which is not what the owner just wrote.
                error.span = statement.span
                if isinstance(error, TreatmentError | Refused):
                    error.hint = _without_refresh(error)
                raise
            except (KeyError, ValueError, pa.ArrowException):
                what = f"version {entry.version} of '{entry.name}' does not hold what it drew"
                raise catalog.damaged(what) from None

    def drop(self, statement: DropRelease) -> bool:
        """DROP RELEASE: the view, every version, every table. False if there was none."""
        with self.engine.transaction():
            if statement.if_exists and self._find(statement.name) is None:
                return False
            entry = self.entry(statement.name, statement.span)
            name = QualifiedName((STORE_CATALOG, *entry.name.parts))
            there = Sources(self.engine).resolve(name)
            # The owner may have put a table in its place: that is not ours to drop.
            if there is not None and there.view_sql is not None:
                self.engine.run(exp.Drop(tables=[table_of(name)], kind="VIEW", exists=True))
            catalog.forget(self.engine, entry)
            return True

    def entry(self, name: QualifiedName, span: Span | None = None) -> Entry:
        """Return what the store knows of a release; raise when it knows none of that name."""
        entry = self._find(name)
        if entry is None:
            known = [str(other.name) for other in catalog.list_entries(self.engine)]
            raise BindError(
                f"there is no release '{name}'", span, suggest(str(name), known, "releases")
            )
        return entry

    def bind(self, entry: Entry) -> Release:
        """Return a release of the store, bound to its source as it is now."""
        return bind_release(definition_of(entry), Sources(self.engine), self.transforms)

    def full_name(self, name: QualifiedName) -> QualifiedName:
        """Return a name with its schema."""
        if name.schema is not None:
            return name
        return QualifiedName((self.engine.current_schema(), name.name))

    def keys_of(self, release: Release) -> RootKey:
        """Return the keys that a release draws from: the store's own, or its agreement's."""
        agreement = self._agreement_of(release)
        return self.keys if agreement is None else agreement.keys

    def fingerprint_of(self, release: Release) -> str | None:
        """Return the fingerprint of a release's agreement: what other sites compare."""
        agreement = self._agreement_of(release)
        return None if agreement is None else agreement.fingerprint

    def _agreement_of(self, release: Release) -> Agreement | None:
        if release.agreement is None:
            return None
        agreement = agreements.find_agreement(self.engine, release.agreement)
        if agreement is None:
            raise InternalError("a release was bound to an agreement that is not there")
        return agreement

    def _find(self, name: QualifiedName) -> Entry | None:
        return catalog.find_entry(self.engine, self.full_name(name))

    def _make_version(
        self,
        release: Release,
        definition: str,
        previous: Entry | None,
        known: DrawnBySlot,
    ) -> Made:
        storage = catalog.next_storage(self.engine, previous)
        drawn: dict[str, Drawn] = {}
        warnings = [_KEPT_KEY.format(name) for name in _kept_keys(release)]
        source_rows = 0
        for stage in range(release.depth):
            self.on_stage("reading statistics")
            found = self._one_row(statistics_query(release, storage, DUCKDB, stage))
            source_rows = int(found.get(ROWS, source_rows))
            if found.get(KEYS, source_rows) < source_rows:
                warnings.append(_REPEATED_KEYS)
            drawn |= self._draw(release, storage, stage, found, known, drawn)
            parameters.write_parameters(self.engine, storage, drawn)
            self.on_stage("checking")
            found |= self._one_row(checks_query(release, storage, DUCKDB, stage))
            warnings += _verify(release, stage, found)
        generalizing = self._generalizing(release, storage, drawn)
        done = generalizing.write_combinations() if generalizing else None
        self._create_view(release, compile_release(release, storage, DUCKDB))
        catalog.record_version(self.engine, storage, release, drawn, definition, source_rows)
        figures: list[Figure] = []
        if generalizing is not None and done is not None:
            report = generalizing.report(done)
            figures = report.figures
            record_figures(self.engine, storage, figures)
            warnings += report.warnings
        columns = sum(len(rule.columns) for rule in release.released_rules)
        rows = source_rows - rows_left_out(figures)
        return Made(release.name, storage.version, rows, columns, tuple(warnings), tuple(figures))

    def _generalizing(
        self, release: Release, storage: VersionStorage, drawn: dict[str, Drawn]
    ) -> Generalizing | None:
        """Return what carries GENERALIZE out, the values of WHEN written where views find them."""
        if release.grouping is None:
            return None
        if release.grouping.when is not None:
            drawn[SLOT] = Drawn(release.grouping.when.parameters)
            parameters.write_parameters(self.engine, storage, drawn)
        return Generalizing(self.engine, release, storage, self.on_stage)

    def _draw(
        self,
        release: Release,
        storage: VersionStorage,
        stage: int,
        found: Mapping[str, Any],
        known: DrawnBySlot,
        earlier: DrawnBySlot,
    ) -> dict[str, Drawn]:
        drawn = {}
        keys = self.keys_of(release)
        if release.row_key is not None:
            keys = replace(keys, row_identity=release.row_key.identity)
        for rule, step in release.stage(stage):
            if isinstance(step.transform, Draws):
                statistics = _own(found, step.slot)
                chained = replace(keys, before=_drawn_before(rule, stage, earlier))
                try:
                    values = step.transform.draw(statistics, chained, known.get(step.slot))
                except PpdmError as error:
                    raise error.at(step.span) from None
                drawn[step.slot] = values
        parameters.write_tables(self.engine, storage, drawn)
        return drawn

    def _one_row(self, query: exp.Expr | None) -> dict[str, Any]:
        """Run a query of aggregates; lists stay Arrow, because they can be long."""
        if query is None:
            return {}
        table = self.engine.query(query)
        cells = {name: table.column(name)[0] for name in table.column_names}
        return {
            name: cell if hasattr(cell, "values") else cell.as_py() for name, cell in cells.items()
        }

    def _create_view(self, release: Release, select: exp.Select) -> None:
        schema, name = release.name.parts
        self.engine.run(
            exp.Create(
                this=exp.Table(
                    db=exp.to_identifier(schema.text, quoted=True),
                    catalog=exp.to_identifier(STORE_CATALOG.text, quoted=True),
                ),
                kind="SCHEMA",
                exists=True,
            )
        )
        view = table_of(QualifiedName((STORE_CATALOG, schema, name)))
        self.engine.run(exp.Create(this=view, kind="VIEW", expression=select, replace=True))
        try:
            self.engine.columns(exp.select("*").from_(view.copy()))
        except EngineError as error:
            # A view that reads itself through another fails only when it is read.
            if "infinite recursion" not in error.what:
                raise
            raise BindError("a release cannot be its own source", release.source.span) from None


def definition_of(entry: Entry) -> CreateRelease:
    """Return the statement that made a release, as the store keeps it."""
    statements = parse_script(entry.definition)
    if len(statements) != 1 or not isinstance(statements[0], CreateRelease):
        raise catalog.damaged(f"the definition of '{entry.name}' cannot be read")
    return statements[0]


def _check_free(statement: CreateRelease, sources: Sources) -> None:
    taken = sources.resolve(QualifiedName((STORE_CATALOG, *statement.name.parts)))
    if taken is not None:
        kind = "view" if taken.view_sql else "table"
        raise BindError(
            f"there is already a {kind} '{statement.name}'",
            statement.name_span,
            "choose another name: a release replaces only a release",
        )


def _drawn_before(rule: BoundRule, stage: int, drawn: DrawnBySlot) -> str:
    """Return what the treatments before one in its chain drew, as one text.

    Noise after `scaling()` must not be the same under two factors: the difference of the two
    releases would be a multiple of the original values.
    """
    parameters = [
        (place, step.transform.keyword, sorted(drawn[step.slot].parameters.items()))
        for place, step in enumerate(rule.steps[:stage])
        if step.slot in drawn and drawn[step.slot].parameters
    ]
    return repr(parameters) if parameters else ""


def _without_refresh(error: PpdmError) -> str:
    """Return what the owner can do about an error of REFRESH, which takes no other definition."""
    if isinstance(error, TreatmentError) and error.is_of_hierarchy:
        return f"{error.hint}; after CREATE OR REPLACE HIERARCHY, refresh again"
    advice = f": {error.hint}" if error.hint else " with another definition"
    return (
        "REFRESH keeps the definition. Mend the rows in the source and refresh again, or write "
        f"CREATE OR REPLACE RELEASE{advice}. That draws anew; read earlier results with VERSION n"
    )


def check_types(release: Release, previous: Sequence[ColumnEntry]) -> None:
    """Raise when a column of the source has another type than when the release was made."""
    columns = [column for rule in release.rules for column in rule.columns]
    for column, entry in zip(columns, previous, strict=False):
        if entry.source_type != str(column.type):
            raise BindError(
                f"the type of '{column.name}' was {entry.source_type} and is {column.type} now",
                hint="write CREATE OR REPLACE RELEASE: what was drawn does not fit any more",
            )


def _kept_keys(release: Release) -> list[Name]:
    """Return the KEY that leaves as it is, if it does."""
    return [
        name
        for rule in release.released_rules
        if rule.role is Role.KEY and all(step.transform.keyword == "keep" for step in rule.steps)
        for name in rule.names
    ]


def _verify(release: Release, stage: int, found: Mapping[str, Any]) -> list[str]:
    warnings: list[str] = []
    for _, step in release.stage(stage):
        if isinstance(step.transform, Checks):
            try:
                warnings += step.transform.verify(_own(found, step.slot))
            except PpdmError as error:
                raise error.at(step.span) from None
    return warnings


def _own(found: Mapping[str, Any], slot: str) -> dict[str, Any]:
    prefix = parameter_column(slot, "")
    return {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }
