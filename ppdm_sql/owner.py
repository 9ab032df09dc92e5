"""The owner's session: a DuckDB connection that also understands releases."""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from ppdm_sql.audit.arguments import audit_statement, requirements_of
from ppdm_sql.audit.report.files import (
    audit_result,
    check_file,
    check_places,
    write_tables,
    written_beside,
)
from ppdm_sql.audit.run import audit_release
from ppdm_sql.engine.result import Result, in_a_row
from ppdm_sql.errors import StatementError
from ppdm_sql.groups.bind import bind_grouping
from ppdm_sql.groups.hierarchies import (
    StoredHierarchies,
    create_hierarchy,
    describe_hierarchy,
    drop_hierarchy,
    list_hierarchies,
)
from ppdm_sql.interpret import run as interpreting
from ppdm_sql.language.error_places import located
from ppdm_sql.language.script import parse_name, parse_script
from ppdm_sql.language.syntax import (
    AuditRelease,
    CreateAgreement,
    CreateHierarchy,
    CreateRelease,
    DescribeAgreement,
    DescribeHierarchy,
    DescribeRelease,
    DropAgreement,
    DropHierarchy,
    DropRelease,
    ExplainHierarchies,
    ExplainRelease,
    ExportAgreement,
    ImportAgreement,
    InterpretPredicate,
    InterpretTable,
    Option,
    PlainSql,
    PublishRelease,
    RefreshRelease,
    ReleaseName,
    ShowAgreements,
    ShowHierarchies,
    ShowPublications,
    ShowReleases,
    ShowTreatments,
)
from ppdm_sql.lifecycle import describe as answers
from ppdm_sql.lifecycle.messages import made_result
from ppdm_sql.lifecycle.release import create_release, drop_release, refresh_release
from ppdm_sql.publish.messages import publications_table, warn_of
from ppdm_sql.publish.run import publish
from ppdm_sql.publish.settling import settle_publications
from ppdm_sql.publish.snapshot import SHUFFLE
from ppdm_sql.release.releases import Releases, Wanted
from ppdm_sql.sites.agreements import Agreements, passphrase_of_environment
from ppdm_sql.sites.answers import run_agreement
from ppdm_sql.store.formats import open_store
from ppdm_sql.store.opening import open_database
from ppdm_sql.store.publications import list_publications
from ppdm_sql.treatments import TREATMENTS, kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import pandas as pd

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.audit.report.outcome import Requirement
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.interpret.run import Interpreted, ResultsTable
    from ppdm_sql.language.syntax import Statement
    from ppdm_sql.lifecycle.describe import ColumnInfo, ReleaseInfo
    from ppdm_sql.publish.run import Published
    from ppdm_sql.store.figures import VersionFigure
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.store.publications import PublishedRelease
    from ppdm_sql.treatments.treatment import Treatment


_CHANGING = (
    CreateRelease,
    RefreshRelease,
    DropRelease,
    CreateHierarchy,
    DropHierarchy,
    CreateAgreement,
    DropAgreement,
    ImportAgreement,
)
"""Statements that change the store: those of several threads run one after another."""


class Owner:
    """Runs scripts on the owner's database; close it, or use it in a `with` block."""

    def __init__(
        self, engine: Engine, keys: RootKey, treatments: Sequence[type[Treatment]], label: str
    ) -> None:
        self._engine = engine
        self._label = label
        self._changing = threading.RLock()
        bind_clause = partial(bind_grouping, StoredHierarchies(engine))
        self._releases = Releases(engine, keys, tuple(treatments), bind_clause)
        self._ask: Callable[[bool], str] = passphrase_of_environment

    @classmethod
    def open(
        cls,
        database: str | os.PathLike[str],
        treatments: Sequence[type[Treatment]] = TREATMENTS,
        show_engine_errors: bool = False,
    ) -> Self:
        """Open the owner's database, or make it; `:memory:` for a trial that leaves nothing."""
        path = None if str(database) == ":memory:" else Path(database).absolute()
        engine = open_database(path)
        try:
            keys = open_store(engine, path)
            settle_publications(engine)
            engine.shows_errors = show_engine_errors
            # Here and not by cursors: a function ends with the connection that registered it.
            for kernel in (*kernels_of(treatments), SHUFFLE):
                engine.register(kernel)
            return cls(engine, keys, treatments, str(database))
        except BaseException:
            engine.close()
            raise

    def cursor(self) -> Owner:
        """Return another connection to the same database; each thread needs one of its own.

        Statements that change releases wait for each other; queries run side by side. It starts
        in the schema `main`, outside any transaction, and ends with the connection it comes from.
        """
        of = self._releases
        made = Owner(self._engine.cursor(), of.keys, of.treatments, self._label)
        made._changing, made._ask = self._changing, self._ask
        return made

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
            raise StatementError("parameters go with one plain SQL statement", code="parameters")
        for statement in statements:
            yield self._run(statement, parameters)

    def sql(self, query: str, parameters: object = None) -> duckdb.DuckDBPyRelation:
        """Return one query as a DuckDB relation: `owner.sql("FROM research.patients").df()`."""
        statements = parse_script(query)
        if len(statements) != 1:
            raise StatementError(
                "sql() takes one statement; run scripts with execute()", code="one_statement"
            )
        statement = statements[0]
        if isinstance(statement, PlainSql):
            with located(statement, parameters is not None):
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

    def figures(self, release: str) -> list[VersionFigure]:
        """Return what GENERALIZE of a release reached and cost; empty without one."""
        return answers.release_figures(self._releases, parse_name(release))

    def explain(self, release: str, target: str = "duckdb") -> str:
        """Return the SELECT of a release; secrets are in the store, not in it."""
        return answers.explain_release(self._releases, ExplainRelease(parse_name(release), target))

    def interpret(
        self,
        release: str,
        predicate: str,
        *,
        passing_others: bool = False,
        version: int | None = None,
    ) -> Interpreted:
        """Translate a condition on released columns into one on original columns.

        With `passing_others`, conditions on columns that the release does not have are handed on
        as they are: with several sites, each translates its own. `version` is the one that the
        results come from, as `release_info` of a published file shows it; by default the newest.
        """
        statement = InterpretPredicate(parse_name(release), predicate, passing_others, version)
        return interpreting.interpret_predicate(self._releases, statement)

    def interpret_table(
        self, release: str, table: str | pa.Table | pd.DataFrame, *, version: int | None = None
    ) -> ResultsTable:
        """Translate a table of results: rules, centroids, thresholds.

        `table` names a table of the database, or is an Arrow table or a pandas frame, such as
        mlxtend's with its sets of items.
        """
        wanted = Wanted(parse_name(release), version)
        return interpreting.interpret_results(self._releases, wanted, table)

    def interpret_file(
        self, release: str, path: str | os.PathLike[str], *, version: int | None = None
    ) -> ResultsTable:
        """Translate a file of results: CSV, Parquet, or any text such as a printed tree."""
        wanted = Wanted(parse_name(release), version)
        return interpreting.interpret_file(self._releases, wanted, Path(path))

    def publish(
        self,
        *releases: str,
        to: str | os.PathLike[str],
        format: str | None = None,
        unlinkable: bool = False,
        recipient: str | None = None,
        strict: bool = False,
        accept: Sequence[str] = (),
    ) -> Published:
        """Publish releases: `PUBLISH RELEASE … TO …`.

        `to` is a DuckDB file (`"study.duckdb"`) or, with a slash at its end, a folder of Parquet
        files; `format`, "duckdb" or "parquet", is for other names. `recipient` is written down in
        the ledger; `strict` makes errors of what is warned of; `accept` lists codes of errors that
        the owner accepts, such as "identifying(email)".
        """
        path = os.fspath(to)
        names = tuple(ReleaseName(parse_name(release)) for release in releases)
        options = [Option("unlinkable", unlinkable), Option("strict", strict)]
        options += [] if recipient is None else [Option("recipient", recipient)]
        options += [Option("accept", tuple(accept))] if accept else []
        return self._publish(PublishRelease(names, path, format, tuple(options)), caller=4)

    def publications(self) -> list[PublishedRelease]:
        """Return what was published, the latest last."""
        return list_publications(self._engine)

    def audit(
        self,
        release: str,
        *,
        together_with: str | Sequence[str] = (),
        against: str | None = None,
        into: str | None = None,
        to: str | Path | Sequence[str | Path] = (),
        require: str | Sequence[str] | None = None,
        is_internal: bool = False,
    ) -> Report:
        """Audit a release: risk, attacks, utility; `against` a table somebody may have.

        What was published of the same rows is attacked with; so are releases `together_with` it.
        `into` writes the audit as tables of a schema, `to` as files, .html or .json, all of it or
        nothing. `require` is what must hold, such as "k>=5, prosecutor<=0.2" or a list of such
        texts; the report's outcomes say which are met. `is_internal` adds to the report what only the
        owner should see: the parameters of the script, small cells, exact figures.
        """
        # First of all: a typing error must not cost a minute.
        requirements = requirements_of(require)
        statement = audit_statement(release, against, into, together_with)
        paths = [Path(path) for path in ([to] if isinstance(to, str | Path) else to)]
        for path in paths:
            check_file(path)
        return self._audit(statement, paths, is_internal, requirements)

    def progress(self) -> float:
        """Return how far the running statement is, in percent; -1 when DuckDB cannot tell."""
        return self._engine.progress()

    def on_stage(self, report: Callable[[str], None]) -> None:
        """Have `report` called with what is being done, for a progress bar."""
        self._releases = replace(self._releases, on_stage=report)

    def on_passphrase(self, ask: Callable[[bool], str]) -> None:
        """Have `ask` called for the passphrase of an agreement file, with whether it is new.

        Without it, the passphrase is read from the environment: `PPDM_PASSPHRASE`.
        """
        self._ask = ask

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
        with self._changing if isinstance(statement, _CHANGING) else nullcontext():
            match statement:
                case CreateRelease():
                    return made_result("created", create_release(self._releases, statement))
                case RefreshRelease():
                    with self._engine.transaction():
                        made = [refresh_release(self._releases, one) for one in statement.each]
                    return made_result("refreshed", *made)
                case ShowTreatments():
                    return Result(answers.treatments_table(self._releases.treatments))
                case DropRelease():
                    found = drop_release(self._releases, statement)
                    done = "dropped" if found else "there was no"
                    return Result(message=f"{done} release {statement.name}")
                case ShowReleases():
                    infos = answers.list_releases(self._releases)
                    return Result(answers.show_table(infos))
                case DescribeRelease():
                    columns = answers.describe_release(self._releases, statement)
                    figures = answers.release_figures(
                        self._releases, statement.name, statement.span
                    )
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
                case DescribeHierarchy():
                    return Result(describe_hierarchy(self._engine, statement))
                case ShowHierarchies():
                    return Result(answers.hierarchies_table(list_hierarchies(self._engine)))
                case ExplainHierarchies():
                    return Result(answers.explain_hierarchies(self._releases, statement))
                case (
                    CreateAgreement()
                    | DropAgreement()
                    | ExportAgreement()
                    | ImportAgreement()
                    | DescribeAgreement()
                    | ShowAgreements()
                ):
                    return run_agreement(Agreements(self._releases, self._ask), statement)
                case InterpretPredicate():
                    answer = interpreting.interpret_predicate(self._releases, statement)
                    return Result(interpreting.predicate_table(answer))
                case InterpretTable():
                    results = interpreting.interpret_table(self._releases, statement)
                    return Result(results.table, "\n".join(results.notes))
                case PublishRelease():
                    return Result(message=self._publish(statement, caller=6).message)
                case ShowPublications():
                    return Result(publications_table(list_publications(self._engine)))
                case AuditRelease():
                    answered = [audit_result(self._audit(one), one) for one in statement.each]
                    return in_a_row(answered)
                case PlainSql():
                    return self._plain(statement, parameters)

    def _audit(
        self,
        statement: AuditRelease,
        paths: Sequence[Path] = (),
        is_internal: bool = False,
        requirements: Sequence[Requirement] = (),
    ) -> Report:
        check_places(self._engine, statement)
        if statement.path is not None:
            paths = [*paths, Path(statement.path)]
        report = audit_release(self._releases, statement, is_internal, requirements)
        with written_beside(report, paths, statement.path_span):
            if statement.into is not None:
                write_tables(self._engine, report, statement.into)
        return report

    def _publish(self, statement: PublishRelease, caller: int) -> Published:
        with self._changing:
            done = publish(self._releases, statement)
        warn_of(done, caller)
        return done

    def _plain(self, statement: PlainSql, parameters: object) -> Result:
        with located(statement, parameters is not None):
            rows = self._engine.plain(statement.text, parameters)
        return Result(rows, shows_errors=self._engine.shows_errors)
