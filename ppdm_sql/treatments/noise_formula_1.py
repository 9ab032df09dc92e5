"""Noise as formula 1 drew it: for versions that were released with it, whose values stay.

There the block was the row's key alone, and the logarithm the system's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.kernels.keyed import key_words
from ppdm_sql.treatments.quantiles import laplace_quantile, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.distributions import Distribution
    from ppdm_sql.treatments.protocol import Keys, Scope

_KEY_BYTES = 16


def parameters(
    lineages: Sequence[str], distributions: Sequence[Distribution], keys: Keys
) -> dict[str, Parameter]:
    """Derive a key for each column, from its lineage and the distribution."""
    found: dict[str, Parameter] = {}
    for index, (lineage, one) in enumerate(zip(lineages, distributions, strict=True)):
        key = keys.derive("noise", f"{lineage} {one.word}({one.first!r}, {one.second!r})")
        key = key[:_KEY_BYTES]
        high, low = key_words(key)
        found |= {
            f"key_{index}": key.hex(),
            f"key_high_{index}": high,
            f"key_low_{index}": low,
            f"first_{index}": one.first,
            f"second_{index}": one.second,
        }
    return found


def drawn(distributions: Sequence[Distribution], scope: Scope) -> list[exp.Expr]:
    """Return the noise of each column: a kernel draws, SQL makes the distribution of it."""
    return [_drawn(index, one.word, scope) for index, one in enumerate(distributions)]


def drawn_by_kernels(distributions: Sequence[Distribution], scope: Scope) -> list[exp.Expr]:
    """Return the noise that `ppdm_noise_normal` and its siblings compute."""
    return [
        exp.Anonymous(
            this=f"ppdm_noise_{one.word}",
            expressions=[
                scope.parameter(f"key_{index}"),
                scope.row_key(),
                scope.parameter(f"first_{index}"),
                scope.parameter(f"second_{index}"),
            ],
        )
        for index, one in enumerate(distributions)
    ]


def _drawn(index: int, word: str, scope: Scope) -> exp.Expr:
    """Return first + quantile · second; for a uniform distribution, first + u · width."""
    key = [scope.parameter(f"key_{half}_{index}") for half in ("high", "low")]
    u = scope.let(exp.Anonymous(this="ppdm_drawn", expressions=[*key, scope.row_key()]))
    first, second = scope.parameter(f"first_{index}"), scope.parameter(f"second_{index}")
    match word:
        case "normal":
            standard, scale = normal_quantile(u, scope), second
        case "laplace":
            standard, scale = laplace_quantile(u), second
        case _:
            standard, scale = u, exp.paren(exp.Sub(this=second, expression=first.copy()))
    product = exp.Mul(this=exp.paren(standard), expression=scale)
    return exp.paren(exp.Add(this=first, expression=product))
