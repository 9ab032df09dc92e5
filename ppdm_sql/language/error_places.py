"""Where an engine's error stands in the owner's script."""

from __future__ import annotations

import difflib
import re
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from ppdm_sql.errors import EngineError, EngineKind, Span, display_width
from ppdm_sql.language.script import STATEMENTS
from ppdm_sql.language.tokens import Shape, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.language.syntax import PlainSql

# How DuckDB shows a place: `LINE 2: FROM patiens` and carets under the word; a long line is cut
# to what stands around the place, with `...` at the ends that were cut.
_POINTER = re.compile(r"LINE (?P<line>\d+): (?P<text>.*)\n(?P<indent> *)(?P<carets>\^+)")

_ONLY_OURS = ("AUDIT", "INTERPRET", "PUBLISH", "REFRESH")
"""First words that no statement of DuckDB has."""


@contextmanager
def located(statement: PlainSql, has_values: bool = False) -> Iterator[None]:
    """Point errors of a plain statement at their place in the script it came from.

    `has_values` tells whether its parameters were given any.
    """
    try:
        yield
    except EngineError as error:
        if not has_values and error.kind is EngineKind.PARAMETER:
            _explain_parameter(error, statement)
        if statement.span is not None:
            error.at(place_in(statement.span, error.engine_text))
        if error.hint is None and error.kind is EngineKind.SYNTAX:
            _explain(error, statement.text)
        raise


def place_in(span: Span, engine_text: str) -> Span:
    """Return where an engine's error stands in a statement; its first word when it does not say."""
    first_word = Span(span.text, span.start, span.start + len(span.source.split(maxsplit=1)[0]))
    pointer = _POINTER.search(engine_text)
    if pointer is None:
        return first_word
    shown = pointer["text"].rstrip("\r")
    at = _index_at(shown, len(pointer["indent"]) - len(f"LINE {pointer['line']}: "))
    length = len(pointer["carets"])
    around = shown.removeprefix("...").removesuffix("...")
    at -= len(shown) - len(shown.removeprefix("..."))
    lines = span.source.split("\n")
    number = int(pointer["line"]) - 1
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    # The named line first; where the engine ran the text inside another, wherever it is alone.
    found = begins[number] + lines[number].find(around) if number < len(lines) else -1
    if number >= len(lines) or around not in lines[number] or at < 0:
        token = around[max(at, 0) : max(at, 0) + length]
        if at < 0 or not token or span.source.count(token) != 1:
            return first_word
        found, at = span.source.find(token), 0
    start = span.start + found + at
    return Span(span.text, start, min(start + length, span.end))


def _index_at(text: str, column: int) -> int:
    """Return the letter under a caret: DuckDB counts wide letters as 2, marks and tabs as 0."""
    width = 0
    for index, letter in enumerate(text):
        size = display_width(letter)
        if width >= column and size:
            return index
        width += size
    return len(text)


def _explain_parameter(error: EngineError, statement: PlainSql) -> None:
    """Say which `$name` or `?` has no value; DuckDB's text of that is withheld with others."""
    found = words(statement.text)
    for word, after in pairwise([*found, found[-1]]):
        if word.shape is not Shape.SYMBOL or word.text not in ("$", "?"):
            continue
        end = after.span.end if word.text == "$" else word.span.end
        name = statement.text[word.span.start : end]
        error.what = f"there is no value for the parameter {name}"
        error.hint = (
            "a script has no parameters: write the value, or run the statement from Python with "
            "execute(statement, values)"
        )
        if statement.span is not None:
            begin = statement.span.start
            error.at(Span(statement.span.text, begin + word.span.start, begin + end))
        return


def _explain(error: EngineError, text: str) -> None:
    """Say more where DuckDB says only that it cannot read a statement."""
    words = text.upper().split()
    if words[0] in ("GRANT", "REVOKE") or words[:2] in (["CREATE", "USER"], ["CREATE", "ROLE"]):
        error.what = f"DuckDB has no {' '.join(words[: 1 + (words[0] == 'CREATE')])}"
        error.hint = (
            "it knows no users and no privileges: PUBLISH RELEASE … TO 'study.duckdb' writes what "
            "others may have to a file of its own"
        )
    else:
        error.hint = _near_miss(words)


def _near_miss(words: list[str]) -> str | None:
    """Return a hint when a statement looks like one of ours."""
    if words[:2] == ["SHOW", "RELEASE"]:
        return "SHOW RELEASES lists all of them, DESCRIBE RELEASE name describes one"
    for opening in STATEMENTS:
        *first, last = opening.split()
        found = words[: len(first) + 1]
        if found[:-1] == first and difflib.get_close_matches(last, found[-1:], cutoff=0.75):
            return f"did you mean '{opening}'?"
    for opening in STATEMENTS:
        verb, *rest = opening.split()
        is_near = difflib.get_close_matches(verb, words[:1], cutoff=0.75)
        if is_near and rest and words[1 : 1 + len(rest)] == rest:
            return f"did you mean '{opening}'?"
    if words[0] in _ONLY_OURS:
        return f"did you mean '{words[0]} RELEASE'?"
    if {"RELEASE", "RELEASES", "HIERARCHY", "AGREEMENT"} & set(words[1:4]):
        return "statements of ppdm-sql: " + ", ".join(STATEMENTS)
    return None
