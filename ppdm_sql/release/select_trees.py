"""SELECTs as trees: what stands where, for whoever follows a column through them."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from ppdm_sql.release.model import Relation

_DUCKDB = Dialect.get_or_raise("duckdb")
_MAX_NODES = 100_000
_is_quiet = ContextVar("is_quiet", default=False)
# Its warnings quote the text. By thread: others may parse meanwhile, and want to be warned.
logging.getLogger("sqlglot").addFilter(lambda _: not _is_quiet.get())


def named_tables(text: str) -> list[QualifiedName]:
    """Return the names of all tables that a SELECT reads."""
    tree = parse_query(text)
    tables = tree.find_all(exp.Table) if tree is not None else ()
    return [table_name(one) for one in tables if isinstance(one.this, exp.Identifier)]


def parse_query(text: str) -> exp.Query | None:
    """Return a SELECT as a tree to look at, never to run; None where sqlglot cannot read it."""
    tree = parse_tree(text)
    if isinstance(tree, exp.Create):
        tree = tree.expression
    while isinstance(tree, exp.Subquery | exp.Paren) and not tree.args.get("joins"):
        tree = tree.this
    return tree if isinstance(tree, exp.Query) else None


@lru_cache(maxsize=64)  # every column of a source is followed through the same texts
def parse_tree(text: str) -> exp.Expr | None:
    """Return one statement as a tree to look at, not to change; None if sqlglot cannot read it."""
    said = _is_quiet.set(True)
    try:
        trees = _DUCKDB.parse(text, error_level=ErrorLevel.IMMEDIATE, max_nodes=_MAX_NODES)
    except (SqlglotError, RecursionError):
        return None
    finally:
        _is_quiet.reset(said)
    tree: exp.Expr | None = trees[0] if len(trees) == 1 else None
    return tree


def table_name(table: exp.Table) -> QualifiedName:
    """Return the name of a table as it is written."""
    return QualifiedName(tuple(Name(part.name) for part in table.parts))


def visible_ctes(table: exp.Table) -> set[Name]:
    """Return the names that stand for CTEs where a table is named."""
    names: set[Name] = set()
    inside: exp.Expr = table
    parent = table.parent
    while parent is not None:
        if isinstance(parent, exp.With):
            # A CTE sees those before it, and itself when it is recursive.
            for cte in parent.expressions:
                if cte is inside and not parent.args.get("recursive"):
                    break
                names.add(Name(cte.alias))
                if cte is inside:
                    break
        elif isinstance(parent, exp.Query) and not isinstance(inside, exp.With):
            names |= {Name(cte.alias) for cte in parent.ctes}
        inside, parent = parent, parent.parent
    return names


def listed_names(table: exp.Expr) -> list[Name] | None:
    """Return the names that an alias gives to columns: `AS t (a, b)`; None if it gives none."""
    alias = table.args.get("alias")
    listed = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return [Name(column.name) for column in listed] if listed else None


def behind_list(table: exp.Expr, inner: exp.Expr | None, column: Name) -> Name:
    """Return the output of a query that such a list gives another name."""
    listed = listed_names(table)
    while isinstance(inner, exp.Subquery | exp.Paren):
        inner = inner.this
    if listed is None or column not in listed or not isinstance(inner, exp.Select):
        return column
    outputs = inner.expressions
    at = listed.index(column)
    if at >= len(outputs) or any(one.find(exp.Star) for one in outputs):
        return Name("")  # nothing is called so: it cannot be followed
    return Name(outputs[at].output_name)


def same_place(query: exp.SetOperation, column: Name) -> exp.Expr | None:
    """Return the right side of a UNION, its output at the place of a column called like it.

    UNION goes by place. Stars on both sides are taken to bring columns of the same names.
    """
    left, right = query.left, query.right
    while isinstance(left, exp.SetOperation | exp.Subquery | exp.Paren):
        left = left.left if isinstance(left, exp.SetOperation) else left.this
    while isinstance(right, exp.Subquery | exp.Paren):
        right = right.this
    if not isinstance(left, exp.Select) or not isinstance(right, exp.Select):
        found: exp.Expr = query.right
        return found
    if all(any(one.is_star for one in side.expressions) for side in (left, right)):
        return right
    names = [Name(one.output_name) for one in left.expressions]
    if any(one.is_star for one in left.expressions) or column not in names:
        return None
    return placed(right, names.index(column), column)


def placed(query: exp.Expr | None, place: int, column: Name) -> exp.Select | None:
    """Return a SELECT of the output at a place alone, called like a column; None if none is there."""
    if not isinstance(query, exp.Select) or place >= len(query.expressions):
        return None
    if any(one.is_star for one in query.expressions):
        return None
    moved = query.copy()
    output = moved.expressions[place]
    moved.set("expressions", [exp.alias_(output.unalias(), column.text, quoted=True)])
    return moved


def written_as(query: exp.Select, column: Name) -> exp.Expr | None:
    """Return the expression of an output column; None if none is written there."""
    for projection in query.expressions:
        if Name(projection.output_name) == column:
            expression: exp.Expr = projection
            return expression
        for star in projection.find_all(exp.Star):
            for replaced in star.args.get("replace") or ():
                if Name(replaced.alias_or_name) == column:
                    found: exp.Expr = replaced
                    return found
    return None


def is_constant(tree: exp.Expr) -> bool:
    """Tell whether an expression is the same in every row, whatever the table holds."""
    return not any(
        isinstance(node, exp.Func | exp.Window | exp.Anonymous) and not isinstance(node, exp.Cast)
        for node in tree.walk()
    )


def generated_from(relation: Relation, column: Name) -> list[Name] | None:
    """Return the columns that a generated one is computed from; None of any other column."""
    if relation.generated_sql is None:
        return None
    tree = parse_tree(relation.generated_sql)
    for definition in tree.find_all(exp.ColumnDef) if tree is not None else ():
        if Name(definition.name) == column and definition.constraints:
            read = [one for part in definition.constraints for one in part.find_all(exp.Column)]
            return [Name(one.name) for one in read] or None
    return None


def tables_of(query: exp.Select) -> dict[Name, exp.Table | exp.Subquery] | None:
    """Return the tables behind FROM by the names they have there; None for anything unusual."""
    start = query.args.get("from_")
    waiting = [start.this] if start else []
    waiting += [join.this for join in query.args.get("joins") or ()]
    tables: dict[Name, exp.Table | exp.Subquery] = {}
    while waiting:
        source = waiting.pop()
        waiting += [join.this for join in source.args.get("joins") or ()]
        if isinstance(source, exp.Paren) or (
            isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table)
        ):
            waiting.append(source.this)  # (a JOIN b)
        elif isinstance(source, exp.Table | exp.Subquery):
            name = Name(source.alias_or_name)
            if name in tables:
                return None
            tables[name] = source
        else:
            return None
    return tables


def pick_table(
    tables: dict[Name, exp.Table | exp.Subquery], qualifier: Name | None
) -> exp.Table | exp.Subquery | None:
    """Return the table of a name, or the only one; None if there are several."""
    if qualifier is not None:
        return tables.get(qualifier)
    return next(iter(tables.values())) if len(tables) == 1 else None


def renames_columns(table: exp.Expr) -> bool:
    """Tell whether an alias gives its columns other names."""
    alias = table.args.get("alias")
    return bool(isinstance(alias, exp.TableAlias) and alias.args.get("columns"))


def projected(query: exp.Select, column: Name) -> tuple[Name | None, Name] | None:
    """Return (table, column) behind an output column that is a plain column or comes by `*`."""
    stars: list[Name | None] = []
    for projection in query.expressions:
        inner = projection.unalias()
        while isinstance(inner, exp.Paren):
            inner = inner.this
        star = inner.this if isinstance(inner, exp.Column) else inner
        if isinstance(star, exp.Star):
            if star.args.get("rename") or lists(star, "replace", column):
                return None
            if not lists(star, "except_", column):
                stars.append(Name(inner.table) if getattr(inner, "table", "") else None)
        elif Name(projection.output_name) == column:
            if not isinstance(inner, exp.Column):
                return None
            return (Name(inner.table) if inner.table else None), Name(inner.name)
    if not query.expressions:  # FROM-first without a SELECT
        stars.append(None)
    return (stars[0], column) if len(stars) == 1 else None


def lists(star: exp.Star, clause: str, column: Name) -> bool:
    """Tell whether EXCLUDE or REPLACE behind a star names a column."""
    return any(Name(item.alias_or_name) == column for item in star.args.get(clause) or ())
