"""Which source column a column really is: the same answer for a table, a view of it, a SELECT.

Keys are derived from this identity, so that a second release of the same column, made through a
view or a subquery, gets the same pseudonyms and the same noise: nothing is gained by comparing.
Where a column cannot be followed (an expression, a join without table names) its name alone
stands for it, which errs on the side of sharing a key.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ppdm_sql.model.syntax import FileSource, QuerySource, Source
from ppdm_sql.names import Name, QualifiedName, quote

if TYPE_CHECKING:
    from ppdm_sql.model.release import SourceCatalog

_DEEPEST = 32


def column_identity(catalog: SourceCatalog, source: Source, column: Name) -> str:
    """Return the identity of one column of a source."""
    if isinstance(source, FileSource):
        return f"file:{quote(PurePath(source.path).name)}.{quote(column.folded)}"
    if isinstance(source, QuerySource):
        found = _in_query(catalog, source.query, column, _DEEPEST)
    else:
        found = _in_relation(catalog, source.name, column, _DEEPEST)
    return found or f"column:{quote(column.folded)}"


def _in_relation(
    catalog: SourceCatalog, name: QualifiedName, column: Name, depth: int
) -> str | None:
    relation = catalog.resolve(name)
    if relation is None or depth == 0:
        return None
    if relation.view_sql is None:
        return "table:" + ".".join(quote(part.folded) for part in (*relation.name.parts, column))
    try:
        tree = sqlglot.parse_one(relation.view_sql, dialect="duckdb")
    except SqlglotError:
        return None
    query = tree.expression if isinstance(tree, exp.Create) else None
    if not isinstance(query, exp.Query):
        return None
    return _in_query(catalog, query, column, depth - 1)


def _in_query(catalog: SourceCatalog, query: exp.Query, column: Name, depth: int) -> str | None:
    if not isinstance(query, exp.Select) or query.ctes or depth == 0:
        return None
    tables = _tables(query)
    found = _projected(query, column)
    if found is None:
        return None
    qualifier, original = found
    if qualifier is None:
        if len(tables) != 1:
            return None
        (table,) = tables.values()
    elif qualifier in tables:
        table = tables[qualifier]
    else:
        return None
    if isinstance(table, exp.Subquery):
        inner = table.this
        return _in_query(catalog, inner, original, depth - 1) if inner else None
    if not isinstance(table.this, exp.Identifier):
        return None
    parts = tuple(Name(part.name) for part in table.parts)
    return _in_relation(catalog, QualifiedName(parts), original, depth - 1)


def _tables(query: exp.Select) -> dict[Name, exp.Table | exp.Subquery]:
    joined = [join.this for join in query.args.get("joins") or ()]
    start = query.args.get("from_")
    sources = [start.this, *joined] if start else joined
    return {
        Name(source.alias_or_name): source
        for source in sources
        if isinstance(source, exp.Table | exp.Subquery)
    }


def _projected(query: exp.Select, column: Name) -> tuple[Name | None, Name] | None:
    """Return (table, column) behind an output column that is a plain column or comes by `*`."""
    stars: list[Name | None] = []
    for projection in query.expressions:
        inner = projection.unalias()
        if isinstance(inner, exp.Star):
            if not inner.args.get("replace") and not inner.args.get("rename"):
                stars.append(None)
        elif isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            stars.append(Name(inner.table) if inner.table else None)
        elif Name(projection.alias_or_name) == column:
            if not isinstance(inner, exp.Column):
                return None
            return (Name(inner.table) if inner.table else None), Name(inner.name)
    if not query.expressions:  # FROM-first without a SELECT
        stars.append(None)
    return (stars[0], column) if len(stars) == 1 else None
