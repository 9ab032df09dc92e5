"""A label of GENERALIZE back to the values behind it: a range, a period, or a list.

A release shows only rows whose combination it knows, so the values that it knows tell everything:
a range or period is read off the label and taken only if it parts them as the labels do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED
from ppdm_sql.groups.label_ends import DATES, period_of
from ppdm_sql.treatments.expressions import comparison, literal_of
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.groups.compile import Grouping
    from ppdm_sql.interpret.predicates import Constant

_RANGE = re.compile(r"\[(-?\d+(?:\.\d+)?), (-?\d+(?:\.\d+)?)\)")


@dataclass(frozen=True, slots=True)
class Labels:
    """What the values of a column are released as, in the rows that leave."""

    rows: tuple[tuple[Any, str | None, str | None], ...] = field(repr=False)
    """Each value, its text, its label."""
    kind: Kind
    has_suppressed: bool

    @property
    def is_all(self) -> bool:
        """Whether everything became `*`."""
        return bool(self.rows) and all(label == SUPPRESSED for _, _, label in self.rows)

    def condition(self, operator: str, constant: Constant, column: exp.Expr) -> exp.Expr | None:
        """Return what `released operator constant` says of the originals; None if nothing does."""
        is_equality = operator in ("=", "<>")
        inside = self._preimage(constant.text, column) if is_equality else None
        if inside is None:
            return self._as_it_was(operator, constant, column)
        if operator == "=":
            return inside
        if isinstance(inside, exp.Boolean):
            return exp.false()  # a label that all rows have
        if isinstance(inside, exp.EQ):
            return exp.NEQ(**inside.args)
        return exp.not_(inside)

    def _as_it_was(self, operator: str, constant: Constant, column: exp.Expr) -> exp.Expr | None:
        """Compare a column that was left as it is; labels have no order."""
        is_text = isinstance(constant.value, str)
        if any(text != label for _, text, label in self.rows):
            return None
        if self.kind is not Kind.TEXT if is_text else self.kind not in NUMBERS:
            return None
        return comparison(operator, column, literal_of(constant.value))

    def _preimage(self, label: str, column: exp.Expr) -> exp.Expr | None:
        if self.is_all and label == SUPPRESSED:
            return exp.true()
        found = [row for row in self.rows if row[2] == label]
        if not found:
            return None
        ends = None if all(text == label for _, text, _ in found) else self._ends(label)
        if ends is not None and all(
            # A time of day lies in the period of its day.
            (ends[0] <= (value.date() if isinstance(value, datetime) else value) < ends[1])
            == (other == label)
            for value, _, other in self.rows
            if value is not None
        ):
            low = exp.GTE(this=column, expression=literal_of(ends[0]))
            high = exp.LT(this=column.copy(), expression=literal_of(ends[1]))
            return exp.and_(low, high)
        try:
            values = [literal_of(value) for value in sorted(value for value, _, _ in found)]
        except ValueError:  # a type that has no literal of its own
            return None
        if len(values) == 1:
            return exp.EQ(this=column, expression=values[0])
        return exp.In(this=column, expressions=values)

    def _ends(self, label: str) -> tuple[Any, Any] | None:
        """Return where a range or a period begins and where the next one does."""
        if self.kind in NUMBERS and (match := _RANGE.fullmatch(label)):
            number = float if self.kind is Kind.FLOAT else Decimal
            return number(match[1]), number(match[2])
        return period_of(label) if self.kind in DATES else None


def why_not(grouping: Grouping | None, labels: Labels | None) -> str | None:
    """Return why a label of a release stands for no set of values; None where it does."""
    if grouping is None or labels is None:
        return "generalize cannot be inverted"
    if grouping.when is not None:
        return "rows outside WHEN show no label"
    if grouping.suppresses_cells:
        return "single cells are * whatever their value is"
    if grouping.method == "mondrian":
        return "local recoding (mondrian) gives one value different labels"
    if grouping.keeps_suppressed and labels.has_suppressed:
        return "a suppressed record shows * whatever its value is"
    return None
