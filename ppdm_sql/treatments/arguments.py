"""Reading the arguments of a call: unknown, missing or wrong ones are errors with a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ppdm_sql.errors import TreatmentError, plural, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Argument, TreatmentCall, Value
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.types import Kind


_LARGEST_CONSTANT = 2.0**62


class Arguments:
    """The arguments of one call by name; positional ones take the names in order."""

    def __init__(self, call: TreatmentCall, names: Sequence[str]) -> None:
        self.call = call
        self._given: dict[str, Argument] = {}
        for index, argument in enumerate(call.arguments):
            if argument.name is None and index >= len(names):
                takes = plural(len(names), "argument") if names else "no arguments"
                raise TreatmentError(
                    f"{call.keyword} takes {takes}", argument.span, code="bad_argument"
                )
            name = argument.name or names[index]
            if name not in names:
                raise TreatmentError(
                    f"unknown argument '{name}' of {call.keyword}",
                    argument.span,
                    suggest(name, names, "arguments") if names else "it takes no arguments",
                    code="unknown_argument",
                )
            if name in self._given:
                raise TreatmentError(
                    f"argument '{name}' is given twice", argument.span, code="listed_twice"
                )
            self._given[name] = argument

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str, default: Value = None) -> Value:
        """Return an argument as it was written."""
        return self._given[name].value if name in self._given else default

    def span(self, name: str) -> Span | None:
        """Return where an argument stands, or the whole call."""
        return self._given[name].span if name in self._given else self.call.span

    def fail(self, name: str, what: str, hint: str | None = None) -> NoReturn:
        """Raise, pointing at an argument."""
        raise TreatmentError(
            f"{self.call.keyword}: {what}", self.span(name), hint, code="bad_argument"
        )

    def text(self, name: str, default: str) -> str:
        """Return a non-empty text."""
        value = self.value(name, default)
        if not isinstance(value, str) or not value:
            self.fail(name, f"'{name}' must be a text", f"write {name} => 'word'")
        return value

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        """Return one of a few words."""
        value = self.value(name, default)
        if not isinstance(value, str) or value.lower() not in choices:
            listed = ", ".join(f"'{choice}'" for choice in choices)
            self.fail(name, f"'{name}' must be one of {listed}")
        return value.lower()

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.value(name, False)
        if not isinstance(value, bool):
            self.fail(name, f"'{name}' must be true or false")
        return value

    def constants(self, name: str, count: int) -> tuple[float | None, ...]:
        """Return one number for each of `count` places; None for each where none is given."""
        value = self.value(name)
        if value is None:
            return (None,) * count
        values = value if isinstance(value, tuple) else (value,) * count
        if len(values) != count:
            self.fail(name, f"{plural(len(values), 'number')} for {plural(count, 'place')}")
        for number in values:
            if isinstance(number, bool) or not isinstance(number, int | float):
                self.fail(name, f"'{name}' must be a number, or a list of {count}")
            if abs(number) >= _LARGEST_CONSTANT:
                self.fail(name, f"'{name}' is too large")
        return tuple(number for number in values if isinstance(number, int | float))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two limits."""
        value = self.value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(name, f"'{name}' must be a whole number from {low} to {high}")
        return value


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One argument of a treatment: its name, and what reads and checks it."""

    name: str
    read: Callable[[Arguments, Sequence[InputColumn]], Any]


def text(name: str, default: Callable[[InputColumn], str]) -> ArgumentSpec:
    """Take a text; without one, what the column says."""
    return ArgumentSpec(
        name,
        lambda given, columns: given.text(name, "") if name in given else default(columns[0]),
    )


def whole_number(name: str, default: int, low: int, high: int) -> ArgumentSpec:
    """Take a whole number between two limits."""
    return ArgumentSpec(name, lambda given, _: given.integer(name, default, low, high))


def one_of(name: str, *choices: str) -> ArgumentSpec:
    """Take one of a few words, by default the first."""
    return ArgumentSpec(name, lambda given, _: given.choice(name, choices[0], choices))


def flag(name: str) -> ArgumentSpec:
    """Take true or false, by default false."""
    return ArgumentSpec(name, lambda given, _: given.flag(name))


def constants(name: str, places: Callable[[int], int] = lambda columns: columns) -> ArgumentSpec:
    """Take one number for each place: given once for all, as a list, or drawn (None)."""
    return ArgumentSpec(name, lambda given, columns: given.constants(name, places(len(columns))))


_IN_SOURCE = "cast it in the source: FROM (SELECT * REPLACE ({} AS x) FROM …), x being its name"
_CASTS = {
    "TIMESTAMP WITH TIME ZONE": _IN_SOURCE.format("x AT TIME ZONE 'UTC'"),
    "TIME": _IN_SOURCE.format("epoch(x)") + ", which is in seconds",
    **dict.fromkeys(
        ("TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"), _IN_SOURCE.format("x::TIMESTAMP")
    ),
}
"""What to write for times of other types."""


def require_kind(
    call: TreatmentCall, column: InputColumn, kinds: Collection[Kind], hint: str
) -> None:
    """Raise unless the column's type is of one of these kinds."""
    if column.type.kind not in kinds:
        allowed = ", ".join(kind.value for kind in kinds)
        raise TreatmentError(
            f"{call.keyword} cannot treat '{column.name}' of type {column.type}",
            call.span,
            f"it treats {allowed} columns; {_CASTS.get(column.type.text, hint)}",
            code="wrong_type",
        )
