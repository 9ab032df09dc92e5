"""`noise(normal(0, 10))`: keyed noise, fixed for each row; with `rho`, only for a share of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, suggest
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments
from ppdm_sql.treatments.expressions import double
from ppdm_sql.treatments.kernels.keyed import (
    drawn,
    key_words,
    noise_laplace,
    noise_normal,
    noise_uniform,
    selected,
)
from ppdm_sql.treatments.numbers import (
    NUMBERS,
    TIMES,
    NumberTreatment,
    computable,
    in_calendar,
    refuse_lost,
    shifted_time,
)
from ppdm_sql.treatments.quantiles import laplace_quantile, normal_quantile
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import DOUBLE, ColumnType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.language.syntax import Argument
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_WRITE = "write normal(mean, stddev), uniform(low, high) or laplace(mean, scale)"
_KEY_BYTES = 16
_LARGEST, _LARGEST_FACTOR = 1e100, 1e6
_NUMBERS = ("VARCHAR", "BIGINT", "DOUBLE", "DOUBLE")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution by its word and its two numbers."""

    word: str
    first: float = field(repr=False)
    second: float = field(repr=False)


@dataclass(frozen=True, slots=True)
class Noise(NumberTreatment):
    """One distribution a column; the noise of a row depends on the column's key and the row's."""

    keyword = "noise"
    summary = "x + e or x · e, e drawn for each row and the same whenever asked"
    undone_by = (
        "nothing exactly; averages over many rows, and other columns, narrow a value down; times"
        " move by whole days and keep their time of day"
    )
    traits = Traits(
        mixes_columns=False, links_rows=False, uses_row_key=True, adds_noise=True, stays_near=True
    )
    kinds = (*NUMBERS, *TIMES)
    kernels = (
        Kernel("ppdm_noise_normal", _NUMBERS, "DOUBLE", noise_normal),
        Kernel("ppdm_noise_uniform", _NUMBERS, "DOUBLE", noise_uniform),
        Kernel("ppdm_noise_laplace", _NUMBERS, "DOUBLE", noise_laplace),
        Kernel("ppdm_drawn", ("BIGINT", "BIGINT", "BIGINT"), "DOUBLE", drawn),
        Kernel("ppdm_selected", ("VARCHAR", "BIGINT", "DOUBLE"), "BOOLEAN", selected),
    )
    not_agreed = None  # a key is derived without looking at the column

    distributions: tuple[Distribution, ...]
    is_multiplicative: bool
    rho: float | None = field(repr=False)
    """Percent of the rows that get noise; None: all of them."""

    @classmethod
    def from_call(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> Self:
        """Take numbers and times, one distribution a column, and how it is applied."""
        cls.check_columns(call, columns)
        given = [argument for argument in call.arguments if argument.name is None]
        if len(given) != len(columns):
            raise TreatmentError(
                f"noise: {len(given)} distributions for {len(columns)} columns",
                call.span,
                _WRITE,
                code="bad_argument",
            )
        named = TreatmentCall(
            call.keyword,
            tuple(argument for argument in call.arguments if argument.name is not None),
            call.span,
        )
        arguments = Arguments(named, ("multiplicative", "rho"))
        multiplicative = arguments.flag("multiplicative")
        if multiplicative and any(column.type.kind in TIMES for column in columns):
            arguments.fail("multiplicative", "a date cannot be multiplied")
        distributions = tuple(_distribution(argument) for argument in given)
        for distribution in distributions if multiplicative else ():
            if max(abs(distribution.first), abs(distribution.second)) > _LARGEST_FACTOR:
                arguments.fail("multiplicative", f"factors must stay below {_LARGEST_FACTOR:g}")
        return cls(
            tuple(columns),
            distributions,
            multiplicative,
            _rho(arguments),
        )

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return DOUBLE for numbers; times stay what they are."""
        return tuple(
            column.type if column.type.kind in TIMES else DOUBLE for column in self.columns
        )

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive a key for each column; the rows of `rho` are the same for all columns.

        A refresh derives them again: the source may have become another column.
        """
        parameters: dict[str, Parameter] = {}
        for index in range(len(self.columns)):
            distribution = self.distributions[index]
            key = keys.derive("noise", self.key_name(index))[:_KEY_BYTES]
            high, low = key_words(key)
            parameters |= {
                f"key_{index}": key.hex(),
                f"key_high_{index}": high,
                f"key_low_{index}": low,
                f"first_{index}": distribution.first,
                f"second_{index}": distribution.second,
            }
        if self.rho is not None:
            selection = keys.derive("rho", keys.row_identity)[:_KEY_BYTES]
            parameters |= {"selection": selection.hex(), "rho": self.rho}
        return Drawn(parameters)

    def key_name(self, index: int) -> str:
        """Return what the key of a column's noise is derived from: the column and the distribution.

        Noise of two sizes must not be one draw, or 2(x + e) - (x + 2e) is x.
        """
        distribution = self.distributions[index]
        numbers = f"({distribution.first!r}, {distribution.second!r})"
        kind = "multiplied" if self.is_multiplicative else "added"
        return f"{self.columns[index].identity} {kind} {distribution.word}{numbers}"

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the values with their noise: a kernel draws, SQL makes the distribution of it."""
        noise = [self._drawn(index, scope) for index in range(len(inputs))]
        return self._applied(inputs, noise, scope)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the values with noise that `ppdm_noise_normal` and its siblings compute."""
        noise: list[exp.Expr] = [
            _call(
                f"ppdm_noise_{self.distributions[index].word}",
                scope.parameter(f"key_{index}"),
                scope.row_key(),
                scope.parameter(f"first_{index}"),
                scope.parameter(f"second_{index}"),
            )
            for index in range(len(inputs))
        ]
        return self._applied(inputs, noise, scope)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows."""
        hint = "a row without a KEY gets no noise; leave such rows out in a (SELECT …) source"
        return refuse_lost(self.keyword, self.columns, results, hint)

    def _drawn(self, index: int, scope: Scope) -> exp.Expr:
        """Return first + quantile · second; for a uniform distribution, first + u · width."""
        u = scope.let(
            _call(
                "ppdm_drawn",
                scope.parameter(f"key_high_{index}"),
                scope.parameter(f"key_low_{index}"),
                scope.row_key(),
            )
        )
        first, second = scope.parameter(f"first_{index}"), scope.parameter(f"second_{index}")
        match self.distributions[index].word:
            case "normal":
                standard, scale = normal_quantile(u, scope), second
            case "laplace":
                standard, scale = laplace_quantile(u), second
            case _:
                standard, scale = u, exp.paren(exp.Sub(this=second, expression=first.copy()))
        product = exp.Mul(this=exp.paren(standard), expression=scale)
        return exp.paren(exp.Add(this=first, expression=product))

    def _applied(
        self, inputs: Sequence[exp.Expr], noise: Sequence[exp.Expr], scope: Scope
    ) -> tuple[exp.Expr, ...]:
        """Add or multiply the noise, in the rows that get any."""
        outputs = tuple(
            self._noised(index, value, drawn_noise, scope)
            for index, (value, drawn_noise) in enumerate(zip(inputs, noise, strict=True))
        )
        if self.rho is None:
            return outputs
        chosen = scope.let(
            _call(
                "ppdm_selected",
                scope.parameter("selection"),
                scope.row_key(),
                scope.parameter("rho"),
            )
        )
        return tuple(
            exp.case()
            .when(chosen.copy(), noised)
            .when(exp.not_(chosen.copy()), self._untouched(index, value))
            for index, (noised, value) in enumerate(zip(outputs, inputs, strict=True))
        )

    def _noised(self, index: int, value: exp.Expr, noise: exp.Expr, scope: Scope) -> exp.Expr:
        column = self.columns[index]
        if column.type.kind in TIMES:
            days = exp.Floor(this=exp.Add(this=noise, expression=double("0.5")))
            return shifted_time(column, value, scope.let(days))
        node = exp.Mul if self.is_multiplicative else exp.Add
        return node(this=computable(column, value), expression=noise)

    def _untouched(self, index: int, value: exp.Expr) -> exp.Expr:
        column = self.columns[index]
        return in_calendar(value) if column.type.kind in TIMES else computable(column, value)


def _call(kernel: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=kernel, expressions=list(arguments))


def _distribution(argument: Argument) -> Distribution:
    call = argument.value
    words = ("normal", "uniform", "laplace")
    if not isinstance(call, TreatmentCall):
        raise TreatmentError(
            "noise takes distributions", argument.span, _WRITE, code="bad_argument"
        )
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
        arguments.fail(name, f"'{name}' must be a number", _WRITE)
    return float(value)


def _rho(arguments: Arguments) -> float | None:
    if "rho" not in arguments:
        return None
    value = arguments.value("rho")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 100:
        arguments.fail("rho", "'rho' is the percentage of rows, above 0 and at most 100")
    return float(value)
