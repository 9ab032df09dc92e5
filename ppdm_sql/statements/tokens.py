"""Text to words, through sqlglot's tokenizer and around its traps.

The tokenizer is used as it is, never subclassed or patched. Three things are put right here:
`EXPLAIN …` and `CALL …` arrive as one opaque string (the tail is tokenized again), neighbours
such as `primary key` arrive fused (they are split), and `{# … #}` vanishes as if it were a
comment (a gap between words that is neither space nor comment is an error).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from enum import Enum, auto

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from ppdm_sql.errors import Span, StatementError
from ppdm_sql.names import fold

DUCKDB = Dialect.get_or_raise("duckdb")
_COMMENT_OR_SPACE = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*\Z", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*\Z")
_STRINGS = frozenset({TokenType.STRING, TokenType.HEREDOC_STRING})
_OTHER_LITERALS = frozenset(
    {
        TokenType.BYTE_STRING,
        TokenType.RAW_STRING,
        TokenType.HEX_STRING,
        TokenType.BIT_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.UNICODE_STRING,
    }
)


class Shape(Enum):
    """What a word looks like."""

    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a script; `text` is the value of a string, the name of an identifier."""

    shape: Shape
    text: str
    span: Span = field(repr=False)

    @property
    def folded(self) -> str:
        """The text as keywords are compared; empty for anything but a plain word or symbol."""
        return fold(self.text) if self.shape in (Shape.WORD, Shape.SYMBOL) else ""


def sql_tokens(text: str) -> list[Token]:
    """Return sqlglot's tokens; raise `StatementError` where a string or comment never ends."""
    try:
        return DUCKDB.tokenize(text)
    except TokenError:
        span = _unfinished(text)
        raise StatementError(
            "a string, quoted name or comment is opened and never closed", span
        ) from None


def words(text: str) -> list[Word]:
    """Return the words of a whole script, without comments."""
    return _words(text, 0, len(text))


def check_gaps(text: str, found: list[Word]) -> None:
    """Raise when something between two words is neither space nor an SQL comment."""
    for before, after in itertools.pairwise(found):
        gap = text[before.span.end : after.span.start]
        if not _COMMENT_OR_SPACE.match(gap):
            start = before.span.end + len(gap) - len(gap.lstrip())
            span = Span(text, start, after.span.start)
            raise StatementError(
                "this is not SQL", span, "comments are written -- to the end of the line or /* */"
            )


def _words(text: str, start: int, end: int) -> list[Word]:
    tokens = sql_tokens(text[start:end])
    found: list[Word] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        found += _split(text, token, start)
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if following is not None and _is_opaque_tail(token, following):
            # The tail's own offsets are wrong: it runs from the command to the next token.
            after = tokens[index + 2] if index + 2 < len(tokens) else None
            tail_end = start + after.start if after is not None else end
            found += _words(text, start + token.end + 1, tail_end)
            index += 1
        index += 1
    return found


def _is_opaque_tail(token: Token, following: Token) -> bool:
    return (
        token.token_type in (TokenType.COMMAND, TokenType.EXECUTE)
        and following.token_type == TokenType.STRING
    )


def _split(text: str, token: Token, offset: int) -> list[Word]:
    start, end = offset + token.start, offset + token.end + 1
    span = Span(text, start, end)
    kind = token.token_type
    if kind == TokenType.IDENTIFIER:
        return [Word(Shape.QUOTED, token.text, span)]
    if kind in _STRINGS:
        return [Word(Shape.STRING, token.text, span)]
    if kind == TokenType.NUMBER:
        return [Word(Shape.NUMBER, token.text, span)]
    if kind in _OTHER_LITERALS:
        return [Word(Shape.SYMBOL, span.source, span)]
    parts = list(re.finditer(r"[^\s]+", span.source))
    if len(parts) > 1 and all(_WORD.match(part[0]) for part in parts):
        return [
            Word(Shape.WORD, part[0], Span(text, start + part.start(), start + part.end()))
            for part in parts
        ]
    is_word = kind == TokenType.VAR or _WORD.match(span.source)
    shape = Shape.WORD if is_word else Shape.SYMBOL
    return [Word(shape, span.source, span)]


def _unfinished(text: str) -> Span:
    """Point at the last opening quote or comment: near enough for a person to see it."""
    start = max(text.rfind(mark) for mark in ("'", '"', "/*", "$$"))
    return Span(text, max(start, 0), max(start, 0) + 1)
