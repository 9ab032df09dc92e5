"""What GENERALIZE says of itself: figures for DESCRIBE, one line for CREATE, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import InternalError, plural
from ppdm_sql.groups import search
from ppdm_sql.groups.hierarchy_kinds import Dates, Listed, Ranges, SuppressDigits
from ppdm_sql.store.figures import VersionFigure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.compile import BoundTarget, Grouping
    from ppdm_sql.groups.findings import Findings, Generalized, Tie
    from ppdm_sql.groups.hierarchy_kinds import Shape
    from ppdm_sql.groups.search.recoding import Recoding


_SHOWN = "The rows outside show that person's quasi-identifiers"
_WHOLE = "write WHEN so that it takes all rows of a person"
_LEFT_OUT, _KEPT = "left out", "kept as *"


def figures_of(findings: Findings) -> list[VersionFigure]:
    """Return the figures of one version, for DESCRIBE RELEASE."""
    grouping, done, measures = findings.grouping, findings.done, findings.measures
    population, recoding = done.population, done.recoding
    who = "persons" if grouping.person is not None else "rows"
    spent = recoding.precision_loss
    figures = [
        *_levels(grouping, done),
        VersionFigure("rows treated", population.treated, f"of {population.rows:,} in the source"),
        VersionFigure("rows suppressed", recoding.suppressed_rows, _fate(grouping)),
        VersionFigure("classes", measures.classes, "groups of treated rows that look the same"),
        VersionFigure("smallest class", measures.k, f"{who}, among treated rows"),
        *_register(findings),
        *_linked(findings),
        *reached_targets(grouping, measures, findings.targets),
        VersionFigure("precision of treated rows", 1 - spent, "1: as they were, 0: all *"),
        VersionFigure(
            "precision of the release",
            done.precision,
            "measures utility, not safety; untouched rows count as 1",
        ),
    ]
    if grouping.when is not None:
        figures += [
            VersionFigure(
                "precision of plain k-anonymity",
                None if findings.plain is None else 1 - findings.plain.loss,
                f"if all rows were generalized to k = {grouping.k}",
            ),
            VersionFigure(
                "unique untouched rows",
                findings.unique_untouched_rows,
                "not protected: nobody else looks the same",
            ),
        ]
    return [*figures, *_proof(grouping, recoding)]


def _register(findings: Findings) -> list[VersionFigure]:
    if findings.population is None:
        return []
    register = findings.grouping.register
    name = "the register" if register is None else str(register.name)
    note = f"persons of {name} whom the smallest class fits, when the release was made"
    return [VersionFigure("smallest class of the register", findings.population, note)]


def _linked(findings: Findings) -> list[VersionFigure]:
    if findings.linked is None:
        return []
    note = f"persons of whom all rows, put together by {findings.linked.column}, show the same"
    return [VersionFigure("smallest class of linked rows", findings.linked.k, note)]


def _levels(grouping: Grouping, done: Generalized) -> list[VersionFigure]:
    if done.recoding.levels is None:
        return []
    return [
        VersionFigure(
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
        return "all *" if not isinstance(shape, Listed) else "everything in one group"
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


def summary_of(findings: Findings) -> str:
    """Return what was done, in one line; all of it is in DESCRIBE RELEASE."""
    done, measures, recoding = findings.done, findings.measures, findings.done.recoding
    suppressed = f"{plural(recoding.suppressed_rows, 'row')} suppressed"
    if recoding.suppressed_rows:
        suppressed += f" and {_fate(findings.grouping)}"
    if recoding.cells is not None:
        suppressed += f", {plural(recoding.cells, 'cell')} of others are *"
    proof = ""
    if recoding.levels is not None:
        proof = f" ({recoding.nodes:,} combinations of levels, {recoding.checked:,} checked)"
        if lost := _lost(findings):
            proof += f"; all * in every treated row: {', '.join(lost)}"
    return (
        f"generalized {plural(done.population.treated, 'row')} into"
        f" {plural(measures.classes, 'class', 'classes')}, the smallest of {measures.k};"
        f" {suppressed}; {_loss_name(findings.grouping)} {recoding.loss:.4f},"
        f" {_sure(recoding)}{proof}"
    )


def _lost(findings: Findings) -> list[str]:
    """Return the columns of which nothing is left."""
    done = findings.done
    levels = zip(
        findings.grouping.columns, done.recoding.levels or (), done.coded.ladders, strict=False
    )
    return [str(column.name) for column, level, ladder in levels if level == ladder.height > 0]


def warnings_of(findings: Findings) -> list[str]:
    """Say what to look at again."""
    warnings = []
    if not findings.is_proven:
        warnings.append(
            "the search was stopped by its time limit: a better generalization may exist"
        )
    if findings.unique_untouched_rows:
        warnings.append(
            "rows outside the high class that are unique in what they show:"
            f" {findings.unique_untouched_rows:,}; only the high class is protected"
        )
    return warnings + [_tie_warning(tie) for tie in findings.ties]


def _tie_warning(tie: Tie) -> str:
    if tie.is_key:
        return (
            "persons with rows inside and outside the high class, linked by the released KEY"
            f" '{tie.column}': {tie.count:,}. {_SHOWN}; write KEY without a treatment, which is not"
            f" released, or {_WHOLE}"
        )
    return (
        f"values of '{tie.column}' inside and outside the high class that seem to belong to one"
        f" person each: {tie.count:,}. {_SHOWN}; leave '{tie.column}' out, or {_WHOLE}"
    )


def _proof(grouping: Grouping, recoding: Recoding) -> list[VersionFigure]:
    loss = VersionFigure(_loss_name(grouping), recoding.loss, _sure(recoding))
    if recoding.levels is None:
        return [loss]
    bound = VersionFigure(
        "loss of any levels, at least", recoding.least, "what a longer search could reach"
    )
    return [
        loss,
        *([] if recoding.is_proven else [bound]),
        VersionFigure("nodes of the lattice", recoding.nodes, "combinations of levels"),
        VersionFigure("nodes checked", recoding.checked, "on the data"),
        VersionFigure("nodes pruned", recoding.pruned, "excluded without reading the data"),
    ]


def _loss_name(grouping: Grouping) -> str:
    weighted = any(column.weight != grouping.columns[0].weight for column in grouping.columns)
    return f"loss ({grouping.loss}{', weighted' if weighted else ''})"


def _sure(recoding: Recoding) -> str:
    if recoding.levels is None:
        return "by local recoding"
    if recoding.is_proven:
        return "proven to be the smallest"
    return (
        f"the smallest found in time; no choice of levels loses less than {recoding.least or 0:.4f}"
    )


def reached_targets(
    grouping: Grouping, measures: search.Measures, searched: Sequence[search.Target]
) -> list[VersionFigure]:
    """Return what was reached for each target on a sensitive column."""
    names = [column.name for column in grouping.sensitive]
    figures = []
    for target, wanted in zip(grouping.targets, searched, strict=False):
        if target.column is not None:
            found = measures.sensitive[names.index(target.column.name)]
            figures.append(
                VersionFigure(_name(target), _value(wanted, found), f"asked for: {target}")
            )
    return figures


def _name(target: BoundTarget) -> str:
    return f"{target.clause.word}({target.column.name if target.column else ''})"


def _value(target: search.Target, found: search.SensitiveMeasures) -> float:
    match target:
        case search.DistinctL():
            return found.distinct_l
        case search.EntropyL():
            return found.entropy_l
        case search.RecursiveL():
            return found.recursive_c(target.l)
        case search.Closeness():
            return found.t
        case search.Alpha():
            return found.alpha_of(target.chosen)
        case search.Proximity():
            return found.proximity(target.distance)
        case search.RareSpread():
            return found.spread(target.q)
    raise InternalError("a target was not measured")


def _fate(grouping: Grouping) -> str:
    return _KEPT if grouping.keeps_suppressed else _LEFT_OUT
