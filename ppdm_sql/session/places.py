"""Where an engine's error stands in the owner's script."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ppdm_sql.errors import EngineError, Span, suggest
from ppdm_sql.statements.script import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.model.syntax import PlainSql

# How DuckDB shows a place: `LINE 2: FROM patiens` and carets under the word; a long line is cut
# to what stands around the place, with `...` at the ends that were cut.
_POINTER = re.compile(r"LINE (?P<line>\d+): (?P<text>.*)\n(?P<indent> *)(?P<carets>\^+)")


@contextmanager
def located(statement: PlainSql) -> Iterator[None]:
    """Point errors of a plain statement at their place in the script it came from."""
    try:
        yield
    except EngineError as error:
        if statement.span is not None:
            error.at(_place(statement.span, error.engine_text))
        if error.hint is None and "syntax error" in error.what:
            error.hint = _near_miss(statement.text)
        raise


def _place(span: Span, engine_text: str) -> Span:
    first_word = Span(span.text, span.start, span.start + len(span.source.split(maxsplit=1)[0]))
    pointer = _POINTER.search(engine_text)
    if pointer is None:
        return first_word
    lines = span.source.split("\n")
    number = int(pointer["line"]) - 1
    if number >= len(lines):
        return first_word
    shown = pointer["text"]
    at = len(pointer["indent"]) - len(f"LINE {pointer['line']}: ")
    if shown.startswith("..."):
        shown, at = shown[3:], at - 3
    shown = shown.removesuffix("...")
    column = lines[number].find(shown)
    if column < 0 or at < 0:
        return first_word
    start = span.start + sum(len(line) + 1 for line in lines[:number]) + column + at
    return Span(span.text, start, min(start + len(pointer["carets"]), span.end))


def _near_miss(text: str) -> str | None:
    """Return a hint when the first words are nearly those of one of our statements."""
    words = text.upper().split()
    for opening in STATEMENTS:
        count = len(opening.split())
        hint = suggest(" ".join(words[:count]), (opening,), "statements of ppdm-sql")
        if hint.startswith("did you mean") and words[0] == opening.split()[0]:
            return hint.split("?")[0] + "?"
    return None
