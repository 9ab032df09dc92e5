"""What names mean at one place of a query: which tables are there, and which columns they have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.language.syntax import TableSource
from ppdm_sql.names import Name
from ppdm_sql.release.lineage import found_from
from ppdm_sql.release.select_outputs import called_function, outputs_of
from ppdm_sql.release.select_trees import listed_names, parse_query, table_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.model import Relation, SourceCatalog
    from ppdm_sql.release.select_sources import Level, SelectTable

_DEEPEST = 40
SERIES = ("range", "generate_series")


@dataclass(frozen=True)
class Scope:
    """What names mean at one place."""

    ctes: Mapping[Name, exp.CTE] = field(default_factory=dict)
    levels: tuple[Level, ...] = ()
    """The tables of this SELECT first, then those of the queries around it."""
    depth: int = _DEEPEST
    is_optional: bool = False
    seen: frozenset[int] = frozenset()
    """Tables whose joins were followed already."""

    @property
    def is_deepest(self) -> bool:
        """Whether nothing is followed any further."""
        return self.depth <= 0

    def inside(self, **changes: object) -> Scope:
        """Return what names mean one step further in."""
        return replace(self, depth=self.depth - 1, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Reading:
    """Reads the tables of a query, or of a view."""

    catalog: SourceCatalog
    home: tuple[Name, ...] = ()
    """Catalog and schema of the view that is followed: its names are looked up there first."""

    def may_mean(self, column: exp.Column, table: SelectTable, scope: Scope) -> bool:
        """Whether a column of a condition may be one of a table."""
        if column.table and Name(column.table) != table.name:
            return False
        return self.has(table.node, Name(column.name), scope)

    def having(self, column: Name, scope: Scope) -> Iterator[SelectTable]:
        """Return the tables of a SELECT that may have a column."""
        tables = scope.levels[0].tables if scope.levels else ()
        return (table for table in tables if self.has(table.node, column, scope))

    def has(self, node: exp.Expr, column: Name, scope: Scope) -> bool:
        """Whether a table has a column; of what cannot be looked into, that it may."""
        names = self.names(node, scope)
        return names is None or column in names

    def names(self, node: exp.Expr, scope: Scope) -> list[Name] | None:
        """Return the columns of what stands behind FROM; None where nobody can tell."""
        listed = listed_names(node)
        if listed is not None or node.args.get("pivots"):
            return listed
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = table_name(node)
            cte = scope.ctes.get(name.name) if len(name.parts) == 1 else None
            if cte is not None:
                return listed_names(cte) or outputs_of(cte.this)
            relation = self.found(name)
            return None if relation is None else self.columns(relation)
        if isinstance(node, exp.Table):
            return [Name(one) for one in SERIES] if called_function(node.this) in SERIES else None
        return outputs_of(node.this)

    def calls_a_macro(self, tree: exp.Expr) -> bool:
        """Whether an expression calls a function of the owner's, which may read anything."""
        return any(
            self.catalog.is_macro(Name(called_function(call))) for call in tree.find_all(exp.Func)
        )

    def is_sorted(self, table: exp.Table, scope: Scope) -> bool:
        """Whether a view or CTE, or one that it reads, sorts its rows."""
        if scope.is_deepest or not isinstance(table.this, exp.Identifier):
            return scope.is_deepest
        name, walk = table_name(table), self
        cte = scope.ctes.get(name.name) if len(name.parts) == 1 else None
        inner: exp.Expr | None = cte.this if cte is not None else None
        relation = self.found(name) if cte is None else None
        if relation is not None and relation.view_sql is not None:
            inner = parse_query(relation.view_sql)
            walk = Reading(self.catalog, relation.name.parts[:2])
            if inner is None:
                return True  # cannot be read
        return inner is not None and (
            inner.find(exp.Order) is not None
            or any(walk.is_sorted(one, scope.inside()) for one in inner.find_all(exp.Table))
        )

    def columns(self, relation: Relation) -> list[Name]:
        """Return the columns of a table or view."""
        return [one.name for one in self.catalog.columns(TableSource(relation.name))]

    def found(self, name: QualifiedName) -> Relation | None:
        """Return the table or view of a name, as the view that is read would find it."""
        return found_from(self.catalog, self.home, name)
