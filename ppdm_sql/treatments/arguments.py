"""Reading the arguments of a call: unknown, missing or wrong ones are errors with a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ppdm_sql.errors import TreatmentError, plural, suggest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Argument, TransformCall, Value
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.types import Kind


_LARGEST_CONSTANT = 2.0**62


class Arguments:
    """The arguments of one call by name; positional ones take the names in order."""

    def __init__(self, call: TransformCall, names: Sequence[str]) -> None:
        self.call = call
        self._given: dict[str, Argument] = {}
        for index, argument in enumerate(call.arguments):
            if argument.name is None and index >= len(names):
                takes = plural(len(names), "argument") if names else "no arguments"
                raise TreatmentError(f"{call.keyword} takes {takes}", argument.span)
            name = argument.name or names[index]
            if name not in names:
                raise TreatmentError(
                    f"unknown argument '{name}' of {call.keyword}",
                    argument.span,
                    suggest(name, names, "arguments") if names else "it takes no arguments",
                )
            if name in self._given:
                raise TreatmentError(f"argument '{name}' is given twice", argument.span)
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
        raise TreatmentError(f"{self.call.keyword}: {what}", self.span(name), hint)

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

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two limits."""
        value = self.value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(name, f"'{name}' must be a whole number from {low} to {high}")
        return value


def constants(arguments: Arguments, name: str, count: int) -> tuple[float | None, ...]:
    """Return one number for each of `count` places: given once for all, as a list, or drawn."""
    value = arguments.value(name)
    if value is None:
        return (None,) * count
    values = value if isinstance(value, tuple) else (value,) * count
    if len(values) != count:
        arguments.fail(name, f"{plural(len(values), 'number')} for {plural(count, 'place')}")
    for number in values:
        if isinstance(number, bool) or not isinstance(number, int | float):
            arguments.fail(name, f"'{name}' must be a number, or a list of {count}")
        if abs(number) >= _LARGEST_CONSTANT:
            arguments.fail(name, f"'{name}' is too large")
    return tuple(number for number in values if isinstance(number, int | float))


def one_column(call: TransformCall, columns: Sequence[InputColumn]) -> InputColumn:
    """Return the only column; a group is an error."""
    if len(columns) != 1:
        raise TreatmentError(
            f"{call.keyword} treats one column at a time, not a group of {len(columns)}",
            call.span,
            "write one line a column",
        )
    return columns[0]


def require_kind(
    call: TransformCall, column: InputColumn, kinds: Collection[Kind], hint: str
) -> None:
    """Raise unless the column's type is of one of these kinds."""
    if column.type.kind not in kinds:
        allowed = ", ".join(kind.value for kind in kinds)
        raise TreatmentError(
            f"{call.keyword} cannot treat '{column.name}' of type {column.type}",
            call.span,
            f"it treats {allowed} columns; {hint}",
        )
