"""Small expressions that treatments share, in the portable forms every engine reads alike."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from ppdm_sql.engine.kernel import Kernel

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


_DECIMAL_DIGITS = 15
"""Up to here a number read as DECIMAL becomes the same DOUBLE."""

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""What a comparison becomes when both sides change their sign."""


def double(text: str) -> exp.Expr:
    """Return a DOUBLE constant: a bare decimal would be DECIMAL or NUMERIC somewhere."""
    return exp.cast(exp.Literal.string(text), "DOUBLE")


def as_double(column: exp.Expr) -> exp.Expr:
    """Return a column as DOUBLE."""
    return exp.cast(column, "DOUBLE")


def as_text(column: exp.Expr) -> exp.Expr:
    """Return a column as text."""
    return exp.cast(column, "VARCHAR")


def only_finite(column: exp.Expr) -> exp.Expr:
    """Return a DOUBLE with infinities and NaN as NULL; NaN sorts above infinity everywhere."""
    return exp.case().when(
        exp.and_(
            exp.GT(this=column.copy(), expression=double("-Infinity")),
            exp.LT(this=column.copy(), expression=double("Infinity")),
        ),
        column.copy(),
    )


def comparison(operator: str, left: exp.Expr, right: exp.Expr) -> exp.Expr | None:
    """Return a comparison; None for an operator that is none."""
    node = _COMPARISONS.get(operator)
    return node(this=left, expression=right) if node else None


def operator_of(tree: exp.Expr) -> str | None:
    """Return the operator of a comparison; None for anything else."""
    return next((word for word, node in _COMPARISONS.items() if type(tree) is node), None)


def literal_of(value: object) -> exp.Expr:
    """Return a value as a literal of the owner's own predicate."""
    match value:
        case float() if not math.isfinite(value):
            return double(repr(value).replace("inf", "Infinity"))
        case float():
            return _number(value)
        case Decimal():
            return exp.Literal.number(format(value, "f"))
        case datetime():
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "TIMESTAMP")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
        case _:
            return exp.convert(value)


def _number(value: float) -> exp.Expr:
    """Return a number that is read back to the bit: long ones as DOUBLE, by an exponent."""
    text = repr(abs(float(value))).removesuffix(".0")
    if len(text) > _DECIMAL_DIGITS and "e" not in text:
        text += "e0"
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if value < 0 else literal


def call(kernel: Kernel, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a Python function."""
    return exp.Anonymous(this=kernel.name, expressions=list(arguments))


def count_where(condition: exp.Expr) -> exp.Expr:
    """Return the number of rows where a condition holds."""
    return exp.Count(this=exp.case().when(condition, exp.Literal.number(1)))


def never(operator: str, column: exp.Expr) -> exp.Expr | None:
    """Return what `released <operator> value` means for a value that is never released."""
    if operator == "=":
        return exp.false()
    return column.is_(exp.null()).not_() if operator == "<>" else None
