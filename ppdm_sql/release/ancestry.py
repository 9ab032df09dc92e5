"""What may be in a column: every column of a table that its values can tell something of.

Keys come from lineage, which follows a column exactly or not at all, and must never change. Here
too much is better than too little. A joined table tells of what it is joined by; a word that stands
for one branch of a UNION, and a sum of a group, perhaps tell what branch or group it is, and only
the data can say; what cannot be followed is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import to_sql
from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, Name, QualifiedName
from ppdm_sql.release.lineage import (
    PERHAPS,
    base_column,
    chosen_by,
    column_identity,
    unknown_column,
)
from ppdm_sql.release.select_names import SERIES, Reading, Scope
from ppdm_sql.release.select_outputs import (
    UNREADABLE,
    are_written_apart,
    brought_by,
    called_function,
    ctes_of,
    outputs_before,
    qualifier_of,
)
from ppdm_sql.release.select_sources import (
    Level,
    SelectTable,
    filters_of,
    level_of,
    optional_level_of,
)
from ppdm_sql.release.select_trees import (
    behind_list,
    generated_from,
    is_constant,
    listed_names,
    parse_query,
    placed,
    same_place,
    table_name,
    written_as,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ppdm_sql.release.model import SourceCatalog

_MOST_STEPS = 3_000
_TABLE = "table:"


def column_ancestors(catalog: SourceCatalog, source: Source, column: Name) -> frozenset[str]:
    """Return the columns of tables that may be in a column of a source."""
    if isinstance(source, FileSource):
        return frozenset({column_identity(catalog, source, column)})
    return frozenset(_Walk(catalog).of_source(source, column))


def possible_columns(catalog: SourceCatalog, source: Source, column: Name) -> frozenset[str]:
    """Return the columns of tables, and the view itself, that a column may be, or be computed from.

    For one whose identity cannot be followed: `SELECT * FROM a JOIN b USING (c)`.
    """
    found = {one for one in column_ancestors(catalog, source, column) if one.startswith(_TABLE)}
    if isinstance(source, TableSource):
        found.add(base_column(source.name, column))
    return frozenset(found)


def shown_columns(catalog: SourceCatalog, source: Source, column: Name) -> frozenset[str]:
    """Return the columns of tables that a column shows as they are, where it is not computed."""
    text: str | None = None
    if isinstance(source, QuerySource):
        text = source.text
    elif isinstance(source, TableSource):
        relation = catalog.resolve(source.name)
        text = relation.view_sql if relation is not None else None
    query = parse_query(text) if text is not None else None
    if not isinstance(query, exp.Select):
        return frozenset()
    tree = written_as(query, column)
    if tree is not None and not isinstance(tree.unalias(), exp.Column):
        return frozenset()
    return possible_columns(catalog, source, column)


def passed_releases(
    catalog: SourceCatalog, source: Source, column: Name
) -> frozenset[tuple[QualifiedName, Name]]:
    """Return the releases that a column may come through, each with its column there.

    Where that cannot be followed, all columns of all releases that are read: those of whose tables
    DuckDB reads every one.
    """
    if isinstance(source, FileSource):
        return frozenset()
    walk = _Walk(catalog)
    walk.of_source(source, column)
    read = set(catalog.base_tables(source))
    releases = {
        view
        for view in {view for view, _ in walk.passed}
        if catalog.is_release(view)
        and (not read or read.issuperset(catalog.base_tables(TableSource(view))))
    }
    return frozenset(
        (QualifiedName(view.parts[1:]), name) for view, name in walk.passed if view in releases
    )


@dataclass(frozen=True)
class _Walk(Reading):
    """Follows a column through queries and views, to all that it may be computed from."""

    passed: set[tuple[QualifiedName, Name]] = field(default_factory=set)
    steps: Iterator[int] = field(default_factory=lambda: iter(range(_MOST_STEPS)))
    """Runs out where a query is read over and over: what is left is unknown."""

    def of_source(self, source: TableSource | QuerySource, column: Name) -> set[str]:
        if isinstance(source, QuerySource):
            return self.of_query(parse_query(source.text), column, Scope())
        return self.of_relation(source.name, column, Scope())

    def of_relation(self, name: QualifiedName, column: Name, scope: Scope) -> set[str]:
        relation = self.found(name)
        if relation is None or scope.is_deepest:
            return self._lost(column, None)
        if relation.name.parts[1] == OWNER_SCHEMA:
            return set()  # what a release drew is computed from nothing of the owner's tables
        names = self.columns(relation)
        if relation.view_sql is None:
            found = {base_column(relation.name, column)} if column in names else set()
            for one in generated_from(relation, column) or ():
                found |= self.of_relation(name, one, scope.inside())
            return found or unknown_column(column)
        self.passed.add((relation.name, column))
        query = parse_query(relation.view_sql)
        inner = _Walk(self.catalog, relation.name.parts[:2], self.passed, self.steps)
        if relation.has_renamed_columns:
            picked = placed(query, names.index(column), column) if column in names else None
            if picked is None:  # SELECT * behind a list of columns: which is which, nobody says
                return inner._lost(column, query)
            query = picked
        return inner.of_query(query, column, scope.inside(ctes={}, levels=()))

    def of_query(self, query: exp.Expr | None, column: Name, scope: Scope) -> set[str]:
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if scope.is_deepest or next(self.steps, None) is None:
            return self._lost(column, query)
        if isinstance(query, exp.SetOperation):
            inside = scope.inside(ctes={**scope.ctes, **ctes_of(query)})
            right = query.right if query.args.get("by_name") else same_place(query, column)
            sides = [self.of_query(side, column, inside) for side in (query.left, right)]
            # What is written for a whole branch tells what the branch was chosen by.
            if sides[0] != sides[1] or are_written_apart(query.left, right, column):
                branches = (exp.Subquery(this=one.copy()) for one in (query.left, query.right))
                sides += [self._choice_of_table(one, inside) for one in branches]
            return set().union(*sides, () if all(sides[:2]) else {PERHAPS})
        if isinstance(query, exp.Select):
            return self._of_select(query, column, scope)
        return self._lost(column, query)

    def _of_select(self, query: exp.Select, column: Name, scope: Scope) -> set[str]:
        level = level_of(query)
        inside = scope.inside(
            ctes={**scope.ctes, **ctes_of(query)}, levels=(level, *scope.levels), seen=frozenset()
        )
        tree = written_as(query, column)
        found = set() if tree is None else self._of_tree(tree, inside, query, column)
        # Of two outputs of one name, the first is meant: it may be the star's.
        stars = [place for one in query.expressions for place in brought_by(one, column)]
        own = replace(inside, levels=(level,))
        there = [place for place in stars if any(self.having(place[1], own))]
        if tree is None and not query.expressions:  # FROM t
            there = [(None, column)]
        for qualifier, name in there or (stars if tree is None else ()):
            found |= self._of_name(qualifier, name, own, query)
        if tree is None and not there and not stars:
            found |= self._lost(column, query)
        if tree is None and any(one.find(*UNREADABLE) for one in query.expressions):
            found |= self._lost(column, query)
        # Rows that are put together by their places show in what order they were.
        if any(join.method.upper() == "POSITIONAL" for join in query.args.get("joins") or ()):
            found |= self._lost(column, query)
        # Who is in a list, and who is not, tells what the list was chosen by.
        if scope.is_optional or (tree is not None and tree.find(exp.AggFunc)):
            found |= self._of_choice(query, inside)
        return found

    def _of_choice(self, query: exp.Select, scope: Scope) -> set[str]:
        """Return what the rows of a SELECT were chosen by, here and in all that it reads."""
        plain = replace(scope, is_optional=False)
        found: set[str] = set()
        level = level_of(query)
        for condition in dict.fromkeys([*filters_of(query), *level.conditions]):
            found |= chosen_by(self._of_tree(condition, plain, query, None))
        if level.is_natural:
            names = [name for table in level.tables for name in self.names(table.node, plain) or ()]
            for name in {name for name in names if names.count(name) > 1}:
                found |= chosen_by(self._of_name(None, name, plain.inside(), query))
        for table in level.tables:
            found |= self._choice_of_table(table.node, plain.inside())
        return found

    def _choice_of_table(self, node: exp.Expr, scope: Scope) -> set[str]:
        if scope.is_deepest or next(self.steps, None) is None:
            return {PERHAPS}
        walk, inner = self, node.this if isinstance(node, exp.Subquery | exp.Lateral) else None
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = table_name(node)
            cte = scope.ctes.get(name.name) if len(name.parts) == 1 else None
            relation = None if cte is not None else self.found(name)
            if cte is not None:
                inner = cte.this
            elif relation is not None and relation.view_sql is not None:
                inner = parse_query(relation.view_sql)
                walk = _Walk(self.catalog, relation.name.parts[:2], self.passed, self.steps)
        found: set[str] = set()
        for select in inner.find_all(exp.Select) if inner is not None else ():
            ctes = {**scope.ctes, **ctes_of(select)}
            level = scope.inside(ctes=ctes, levels=(level_of(select), *scope.levels))
            found |= walk._of_choice(select, level)
        return found

    def _of_tree(
        self, tree: exp.Expr, scope: Scope, query: exp.Select, column: Name | None
    ) -> set[str]:
        """Return what an expression reads, the queries inside it too."""
        parts = [tree, *(query.args.get("windows") or () if tree.find(exp.Window) else ())]
        inner = [one for part in parts for one in part.find_all(exp.Select)]
        first = (scope.levels or (Level(),))[0].with_inner(map(optional_level_of, inner))
        ctes = {name: cte for one in inner for name, cte in ctes_of(one).items()}
        inside = replace(scope, levels=(first, *scope.levels[1:]), ctes={**scope.ctes, **ctes})
        before = outputs_before(query, column)
        found: set[str] = set()
        for one in (read for part in parts for read in part.find_all(exp.Column)):
            name = Name(one.name)
            if not one.table and name in before and not scope.is_deepest:
                # Perhaps another output of the same SELECT: `weight AS a, a AS b`.
                found |= self._of_select(query, name, scope.inside(levels=scope.levels[1:]))
                if not any(self.having(name, inside)):
                    continue
            found |= self._of_column(one, inside, query)
        is_unreadable = any(part.find(*UNREADABLE) for part in parts)
        stars = (one for part in parts for one in part.find_all(exp.Star))
        is_unreadable |= any(not isinstance(one.parent, exp.Count) for one in stars)
        if is_unreadable or any(map(self.calls_a_macro, parts)):
            found |= self._lost(column or Name(""), query)
        if not found and not is_constant(tree):
            found |= self._lost(column or Name(""), query)
        if query.args.get("group") and tree.find(exp.AggFunc, exp.AnonymousAggFunc):
            found.add(PERHAPS)  # of which group it is
        return found | self._of_order(parts, inside, query)

    def _of_order(self, parts: Iterable[exp.Expr], scope: Scope, query: exp.Select) -> set[str]:
        """Return what rows were sorted by, where a number of a row goes by that."""
        windows = (one for part in parts for one in part.find_all(exp.Window))
        if all(window.args.get("order") for window in windows):
            return set()
        inner = list(query.find_all(exp.Select))
        everything = replace(scope, levels=(Level().with_inner(map(level_of, inner)),))
        sorted_by = (
            one for order in query.find_all(exp.Order) for one in order.find_all(exp.Column)
        )
        each = (self._of_column(one, everything, query) for one in sorted_by)
        is_sorted_elsewhere = any(self.is_sorted(one, scope) for one in query.find_all(exp.Table))
        return set().union(*each, self._lost(Name(""), query) if is_sorted_elsewhere else ())

    def _of_column(self, column: exp.Column, scope: Scope, query: exp.Expr | None) -> set[str]:
        if isinstance(column.this, exp.Star):
            return self._lost(Name(""), query)
        return self._of_name(qualifier_of(column), Name(column.name), scope, query)

    def _of_name(
        self, qualifier: Name | None, column: Name, scope: Scope, query: exp.Expr | None
    ) -> set[str]:
        """Return what a name reads: of all tables of the nearest SELECT that it may belong to."""
        if scope.is_deepest or next(self.steps, None) is None:
            return self._lost(column, query)
        for index, level in enumerate(scope.levels):
            named = [table for table in level.tables if table.name == qualifier]
            tables = level.tables if qualifier is None else named
            having = [table for table in tables if self.has(table.node, column, scope)]
            around = replace(scope, levels=scope.levels[index:])
            if having:
                each = [self._of_table(one, column, around) for one in having]
                # Of a column that tables are joined by, the first one's is shown, if it is there.
                is_known = self.names(having[0].node, scope) is not None
                is_sure = is_known and not having[0].is_optional
                others = map(chosen_by, each[1:]) if is_sure else each[1:]
                return set().union(each[0], *others)
            if qualifier is not None and named:
                return self._lost(column, query)
        if qualifier is not None:  # a field of a column: `address.zip`
            return self._of_name(None, qualifier, scope.inside(), query)
        for level in scope.levels:  # the name of a table is its whole row
            for table in level.tables:
                if table.name == column:
                    return self._of_row(table, scope, query)
        return self._lost(column, query)

    def _of_row(self, table: SelectTable, scope: Scope, query: exp.Expr | None) -> set[str]:
        names = self.names(table.node, scope)
        if names is None:
            return self._lost(Name(""), query)
        return set().union(*(self._of_table(table, one, scope.inside()) for one in names))

    def _of_table(self, table: SelectTable, column: Name, scope: Scope) -> set[str]:
        inside = scope.inside(is_optional=table.is_optional or scope.is_optional)
        plain = replace(inside, levels=())
        found = self._of_node(table.node, column, plain, scope)
        if id(table.node) in scope.seen or not scope.levels:
            return found
        level = scope.levels[0]
        # Whether an optional table has something changes nothing of the others.
        others = tuple(
            one
            for one in level.tables
            if one is not table and (table.is_optional or not one.is_optional)
        )
        elsewhere = scope.inside(
            levels=(replace(level, tables=others), *scope.levels[1:]),
            seen=scope.seen | {id(table.node)},
            is_optional=False,
        )
        if not others:
            return found
        for condition in level.conditions:
            read = list(condition.find_all(exp.Column))
            is_tied = table.is_optional and any(condition is one for one in table.joined_by)
            if is_tied or any(self.may_mean(one, table, scope) for one in read):
                inner = elsewhere.levels[0].with_inner(
                    map(optional_level_of, condition.find_all(exp.Select))
                )
                there = replace(elsewhere, levels=(inner, *elsewhere.levels[1:]))
                for one in read:
                    if any(self.may_mean(one, other, scope) for other in inner.tables):
                        found |= chosen_by(self._of_column(one, there, None))
                    if is_tied and self.may_mean(one, table, scope):
                        own = self._of_node(table.node, Name(one.name), plain, scope)
                        found |= chosen_by(own)
        if level.is_natural:
            for name in self.names(table.node, scope) or (column,):
                if any(self.having(name, elsewhere)):
                    found |= chosen_by(self._of_name(None, name, elsewhere, None))
        return found

    def _of_node(self, node: exp.Expr, column: Name, scope: Scope, around: Scope) -> set[str]:
        if node.args.get("pivots") or scope.is_deepest:
            return self._lost(column, node)
        if isinstance(node, exp.Lateral | exp.Subquery):
            # A query behind FROM may read tables beside it, LATERAL or not.
            beside = [
                replace(level, tables=tuple(one for one in level.tables if one.node is not node))
                for level in around.levels
            ]
            inner = replace(scope, levels=tuple(beside))
            return self.of_query(node.this, behind_list(node, node.this, column), inner)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._of_named(node, column, scope)
        made = node.this if isinstance(node, exp.Table) else node
        if isinstance(made, exp.Unnest | exp.Values) or called_function(made) in (
            *SERIES,
            "unnest",
        ):
            each = (
                self._of_column(one, around.inside(), None) for one in made.find_all(exp.Column)
            )
            return set().union(*each)
        if called_function(made).startswith("read_"):  # a file: its columns are its own
            return {f"file:{to_sql(made)} {column}"}
        return self._lost(column, None)

    def _of_named(self, node: exp.Table, column: Name, scope: Scope) -> set[str]:
        name = table_name(node)
        cte = scope.ctes.get(name.name) if len(name.parts) == 1 else None
        if cte is not None:
            others = {other: tree for other, tree in scope.ctes.items() if tree is not cte}
            inner = behind_list(cte, cte.this, behind_list(node, cte.this, column))
            return self.of_query(cte.this, inner, replace(scope, ctes=others, levels=()))
        listed, relation = listed_names(node), self.found(name)
        if listed is not None and column in listed and relation is not None:
            names, place = self.columns(relation), listed.index(column)
            column = names[place] if place < len(names) else column
        return self.of_relation(name, column, scope)

    def _lost(self, column: Name, query: exp.Expr | None) -> set[str]:
        """Return that a column is unknown; note every release that may be read there."""
        tables = list(query.root().find_all(exp.Table)) if query is not None else []
        read = [table_name(one) for one in tables if isinstance(one.this, exp.Identifier)]
        if query is None or not all(isinstance(one.this, exp.Identifier) for one in tables):
            read += map(parse_name, self.catalog.relation_names())
        seen: set[QualifiedName] = set()
        while read:
            relation = self.found(read.pop())
            if relation is None or relation.view_sql is None or relation.name in seen:
                continue
            seen.add(relation.name)
            self.passed.update((relation.name, one) for one in self.columns(relation))
            tree = parse_query(relation.view_sql)
            inner = tree.find_all(exp.Table) if tree is not None else ()
            read += [table_name(one) for one in inner if isinstance(one.this, exp.Identifier)]
        return unknown_column(column)
