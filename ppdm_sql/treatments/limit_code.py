"""`top_code(at => 90)`, `bottom_code(at => 18)`: numbers beyond a limit are shown as the limit.

The limit is given, or a share of the rows: `top_code(percent => 95)`. `shown => 'label'` writes 90+.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.arguments import ArgumentSpec, one_of
from ppdm_sql.treatments.expressions import as_text, comparison, count_where, literal_of
from ppdm_sql.treatments.numbers import NUMBERS, computable, count_of, refuse_lost
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Statistics

_LARGEST = 2**53
_FEWEST, _MOSTLY = 100, 0.75
_LABEL = "label"


def _number(name: str, low: float, high: float) -> ArgumentSpec:
    def read(given: Arguments, _: Sequence[InputColumn]) -> float | None:
        value = given.value(name)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            given.fail(name, f"'{name}' must be a number from {low:g} to {high:g}")
        return value

    return ArgumentSpec(name, read)


@dataclass(frozen=True, slots=True)
class LimitCode(PlainRule):
    """One limit of one column."""

    undone_by = "nothing beyond the limit; on this side of it, values are shown as they are"
    kinds = NUMBERS
    instead = "for dates write truncate()"
    arguments = (
        _number("at", -_LARGEST, _LARGEST),
        _number("percent", 0, 100),
        one_of("shown", "limit", _LABEL),
    )
    mark: ClassVar[str]
    """Behind the limit, in a label."""
    is_beyond: ClassVar[type[exp.Binary]]

    at: float | None = field(repr=False)
    percent: float | None = field(repr=False)
    shown: str

    def _is_inside(self, value: float, limit: float) -> bool:
        """Whether a value is on the side that is shown as it is."""
        raise NotImplementedError  # above or below: each has its own

    def check_arguments(self, given: Arguments) -> None:
        """Raise unless there is one limit, in the column's own numbers."""
        if (self.at is None) == (self.percent is None):
            given.fail(
                "at", "it takes one limit", f"write {self.keyword}(at => 90), or percent => 95"
            )
        if self.columns[0].type.text == "UHUGEINT":
            given.fail("at", "a UHUGEINT cannot be compared", "cast it to HUGEINT in the source")
        is_whole = self.columns[0].type.kind is Kind.INTEGER
        if self.at is not None and is_whole and self.at != int(self.at):
            given.fail("at", f"'{self.columns[0].name}' has whole numbers")

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return the limit."""
        return f"the limit is {drawn.parameters['limit']}"

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the type of the column, or text for labels."""
        return (VARCHAR if self.shown == _LABEL else self.columns[0].type,)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the limit, where it is a share of the rows."""
        if self.percent is None:
            return {}
        number = exp.paren(computable(self.columns[0], inputs[0]))
        share = exp.Literal.number(repr(self.percent / 100))
        return {"limit": exp.func("QUANTILE_DISC", number, share, dialect="duckdb")}

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Keep the limit."""
        limit: Any = self.at if self.percent is None else statistics["limit"]
        if limit is None:
            raise TreatmentError(
                f"{self.keyword}: '{self.columns[0].name}' has no numbers, so no share of them",
                hint="write at => …",
                code="no_rows",
            )
        if abs(limit) > _LARGEST:
            raise TreatmentError(
                f"{self.keyword}: the limit of '{self.columns[0].name}' would be too large to be exact",
                hint="write at => …, or divide the column in a (SELECT …) source",
                code="data_does_not_fit",
            )
        if self.columns[0].type.kind is Kind.INTEGER:
            limit = int(limit)
        found: dict[str, Parameter] = {"limit": limit}
        return found | ({"label": f"{limit}{self.mark}"} if self.shown == _LABEL else {})

    def why_not_agreed(self) -> str | None:
        """A share of the rows is one site's."""
        return None if self.percent is None else "a share of the rows is one site's: write at => …"

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the value, or the limit; NaN is beyond every limit above."""
        is_beyond: exp.Expr = self.is_beyond(this=value.copy(), expression=parameter("limit"))
        if column.type.kind is Kind.FLOAT:  # NaN and infinity are no numbers, on neither side
            is_number = exp.Not(this=exp.paren(computable(column, value.copy())).is_(exp.null()))
            value = exp.paren(exp.case().when(is_number, value))
            is_beyond = exp.and_(is_beyond, is_number.copy())
        if self.shown == _LABEL:
            return exp.case().when(is_beyond, parameter("label")).else_(as_text(value.copy()))
        type_ = exp.DataType.build(column.type.text, dialect="duckdb")
        limit = exp.TryCast(this=parameter("limit"), to=type_)
        return exp.case().when(is_beyond, limit).else_(value.copy())

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count values of which nothing is shown: the limit is none of the column's type."""
        is_lost = exp.and_(exp.Not(this=inputs[0].is_(exp.null())), outputs[0].is_(exp.null()))
        is_changed = exp.NEQ(this=as_text(inputs[0].copy()), expression=as_text(outputs[0].copy()))
        return {
            "lost": count_where(is_lost),
            "changed": count_where(is_changed),
            "known": exp.Count(this=inputs[0].copy()),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such values; warn where a share takes in most values."""
        is_float = self.columns[0].type.kind is Kind.FLOAT
        hint = None if is_float else f"the limit must be a value of type {self.columns[0].type}"
        refuse_lost(self.keyword, self.columns, results, hint)
        changed, known = count_of(results, "changed"), count_of(results, "known")
        if self.percent is None or known < _FEWEST or changed <= _MOSTLY * known:
            return ()
        warning = (
            f"{self.keyword}: {changed:,} of {plural(known, 'value')} of '{self.columns[0].name}' are shown"
            " as the limit; 'percent' is a number from 0 to 100: one of a hundred values is above 99"
        )
        return (warning,)

    def said(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the value, or the limit."""
        if self.shown == _LABEL:
            return exp.paren(self.rule(column, value, parameter))
        is_beyond = self.is_beyond(this=value, expression=parameter("limit"))
        return exp.paren(exp.case().when(is_beyond, parameter("limit")).else_(value.copy()))

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Return the condition on the value itself, where the limit takes no part, or alone does."""
        limit, value = drawn.parameters["limit"], columns[index]
        beyond = self.is_beyond(this=value, expression=literal_of(limit))
        if operator == "=" and literal == drawn.parameters.get("label", limit):
            return beyond
        is_number = self.shown != _LABEL and isinstance(literal, int | float)
        if is_number and self._is_inside(float(literal), drawn.number("limit")):
            return comparison(operator, value, literal_of(literal))
        return super(LimitCode, self).invert_condition(operator, literal, columns, drawn, index)


@dataclass(frozen=True, slots=True)
class TopCode(LimitCode):
    """Numbers above a limit."""

    keyword = "top_code"
    summary = "a number above a limit is shown as the limit"
    reading = "the value, or a limit where it lies above"
    mark = "+"
    is_beyond = exp.GTE

    def _is_inside(self, value: float, limit: float) -> bool:
        return value < limit


@dataclass(frozen=True, slots=True)
class BottomCode(LimitCode):
    """Numbers below a limit."""

    keyword = "bottom_code"
    summary = "a number below a limit is shown as the limit"
    reading = "the value, or a limit where it lies below"
    mark = "-"
    is_beyond = exp.LTE

    def _is_inside(self, value: float, limit: float) -> bool:
        return value > limit
