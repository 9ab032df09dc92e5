"""GENERALIZE … WHEN as SQL: what the rows outside the high class give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.compile.grouping import COUNT, HIGH, fixed_quasi, grouped_select, high_flag
from ppdm_sql.compile.render import column_of, named
from ppdm_sql.errors import InternalError

if TYPE_CHECKING:
    from ppdm_sql.compile.query import Storage
    from ppdm_sql.compile.targets import Target
    from ppdm_sql.model.grouping import Grouping, When
    from ppdm_sql.model.release import Release
    from ppdm_sql.model.transform import InputColumn
    from ppdm_sql.names import Name

_ROWS, _GROUPS = "s", "g"
_ALL_HIGH, _PERSON = "ppdm_all_high", "ppdm_person"
REPEATED, OWN = "repeated", "own"


def unique_untouched_query(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return how many rows outside the high class show what nobody else does."""
    grouping, when = _parts(release)
    carried: dict[str, exp.Expr] = {HIGH: high_flag(when)}
    persons: exp.Expr = exp.Count(this=exp.Star())
    if grouping.person is not None:
        carried[_PERSON] = _key_of(grouping.person)
        person = column_of(_PERSON, _ROWS)
        # Rows without a KEY are one person together, as everywhere.
        nobody = exp.Is(this=person.copy(), expression=exp.null())
        persons = exp.Add(this=_distinct(person), expression=_distinct(_flagged(nobody)))
    rows = grouped_select(release, storage, target, carried)
    quasi = [column.name for column in grouping.columns]
    quasi += [name for name, _ in fixed_quasi(release)]
    untouched = _counted(exp.Not(this=column_of(HIGH, _ROWS)))
    classes = exp.select(named(untouched, COUNT), named(persons, _PERSON))
    classes = classes.from_(_subquery(rows, _ROWS))
    classes = classes.group_by(*(column_of(name.text, _ROWS) for name in quasi))
    alone = exp.EQ(this=column_of(_PERSON, _GROUPS), expression=exp.Literal.number(1))
    total = exp.Coalesce(
        this=exp.Sum(this=column_of(COUNT, _GROUPS)), expressions=[exp.Literal.number(0)]
    )
    return exp.select(named(total, COUNT)).from_(_subquery(classes, _GROUPS)).where(alone)


def split_persons_query(release: Release, storage: Storage, target: Target) -> exp.Select | None:
    """Return how many persons leave rows inside and outside the high class.

    By the KEY of the source, whether it leaves or not; None where there is none.
    """
    grouping, _ = _parts(release)
    if grouping.person is None:
        return None
    groups = _groups(release, storage, target, column_of(_PERSON, _ROWS))
    return exp.select(named(_counted(_is_split()), COUNT)).from_(groups)


def tied_values_query(release: Release, storage: Storage, target: Target, name: Name) -> exp.Select:
    """Return how many values of a column leave in rows inside and outside the high class."""
    groups = _groups(release, storage, target, column_of(name.text, _ROWS))
    return exp.select(named(_counted(_is_split()), COUNT)).from_(groups)


def tied_persons_query(
    release: Release, storage: Storage, target: Target, name: Name
) -> exp.Select:
    """Return the same of values that are one person's; how many repeat, how many of them are so."""
    groups = _groups(release, storage, target, column_of(name.text, _ROWS))
    one = exp.EQ(this=column_of(_PERSON, _GROUPS), expression=exp.Literal.number(1))
    repeats = exp.GT(this=column_of(COUNT, _GROUPS), expression=exp.Literal.number(1))
    counts = {
        COUNT: exp.and_(_is_split(), one),
        REPEATED: repeats,
        OWN: exp.and_(repeats.copy(), one.copy()),
    }
    shown = [named(_counted(tree), name) for name, tree in counts.items()]
    return exp.select(*shown).from_(groups)


def _groups(release: Release, storage: Storage, target: Target, value: exp.Column) -> exp.Subquery:
    """Return the rows that leave by a value of theirs: inside or outside, how many, of how many."""
    grouping, when = _parts(release)
    carried: dict[str, exp.Expr] = {HIGH: high_flag(when)}
    high = column_of(HIGH, _ROWS)
    shown: dict[str, exp.Expr] = {
        HIGH: exp.func("BOOL_OR", high),
        _ALL_HIGH: exp.func("BOOL_AND", high.copy()),
        COUNT: exp.Count(this=exp.Star()),
    }
    if grouping.person is not None:
        carried[_PERSON] = _key_of(grouping.person)
        shown[_PERSON] = _distinct(column_of(_PERSON, _ROWS))
    rows = grouped_select(release, storage, target, carried)
    groups = exp.select(*(named(tree, name) for name, tree in shown.items()))
    groups = groups.from_(_subquery(rows, _ROWS)).group_by(value)
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return _subquery(groups.where(known), _GROUPS)


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


def _parts(release: Release) -> tuple[Grouping, When]:
    if release.grouping is None or release.grouping.when is None:
        raise InternalError("this release has no high class")
    return release.grouping, release.grouping.when


def _subquery(select: exp.Select, alias: str) -> exp.Subquery:
    return select.subquery(exp.to_identifier(alias, quoted=True))
