"""Pseudonyms of somebody else than the KEY: rows that they put together are counted apart.

`visit KEY, patient NEUTRAL AS pseudonym()`: classes count visits, noise is drawn for visits, and an
analyst sees all visits of a patient. It may be meant so: a pseudonym of the doctor looks the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.compile import source_table

if TYPE_CHECKING:
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version

_ROWS = "s"


def other_persons(version: Version) -> list[str]:
    """Return warnings of pseudonyms that stand for several KEYs, or without one, several rows."""
    release = version.release
    columns = _pseudonyms(release)
    shared = _shared_groups(version)
    is_counted = find_grouping(release) is not None
    traits = [step.treatment.traits for rule in release.released_rules for step in rule.steps]
    is_drawn = any(one.adds_noise and one.stays_near for one in traits)
    is_grouped = any(one.shows_means or one.keeps_sums for one in traits)
    if not columns or not (is_counted or is_drawn or is_grouped):
        return shared
    (row,) = version.engine.query(_counts(release, columns)).to_pylist()
    key = release.key
    apart = "rows" if key is None else f"values of '{key.name}', the KEY"
    said = [
        *([f"k counts {apart}, not persons"] if is_counted else []),
        *([f"each of the {apart} is drawn for by itself"] if is_drawn else []),
        *(["a group may hold rows of one person only"] if is_grouped else []),
    ]
    return shared + [
        f"'{name}' is released, and one '{name}' has several {apart}: {', and '.join(said)}; if"
        f" '{name}' is the person, list it as KEY"
        for index, name in enumerate(columns)
        if row[f"pairs {index}"] > row[f"values {index}"]
    ]


def _shared_groups(version: Version) -> list[str]:
    """Return a warning of groups of rows, where a person may have all rows of one."""
    key = version.release.key
    words = [
        step.treatment.keyword
        for rule in version.release.released_rules
        for step in rule.steps
        if step.treatment.traits.keeps_sums
    ]
    if key is None or not words:
        return []
    column = column_of(key.name.text, _ROWS)
    counts = exp.select(
        named(exp.Count(this=column), "rows"),
        named(exp.Count(this=exp.Distinct(expressions=[column.copy()])), "persons"),
    ).from_(source_table(version.release.source, _ROWS))
    (row,) = version.engine.query(counts).to_pylist()
    if row["persons"] == row["rows"]:
        return []
    warning = (
        f"{words[0]} groups rows, and some persons have several: a group may hold rows of one person"
        " only, and its mean is then that person's own; release one row per person"
    )
    return [warning]


def _pseudonyms(release: Release) -> list[Name]:
    return [
        rule.columns[0].name
        for rule in release.released_rules
        if rule.role is Role.NEUTRAL
        and any(one.links_rows and one.draws_from_keys for one in rule.traits)
        and (release.key is None or rule.columns[0].origins != release.key.origins)
    ]


def _counts(release: Release, columns: list[Name]) -> exp.Select:
    """Return how many values each has, and how many pairs of a value and a KEY, or rows."""
    shown: list[exp.Expr] = []
    for index, name in enumerate(columns):
        value = column_of(name.text, _ROWS)
        pairs: exp.Expr = exp.Count(this=value)
        if release.key is not None:
            key = column_of(release.key.name.text, _ROWS)
            pair = exp.case().when(
                exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())),
                exp.func("ROW", value.copy(), key, dialect="duckdb"),
            )
            pairs = exp.Count(this=exp.Distinct(expressions=[pair]))
        values = exp.Count(this=exp.Distinct(expressions=[value.copy()]))
        shown += [named(pairs, f"pairs {index}"), named(values, f"values {index}")]
    return exp.select(*shown).from_(source_table(release.source, _ROWS))
