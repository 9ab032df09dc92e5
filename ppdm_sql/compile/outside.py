"""GENERALIZE … WHEN as SQL: what the rows outside the high class give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.compile.grouping import COUNT, HIGH, fixed_quasi, grouped_select, high_flag
from ppdm_sql.compile.render import column_of, named
from ppdm_sql.errors import InternalError
from ppdm_sql.model.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.compile.query import Storage
    from ppdm_sql.compile.targets import Target
    from ppdm_sql.model.grouping import Grouping, When
    from ppdm_sql.model.release import Release

_ROWS, _GROUPS = "s", "g"
_ALL_HIGH = "ppdm_all_high"


def unique_untouched_query(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return how many rows outside the high class are alone with what they show."""
    grouping, when = _parts(release)
    rows = grouped_select(release, storage, target, {HIGH: high_flag(when)})
    quasi = [column.name for column in grouping.columns]
    quasi += [name for name, _ in fixed_quasi(release)]
    high = named(exp.func("BOOL_OR", column_of(HIGH, _ROWS)), HIGH)
    count = named(exp.Count(this=exp.Star()), COUNT)
    classes = exp.select(high, count).from_(_subquery(rows, _ROWS))
    classes = classes.group_by(*(column_of(name.text, _ROWS) for name in quasi))
    alone = exp.and_(
        exp.EQ(this=column_of(COUNT, _GROUPS), expression=exp.Literal.number(1)),
        exp.Not(this=column_of(HIGH, _GROUPS)),
    )
    return (
        exp.select(named(exp.Count(this=exp.Star()), COUNT))
        .from_(_subquery(classes, _GROUPS))
        .where(alone)
    )


def split_persons_query(release: Release, storage: Storage, target: Target) -> exp.Select | None:
    """Return how many persons leave rows inside and outside the high class under one KEY.

    None where no KEY leaves that puts rows together.
    """
    _, when = _parts(release)
    keys = [rule.names[0] for rule in release.released_rules if rule.role is Role.KEY]
    if not keys:
        return None
    key = column_of(keys[0].text, _ROWS)
    high = column_of(HIGH, _ROWS)
    rows = grouped_select(release, storage, target, {HIGH: high_flag(when)})
    persons = exp.select(
        named(exp.func("BOOL_OR", high), HIGH), named(exp.func("BOOL_AND", high.copy()), _ALL_HIGH)
    )
    persons = persons.from_(_subquery(rows, _ROWS)).group_by(key)
    persons = persons.where(exp.Not(this=exp.Is(this=key.copy(), expression=exp.null())))
    is_split = exp.and_(column_of(HIGH, _GROUPS), exp.Not(this=column_of(_ALL_HIGH, _GROUPS)))
    count = exp.select(named(exp.Count(this=exp.Star()), COUNT))
    return count.from_(_subquery(persons, _GROUPS)).where(is_split)


def _parts(release: Release) -> tuple[Grouping, When]:
    if release.grouping is None or release.grouping.when is None:
        raise InternalError("this release has no high class")
    return release.grouping, release.grouping.when


def _subquery(select: exp.Select, alias: str) -> exp.Subquery:
    return select.subquery(exp.to_identifier(alias, quoted=True))
