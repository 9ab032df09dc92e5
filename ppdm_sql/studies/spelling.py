"""Values as texts, so that what an analyst may take for the same is the same."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.language.syntax import TableSource
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import parts_of_origin
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.release.sources import Sources
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.types import ColumnType

_ROWS, _VALUE = "s", "v"
_ABOUT = 0.9
"""The share of as many values from which a column is another spelling, not a coarser one."""
_SIGNS = f"{string.punctuation}{string.whitespace}\N{NO-BREAK SPACE}\N{EN DASH}"


def comparable(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a value as text so that what is equal has the same: 7, 7.0 and 7.00; a day and its midnight."""
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP) and "ZONE" not in type_.text:
        value = exp.cast(value, "TIMESTAMP")  # a day is its first moment
    text: exp.Expr = exp.cast(value, "VARCHAR")
    if type_.kind not in (Kind.FLOAT, Kind.DECIMAL) or not (
        type_.decimals or type_.kind is Kind.FLOAT
    ):
        return text
    for end in ("0", "."):
        text = exp.func("RTRIM", text, exp.Literal.string(end), dialect="duckdb")
    return text


def without_signs(text: exp.Expr) -> exp.Expr:
    """Return the letters and digits of a text: 40-00 12 is 400012."""
    signs = (exp.Literal.string(_SIGNS), exp.Literal.string(""))
    return exp.func("TRANSLATE", text, *signs, dialect="duckdb")


def is_respelled(
    version: Version, sources: Sources, column: InputColumn, origin: str | None
) -> bool:
    """Whether a column has about as many values as the one it is made of, but others."""
    if origin is None or origin == column.identity or not origin.startswith("table:"):
        return False
    table, name = parts_of_origin(origin)
    types = {one.name: one.type for one in sources.columns(TableSource(table))}
    if name not in types:
        return False
    sides = [
        exp.select(named(comparable(column_of(of.text, _ROWS), type_), _VALUE))
        .distinct()
        .from_(source_table(source, _ROWS))
        for of, type_, source in (
            (column.name, column.type, version.release.source),
            (name, types[name], TableSource(table)),
        )
    ]
    others = exp.except_(sides[0], sides[1]).subquery("e")
    counts = [
        exp.select(exp.Count(this=column_of(_VALUE, alias))).from_(rows).subquery()
        for alias, rows in (
            ("o", sides[0].subquery("o")),
            ("t", sides[1].subquery("t")),
            ("e", others),
        )
    ]
    query = exp.select(*(named(one, f"n{at}") for at, one in enumerate(counts)))
    (row,) = version.engine.query(query).to_pylist()
    return bool(row["n2"]) and row["n0"] >= _ABOUT * row["n1"]
