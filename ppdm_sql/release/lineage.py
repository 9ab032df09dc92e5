"""Which source column a column really is: the same answer for a table, a view of it, a SELECT.

Keys are derived from this identity, so that a second release of the same column, made through a
view or a subquery, gets the same pseudonyms and the same noise: nothing is gained by comparing.
Where a column cannot be followed (an expression, a join without table names) its name alone
stands for it, which errs on the side of sharing a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.language.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, Name, QualifiedName, quote
from ppdm_sql.release.select_trees import (
    behind_list,
    generated_from,
    is_constant,
    listed_names,
    named_tables,
    parse_query,
    pick_table,
    projected,
    renames_columns,
    same_place,
    table_name,
    tables_of,
    written_as,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.release.model import Relation, SourceCatalog
    from ppdm_sql.treatments.protocol import InputColumn

_DEEPEST = 32
_UNFOLLOWED = "column:"
_CHOSEN = "by:"
PERHAPS = "perhaps:"
"""Among ancestors: it may tell of more, which only the data can say."""
_PART = re.compile(r'"((?:[^"]|"")*)"')
_LAST_PART = re.compile(r'\."(?:[^"]|"")*"$')


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
    cannot be followed stands for itself, by its name. Keys of noise are derived from them: what
    this returns must not change. Whether two columns tell of each other is ancestry's question.
    """
    if isinstance(source, FileSource):
        return frozenset({column_identity(catalog, source, column)})
    trace = _Trace(catalog)
    if isinstance(source, QuerySource):
        return trace.origins(parse_query(source.text), column, {}, _DEEPEST)
    return trace.origins_in_relation(source.name, column, _DEEPEST)


def written_source(catalog: SourceCatalog, source: Source) -> str:
    """Return what a source says of its columns: its query, and the text of every view behind it."""
    texts = [source.text] if isinstance(source, QuerySource) else []
    waiting = [source.name] if isinstance(source, TableSource) else []
    waiting += named_tables(texts[0]) if texts else []
    seen: set[QualifiedName] = set()
    while waiting and len(seen) < _DEEPEST:
        relation = catalog.resolve(waiting.pop())
        if relation is not None and relation.name not in seen:
            seen.add(relation.name)
            if relation.view_sql is not None:
                texts.append(relation.view_sql)
                waiting += named_tables(relation.view_sql)
    macros = catalog.macro_texts()
    named = [text for name, text in sorted(macros.items()) if _names(texts, macros, name)]
    return "\n".join([*sorted(texts), *named])


def _names(texts: list[str], macros: Mapping[str, str], name: str) -> bool:
    """Whether a macro may be called in some texts, or in those of another macro."""
    others = (text for other, text in macros.items() if other != name)
    return any(name.lower() in text.lower() for text in (*texts, *others))


def is_plain(column: InputColumn) -> bool:
    """Tell whether a column is one of a table or file as it is, not something computed."""
    return column.origins == {column.identity} and not column.identity.startswith(_UNFOLLOWED)


@dataclass(frozen=True)
class _Trace:
    """Follows columns through queries, views and tables."""

    catalog: SourceCatalog
    home: tuple[Name, ...] = ()
    """Catalog and schema of the view that is followed: its names are looked up there first."""

    def in_relation(self, name: QualifiedName, column: Name, depth: int) -> str | None:
        relation = self._found(name)
        if relation is None or depth == 0:
            return None
        if relation.view_sql is None:
            return base_column(relation.name, column)
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
            made_of = generated_from(relation, column)
            if made_of is not None:
                each = (self.origins_in_relation(name, one, depth - 1) for one in made_of)
                return frozenset().union(*each)
            is_there = column in self._columns(relation)
            return frozenset({base_column(relation.name, column)}) if is_there else _unknown(column)
        if relation.has_renamed_columns:
            return _unknown(column)
        inner = _Trace(self.catalog, relation.name.parts[:2])
        return inner.origins(parse_query(relation.view_sql), column, {}, depth - 1)

    def origins(
        self, query: exp.Expr | None, column: Name, ctes: dict[Name, exp.CTE], depth: int
    ) -> frozenset[str]:
        """Return the base columns behind an output column, through any expression."""
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if isinstance(query, exp.SetOperation) and depth:
            right = query.right if query.args.get("by_name") else same_place(query, column)
            return self.origins(query.left, column, ctes, depth - 1) | (
                self.origins(right, column, ctes, depth - 1)
            )
        tables = tables_of(query) if isinstance(query, exp.Select) else None
        if not isinstance(query, exp.Select) or tables is None or depth == 0:
            return _unknown(column)
        ctes = ctes | {Name(cte.alias): cte for cte in query.ctes}
        read, is_followed = self._read_columns(query, column)
        found: set[str] = set() if is_followed else set(_unknown(column))
        for qualifier, original in read:
            picked = pick_table(tables, qualifier)
            if picked is None and qualifier is None:
                picked = self._only_one_with(tables, original, ctes)
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

    def _read_columns(
        self, query: exp.Select, column: Name
    ) -> tuple[list[tuple[Name | None, Name]], bool]:
        """Return (table, column) of all that an output is computed from, and whether that is all.

        COLUMNS(…), #2, a query inside and a macro of the owner's read what is not written there.
        """
        plain = projected(query, column)
        if plain is not None:
            return [plain], True
        tree = written_as(query, column)
        if tree is None:  # by one of several stars, or by something that names columns itself
            names_itself = (exp.Columns, exp.Unnest, exp.Explode, exp.PositionalColumn)
            is_plain = not any(
                one.find(*names_itself)
                or ((star := one.find(exp.Star)) and star.args.get("rename"))
                for one in query.expressions
            )
            has_stars = any(one.is_star for one in query.expressions) or not query.expressions
            return ([(None, column)], True) if is_plain and has_stars else ([], False)
        parts = [tree]
        windows = {Name(one.name): one for one in query.args.get("windows") or ()}
        is_followed = tree.find(exp.Columns, exp.PositionalColumn, exp.Query) is None
        for window in tree.find_all(exp.Window):
            if window.alias:
                is_followed &= Name(window.alias) in windows
                # One named window may build on another: all of them are read then.
                parts += windows.values()
        for call in tree.find_all(exp.Func):
            name = call.name if isinstance(call, exp.Anonymous) else call.sql_name()
            is_followed &= not self.catalog.is_macro(Name(name))
        stars = (one for one in tree.find_all(exp.Star) if not isinstance(one.parent, exp.Count))
        is_followed &= next(stars, None) is None
        read = [
            (Name(one.table) if one.table else None, Name(one.name))
            for part in parts
            for one in part.find_all(exp.Column)
        ]
        return read, is_followed and (bool(read) or is_constant(tree))

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
        listed = listed_names(table)
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
        column = behind_list(table, table.this, column) if renames_columns(table) else column
        if isinstance(table, exp.Subquery):
            return self.origins(table.this, column, ctes, depth - 1)
        if not isinstance(table.this, exp.Identifier):
            return _unknown(column)
        name = table_name(table)
        if len(name.parts) == 1 and name.name in ctes:
            cte = ctes[name.name]
            outer = {other: tree for other, tree in ctes.items() if tree is not cte}
            column = behind_list(cte, cte.this, column)
            return self.origins(cte.this, column, outer, depth - 1)
        return self.origins_in_relation(name, column, depth - 1)

    def _found(self, name: QualifiedName) -> Relation | None:
        return found_from(self.catalog, self.home, name)

    def in_query(
        self, query: exp.Expr | None, column: Name, ctes: dict[Name, exp.CTE], depth: int
    ) -> str | None:
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if not isinstance(query, exp.Select) or depth == 0:
            return None
        ctes = ctes | {Name(cte.alias): cte for cte in query.ctes}
        tables = tables_of(query)
        found = projected(query, column)
        if found is None or tables is None:
            return None
        qualifier, original = found
        table = pick_table(tables, qualifier)
        if table is None or renames_columns(table):
            return None
        if isinstance(table, exp.Subquery):
            return self.in_query(table.this, original, ctes, depth - 1)
        if not isinstance(table.this, exp.Identifier):
            return None
        name = table_name(table)
        if len(name.parts) == 1 and name.name in ctes:
            cte = ctes[name.name]
            if renames_columns(cte):
                return None
            outer = {other: tree for other, tree in ctes.items() if tree is not cte}
            return self.in_query(cte.this, original, outer, depth - 1)
        return self.in_relation(name, original, depth - 1)


def found_from(
    catalog: SourceCatalog, home: tuple[Name, ...], name: QualifiedName
) -> Relation | None:
    """Return what a name means inside a view: looked up beside the view first."""
    relation = None
    if home and len(name.parts) < 3:
        relation = catalog.resolve(QualifiedName((*home[: 3 - len(name.parts)], *name.parts)))
    return relation or catalog.resolve(name)


def base_column(table: QualifiedName, column: Name) -> str:
    """Return how a column of a table is written among origins."""
    return "table:" + ".".join(quote(part.folded) for part in (*table.parts, column))


def unknown_column(column: Name) -> set[str]:
    """Return how one that cannot be followed is written among origins."""
    return {f"{_UNFOLLOWED}{quote(column.folded)}"}


def _unknown(column: Name) -> frozenset[str]:
    return frozenset(unknown_column(column))


def table_of_origin(origin: str) -> str:
    """Return the table of one origin; what cannot be followed stays as it is."""
    return origin if origin.startswith(_UNFOLLOWED) else _LAST_PART.sub("", origin)


def parts_of_origin(origin: str) -> tuple[QualifiedName, Name]:
    """Return the table and the column behind an origin that is a column of a table."""
    *table, column = (Name(part.replace('""', '"')) for part in _PART.findall(origin))
    return QualifiedName(tuple(table)), column


def chosen_by(ancestors: set[str]) -> set[str]:
    """Return what a value tells of because rows were joined or chosen by it, not computed from it."""
    return {_as_chosen(one) for one in ancestors}


def _as_chosen(ancestor: str) -> str:
    if ancestor.startswith((_CHOSEN, PERHAPS)):
        return ancestor
    return PERHAPS if ancestor.startswith(_UNFOLLOWED) else f"{_CHOSEN}{ancestor}"


def is_gone_table(catalog: SourceCatalog, origin: str) -> bool:
    """Whether the table of an origin is no longer there."""
    return catalog.resolve(parts_of_origin(origin)[0]) is None


def is_gone(catalog: SourceCatalog, origin: str) -> bool:
    """Whether a column of a table is no longer there: it, or its table, may have another name now."""
    if not origin.startswith("table:"):
        return False
    if is_gone_table(catalog, origin):
        return True
    table, column = parts_of_origin(origin)
    relation = catalog.resolve(table)
    return relation is not None and column not in {
        one.name for one in catalog.columns(TableSource(relation.name))
    }


def may_share(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two columns come from one; of what cannot be followed, that they may."""
    is_near = do_share(one, other) or do_share(other, one)
    return is_near or PERHAPS in one | other or is_unfollowed(one | other)


def do_share(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two columns are computed from one, or the first is chosen by what is in the other.

    Not two that are both chosen by a third: all columns of a joined table are.
    """
    (here, chosen), (there, _) = (_split(side) for side in (one, other))
    return bool((here | chosen) & there)


def _split(ancestors: frozenset[str]) -> tuple[set[str], set[str]]:
    chosen = {one for one in ancestors if one.startswith(_CHOSEN)}
    return set(ancestors - chosen - {PERHAPS}), {one.removeprefix(_CHOSEN) for one in chosen}


def is_unfollowed(origins: frozenset[str]) -> bool:
    """Whether something among them could not be followed."""
    return any(origin.startswith(_UNFOLLOWED) for origin in origins)
