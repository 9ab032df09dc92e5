"""`date_shift(days => 365)`: one secret number of days for each person, in every table alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.errors import plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import one_of, whole_number
from ppdm_sql.treatments.expressions import as_text, count_where
from ppdm_sql.treatments.kernels.keyed_name import KEY_BYTES, TAG
from ppdm_sql.treatments.numbers import MOST_DAYS, TIMES, count_of, shifted_time
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import TreatmentCall
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_DIGITS = 15
"""Of SHA-256, in base 16: 60 bits, so that no remainder is more frequent than another."""
_WEEK = 7
_ZONED = ColumnType("TIMESTAMP WITH TIME ZONE")
_PLAIN = ColumnType("TIMESTAMP")


@dataclass(frozen=True, slots=True)
class DateShift(Treatment):
    """A shift of 1 to `days` days, back or forth, fixed by the KEY of the row.

    Whatever the column, release or table: a person's dates move together, so that their order and
    the time between them stay.
    """

    keyword = "date_shift"
    summary = "all dates of a person move by one secret number of days, in every table alike"
    reading = (
        "moved by a secret number of days, the same for all "
        "dates of a person: the time between them is right"
    )
    missing = "or of nobody, or beyond the calendar"
    undone_by = "one known date of the person, which gives all their dates"
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, uses_row_key=True,
        stays_near=True,
    )  # fmt: skip
    kinds = TIMES
    most = None
    arguments = (whole_number("days", 365, 1, MOST_DAYS), one_of("unit", "day", "week"))
    not_agreed = None  # a key is derived without looking at the column

    days: int = field(repr=False)
    unit: str

    @classmethod
    def check_columns(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> None:
        """Raise unless all are dates or times; a shift by whole days needs no time zone."""
        others = [column for column in columns if column.type != _ZONED]
        if others:
            super(DateShift, cls).check_columns(call, others)

    def check_arguments(self, given: Arguments) -> None:
        """Raise where no whole week fits."""
        if self._steps < 1:
            given.fail("days", "fewer days than a week", "write days => 7 or more")

    @property
    def _length(self) -> int:
        return _WEEK if self.unit == "week" else 1

    @property
    def _steps(self) -> int:
        return self.days // self._length

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key: the same for every column, release and table of the same persons.

        Another size is another shift: from one draw, two releases would give the smaller one away.
        """
        person = f"{keys.person} {self.unit} {self.days}"
        return Drawn({"key": keys.derive(self.keyword, person)[:KEY_BYTES].hex()})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the dates moved; NULL where nobody knows whose they are."""
        shift = scope.let(self._shift(scope))
        return tuple(
            _moved(column, value, shift.copy())
            for column, value in zip(self.columns, inputs, strict=True)
        )

    def _shift(self, scope: Scope) -> exp.Expr:
        """Return the number of days: never 0, all others equally likely."""
        message = exp.DPipe(
            this=exp.DPipe(this=scope.parameter("key"), expression=exp.Literal.string(TAG)),
            expression=as_text(scope.row_key()),
        )
        digest = exp.SHA2(this=message, length=exp.Literal.number(256))
        digits = exp.Substring(
            this=digest, start=exp.Literal.number(1), length=exp.Literal.number(_DIGITS)
        )
        number = exp.cast(exp.DPipe(this=exp.Literal.string("0x"), expression=digits), "BIGINT")
        steps = exp.Literal.number(self._steps)
        drawn = scope.let(
            exp.Mod(this=number, expression=exp.Literal.number(2 * self._steps))
        )  # 0, 1, … become -steps, …, -1, 1, …, steps
        is_forth = exp.cast(exp.paren(exp.GTE(this=drawn, expression=steps)), "INT")
        shift = exp.Add(
            this=exp.Sub(this=drawn.copy(), expression=steps.copy()), expression=is_forth
        )
        return exp.Mul(this=exp.paren(shift), expression=exp.Literal.number(self._length))

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count dates that are lost: of nobody, or at the end of the calendar."""
        lost = [
            exp.and_(value.is_(exp.null()).not_(), moved.is_(exp.null()))
            for value, moved in zip(inputs, outputs, strict=True)
        ]
        return {"lost": count_where(exp.or_(*lost))}

    def verify(self, results: Statistics) -> Sequence[str]:
        """Warn of them: such dates are not released."""
        lost = count_of(results, "lost")
        if not lost:
            return ()
        names = ", ".join(str(column.name) for column in self.columns)
        said = f"date_shift: {plural(lost, 'row')} of '{names}' have no KEY, or a date that no"
        return (f"{said} calendar has: these dates are NULL",)

    def drawn_for(self) -> str:
        """Return what the shift is drawn for: the person, whatever the column."""
        return f"{self.keyword} {self.unit} {self.days}"


def _moved(column: InputColumn, value: exp.Expr, days: exp.Expr) -> exp.Expr:
    """Return a date moved; one with a time zone by days of 24 hours, whoever asks."""
    if column.type != _ZONED:
        return shifted_time(column, value, days)
    moved = shifted_time(replace(column, type=_PLAIN), _in_utc(value), days)
    return _in_utc(moved)


def _in_utc(value: exp.Expr) -> exp.Expr:
    return exp.AtTimeZone(this=exp.paren(value), zone=exp.Literal.string("UTC"))
