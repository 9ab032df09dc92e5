"""Distributions as noise takes them: `normal(0, 10)`, `uniform(-5, 5)`, `laplace(0, 2)`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppdm_sql.errors import TreatmentError, suggest
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.treatments.arguments import Arguments

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import Argument

WRITE = "write normal(mean, stddev), uniform(low, high) or laplace(mean, scale)"
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution by its word and its two numbers."""

    word: str
    first: float = field(repr=False)
    second: float = field(repr=False)

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
    arguments = Arguments(call, names[call.keyword])
    first, second = (_number(arguments, name) for name in names[call.keyword])
    if call.keyword == "uniform" and not first < second:
        arguments.fail("high", "'high' must be above 'low'")
    if call.keyword != "uniform" and second <= 0:
        arguments.fail(names[call.keyword][1], f"'{names[call.keyword][1]}' must be above 0")
    return Distribution(call.keyword, first, second)


def _number(arguments: Arguments, name: str) -> float:
    value = arguments.value(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        arguments.fail(name, f"'{name}' must be a number", WRITE)
    return float(value)
