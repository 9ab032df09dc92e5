"""What the columns of a stage are called: those it treats, the row key, values of the source.

The first stage reads the source, each other one the stage before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.release.row_key import canonical_value, row_key_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from ppdm_sql.release.model import BoundRule, Release

INPUT, ROW = "s", "ppdm_row"
"""What a stage calls the one before it, and the row key in it."""
_BOUND_TO_VALUES = 2
"""The formula from which noise depends on the value that it hides."""


def row_key_of(release: Release, stage: int) -> exp.Expr | None:
    """Return the row key as a stage sees it: computed from the source, then handed on."""
    if release.row_key is None:
        return None
    if stage > 0:
        return column_of(ROW, INPUT)
    return row_key_number(column_of(release.row_key.name.text, INPUT), release.row_key.type)


def uses_source_value(rule: BoundRule, stage: int, formula: int) -> bool:
    """Whether a treatment at this stage or a later one needs the original values."""
    later = (step.treatment.traits for step in rule.steps[stage:])
    return formula >= _BOUND_TO_VALUES and any(one.uses_source_value for one in later)


def source_values(release: Release, stage: int) -> list[exp.Expr]:
    """Return the original values that later stages need, as this one hands them on."""
    return [
        named(source_value(rule, index, stage), _source_name(rule, index))
        for rule in release.released_rules
        if uses_source_value(rule, stage + 1, release.formula)
        for index in range(len(rule.columns))
    ]


def source_value(rule: BoundRule, index: int, stage: int) -> exp.Expr:
    """Return an original value as a stage sees it: computed from the source, then handed on."""
    if stage > 0:
        return column_of(_source_name(rule, index), INPUT)
    column = rule.columns[index]
    return canonical_value(column_of(column.name.text, INPUT), column.type)


def _source_name(rule: BoundRule, index: int) -> str:
    return f"{rule.steps[0].slot}_v{index}"


def inputs_of(rule: BoundRule, stage: int) -> list[exp.Column]:
    """Return what a rule's columns are called by the stage that reads them."""
    if stage == 0:
        return [column_of(column.name.text, INPUT) for column in rule.columns]
    return [column_of(name, INPUT) for name in stage_names(rule)]


def stage_names(rule: BoundRule) -> Iterator[str]:
    """Return what a rule's columns are called between two stages."""
    first = rule.steps[0].slot
    return (f"{first}_c{i}" for i in range(len(rule.columns)))
