"""What all rows of a person show together, in what goes out: counted by plain SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import HIGH, find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.publish.snapshot import PERSON, ROWS

if TYPE_CHECKING:
    from ppdm_sql.names import Name
    from ppdm_sql.publish.snapshot import Snapshot

SHOWN, COUNT = "ppdm_shown", "n"
_CLASSES = "c"


def quasi_columns(snapshot: Snapshot) -> list[Name]:
    """Return the released columns that others may know."""
    return [
        name
        for rule in snapshot.version.release.released_rules
        if rule.role is Role.QUASI and not any(one.is_always_null for one in rule.traits)
        for name in rule.names
    ]


def shown_by_person(
    snapshot: Snapshot, without: Name | None = None, only_high: bool = False
) -> exp.Select:
    """Return each person with the list of what their rows show, in an order of its own.

    `without` leaves one column out, to see what it tells.
    """
    if [name for name in quasi_columns(snapshot) if name != without]:
        listed = exp.ArrayAgg(this=what_a_row_shows(snapshot, without))
        everything = exp.func("LIST_SORT", listed, dialect="duckdb")
    else:  # only how many rows there are
        count = exp.cast(exp.Count(this=exp.Star()), "VARCHAR")
        everything = exp.Array(expressions=[count])
    person = person_of(ROWS)
    select = exp.select(named(person, PERSON), named(everything, SHOWN)).from_(snapshot.rows())
    grouping = find_grouping(snapshot.version.release)
    if only_high and grouping is not None and grouping.when is not None:
        select = select.where(column_of(HIGH, ROWS))
    return select.group_by(person.copy())


def what_a_row_shows(snapshot: Snapshot, without: Name | None = None) -> exp.Expr:
    """Return a digest of the QUASI columns of a row: letter by letter, whatever their collation."""
    text: exp.Expr = exp.Literal.string("")
    for name in quasi_columns(snapshot):
        if name == without:
            continue
        value = exp.cast(column_of(name.text, ROWS), "VARCHAR")
        length = exp.cast(exp.Length(this=value), "VARCHAR")
        cell = exp.DPipe(
            this=exp.DPipe(this=length, expression=exp.Literal.string(":")), expression=value.copy()
        )
        shown = exp.Coalesce(this=cell, expressions=[exp.Literal.string("-")])
        text = exp.DPipe(this=text, expression=shown)
    return exp.func("MD5", text)


def person_of(alias: str) -> exp.Expr:
    """Return whom a row of a snapshot is about, as text: the same in every table."""
    return exp.cast(column_of(PERSON, alias), "VARCHAR")


def persons_below(snapshot: Snapshot, k: int) -> exp.Select:
    """Return the persons of whom all treated rows show what is shown of fewer than k."""
    rows = shown_by_person(snapshot, only_high=True)
    size = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column_of(SHOWN, ROWS)])
    persons = exp.select(column_of(PERSON, ROWS))
    persons = persons.from_(rows.subquery(exp.to_identifier(ROWS, quoted=True)))
    return persons.qualify(exp.LT(this=size, expression=exp.Literal.number(k)))


def linked_k(snapshot: Snapshot) -> int:
    """Return the fewest persons of whom all treated rows show the same."""
    rows = shown_by_person(snapshot, only_high=True)
    classes = exp.select(named(exp.Count(this=exp.Star()), COUNT))
    classes = classes.from_(rows.subquery(exp.to_identifier(ROWS, quoted=True)))
    classes = classes.group_by(column_of(SHOWN, ROWS))
    least = exp.Min(this=column_of(COUNT, _CLASSES))
    query = exp.select(named(least, COUNT))
    query = query.from_(classes.subquery(exp.to_identifier(_CLASSES, quoted=True)))
    return int(snapshot.version.engine.query(query).column(COUNT)[0].as_py() or 0)
