"""A report as others may see it: counts rounded, small ones hidden, few digits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.audit.small import coarse_share, few_digits, hide_small, round_up
from ppdm_sql.audit.verdict import strongest, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.figures import Figure
    from ppdm_sql.audit.pictures import Distribution
    from ppdm_sql.audit.report import ClassSizes, ColumnReport, Report
    from ppdm_sql.audit.singling import ColumnSet


def disclosed(report: Report) -> Report:
    """Return a report that may be handed on; which attack is the strongest stays as it was found."""
    figures = tuple(_figure(figure) for figure in report.figures)
    attacks = tuple(_attack(attack) for attack in report.attacks)
    columns = tuple(_column(column, report.stamp.rows) for column in report.columns)
    worst = strongest(report.attacks)
    return replace(
        report,
        figures=figures,
        attacks=attacks,
        columns=columns,
        verdict=verdict(figures, attacks, columns, worst),
        class_sizes=_sizes(report.class_sizes),
        singling=tuple(_set(one, report.stamp.rows) for one in report.singling),
    )


def _figure(figure: Figure) -> Figure:
    value = figure.value
    if value is None or isinstance(value, int):
        return figure
    if figure.of is not None:
        value = coarse_share(value, figure.of)
    # Of how many it is a share can be a small count itself: of the high class, of NULLs.
    return replace(figure, value=few_digits(value), of=None)


def _attack(attack: Finding) -> Finding:
    share, chance = attack.share, attack.chance
    if attack.of is not None:
        share, chance = coarse_share(share, attack.of), coarse_share(chance, attack.of)
    return replace(attack, share=few_digits(share), chance=few_digits(chance))


def _column(column: ColumnReport, rows: int) -> ColumnReport:
    return replace(
        column,
        before=_distribution(column.before, rows),
        after=_distribution(column.after, rows),
        utility=None if column.utility is None else few_digits(column.utility),
        risk=few_digits(coarse_share(column.risk, rows)),
    )


def _distribution(shown: Distribution, rows: int) -> Distribution:
    bars = tuple(None if b is None else few_digits(coarse_share(b, rows)) for b in shown.bars)
    return replace(shown, bars=bars, hidden=few_digits(coarse_share(shown.hidden, rows)))


def _sizes(sizes: Sequence[ClassSizes]) -> tuple[ClassSizes, ...]:
    counts = [size.persons or 0 for size in sizes]
    total = sum(counts)
    return tuple(
        replace(size, persons=None if shown is None else round_up(shown, total))
        for size, shown in zip(sizes, hide_small(counts), strict=True)
    )


def _set(one: ColumnSet, rows: int) -> ColumnSet:
    return replace(one, unique_share=few_digits(coarse_share(one.unique_share, rows)))
