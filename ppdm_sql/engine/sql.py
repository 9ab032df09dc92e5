"""Trees to text. The only place that asks sqlglot for SQL to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, exp

from ppdm_sql.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.engine.targets import SqlTarget
    from ppdm_sql.names import QualifiedName

KERNEL_PREFIX = "ppdm_"


def to_sql(tree: exp.Expr, dialect: str = "duckdb", pretty: bool = False) -> str:
    """Return the text of a tree, every identifier quoted, every order said.

    `SET default_order` decides what is not said, in the session that runs the text.
    """
    for order in tree.find_all(exp.Ordered):
        if order.args.get("desc") is None:
            order.set("desc", False)
    return tree.sql(
        dialect=dialect,
        identify=True,
        normalize_functions=False,
        unsupported_level=ErrorLevel.RAISE,
        pretty=pretty,
        comments=False,
    )


def check_tree(tree: exp.Expr, target: SqlTarget) -> None:
    """Raise when a tree holds a node the target may not be given: default deny."""
    for node in tree.walk():
        if type(node) not in target.nodes:
            raise InternalError(f"{type(node).__name__} is not allowed in SQL for {target.name}")
        if isinstance(node, exp.Anonymous) and not str(node.this).startswith(KERNEL_PREFIX):
            raise InternalError(f"an unlisted function is not allowed in SQL for {target.name}")


def table_of(name: QualifiedName, alias: str | None = None) -> exp.Table:
    """Return a table reference, quoted part by part."""
    catalog, schema = name.catalog, name.schema
    return exp.table_(
        exp.to_identifier(name.name.text, quoted=True),
        db=exp.to_identifier(schema.text, quoted=True) if schema else None,
        catalog=exp.to_identifier(catalog.text, quoted=True) if catalog else None,
        alias=exp.to_identifier(alias, quoted=True) if alias else None,
    )


def create_schema(table: exp.Table) -> exp.Create:
    """Return what makes the schema of a table, if it is not there."""
    place = exp.Table(db=table.args["db"].copy(), catalog=table.args["catalog"].copy())
    return exp.Create(this=place, kind="SCHEMA", exists=True)


def column_of(name: str, table: str) -> exp.Column:
    """Return a reference to a column of a table, both quoted."""
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )


def select_of(shown: Iterable[exp.Expr]) -> exp.Select:
    """Return a SELECT of trees that nothing else holds.

    sqlglot's own builders copy what they are given, again at each step: of hundreds of columns, that
    is most of the time.
    """
    return exp.Select(expressions=list(shown))


def data_type(text: str) -> exp.DataType:
    """Return a type by its name; the compiled sqlglot casts to nothing else."""
    return exp.DataType.build(text, dialect="duckdb")


def named(tree: exp.Expr, name: str) -> exp.Expr:
    """Return an expression under a name, quoted."""
    return exp.alias_(tree, exp.to_identifier(name, quoted=True))
