"""One secret number between 0 and 1 for each row and value: the same again, the same number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.treatments.kernels.keyed import key_words

if TYPE_CHECKING:
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope

_DIGITS = 13
"""Of SHA-256, in base 16: 52 bits, which a DOUBLE holds to the last."""


def lineage(column: InputColumn, keys: Keys) -> str:
    """Return what draws of a column belong to: where it comes from, under whatever name."""
    if keys.is_agreed:  # sites agree on the name of a column
        return column.identity
    return " + ".join(sorted(column.origins)) or column.identity


def key_of_draws(keys: Keys, purpose: str, said: str, index: int = 0) -> dict[str, Parameter]:
    """Return the key of a column's draws, as `drawn` refers to it."""
    high, low = key_words(keys.derive(purpose, said))
    return {f"key_high_{index}": high, f"key_low_{index}": low}


def drawn(scope: Scope, bound: exp.Expr, index: int = 0) -> exp.Expr:
    """Return the number of each row, which is another one where `bound` differs."""
    key = [scope.parameter(f"key_{half}_{index}") for half in ("high", "low")]
    return exp.Anonymous(this="ppdm_uniform", expressions=[*key, scope.row_key(), bound])


def number_of_text(text: exp.Expr) -> exp.Expr:
    """Return a DOUBLE for a text, the same on every machine."""
    digest = exp.SHA2(this=text, length=exp.Literal.number(256))
    digits = exp.Substring(
        this=digest, start=exp.Literal.number(1), length=exp.Literal.number(_DIGITS)
    )
    whole = exp.cast(exp.DPipe(this=exp.Literal.string("0x"), expression=digits), "BIGINT")
    return exp.cast(whole, "DOUBLE")
