"""AUDIT STUDY: each release by itself, and what all tables together give away, in one report."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.audit.report.document import to_json as release_json
from ppdm_sql.audit.report.files import check_file, written_beside
from ppdm_sql.audit.report.page import style, table_of
from ppdm_sql.audit.report.page import to_html as release_html
from ppdm_sql.audit.report.small_counts import coarse_share, round_to_steps
from ppdm_sql.audit.run import audit_release
from ppdm_sql.delivery.outside_file import refuse_in_transaction
from ppdm_sql.engine.result import Result
from ppdm_sql.errors import Refused
from ppdm_sql.language.syntax import AuditRelease
from ppdm_sql.publish.snapshot import frozen_source, taken
from ppdm_sql.studies.leaving_out import LeavingOut
from ppdm_sql.studies.measure import ATTACK, RISK, UTILITY, Measuring
from ppdm_sql.studies.persons import persons_of
from ppdm_sql.studies.study import open_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.measure.figure import Figure
    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.language.syntax import AuditStudy
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.studies.study import Study

_SCHEMA = pa.schema(
    {
        "part": pa.string(),
        "figure": pa.string(),
        "about": pa.string(),
        "value": pa.float64(),
        "sentence": pa.string(),
    }
)
_PARTS = {
    RISK: "What the tables show together",
    ATTACK: "What attackers get",
    UTILITY: "What it costs",
}
_CAVEAT = (
    "Measured on the rows of today, as they would be published now. An attack that finds nothing"
    " proves nothing about attacks that were not tried."
)


@dataclass(frozen=True, slots=True)
class StudyReport:
    """An audit of a study."""

    study: str
    audited_at: datetime
    persons: int
    verdict: tuple[str, ...]
    figures: tuple[Figure, ...]
    releases: tuple[Report, ...] = field(repr=False)
    """Each release by itself."""
    is_internal: bool = False

    def __repr__(self) -> str:
        return "\n".join(self.verdict)

    def values(self, name: str) -> dict[str, float | None]:
        """Return every value of a figure, by what it is about."""
        return {one.about: one.value for one in self.figures if one.name == name}

    def table(self) -> pa.Table:
        """Return what was measured as a table."""
        rows = [
            {
                "part": one.part,
                "figure": one.name,
                "about": one.about,
                "value": one.value,
                "sentence": one.sentence,
            }
            for one in self.figures
        ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    def to_json(self) -> str:
        """Return the report as JSON."""
        figures = [asdict(one) for one in self.figures]
        for one in figures:
            del one["is_owners"], one["is_withheld"]
        document = {
            "format": 1,
            "study": self.study,
            "audited_at": self.audited_at.isoformat(),
            "persons": self.persons,
            "verdict": list(self.verdict),
            "figures": figures,
            "releases": [json.loads(release_json(one)) for one in self.releases],
        }
        return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """Return the report as one page: the study first, each release folded below it."""
        parts = "".join(
            f"<h2>{escape(title)}</h2>{_table(one for one in self.figures if one.part == part)}"
            for part, title in _PARTS.items()
        )
        title = escape(f"Audit of study {self.study}")
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.verdict)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
            " style-src 'unsafe-inline'; img-src data:; frame-src 'self'\">"
            f"<title>{title}</title>{style()}<style>iframe {{ width: 100%; height: 80vh; border: 1px"
            " solid var(--line); } details { margin: .8rem 0; } summary { cursor: pointer; }</style>"
            f'</head><body><h1>{title}</h1><p class="under">{self.persons:,} persons ·'
            f" {self.audited_at:%Y-%m-%d %H:%M} UTC</p>"
            f'<section class="verdict">{said}</section><p class="caveat">{escape(_CAVEAT)}</p>'
            f"{parts}<h2>Each release by itself</h2>{''.join(map(_folded, self.releases))}"
            "</body></html>\n"
        )


def audit_study(
    releases: Releases,
    statement: AuditStudy,
    paths: Sequence[Path] = (),
    is_internal: bool = False,
) -> StudyReport:
    """Audit a study, and write the report where it is wanted."""
    if statement.path is not None:
        paths = [*paths, Path(statement.path)]
    for path in paths:
        check_file(path, statement.path_span)
    if paths:
        refuse_in_transaction(releases.engine, "AUDIT to a file", statement.span)
    study = open_study(releases, statement.name, statement.span)
    releases.on_stage("putting the tables together")
    figures, persons, notes = _measured(releases, study, statement)
    reports = []
    for version in study.versions:
        releases.on_stage(f"auditing {version.entry.name}")
        one = AuditRelease(version.entry.name, span=statement.span)
        reports.append(audit_release(releases, one, is_internal))
    shown = tuple(figures if is_internal else map(_disclosed, figures))
    report = StudyReport(
        study.name.text,
        datetime.now(UTC).replace(microsecond=0),
        persons,
        tuple(_verdict(shown, study, notes)),
        shown,
        tuple(reports),
        is_internal,
    )
    with written_beside(report, paths, statement.path_span):
        return report


def study_result(report: StudyReport, statement: AuditStudy) -> Result:
    """Return an audit as a statement answers it."""
    wrote = [] if statement.path is None else [f"wrote {statement.path}"]
    hint = "TO 'report.html' has each release, too"
    return Result(report.table(), "\n".join((*report.verdict, *wrote)), hint=hint)


def _measured(
    releases: Releases, study: Study, statement: AuditStudy
) -> tuple[list[Figure], int, list[str]]:
    """Measure what would go out; where nothing may, what the tables show without leaving anybody out."""
    for is_settled in (True, False):
        leaving_out = LeavingOut(study, releases.keys, statement.span)
        with releases.engine.transaction(), ExitStack() as stack:
            snapshots: list[Snapshot] = []
            for version in study.versions:
                fixed = stack.enter_context(frozen_source(version))
                snapshots.append(stack.enter_context(taken(fixed, leaving_out.carried(fixed))))
            notes: list[str] = []
            if is_settled:
                try:
                    notes += leaving_out.settle(snapshots).notes
                except Refused as error:
                    refusal = error.what
                    continue
            else:
                notes.append(
                    f"it cannot be published as it is ({refusal}), so that the figures are those of all rows,"
                    " with nobody left out"
                )
            persons = persons_of(snapshots)
            return list(Measuring(study, snapshots, persons).figures()), persons, notes
    raise AssertionError  # the second round always returns


def _verdict(figures: Sequence[Figure], study: Study, notes: Sequence[str]) -> list[str]:
    found = {(one.name, one.about): one.value for one in figures}
    k = int(found["k_study", ""] or 0)
    shared = (
        "somebody is alone in what all tables show of them"
        if k == 1
        else f"everybody shares what all tables show of them with at least {k - 1} others"
    )
    found_share = found["unique_study", ""] or 0
    whole = f"{shared[0].upper()}{shared[1:]}"
    said = [f"{whole}: by all of it, {found_share:.2%} of the persons are found."]
    tables = {
        str(version.entry.name): found.get(("unique_without", str(version.entry.name)))
        for version in study.versions
    }
    known = {name: value for name, value in tables.items() if value is not None}
    if known and found_share > 0:
        least = min(known.values())
        names = [name for name, value in known.items() if value == least]
        which, one = " and ".join(names), " one of them" if len(names) > 1 else " it"
        verb = "give" if len(names) > 1 else "gives"
        said.append(f"{which} {verb} most people away: without{one}, {least:.2%} are found.")
    attacks = [one for one in figures if one.part == ATTACK and one.value]
    if attacks:
        most = max(attacks, key=lambda one: one.value or 0)
        said.append(
            f"The strongest attack over joins is {most.name}: {most.value:.2%}, {most.sentence}."
        )
    return [*said, *(f"{note[0].upper()}{note[1:]}." for note in notes)]


def _disclosed(figure: Figure) -> Figure:
    """Return a figure as others may see it: no count below five can be worked out of it."""
    if figure.of is not None and figure.value is not None:
        return replace(figure, value=coarse_share(figure.value, figure.of))
    if figure.name == "one_row" and figure.value is not None:
        return replace(figure, value=round_to_steps(figure.value, 20))
    return figure


def _table(figures: object) -> str:
    assert hasattr(figures, "__iter__")
    rows = [
        [
            f'<td class="w">{escape(one.name)}</td>',
            escape(one.about) or '<td class="w">all tables</td>',
            f'<td class="n">{_shown(one)}</td>',
            escape(one.sentence),
        ]
        for one in figures
    ]
    return table_of(["figure", "of", "value", "meaning"], rows, {2})


def _shown(figure: Figure) -> str:
    if figure.value is None:
        return "—"
    return f"{figure.value:.0f}" if figure.name.startswith("k_") else f"{figure.value:.2%}"


def _folded(report: Report) -> str:
    name = escape(report.stamp.release)
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in report.verdict)
    page = escape(release_html(report), quote=True)
    return (
        f"<h3>{name}</h3>{said}<details><summary>the whole report of {name}</summary>"
        f'<iframe title="Audit of {name}" sandbox srcdoc="{page}"></iframe></details>'
    )
