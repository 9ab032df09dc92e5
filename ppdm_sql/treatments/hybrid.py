"""`(x, y, …) … hybrid()`: each column translated, scaled or rotated; which one is secret."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.affine import AffineTreatment, draw_angle, draw_factor, draw_shift
from ppdm_sql.treatments.expressions import as_double, double
from ppdm_sql.treatments.expressions import only_finite as finite
from ppdm_sql.treatments.kernels.affine import direction
from ppdm_sql.treatments.rotation import EVERY_PAIR, Rotation, every_pair, turned
from ppdm_sql.treatments.scaling import Scaling
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.translation import Translation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_WRITE = "write hybrid(), or one operation for each column: hybrid(translation(2), scaling(0.93))"
_NOT_AGREED = (
    "a translation that is drawn is scaled to one site's column: write one operation for each column, "
    "such as hybrid(translation(2), scaling())"
)


_WORDS = (Rotation.keyword, Translation.keyword, Scaling.keyword)


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to one column: a word, and its constant unless that is drawn."""

    word: str
    constant: float | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hybrid(AffineTreatment):
    """Each column is translated, scaled, or turned with every other one that is to be turned.

    Every column is y = weight · x + … for all columns of the group + shift, so that not even the
    text of the view shows which operation was drawn. Before formula 5 a column had one partner,
    its neighbour, and the weights `own` and `other`.
    """

    keyword = "hybrid"
    summary = "each column translated, scaled or rotated; which one is secret"
    reading = "moved, multiplied or mixed with other columns of its group by secret numbers"
    missing = "or another column that it was mixed with is"
    undone_by = "known rows, one more than columns at most; the steps between whole numbers show the angle or the factor"
    traits = Traits(links_rows=False, is_affine=True)
    fewest = 2

    operations: tuple[Operation, ...] | None = field(repr=False)
    """None: drawn."""

    @classmethod
    def from_call(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> Self:
        """Take two or more numbers and, if the owner wants to choose, an operation for each."""
        cls.check_columns(call, columns)
        if not call.arguments:
            return cls(tuple(columns), None)
        if len(call.arguments) != len(columns):
            raise TreatmentError(
                f"hybrid: {len(call.arguments)} operations for {len(columns)} columns",
                call.span,
                _WRITE,
                code="bad_argument",
            )
        operations = tuple(_operation(call, index, columns) for index in range(len(call.arguments)))
        rotated = Counter(one for one in operations if one.word == Rotation.keyword)
        if 1 in rotated.values():
            raise TreatmentError(
                "hybrid: a column is rotated with others, by the same angle, or not at all",
                call.span,
                code="bad_argument",
            )
        return cls(tuple(columns), operations)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the range of the columns."""
        wanted: dict[str, exp.Expr] = {}
        for index, value in enumerate(inputs):
            number = finite(as_double(value))
            wanted[f"low_{index}"] = exp.Min(this=number)
            wanted[f"high_{index}"] = exp.Max(this=number.copy())
        return wanted

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Draw an operation for each column, and its constant."""
        chance = self.chance(keys)
        size = len(self.columns)
        operations = self.operations or _draw_operations(chance, size)
        weights = [[float(i == j) for j in range(size)] for i in range(size)]
        shifts = [0.0] * size
        for at, operation in enumerate(operations):
            low, high = (statistics.get(f"{name}_{at}") for name in ("low", "high"))
            move, factor, given = (
                draw_shift(chance, low, high),
                draw_factor(chance),
                operation.constant,
            )
            if operation.word == Translation.keyword:
                shifts[at] = move if given is None else given
            elif operation.word == Scaling.keyword:
                weights[at][at] = float(factor if given is None else given)
        for pair in every_pair(size):
            angle, (first, second) = draw_angle(chance), (operations[at] for at in pair)
            if first == second and first.word == Rotation.keyword:
                given = first.constant
                turned(weights, pair, *direction(angle if given is None else given))
        parameters: dict[str, Parameter] = {
            f"weight_{i}_{j}": weight
            for i, row in enumerate(weights)
            for j, weight in enumerate(row)
        }
        return Drawn(parameters | {f"shift_{at}": float(shift) for at, shift in enumerate(shifts)})

    def why_not_agreed(self) -> str | None:
        """A drawn translation is scaled to its column, and any operation may be one."""
        given = self.operations or (Operation(Translation.keyword, None),)
        scaled = Operation(Translation.keyword, None)
        return _NOT_AGREED if scaled in given else None

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return weight · x + … + shift; NULL if the column is, or another that takes part."""
        numbers = [scope.let(number) for number in self.numbers(inputs)]
        outputs: list[exp.Expr] = []
        for at, number in enumerate(numbers):
            own, *others = self._names(at, scope.formula).items()
            total: exp.Expr = exp.Mul(this=number.copy(), expression=scope.parameter(own[1]))
            for partner, name in others:
                weight = scope.parameter(name)
                part = (
                    exp.case()
                    .when(exp.EQ(this=weight, expression=double("0")), double("0"))
                    .else_(exp.Mul(this=numbers[partner].copy(), expression=weight.copy()))
                )
                total = exp.Add(this=total, expression=part)
            outputs.append(exp.Add(this=total, expression=scope.parameter(f"shift_{at}")))
        return tuple(outputs)

    def _names(self, at: int, formula: int) -> dict[int, str]:
        """Return the weights that a column is made with, its own first."""
        size = len(self.columns)
        if formula < EVERY_PAIR:
            return {at: f"own_{at}"} | ({at ^ 1: f"other_{at}"} if at ^ 1 < size else {})
        return {at: f"weight_{at}_{at}"} | {
            other: f"weight_{at}_{other}" for other in range(size) if other != at
        }

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Solve the equations; a NULL stays in those it takes part in."""
        rows = [self.row(drawn, at) for at in range(len(outputs))]
        back = np.linalg.inv(np.array([weights for weights, _ in rows]))
        centred = [
            np.asarray(column.to_numpy(zero_copy_only=False), dtype=float) - shift
            for column, (_, shift) in zip(outputs, rows, strict=True)
        ]
        found = (
            sum(weight * y for weight, y in zip(weights, centred, strict=True) if weight)
            for weights in back
        )
        return tuple(pa.array(values, mask=np.isnan(values)) for values in found)

    def row(self, drawn: Drawn, index: int) -> tuple[Sequence[float], float]:
        """Return the weight of each column, and the constant."""
        formula = EVERY_PAIR if f"weight_{index}_{index}" in drawn.parameters else 1
        weights = [0.0] * len(self.columns)
        for other, name in self._names(index, formula).items():
            weights[other] = drawn.number(name)
        return weights, drawn.number(f"shift_{index}")


def _operation(call: TreatmentCall, index: int, columns: Sequence[InputColumn]) -> Operation:
    argument = call.arguments[index]
    inner = argument.value
    if argument.name is not None or not isinstance(inner, TreatmentCall):
        raise TreatmentError("hybrid takes operations", argument.span, _WRITE, code="bad_argument")
    column = columns[index : index + 1]
    match inner.keyword:
        case Translation.keyword:
            constant = Translation.from_call(inner, column).by[0]
        case Scaling.keyword:
            constant = Scaling.from_call(inner, column).by[0]
        case Rotation.keyword:
            (constant,) = Rotation.from_call(inner, columns[:2]).degrees or (None,)
        case _:
            raise TreatmentError(
                f"hybrid: unknown operation '{inner.keyword}'",
                inner.span,
                _WRITE,
                code="unknown_argument",
            )
    return Operation(inner.keyword, constant)


def _draw_operations(chance: Draws, count: int) -> list[Operation]:
    """Draw for each column; who is to be turned alone gets a partner, or something else.

    Each with chance one half: so each column has each operation with the same chance.
    """
    words = [_WORDS[chance.choice(3)] for _ in range(count)]
    if words.count(Rotation.keyword) == 1:
        alone = words.index(Rotation.keyword)
        if chance.choice(2):
            words[alone] = _WORDS[1 + chance.choice(2)]
        else:
            words[(alone + 1 + chance.choice(count - 1)) % count] = Rotation.keyword
    return [Operation(word, None) for word in words]
