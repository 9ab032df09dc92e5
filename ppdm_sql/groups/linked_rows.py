"""All rows of a person together: what a released pseudonym shows, no row shows alone.

k counts the persons of a class, row by row. Where somebody stands in several rows and the release
tells which rows are theirs, an analyst sees all of them at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import (
    COUNT,
    HIGH,
    ROWS,
    fixed_quasi,
    grouped_select,
    grouping_of,
    subquery,
    with_high,
)
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import Plan, Release

_PERSON, _SHOWN, _PERSONS = "ppdm_person", "ppdm_shown", "ppdm_persons"


def linking_column(release: Release) -> Name | None:
    """Return a released column that tells which rows are one person's; None if there is none."""
    for rule in release.released_rules:
        if rule.role is Role.KEY and not any(one.is_always_null for one in rule.traits):
            return rule.names[0]
    for rule in release.released_rules:
        if rule.role is not Role.QUASI and any(one.links_rows for one in rule.traits):
            return rule.names[0]
    return None


def may_link(release: Release) -> list[Name]:
    """Return the other released columns whose values may each be one person's."""
    return [
        name
        for rule in release.released_rules
        if rule.role is not Role.QUASI and not any(one.is_always_null for one in rule.traits)
        for name in rule.names
    ]


def own_values_query(plan: Plan, name: Name) -> exp.Select:
    """Return how many values of a column repeat, and how many of these are one person's."""
    grouping = grouping_of(plan)
    if grouping.person is None:
        raise ValueError("this needs a KEY")
    person = exp.column(exp.to_identifier(grouping.person.name.text, quoted=True))
    rows = grouped_select(plan, {_PERSON: person})
    # As text: lists, JSON and the like can be written, if not always be grouped.
    value = exp.cast(column_of(name.text, ROWS), "VARCHAR")
    persons = exp.Count(this=exp.Distinct(expressions=[column_of(_PERSON, ROWS)]))
    values = (
        exp.select(named(exp.Count(this=exp.Star()), COUNT), named(persons, _PERSONS))
        .from_(subquery(rows, ROWS))
        .where(exp.Not(this=exp.Is(this=value, expression=exp.null())))
        .group_by(value.copy())
    )
    repeats = exp.GT(this=column_of(COUNT, ROWS), expression=exp.Literal.number(1))
    own = exp.EQ(this=column_of(_PERSONS, ROWS), expression=exp.Literal.number(1))
    return exp.select(
        named(exp.CountIf(this=repeats), "repeated"),
        named(exp.CountIf(this=exp.and_(repeats.copy(), own)), "own"),
    ).from_(subquery(values, ROWS))


def linked_k_query(plan: Plan) -> exp.Select:
    """Return the fewest persons of whom all treated rows show the same, by plain SQL.

    Records that are kept as `*` are rows like any other.
    """
    grouping = grouping_of(plan)
    if grouping.person is None:
        raise ValueError("this needs a KEY")
    person = exp.column(exp.to_identifier(grouping.person.name.text, quoted=True))
    rows = grouped_select(plan, with_high(grouping, {_PERSON: person}))
    quasi = [column.name for column in grouping.columns]
    quasi += [name for name, _ in fixed_quasi(plan.release)]
    shown = exp.func(
        "ROW",
        *(exp.cast(column_of(name.text, ROWS), "VARCHAR") for name in quasi),
        dialect="duckdb",
    )
    everything = exp.func("LIST_SORT", exp.ArrayAgg(this=shown), dialect="duckdb")
    persons = exp.select(named(everything, _SHOWN)).from_(subquery(rows, ROWS))
    if grouping.when is not None:
        persons = persons.where(column_of(HIGH, ROWS))
    persons = persons.group_by(column_of(_PERSON, ROWS))
    alike = (
        exp.select(named(exp.Count(this=exp.Star()), _PERSONS))
        .from_(subquery(persons, ROWS))
        .group_by(column_of(_SHOWN, ROWS))
    )
    least = exp.Min(this=column_of(_PERSONS, ROWS))
    return exp.select(named(least, COUNT)).from_(subquery(alike, ROWS))
