"""The figures of a release with GENERALIZE: what it reached, what it cost, how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import plural
from ppdm_sql.groups.shapes import Dates, Ranges, SuppressDigits
from ppdm_sql.store.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups import search
    from ppdm_sql.groups.grouping import BoundTarget, Grouping
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.recoding import Recoding
    from ppdm_sql.groups.shapes import Shape


SUPPRESSED_ROWS = "rows suppressed"
_LEFT_OUT, _KEPT = "left out", "kept as *"


@dataclass(frozen=True, slots=True)
class Population:
    """Whom a release is about."""

    rows: int
    treated: int
    persons: int
    """Persons of the treated rows; the rows themselves without a KEY."""
    by_person: bool
    """Whether a KEY stands in several rows, so that rows are not persons."""


@dataclass(frozen=True, slots=True)
class Generalized:
    """What the search chose for the treated rows."""

    population: Population
    coded: Coded
    recoding: Recoding


def rows_left_out(figures: Sequence[Figure]) -> int:
    """Return how many rows of the source GENERALIZE keeps from leaving."""
    return sum(
        int(figure.value or 0)
        for figure in figures
        if figure.figure == SUPPRESSED_ROWS and figure.note == _LEFT_OUT
    )


def figures_of(
    grouping: Grouping,
    done: Generalized,
    measures: search.Measures,
    plain: search.Outcome | None,
    alone: int,
) -> list[Figure]:
    """Return the figures of one version, for DESCRIBE RELEASE."""
    population, recoding = done.population, done.recoding
    who = "persons" if grouping.person is not None else "rows"
    spent = recoding.precision_loss
    figures = [
        *_levels(grouping, done),
        Figure("rows treated", population.treated, f"of {population.rows:,} in the source"),
        Figure(SUPPRESSED_ROWS, recoding.suppressed_rows, _fate(grouping)),
        Figure("classes", measures.classes, "of treated rows that show the same"),
        Figure("smallest class", measures.k, f"{who}, among treated rows"),
        *reached_targets(grouping, measures),
        Figure("precision of treated rows", 1 - spent, "1: as they were, 0: all *"),
        Figure(
            "precision of the release",
            1 - spent * population.treated / population.rows,
            "with the untouched rows: a measure of utility, not of safety",
        ),
    ]
    if grouping.when is not None:
        figures += [
            Figure(
                "precision of plain k-anonymity",
                None if plain is None else 1 - plain.loss,
                f"if all rows were generalized to k = {grouping.k}",
            ),
            Figure("unique untouched rows", alone, "not protected: nobody else shows the same"),
        ]
    return [*figures, *_proof(grouping, recoding)]


def _levels(grouping: Grouping, done: Generalized) -> list[Figure]:
    if done.recoding.levels is None:
        return []
    return [
        Figure(
            f"level of {column.name}",
            level,
            f"of {ladder.height}: {_level(column.hierarchy.shape, level, ladder.height)}",
        )
        for column, level, ladder in zip(
            grouping.columns, done.recoding.levels, done.coded.ladders, strict=True
        )
    ]


def _level(shape: Shape, level: int, height: int) -> str:
    """Return what a column shows at a level, in words."""
    if level == 0:
        return "as it was"
    if level == height:
        return "all *"
    match shape:
        case Ranges():
            return f"ranges of {shape.widths[level - 1]}"
        case Dates():
            # From the coarse end: of a date, a day is no level of its own.
            return f"{shape.units[level - height]}s"
        case SuppressDigits():
            return f"{plural(level, 'character')} from the right as *"
        case _:
            return "groups of the hierarchy"


def _proof(grouping: Grouping, recoding: Recoding) -> list[Figure]:
    name = f"loss ({grouping.loss})"
    if recoding.levels is None:
        return [Figure(name, recoding.loss, "by local recoding")]
    sure = "the least there is"
    if not recoding.is_proven:
        sure = "the best found in time: not proven to be the least"
    return [
        Figure(name, recoding.loss, sure),
        Figure("nodes of the lattice", recoding.nodes, "combinations of levels"),
        Figure("nodes checked", recoding.checked, "on the data"),
        Figure("nodes pruned", recoding.pruned, "settled without a look at the data"),
    ]


def reached_targets(grouping: Grouping, measures: search.Measures) -> list[Figure]:
    """Return what was reached for each target on a sensitive column."""
    names = [column.name for column in grouping.sensitive]
    figures = []
    for target in grouping.targets:
        if target.column is not None:
            found = measures.sensitive[names.index(target.column.name)]
            figures.append(Figure(_name(target), _value(target, found), f"asked for: {target}"))
    return figures


def _name(target: BoundTarget) -> str:
    return f"{target.clause.word}({target.column.name if target.column else ''})"


def _value(target: BoundTarget, found: search.SensitiveMeasures) -> float:
    match target.clause.word:
        case "l":
            return found.distinct_l
        case "entropy_l":
            return found.entropy_l
        case "recursive_l":
            return found.recursive_c(int(target.clause.value))
        case "t":
            return found.t
        case _:
            return found.alpha


def _fate(grouping: Grouping) -> str:
    return _KEPT if grouping.keeps_suppressed else _LEFT_OUT
