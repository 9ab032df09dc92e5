"""The figures of a release with GENERALIZE: what it reached, what it cost, how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql import anonymity
from ppdm_sql.store.figures import Figure

if TYPE_CHECKING:
    from ppdm_sql.model.grouping import BoundTarget, Grouping
    from ppdm_sql.session.generalizing import Generalized


def figures_of(
    grouping: Grouping,
    done: Generalized,
    measures: anonymity.Measures,
    plain: anonymity.Outcome | None,
    alone: int,
) -> list[Figure]:
    """Return the figures of one version, for DESCRIBE RELEASE."""
    population, coded, outcome = done.population, done.coded, done.outcome
    assert outcome.levels is not None
    who = "persons" if grouping.person is not None else "rows"
    spent = anonymity.precision(coded.problem, outcome.levels, outcome.suppressed)
    share = population.treated / population.rows
    figures = [
        Figure(
            f"level of {column.name}",
            level,
            f"of {ladder.height}; 0 is as it was, {ladder.height} is *",
        )
        for column, level, ladder in zip(
            grouping.columns, outcome.levels, coded.ladders, strict=True
        )
    ]
    figures += [
        Figure("rows treated", population.treated, f"of {population.rows} in the source"),
        Figure("rows suppressed", outcome.suppressed_rows, _fate(grouping)),
        Figure("classes", measures.classes, "of treated rows that show the same"),
        Figure("smallest class", measures.k, f"{who}, among treated rows"),
        *reached_targets(grouping, measures),
        Figure(
            "precision of treated rows",
            1 - spent,
            "1: as they were, 0: all *",
        ),
        Figure(
            "precision of the release",
            1 - spent * share,
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
    return [
        *figures,
        Figure(
            f"loss ({grouping.loss})",
            outcome.loss,
            "the least there is"
            if outcome.is_proven
            else "the best found in time: not proven to be the least",
        ),
        Figure("nodes of the lattice", outcome.nodes, "combinations of levels"),
        Figure("nodes checked", outcome.checked, ""),
        Figure("nodes pruned", outcome.pruned, "settled without a look at the data"),
    ]


def reached_targets(grouping: Grouping, measures: anonymity.Measures) -> list[Figure]:
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


def _value(target: BoundTarget, found: anonymity.SensitiveMeasures) -> float:
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
    return "kept as *" if grouping.keeps_suppressed else "left out"
