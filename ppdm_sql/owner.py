"""The owner's session: a DuckDB connection that also understands releases."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from ppdm_sql.audit.arguments import audit_statement, requirements_of
from ppdm_sql.audit.report.files import (
    check_file,
)
from ppdm_sql.engine.result import Result
from ppdm_sql.errors import StatementError, StoreError
from ppdm_sql.groups.bind import bind_grouping
from ppdm_sql.groups.hierarchies import (
    StoredHierarchies,
)
from ppdm_sql.interpret import run as interpreting
from ppdm_sql.language.error_places import located
from ppdm_sql.language.script import parse_name, parse_script
from ppdm_sql.language.syntax import (
    AuditStudy,
    DescribeRelease,
    ExplainRelease,
    InterpretPredicate,
    Option,
    PlainSql,
    PublishRelease,
    PublishStudy,
    ReleaseName,
)
from ppdm_sql.lifecycle import describe as answers
from ppdm_sql.lifecycle.copied_rows import copy_in
from ppdm_sql.names import Name
from ppdm_sql.publish.settling import settle_publications
from ppdm_sql.publish.snapshot import SHUFFLE
from ppdm_sql.release.releases import Releases, Wanted
from ppdm_sql.statements import Session, audit, publish_releases, run
from ppdm_sql.store.attachments import attach, attach_again
from ppdm_sql.store.formats import open_store
from ppdm_sql.store.opening import open_database
from ppdm_sql.store.publications import list_publications
from ppdm_sql.studies.audit import audit_study
from ppdm_sql.treatments import TREATMENTS, kernels_of
from ppdm_sql.treatments.kernels.reconstruction import RECONSTRUCT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import pandas as pd

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.interpret.run import Interpreted, ResultsTable
    from ppdm_sql.lifecycle.describe import ColumnInfo, ReleaseInfo
    from ppdm_sql.publish.written import Published
    from ppdm_sql.store.figures import VersionFigure
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.store.publications import PublishedRelease
    from ppdm_sql.studies.audit import StudyReport
    from ppdm_sql.treatments.treatment import Treatment


class Owner:
    """Runs scripts on the owner's database; close it, or use it in a `with` block."""

    def __init__(
        self, engine: Engine, keys: RootKey, treatments: Sequence[type[Treatment]], label: str
    ) -> None:
        self._engine = engine
        self._label = label
        bind_clause = partial(bind_grouping, StoredHierarchies(engine))
        self._session = Session(Releases(engine, keys, tuple(treatments), bind_clause))

    @property
    def _releases(self) -> Releases:
        return self._session.releases

    @classmethod
    def open(
        cls,
        database: str | os.PathLike[str],
        treatments: Sequence[type[Treatment]] = TREATMENTS,
        show_engine_errors: bool = False,
    ) -> Self:
        """Open the owner's database, or make it; `:memory:` for a trial that leaves nothing."""
        if "\0" in str(database):
            raise StoreError("a path holds no zero character", code="bad_path")
        path = None if str(database) == ":memory:" else Path(database).absolute()
        engine = open_database(path)
        try:
            keys = open_store(engine, path)
            settle_publications(engine)
            attach_again(engine)
            engine.shows_errors = show_engine_errors
            # Here and not by cursors: a function ends with the connection that registered it.
            for kernel in (*kernels_of(treatments), SHUFFLE, RECONSTRUCT):
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
        made._session.changing, made._session.ask = self._session.changing, self._session.ask
        return made

    def attach(self, name: str, path: str | os.PathLike[str]) -> None:
        """Attach another DuckDB database for reading, now and whenever this one is opened."""
        attach(self._engine, Name(name), Path(path).absolute())

    def register(self, name: str, rows: object, *, replace: bool = False) -> None:
        """Copy a pandas or polars frame, or an Arrow table, into a table of this database.

        A release of it then outlives the frame. `replace` puts newer rows in its place; a
        REFRESH reads those.
        """
        copy_in(self._releases, parse_name(name, "the name of a table"), rows, replace)

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
            yield run(self._session, statement, parameters)

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
        result = run(self._session, statement)
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
        publication: str | None = None,
    ) -> Interpreted:
        """Translate a condition on released columns into one on original columns.

        With `passing_others`, conditions on columns that the release does not have are handed on
        as they are: with several sites, each translates its own. `version` is the one that the
        results come from, as `release_info` of a published file shows it; by default the newest.
        `publication` is its name there: a recipient's pseudonyms are translated only with it.
        """
        statement = InterpretPredicate(
            parse_name(release), predicate, passing_others, version, publication=publication
        )
        return interpreting.interpret_predicate(self._releases, statement)

    def interpret_table(
        self,
        release: str,
        table: str | pa.Table | pd.DataFrame,
        *,
        version: int | None = None,
        publication: str | None = None,
    ) -> ResultsTable:
        """Translate a table of results: rules, centroids, thresholds.

        `table` names a table of the database, or is an Arrow table or a pandas frame, such as
        mlxtend's with its sets of items.
        """
        wanted = Wanted(parse_name(release), version, publication=publication)
        return interpreting.interpret_results(self._releases, wanted, table)

    def interpret_file(
        self,
        release: str,
        path: str | os.PathLike[str],
        *,
        version: int | None = None,
        publication: str | None = None,
    ) -> ResultsTable:
        """Translate a file of results: CSV, Parquet, or any text such as a printed tree."""
        wanted = Wanted(parse_name(release), version, publication=publication)
        return interpreting.interpret_file(self._releases, wanted, Path(path))

    def publish(
        self,
        *releases: str,
        to: str | os.PathLike[str],
        format: str | None = None,
        unlinkable: bool = False,
        linkable: str | None = None,
        recipient: str | None = None,
        strict: bool = False,
        accept: Sequence[str] = (),
        disclose: Sequence[str] = (),
    ) -> Published:
        """Publish releases: `PUBLISH RELEASE … TO …`.

        `to` is a DuckDB file (`"study.duckdb"`) or, with a slash at its end, a folder of Parquet
        files; `format`, "duckdb", "parquet" or "csv", is for other names. `recipient` is written down in
        the ledger; `strict` makes errors of what is warned of; `accept` lists codes of errors that
        the owner accepts, such as "identifying(email)"; `disclose` lists treatments whose parameters
        the codebook says, such as "noise(weight)". Pseudonyms are the store's ("always"), of
        the "recipient", or of this "publication", which is what `unlinkable` means.
        """
        names = tuple(ReleaseName(parse_name(release)) for release in releases)
        options = _options(linkable, recipient, strict, accept, disclose)
        options += (Option("unlinkable", unlinkable),) if unlinkable else ()
        statement = PublishRelease(names, os.fspath(to), format, options)
        return publish_releases(self._session, statement, caller=4)

    def publish_study(
        self,
        study: str,
        *,
        to: str | os.PathLike[str],
        format: str | None = None,
        recipient: str | None = None,
        linkable: str | None = None,
        strict: bool = False,
        accept: Sequence[str] = (),
        disclose: Sequence[str] = (),
    ) -> Published:
        """Publish all releases of a study together: `PUBLISH STUDY … TO …`; as `publish()`."""
        options = _options(linkable, recipient, strict, accept, disclose)
        statement = PublishStudy(Name(study), os.fspath(to), format, options)
        return publish_releases(self._session, statement, caller=4)

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
        return audit(self._session, statement, paths, is_internal, requirements)

    def audit_study(
        self,
        study: str,
        *,
        to: str | Path | Sequence[str | Path] = (),
        is_internal: bool = False,
    ) -> StudyReport:
        """Audit a study: what all of its tables together give away, and each release by itself."""
        paths = [Path(path) for path in ([to] if isinstance(to, str | Path) else to)]
        with self._engine.work():
            return audit_study(self._releases, AuditStudy(Name(study)), paths, is_internal)

    def progress(self) -> float:
        """Return how far the running statement is, in percent; -1 when DuckDB cannot tell."""
        return self._engine.progress()

    def on_stage(self, report: Callable[[str], None]) -> None:
        """Have `report` called with what is being done, for a progress bar."""
        self._session.releases = replace(self._releases, tell=report)

    def on_passphrase(self, ask: Callable[[bool], str]) -> None:
        """Have `ask` called for the passphrase of an agreement file, with whether it is new.

        Without it, the passphrase is read from the environment: `PPDM_PASSPHRASE`.
        """
        self._session.ask = ask

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


def _options(
    linkable: str | None,
    recipient: str | None,
    strict: bool,
    accept: Sequence[str],
    disclose: Sequence[str],
) -> tuple[Option, ...]:
    """Return what stands behind WITH of a publication."""
    given = {"linkable": linkable, "recipient": recipient}
    options = [Option(name, value) for name, value in given.items() if value is not None]
    options += [Option("strict", True)] if strict else []
    options += [Option("accept", tuple(accept))] if accept else []
    options += [Option("disclose", tuple(disclose))] if disclose else []
    return tuple(options)
