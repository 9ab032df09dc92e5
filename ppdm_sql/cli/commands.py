"""The commands: each reads its arguments, runs one thing, prints what it answers."""

from __future__ import annotations

from functools import partial
from typing import IO

import click
from click.shell_completion import get_completion_class

from ppdm_sql import PpdmError, __version__, open_release
from ppdm_sql import combine as combine_files
from ppdm_sql.cli import output
from ppdm_sql.cli.options import FORMAT, QUIET, ROWS, database, opened
from ppdm_sql.cli.passphrase import ask_passphrase
from ppdm_sql.cli.progress import show_progress
from ppdm_sql.engine.table_rows import TableRows

_SHELLS = ("bash", "zsh", "fish")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


@cli.command(short_help="Run a script of SQL and release statements.")
@click.argument("script", type=click.File("r", encoding="utf-8"), required=False)
@click.option("-c", "--command", "statement", metavar="SQL", help="Run this instead of a script.")
@database
@FORMAT
@QUIET
@ROWS
@click.option(
    "--show-engine-errors",
    is_flag=True,
    help="Show DuckDB's own text of errors; it may contain values of the data.",
)
def run(
    script: IO[str] | None,
    statement: str | None,
    database: str,
    wait: float,
    rows: int,
    show_engine_errors: bool,
) -> None:
    """Run SCRIPT ('-' for standard input): release statements and plain DuckDB SQL mixed.

    The whole script is read before anything runs. Each statement is a transaction of its own,
    unless the script says BEGIN. It stops at the first error, which changes nothing.
    """
    if script is not None and statement is not None:
        raise click.UsageError("name a script, or write -c and a statement: not both")
    if script is None and statement is None:
        raise click.UsageError("name a script, or write -c and a statement")
    try:
        text = statement if script is None else script.read()
    except UnicodeDecodeError:
        raise PpdmError("the script is not UTF-8 text", code="not_text") from None
    assert text is not None  # one of the two is there
    with (
        opened(database, wait, False, show_engine_errors) as owner,
        show_progress(owner) as bar,
    ):
        owner.on_passphrase(partial(ask_passphrase, bar.paused))
        for result in owner.results(text):
            with bar.paused():
                output.print_result(result, rows)


@cli.command(short_help="List the releases of a database.")
@database
@FORMAT
def show(database: str, wait: float) -> None:
    """List the releases of a database: version, source, columns, rows."""
    with opened(database, wait) as owner:
        output.print_result(owner.execute("SHOW RELEASES"))


@cli.command(short_help="Show the columns of a release.")
@click.argument("release")
@database
@FORMAT
def describe(release: str, database: str, wait: float) -> None:
    """Show the columns of RELEASE: role, treatment, type, and what undoes the treatment."""
    with opened(database, wait) as owner:
        columns, figures = owner.describe(release), owner.figures(release)
        if output.is_for_people():
            output.print_columns(columns)
            output.print_infos(figures)
        else:
            output.print_infos(columns)


@cli.command(short_help="Print the SQL of a release.")
@click.argument("release")
@database
@FORMAT
@click.option(
    "--for", "target", default="duckdb", show_default=True, help="The SQL dialect; only duckdb."
)
def explain(release: str, database: str, wait: float, target: str) -> None:
    """Print the SQL of RELEASE. It names the owner's tables; no secret is in it."""
    with opened(database, wait) as owner:
        output.print_answer({"sql": owner.explain(release, target)})


@cli.command(short_help="Translate results back into original terms.")
@click.argument("release")
@click.argument("results", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--where", "predicate", help="A condition in released terms, instead of a file.")
@click.option(
    "--passing-others",
    is_flag=True,
    help="Leave conditions on columns of other sites untranslated.",
)
@click.option(
    "--version",
    type=click.IntRange(min=1),
    metavar="N",
    help="The version that the results come from (see release_info); the newest if left out.",
)
@click.option(
    "--publication",
    metavar="NAME",
    help="The publication that they come from (see release_info), for pseudonyms of a recipient.",
)
@database
@FORMAT
def interpret(
    release: str,
    results: str | None,
    predicate: str | None,
    passing_others: bool,
    version: int | None,
    publication: str | None,
    database: str,
    wait: float,
) -> None:
    """Translate RESULTS of RELEASE into original terms: a file of rules, centroids, a tree.

    CSV and Parquet are read as tables, anything else as text, such as scikit-learn's export_text.
    """
    if (results is None) == (predicate is None):
        raise PpdmError(
            "name a file of results or write --where and a condition, one of the two", code="usage"
        )
    with opened(database, wait) as owner:
        if predicate is not None:
            condition = owner.interpret(
                release,
                predicate,
                passing_others=passing_others,
                version=version,
                publication=publication,
            )
            output.print_answer({"condition": condition.original})
            notes = condition.notes
        else:
            assert results is not None  # one of the two is there
            table = owner.interpret_file(release, results, version=version, publication=publication)
            output.print_translated(table.table)
            notes = table.notes
        for note in notes:
            output.print_note("note", note)


@cli.command(short_help="Write releases to a file for analysts.")
@click.argument("releases", nargs=-1)
@click.option("--study", metavar="NAME", help="All releases of a study, instead of RELEASES.")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="PATH",
    help="A file: study.duckdb. A folder of Parquet files: study/.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(("duckdb", "parquet", "csv")),
    help="csv: a folder of CSV files.",
)
@click.option("--unlinkable", is_flag=True, help="The same as --linkable publication.")
@click.option(
    "--linkable",
    type=click.Choice(("recipient", "publication", "always")),
    help="Where pseudonyms are the same: for this recipient, in this publication, or always.",
)
@click.option("--recipient", metavar="NAME", help="Who gets it: recorded in the ledger.")
@click.option("--strict", is_flag=True, help="Publish nothing if there is a warning.")
@click.option(
    "--accept", metavar="CODE", multiple=True, help="Accept an error: identifying(email)."
)
@click.option(
    "--disclose",
    metavar="TREATMENT",
    multiple=True,
    help="Say parameters in the codebook: noise(weight).",
)
@database
@FORMAT
@QUIET
def publish(
    releases: tuple[str, ...],
    study: str | None,
    target: str,
    form: str | None,
    unlinkable: bool,
    linkable: str | None,
    recipient: str | None,
    strict: bool,
    accept: tuple[str, ...],
    disclose: tuple[str, ...],
    database: str,
    wait: float,
) -> None:
    """Write RELEASES to a new file for analysts; an earlier publication there is replaced at once."""
    if bool(releases) == bool(study):
        raise PpdmError("name releases, or write --study and its name", code="usage")
    linkable = "publication" if unlinkable else linkable
    with opened(database, wait) as owner, show_progress(owner) as bar:
        call = (
            partial(owner.publish, *releases)
            if study is None
            else partial(owner.publish_study, study)
        )
        done = call(
            to=target,
            format=form,
            linkable=linkable,
            recipient=recipient,
            strict=strict,
            accept=accept,
            disclose=disclose,
        )
        with bar.paused():
            if output.is_for_people():
                output.print_message(done.message)
                return
            for one in done.releases:
                row = {"release": str(one.release), "version": one.version, "rows": one.rows}
                output.print_answer(row | {"persons": one.persons, "path": str(done.path)})


@cli.command(short_help="Query a published file.")
@click.argument("file")
@click.argument("statement")
@FORMAT
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the statement after this many seconds.",
)
@click.option(
    "--memory", default="1GB", show_default=True, metavar="SIZE", help="Memory it may use."
)
@ROWS
def query(file: str, statement: str, timeout: float, memory: str, rows: int) -> None:
    """Run one SELECT, DESCRIBE, SUMMARIZE or SHOW TABLES on a published FILE.

    The file is opened read-only in a process of its own that can reach nothing else.
    """
    with (
        open_release(file, timeout_s=timeout, memory_limit=memory) as study,
        study.batches(statement) as batches,
    ):
        output.print_rows(TableRows(batches), rows)


@cli.command(short_help="Combine the files of several sites into one.")
@click.argument("files", nargs=-1, required=True)
@click.option("--stack", "how", flag_value="stack", help="The sites have the same columns.")
@click.option("--join", "how", flag_value="join", help="The sites have different columns.")
@click.option("--to", "target", required=True, metavar="FILE", help="The new file.")
@click.option(
    "--missing",
    type=click.Choice(("null", "mean", "mode", "drop")),
    default="null",
    show_default=True,
    help="What to write for persons that a site does not have.",
)
@click.option("--release", help="Which release to take if a file has several.")
@click.option(
    "--agreement",
    required=True,
    metavar="FINGERPRINT",
    help="The fingerprint that SHOW AGREEMENTS prints at a site; files not signed with its key are refused.",
)
@FORMAT
@QUIET
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
    if output.is_for_people():
        output.print_message(
            f"combined {len(files)} files: {done.release}, {done.rows:,} rows, in '{target}'"
        )
    else:
        output.print_answer({"release": str(done.release), "rows": done.rows, "path": str(target)})
    for note in done.notes:
        output.print_note("note", note)


@cli.command(short_help="See it work, on generated patients.")
@click.option(
    "--patients",
    type=click.IntRange(min=100),
    default=20_000,
    show_default=True,
    help="How many to generate.",
)
@click.option("--db", "database", metavar="FILE", help="Keep the demo's database in this new file.")
def demo(patients: int, database: str | None) -> None:
    """Release a clinic's table of generated patients, in memory, and show what happens."""
    from ppdm_sql.cli.demo import run_demo

    run_demo(patients, database)


@cli.command(short_help="Attack releases, and say what they protect and cost.")
@click.argument("releases", nargs=-1)
@database
@click.option(
    "--together-with",
    metavar="RELEASE",
    multiple=True,
    help="Another release of the same persons; may be given several times.",
)
@click.option("--against", metavar="TABLE", help="A table that somebody outside may have.")
@click.option("--study", metavar="NAME", help="All releases of a study, instead of RELEASES.")
@click.option("--html", "html", metavar="FILE.html", help="Write the report as a page.")
@click.option("--json", "json", metavar="FILE.json", help="Write the report as JSON.")
@click.option("--into", metavar="SCHEMA", help="Write the report as tables of a schema.")
@click.option("--require", metavar="TEXT", help='Such as "k>=5, prosecutor<=0.2": exit 3 if unmet.')
@click.option(
    "--internal", is_flag=True, help="For the owner only: add parameters and small counts."
)
@FORMAT
def audit(
    releases: tuple[str, ...],
    database: str,
    wait: float,
    together_with: tuple[str, ...],
    against: str | None,
    html: str | None,
    json: str | None,
    into: str | None,
    require: str | None,
    internal: bool,
    study: str | None,
) -> None:
    """Attack RELEASES, or a study, and say what they protect and what that costs."""
    from ppdm_sql.cli.audit import Wanted, run_audits, run_study_audit

    for option, page, endings in (("html", html, (".html", ".htm")), ("json", json, (".json",))):
        if page is not None and not page.lower().endswith(endings):
            raise click.BadParameter(
                f"the file name must end in {endings[0]}", param_hint=f"--{option}"
            )
    pages = tuple(page for page in (html, json) if page is not None)
    if (study is None) == (not releases):
        raise PpdmError("name releases, or --study", code="usage")
    if study is not None:
        if together_with or against or into or require:
            raise PpdmError("a study is audited as a whole: --html and --json alone", code="usage")
        with opened(database, wait) as owner:
            run_study_audit(owner, study, pages, internal)
        return
    if len(releases) > 1 and (pages or into):
        raise PpdmError("a report is of one release: name one", code="usage")
    wanted = Wanted(together_with, against, into, pages, require, internal)
    with opened(database, wait) as owner:
        run_audits(owner, releases, wanted)


@cli.command(short_help="Print a script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print what makes SHELL complete commands and options.

    \b
    eval "$(ppdm completion bash)"          in ~/.bashrc
    eval "$(ppdm completion zsh)"           in ~/.zshrc
    ppdm completion fish | source           in ~/.config/fish/config.fish
    """  # noqa: D301 - as above
    made = get_completion_class(shell)
    assert made is not None  # one of the shells that click knows
    click.echo(made(cli, {}, "ppdm", "_PPDM_COMPLETE").source())
