"""`ppdm demo`: a clinic releases its patients; what the owner keeps, what an analyst sees."""

from __future__ import annotations

import os
import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import ppdm_sql
from ppdm_sql import PpdmError, PrivacyWarning
from ppdm_sql.audit.attacks.protocol import Needs
from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.audit.report.verdict import strongest
from ppdm_sql.cli.output import print_result, print_table

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ppdm_sql.owner import Owner

_BEFORE_AND_AFTER = """
SELECT corr(o.age, r.age) AS age, corr(o.weight, r.weight) AS weight,
       corr(o.income, r.income) AS income
FROM clinic.patients AS o POSITIONAL JOIN research.patients AS r
"""
_STAYS = """
SELECT diagnosis, count(*) AS patients, round(avg(stay_days), 2) AS mean_stay,
       round(corr(age, income), 4) AS corr_age_income
FROM query_table($table) GROUP BY ALL ORDER BY patients DESC, mean_stay
"""
_COMPARED = """
WITH pairs AS (
    UNPIVOT (SELECT income::DOUBLE AS x, COLUMNS(r.* EXCLUDE (patient_id))::DOUBLE
             FROM clinic.patients JOIN research.incomes AS r USING (patient_id))
    ON COLUMNS(* EXCLUDE (x)) INTO NAME treatment VALUE y
)
SELECT treatment, round(corr(x, y), 6) AS correlation,
       round(var_pop(x - y) / var_pop(x), 6) AS "Var(x-y)/Var(x)",
       round(100 * avg((x <> y)::INTEGER), 1) AS "changed %",
       round(avg(x), 2) AS mean_before, round(avg(y), 2) AS mean_after
FROM pairs GROUP BY treatment ORDER BY list_position($order, treatment)
"""
_GENERALIZED = """
SELECT zip, age, sex, diagnosis, count(*) AS patients FROM research.delicate
WHERE contains(zip, '*') GROUP BY ALL ORDER BY ALL LIMIT 6
"""
_ORDER = ["graded", "digits", "translated", "scaled", "noised", "mean_noised", "aggregated"]
_MAPPING = """
SELECT m.original AS "the owner knows", m.released AS "analysts see"
FROM ppdm_owner.r1_v1_t6_0_aliases AS m ORDER BY 1
"""


def run_demo(patients: int, database: str | None = None) -> None:
    """Run the whole story in memory, where nothing is left behind, or in a new database."""
    if database is not None and os.path.lexists(database):
        raise PpdmError(
            f"'{database}' is there already",
            hint="the demo makes a database of its own: name a file that is missing",
            code="target_taken",
        )
    scripts = _scripts()
    with ppdm_sql.connect(database or ":memory:") as owner:
        generate = scripts.joinpath("patients.sql").read_text(encoding="utf-8")
        schema, table = generate.split(";", maxsplit=1)
        owner.execute(schema)
        owner.execute(table, {"patients": patients})
        _tell(owner, scripts.joinpath("release.sql").read_text(encoding="utf-8"))
        _group(owner, scripts.joinpath("groups.sql").read_text(encoding="utf-8"))
        _compare(owner, scripts.joinpath("incomes.sql").read_text(encoding="utf-8"))
        _audit(owner)
        _say_what_is_not_protected()
    if database is not None:
        click.echo(f"\nAll of it is in '{database}': ppdm show --db '{database}'")


def _tell(owner: Owner, release: str) -> None:
    _title("The clinic's table, which nobody else may see")
    _show(owner, "FROM clinic.patients LIMIT 5")

    _title("The owner's script")
    click.echo(release.strip())
    click.echo()
    click.secho(owner.execute(release).message, fg="green")

    _title("What analysts see: plain SQL on research.patients")
    _show(owner, "FROM research.patients LIMIT 5")

    _title("What each treatment leaves to be undone: the release says it itself")
    columns = ("column", "role", "treatment", "undone_by")
    described = owner.describe("research.patients")
    print_table(columns, [[getattr(info, name) for name in columns] for info in described])

    _title("Correlation of every released number with its original, row by row")
    _show(owner, _BEFORE_AND_AFTER)

    _title("The same question to both: how long do patients stay?")
    click.echo("on the original:")
    _show(owner, _STAYS, {"table": "clinic.patients"})
    click.echo("on the release, by whoever may not know the illness:")
    _show(owner, _STAYS, {"table": "research.patients"})

    _title("What the owner keeps (schema ppdm_owner): the mapping, the bands, the keys")
    _show(owner, _MAPPING)

    _title("The view's own text holds no secret")
    sql = owner.explain("research.patients")
    click.echo("\n".join(sql.splitlines()[-6:]))


def _group(owner: Owner, release: str) -> None:
    _title("Groups: no patient with a delicate illness stands alone")
    click.echo(release.strip())
    click.echo()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PrivacyWarning)
        click.secho(owner.execute(release).message, fg="green")
    for warning in told:
        click.secho(f"warning: {warning.message}", fg="yellow")
    _show(owner, _GENERALIZED)
    figures = [(f.figure, f.value, f.note) for f in owner.figures("research.delicate")]
    print_table(("figure", "value", "note"), figures)


def _compare(owner: Owner, release: str) -> None:
    _title("One column, seven treatments")
    click.echo(release.strip())
    click.echo()
    click.secho(owner.execute(release).message, fg="green")
    _show(owner, _COMPARED, {"order": _ORDER})
    (aggregated,) = (
        info for info in owner.describe("research.incomes") if info.column == "aggregated"
    )
    click.echo(f"aggregated: {aggregated.note}")


def _audit(owner: Owner) -> None:
    _title("The owner attacks the release: AUDIT RELEASE research.patients")
    report = owner.audit("research.patients")
    for sentence in report.verdict:
        click.echo(sentence)
    rows = []
    for needs in Needs:
        attacks = [attack for attack in report.attacks if attack.needs is needs]
        place = strongest(attacks)
        if place is not None:
            a = attacks[place]
            rows.append((needs.value, a.attack, a.target, percent(a.share), percent(a.chance)))
    print_table(("who has", "attack", "on", "gets", "guessing"), rows)


def _say_what_is_not_protected() -> None:
    click.echo()
    click.echo(
        "Pseudonymised is not anonymous: age bands and sex still single people out, and whoever\n"
        "knows two people's weights in a band can compute the others. `undone_by` above says how."
    )


def _show(owner: Owner, query: str, parameters: dict[str, Any] | None = None) -> None:
    print_result(owner.execute(query, parameters))


def _title(text: str) -> None:
    click.echo()
    click.secho(f"── {text} ", bold=True)


def _scripts() -> Traversable | Path:
    """Return the folder of demo scripts: beside the package in a checkout, inside it in a wheel."""
    shipped = files("ppdm_sql").joinpath("_demo")
    if shipped.is_dir():
        return shipped
    return Path(str(files("ppdm_sql"))).parent / "demo"
