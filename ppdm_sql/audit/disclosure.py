"""A report as others may see it: no small count, no parameter, not even by working them out.

Whoever has the report has the released rows as well. A figure that compares them with originals in
common units is then an equation: the drift of a mean is the constant of a translation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.audit.small import coarse_share, few_digits, hide_small, round_to_steps, round_up
from ppdm_sql.audit.verdict import MARGIN, strongest, verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.figures import Figure
    from ppdm_sql.audit.pictures import Distribution
    from ppdm_sql.audit.report import ClassSizes, ColumnReport, Report, Stamp
    from ppdm_sql.audit.singling import ColumnSet

_WITHOUT_SECRET = frozenset(
    {
        "",
        "keep",
        "suppress",
        "generalize",
        "mapping",
        "pseudonym",
        "bit_plus",
        "bit_minus",
        "microaggregation",
    }
)
"""Treatments without a number that figures could tell; every other one is taken to have one."""
_OF_COLUMN = frozenset({"sec", "mean_drift", "quantile_drift", "ks", "wasserstein", "js"})
_OF_TABLE = frozenset({"il1s", "covariance", "eigenvalues", "correlations"})
"""Figures in units of originals and of released values at once."""
_OF_CLASSES = frozenset({"discernibility", "average_class"})
"""Sums over all classes: with four digits they tell the sizes of few."""
WITHHELD = "; for the owner alone, because it would tell a parameter"
_TWENTIETHS, _TENTHS = 20, 10


def disclosed(report: Report) -> Report:
    """Return a report that may be handed on; which attack is the strongest stays as it was found."""
    secret = {
        column.name
        for column in report.columns
        if not set(column.treatment.split(" then ")) <= _WITHOUT_SECRET
    }
    figures = tuple(_figure(figure, secret) for figure in report.figures)
    attacks = tuple(_attack(attack) for attack in report.attacks)
    columns = tuple(_column(column, report.stamp.rows) for column in report.columns)
    worst = strongest(report.attacks)
    people = report.stamp.rows if report.stamp.persons is None else report.stamp.persons
    return replace(
        report,
        stamp=_stamp(report.stamp),
        figures=figures,
        attacks=attacks,
        columns=columns,
        verdict=verdict(figures, attacks, columns, worst),
        class_sizes=_sizes(report.class_sizes),
        singling=tuple(_set(one, people) for one in report.singling),
    )


def _figure(figure: Figure, secret: Collection[str]) -> Figure:
    value = figure.value
    if (figure.name in _OF_COLUMN and figure.about in secret) or (
        figure.name in _OF_TABLE and secret
    ):
        return replace(figure, value=None, sentence=figure.sentence + WITHHELD)
    if value is None or isinstance(value, int):
        return figure
    if figure.of is not None:
        value = coarse_share(value, figure.of)
    if figure.name == "correlation" and figure.about in secret:
        value = round(value * _TENTHS) / _TENTHS
    digits = 2 if figure.name in _OF_CLASSES else 4
    # Of how many it is a share can be a small count itself: of the high class, of NULLs.
    return replace(figure, value=few_digits(value, digits), of=None)


def _attack(attack: Finding) -> Finding:
    # How often a guess is right within 1 % tells how large the noise is, if it is told exactly;
    # so does what shrinking to the mean takes away of it.
    share = round_to_steps(attack.share, _TWENTIETHS)
    chance = few_digits(attack.chance, 2)
    if attack.of is None:
        chance = round_to_steps(attack.chance, _TWENTIETHS)
    if attack.share <= attack.chance + MARGIN:
        share = min(share, chance)  # rounding must not look like a gain
    return replace(attack, share=share, chance=chance, of=None)


def _column(column: ColumnReport, rows: int) -> ColumnReport:
    utility = column.utility
    return replace(
        column,
        before=_distribution(column.before, rows),
        after=_distribution(column.after, rows),
        utility=None if utility is None else round(utility * _TENTHS) / _TENTHS,
        risk=round_to_steps(column.risk, _TWENTIETHS),
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


def _set(one: ColumnSet, people: int) -> ColumnSet:
    return replace(one, unique_share=few_digits(coarse_share(one.unique_share, people)))


def _stamp(stamp: Stamp) -> Stamp:
    if stamp.persons is None:
        return stamp
    return replace(stamp, persons=round_up(stamp.persons, stamp.rows))
