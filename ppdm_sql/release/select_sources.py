"""What stands behind FROM, and what ties it together: joins, and conditions of two tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.names import Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FILTERS = ("where", "having", "qualify")


@dataclass(frozen=True)
class SelectTable:
    """One table, query or function behind FROM."""

    node: exp.Expr
    is_optional: bool = False
    """Whether its columns are NULL where nothing was found: then that tells something, too."""
    joined_by: tuple[exp.Expr, ...] = ()
    """The conditions behind its own ON."""

    @property
    def name(self) -> Name | None:
        """How it is called there."""
        called = self.node.alias_or_name
        return Name(called) if called else None


@dataclass(frozen=True)
class Level:
    """The tables that names of one SELECT may mean, and the conditions that tie them together."""

    tables: tuple[SelectTable, ...] = ()
    conditions: tuple[exp.Expr, ...] = ()
    is_natural: bool = False
    """Whether some are joined by all columns that they have in common."""

    def with_inner(self, inner: Iterable[Level]) -> Level:
        """Return a level that has the tables of queries inside an expression, too."""
        levels = [*inner, self]
        return Level(
            tuple(table for one in levels for table in one.tables),
            tuple(condition for one in levels for condition in one.conditions),
            any(one.is_natural for one in levels),
        )


def level_of(query: exp.Select) -> Level:
    """Return what stands behind FROM of a SELECT; joins in parentheses are taken apart."""
    start = query.args.get("from_")
    tables = tuple(_flat(start.this, query.args.get("joins") or ())) if start else ()
    each = {id(one): one for table in tables for one in table.joined_by}
    conditions = list(each.values())
    conditions += [part for one in filters_of(query) for part in _parts(one)]
    joins = (*query.find_all(exp.Join),)
    is_natural = any(join.method.upper() == "NATURAL" for join in joins)
    return Level(tables, tuple(conditions), is_natural)


def optional_level_of(query: exp.Select) -> Level:
    """Return the same of a query inside an expression: it may find nothing."""
    level = level_of(query)
    return replace(level, tables=tuple(replace(one, is_optional=True) for one in level.tables))


def filters_of(query: exp.Select) -> list[exp.Expr]:
    """Return what the rows of a SELECT were chosen by: conditions, and which come first."""
    found = [query.args[word].this for word in _FILTERS if query.args.get(word)]
    distinct = query.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    order = query.args.get("order")
    if order is not None and (query.args.get("limit") or on is not None):
        found.append(order)
    return found + ([on] if on is not None else [])


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what is tied together by AND, one by one."""
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _parts(condition.left)
        yield from _parts(condition.right)
    else:
        yield condition


def _flat(
    node: exp.Expr, joins: Iterable[exp.Join], is_optional: bool = False
) -> list[SelectTable]:
    inner = node.this
    if isinstance(node, exp.Paren) or (
        isinstance(node, exp.Subquery)
        and isinstance(inner, exp.Table | exp.Subquery)
        and not node.alias
    ):
        tables = _flat(inner, (), is_optional)
    else:
        tables = [SelectTable(node, is_optional)]
    for join in [*(node.args.get("joins") or ()), *joins]:
        side, is_positional = join.side.upper(), join.method.upper() == "POSITIONAL"
        on = join.args.get("on")
        using = [exp.column(one.copy()) for one in join.args.get("using") or ()]
        conditions = (*(_parts(on) if on is not None else ()), *using)
        if side in ("RIGHT", "FULL") or is_positional:  # what stands before may be missing
            tables = [_joined(table, conditions) for table in tables]
        is_outer = side in ("LEFT", "FULL") or is_positional
        tables += [
            replace(table, joined_by=(*table.joined_by, *conditions))
            for table in _flat(join.this, (), is_optional or is_outer)
        ]
    return tables


def _joined(table: SelectTable, conditions: tuple[exp.Expr, ...]) -> SelectTable:
    return replace(table, is_optional=True, joined_by=(*table.joined_by, *conditions))
