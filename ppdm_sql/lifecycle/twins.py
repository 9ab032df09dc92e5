"""Columns that say again what GENERALIZE made coarser: released beside it, they undo the classes.

A twin comes from the same column of the source as a generalized one, by whatever expression, or
may come from it, and one of the two determines the other. Whether it is kept, mapped or
pseudonymised does not matter: it tells rows apart that show the same generalized value. Columns of
which only the data say that they go together, as education and years of school, get a warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.values_together import ValuesTogether, values_together
from ppdm_sql.release.acceptance import Acceptance, Objection
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import do_share, is_unfollowed, may_share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ppdm_sql.groups.compile import GroupedColumn
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import BoundRule, Release
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn

_ROWS = "s"
_RARELY = 0.5
"""Runs of equal values, as a share of those that chance would give."""
_COUNT = "twin rows"
_ESTIMATES = ("twin first", "twin second", "twin both")
_OF_ONE_COLUMN = "both come from the same column"
_GO_TOGETHER = "in these rows, one nearly determines the other"


def find_twins(version: Version) -> Iterator[Objection]:
    """Return what speaks against columns that come from a generalized one, or may."""
    found: set[Name] = set()
    for pair in (*_pairs(version.release), *_key_pairs(version.release)):
        is_near = may_share(pair.column.ancestors, pair.other.column.ancestors)
        if pair.name in found or not is_near or not _determines(version, pair.column, pair.other):
            continue
        found.add(pair.name)
        yield Objection(
            Acceptance("twin", pair.name),
            f"'{pair.name}' would undo GENERALIZE of '{pair.other.name}': {_why(pair)}",
            "leave it out, or list it as QUASI, so that classes are counted with it",
            pair.rule.span,
        )


def _why(pair: _Pair) -> str:
    if do_share(pair.column.ancestors, pair.other.column.ancestors):
        return _OF_ONE_COLUMN
    for name, column in ((pair.name, pair.column), (pair.other.name, pair.other.column)):
        if is_unfollowed(column.ancestors):
            return f"the origin of '{name}' cannot be followed"
    return _GO_TOGETHER


def estimates(release: Release) -> dict[str, exp.Expr]:
    """Return what `go_together` asks of all rows: how many values there are, alone and in pairs."""
    asked: dict[str, exp.Expr] = {_COUNT: exp.Count(this=exp.Star())}
    for index, pair in enumerate(_unrelated(release)):
        for name, tree in zip(_ESTIMATES, _three(pair.column, pair.other.column), strict=True):
            asked[f"{name} {index}"] = exp.ApproxDistinct(this=tree)
    return asked if len(asked) > 1 else {}


def go_together(
    version: Version, estimated: Mapping[str, Any], accepted: Collection[Acceptance]
) -> list[str]:
    """Return warnings of columns that determine a generalized one, wherever they come from.

    They are counted where the estimates are near. Who accepted a twin is not warned of it.
    """
    rows = int(estimated.get(_COUNT) or 0)
    warnings: dict[Name, str] = {}
    for index, pair in enumerate(_unrelated(version.release)):
        if Acceptance("twin", pair.name) in accepted:
            continue
        first, second, both = (int(estimated[f"{name} {index}"] or 0) for name in _ESTIMATES)
        is_near = ValuesTogether.may_go_together(rows, first, second, both)
        if pair.name not in warnings and is_near and _determines(version, pair.column, pair.other):
            warnings[pair.name] = (
                f"'{pair.name}' may undo GENERALIZE of '{pair.other.name}': {_GO_TOGETHER}; leave it"
                " out, or list it as QUASI"
            )
    return list(warnings.values())


def _unrelated(release: Release) -> list[_Pair]:
    return [
        pair
        for pair in _pairs(release)
        if not may_share(pair.column.ancestors, pair.other.column.ancestors)
        # Noise and means of groups hide which value it was.
        and not any(one.adds_noise or one.shows_means for one in pair.rule.traits)
    ]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A released column that is in no class, and a generalized one."""

    name: Name
    column: InputColumn
    rule: BoundRule
    other: GroupedColumn


def _pairs(release: Release) -> Iterator[_Pair]:
    grouping = find_grouping(release)
    if grouping is None:
        return
    for rule in release.released_rules:
        # QUASI columns are part of the classes; of one that is always NULL nothing is seen.
        if rule.role in (Role.QUASI, Role.KEY) or any(one.is_always_null for one in rule.traits):
            continue
        for name, column in zip(rule.names, rule.columns, strict=True):
            yield from (_Pair(name, column, rule, other) for other in grouping.columns)


def _key_pairs(release: Release) -> Iterator[_Pair]:
    """Return a KEY that is computed from a generalized column and released other than as a name.

    A number of a person that begins with the birth date is one.
    """
    grouping = find_grouping(release)
    for rule in release.released_rules if grouping is not None else ():
        if rule.role is not Role.KEY or any(one.renames for one in rule.traits):
            continue
        for name, column in zip(rule.names, rule.columns, strict=True):
            for other in grouping.columns if grouping is not None else ():
                if do_share(column.ancestors, other.column.ancestors):
                    yield _Pair(name, column, rule, other)


def _three(one: InputColumn, other: InputColumn) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """Return two columns and the pair of them."""
    first, second = (column_of(column.name.text, _ROWS) for column in (one, other))
    return first, second, exp.func("ROW", first.copy(), second.copy(), dialect="duckdb")


def _determines(version: Version, one: InputColumn, grouped: GroupedColumn) -> bool:
    """Whether a column that is not constant comes from the other, or goes together with it."""
    other = grouped.column
    first, second, _ = _three(one, other)
    source = source_table(version.release.source, _ROWS)
    found = values_together(version.engine, source, first, second)
    if found.first < 2:
        return False
    if do_share(one.ancestors, other.ancestors):
        return True  # whatever was computed, it discloses something of the same column
    if found.second < 2:
        return False  # nothing there to be undone
    if (said := found.determine_each_other()) is not None:
        return said
    if not (found.first_is_wide or found.second_is_wide):  # few rows
        return found.are_near and may_share(one.ancestors, other.ancestors)
    # What is different in nearly every row determines any column: where one of the two cannot be
    # followed, nobody can tell. A band of it comes in runs.
    if is_unfollowed(one.ancestors) or is_unfollowed(other.ancestors):
        return True
    return (found.first_is_wide and _comes_in_runs(version, second, first)) or (
        found.second_is_wide and _comes_in_runs(version, first, second)
    )


def _comes_in_runs(version: Version, value: exp.Expr, by: exp.Expr) -> bool:
    """Whether a column changes far more rarely along another than it would by chance."""
    order = exp.Order(expressions=[exp.Ordered(this=by)])
    before = exp.Window(this=exp.Lag(this=value.copy()), order=order)
    changes = exp.NullSafeNEQ(this=value.copy(), expression=before)
    rows = exp.select(named(value, "value"), named(changes, "changes"))
    rows = rows.from_(source_table(version.release.source, _ROWS))
    inner = rows.subquery(exp.to_identifier(_ROWS, quoted=True))
    count = exp.Count(this=exp.Star())
    each = exp.select(
        named(exp.func("POWER", count, exp.Literal.number(2), dialect="duckdb"), "square"),
        named(exp.CountIf(this=column_of("changes", _ROWS)), "changes"),
        named(exp.Count(this=exp.Star()), "rows"),
    )
    each = each.from_(inner).group_by(column_of("value", _ROWS))
    total = exp.select(
        *(
            named(exp.Sum(this=column_of(name, _ROWS)), name)
            for name in ("square", "changes", "rows")
        )
    ).from_(each.subquery(exp.to_identifier(_ROWS, quoted=True)))
    (row,) = version.engine.query(total).to_pylist()
    if not row["rows"]:
        return False
    by_chance = float(row["rows"]) - float(row["square"]) / float(row["rows"])
    return float(row["changes"]) < _RARELY * by_chance
