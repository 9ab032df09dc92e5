"""A WHEN condition: its text to a tree whose values are parameters.

The values of a condition are secrets, so they may not stand in the text of a view. sqlglot reads
the condition; whether it reads it as DuckDB does is checked on the data, row by row, before
anything is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from ppdm_sql.errors import BindError, StatementError, suggest
from ppdm_sql.groups.compile import SLOT, When
from ppdm_sql.names import Name
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Condition
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.release.model import SourceColumn
    from ppdm_sql.types import ColumnType

_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between,
    exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip
_ALLOWED: tuple[type[exp.Expr], ...] = (
    *_COMPARISONS,
    exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren,
    exp.And, exp.Or, exp.Not, exp.Is, exp.Like, exp.ILike,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Cast, exp.TryCast, exp.DataType,
    exp.DataTypeParam, exp.Lower, exp.Upper, exp.Trim, exp.Coalesce, exp.Abs,
)  # fmt: skip
_HINT = (
    "a condition compares source columns with values: = <> < <= > >= IN BETWEEN LIKE "
    "IS NULL, joined by AND, OR, NOT; compute anything more in a (SELECT …) source"
)
_MOST = 2**63


def bind_when(condition: Condition, columns: Mapping[Name, SourceColumn]) -> When:
    """Return a condition with its columns resolved and its values as parameters."""
    try:
        tree = sqlglot.parse_one(condition.text, dialect="duckdb", into=exp.Condition)
    except sqlglot.errors.SqlglotError:
        raise StatementError(
            "this condition cannot be read", condition.span, _HINT, code="syntax"
        ) from None
    for node in tree.walk():
        if not isinstance(node, _ALLOWED):
            raise BindError(
                f"{type(node).__name__.lower()} cannot stand in a WHEN condition",
                condition.span,
                _HINT,
                code="wrong_type",
            )
    if not any(True for _ in tree.find_all(exp.Column)):
        raise BindError(
            "this condition names no column of the source",
            condition.span,
            _HINT,
            code="bad_condition",
        )
    for column in tree.find_all(exp.Column):
        _resolve(column, condition, columns)
    _check_types(tree, condition, columns)
    parameters: dict[str, Parameter] = {}
    # Collected first: replacing while walking would walk what was replaced.
    for literal in [*tree.find_all(exp.Literal)]:
        if isinstance(literal.parent, exp.DataTypeParam):
            continue
        name = f"w{len(parameters)}"
        parameters[name] = _value(literal, condition.span)
        literal.replace(_parameter(literal, name, columns))
    return When(tree.transform(_steady, columns), parameters, condition.text, condition.span)


def _check_types(
    tree: exp.Expr, condition: Condition, columns: Mapping[Name, SourceColumn]
) -> None:
    """Refuse types whose values or texts depend on who asks, or would stand in the view."""
    named = [columns[Name(column.name)].type.text for column in tree.find_all(exp.Column)]
    cast = [type_.sql(dialect="duckdb").upper() for type_ in tree.find_all(exp.DataType)]
    if any(
        "TIME ZONE" in text or "TIMESTAMPTZ" in text or "TIMETZ" in text for text in named + cast
    ):
        raise BindError(
            "a time with a zone cannot be compared here: its day depends on the time zone",
            condition.span,
            "cast it to TIMESTAMP in a (SELECT …) source",
            code="bad_condition",
        )
    if any("ENUM" in text for text in cast):
        raise BindError(
            "a cast to ENUM cannot stand in a WHEN condition",
            condition.span,
            _HINT,
            code="wrong_type",
        )


def _steady(node: exp.Expr, columns: Mapping[Name, SourceColumn]) -> exp.Expr:
    """Make a condition mean the same to every reader, and fail for none.

    Texts are compared letter by letter, whatever collation is set when the view is read; a value
    that cannot be cast, whose text an error would show, is NULL and so in the high class.
    """
    if type(node) is exp.Cast and not node.to.is_type(*exp.DataType.TEXT_TYPES):
        return exp.TryCast(this=node.this, to=node.args["to"])
    if isinstance(node.parent, _COMPARISONS) and _is_text(node, columns):
        return exp.Collate(
            this=exp.cast(node, "VARCHAR"), expression=exp.to_identifier("C", quoted=True)
        )
    return node


def _is_text(node: exp.Expr, columns: Mapping[Name, SourceColumn]) -> bool:
    """Whether a side of a comparison is text, so that a collation could decide it."""
    match node:
        case exp.Column():
            return columns[Name(node.name)].type.kind in (Kind.TEXT, Kind.ENUM)
        case exp.Cast():
            return bool(node.to.is_type(*exp.DataType.TEXT_TYPES))
        case exp.Paren() | exp.Coalesce():
            return any(_is_text(part, columns) for part in node.iter_expressions())
        case _:
            return isinstance(node, exp.Lower | exp.Upper | exp.Trim)


def _resolve(
    column: exp.Column, condition: Condition, columns: Mapping[Name, SourceColumn]
) -> None:
    name = Name(column.name)
    span = _place(column, condition)
    if column.table:
        raise BindError(
            f"'{column.table}' cannot stand before a column here",
            span,
            f"write {name} alone: the condition is about one row of the source",
            code="bad_condition",
        )
    if name not in columns:
        known = [str(other) for other in columns]
        raise BindError(
            f"there is no column '{name}' in the source",
            span,
            suggest(name.text, known, "columns"),
            code="unknown_column",
        )
    column.set("this", exp.to_identifier(columns[name].name.text, quoted=True))


def _place(column: exp.Column, condition: Condition) -> Span | None:
    start, end = column.this.meta.get("start"), column.this.meta.get("end")
    if condition.span is None or start is None or end is None:
        return condition.span
    at = condition.span.start
    return type(condition.span)(condition.span.text, at + start, at + end + 1)


def _value(literal: exp.Literal, span: Span | None) -> Parameter:
    if literal.is_string:
        return str(literal.this)
    try:
        number = int(literal.this)
    except ValueError:
        # As DuckDB reads it: 0.7 is a decimal, 7e-1 a double.
        return float(literal.this) if "e" in literal.this.lower() else str(literal.this)
    if not -_MOST <= number < _MOST:
        raise BindError(
            "a whole number of this condition does not fit BIGINT", span, code="wrong_type"
        )
    return number


def _parameter(literal: exp.Literal, name: str, columns: Mapping[Name, SourceColumn]) -> exp.Expr:
    """Return the reference that stands for a value: a text is cast as DuckDB would cast it."""
    reference = exp.Placeholder(this=f"{SLOT}_{name}")
    if not literal.is_string:
        whole, _, decimals = str(literal.this).partition(".")
        if not decimals or "e" in literal.this.lower():
            return reference
        return exp.cast(reference, f"DECIMAL({len(whole) + len(decimals)}, {len(decimals)})")
    type_ = _compared_type(literal, columns)
    if type_ is None or type_.kind in (Kind.TEXT, Kind.OTHER, Kind.ENUM):
        return reference
    return exp.cast(reference, exp.DataType.build(type_.text, dialect="duckdb"))


def _compared_type(literal: exp.Literal, columns: Mapping[Name, SourceColumn]) -> ColumnType | None:
    """Return the type of the column that a value is compared with, if it is one."""
    parent = literal.parent
    if not isinstance(parent, _COMPARISONS):
        return None
    for side in parent.iter_expressions():
        if isinstance(side, exp.Column):
            return columns[Name(side.name)].type
    return None
