"""`(x, y, …) … hybrid()`: each column translated, scaled or rotated; which one is secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

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
from ppdm_sql.treatments.rotation import Rotation
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


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to one column: a word, and its constant unless that is drawn."""

    word: str
    constant: float | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hybrid(AffineTreatment):
    """Columns in pairs, (1, 2), (3, 4), …: a pair is rotated, or each is translated or scaled.

    Every column is y = own · x + other · partner + shift, so that not even the text of the view
    shows which operation was drawn.
    """

    keyword = "hybrid"
    summary = "each column translated, scaled or rotated; which one is secret"
    undone_by = "two known rows; the steps between whole numbers show the angle or the factor"
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
        for i, j in _pairs(len(columns)):
            rotated = [operations[at].word == Rotation.keyword for at in (i, j) if at is not None]
            if any(rotated) and (rotated != [True, True] or operations[i] != operations[j or i]):
                raise TreatmentError(
                    "hybrid: both columns of a pair are rotated by the same angle, or none is",
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
        """Draw an operation for each pair or column, and its constant."""
        parameters: dict[str, Parameter] = {}
        chance = self.chance(keys)
        for i, j in _pairs(len(self.columns)):
            members = [at for at in (i, j) if at is not None]
            operations = (
                [self.operations[at] for at in members]
                if self.operations is not None
                else _draw_operations(chance, len(members))
            )
            angle = operations[0].constant
            turn = direction(draw_angle(chance) if angle is None else angle)
            for side, (at, operation) in enumerate(zip(members, operations, strict=True)):
                low, high = (statistics.get(f"{name}_{at}") for name in ("low", "high"))
                move = draw_shift(chance, low, high)
                factor = draw_factor(chance)
                own, other, shift = _coefficients(operation, turn, side, move, factor)
                parameters |= {f"own_{at}": own, f"other_{at}": other, f"shift_{at}": shift}
        return Drawn(parameters)

    def why_not_agreed(self) -> str | None:
        """A drawn translation is scaled to its column, and any operation may be one."""
        given = self.operations or (Operation(Translation.keyword, None),)
        scaled = Operation(Translation.keyword, None)
        return _NOT_AGREED if scaled in given else None

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return own · x + other · partner + shift."""
        numbers = [scope.let(number) for number in self.numbers(inputs)]
        outputs: list[exp.Expr] = []
        for at, number in enumerate(numbers):
            total: exp.Expr = exp.Mul(this=number.copy(), expression=scope.parameter(f"own_{at}"))
            partner = _partner(at, len(numbers))
            if partner is not None:
                other = scope.parameter(f"other_{at}")
                # A partner that takes no part must not pass its NULL on.
                part = (
                    exp.case()
                    .when(exp.EQ(this=other, expression=double("0")), double("0"))
                    .else_(exp.Mul(this=numbers[partner].copy(), expression=other.copy()))
                )
                total = exp.Add(this=total, expression=part)
            outputs.append(exp.Add(this=total, expression=scope.parameter(f"shift_{at}")))
        return tuple(outputs)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Solve the two equations of each pair."""
        y = [np.asarray(column.to_numpy(zero_copy_only=False), dtype=float) for column in outputs]
        x: list[Any] = list(y)
        for i, j in _pairs(len(self.columns)):
            a, b, s = self._row(drawn, i)
            if j is None or not b:
                x[i] = (y[i] - s) / a
                if j is not None:
                    a, _, s = self._row(drawn, j)
                    x[j] = (y[j] - s) / a
                continue
            c, d, t = self._row(drawn, j)  # y_j = c · x_j + d · x_i + t
            determinant = a * c - b * d
            x[i] = (c * (y[i] - s) - b * (y[j] - t)) / determinant
            x[j] = (a * (y[j] - t) - d * (y[i] - s)) / determinant
        return tuple(pa.array(values, mask=np.isnan(values)) for values in x)

    def row(self, drawn: Drawn, index: int) -> tuple[Sequence[float], float]:
        """Return the weights of the column and of its partner."""
        own, other, shift = self._row(drawn, index)
        weights = [0.0] * len(self.columns)
        partner = _partner(index, len(weights))
        if partner is not None:
            weights[partner] = other
        weights[index] = own
        return weights, shift

    def _row(self, drawn: Drawn, at: int) -> tuple[float, float, float]:
        own, other, shift = (drawn.number(f"{name}_{at}") for name in ("own", "other", "shift"))
        return own, other, shift


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
            constant = Rotation.from_call(inner, columns[:2]).degrees[0]
        case _:
            raise TreatmentError(
                f"hybrid: unknown operation '{inner.keyword}'",
                inner.span,
                _WRITE,
                code="unknown_argument",
            )
    return Operation(inner.keyword, constant)


def _draw_operations(chance: Draws, count: int) -> list[Operation]:
    """Draw for a pair or the last single column; each operation has the same chance in a pair."""
    if count == 2 and chance.choice(3) == 0:
        return [Operation(Rotation.keyword, None)] * 2
    words = (Translation.keyword, Scaling.keyword)
    return [Operation(words[chance.choice(2)], None) for _ in range(count)]


def _coefficients(
    operation: Operation, turn: tuple[float, float], side: int, move: float, factor: float
) -> tuple[float, float, float]:
    """Return own, other and shift of one column; `side` is 1 for the second of a pair."""
    given = operation.constant
    if operation.word == Rotation.keyword:
        cosine, sine = turn
        return cosine, -sine if side else sine, 0.0
    if operation.word == Scaling.keyword:
        return float(factor if given is None else given), 0.0, 0.0
    return 1.0, 0.0, float(move if given is None else given)


def _pairs(count: int) -> list[tuple[int, int | None]]:
    return [(at, at + 1 if at + 1 < count else None) for at in range(0, count, 2)]


def _partner(at: int, count: int) -> int | None:
    partner = at ^ 1
    return partner if partner < count else None
