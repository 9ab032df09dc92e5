"""Quantiles in SQL: a number drawn evenly from (0, 1) becomes one of a distribution.

The kernels define them; here they are for engines that compute faster than they call Python. The
same steps in the same order, so only the last bit of LN may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.expressions import double
from ppdm_sql.treatments.kernels import normal

if TYPE_CHECKING:
    from ppdm_sql.treatments.protocol import Scope

_HALF, _ONE, _TWO = "0.5", "1.0", "2.0"


def normal_quantile(u: exp.Expr, scope: Scope) -> exp.Expr:
    """Return the standard normal quantile: algorithm AS 241.

    The middle is computed for every row, without a branch; the tails only where they are.
    """
    centred = exp.paren(_minus(u, double(_HALF)))
    limit = double(repr(normal.MIDDLE_TO))
    tail = scope.let(
        exp.case()
        .when(
            exp.LT(this=centred, expression=exp.Neg(this=limit)),
            exp.Sqrt(this=exp.Neg(this=exp.Ln(this=u.copy()))),
        )
        .when(
            exp.GT(this=centred.copy(), expression=limit.copy()),
            exp.Sqrt(this=exp.Neg(this=exp.Ln(this=_minus(double(_ONE), u)))),
        )
    )
    square = exp.Mul(this=centred.copy(), expression=centred.copy())
    inside = scope.let(_minus(double(repr(normal.MIDDLE_SQUARED)), square))
    middle = scope.let(exp.Mul(this=centred.copy(), expression=_ratio(normal.MIDDLE, inside)))
    is_far = exp.GT(this=tail.copy(), expression=double(repr(normal.FAR_FROM)))
    far = scope.let(exp.case().when(is_far, _minus(tail, double(repr(normal.FAR_FROM)))))
    near = scope.let(_minus(tail, double(repr(normal.TAILS_FROM))))
    away = exp.paren(
        exp.case()
        .when(far.is_(exp.null()), _ratio(normal.TAILS, near))
        .else_(_ratio(normal.FAR, far))
    )
    return (
        exp.case()
        .when(tail.is_(exp.null()), middle)
        .when(exp.LT(this=u.copy(), expression=double(_HALF)), exp.Neg(this=away))
        .else_(away.copy())
    )


def laplace_quantile(u: exp.Expr) -> exp.Expr:
    """Return the standard Laplace quantile; twice the smaller side is exact."""
    below = exp.Ln(this=exp.Mul(this=double(_TWO), expression=u.copy()))
    above = exp.Ln(this=exp.Mul(this=double(_TWO), expression=exp.paren(_minus(double(_ONE), u))))
    return (
        exp.case()
        .when(exp.LT(this=u.copy(), expression=double(_HALF)), below)
        .else_(exp.Neg(this=above))
    )


def _ratio(pair: tuple[tuple[float, ...], tuple[float, ...]], r: exp.Expr) -> exp.Expr:
    top, bottom = (_polynomial(part, r) for part in pair)
    return exp.paren(exp.Div(this=top, expression=bottom))


def _polynomial(coefficients: tuple[float, ...], r: exp.Expr) -> exp.Expr:
    """Return Horner's rule, highest power first."""
    value: exp.Expr = double(repr(coefficients[0]))
    for coefficient in coefficients[1:]:
        product = exp.Mul(this=value, expression=r.copy())
        value = exp.paren(exp.Add(this=product, expression=double(repr(coefficient))))
    return value


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=left.copy(), expression=right.copy())
