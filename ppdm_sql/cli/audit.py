"""`ppdm audit`: the verdict on a terminal, the report in files, an exit status for CI."""

from __future__ import annotations

import sys
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


def run_audit(
    owner: Owner,
    release: str,
    together_with: Sequence[str],
    against: str | None,
    into: str | None,
    pages: Sequence[str],
    require: str | None,
    is_internal: bool,
) -> None:
    """Audit a release, write and print what was asked for, exit 3 where a requirement is unmet."""
    from ppdm_sql.audit.report.files import written_to

    with show_progress(owner) as bar:
        report = owner.audit(
            release,
            together_with=together_with,
            against=against,
            into=into,
            to=pages,
            require=require,
            is_internal=is_internal,
        )
        with bar.paused():
            _print(report)
            for line in written_to(into, *pages):
                output.print_note(line)
    if not all(outcome.is_met for outcome in report.outcomes):
        sys.exit(UNMET)


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
