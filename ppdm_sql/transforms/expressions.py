"""Small expressions that treatments share, in the portable forms every engine reads alike."""

from __future__ import annotations

from sqlglot import exp

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


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


def literal_of(value: object) -> exp.Expr:
    """Return a number or text as a literal of the owner's own predicate."""
    return exp.convert(value)
