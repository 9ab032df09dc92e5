"""A report as others may see it: no small count, no parameter, not even by working them out.

Whoever has the report has the released rows as well. A figure that compares them with originals in
common units is then an equation: the drift of a mean is the constant of a translation.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind
from ppdm_sql.audit.measure.figure import WITHHELD
from ppdm_sql.audit.measure.pictures import WITHOUT
from ppdm_sql.audit.report.small_counts import (
    coarse_share,
    few_digits,
    hide_small,
    round_to_steps,
    round_up,
)
from ppdm_sql.audit.report.verdict import MARGIN, strongest, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.measure.figure import Figure
    from ppdm_sql.audit.measure.pictures import Distribution
    from ppdm_sql.audit.measure.singling_out import ColumnSet
    from ppdm_sql.audit.report.model import ClassSizes, ColumnReport, Report, Stamp
    from ppdm_sql.treatments.traits import Traits

_OF_COLUMN = frozenset({"sec", "mean_drift", "quantile_drift", "ks", "wasserstein", "js"})
_OF_TABLE = frozenset({"il1s", "covariance", "eigenvalues", "correlations"})
"""Figures in units of originals and of released values at once."""
_TWENTIETHS, _TENTHS = 20, 10
_LADDER = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def _up(value: float) -> float:
    return round_to_steps(value, _TWENTIETHS)


def _near(value: float, steps: int = _TWENTIETHS) -> float:
    return round(value * steps) / steps


def _halves(value: float) -> float:
    return math.floor(value * 2 + 1e-9) / 2


def _rung(value: float) -> float:
    """Return the next rung of a ladder; beyond it, how many differ would be a small count."""
    return next((rung for rung in _LADDER if value <= rung), math.inf)


_ROUNDED: dict[str, Callable[[float], float]] = {
    # Of one class: with more digits they tell how many in it differ from the others.
    "t": _up,
    "alpha": _up,
    "entropy_l": _halves,
    "proximity_l": _halves,
    "recursive_c_2": _rung,
    # Of frequencies and of rows that are guessed right: the same.
    "js": _up,
    "association": _near,
    "misclassification": _up,
    "rules": _near,
    "tree_original": _near,
    "tree_released": _near,
    # Sums over all classes tell the sizes of few.
    "discernibility": lambda value: few_digits(value, 2),
    "average_class": lambda value: few_digits(value, 2),
}
"""How figures are told that are no shares of a whole, where four digits would be too many."""


def disclosed(report: Report) -> Report:
    """Return a report that may be handed on; which attack is the strongest stays as it was found."""
    secret = _names(report, lambda traits: traits.has_secret_number)
    # Even a rough correlation tells the angle of a turn.
    mixed = _names(report, lambda traits: traits.mixes_columns)
    noised = _names(report, lambda traits: traits.stays_near)
    # Of a column that is always NULL nothing was released, so nothing of it is told.
    unseen = _names(report, lambda traits: traits.is_always_null)

    def is_owners(figure: Figure) -> bool:
        about = figure.about
        return (
            figure.is_owners
            or about in unseen
            or (figure.name in _OF_COLUMN and about in secret)
            or (figure.name in _OF_TABLE and bool(secret))
            or (figure.name == "correlation" and about in mixed)
            or (figure.name == "changed" and about in noised)  # the share of rows that rho chose
        )

    figures = tuple(
        replace(figure, value=None, sentence=figure.sentence + WITHHELD, of=None, is_withheld=True)
        if is_owners(figure)
        else _figure(figure, figure.about in secret)
        for figure in report.figures
    )
    figures = tuple(_below_the_largest(figure, figures) for figure in figures)
    # A KEY is no column of the report: what is not known to be harmless is not told.
    harmless = noised | ({column.name for column in report.columns} - secret)
    attacks = tuple(_attack(attack, harmless) for attack in report.attacks)
    columns = tuple(
        _column(column, report.stamp.rows, column.name in secret | unseen, column.name in mixed)
        for column in report.columns
    )
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


def _below_the_largest(figure: Figure, figures: Sequence[Figure]) -> Figure:
    """Keep an average at or below its largest part, however both were rounded."""
    if figure.name != "marketer" or figure.value is None:
        return figure
    largest = next((one.value for one in figures if one.name == "journalist"), None)
    return figure if largest is None else replace(figure, value=min(figure.value, largest))


def _figure(figure: Figure, is_secret: bool) -> Figure:
    value = figure.value
    if value is None or isinstance(value, int):
        return figure
    if figure.of is not None:
        value = coarse_share(value, figure.of)
    if figure.name == "correlation" and is_secret:
        value = _near(value, _TENTHS)
    value = _ROUNDED.get(figure.name, few_digits)(value)
    # Of how many it is a share can be a small count itself: of the high class, of NULLs.
    return replace(figure, value=value if math.isfinite(value) else None, of=None)


def _attack(attack: Finding, harmless: Collection[str]) -> Finding:
    """Round what an attack got: exactly told, it would tell how large the noise is."""
    if attack.of is None:
        return _attack_on_noise(attack, harmless)
    share = coarse_share(attack.share, attack.of)
    # Down, as what is left is rounded up: a gain that is there does not vanish.
    chance = few_digits(1 - coarse_share(1 - attack.chance, attack.of))
    # Nobody's noise is behind a share of people who are found.
    share = few_digits(share, 2) if attack.scope is AimKind.TABLE else _up(share)
    if attack.gain <= (0.0 if attack.scope is AimKind.TABLE else MARGIN):
        share = min(share, chance)  # rounding must not look like a gain
    return replace(attack, share=share, chance=chance, of=None)


def _attack_on_noise(attack: Finding, harmless: Collection[str]) -> Finding:
    steps = _TENTHS
    is_constant = attack.scope is AimKind.COLUMN and attack.target not in harmless
    if is_constant and attack.share > MARGIN:
        # Of one constant before and one now, the share and the rows tell both.
        steps = 1
        attack = replace(attack, result=attack.result.replace(SHARE, "a part"))
    share, chance = (
        round_to_steps(part, steps) if part > MARGIN else 0.0
        for part in (attack.share, attack.chance)
    )
    if attack.gain <= MARGIN:
        share = min(share, chance)
    return replace(attack, share=share, chance=chance)


def _column(column: ColumnReport, rows: int, is_secret: bool, is_mixed: bool) -> ColumnReport:
    utility = column.utility
    is_alike = not is_secret or [one.keeps_shape for one in column.traits] == [True]
    return replace(
        column,
        before=_distribution(column.before, rows) if is_alike else WITHOUT,
        after=_distribution(column.after, rows),
        utility=None if utility is None or is_mixed else _near(utility, _TENTHS),
        risk=_up(column.risk),
    )


def _distribution(shown: Distribution, rows: int) -> Distribution:
    # A bar of nobody and one of few look alike.
    bars = tuple(few_digits(coarse_share(bar, rows)) if bar else None for bar in shown.bars)
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


def _names(report: Report, has: Callable[[Traits], bool]) -> set[str]:
    """Return the columns with a treatment of which something holds."""
    return {column.name for column in report.columns if any(map(has, column.traits))}
