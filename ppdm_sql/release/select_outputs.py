"""What a SELECT shows: names of its outputs, what a star brings, what stands in an expression."""

from __future__ import annotations

from sqlglot import exp

from ppdm_sql.engine.sql import to_sql
from ppdm_sql.names import Name
from ppdm_sql.release.select_trees import lists, written_as

UNREADABLE = (exp.Columns, exp.PositionalColumn, exp.Pivot)
"""What reads columns that are not written there."""


def ctes_of(query: exp.Query) -> dict[Name, exp.CTE]:
    """Return the CTEs of a query by their names."""
    return {Name(cte.alias): cte for cte in query.ctes}


def outputs_of(query: exp.Expr | None) -> list[Name] | None:
    """Return the names of a query's columns; None where a star or the like brings them."""
    while isinstance(query, exp.Subquery | exp.Paren | exp.SetOperation):
        query = query.left if isinstance(query, exp.SetOperation) else query.this
    if not isinstance(query, exp.Select) or not query.expressions:
        return None
    if any(one.is_star or one.find(*UNREADABLE) for one in query.expressions):
        return None
    return [Name(one.output_name) for one in query.expressions]


def outputs_before(query: exp.Select, column: Name | None) -> set[Name]:
    """Return the names of outputs that an output may read, or all where it is a condition."""
    names = [Name(one.output_name) for one in query.expressions]
    listed = names[: names.index(column)] if column in names else names
    return set(listed) - {column}


def brought_by(projection: exp.Expr, column: Name) -> list[tuple[Name | None, Name]]:
    """Return what a star may show under a name: columns with their tables, where these are written."""
    star = projection.find(exp.Star) if projection.is_star else None
    if star is None:
        return []
    table = star_qualifier(projection)
    renamed = star.args.get("rename") or ()
    found = [
        (qualifier_of(one.this) or table, Name(one.this.name))
        for one in renamed
        if Name(one.alias) == column
    ]
    is_elsewhere = any(lists(star, clause, column) for clause in ("replace", "except_"))
    if not is_elsewhere and column not in [Name(one.this.name) for one in renamed]:
        found.append((table, column))
    return found


def star_qualifier(projection: exp.Expr) -> Name | None:
    """Return the table of `t.*`; None of `*`."""
    inner = projection.unalias()
    return Name(inner.table) if isinstance(inner, exp.Column) and inner.table else None


def qualifier_of(column: exp.Column) -> Name | None:
    """Return the table that a column is written with."""
    return Name(column.table) if column.table else None


def called_function(node: exp.Expr) -> str:
    """Return the word of a function; nothing of anything else."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def are_written_apart(left: exp.Expr, right: exp.Expr | None, column: Name) -> bool:
    """Whether two branches write a column differently.

    Which of the two was written then tells by what a branch was chosen, wherever that stands:
    `x … WHERE ill UNION ALL -x … WHERE NOT ill`.
    """
    branches = [_first_select(side) for side in (left, right)]
    if any(one is None for one in branches):
        return True
    trees = [written_as(one, column) for one in branches if one is not None]
    texts = [None if one is None else _without_tables(one) for one in trees]
    return texts[0] != texts[1]


def _without_tables(projection: exp.Expr) -> str:
    """Return an expression as text, however its columns and the whole are called."""
    tree = projection.unalias().copy()
    for column in tree.find_all(exp.Column):
        column.set("table", None)
    return to_sql(tree).lower()


def _first_select(query: exp.Expr | None) -> exp.Select | None:
    while isinstance(query, exp.Subquery | exp.Paren | exp.SetOperation):
        query = query.left if isinstance(query, exp.SetOperation) else query.this
    return query if isinstance(query, exp.Select) else None
