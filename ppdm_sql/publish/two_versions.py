"""Two versions side by side, person by person, on the rows of today: what do they show together?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import PpdmError
from ppdm_sql.groups.compile import HIGH, find_grouping, grouped_select, high_flag
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.compile import rows_with
from ppdm_sql.release.lineage import is_plain
from ppdm_sql.release.version import same_persons

if TYPE_CHECKING:
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn

_HERE, _THERE, _BOTH, _PERSON, _COUNT = "a", "b", "both", "ppdm_person", "n"
_STAR, _SHOWN, _PROMISED = "ppdm_star", "ppdm_shown", "ppdm_promised"


def values_apart(version: Version, other: Version, here: str, there: str) -> int | None:
    """Return how many values two versions do not have in common; None if nobody can tell."""
    if not same_persons(version, other):
        return None
    first, second = _column_of(version, here), _column_of(other, there)
    is_one = first.identity == second.identity and is_plain(first) and is_plain(second)
    if not is_one and version.release.source != other.release.source:
        return None  # equal persons may have other values
    sides = []
    for side, name, alias in ((version, here, _HERE), (other, there, _THERE)):
        inner = _with_person(side).subquery(exp.to_identifier(_BOTH, quoted=True))
        person = column_of(_PERSON, _BOTH)
        known = named(exp.Count(this=column_of(name, _BOTH)), _COUNT)
        rows = exp.select(person, known).from_(inner).group_by(person.copy())
        sides.append(rows.subquery(exp.to_identifier(alias, quoted=True)))
    zero = exp.Literal.number(0)
    counts = [
        exp.Coalesce(this=column_of(_COUNT, alias), expressions=[zero.copy()])
        for alias in (_HERE, _THERE)
    ]
    differ = exp.Abs(this=exp.Sub(this=counts[0], expression=counts[1]))
    total = exp.cast(exp.Coalesce(this=exp.Sum(this=differ), expressions=[zero.copy()]), "BIGINT")
    query = exp.select(named(total, _COUNT)).from_(sides[0])
    try:
        found = version.engine.query(query.join(sides[1], on=_same_person(), join_type="full"))
    except PpdmError:
        return None  # its source is not what it was
    return int(found.column(_COUNT)[0].as_py())


def _column_of(version: Version, name: str) -> InputColumn:
    """Return the source column of a released one."""
    return next(
        column
        for rule in version.release.released_rules
        for released, column in zip(rule.names, rule.columns, strict=True)
        if released.text == name
    )


def _same_person() -> exp.Expr:
    """Rows without a KEY are one person's, here and there."""
    return exp.NullSafeEQ(this=column_of(_PERSON, _HERE), expression=column_of(_PERSON, _THERE))


def _with_person(version: Version) -> exp.Select:
    """Return the rows of a version with whom they are about."""
    key = version.release.key
    assert key is not None  # asked before
    person = exp.cast(exp.column(exp.to_identifier(key.name.text, quoted=True)), "VARCHAR")
    if find_grouping(version.release) is None:
        return rows_with(version, {_PERSON: person})
    return grouped_select(version, {_PERSON: person})


def small_classes(version: Version, other: Version, k: int) -> exp.Select:
    """Return how many persons are in a class below k of what two versions show, and the least.

    By all rows of a person: a class is of persons of whom both show the same. It counts where it is
    smaller than what one of the two shows, and one of the two promises them a class. Not to be in
    one of them is something shown, too, and so is a row of stars or one outside WHEN.
    """
    sides = [_by_person(side, alias) for side, alias in ((version, _HERE), (other, _THERE))]
    shown = [column_of(_SHOWN, alias) for alias in (_HERE, _THERE)]
    sizes: dict[str, exp.Expr] = {
        _COUNT: _crowd(*shown),
        "a": _crowd(shown[0]),
        "b": _crowd(shown[1]),
        _PROMISED: exp.or_(
            *(
                exp.Coalesce(this=column_of(_PROMISED, alias), expressions=[exp.false()])
                for alias in (_HERE, _THERE)
            )
        ),
    }
    joined = exp.select(*(named(tree, name) for name, tree in sizes.items())).from_(sides[0])
    joined = joined.join(sides[1], on=_same_person(), join_type="full")
    size = column_of(_COUNT, _BOTH)
    small = exp.LT(this=size, expression=exp.Literal.number(k))
    crowd = exp.Greatest(this=column_of("a", _BOTH), expressions=[column_of("b", _BOTH)])
    return (
        exp.select(
            named(exp.Count(this=exp.Star()), "persons"),
            named(exp.Min(this=size.copy()), "least"),
        )
        .from_(joined.subquery(exp.to_identifier(_BOTH, quoted=True)))
        .where(
            exp.and_(small, exp.LT(this=size.copy(), expression=crowd), column_of(_PROMISED, _BOTH))
        )
    )


def are_alike(version: Version, other: Version) -> bool:
    """Whether two versions show the same of every person, row by row: then none cuts the other."""
    sides = [_by_person(side, alias) for side, alias in ((version, _HERE), (other, _THERE))]
    shown = [exp.cast(column_of(_SHOWN, alias), "VARCHAR") for alias in (_HERE, _THERE)]
    same = exp.NullSafeEQ(this=shown[0], expression=shown[1])
    every = named(exp.func("BOOL_AND", same, dialect="duckdb"), _COUNT)
    query = exp.select(every).from_(sides[0])
    found = version.engine.query(query.join(sides[1], on=_same_person(), join_type="full"))
    return bool(found.column(_COUNT)[0].as_py())


def _crowd(*shown: exp.Expr) -> exp.Expr:
    """Return how many persons show the same; who shows nothing is in no crowd of a single one."""
    window = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[one.copy() for one in shown])
    if len(shown) > 1:
        return window
    nothing = exp.Is(this=shown[0].copy(), expression=exp.null())
    return exp.case().when(nothing, exp.Literal.number(0)).else_(window)


def _by_person(version: Version, alias: str) -> exp.Subquery:
    """Return what all rows of each person show."""
    rows, exempt = _shown(version, alias)  # in rows of stars, and outside WHEN, no k is promised
    cells = [exp.cast(column_of(name, alias), "VARCHAR") for name in _quasi(version)]
    cells.append(exp.cast(exp.Literal.number(1), "VARCHAR"))  # without QUASI, all are alike
    row = exp.func("ROW", *cells, dialect="duckdb")
    is_promised: exp.Expr = exp.false()
    if exempt is not None:
        is_promised = exp.func("BOOL_OR", exp.Not(this=exp.paren(exempt)), dialect="duckdb")
    everything = exp.func("LIST_SORT", exp.ArrayAgg(this=row), dialect="duckdb")
    person = column_of(_PERSON, alias)
    query = exp.select(person, named(everything, _SHOWN), named(is_promised, _PROMISED))
    query = query.from_(rows).group_by(person.copy())
    return query.subquery(exp.to_identifier(alias, quoted=True))


def _shown(version: Version, alias: str) -> tuple[exp.Subquery, exp.Expr | None]:
    """Return the rows of a version with their person, and which of them are promised nothing."""
    key = version.release.key
    assert key is not None  # asked before
    person = exp.cast(exp.column(exp.to_identifier(key.name.text, quoted=True)), "VARCHAR")
    carried: dict[str, exp.Expr] = {_PERSON: person}
    grouping = find_grouping(version.release)
    if grouping is None:
        return rows_with(version, carried).subquery(exp.to_identifier(alias, quoted=True)), None
    exempt: exp.Expr = column_of(_STAR, alias)
    if grouping.when is not None:
        carried[HIGH] = high_flag(grouping.when)
        exempt = exp.or_(exempt, exp.Not(this=column_of(HIGH, alias)))
    rows = grouped_select(version, carried, suppressed_flag=_STAR)
    return rows.subquery(exp.to_identifier(alias, quoted=True)), exempt


def _quasi(version: Version) -> list[str]:
    return [
        name.text
        for rule in version.release.released_rules
        if rule.role is Role.QUASI and not any(one.is_always_null for one in rule.traits)
        for name in rule.names
    ]
