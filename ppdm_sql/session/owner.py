"""The owner's session: a DuckDB connection that also understands releases."""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from ppdm_sql.errors import PrivacyWarning, StatementError, plural
from ppdm_sql.model.syntax import (
    AuditRelease,
    CreateHierarchy,
    CreateRelease,
    DescribeRelease,
    DropHierarchy,
    DropRelease,
    ExplainHierarchies,
    ExplainRelease,
    PlainSql,
    RefreshRelease,
    ShowHierarchies,
    ShowReleases,
)
from ppdm_sql.session import answers
from ppdm_sql.session.auditing import audit_release
from ppdm_sql.session.creation import Releases
from ppdm_sql.session.engine import Engine, register
from ppdm_sql.session.hierarchies import create_hierarchy, drop_hierarchy, list_hierarchies
from ppdm_sql.session.places import located
from ppdm_sql.session.reporting import audit_result, check_places, write_report, write_tables
from ppdm_sql.session.result import Result
from ppdm_sql.statements.script import parse_name, parse_script
from ppdm_sql.store.catalog import open_store
from ppdm_sql.transforms import TRANSFORMS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    import duckdb

    from ppdm_sql.audit.report import Report
    from ppdm_sql.model.syntax import Statement
    from ppdm_sql.model.transform import Transform
    from ppdm_sql.session.answers import ColumnInfo, ReleaseInfo
    from ppdm_sql.session.creation import Made
    from ppdm_sql.store.figures import Figure


class Owner:
    """Runs scripts on the owner's database; close it, or use it in a `with` block."""

    def __init__(self, engine: Engine, transforms: Sequence[type[Transform]], label: str) -> None:
        self._engine = engine
        self._label = label
        with engine.transaction():
            keys = open_store(engine)
        register(engine.connection, transforms)
        self._releases = Releases(engine, keys, tuple(transforms))

    @classmethod
    def open(
        cls,
        database: str | os.PathLike[str],
        transforms: Sequence[type[Transform]] = TRANSFORMS,
    ) -> Self:
        """Open the owner's database, or make it; `:memory:` for a trial that leaves nothing."""
        path = None if str(database) == ":memory:" else Path(database).absolute()
        engine = Engine.open(path)
        try:
            return cls(engine, transforms, str(database))
        except BaseException:
            engine.close()
            raise

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection underneath, for everything DuckDB can do."""
        return self._engine.connection

    def execute(self, script: str, parameters: object = None) -> Result:
        """Run a script, plain SQL and release statements mixed; return the last result.

        The whole script is read before anything runs. Each statement is a transaction unless the
        script opens one itself. `parameters` go to a single plain statement.
        """
        last = deque(self.results(script, parameters), maxlen=1)
        return last.pop() if last else Result()

    def results(self, script: str, parameters: object = None) -> Iterator[Result]:
        """Run a script statement by statement; each result is to be read before the next."""
        statements = parse_script(script)
        if parameters is not None and not (
            len(statements) == 1 and isinstance(statements[0], PlainSql)
        ):
            raise StatementError("parameters go with one plain SQL statement")
        for statement in statements:
            yield self._run(statement, parameters)

    def sql(self, query: str, parameters: object = None) -> duckdb.DuckDBPyRelation:
        """Return one query as a DuckDB relation: `owner.sql("FROM research.patients").df()`."""
        statements = parse_script(query)
        if len(statements) != 1:
            raise StatementError("sql() takes one statement; run scripts with execute()")
        statement = statements[0]
        if isinstance(statement, PlainSql):
            with located(statement):
                return self._engine.relation(statement.text, parameters)
        result = self._run(statement)
        rows = result.arrow() if result.columns else pa.table({"done": [result.message]})
        return self._engine.relation_of(rows)

    def releases(self) -> list[ReleaseInfo]:
        """Return all releases, by name."""
        return answers.list_releases(self._releases)

    def describe(self, release: str) -> list[ColumnInfo]:
        """Return the columns of a release: role, treatment, what undoes it."""
        return answers.describe_release(self._releases, DescribeRelease(parse_name(release)))

    def figures(self, release: str) -> list[Figure]:
        """Return what GENERALIZE of a release reached and cost; empty without one."""
        return answers.release_figures(self._releases, parse_name(release))

    def explain(self, release: str, target: str = "duckdb") -> str:
        """Return the SELECT of a release; secrets are in the store, not in it."""
        return answers.explain_release(self._releases, ExplainRelease(parse_name(release), target))

    def audit(
        self,
        release: str,
        *,
        against: str | None = None,
        into: str | None = None,
        is_internal: bool = False,
    ) -> Report:
        """Audit a release: risk, attacks, utility; `against` a table somebody may have.

        `into` writes the audit as tables of a schema. `is_internal` adds to the report what only
        the owner should see: the parameters of the script and small cells.
        """
        background = None if against is None else parse_name(against)
        schema = None if into is None else parse_name(into).name
        return self._audit(AuditRelease(parse_name(release), background, schema), is_internal)

    def progress(self) -> float:
        """Return how far the running statement is, in percent; -1 when DuckDB cannot tell."""
        return self._engine.progress()

    def on_stage(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with what is being done, for a progress bar."""
        self._releases = replace(self._releases, on_stage=tell)

    def interrupt(self) -> None:
        """Stop the running statement; may be called from another thread."""
        self._engine.interrupt()

    def close(self) -> None:
        """Close the database; another process may then open it."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ppdm_sql owner of {self._label!r}>"

    def _run(self, statement: Statement, parameters: object = None) -> Result:
        match statement:
            case CreateRelease():
                return _made("created", self._releases.create(statement))
            case RefreshRelease():
                return _made("refreshed", self._releases.refresh(statement))
            case DropRelease():
                found = self._releases.drop(statement)
                done = "dropped" if found else "there was no"
                return Result(message=f"{done} release {statement.name}")
            case ShowReleases():
                infos = answers.list_releases(self._releases)
                return Result(answers.show_table(infos))
            case DescribeRelease():
                columns = answers.describe_release(self._releases, statement)
                figures = answers.release_figures(self._releases, statement.name, statement.span)
                more = Result(answers.figures_table(figures)) if figures else None
                return Result(answers.describe_table(columns), more=more)
            case ExplainRelease():
                text = answers.explain_release(self._releases, statement)
                return Result(answers.explain_table(text))
            case CreateHierarchy():
                create_hierarchy(self._engine, statement)
                return Result(message=f"created hierarchy {statement.name}")
            case DropHierarchy():
                found = drop_hierarchy(self._engine, statement)
                done = "dropped" if found else "there was no"
                return Result(message=f"{done} hierarchy {statement.name}")
            case ShowHierarchies():
                return Result(answers.hierarchies_table(list_hierarchies(self._engine)))
            case ExplainHierarchies():
                return Result(answers.explain_hierarchies(self._releases, statement))
            case AuditRelease():
                return audit_result(self._audit(statement))
            case PlainSql():
                return self._plain(statement, parameters)

    def _audit(self, statement: AuditRelease, is_internal: bool = False) -> Report:
        check_places(statement)
        report = audit_release(self._releases, statement, is_internal)
        if statement.into is not None:
            write_tables(self._engine, report, statement.into)
        if statement.path is not None:
            write_report(report, Path(statement.path), statement.path_span)
        return report

    def _plain(self, statement: PlainSql, parameters: object) -> Result:
        with located(statement):
            return Result(self._engine.plain(statement.text, parameters))


def _made(verb: str, made: Made) -> Result:
    for warning in made.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=5)
    columns, rows = plural(made.columns, "column"), plural(made.source_rows, "row")
    message = f"{verb} release {made.name}, version {made.version}: {columns}, {rows}"
    return Result(message=message + _summary(made.figures))


def _summary(figures: Sequence[Figure]) -> str:
    """Return what GENERALIZE did, in one line; all of it is in DESCRIBE RELEASE."""
    if not figures:
        return ""
    found = {figure.figure: figure for figure in figures}
    loss = next(figure for name, figure in found.items() if name.startswith("loss"))
    count = {name: int(figure.value or 0) for name, figure in found.items()}
    return (
        f"\ngeneralized {plural(count['rows treated'], 'row')} into"
        f" {plural(count['classes'], 'class', 'classes')}, the smallest of"
        f" {count['smallest class']}; {plural(count['rows suppressed'], 'row')} suppressed;"
        f" {loss.figure} {loss.value:.4f}, {loss.note}:"
        f" {count['nodes of the lattice']:,} nodes, {count['nodes checked']:,} checked"
    )
