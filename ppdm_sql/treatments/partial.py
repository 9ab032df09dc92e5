"""`partial(left => 2, right => 4)`: the beginning and the end of a text, stars between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.errors import plural
from ppdm_sql.treatments.arguments import whole_number
from ppdm_sql.treatments.expressions import as_text, count_where
from ppdm_sql.treatments.numbers import count_of
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Statistics

_MOST = 1_000
_FEWEST_HIDDEN = 3
_STARS = "***"
_UNSEEN = " \t\n\v\f\r\x85\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
"""Spaces of all kinds, ends of lines, and what has no width."""
_FEWEST, _MOSTLY = 100, 0.9


@dataclass(frozen=True, slots=True)
class Partial(PlainRule):
    """Never a value whole: NULL where fewer than three characters would stay hidden."""

    keyword = "partial"
    summary = "the first and last characters of a text; between them stars, however many there are"
    reading = "the beginning and the end of a text; what the stars stand for is hidden"
    missing = "or too short to be shown in part"
    undone_by = "a list of all values: whoever has one looks for those that fit"
    kinds = (Kind.TEXT, Kind.ENUM)
    arguments = (whole_number("left", 0, 0, _MOST), whole_number("right", 0, 0, _MOST))
    releases = VARCHAR

    left: int = field(repr=False)
    right: int = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise where nothing is shown."""
        if self.left + self.right == 0:
            given.fail("left", "it shows nothing", "write partial(left => 2), or suppress()")

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Keep how much is shown."""
        return {"left": self.left, "right": self.right, "unseen": _UNSEEN}

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return both ends, where enough stays hidden."""
        # What nobody sees at its ends hides nothing.
        text = exp.Trim(this=as_text(value), expression=parameter("unseen"))
        shown = exp.Add(this=parameter("left"), expression=parameter("right"))
        hidden = exp.Sub(this=exp.Length(this=text.copy()), expression=exp.paren(shown))
        ends = exp.DPipe(
            this=exp.DPipe(
                this=exp.Left(this=text, expression=parameter("left")),
                expression=exp.Literal.string(_STARS),
            ),
            expression=exp.Right(this=text.copy(), expression=parameter("right")),
        )
        is_enough = exp.GTE(this=hidden, expression=exp.Literal.number(_FEWEST_HIDDEN))
        return exp.case().when(is_enough, ends)

    def said(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return both ends."""
        ends = [
            node(this=exp.Trim(this=value.copy()), expression=parameter(side))
            for node, side in ((exp.Left, "left"), (exp.Right, "right"))
        ]
        stars = exp.DPipe(this=ends[0], expression=exp.Literal.string(_STARS))
        return exp.paren(exp.DPipe(this=stars, expression=ends[1]))

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count values that are too short, and how many different ones are shown."""
        is_lost = exp.and_(
            exp.Not(this=inputs[0].is_(exp.null())), outputs[0].copy().is_(exp.null())
        )
        return {
            "lost": count_where(is_lost),
            "shown": exp.Count(this=outputs[0]),
            "different": exp.Count(this=exp.Distinct(expressions=[outputs[0].copy()])),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Warn of what is lost, and of ends that still name persons."""
        lost, shown, different = (
            count_of(results, name) for name in ("lost", "shown", "different")
        )
        said = []
        name = self.columns[0].name
        if lost:
            said.append(
                f"partial: {plural(lost, 'value')} of '{name}' are too short: they are NULL"
            )
        if shown >= _FEWEST and different > _MOSTLY * shown:
            said.append(
                f"partial: {different / shown:.0%} of what is shown of '{name}' is different: it still"
                " names persons; show less"
            )
        return said
