"""What may be in a column: every column of a table that its values can tell something of.

Keys come from lineage, which follows a column exactly or not at all, and must never change. Here
too much is better than too little: a column without a table's name is looked for in all tables, a
joined table tells of what it is joined by, and what cannot be followed is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, Name, QualifiedName
from ppdm_sql.release.lineage import base_column, column_identity, unknown_column
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
    from collections.abc import Iterable, Iterator, Mapping

    from ppdm_sql.release.model import Relation, SourceCatalog

_DEEPEST = 32
_MOST_STEPS = 2_000
_FILTERS = ("where", "having", "qualify")
_UNREADABLE = (exp.Columns, exp.PositionalColumn, exp.Pivot)
"""What reads columns that are not written there."""
_GENERATORS = (exp.GenerateSeries, exp.Unnest, exp.Values, exp.Explode)


def column_ancestors(catalog: SourceCatalog, source: Source, column: Name) -> frozenset[str]:
    """Return the columns of tables that may be in a column of a source."""
    if isinstance(source, FileSource):
        return frozenset({column_identity(catalog, source, column)})
    return frozenset(_Walk(catalog).of_source(source, column))


def passed_releases(
    catalog: SourceCatalog, source: Source, column: Name
) -> frozenset[tuple[QualifiedName, Name]]:
    """Return the releases that a column may come through, each with its column there.

    Where that cannot be followed, all columns of all releases that are read.
    """
    if isinstance(source, FileSource):
        return frozenset()
    walk = _Walk(catalog)
    walk.of_source(source, column)
    releases = {view for view, _ in walk.passed if catalog.is_release(view)}
    return frozenset(
        (QualifiedName(view.parts[1:]), name) for view, name in walk.passed if view in releases
    )


@dataclass(frozen=True)
class _Table:
    """What stands behind FROM."""

    node: exp.Expr
    is_optional: bool
    """Whether its columns are NULL where nothing was found: then that tells something, too."""
    joined_by: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True)
class _Scope:
    """What names mean at one place."""

    ctes: Mapping[Name, exp.CTE] = field(default_factory=dict)
    outer: tuple[_Table, ...] = ()
    """Tables of the queries around this one, which it may read."""
    depth: int = _DEEPEST
    is_optional: bool = False

    @property
    def is_deepest(self) -> bool:
        return self.depth <= 0

    def inside(self, **changes: object) -> _Scope:
        return replace(self, depth=self.depth - 1, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Walk:
    """Follows a column through queries and views, to all that it may be computed from."""

    catalog: SourceCatalog
    home: tuple[Name, ...] = ()
    """Catalog and schema of the view that is followed: its names are looked up there first."""
    passed: set[tuple[QualifiedName, Name]] = field(default_factory=set)
    steps: Iterator[int] = field(default_factory=lambda: iter(range(_MOST_STEPS)))
    """Runs out where a query is read over and over: what is left is unknown."""

    def of_source(self, source: TableSource | QuerySource, column: Name) -> set[str]:
        if isinstance(source, QuerySource):
            return self.of_query(parse_query(source.text), column, _Scope())
        return self.of_relation(source.name, column, _Scope())

    def of_relation(self, name: QualifiedName, column: Name, scope: _Scope) -> set[str]:
        relation = self._found(name)
        if relation is None or scope.is_deepest:
            return unknown_column(column)
        if relation.name.parts[1] == OWNER_SCHEMA:
            return set()  # what a release drew is computed from nothing of the owner's tables
        names = self._columns(relation)
        if relation.view_sql is None:
            made_of = generated_from(relation, column) or ()
            found = {base_column(relation.name, column)} if column in names else set()
            for one in made_of:
                found |= self.of_relation(name, one, scope.inside())
            return found or unknown_column(column)
        self.passed.add((relation.name, column))
        query = parse_query(relation.view_sql)
        if relation.has_renamed_columns:
            query = placed(query, names.index(column), column) if column in names else None
        inner = _Walk(self.catalog, relation.name.parts[:2], self.passed, self.steps)
        return inner.of_query(query, column, scope.inside(ctes={}, outer=()))

    def of_query(self, query: exp.Expr | None, column: Name, scope: _Scope) -> set[str]:
        while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("joins"):
            query = query.this
        if isinstance(query, exp.SetOperation) and not scope.is_deepest:
            right = query.right if query.args.get("by_name") else same_place(query, column)
            sides = (query.left, right)
            inside = scope.inside(ctes={**scope.ctes, **_ctes(query)})
            found = set().union(*(self.of_query(side, column, inside) for side in sides))
            # A word that stands for a whole branch tells what the branch was chosen by.
            for side in sides:
                if isinstance(side, exp.Select) and _is_one_word(side, column):
                    found |= self._of_filters(side, inside)
            return found
        if isinstance(query, exp.Select) and not scope.is_deepest:
            return self._of_select(query, column, scope)
        self._pass_everything(query)
        return unknown_column(column)

    def _of_select(self, query: exp.Select, column: Name, scope: _Scope) -> set[str]:
        if next(self.steps, None) is None:
            self._pass_everything(query)
            return unknown_column(column)
        scope = scope.inside(ctes={**scope.ctes, **_ctes(query)})
        tables = _tables_of(query)
        inside = replace(scope, outer=(*tables, *scope.outer))
        tree = written_as(query, column)
        if tree is not None:
            found = self._of_tree(tree, inside, query, column)
        else:
            stars = [one for one in query.expressions if one.is_star]
            found = set() if stars or not query.expressions else unknown_column(column)
            found |= self._of_name(None, column, replace(inside, outer=tables))
            if any(one.find(*_UNREADABLE) or _renames(one) for one in query.expressions):
                found |= unknown_column(column)
                self._pass_everything(query)
        if scope.is_optional:
            found |= self._of_filters(query, scope)
        return found

    def _of_tree(
        self, tree: exp.Expr, scope: _Scope, query: exp.Select, column: Name | None
    ) -> set[str]:
        """Return what an expression reads, the queries inside it too."""
        parts = [tree, *(query.args.get("windows") or () if tree.find(exp.Window) else ())]
        found: set[str] = set()
        inner = [one for part in parts for one in part.find_all(exp.Select)]
        tables = tuple(table for one in inner for table in _tables_of(one))
        ctes = {name: cte for one in inner for name, cte in _ctes(one).items()}
        inside = replace(
            scope, outer=(*tables, *scope.outer), ctes={**scope.ctes, **ctes}, is_optional=False
        )
        outputs = _outputs_before(query, column)
        for one in (read for part in parts for read in part.find_all(exp.Column)):
            qualifier, name = (Name(one.table) if one.table else None), Name(one.name)
            if isinstance(one.this, exp.Star):
                found |= unknown_column(column or name)
            elif qualifier is None and name in outputs and not scope.is_deepest:
                # Perhaps another output of the same SELECT: `weight AS a, a AS b`.
                found |= self._of_select(query, name, scope.inside(outer=_around(scope, query)))
                found |= self._of_name(qualifier, name, inside) - unknown_column(name)
            else:
                found |= self._of_name(qualifier, name, inside)
        if any(part.find(*_UNREADABLE) or self._calls_a_macro(part) for part in parts) or any(
            one.is_star for select in inner for one in select.expressions
        ):
            found |= unknown_column(column or Name(""))
            self._pass_everything(query)
        if not found and not is_constant(tree):
            found |= unknown_column(column or Name(""))
        return found

    def _of_name(self, qualifier: Name | None, column: Name, scope: _Scope) -> set[str]:
        """Return what a name reads: of all tables that it may belong to."""
        named = [table for table in scope.outer if _alias(table.node) == qualifier]
        if qualifier is not None and not named:  # a field of a column: `address.zip`
            return self._of_name(None, qualifier, scope)
        having = [
            table
            for table in (named if qualifier is not None else scope.outer)
            if self._has(table.node, column, scope)
        ]
        found: set[str] = set() if having else unknown_column(column)
        for table in having:
            found |= self._of_table(table, column, scope)
        return found

    def _of_table(self, table: _Table, column: Name, scope: _Scope) -> set[str]:
        inside = scope.inside(outer=(), is_optional=table.is_optional or scope.is_optional)
        found = self._of_node(table.node, column, inside, scope)
        others = replace(
            scope.inside(is_optional=False),
            outer=tuple(replace(one, joined_by=()) for one in scope.outer),
        )
        for condition in () if others.is_deepest else table.joined_by:
            for one in condition.find_all(exp.Column):
                found |= self._of_name(_qualifier(one), Name(one.name), others)
        return found

    def _of_node(self, node: exp.Expr, column: Name, scope: _Scope, around: _Scope) -> set[str]:
        if node.args.get("pivots") or scope.is_deepest:
            self._pass_everything(node)
            return unknown_column(column)
        if isinstance(node, exp.Lateral):
            lateral = replace(scope, outer=around.outer)
            return self.of_query(node.this, behind_list(node, node.this, column), lateral)
        if isinstance(node, exp.Subquery):
            return self.of_query(node.this, behind_list(node, node.this, column), scope)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._of_named(node, column, scope)
        made = node.this if isinstance(node, exp.Table) else node
        if isinstance(made, _GENERATORS) or _calls(made) in ("range", "generate_series"):
            reads = list(made.find_all(exp.Column))
            others = replace(around, outer=tuple(t for t in around.outer if t.node is not node))
            each = (self._of_name(_qualifier(one), Name(one.name), others) for one in reads)
            return set().union(*each)
        self._pass_everything(node)
        return unknown_column(column)

    def _of_named(self, node: exp.Table, column: Name, scope: _Scope) -> set[str]:
        name = table_name(node)
        if len(name.parts) == 1 and name.name in scope.ctes:
            cte = scope.ctes[name.name]
            others = {other: tree for other, tree in scope.ctes.items() if tree is not cte}
            inner = behind_list(cte, cte.this, behind_list(node, cte.this, column))
            return self.of_query(cte.this, inner, replace(scope, ctes=others))
        listed = listed_names(node)
        if listed is not None and column in listed:
            relation = self._found(name)
            names = self._columns(relation) if relation is not None else []
            column = names[listed.index(column)] if listed.index(column) < len(names) else column
        return self.of_relation(name, column, scope)

    def _of_filters(self, query: exp.Select, scope: _Scope) -> set[str]:
        """Return what the rows of a SELECT were chosen by."""
        scope = replace(scope, outer=(*_tables_of(query), *scope.outer), is_optional=False)
        conditions = [query.args[word] for word in _FILTERS if query.args.get(word)]
        each = (self._of_tree(one, scope, query, None) for one in conditions)
        return set().union(*each)

    def _has(self, node: exp.Expr, column: Name, scope: _Scope) -> bool:
        """Whether a table has a column; of what cannot be looked into, that it may."""
        listed = listed_names(node)
        if listed is not None:
            return column in listed
        if node.args.get("pivots"):
            return True
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = table_name(node)
            if len(name.parts) > 1 or name.name not in scope.ctes:
                relation = self._found(name)
                return relation is None or column in self._columns(relation)
            node = scope.ctes[name.name]
            if (listed := listed_names(node)) is not None:
                return column in listed
        elif isinstance(node, exp.Table):
            return _calls(node.this) not in ("range", "generate_series") or column in (
                Name("range"),
                Name("generate_series"),
            )
        inner = node.this
        while isinstance(inner, exp.Subquery | exp.Paren):
            inner = inner.this
        if not isinstance(inner, exp.Select) or not inner.expressions:
            return True
        if any(one.is_star or one.find(*_UNREADABLE) for one in inner.expressions):
            return True
        return column in {Name(one.output_name) for one in inner.expressions}

    def _calls_a_macro(self, tree: exp.Expr) -> bool:
        return any(self.catalog.is_macro(Name(_calls(call))) for call in tree.find_all(exp.Func))

    def _pass_everything(self, query: exp.Expr | None) -> None:
        """Note every release that is read there, with all its columns."""
        names = self.catalog.relation_names() if query is None else ()
        tables = () if query is None else query.root().find_all(exp.Table)
        read = [table_name(one) for one in tables if isinstance(one.this, exp.Identifier)]
        read += [parse_name(name) for name in names]
        seen: set[QualifiedName] = set()
        while read:
            relation = self._found(read.pop())
            if relation is None or relation.view_sql is None or relation.name in seen:
                continue
            seen.add(relation.name)
            self.passed.update((relation.name, one) for one in self._columns(relation))
            tree = parse_query(relation.view_sql)
            inner = tree.find_all(exp.Table) if tree is not None else ()
            read += [table_name(one) for one in inner if isinstance(one.this, exp.Identifier)]

    def _columns(self, relation: Relation) -> list[Name]:
        return [one.name for one in self.catalog.columns(TableSource(relation.name))]

    def _found(self, name: QualifiedName) -> Relation | None:
        relation = None
        if self.home and len(name.parts) < 3:
            missing = self.home[: 3 - len(name.parts)]
            relation = self.catalog.resolve(QualifiedName((*missing, *name.parts)))
        return relation or self.catalog.resolve(name)


def _ctes(query: exp.Query) -> dict[Name, exp.CTE]:
    return {Name(cte.alias): cte for cte in query.ctes}


def _tables_of(query: exp.Select) -> tuple[_Table, ...]:
    """Return what stands behind FROM, joins in parentheses taken apart."""
    start = query.args.get("from_")
    return tuple(_flat(start.this, query.args.get("joins") or ())) if start else ()


def _flat(node: exp.Expr, joins: Iterable[exp.Join], is_optional: bool = False) -> Iterator[_Table]:
    joins = [*(node.args.get("joins") or ()), *joins]
    sides = {join.side.upper() for join in joins} | {join.method.upper() for join in joins}
    is_first_optional = is_optional or bool(sides & {"RIGHT", "FULL", "POSITIONAL"})
    inner = node.this
    if isinstance(node, exp.Paren) or (
        isinstance(node, exp.Subquery)
        and isinstance(inner, exp.Table | exp.Subquery)
        and not node.alias
    ):
        yield from _flat(inner, (), is_first_optional)
    else:
        yield _Table(node, is_first_optional)
    for join in joins:
        side = join.side.upper()
        is_outer = is_optional or side in ("LEFT", "FULL") or join.method.upper() == "POSITIONAL"
        conditions = tuple(filter(None, [join.args.get("on")])) + tuple(
            exp.column(one.copy()) for one in join.args.get("using") or ()
        )
        for table in _flat(join.this, (), is_outer):
            yield replace(table, joined_by=(*table.joined_by, *conditions))


def _around(scope: _Scope, query: exp.Select) -> tuple[_Table, ...]:
    """Return the tables around a SELECT whose own are the first of the scope."""
    return scope.outer[len(_tables_of(query)) :]


def _outputs_before(query: exp.Select, column: Name | None) -> set[Name]:
    """Return the names of outputs that an output may read, or all where it is a condition."""
    names = [Name(one.output_name) for one in query.expressions]
    listed = names[: names.index(column)] if column in names else names
    return set(listed) - {column}


def _alias(node: exp.Expr) -> Name | None:
    return Name(node.alias_or_name) if node.alias_or_name else None


def _qualifier(column: exp.Column) -> Name | None:
    return Name(column.table) if column.table else None


def _calls(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _renames(projection: exp.Expr) -> bool:
    star = projection.find(exp.Star)
    return bool(star and star.args.get("rename"))


def _is_one_word(query: exp.Select, column: Name) -> bool:
    tree = written_as(query, column)
    return tree is not None and tree.find(exp.Column) is None
