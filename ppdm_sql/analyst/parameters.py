"""Values that go with an analyst's statement, as they travel to the other process and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from ppdm_sql.errors import StatementError

Parameters = Sequence[object] | Mapping[str, object]

_DEEPEST = 10
_LARGEST = 2**128
# A datetime is a date, too: it comes first.
_TYPES: dict[str, tuple[type[Any], Any, Any]] = {
    "float": (float, repr, float),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
}


def to_message(parameters: Parameters) -> Any:
    """Return values as JSON holds them; raise for what is no plain value."""
    if isinstance(parameters, Mapping):
        return {str(name): _packed(value) for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise StatementError(
            "parameters are a list, or a dict of names and values", code="parameters"
        )
    return [_packed(value) for value in parameters]


def from_message(message: Any) -> Any:
    """Return the values that came."""
    if isinstance(message, dict):
        return {name: _unpacked(value) for name, value in message.items()}
    return [_unpacked(value) for value in message]


def check_names(values: Any, wanted: Set[str]) -> None:
    """Raise where a statement has other parameters than values were given for."""
    is_named = isinstance(values, dict)
    given = set(values) if is_named else {str(place) for place in range(1, len(values) + 1)}
    for name in sorted(wanted - given):
        raise StatementError(f"there is no value for the parameter ${name}", code="parameters")
    for name in sorted(given - wanted):
        raise StatementError(
            f"the statement has no parameter ${name}",
            hint="write $name and give a dict, or ? and give a list",
            code="parameters",
        )


def _packed(value: object, depth: int = 0) -> object:
    if depth > _DEEPEST:
        raise StatementError("a parameter is nested too deep", code="parameters")
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise StatementError(
            "a parameter is larger than any whole number of DuckDB", code="parameters"
        )
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return [_packed(item, depth + 1) for item in value]
    for name, (type_, write, _) in _TYPES.items():
        if isinstance(value, type_):
            return {name: write(value)}
    if hasattr(value, "item"):  # a number of numpy's or pandas'
        return _packed(value.item(), depth + 1)
    raise StatementError(
        f"a parameter may not be of type {type(value).__name__}",
        hint="give numbers, texts, dates, times, None, or lists of them",
        code="parameters",
    )


def _unpacked(value: object) -> object:
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if isinstance(value, dict):
        ((name, text),) = value.items()
        return _TYPES[name][2](text)
    return value
