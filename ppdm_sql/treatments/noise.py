"""`noise(normal(0, 10))`: keyed noise, fixed for each row and value; with `rho`, for a share of them.

Noise is bound to what it hides. Its key is that of the column, of how it is applied and of the
distribution; what is encrypted under it is the row's key and the value. So the same value gets the
same answer in every release and version with that noise, and a value that changed, or a unit that
was converted, draws anew instead of handing out an equation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments import noise_formula_1
from ppdm_sql.treatments.arguments import Arguments
from ppdm_sql.treatments.distributions import WRITE, Distribution, read_distribution, sized
from ppdm_sql.treatments.expressions import double
from ppdm_sql.treatments.kernels.keyed import (
    drawn,
    key_words,
    noise_laplace,
    noise_normal,
    noise_uniform,
    selected,
    standard_laplace,
    standard_normal,
    standard_uniform,
)
from ppdm_sql.treatments.noise_checks import (
    check_factors,
    check_relative,
    check_room,
    check_single,
    check_size,
    read_rho,
    said_of_rho,
)
from ppdm_sql.treatments.noise_units import Writing, rounded
from ppdm_sql.treatments.numbers import (
    NUMBERS,
    SECONDS_A_DAY,
    TIMES,
    NumberTreatment,
    computable,
    in_calendar,
    refuse_lost,
    shifted_time,
)
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import DOUBLE, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_KEY_BYTES = 16
_LARGEST_FACTOR = 1e6
_NUMBERS = ("VARCHAR", "BIGINT", "DOUBLE", "DOUBLE")
_DRAWN = ("BIGINT", "BIGINT", "BIGINT", "DOUBLE")
_PER = ("value", "person")
_FEW = 10
"""Percent of the rows: with noise on fewer, a column is released as it is."""
_BOUND_TO_ALL = 3
"""The formula from which noise depends on everything that it hides."""
"""Units of the column's scale below which the noise would be rounded away in many rows."""


@dataclass(frozen=True, slots=True)
class Noise(NumberTreatment):
    """One distribution a column; what a row gets depends on the column's key, its KEY and its value."""

    keyword = "noise"
    summary = "x + e or x · e, where e is drawn once for each row and value"
    reading = (
        "the value with a random number that stays the same: means over many rows "
        "are right if its mean is 0, single values are not, variances are too large"
    )
    undone_by = (
        "averaging many rows of one person or group, or several releases with other noise; other"
        " columns tell about where a value lies"
    )
    traits = Traits(
        mixes_columns=False,
        links_rows=False,
        uses_row_key=True,
        uses_source_value=True,
        adds_noise=True,
        stays_near=True,
    )
    kinds = (*NUMBERS, *TIMES)
    kernels = (
        Kernel("ppdm_normal", _DRAWN, "DOUBLE", standard_normal),
        Kernel("ppdm_uniform", _DRAWN, "DOUBLE", standard_uniform),
        Kernel("ppdm_laplace", _DRAWN, "DOUBLE", standard_laplace),
        Kernel("ppdm_selected", ("VARCHAR", "BIGINT", "DOUBLE"), "BOOLEAN", selected),
        # Of versions that formula 1 made.
        Kernel("ppdm_noise_normal", _NUMBERS, "DOUBLE", noise_normal),
        Kernel("ppdm_noise_uniform", _NUMBERS, "DOUBLE", noise_uniform),
        Kernel("ppdm_noise_laplace", _NUMBERS, "DOUBLE", noise_laplace),
        Kernel("ppdm_drawn", ("BIGINT", "BIGINT", "BIGINT"), "DOUBLE", drawn),
    )
    not_agreed = None  # a key is derived without looking at the column

    distributions: tuple[Distribution, ...]
    is_multiplicative: bool
    rho: float | None = field(repr=False)
    """Percent of the rows that get noise; None: all of them."""
    per: str = "value"
    """`value`: another value of the same person draws anew; `person`: one noise a person."""
    rounds: bool = True
    """Whether sums are rounded as the column itself is."""

    @classmethod
    def from_call(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> Self:
        """Take numbers and times, one distribution a column, and how it is applied."""
        cls.check_columns(call, columns)
        given = [argument for argument in call.arguments if argument.name is None]
        if len(given) != len(columns):
            raise TreatmentError(
                f"noise: {len(given)} distributions for {len(columns)} columns",
                call.span,
                WRITE,
                code="bad_argument",
            )
        named = TreatmentCall(
            call.keyword,
            tuple(argument for argument in call.arguments if argument.name is not None),
            call.span,
        )
        arguments = Arguments(named, ("multiplicative", "rho", "per", "round"))
        multiplicative = arguments.flag("multiplicative")
        if multiplicative and any(column.type.kind in TIMES for column in columns):
            arguments.fail("multiplicative", "a date cannot be multiplied")
        distributions = tuple(read_distribution(argument) for argument in given)
        check_relative(call, distributions, columns, multiplicative)
        for distribution in distributions if multiplicative else ():
            if max(abs(distribution.first), abs(distribution.second)) > _LARGEST_FACTOR:
                arguments.fail("multiplicative", f"factors must stay below {_LARGEST_FACTOR:g}")
        per = arguments.value("per") if "per" in arguments else _PER[0]
        if per not in _PER:
            arguments.fail("per", "'per' is 'value' or 'person'")
        rounds = arguments.flag("round") if "round" in arguments else True
        return cls(
            tuple(columns), distributions, multiplicative, read_rho(arguments), str(per), rounds
        )

    @property
    def averages_over_rows(self) -> bool:
        """Whether rows of one person have noises of their own."""
        return self.per == "value"

    @property
    def shares_noise(self) -> bool:
        """Whether they have one, whatever their values are."""
        return self.per == "person"

    @property
    def leaves_rows(self) -> bool:
        """Whether only a share of the rows gets noise."""
        return self.rho is not None

    @property
    def leaves_most_rows(self) -> bool:
        """Whether more than nine of ten rows get none."""
        return self.rho is not None and self.rho < _FEW

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return the distribution, and how it is applied."""
        written = self.distributions[index]
        first, second = (
            float(drawn.parameters.get(f"{name}_{index}", getattr(written, name)))
            for name in ("first", "second")
        )
        text = f"{written.word}({first:g}, {second:g}) {self._kind}"
        if self.rho is not None:
            text += f" to {self.rho:g} percent of the rows"
        return f"{text}, one for each {self.per}"

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return DOUBLE for numbers; times stay what they are."""
        return tuple(
            column.type if column.type.kind in TIMES else DOUBLE for column in self.columns
        )

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask how large numbers are, and how the column is written."""
        found: dict[str, exp.Expr] = {}
        for index, (column, value) in enumerate(zip(self.columns, inputs, strict=True)):
            if self.distributions[index].relative is not None:
                number = exp.paren(computable(column, value))
                found[f"deviation_{index}"] = exp.StddevPop(this=number)
            if self.is_multiplicative:
                continue
            if column.type.kind not in TIMES:
                number = exp.paren(computable(column, value))
                found[f"largest_{index}"] = exp.Max(this=exp.Abs(this=number))
            if self.rounds and column.type.kind is not Kind.DATE:
                found |= self._writing(index).statistics(value)
        return found

    def _writing(self, index: int) -> Writing:
        # Rows that are left alone, or share a noise, show what is finer than the values are.
        follows_values = self.rho is not None or self.per == "person"
        return Writing(self.columns[index], index, follows_values)

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive a key for each column; the rows of `rho` are the same for all columns.

        A refresh derives them again: the source may have become another column. What a sum is
        rounded to stays as it was.
        """
        if keys.formula < 2:
            lineages = [f"{column.identity} {self._kind}" for column in self.columns]
            drawn_then = noise_formula_1.parameters(lineages, self.distributions, keys)
            return Drawn(drawn_then | self._selection(keys))
        if previous is None and self.is_multiplicative:
            check_factors(self.per == "person", self.rho is not None and self.rounds)
        parameters: dict[str, Parameter] = {}
        for index, written in enumerate(self.distributions):
            distribution = written
            if written.relative is not None:  # a refresh keeps its size, or it would draw anew
                then = None if previous is None else previous.number(f"second_{index}")
                found = statistics.get(f"deviation_{index}")
                distribution = sized(written, self.columns[index], found, then)
            said = self._drawn_for(index, keys, distribution)
            high, low = key_words(keys.derive("noise 2", said))
            # Sites may have a column in different types, and other decimals.
            unit = 0.0 if keys.is_agreed else self._unit(index, statistics)
            if previous is not None:
                unit = previous.number(f"unit_{index}")
            else:
                check_size(distribution, self.columns[index], unit)
                if self.rho is not None and self.rounds and not unit:
                    check_single(self.columns[index])
            largest = 1.0 if self.is_multiplicative else statistics.get(f"largest_{index}")
            check_room(distribution, self.columns[index], largest)
            parameters |= {
                f"key_high_{index}": high,
                f"key_low_{index}": low,
                f"first_{index}": distribution.first,
                f"second_{index}": distribution.second,
                f"unit_{index}": unit,
            }
        return Drawn(parameters | self._selection(keys))

    def _selection(self, keys: Keys) -> dict[str, Parameter]:
        """Return what selects rows: by their KEY alone, or each changed value would be a chance."""
        if self.rho is None:
            return {}
        selection = keys.derive("rho", keys.row_identity)[:_KEY_BYTES]
        return {"selection": selection.hex(), "rho": self.rho}

    @property
    def _kind(self) -> str:
        return "multiplied" if self.is_multiplicative else "added"

    def why_not_agreed(self) -> str | None:
        """A size that is relative to the column is one site's."""
        if any(one.relative is not None for one in self.distributions):
            return "noise relative to the column depends on one site's rows: write normal(0, 10)"
        return None

    def _drawn_for(self, index: int, keys: Keys, distribution: Distribution | None = None) -> str:
        """Return what the key of a column's noise is derived from.

        Of two sizes each has a draw of its own: of one, 2(x + e) - (x + 2e) would be x.
        """
        column = self.columns[index]
        distribution = distribution or self.distributions[index]
        is_whole = keys.formula >= _BOUND_TO_ALL
        # Sites agree on the name of a column, whatever table it comes from. One noise a person
        # does not depend on the value: so it must be another one for another expression.
        by_name = keys.is_agreed or (is_whole and self.per == "person")
        lineage = column.identity if by_name else " + ".join(sorted(column.origins))
        lineage = lineage or column.identity
        zero = 0.0 if is_whole else -0.0  # x + 0.0 has no sign where x is 0
        numbers = f"({distribution.first + zero!r}, {distribution.second + zero!r})"
        if keys.source and self.per == "person" and not keys.is_agreed:
            # A name alone says nothing of what is behind it.
            lineage = " + ".join((lineage, *sorted(column.origins), keys.source))
        said = f"{lineage} {self._kind} {distribution.word}{numbers} per {self.per}"
        return f"{said} rho {self.rho!r}" if is_whole and self.rho is not None else said

    def _unit(self, index: int, statistics: Statistics) -> float:
        """Return how many steps of the column's scale one is; 0 where sums are not rounded."""
        if self.is_multiplicative or not self.rounds:
            return 0.0
        return self._writing(index).unit(statistics)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the values with their noise: a kernel draws, SQL scales and applies it."""
        if scope.formula < 2:
            drawn_then = noise_formula_1.drawn(self.distributions, scope)
            return self._applied(inputs, drawn_then, scope)
        noise = [self._drawn(index, scope) for index in range(len(inputs))]
        return self._applied(inputs, noise, scope)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the same: noise is drawn by a kernel either way."""
        if scope.formula < 2:
            drawn_then = noise_formula_1.drawn_by_kernels(self.distributions, scope)
            return self._applied(inputs, drawn_then, scope)
        return self.to_expr(inputs, scope)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when there are such rows; warn where decimals show which rows were left alone."""
        hint = "a row without a KEY gets no noise; leave such rows out in a (SELECT …) source"
        warnings = refuse_lost(self.keyword, self.columns, results, hint)
        if self.rho is None:
            return warnings
        are_rounded = not self.is_multiplicative and self.rounds
        shown = [
            column
            for index, column in enumerate(self.columns)
            if are_rounded and column.type.kind not in TIMES and not self._unit(index, results)
        ]
        return (*warnings, *said_of_rho(self.rho, shown))

    def ledger_parameters(self, row: Mapping[str, Parameter]) -> Mapping[str, Parameter]:
        """Return what makes it another noise: not what its sums are rounded to."""
        return {name: value for name, value in row.items() if not name.startswith("unit_")}

    def _drawn(self, index: int, scope: Scope) -> exp.Expr:
        """Return first + standard · second; for a uniform distribution, first + u · width."""
        word = self.distributions[index].word
        key = [scope.parameter(f"key_{half}_{index}") for half in ("high", "low")]
        standard = _call(f"ppdm_{word}", *key, scope.row_key(), self._bound(index, key, scope))
        first, second = scope.parameter(f"first_{index}"), scope.parameter(f"second_{index}")
        if word == "uniform":
            second = exp.paren(exp.Sub(this=second, expression=first.copy()))
        product = exp.Mul(this=standard, expression=second)
        return exp.paren(exp.Add(this=first, expression=product))

    def _bound(self, index: int, key: Sequence[exp.Expr], scope: Scope) -> exp.Expr:
        """Return what the noise is bound to, beside the row: the same again, the same noise.

        Otherwise the difference of two versions would be that of two values, without noise. What
        `rotation()` mixed in is hidden by it, too. Rows of a person that share theirs are bound to
        nothing else: by their values, each that comes or goes would be another draw.
        """
        if self.per == "person":
            return double("0.0")
        others = scope.mixed_with(index) if scope.formula >= _BOUND_TO_ALL else []
        values = [scope.source_value(one) for one in (index, *others)]
        if len(values) == 1:
            return values[0]
        parts = (
            _call("ppdm_uniform", *(half.copy() for half in key), scope.row_key(), one)
            for one in values
        )
        return reduce(lambda one, other: exp.Add(this=one, expression=other), parts)

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
            .when(exp.not_(chosen.copy()), self._untouched(index, value, scope))
            for index, (noised, value) in enumerate(zip(outputs, inputs, strict=True))
        )

    def _noised(self, index: int, value: exp.Expr, noise: exp.Expr, scope: Scope) -> exp.Expr:
        column = self.columns[index]
        if column.type.kind in TIMES:
            by_seconds = column.type.kind is Kind.TIMESTAMP and scope.formula > 1
            if by_seconds:
                unit = self._times_a_day(index, scope)
                noise = exp.Mul(this=noise, expression=unit)
            amount: exp.Expr = exp.Floor(this=exp.Add(this=noise, expression=double("0.5")))
            if by_seconds:
                seconds = exp.Div(this=double(f"{SECONDS_A_DAY}.0"), expression=unit.copy())
                amount = exp.Mul(this=amount, expression=exp.paren(seconds))
            start = self._in_seconds(column, value) if by_seconds else value
            return shifted_time(column, start, scope.let(amount), "SECOND" if by_seconds else "DAY")
        node = exp.Mul if self.is_multiplicative else exp.Add
        return self._as_written(
            index, node(this=computable(column, value), expression=noise), scope
        )

    def _as_written(self, index: int, number: exp.Expr, scope: Scope) -> exp.Expr:
        """Return a number with as many decimals as the column had: with noise or without."""
        if self.is_multiplicative or not self.rounds or scope.formula < 2:
            return number
        unit, total = scope.parameter(f"unit_{index}"), scope.let(number)
        return (
            exp.case()
            .when(exp.GT(this=unit, expression=double("0.0")), rounded(total, unit))
            .else_(total.copy())
        )

    def _times_a_day(self, index: int, scope: Scope) -> exp.Expr:
        """Return how many steps a moment may move in a day: seconds, where none are fixed."""
        unit = scope.parameter(f"unit_{index}")
        return exp.paren(
            exp.case()
            .when(exp.GT(this=unit, expression=double("0.0")), unit.copy())
            .else_(double(f"{SECONDS_A_DAY}.0"))
        )

    def _untouched(self, index: int, value: exp.Expr, scope: Scope) -> exp.Expr:
        column = self.columns[index]
        if column.type.kind not in TIMES:
            return self._as_written(index, computable(column, value), scope)
        if column.type.kind is Kind.TIMESTAMP and scope.formula > 1:
            value = self._in_seconds(column, value)
        return in_calendar(value)

    def _in_seconds(self, column: InputColumn, value: exp.Expr) -> exp.Expr:
        """Return a moment without its fraction of a second, which would tell whose it is."""
        if not self.rounds:
            return value
        whole = exp.TimestampTrunc(this=value.copy(), unit=exp.Var(this="SECOND"))
        return exp.cast(whole, exp.DataType.build(column.type.text, dialect="duckdb"))


def _call(kernel: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=kernel, expressions=list(arguments))
