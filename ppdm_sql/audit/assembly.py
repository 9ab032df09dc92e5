"""From a subject to its report: every measure and every attack, once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.attacks import run_attacks
from ppdm_sql.audit.attacks.linking import population
from ppdm_sql.audit.attacks.protocol import Other, Scene
from ppdm_sql.audit.measure.breaches import divergence_figures, proximity_figures
from ppdm_sql.audit.measure.classifiers import classifier_figures, is_available
from ppdm_sql.audit.measure.clustering import LEAST_POINTS, clustering_figures
from ppdm_sql.audit.measure.diversity import diversity_figures, measure_classes
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.measure.high_class import is_high_seen, scba_figures
from ppdm_sql.audit.measure.linked_rows import linked_figures, links_of
from ppdm_sql.audit.measure.pictures import before_and_after
from ppdm_sql.audit.measure.released_keys import key_figures
from ppdm_sql.audit.measure.risk import NO_QUASI, class_sizes, classes_of, risk_figures
from ppdm_sql.audit.measure.rules import rules_figures
from ppdm_sql.audit.measure.shape import class_figures, matrices, shape_figures, suppressed_figure
from ppdm_sql.audit.measure.singling_out import singling_sets
from ppdm_sql.audit.measure.utility import column_figures
from ppdm_sql.audit.report.disclosure import disclosed
from ppdm_sql.audit.report.model import ClassSizes, ColumnReport, Report, Stamp
from ppdm_sql.audit.report.requirements import check
from ppdm_sql.audit.report.verdict import strongest, verdict
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import chain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.audit.attacks.protocol import Background, Finding
    from ppdm_sql.audit.measure.diversity import SensitiveValues
    from ppdm_sql.audit.measure.linked_rows import Links
    from ppdm_sql.audit.measure.risk import Classes
    from ppdm_sql.audit.read.others import OtherRows
    from ppdm_sql.audit.read.subject import Column, Subject
    from ppdm_sql.audit.report.outcome import Requirement
    from ppdm_sql.groups.search import FloatArray, IntArray

SEED = 20_030
MOST_SAMPLED = 20_000
_SHOWN_SETS = 10


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that was read for an audit."""

    release: str
    version: int
    subject: Subject = field(repr=False)
    sensitive: tuple[SensitiveValues, ...] = field(repr=False)
    script: str = field(repr=False)
    software: tuple[tuple[str, str], ...]
    again: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict, repr=False)
    """More answers for all rows, by column."""
    others: tuple[OtherRows, ...] = field(default=(), repr=False)
    """What else is out."""
    newcomers: Mapping[str, int] = field(default_factory=dict)
    together_with: str | None = None
    """Releases that the owner named."""
    background: Background | None = None
    against: str | None = None
    accepted: str | None = None
    suppressed: int | None = None
    """Rows that GENERALIZE leaves out now, or keeps as `*`; None without GENERALIZE."""
    more_figures: tuple[Figure, ...] = ()
    left_out: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()


def assemble(material: Material, is_internal: bool, on_stage: Callable[[str], None]) -> Report:
    """Measure, attack, and sum up."""
    subject = material.subject
    links = links_of(subject)
    if material.background is not None and links is not None:
        seen = replace(material.background, released_link=links.of_row)
        material = replace(material, background=seen)
    on_stage("measuring classes")
    classes = classes_of(subject)
    figures = _risk(material, classes, links)
    on_stage("looking for columns that single people out")
    singling = singling_sets(subject)[:_SHOWN_SETS]
    for column in subject.columns:
        if column.role is not Role.KEY:
            on_stage(f"measuring what columns keep: {column.name}")
            figures += column_figures(column)
    figures += class_figures(classes.rows, material.suppressed or 0)
    if material.suppressed is not None:
        released = int((classes.of_row >= 0).sum())
        figures.append(suppressed_figure(material.suppressed, released + material.suppressed))
    generator = np.random.default_rng(SEED)
    chosen = np.arange(subject.rows)
    if subject.rows > MOST_SAMPLED:
        chosen = np.sort(generator.choice(subject.rows, MOST_SAMPLED, replace=False))
    sample = subject.take(chosen)
    on_stage("mining the original and the release")
    figures += [*_mining(subject, sample, generator), *material.more_figures]
    scene = _scene(material, sample, chosen, classes, links)
    attacks = run_attacks(scene, on_stage=on_stage)
    columns = tuple(
        _column(column, figures, attacks) for column in subject.columns if column.role != Role.KEY
    )
    left_out = [*material.left_out, *_not_together(subject)]
    if not is_available():
        left_out.append("classifiers: install ppdm-sql[audit]")
    exact = Report(
        stamp=_stamp(material, len(chosen)),
        verdict=verdict(figures, attacks, columns, strongest(attacks)),
        figures=tuple(figures),
        attacks=tuple(attacks),
        columns=columns,
        class_sizes=_sizes(classes),
        singling=tuple(singling),
        left_out=tuple(left_out),
        script=material.script,
        is_internal=is_internal,
    )
    shown = exact if is_internal else disclosed(exact)
    return replace(shown, outcomes=check(exact, shown, material.requirements))


def _risk(material: Material, classes: Classes, links: Links | None) -> list[Figure]:
    subject = material.subject
    around = None
    if material.background is not None:
        around = population(material.background, classes.of_row, classes.count)
    figures = risk_figures(classes, around)
    if not subject.of_role(Role.QUASI):  # all rows look alike, because nobody says what others know
        figures = [Figure("risk", "k", "", None, NO_QUASI)]
    measures = measure_classes(classes, material.sensitive, subject.repeated_persons)
    figures += diversity_figures(material.sensitive, measures, classes)
    is_hidden = subject.is_high is not None and not is_high_seen(subject)
    for sensitive in material.sensitive:
        if sensitive.numbers is not None:
            figures += proximity_figures(sensitive.name, classes, sensitive.numbers)
        else:
            tied = divergence_figures(sensitive.name, classes, sensitive.value, subject.is_high)
            figures += [replace(figure, is_owners=is_hidden) for figure in tied]
    linked = linked_figures(subject, classes, links)
    return [
        *figures,
        *scba_figures(subject),
        *(replace(f, is_owners=is_hidden and f.name == "high_linked") for f in linked),
        *key_figures(subject),
    ]


def _mining(subject: Subject, sample: Subject, generator: np.random.Generator) -> list[Figure]:
    numeric = [c for c in subject.numeric if c.role is not Role.KEY]
    sampled = [c for c in sample.numeric if c.role is not Role.KEY]
    figures = [
        *shape_figures(numeric),
        *clustering_figures(sampled, generator),
        *rules_figures([c for c in sample.columns if c.role is not Role.KEY]),
    ]
    return figures + (classifier_figures(sample) if is_available() else [])


def _not_together(subject: Subject) -> list[str]:
    """Say so where NULLs leave nothing to measure of the numeric columns together."""
    numeric = [c for c in subject.numeric if c.role is not Role.KEY]
    complete = len(matrices(numeric)[0])
    if not numeric or complete >= min(subject.rows, LEAST_POINTS):
        return []
    names = ["misclassification"]
    if complete < 2:
        names = ["il1s", "covariance", "eigenvalues", "correlations", *names]
    return [f"{', '.join(names)}: too few rows have a number in every numeric column"]


def _scene(
    material: Material, sample: Subject, chosen: IntArray, classes: Classes, links: Links | None
) -> Scene:
    others = tuple(
        Other(
            one.label,
            {name: tuple(part[chosen] for part in parts) for name, parts in one.numbers.items()},
            one.classes,
            one.sizes,
            {name: rows[chosen] for name, rows in one.shown.items()},
            one.values,
        )
        for one in material.others
    )
    again = {
        name: tuple(answer[chosen] for answer in answers)
        for name, answers in material.again.items()
    }
    return Scene(
        sample,
        SEED,
        again,
        others,
        material.background,
        material.subject,
        classes.of_row,
        None if links is None else links.of_row,
        material.newcomers,
    )


def _column(column: Column, figures: Sequence[Figure], attacks: Sequence[Finding]) -> ColumnReport:
    before, after = before_and_after(column)
    measured = {f.name: f.value for f in figures if f.about == column.name and f.part == "utility"}
    kept = measured.get("correlation", measured.get("association"))
    lost, changed = measured.get("lost") or 0.0, measured.get("changed")
    # A constant has no correlation: what became NULL or one value tells nothing.
    utility = abs(kept) * (1 - lost) if kept is not None else (0.0 if lost == 1 else None)
    # Of noise, what shrinking to the mean takes away tells nobody's value.
    aimed = [
        attack.share if attack.of is not None else attack.gain
        for attack in attacks
        if column.name in attack.columns
    ]
    return ColumnReport(
        column.name,
        column.role.value,
        chain(column.treatments),
        before,
        after,
        utility,
        max(1 - changed if changed is not None else 0.0, *aimed, 0.0),
        column.traits,
    )


def _sizes(classes: Classes) -> tuple[ClassSizes, ...]:
    return tuple(
        ClassSizes(low, high if high < 2**61 else None, persons)
        for low, high, persons in class_sizes(classes)
    )


def _stamp(material: Material, sampled: int) -> Stamp:
    person = material.subject.person
    return Stamp(
        material.release,
        material.version,
        material.subject.rows,
        None if person is None else len(np.unique(person)),
        sampled,
        SEED,
        datetime.now(UTC).replace(microsecond=0),
        material.software,
        hashlib.sha256(material.script.encode()).hexdigest(),
        material.against,
        material.accepted,
        material.together_with,
    )
