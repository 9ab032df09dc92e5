"""`ppdm audit`: the verdict on a terminal, the report in files, an exit status for CI."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ppdm_sql.cli import output
from ppdm_sql.cli.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.owner import Owner

UNMET = 3
"""The exit status when a requirement is not met."""
_DIGITS = 4
"""Of figures for people; the files have all."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked of an audit."""

    together_with: tuple[str, ...]
    against: str | None
    into: str | None
    pages: tuple[str, ...]
    require: str | None
    is_internal: bool


def run_audits(owner: Owner, releases: Sequence[str], wanted: Wanted) -> None:
    """Audit releases, write and print what was asked for, exit 3 where a requirement is unmet."""
    from ppdm_sql.audit.report.document import to_json
    from ppdm_sql.audit.report.files import written_to
    from ppdm_sql.audit.report.tables import figures_table

    is_unmet = False
    with show_progress(owner) as bar:
        for release in releases:
            report = owner.audit(
                release,
                together_with=wanted.together_with,
                against=wanted.against,
                into=wanted.into,
                to=wanted.pages,
                require=wanted.require,
                is_internal=wanted.is_internal,
            )
            is_unmet |= not all(outcome.is_met for outcome in report.outcomes)
            with bar.paused():
                if output.is_for_people():
                    if len(releases) > 1:
                        click.secho(f"── {release}", bold=True)
                    _print(report)
                elif output.is_json():
                    click.echo(to_json(report))
                else:
                    output.print_translated(figures_table(report))
                for line in written_to(wanted.into, *wanted.pages):
                    output.print_note("note", line)
    if is_unmet:
        sys.exit(UNMET)


def run_study_audit(owner: Owner, study: str, pages: Sequence[str], is_internal: bool) -> None:
    """Audit a study, write and print what was asked for."""
    from ppdm_sql.audit.report.files import written_to

    with show_progress(owner) as bar:
        report = owner.audit_study(study, to=pages, is_internal=is_internal)
        with bar.paused():
            if output.is_json():
                click.echo(report.to_json())
            else:
                if output.is_for_people():
                    for sentence in report.verdict:
                        click.echo(sentence)
                output.print_translated(report.table())
            for line in written_to(None, *pages):
                output.print_note("note", line)


def _print(report: Report) -> None:
    for sentence in report.verdict:
        click.echo(sentence)
    risks = [(f.name, f.about, f.value, f.sentence) for f in report.figures if f.part == "risk"]
    output.print_table(["risk", "of", "value", "meaning"], risks, digits=_DIGITS)
    columns = [(c.name, c.role, c.treatment, c.utility, c.risk) for c in report.columns]
    output.print_table(
        ["column", "role", "treatment", "keeps", "attacker gets"], columns, digits=_DIGITS
    )
    if report.attacks:
        attacks = [(a.attack, a.target, a.share, a.chance, a.sentence) for a in report.attacks]
        output.print_table(["attack", "on", "share", "guessing", "result"], attacks, digits=_DIGITS)
    for reason in report.left_out:
        click.echo(f"left out: {reason}")
    for outcome in report.outcomes:
        word = "met" if outcome.is_met else "NOT met"
        click.echo(f"{outcome.requirement}: {word}: {outcome.sentence}")
