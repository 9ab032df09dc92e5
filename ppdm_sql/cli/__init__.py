"""The command line: reads arguments, prints results, turns errors into exit codes.

0 all went well · 2 something the user can fix · 3 an audit misses a requirement · 1 a bug.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

import click

from ppdm_sql import EngineError, PpdmError, PrivacyWarning, __version__, connect, open_release
from ppdm_sql import combine as combine_files
from ppdm_sql.cli import output
from ppdm_sql.cli.interrupt import interruptible
from ppdm_sql.cli.passphrase import ask_passphrase
from ppdm_sql.cli.progress import show_progress
from ppdm_sql.engine.table_rows import TableRows
from ppdm_sql.errors import EngineKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

_DATABASE = click.option(
    "--db",
    "database",
    required=True,
    envvar="PPDM_DB",
    metavar="FILE",
    help="The owner's database, in a folder only the owner may enter (or set PPDM_DB).",
)
_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(output.FORMATS),
    default="table",
    show_default=True,
    help="How rows are printed.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ppdm")
def cli() -> None:
    """Privacy-preserving data publishing in SQL.

    A data owner writes CREATE RELEASE statements, column by column the role and the treatment;
    `ppdm run` turns them into views. Everything secret stays in the owner's database.

    \b
    ppdm demo                                      see it work, in memory
    ppdm run release.sql --db owner/clinic.duckdb  run a script
    ppdm show --db owner/clinic.duckdb             list the releases
    ppdm publish research.patients --to study.duckdb --db owner/clinic.duckdb
    ppdm query study.duckdb "SELECT …"             ask a published file
    ppdm audit research.patients --db owner/clinic.duckdb  attack one
    """  # noqa: D301 - the \\b is click's mark for lines to be left alone


@cli.command()
@click.argument("script", type=click.File("r", encoding="utf-8"))
@_DATABASE
@_FORMAT
@click.option(
    "--rows",
    default=40,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows shown of a long table.",
)
@click.option(
    "--show-engine-errors",
    is_flag=True,
    help="Show DuckDB's own text of errors; it may contain values of the data.",
)
def run(script: IO[str], database: str, form: str, rows: int, show_engine_errors: bool) -> None:
    """Run SCRIPT ('-' for standard input): release statements and plain DuckDB SQL mixed.

    The whole script is read before anything runs. Each statement is a transaction of its own,
    unless the script says BEGIN. It stops at the first error, which changes nothing.
    """
    try:
        text = script.read()
    except UnicodeDecodeError:
        raise PpdmError("the script is not UTF-8 text", code="not_text") from None
    with (
        _owner(database, show_engine_errors=show_engine_errors) as owner,
        show_progress(owner) as bar,
    ):
        owner.on_passphrase(partial(ask_passphrase, bar.paused))
        for result in owner.results(text):
            with bar.paused():
                output.print_result(result, form, rows)


@cli.command()
@_DATABASE
@_FORMAT
def show(database: str, form: str) -> None:
    """List the releases of a database: version, source, columns, rows."""
    with _owner(database, must_exist=True) as owner:
        output.print_result(owner.execute("SHOW RELEASES"), form)


@cli.command()
@click.argument("release")
@_DATABASE
@_FORMAT
def describe(release: str, database: str, form: str) -> None:
    """Show the columns of RELEASE: role, treatment, type, and what undoes the treatment."""
    with _owner(database, must_exist=True) as owner:
        output.print_infos(owner.describe(release), form)
        figures = owner.figures(release)
        if figures and form == "table":
            output.print_infos(figures, form)


@cli.command()
@click.argument("release")
@_DATABASE
@click.option("--for", "target", default="duckdb", show_default=True, help="The engine.")
def explain(release: str, database: str, target: str) -> None:
    """Print the SQL of RELEASE. It names the owner's tables; no secret is in it."""
    with _owner(database, must_exist=True) as owner:
        click.echo(owner.explain(release, target))


@cli.command()
@click.argument("release")
@click.argument("results", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--where", "predicate", help="A condition in released terms, instead of a file.")
@click.option(
    "--passing-others",
    is_flag=True,
    help="Pass conditions on columns of other sites on, untranslated.",
)
@click.option(
    "--version",
    type=click.IntRange(min=1),
    metavar="N",
    help="The version that the results come from (release_info tells it); the newest if left out.",
)
@_DATABASE
@_FORMAT
def interpret(
    release: str,
    results: str | None,
    predicate: str | None,
    passing_others: bool,
    version: int | None,
    database: str,
    form: str,
) -> None:
    """Translate RESULTS of RELEASE into original terms: a file of rules, centroids, a tree.

    CSV and Parquet are read as tables, anything else as text, such as scikit-learn's export_text.
    """
    if (results is None) == (predicate is None):
        raise PpdmError(
            "name a file of results or write --where and a condition, one of the two", code="usage"
        )
    with _owner(database, must_exist=True) as owner:
        if predicate is not None:
            condition = owner.interpret(
                release, predicate, passing_others=passing_others, version=version
            )
            output.print_text(condition.original)
            notes = condition.notes
        else:
            assert results is not None  # one of the two is there
            table = owner.interpret_file(release, results, version=version)
            output.print_translated(table.table, form)
            notes = table.notes
        for note in notes:
            output.print_note(f"note: {note}")


@cli.command()
@click.argument("releases", nargs=-1, required=True)
@click.option("--to", "target", required=True, metavar="PATH", help="The file, or the folder.")
@click.option(
    "--as",
    "form",
    type=click.Choice(("duckdb", "parquet")),
    default="duckdb",
    show_default=True,
    help="A DuckDB file, or a folder of Parquet files.",
)
@click.option("--unlinkable", is_flag=True, help="Give each release pseudonyms of its own.")
@click.option("--recipient", metavar="NAME", help="Who gets it: recorded in the ledger.")
@click.option("--strict", is_flag=True, help="Publish nothing if there is a warning.")
@_DATABASE
def publish(
    releases: tuple[str, ...],
    target: str,
    form: str,
    unlinkable: bool,
    recipient: str | None,
    strict: bool,
    database: str,
) -> None:
    """Write RELEASES to a new file for analysts; an earlier one is replaced at once."""
    with _owner(database, must_exist=True) as owner, show_progress(owner) as bar:
        done = owner.publish(
            *releases,
            to=target,
            format=form,
            unlinkable=unlinkable,
            recipient=recipient,
            strict=strict,
        )
        with bar.paused():
            output.print_text(done.message)


@cli.command()
@click.argument("file")
@click.argument("statement")
@_FORMAT
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop after this many seconds.",
)
@click.option(
    "--memory", default="1GB", show_default=True, metavar="SIZE", help="Memory it may use."
)
@click.option(
    "--rows",
    default=40,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows shown of a long table.",
)
def query(file: str, statement: str, form: str, timeout: float, memory: str, rows: int) -> None:
    """Run one SELECT, DESCRIBE, SUMMARIZE or SHOW TABLES on a published FILE.

    The file is opened read-only in a process of its own that can reach nothing else.
    """
    with (
        open_release(file, timeout_s=timeout, memory_limit=memory) as study,
        study.batches(statement) as batches,
    ):
        output.print_rows(TableRows(batches), form, rows)


@cli.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--stack", "how", flag_value="stack", help="The sites have the same columns.")
@click.option("--join", "how", flag_value="join", help="The sites have different columns.")
@click.option("--to", "target", required=True, metavar="FILE", help="The new file.")
@click.option(
    "--missing",
    type=click.Choice(("null", "mean", "mode", "drop")),
    default="null",
    show_default=True,
    help="How to fill in people whom a site does not have.",
)
@click.option("--release", help="Which release to take if a file has several.")
@click.option(
    "--agreement",
    required=True,
    metavar="FINGERPRINT",
    help="The fingerprint that SHOW AGREEMENTS prints at a site; files not signed with its key are refused.",
)
def combine(
    files: tuple[str, ...],
    how: str | None,
    target: str,
    missing: str,
    release: str | None,
    agreement: str,
) -> None:
    """Combine the published FILES of several sites, made under one agreement, into one."""
    if how is None:
        raise PpdmError("write --stack or --join", code="usage")
    done = combine_files(
        *files, to=target, how=how, missing=missing, release=release, agreement=agreement
    )
    output.print_text(
        f"combined {len(files)} files: {done.release}, {done.rows:,} rows, in '{target}'"
    )
    for note in done.notes:
        output.print_note(f"note: {note}")


@cli.command()
@click.option("--patients", default=20_000, show_default=True, help="How many to generate.")
@click.option("--db", "database", metavar="FILE", help="Keep the demo's database in this new file.")
def demo(patients: int, database: str | None) -> None:
    """Release a clinic's table of generated patients, in memory, and show what happens."""
    from ppdm_sql.cli.demo import run_demo

    run_demo(patients, database)


@cli.command()
@click.argument("release")
@_DATABASE
@click.option(
    "--together-with",
    metavar="RELEASE",
    multiple=True,
    help="Another release of the same persons; may be given several times.",
)
@click.option("--against", metavar="TABLE", help="A table that somebody outside may have.")
@click.option("--html", "html", metavar="FILE.html", help="Write the report as a page.")
@click.option("--json", "json", metavar="FILE.json", help="Write the report as JSON.")
@click.option("--into", metavar="SCHEMA", help="Write the report as tables of a schema.")
@click.option("--require", metavar="TEXT", help='Such as "k>=5, prosecutor<=0.2": exit 3 if unmet.')
@click.option("--internal", is_flag=True, help="Show the owner parameters and small cells, too.")
def audit(
    release: str,
    database: str,
    together_with: tuple[str, ...],
    against: str | None,
    html: str | None,
    json: str | None,
    into: str | None,
    require: str | None,
    internal: bool,
) -> None:
    """Say what RELEASE protects and what it costs, and attack it."""
    from ppdm_sql.cli.audit import run_audit

    pages = []
    for option, page, endings in (("html", html, (".html", ".htm")), ("json", json, (".json",))):
        if page is not None and not page.lower().endswith(endings):
            raise click.BadParameter(f"a file that ends in {endings[0]}", param_hint=f"--{option}")
        pages += [] if page is None else [page]
    with _owner(database, must_exist=True) as owner:
        run_audit(owner, release, together_with, against, into, pages, require, internal)


@contextmanager
def _owner(
    database: str, must_exist: bool = False, show_engine_errors: bool = False
) -> Iterator[Owner]:
    path = Path(database)
    if must_exist and database != ":memory:" and not os.path.lexists(path):
        raise PpdmError(
            f"there is no database '{database}'",
            hint="`ppdm run` makes a new one",
            code="no_such_file",
        )
    if database != ":memory:" and path.is_dir():
        raise PpdmError(
            f"'{database}' is a folder",
            hint=f"name a file in it: {path / 'my.duckdb'}",
            code="wrong_kind_of_file",
        )
    opened = connect(database, show_engine_errors=show_engine_errors)
    with opened as owner, interruptible(owner):
        yield owner


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    warnings.showwarning = _print_warning
    warnings.simplefilter("always", PrivacyWarning)
    try:
        cli.main(args=arguments, prog_name="ppdm", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        output.print_error("stopped")
        sys.exit(130)
    except RuntimeError as error:
        # What DuckDB makes of Ctrl-C while a statement runs.
        if "interrupt" not in str(error).lower():
            _tell_bug(error)
        output.print_error("stopped")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except PpdmError as error:
        if isinstance(error, EngineError) and error.kind is EngineKind.INTERRUPTED:
            output.print_error("stopped")
            sys.exit(130)
        output.print_error(str(error))
        sys.exit(2)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug, told without its data
        _tell_bug(error)
    sys.exit(0)


def _tell_bug(error: Exception) -> NoReturn:
    output.print_error(
        f"{type(error).__name__}: this is a bug in ppdm-sql; its text is withheld because it "
        "may contain data. PPDM_DEBUG=1 shows it"
    )
    output.print_debug()
    sys.exit(1)


def _print_warning(
    message: Warning | str, category: type[Warning], *_args: object, **_kwargs: object
) -> None:
    word = "warning" if issubclass(category, PrivacyWarning) else category.__name__
    output.print_note(f"{word}: {message}")
