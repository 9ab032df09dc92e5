"""`ppdm demo`: a clinic releases its patients; a first try, its audit, a better release, its audit."""

from __future__ import annotations

import os
import tempfile
import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ppdm_sql
from ppdm_sql import PpdmError, PrivacyWarning
from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.cli.output import print_result, print_table

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.owner import Owner

_FIRST, _BETTER = "drafts.patients", "research.patients"
_BOTH = """
WITH original AS (
    SELECT diagnosis, count(*) AS patients, avg(stay_days) AS stay, avg(income) AS income
    FROM clinic.patients GROUP BY ALL
), released AS (
    SELECT diagnosis, count(*) AS patients, avg(stay_days) AS stay, avg(income) AS income
    FROM research.patients GROUP BY ALL
)
SELECT diagnosis, o.patients, r.patients AS released, round(o.stay, 2) AS "mean stay",
       round(r.stay, 2) AS "released ", round(o.income) AS "mean income", round(r.income) AS "released  "
FROM original AS o JOIN released AS r USING (diagnosis) ORDER BY o.patients DESC
"""
_SHOWN = "SELECT zip, * FROM research.patients LIMIT 3"
_ASKED = "SELECT sex, count(*) AS patients, round(avg(weight), 1) AS weight FROM research.patients GROUP BY ALL ORDER BY ALL"


def run_demo(patients: int, database: str | None = None) -> None:
    """Run the whole story in memory, where nothing is left behind, or in a new database."""
    if database is not None and os.path.lexists(database):
        raise PpdmError(
            f"'{database}' already exists",
            hint="the demo makes a database of its own: name a new file",
            code="target_taken",
        )
    scripts = _scripts()
    with ppdm_sql.connect(database or ":memory:") as owner:
        generate = scripts.joinpath("patients.sql").read_text(encoding="utf-8")
        schema, table = generate.split(";", maxsplit=1)
        owner.execute(schema)
        owner.execute(table, {"patients": patients})
        _title("The clinic's table, which nobody else may see")
        print_result(owner.execute("FROM clinic.patients LIMIT 3"))
        first = _release(owner, "A first try", scripts, "first.sql", _FIRST)
        better = _release(owner, "A better release", scripts, "release.sql", _BETTER)
        _compare(first, better)
        _title("What analysts see, and the same question to both tables")
        print_result(owner.execute("FROM research.patients LIMIT 3"))
        print_result(owner.execute(_BOTH))
        _publish(owner)
    click.echo(
        "\nPseudonymised is not anonymous: whoever knows much about a person may still find the row."
        "\nWhat undoes each treatment: DESCRIBE RELEASE. What is promised: docs/promises.md."
    )
    if database is not None:
        click.echo(f"\nAll of it is in '{database}': ppdm show --db '{database}'")


def _release(
    owner: Owner, title: str, scripts: Traversable | Path, script: str, name: str
) -> Report:
    """Show a script, run it, attack what it made."""
    _title(f"{title}: {name}")
    text = scripts.joinpath(script).read_text(encoding="utf-8")
    click.echo(text.strip())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the audit says it in numbers
        click.secho(f"\n{owner.execute(text).message}", fg="green")
    report = owner.audit(name)
    click.secho(f"\nAUDIT RELEASE {name}", bold=True)
    for sentence in report.verdict:
        click.echo(sentence)
    return report


def _compare(first: Report, better: Report) -> None:
    _title("Side by side")
    rows = [
        (meaning, *(_share(report, name) for report in (first, better)))
        for meaning, name in (
            ("people alone in what they show", "unique_share"),
            ("the most exposed person is found with a probability of", "prosecutor"),
            ("people found with a probability above 20 %", "at_risk"),
            ("rows found by knowing all other values of a person", "record_linkage"),
        )
    ]
    print_table(("", _FIRST, _BETTER), rows)


def _share(report: Report, name: str) -> str:
    """Return a figure or an attack as a share; 0 where there is none to report."""
    found = [figure.value for figure in report.figures if figure.name == name]
    found += [attack.share for attack in report.attacks if attack.attack == name]
    return percent(float(found[0] or 0)) if found else "-"


def _publish(owner: Owner) -> None:
    _title("The file that analysts get, and the way back")
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.duckdb"
        done = owner.publish(_BETTER, to=study, recipient="University North")
        click.secho(done.message.replace(f"{folder}/", ""), fg="green")
        with ppdm_sql.open_release(study) as opened:
            click.echo(f"an analyst asks: {_ASKED}")
            print_table(("sex", "patients", "weight"), opened.sql(_ASKED).fetchall())
    zip_code = owner.execute(_SHOWN).fetchall()[0][0]
    found = f"zip = '{zip_code}' AND diagnosis = 'Flu'"
    click.echo(f"the analyst finds        {found}")
    click.echo(f"the owner reads it as    {owner.interpret(_BETTER, found)}")


def _title(text: str) -> None:
    click.echo()
    click.secho(f"── {text} ", bold=True)


def _scripts() -> Traversable | Path:
    """Return the folder of demo scripts: beside the package in a checkout, inside it in a wheel."""
    shipped = files("ppdm_sql").joinpath("_demo")
    if shipped.is_dir():
        return shipped
    return Path(str(files("ppdm_sql"))).parent / "demo"
