"""Conditions as people read them: names quoted only where they must be. Runs in DuckDB as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import Dialect, TokenType, exp

from ppdm_sql.treatments.expressions import operator_of

if TYPE_CHECKING:
    from ppdm_sql.names import Name


def shown(tree: exp.Expr) -> str:
    """Return a condition as text."""
    copy = tree.copy()
    for name in copy.find_all(exp.Identifier):
        name.set("quoted", not _is_plain(str(name.this)))
    return copy.sql(dialect="duckdb", normalize_functions=False, comments=False)


def simple(tree: exp.Expr, column: Name) -> tuple[str, str] | None:
    """Return operator and bare value of `column operator value`; None for anything else."""
    operator = operator_of(tree)
    if operator is None:
        return None
    left, right = tree.this, tree.expression
    if isinstance(left, exp.Cast):
        left = left.this
    if not isinstance(left, exp.Column) or left.table or left.name.lower() != column.folded:
        return None
    if isinstance(right, exp.Cast):
        right = right.this
    return operator, right.name if isinstance(right, exp.Literal) else shown(right)


def _is_plain(name: str) -> bool:
    tokens = (
        Dialect.get_or_raise("duckdb").tokenize(name)
        if name.isascii() and name.isidentifier()
        else []
    )
    return len(tokens) == 1 and tokens[0].token_type is TokenType.VAR and tokens[0].text == name
