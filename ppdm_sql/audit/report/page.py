"""An audit as one HTML file: nothing fetched, nothing run, readable on paper."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.audit.measure.pictures import WITHOUT
from ppdm_sql.audit.report.overview import overview
from ppdm_sql.audit.report.small_counts import SMALL
from ppdm_sql.audit.report.svg import AFTER, BEFORE, RISK, Bar, Dot, bars, scatter
from ppdm_sql.audit.report.verdict import CAVEAT, MARGIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.measure.pictures import Distribution
    from ppdm_sql.audit.report.model import ClassSizes, ColumnReport, Report

_ROUNDED = (
    "Figures are rounded so that they disclose nobody: counts of people up to a multiple"
    " of 5, results of attacks up to a multiple of 5 %. Requirements are judged by the exact ones."
)
_SEEN = 0.005
"""A smaller share of rows is not drawn."""


def style() -> str:
    """Return the style of a page, as it stands in its head."""
    _, _, rest = _page().partition("<style>")
    return f"<style>{rest.partition('</style>')[0]}</style>"


def _page() -> str:
    return files("ppdm_sql.audit.report").joinpath("page.html").read_text(encoding="utf-8")


def to_html(report: Report) -> str:
    """Return a report as one page."""
    page = _page()
    stamp = report.stamp
    return Template(page).substitute(
        title=escape(f"Audit of {stamp.release}, version {stamp.version}"),
        release=escape(stamp.release),
        version=stamp.version,
        rows=_rows(report),
        against=f" · against {escape(stamp.against)}" if stamp.against else "",
        date=f"{stamp.audited_at:%Y-%m-%d %H:%M} UTC",
        internal=" · <b class=hot>internal: for the owner only</b>" if report.is_internal else "",
        verdict="".join(f"<p>{escape(sentence)}</p>" for sentence in report.verdict),
        caveat=escape(CAVEAT),
        requirements=_requirements(report),
        scatter=_scatter(report.columns),
        classes=_classes(report.class_sizes),
        singling=_singling(report),
        overview=_overview(report),
        attacks=_attacks(report.attacks),
        columns="".join(_card(column) for column in report.columns),
        risks=_figures(report, "risk"),
        costs=_figures(report, "utility"),
        withheld=_withheld(report),
        rounded="" if report.is_internal else _ROUNDED,
        script=escape(report.script),
        stamp=_stamp(report),
        small=SMALL,
    )


def _requirements(report: Report) -> str:
    if not report.outcomes:
        return ""
    rows = [
        [
            escape(outcome.requirement),
            "<td>met</td>" if outcome.is_met else '<td class="hot">NOT met</td>',
            escape(outcome.sentence),
        ]
        for outcome in report.outcomes
    ]
    return "<h2>Requirements</h2>" + table_of(["required", "", "found"], rows, set())


def _scatter(columns: Sequence[ColumnReport]) -> str:
    dots = [Dot(c.utility, c.risk, c.name, c.is_kept) for c in columns if c.utility is not None]
    title = "risk and utility of each column"
    return scatter(title, "what it keeps", "what an attacker gets back", dots)


def _classes(sizes: Sequence[ClassSizes]) -> str:
    floor = float(SMALL)
    values = [
        Bar(
            floor if size.persons is None else float(size.persons),
            _range(size),
            "not shown" if size.persons is None else f"{size.persons:,}",
            size.persons is None,
        )
        for size in sizes
    ]
    return bars("people by the size of their class", values, RISK, 680, 200)


def _range(size: ClassSizes) -> str:
    if size.most is None:
        return f"≥ {size.least:,}"
    return f"{size.least}" if size.least == size.most else f"{size.least}-{size.most}"


def _singling(report: Report) -> str:
    if not report.singling:
        return "<p>No column and no set of up to three QUASI columns makes a row unique.</p>"
    rows = [
        [escape(", ".join(one.columns)), _number(percent(one.unique_share))]
        for one in report.singling
    ]
    who = "people" if report.stamp.persons is not None else "rows"
    return (
        "<p>Which columns single people out: who is alone in what these columns show.</p>"
        + table_of(["columns", f"{who} that nobody else looks like"], rows, {1})
    )


def _overview(report: Report) -> str:
    if not report.attacks:
        return ""
    seen = overview(report.attacks, report.columns)
    head = ["whoever knows", *(needs.value for needs in seen.knowledge)]
    rows = []
    for line in seen.lines:
        if line.column is not None and line.column.is_kept:
            cells = [f'<td class="h4" colspan="{len(seen.knowledge)}">released unchanged</td>']
        else:
            cells = [_heat(found) for found in line.strongest]
        rows.append(
            [escape("whose row it is" if line.column is None else line.column.name), *cells]
        )
    return table_of(head, rows, set(), "grid") + (
        '<p class="note">The most that an attack got of a column, by what it needs: of its values,'
        " or of the variance of its noise. The darker, the more beyond guessing; —: no attack"
        " applies. Below, every attack by itself.</p>"
    )


def _heat(found: Finding | None) -> str:
    if found is None:
        return "<td>—</td>"
    if not found.gain > MARGIN:
        return "<td>no gain</td>"
    return f'<td class="h{min(1 + int(found.gain * 4), 4)}">{escape(percent(found.share))}</td>'


def _attacks(attacks: Sequence[Finding]) -> str:
    if not attacks:
        return "<p>No attack applies.</p>"
    rows = []
    for (name, knowledge), group in groupby(attacks, key=lambda one: (one.attack, one.knowledge)):
        findings = list(group)
        # What an attack is called and needs stands once, beside everything it was tried on.
        span = f' rowspan="{len(findings)}"' if len(findings) > 1 else ""
        for index, found in enumerate(findings):
            cells = [
                f'<td class="o">{escape(found.target or "the release")}</td>',
                _number(percent(found.share), found.gain > MARGIN),
                _number(percent(found.chance)),
                escape(found.sentence),
            ]
            if index == 0:
                broken = escape(name).replace("_", "_<wbr>")  # where a narrow page may break it
                cells.insert(0, f'<td class="w"{span}>{broken}</td>')
                cells.insert(4, f'<td class="k"{span}>{escape(knowledge)}</td>')
            rows.append(cells)
    head = ["attack", "on", "gets", "guessing", "needs", "result"]
    return table_of(head, rows, {2, 3}, hidden={4})


def _card(column: ColumnReport) -> str:
    return (
        f'<div class="card"><h3>{escape(column.name)}</h3>'
        f"<p>{escape(column.role)} · {escape(column.treatment)}</p><div class=pair>"
        f"<div>{_shape(f'{column.name}: original distribution', column.before, BEFORE)}<span>original</span></div>"
        f"<div>{_shape(f'{column.name}: released distribution', column.after, AFTER)}<span>released</span></div>"
        "</div></div>"
    )


def _shape(title: str, shown: Distribution, color: str) -> str:
    if shown == WITHOUT:
        return '<p class="without">for the owner alone</p>'
    values = [Bar(bar or 0.0) for bar in shown.bars]
    if shown.hidden > _SEEN and shown.kind == "categories":
        # As high as the tallest at most: many rare values are not one frequent value.
        most = max((bar.height for bar in values), default=0.0) or 1.0
        values.append(Bar(min(shown.hidden, most), is_hidden=True))
    return bars(title, values, color, 150, 70)


def _figures(report: Report, part: str) -> str:
    rows = [
        [
            f'<td class="w">{escape(figure.name)}</td>',
            escape(figure.about) or '<td class="w">the release</td>',
            _number("—" if figure.value is None else f"{figure.value:.6g}"),
            escape(figure.sentence),
        ]
        for figure in report.figures
        if figure.part == part and not figure.is_withheld
    ]
    return table_of(["figure", "of", "value", "meaning"], rows, {2})


def _withheld(report: Report) -> str:
    """Name what was measured and is not told, and what was not measured."""
    text = ""
    owners: dict[str, dict[str, None]] = {}
    for figure in report.figures:
        if figure.is_withheld:
            owners.setdefault(figure.name, {})[figure.about or "the release"] = None
    if owners:
        named = "; ".join(f"{name} of {', '.join(about)}" for name, about in owners.items())
        text = (
            "<p>For the owner alone, because with the released rows they would disclose a parameter or"
            f" a small count: {escape(named)}.</p>"
        )
    if report.left_out:
        text += f"<p>Left out: {escape('; '.join(report.left_out))}.</p>"
    return text


def _rows(report: Report) -> str:
    """Say how much was released, and how much was not."""
    stamp = report.stamp
    text = f"{stamp.rows:,} rows"
    if stamp.persons is not None:
        text += f" of {stamp.persons:,} persons"
    suppressed = report.values("suppressed").get("")
    return f"{text} · {percent(suppressed)} suppressed" if suppressed else text


def _stamp(report: Report) -> str:
    stamp = report.stamp
    entries = [
        ("release", f"{stamp.release}, version {stamp.version}"),
        ("released", _rows(report)),
        ("sample", f"{stamp.sampled:,} rows for attacks and mining, drawn with seed {stamp.seed}"),
        ("background", stamp.against or "none"),
        ("together with", stamp.together_with or "what was published of the same rows"),
        ("accepted", stamp.accepted or "nothing"),
        ("software", ", ".join(f"{name} {version}" for name, version in stamp.software)),
        ("script", f"SHA-256 {stamp.script_sha256}"),
    ]
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries)
    return f"<dl>{items}</dl>"


def _number(text: str, is_hot: bool = False) -> str:
    return f'<td class="n{" hot" if is_hot else ""}">{escape(text)}</td>'


def table_of(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: set[int],
    style: str = "",
    hidden: set[int] | None = None,
) -> str:
    """Return a table of a page; a cell that is already one stays as it is."""
    classes = dict.fromkeys(numbers, "n") | dict.fromkeys(hidden or set(), "k")
    titles = "".join(
        f'<th class="{classes.get(index, "")}">{escape(title)}</th>'
        for index, title in enumerate(head)
    )
    body = "".join(
        "<tr>"
        + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return f'<table class="{style}"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
