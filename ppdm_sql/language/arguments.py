"""Calls and their arguments: `word(1, [2, 3], name => normal(0, 10))`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ppdm_sql.language.syntax import Argument, TreatmentCall, Value
from ppdm_sql.language.tokens import Shape
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from ppdm_sql.language.cursor import Cursor

_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 16


def parse_call(cursor: Cursor, depth: int = 0) -> TreatmentCall:
    """Take `word( arguments )`."""
    word = cursor.word
    if word.shape is not Shape.WORD:
        cursor.fail(f"expected a treatment such as keep(), found {cursor.found()}")
    cursor.advance()
    if not cursor.at("("):
        cursor.fail(
            f"expected '(' after '{word.text}', found {cursor.found()}",
            f"write {word.text}()",
            word.span,
        )
    cursor.advance()
    arguments: list[Argument] = []
    while not cursor.take(")"):
        if arguments and not cursor.take(","):
            cursor.fail(
                f"expected ',' or ')' in the arguments of '{word.text}', found {cursor.found()}"
            )
        arguments.append(_argument(cursor, depth))
        _refuse_order(cursor, arguments)
    return TreatmentCall(fold(word.text), tuple(arguments), cursor.span_from(word))


def parse_value(cursor: Cursor, depth: int = 0) -> Value:
    """Take a number, string, true, false, null, list or call."""
    word = cursor.word
    if depth > _MAX_DEPTH:
        cursor.fail(f"lists and calls are nested more than {_MAX_DEPTH} deep")
    if cursor.take("["):
        return _list(cursor, depth)
    if word.shape is Shape.STRING:
        return cursor.advance().text
    if word.folded in _CONSTANTS and cursor.peek(1).folded != "(":
        return _CONSTANTS[cursor.advance().folded]
    if word.shape is Shape.WORD and cursor.peek(1).folded == "(":
        return parse_call(cursor, depth + 1)
    return parse_number(cursor)


def _argument(cursor: Cursor, depth: int) -> Argument:
    start = cursor.word
    name = None
    if cursor.peek(1).folded == "=>":
        name = fold(cursor.name("the name of an argument")[0].text)
        cursor.expect("=>")
    value = parse_value(cursor, depth)
    return Argument(name, value, cursor.span_from(start))


def _refuse_order(cursor: Cursor, arguments: list[Argument]) -> None:
    newest = arguments[-1]
    earlier = arguments[:-1]
    if newest.name is None and any(argument.name for argument in earlier):
        cursor.fail("an argument without a name cannot follow a named one", span=newest.span)
    if newest.name is not None and any(argument.name == newest.name for argument in earlier):
        cursor.fail(f"argument '{newest.name}' is given twice", span=newest.span)


def _list(cursor: Cursor, depth: int) -> tuple[Value, ...]:
    values: list[Value] = []
    while not cursor.take("]"):
        if values and not cursor.take(","):
            cursor.fail(f"expected ',' or ']' in a list, found {cursor.found()}")
        values.append(parse_value(cursor, depth + 1))
    return tuple(values)


def parse_number(cursor: Cursor) -> int | float:
    """Take a number."""
    start = cursor.word
    sign = -1 if cursor.take("-") else 1
    if sign == 1:
        cursor.take("+")
    text = "." if cursor.take(".") else ""
    if start.shape is Shape.WORD and cursor.peek(1).text in ("=", ":"):
        cursor.fail(f"expected '=>' after '{start.text}'", f"write {start.text} => …")
    if cursor.word.shape is not Shape.NUMBER:
        cursor.fail(
            f"expected a value, found {cursor.found()}",
            "a value is a number, 'text', true, false, null, [a list] or a call()",
        )
    text += cursor.advance().text
    span = cursor.span_from(start)
    number = float(text)
    if not math.isfinite(number):
        cursor.fail("this number is too large", span=span)
    return sign * (int(text) if text.isdecimal() else number)
