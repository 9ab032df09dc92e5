"""Columns that say again what GENERALIZE made coarser: released beside it, they undo the classes.

A twin comes from the same column of the source as a generalized one, by whatever expression, and
one of the two tells the other. Whether it is kept, mapped or pseudonymised does not matter: rows
that show the same generalized value are told apart by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.acceptance import Acceptance, Objection
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import do_share, is_unfollowed, may_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.groups.compile import GroupedColumn
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn

_ROWS = "s"
_NEARLY = 1.05
"""A few rows that differ make no other column."""


def find_twins(version: Version) -> Iterator[Objection]:
    """Return what speaks against columns that tell a generalized one, or are told by it."""
    grouping = find_grouping(version.release)
    if grouping is None:
        return
    for rule in version.release.released_rules:
        # QUASI columns are part of the classes; of one that is always NULL nothing is seen.
        if rule.role in (Role.QUASI, Role.KEY) or any(one.is_always_null for one in rule.traits):
            continue
        yield from _twins_of(version, rule, grouping.columns)


def _twins_of(
    version: Version, rule: BoundRule, grouped: tuple[GroupedColumn, ...]
) -> Iterator[Objection]:
    for name, column in zip(rule.names, rule.columns, strict=True):
        for other in grouped:
            if may_share(column.ancestors, other.column.ancestors) and _determines(
                version, column, other.column
            ):
                yield Objection(
                    Acceptance("twin", name),
                    f"'{name}' comes from the same column as '{other.name}', which is generalized:"
                    " it tells apart what GENERALIZE makes alike",
                    "leave it out, or list it as QUASI, so that classes are counted with it",
                    rule.span,
                )
                break


def _determines(version: Version, one: InputColumn, other: InputColumn) -> bool:
    """Whether a column that is not constant comes from the other, or is told by it in the rows.

    Where it is not known that they come from one column, it is a twin only if the generalized one
    tells it, and does not tell everything: what is different in every row tells any column.
    """
    first, second = (column_of(column.name.text, _ROWS) for column in (one, other))
    pair = exp.func("ROW", first.copy(), second.copy(), dialect="duckdb")
    counts: dict[str, exp.Expr] = {
        "first": _different(first),
        "second": _different(second),
        "pairs": exp.Count(this=exp.Distinct(expressions=[pair])),
        "rows": exp.Count(this=exp.Star()),
    }
    query = exp.select(*(named(tree, name) for name, tree in counts.items()))
    query = query.from_(source_table(version.release.source, _ROWS))
    (row,) = version.engine.query(query).to_pylist()
    if row["first"] < 2:
        return False
    if do_share(one.ancestors, other.ancestors):
        return True  # whatever was computed, it discloses something of the same column
    # A generalized column that is different in every row determines any, and many determine a flag.
    is_determined = row["pairs"] <= _NEARLY * row["second"] and 2 < row["second"] <= row["rows"] / 2
    determines = row["pairs"] <= _NEARLY * row["first"] and row["first"] > 2
    # Of a column that is different in nearly every row, only where nobody knows what it is.
    determines = determines and (row["first"] <= row["rows"] / 2 or is_unfollowed(one.ancestors))
    return bool(is_determined or determines)


def _different(value: exp.Expr) -> exp.Expr:
    """Return how many different values there are; NULL is one: a flag may be true or nothing."""
    missing = exp.func("BOOL_OR", exp.Is(this=value.copy(), expression=exp.null()))
    return exp.Add(
        this=exp.Count(this=exp.Distinct(expressions=[value.copy()])),
        expression=exp.Coalesce(this=exp.cast(missing, "INT"), expressions=[exp.Literal.number(0)]),
    )
