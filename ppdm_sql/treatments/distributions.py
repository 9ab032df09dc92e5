"""Distributions as noise takes them: `normal(0, 10)`, `uniform(-5, 5)`, `laplace(0, 2)`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import TreatmentError, suggest
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.treatments.arguments import Arguments

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import Argument
    from ppdm_sql.treatments.protocol import InputColumn

WRITE = "write normal(mean, stddev), uniform(low, high) or laplace(mean, scale)"
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution by its word and its two numbers."""

    word: str
    first: float = field(repr=False)
    second: float = field(repr=False)
    relative: float | None = field(default=None, repr=False)
    """Its standard deviation as a share of the column's; then the others are not known yet."""

    def resolved(self, deviation: float) -> Distribution:
        """Return it for a column of some standard deviation."""
        if self.relative is None:
            return self
        size = self.relative * deviation
        return Distribution(
            self.word, self.first, size / (math.sqrt(2) if self.word == "laplace" else 1)
        )

    @property
    def deviation(self) -> float:
        """Its standard deviation."""
        match self.word:
            case "normal":
                return self.second
            case "laplace":
                return math.sqrt(2) * self.second
            case _:
                return (self.second - self.first) / math.sqrt(12)

    def below(self, x: float) -> float:
        """Return the probability of a number up to x."""
        match self.word:
            case "normal":
                return 0.5 * math.erfc((self.first - x) / self.second / math.sqrt(2))
            case "laplace":
                side = math.exp(-abs(x - self.first) / self.second) / 2
                return side if x < self.first else 1 - side
            case _:
                return min(max((x - self.first) / (self.second - self.first), 0.0), 1.0)


def sized(
    written: Distribution, column: InputColumn, deviation: object, then: float | None
) -> Distribution:
    """Return a relative distribution with its size: that of the version before, or the column's."""
    if then is not None:
        return replace(written, second=then)
    if not isinstance(deviation, float) or not deviation > 0 or not math.isfinite(deviation):
        raise TreatmentError(
            f"noise: '{column.name}' has no standard deviation to be relative to",
            hint="write the size of the noise: normal(0, 10)",
            code="data_does_not_fit",
        )
    # To two digits: the last bits of a sum depend on the order of the rows, a draw on all of them.
    return written.resolved(float(f"{deviation:.2g}"))


def read_distribution(argument: Argument) -> Distribution:
    """Return the distribution that stands in a call."""
    call = argument.value
    words = ("normal", "uniform", "laplace")
    if not isinstance(call, TreatmentCall):
        raise TreatmentError("noise takes distributions", argument.span, WRITE, code="bad_argument")
    if call.keyword not in words:
        raise TreatmentError(
            f"unknown distribution '{call.keyword}'",
            call.span,
            suggest(call.keyword, words),
            code="unknown_argument",
        )
    names = {"normal": ("mean", "stddev"), "uniform": ("low", "high"), "laplace": ("mean", "scale")}
    if call.keyword != "uniform" and any(one.name == "relative" for one in call.arguments):
        arguments = Arguments(call, (*names[call.keyword], "relative"))
        return _relative(call.keyword, arguments, names[call.keyword])
    arguments = Arguments(call, names[call.keyword])
    first, second = (_number(arguments, name) for name in names[call.keyword])
    if call.keyword == "uniform" and not first < second:
        arguments.fail("high", "'high' must be above 'low'")
    if call.keyword != "uniform" and second <= 0:
        arguments.fail(names[call.keyword][1], f"'{names[call.keyword][1]}' must be above 0")
    return Distribution(call.keyword, first, second)


def _relative(word: str, arguments: Arguments, names: tuple[str, str]) -> Distribution:
    mean = _number(arguments, names[0]) if names[0] in arguments else 0.0
    if names[1] in arguments:
        arguments.fail("relative", f"'relative' and '{names[1]}' say the same", "write one of them")
    share = _number(arguments, "relative")
    if share <= 0:
        arguments.fail(
            "relative", "'relative' must be above 0", f"write {word}(0, relative => 0.1)"
        )
    return Distribution(word, mean, share, share)


def _number(arguments: Arguments, name: str) -> float:
    value = arguments.value(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        arguments.fail(name, f"'{name}' must be a number", WRITE)
    return float(value)
