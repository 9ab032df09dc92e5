"""`pram(keep => 0.8)`: a category stays, or another one is drawn as frequent as it is.

The post-randomization method (Gouweleeuw and others, Journal of Official Statistics 14, 1998) with
the matrix P(i to j) = keep · [i = j] + (1 - keep) · share(j): the share of every category stays the
same on average. What a row gets is fixed by its KEY and its category.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import as_text, count_where, double
from ppdm_sql.treatments.numbers import count_of
from ppdm_sql.treatments.row_draws import drawn, key_of_draws, lineage, number_of_text
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_SHARES, _KNOWN = "shares", "known"
_FEWEST = 2


def _keep(given: Arguments, _: Sequence[InputColumn]) -> float:
    value = given.value("keep")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        given.fail(
            "keep", "'keep' is a share of the rows between 0 and 1", "write pram(keep => 0.8)"
        )
    return float(value)


@dataclass(frozen=True, slots=True)
class Pram(Treatment):
    """Shares are those of the rows when the release was made: a refresh draws by the same ones."""

    keyword = "pram"
    summary = "a category stays with a given probability; else one is drawn as frequent as it is"
    reading = (
        "a category that some rows were given by chance: shares "
        "are right on average, ties to other columns weaker"
    )
    missing = "or a category that is new since the release was made"
    undone_by = "other columns that go with it: a rare pair of values was probably not there"
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, uses_row_key=True,
        shows_some_originals=True,
        adds_noise=True, stays_near=True,
    )  # fmt: skip
    kinds = (Kind.TEXT, Kind.ENUM, Kind.BOOLEAN, Kind.INTEGER)
    instead = "for measurements write noise(normal(0, 10))"
    arguments = (ArgumentSpec("keep", _keep),)
    not_agreed = "the shares of the categories are those of one site's rows"

    keep: float = field(repr=False)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return text for an ENUM: its order and its words belong to the source."""
        (column,) = self.columns
        return (VARCHAR if column.type.kind is Kind.ENUM else column.type,)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask how often there is each category."""
        return {"categories": exp.Anonymous(this="histogram", expressions=[as_text(inputs[0])])}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key, which belongs to the share that stays; write down from where each is."""
        said = f"{lineage(self.columns[0], keys)} {self.keep!r}"
        parameters = key_of_draws(keys, self.keyword, said) | {"keep": self.keep}
        tables = previous.tables if previous is not None else {}
        if not tables or not tables[_SHARES].num_rows:  # there was nothing to draw from yet
            shares = _shares(statistics.get("categories"))
            known = shares.column("released")
            tables = {_SHARES: shares, _KNOWN: pa.table({"original": known, "released": known})}
        return Drawn(parameters, tables)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the category, or the one whose part of 0 … 1 the rest of the draw falls into."""
        number = scope.let(drawn(scope, number_of_text(as_text(inputs[0]))))
        keep = scope.parameter("keep")
        rest = exp.Div(
            this=exp.paren(number - keep), expression=exp.paren(double("1.0") - keep.copy())
        )
        other = scope.join_below(_SHARES, scope.let(rest))("released")
        stays = exp.LT(this=number.copy(), expression=keep.copy())
        # A category that is new would be known for certain: it is drawn for nobody else.
        own = scope.lookup(_KNOWN, as_text(inputs[0]))
        is_known = exp.and_(*(one.copy().is_(exp.null()).not_() for one in (own, number)))
        (type_,) = self.output_types()
        chosen = exp.case().when(stays, own.copy()).else_(other)
        return (exp.cast(exp.case().when(is_known, chosen), type_.text),)

    def row_statistics(
        self, inputs: Sequence[exp.Expr], row_key: exp.Expr
    ) -> Mapping[str, exp.Expr]:
        """Count rows that nothing can be drawn for."""
        is_known = inputs[0].is_(exp.null()).not_()
        return {"keyless": count_where(exp.and_(is_known, row_key.is_(exp.null())))}

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count categories, and rows whose category is new."""
        lost = exp.and_(inputs[0].is_(exp.null()).not_(), outputs[0].is_(exp.null()))
        different = exp.Distinct(expressions=[inputs[0].copy()])
        return {"lost": count_where(lost), "different": exp.Count(this=different)}

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise where there is nothing to exchange with."""
        (column,) = self.columns
        if count_of(results, "keyless"):
            raise TreatmentError(
                f"pram: rows of '{column.name}' have no KEY",
                hint="leave such rows out in a (SELECT …) source",
                code="data_does_not_fit",
            )
        if lost := count_of(results, "lost"):
            new = (
                f"pram: {plural(lost, 'row')} of '{column.name}' have a category that is new since the"
                " release was made, and are NULL: CREATE OR REPLACE RELEASE draws by the shares of today"
            )
            return (new,)
        if 0 < count_of(results, "different") < _FEWEST:
            return (f"pram: '{column.name}' has one category: every row keeps it",)
        return ()

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return what the matrix is made of: the share that stays, and what the others become."""
        table = drawn.tables[_SHARES]
        starts = [*table.column("original").to_pylist(), 1.0]
        shares = (
            f"{category} {after - before:.4g}"
            for category, (before, after) in zip(
                table.column("released").to_pylist(), pairwise(starts), strict=True
            )
        )
        return f"stays with probability {self.keep:g}; else one of: {', '.join(shares)}"

    def note(self, drawn: Drawn) -> str:
        """Say how often a category is the original one, which the matrix tells analysts."""
        return f"{self.keep:.0%} of the rows keep their category for sure"


def _shares(cell: Any) -> pa.Table:
    """Return where the part of each category begins between 0 and 1."""
    counted = sorted((cell.as_py() if cell is not None else None) or [])
    rows = np.array([rows for _, rows in counted], dtype=float)
    starts = (np.cumsum(rows) - rows) / max(rows.sum(), 1.0)
    released = pa.array([category for category, _ in counted], pa.string())
    return pa.table({"original": starts, "released": released})
