"""What is kept beside the rows of a study, to decide who and what goes out; none of it is written."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.queries import distinguishable
from ppdm_sql.language.syntax import Role
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.version import Version
    from ppdm_sql.studies.study import Study

ORDER = "ppdm_order"
"""What rows of a person are chosen by."""


def carried(study: Study, version: Version) -> Mapping[str, exp.Expr]:
    """Return the originals of what refers and is referred to, of l, and of rows to choose."""
    name = version.entry.name
    kept: dict[str, exp.Expr] = {}
    for at, column in enumerate(other_persons(version)):
        kept[other_column(at)] = _text(column.columns[0].name.text)
    for at, one in enumerate(study.references):
        if one.child == name:
            kept[child_column(at)] = _text(one.column.name.text)
        if one.parent == name:
            kept[parent_column(at)] = _text(one.key.name.text)
    for at, target in enumerate(study.targets):
        if target.column is not None and target.release == name:
            value = exp.column(exp.to_identifier(target.column.name.text, quoted=True))
            kept[sensitive_column(at)] = distinguishable(value, target.column.type)
    if study.most_rows(name) is not None:
        cells: list[exp.Expr] = [
            exp.Coalesce(this=_text(one), expressions=[exp.Literal.string("")])
            for one in _told_apart_by(version)
        ]
        kept[ORDER] = reduce(_beside, cells)
    return kept


def other_persons(version: Version) -> list[BoundRule]:
    """Return the released columns, beside the KEY, that name persons of the study."""
    release = version.release
    assert release.key is not None  # a study has no release without one
    return [
        rule
        for rule in release.released_rules
        if len(rule.columns) == 1
        and rule.role is not Role.KEY
        and names_persons(rule, release.key.whose)
    ]


def names_persons(rule: BoundRule, person: str) -> bool:
    """Whether a column names persons of the study: by what it is, or by what its names are of."""
    return rule.columns[0].whose == person or any(
        step.treatment.names_alike and step.treatment.link() == person for step in rule.steps
    )


def _told_apart_by(version: Version) -> list[str]:
    """Return what tells the rows of a person apart, whatever else of them changes.

    A column that alone names the row, or the table's PRIMARY KEY; then columns that do so together;
    without any, what is released.
    """
    rules = [rule for rule in version.release.released_rules if rule.role is not Role.KEY]
    naming = [rule for rule in rules if any(one.draws_from_keys for one in rule.traits)]
    names = [column.name.text for rule in naming for column in rule.columns]
    for name in names:
        if _are_unique(version, [name]):
            return [name]
    key = Sources(version.engine).primary_columns(version.release.source)
    if key:
        return [column.text for column in key]
    if names and _are_unique(version, names):
        return names
    return list(dict.fromkeys(column.name.text for rule in rules for column in rule.columns))


def _are_unique(version: Version, names: list[str]) -> bool:
    """Whether no two rows have the same in these columns: a doctor is no name of a visit."""
    columns = [column_of(name, ROWS) for name in names]
    distinct = exp.select(*columns).distinct().from_(source_table(version.release.source, ROWS))
    every = exp.select(*(one.copy() for one in columns))
    every = every.from_(source_table(version.release.source, ROWS))
    counts = [
        int(
            version.engine.query(
                exp.select(named(exp.Count(this=exp.Star()), "n")).from_(rows.subquery("r"))
            )
            .column("n")[0]
            .as_py()
        )
        for rows in (distinct, every)
    ]
    return counts[0] == counts[1]


def other_column(at: int) -> str:
    """Return the name under which the original of a column that names persons is kept."""
    return f"ppdm_study_o{at}"


def sensitive_column(at: int) -> str:
    """Return the name under which the original of a target's column is kept."""
    return f"ppdm_study_l{at}"


def child_column(at: int) -> str:
    """Return the name under which the original of a reference is kept."""
    return f"ppdm_study_c{at}"


def parent_column(at: int) -> str:
    """Return the name under which the original of what is referred to is kept."""
    return f"ppdm_study_p{at}"


def _beside(text: exp.Expr, other: exp.Expr) -> exp.Expr:
    apart = exp.DPipe(this=text, expression=exp.Literal.string(":"))
    return exp.DPipe(this=apart, expression=other)


def _text(name: str) -> exp.Expr:
    return exp.cast(exp.column(exp.to_identifier(name, quoted=True)), "VARCHAR")
