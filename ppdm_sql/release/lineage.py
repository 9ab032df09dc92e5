"""Which source column a column really is: the same answer for a table, a view of it, a SELECT.

Keys are derived from this identity, so that a second release of the same column, made through a
view or a subquery, gets the same pseudonyms and the same noise: nothing is gained by comparing.
Where a column cannot be followed (an expression, a join without table names) its name alone
stands for it, which errs on the side of sharing a key.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from ppdm_sql.language.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, Name, QualifiedName, quote

if TYPE_CHECKING:
    from ppdm_sql.release.model import Relation, SourceCatalog

_DUCKDB = Dialect.get_or_raise("duckdb")
_DEEPEST = 32
_UNFOLLOWED = "column:"
_MAX_NODES = 100_000


def column_identity(catalog: SourceCatalog, source: Source, column: Name) -> str:
    """Return the identity of one column of a source."""
    if isinstance(source, FileSource):
        return f"file:{quote(PurePath(source.path).name)}.{quote(column.folded)}"
    trace = _Trace(catalog)
    if isinstance(source, QuerySource):
        found = trace.in_query(parse_query(source.text), column, {}, _DEEPEST)
    else:
        found = trace.in_relation(source.name, column, _DEEPEST)
    return found or f"column:{quote(column.folded)}"


def column_origins(catalog: SourceCatalog, source: Source, column: Name) -> frozenset[str]:
    """Return the columns of tables that a column is computed from.

    Unlike its identity, they are followed through expressions, and so through releases. What
    cannot be followed stands for itself, by its name.
    """
    if isinstance(source, FileSource):
        return frozenset({column_identity(catalog, source, column)})
    trace = _Trace(catalog)
    if isinstance(source, QuerySource):
        return trace.origins(parse_query(source.text), column, {}, _DEEPEST)
    return trace.origins_in_relation(source.name, column, _DEEPEST)


def passed_releases(
    catalog: SourceCatalog, source: Source, column: Name
) -> frozenset[tuple[QualifiedName, Name]]:
    """Return the releases that a column comes through, each with its column there."""
    if isinstance(source, FileSource):
        return frozenset()
    trace = _Trace(catalog)
    if isinstance(source, QuerySource):
        trace.origins(parse_query(source.text), column, {}, _DEEPEST)
    else:
        trace.origins_in_relation(source.name, column, _DEEPEST)
    return frozenset(
        (QualifiedName(view.parts[1:]), name)
        for view, name in trace.passed
        if catalog.is_release(view)
    )


def parse_query(text: str) -> exp.Query | None:
    """Return a SELECT as a tree to look at, never to run; None where sqlglot cannot read it."""
    logger = logging.getLogger("sqlglot")
    was_disabled, logger.disabled = logger.disabled, True  # its warnings quote the text
    try:
        trees = _DUCKDB.parse(text, error_level=ErrorLevel.IMMEDIATE, max_nodes=_MAX_NODES)
    except (SqlglotError, RecursionError):
        return None
    finally:
        logger.disabled = was_disabled
    tree = trees[0] if len(trees) == 1 else None
    if isinstance(tree, exp.Create):
        tree = tree.expression
    while isinstance(tree, exp.Subquery | exp.Paren) and not tree.args.get("joins"):
        tree = tree.this
    return tree if isinstance(tree, exp.Query) else None


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


@dataclass(frozen=True)
class _Trace:
    """Follows columns through queries, views and tables."""

    catalog: SourceCatalog
    home: tuple[Name, ...] = ()
    """Catalog and schema of the view that is followed: its names are looked up there first."""
    passed: set[tuple[QualifiedName, Name]] = field(default_factory=set)
    """The views that origins were followed through, each with its column."""

    def in_relation(self, name: QualifiedName, column: Name, depth: int) -> str | None:
        relation = self._found(name)
        if relation is None or depth == 0:
            return None
        if relation.view_sql is None:
            return _base(relation.name, column)
        if relation.has_renamed_columns:
            return None
        inner = _Trace(self.catalog, relation.name.parts[:2])
        return inner.in_query(parse_query(relation.view_sql), column, {}, depth - 1)

    def origins_in_relation(self, name: QualifiedName, column: Name, depth: int) -> frozenset[str]:
        relation = self._found(name)
        if relation is None or depth == 0:
            return _unknown(column)
        if relation.name.parts[1] == OWNER_SCHEMA:
            return frozenset()  # what a release drew is computed from nothing of the owner's tables
        if relation.view_sql is None:
            is_there = column in self._columns(relation)
            return frozenset({_base(relation.name, column)}) if is_there else _unknown(column)
        self.passed.add((relation.name, column))
        if relation.has_renamed_columns:
            return _unknown(column)
        inner = _Trace(self.catalog, relation.name.parts[:2], self.passed)
        return inner.origins(parse_query(relation.view_sql), column, {}, depth - 1)

    def origins(
        self, query: exp.Expr | None, column: Name, ctes: dict[Name, exp.CTE], depth: int
    ) -> frozenset[str]:
        """Return the base columns behind an output column, through any expression."""
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if isinstance(query, exp.SetOperation) and depth:
            sides = (query.left, query.right)
            return frozenset().union(
                *(self.origins(side, column, ctes, depth - 1) for side in sides)
            )
        tables = _tables(query) if isinstance(query, exp.Select) else None
        if not isinstance(query, exp.Select) or tables is None or depth == 0:
            return _unknown(column)
        ctes = ctes | {Name(cte.alias): cte for cte in query.ctes}
        found: set[str] = set()
        for qualifier, original in _read_columns(query, column):
            picked = _pick(tables, qualifier) or self._only_one_with(tables, original, ctes)
            outputs = {Name(one.alias) for one in query.expressions if one.alias} - {column}
            if qualifier is None and original in outputs and picked is not None:
                picked = picked if self._has(picked, original, ctes) else None
            if picked is None and qualifier is None and original in outputs:
                # Another output of the same SELECT: `weight AS a, a AS b`.
                found |= self.origins(query, original, ctes, depth - 1)
            elif picked is None:
                found |= _unknown(original)
            else:
                found |= self._origins_in(picked, original, ctes, depth)
        return frozenset(found)

    def _only_one_with(
        self,
        tables: dict[Name, exp.Table | exp.Subquery],
        column: Name,
        ctes: dict[Name, exp.CTE],
    ) -> exp.Table | exp.Subquery | None:
        """Return the one of several tables that has a column; None if none or several do."""
        having = [table for table in tables.values() if self._has(table, column, ctes)]
        return having[0] if len(having) == 1 and len(tables) > 1 else None

    def _columns(self, relation: Relation) -> set[Name]:
        return {one.name for one in self.catalog.columns(TableSource(relation.name))}

    def _has(
        self, table: exp.Table | exp.Subquery, column: Name, ctes: dict[Name, exp.CTE]
    ) -> bool:
        """Whether a table has a column; of what cannot be looked into, that it may."""
        listed = _listed_names(table)
        if listed is not None:
            return column in listed
        inner: exp.Expr | None = table.this if isinstance(table, exp.Subquery) else None
        if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier):
            name = table_name(table)
            if len(name.parts) == 1 and name.name in ctes:
                inner = ctes[name.name].this
            else:
                relation = self._found(name)
                if relation is None:
                    return True
                return column in self._columns(relation)
        if not isinstance(inner, exp.Select) or any(
            projection.find(exp.Star) for projection in inner.expressions
        ):
            return True
        return column in {Name(projection.output_name) for projection in inner.expressions}

    def _origins_in(
        self,
        table: exp.Table | exp.Subquery,
        column: Name,
        ctes: dict[Name, exp.CTE],
        depth: int,
    ) -> frozenset[str]:
        column = _behind_list(table, table.this, column) if _renames_columns(table) else column
        if isinstance(table, exp.Subquery):
            return self.origins(table.this, column, ctes, depth - 1)
        if not isinstance(table.this, exp.Identifier):
            return _unknown(column)
        name = table_name(table)
        if len(name.parts) == 1 and name.name in ctes:
            cte = ctes[name.name]
            outer = {other: tree for other, tree in ctes.items() if tree is not cte}
            column = _behind_list(cte, cte.this, column)
            return self.origins(cte.this, column, outer, depth - 1)
        return self.origins_in_relation(name, column, depth - 1)

    def _found(self, name: QualifiedName) -> Relation | None:
        relation = None
        if self.home and len(name.parts) < 3:
            missing = self.home[: 3 - len(name.parts)]
            relation = self.catalog.resolve(QualifiedName((*missing, *name.parts)))
        return relation or self.catalog.resolve(name)

    def in_query(
        self, query: exp.Expr | None, column: Name, ctes: dict[Name, exp.CTE], depth: int
    ) -> str | None:
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if not isinstance(query, exp.Select) or depth == 0:
            return None
        ctes = ctes | {Name(cte.alias): cte for cte in query.ctes}
        tables = _tables(query)
        found = _projected(query, column)
        if found is None or tables is None:
            return None
        qualifier, original = found
        table = _pick(tables, qualifier)
        if table is None or _renames_columns(table):
            return None
        if isinstance(table, exp.Subquery):
            return self.in_query(table.this, original, ctes, depth - 1)
        if not isinstance(table.this, exp.Identifier):
            return None
        name = table_name(table)
        if len(name.parts) == 1 and name.name in ctes:
            cte = ctes[name.name]
            if _renames_columns(cte):
                return None
            outer = {other: tree for other, tree in ctes.items() if tree is not cte}
            return self.in_query(cte.this, original, outer, depth - 1)
        return self.in_relation(name, original, depth - 1)


def _base(table: QualifiedName, column: Name) -> str:
    return "table:" + ".".join(quote(part.folded) for part in (*table.parts, column))


def _unknown(column: Name) -> frozenset[str]:
    return frozenset({f"{_UNFOLLOWED}{quote(column.folded)}"})


def may_share(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two columns come from one; of what cannot be followed, that they may."""
    unfollowed = any(origin.startswith(_UNFOLLOWED) for origin in one | other)
    return bool(one & other) or unfollowed


def _listed_names(table: exp.Expr) -> list[Name] | None:
    """Return the names that an alias gives to columns: `AS t (a, b)`; None if it gives none."""
    alias = table.args.get("alias")
    listed = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return [Name(column.name) for column in listed] if listed else None


def _behind_list(table: exp.Expr, inner: exp.Expr | None, column: Name) -> Name:
    """Return the output of a query that such a list gives another name."""
    listed = _listed_names(table)
    while isinstance(inner, exp.Subquery | exp.Paren):
        inner = inner.this
    if listed is None or column not in listed or not isinstance(inner, exp.Select):
        return column
    outputs = inner.expressions
    at = listed.index(column)
    if at >= len(outputs) or any(one.find(exp.Star) for one in outputs):
        return Name("")  # nothing is called so: it cannot be followed
    return Name(outputs[at].output_name)


def _read_columns(query: exp.Select, column: Name) -> list[tuple[Name | None, Name]]:
    """Return (table, column) of everything that an output column is computed from."""
    plain = _projected(query, column)
    if plain is not None:
        return [plain]
    for projection in query.expressions:
        if Name(projection.output_name) == column:
            read = projection.find_all(exp.Column)
            return [(Name(one.table) if one.table else None, Name(one.name)) for one in read]
        for star in projection.find_all(exp.Star):
            for replaced in star.args.get("replace") or ():
                if Name(replaced.alias_or_name) == column:
                    read = replaced.find_all(exp.Column)
                    return [
                        (Name(one.table) if one.table else None, Name(one.name)) for one in read
                    ]
    return [(None, column)]


def _tables(query: exp.Select) -> dict[Name, exp.Table | exp.Subquery] | None:
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


def _pick(
    tables: dict[Name, exp.Table | exp.Subquery], qualifier: Name | None
) -> exp.Table | exp.Subquery | None:
    if qualifier is not None:
        return tables.get(qualifier)
    return next(iter(tables.values())) if len(tables) == 1 else None


def _renames_columns(table: exp.Expr) -> bool:
    alias = table.args.get("alias")
    return bool(isinstance(alias, exp.TableAlias) and alias.args.get("columns"))


def _projected(query: exp.Select, column: Name) -> tuple[Name | None, Name] | None:
    """Return (table, column) behind an output column that is a plain column or comes by `*`."""
    stars: list[Name | None] = []
    for projection in query.expressions:
        inner = projection.unalias()
        while isinstance(inner, exp.Paren):
            inner = inner.this
        star = inner.this if isinstance(inner, exp.Column) else inner
        if isinstance(star, exp.Star):
            if star.args.get("rename") or _lists(star, "replace", column):
                return None
            if not _lists(star, "except_", column):
                stars.append(Name(inner.table) if getattr(inner, "table", "") else None)
        elif Name(projection.output_name) == column:
            if not isinstance(inner, exp.Column):
                return None
            return (Name(inner.table) if inner.table else None), Name(inner.name)
    if not query.expressions:  # FROM-first without a SELECT
        stars.append(None)
    return (stars[0], column) if len(stars) == 1 else None


def _lists(star: exp.Star, clause: str, column: Name) -> bool:
    return any(Name(item.alias_or_name) == column for item in star.args.get(clause) or ())
