"""The row key as one BIGINT: what keyed randomness is a function of.

An integer is taken as it is. Any other key becomes the first 8 bytes of SHA-256 of its text, as a
signed number, so that `7` in a text column and in a DECIMAL one are not mixed up with integers.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.language.syntax import QuerySource
from ppdm_sql.names import Name
from ppdm_sql.release.select_trees import parse_query
from ppdm_sql.treatments.numbers import in_calendar
from ppdm_sql.types import DOUBLE, FITS_BIGINT, Kind

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import Source
    from ppdm_sql.types import ColumnType

_HALF, _WHOLE = 2**63, 2**64
_DOUBLE = exp.DataType.build("DOUBLE")


def canonical_key(column: exp.Expr) -> exp.Expr:
    """Return the text of a key as sites with different tables share it; NULL stays NULL.

    7 and '7' are one key, and so are those that differ in the case of ASCII letters or in spaces,
    wherever they stand: TRANSLATE deletes what has no counterpart.
    """
    return exp.Translate(
        this=exp.cast(column, "VARCHAR"),
        from_=exp.Literal.string(string.ascii_uppercase + string.whitespace),
        to=exp.Literal.string(string.ascii_lowercase),
    )


def canonical_value(column: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a number or a moment as DOUBLE: 7, 7.00 and 7e0 are one value, whatever their type.

    A FLOAT is what its shortest text says, as a DOUBLE of the same text is; moments are counted in
    microseconds.
    """
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP):
        start = exp.cast(exp.Literal.string("1970-01-01"), "TIMESTAMP")
        moment = exp.cast(exp.paren(in_calendar(column)), "TIMESTAMP")
        column = exp.DateDiff(this=moment, expression=start, unit=exp.Var(this="MICROSECOND"))
    elif type_.text == "FLOAT":
        column = exp.cast(column, "VARCHAR")
    return column if type_ == DOUBLE else exp.TryCast(this=column, to=_DOUBLE.copy())


def row_key_number(column: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a key column as BIGINT; NULL stays NULL."""
    if type_.text in FITS_BIGINT:
        return exp.cast(column, "BIGINT")
    digest = exp.SHA2(this=exp.cast(column, "VARCHAR"), length=exp.Literal.number(256))
    digits = exp.Substring(this=digest, start=exp.Literal.number(1), length=exp.Literal.number(16))
    hexadecimal = exp.DPipe(this=exp.Literal.string("0x"), expression=digits)
    unsigned = exp.cast(hexadecimal, "UBIGINT", dialect="duckdb")
    below = exp.cast(unsigned.copy(), "INT128") - exp.Literal.number(_WHOLE)
    return (
        exp.case()
        .when(
            exp.LT(this=unsigned, expression=exp.Literal.number(_HALF)),
            exp.cast(unsigned.copy(), "BIGINT"),
        )
        .else_(exp.cast(exp.paren(below), "BIGINT"))
    )


def numbers_rows(source: Source, key: Name) -> bool:
    """Whether a KEY is computed from no column: `row_number() OVER ()` says nothing of a person."""
    query = parse_query(source.text) if isinstance(source, QuerySource) else None
    if not isinstance(query, exp.Select):
        return False
    return any(
        Name(one.alias_or_name) == key and one.find(exp.Column, exp.Star, exp.Subquery) is None
        for one in query.selects
    )
