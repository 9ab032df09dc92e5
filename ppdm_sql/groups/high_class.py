"""GENERALIZE … WHEN: what rows outside the high class give away, and of whom inside it.

A column that stands for persons ties their rows inside the high class to those outside, which
show who they are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import InternalError
from ppdm_sql.groups.compile import (
    COUNT,
    HIGH,
    ROWS,
    find_grouping,
    fixed_quasi,
    grouped_select,
    grouping_of,
    high_flag,
    subquery,
)
from ppdm_sql.groups.findings import Tie
from ppdm_sql.language.syntax import Role
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.groups.compile import Grouping, When
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import Plan
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn

_GROUPS = "g"
_ALL_HIGH, _PERSON = "ppdm_all_high", "ppdm_person"
_REPEATED, _OWN = "repeated", "own"
_MOSTLY = 0.9
"""The share of repeated values that are one person's from which a column stands for persons: a few
typing errors must not silence the warning."""


def find_ties(version: Version) -> Iterator[Tie]:
    """Return the released columns that tie rows inside and outside the high class together.

    A pseudonym always stands for somebody. Any other column does where its values are each one
    person's; that is asked only if somebody has rows on both sides.
    """
    grouping = find_grouping(version.release)
    if grouping is None or grouping.when is None:
        return
    query = split_persons_query(version)
    split = 0 if query is None else int(version.engine.query(query).column(COUNT)[0].as_py())
    for rule in version.release.released_rules:
        if rule.role is Role.QUASI:
            continue
        for name, type_ in zip(rule.names, rule.output_types, strict=True):
            links = any(traits.links_rows for traits in rule.traits)
            if rule.role is Role.KEY or links:
                tied = _tied_values(version, name) if links or split else 0
            else:
                is_asked = split and type_.kind is not Kind.OTHER
                tied = _tied_persons(version, name) if is_asked else 0
            if tied:
                yield Tie(name, rule.role is Role.KEY, tied)


def _tied_values(version: Version, name: Name) -> int:
    query = tied_values_query(version, name)
    return int(version.engine.query(query).column(COUNT)[0].as_py())


def _tied_persons(version: Version, name: Name) -> int:
    """Count values of one person each; none where most values are shared, as those of a ward."""
    query = tied_persons_query(version, name)
    (found,) = version.engine.query(query).to_pylist()
    is_of_persons = found[_OWN] >= _MOSTLY * found[_REPEATED]
    return int(found[COUNT]) if is_of_persons else 0


def unique_untouched_query(plan: Plan) -> exp.Select:
    """Return how many rows outside the high class show what nobody else does."""
    grouping, when = _parts(plan)
    carried: dict[str, exp.Expr] = {HIGH: high_flag(when)}
    persons: exp.Expr = exp.Count(this=exp.Star())
    if grouping.person is not None:
        carried[_PERSON] = _key_of(grouping.person)
        person = column_of(_PERSON, ROWS)
        # Rows without a KEY are one person together, as everywhere.
        nobody = exp.Is(this=person.copy(), expression=exp.null())
        persons = exp.Add(this=_distinct(person), expression=_distinct(_flagged(nobody)))
    rows = grouped_select(plan, carried)
    quasi = [column.name for column in grouping.columns]
    quasi += [name for name, _ in fixed_quasi(plan.release)]
    untouched = _counted(exp.Not(this=column_of(HIGH, ROWS)))
    classes = exp.select(named(untouched, COUNT), named(persons, _PERSON))
    classes = classes.from_(subquery(rows, ROWS))
    classes = classes.group_by(*(column_of(name.text, ROWS) for name in quasi))
    alone = exp.EQ(this=column_of(_PERSON, _GROUPS), expression=exp.Literal.number(1))
    total = exp.Coalesce(
        this=exp.Sum(this=column_of(COUNT, _GROUPS)), expressions=[exp.Literal.number(0)]
    )
    return exp.select(named(total, COUNT)).from_(subquery(classes, _GROUPS)).where(alone)


def split_persons_query(plan: Plan) -> exp.Select | None:
    """Return how many persons leave rows inside and outside the high class.

    By the KEY of the source, whether it is released or not; None where there is none.
    """
    grouping, _ = _parts(plan)
    if grouping.person is None:
        return None
    groups = _groups(plan, column_of(_PERSON, ROWS))
    return exp.select(named(_counted(_is_split()), COUNT)).from_(groups)


def tied_values_query(plan: Plan, name: Name) -> exp.Select:
    """Return how many values of a column leave in rows inside and outside the high class."""
    groups = _groups(plan, column_of(name.text, ROWS))
    return exp.select(named(_counted(_is_split()), COUNT)).from_(groups)


def tied_persons_query(plan: Plan, name: Name) -> exp.Select:
    """Return the same of values that are one person's; how many repeat, how many of them are so."""
    groups = _groups(plan, column_of(name.text, ROWS))
    one = exp.EQ(this=column_of(_PERSON, _GROUPS), expression=exp.Literal.number(1))
    repeats = exp.GT(this=column_of(COUNT, _GROUPS), expression=exp.Literal.number(1))
    counts = {
        COUNT: exp.and_(_is_split(), one),
        _REPEATED: repeats,
        _OWN: exp.and_(repeats.copy(), one.copy()),
    }
    shown = [named(_counted(tree), name) for name, tree in counts.items()]
    return exp.select(*shown).from_(groups)


def _groups(plan: Plan, value: exp.Column) -> exp.Subquery:
    """Return the rows that leave by a value of theirs: inside or outside, how many, of how many."""
    grouping, when = _parts(plan)
    carried: dict[str, exp.Expr] = {HIGH: high_flag(when)}
    high = column_of(HIGH, ROWS)
    shown: dict[str, exp.Expr] = {
        HIGH: exp.func("BOOL_OR", high),
        _ALL_HIGH: exp.func("BOOL_AND", high.copy()),
        COUNT: exp.Count(this=exp.Star()),
    }
    if grouping.person is not None:
        carried[_PERSON] = _key_of(grouping.person)
        shown[_PERSON] = _distinct(column_of(_PERSON, ROWS))
    rows = grouped_select(plan, carried)
    groups = exp.select(*(named(tree, name) for name, tree in shown.items()))
    groups = groups.from_(subquery(rows, ROWS)).group_by(value)
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return subquery(groups.where(known), _GROUPS)


def _key_of(person: InputColumn) -> exp.Expr:
    return exp.column(exp.to_identifier(person.name.text, quoted=True))


def _counted(condition: exp.Expr) -> exp.Expr:
    return exp.Count(this=_flagged(condition))


def _flagged(condition: exp.Expr) -> exp.Expr:
    return exp.case().when(condition, exp.Literal.number(1))


def _distinct(value: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[value]))


def _is_split() -> exp.Expr:
    return exp.and_(column_of(HIGH, _GROUPS), exp.Not(this=column_of(_ALL_HIGH, _GROUPS)))


def _parts(plan: Plan) -> tuple[Grouping, When]:
    grouping = grouping_of(plan)
    if grouping.when is None:
        raise InternalError("this release has no high class")
    return grouping, grouping.when
