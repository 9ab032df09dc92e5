"""Text to words, by DuckDB's own lexical rules.

A lexer of our own, and not sqlglot's: that one hands `EXPLAIN …` over as one opaque string with
wrong offsets, fuses `primary key` into one token, lets `{# … #}` vanish, and does not know nested
comments or names in backticks. What is needed here is small: where words, strings and comments
begin and end. DuckDB's `extract_statements` is the oracle of the tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from ppdm_sql.errors import Span, StatementError
from ppdm_sql.names import fold


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


# What is a space to DuckDB (asked for every character, 2.0.0); what is a letter: everything else
# beyond ASCII, combining marks included.
_SPACE = r"[\x20\t\n\v\f\r\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]"
_LETTER = rf"(?:(?!{_SPACE})[A-Za-z_\u0080-\U0010ffff])"
_MORE = rf"(?:{_LETTER}|[0-9])"
_WORDS = re.compile(
    rf"""
      (?P<space>   {_SPACE}+ )
    | (?P<line>    --[^\n\r]* )
    | (?P<comment> /\* )
    | (?P<escaped> [eE]'(?:[^'\\]|\\.|'')*+' )
    | (?P<bytes>   [xXbB]'(?:[^']|'')*+' )
    | (?P<string>  '(?:[^']|'')*+' )
    | (?P<quoted>  "(?:[^"]|"")*+" )
    | (?P<ticked>  `(?:[^`]|``)*+` )
    | (?P<dollar>  (?P<tag>\$(?:{_LETTER}{_MORE}*)?\$) (?P<inside>.*?) (?P=tag) )
    | (?P<number>  [0-9][0-9_]*(?:\.[0-9][0-9_]*|\.(?!\.|{_MORE}))?(?:[eE][+-]?[0-9]+)?(?!{_MORE}) )
    | (?P<word>    (?![eExXbB]'){_LETTER}(?:{_MORE}|\$)* )
    | (?P<symbol>  => | (?![eExXbB]')[^'"`$] | \$(?!{_MORE}*\$) )
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBERISH = re.compile(rf"[0-9]{_MORE}*")
_COMMENT_PART = re.compile(r"/\*|\*/")


def words(text: str) -> list[Word]:
    """Return the words of a script, without comments."""
    found: list[Word] = []
    at = 0
    while at < len(text):
        match = _WORDS.match(text, at)
        if match is None:
            raise _never_closed(text, at)
        kind = match.lastgroup if match.lastgroup not in ("tag", "inside") else "dollar"
        if kind == "comment":
            at = _end_of_comment(text, at)
            continue
        end = match.end()
        if kind == "symbol" and text[at] in "0123456789":  # 0x1F, 12abc: no number of ours
            digits = _NUMBERISH.match(text, at)
            end = digits.end() if digits else end
        if kind not in ("space", "line"):
            found.append(_word(kind, match, Span(text, at, end)))
        at = end
    return found


def _word(kind: str | None, match: re.Match[str], span: Span) -> Word:
    source = span.source
    match kind:
        case "word":
            return Word(Shape.WORD, source, span)
        case "quoted":
            return Word(Shape.QUOTED, source[1:-1].replace('""', '"'), span)
        case "ticked":
            return Word(Shape.QUOTED, source[1:-1].replace("``", "`"), span)
        case "string":
            return Word(Shape.STRING, source[1:-1].replace("''", "'"), span)
        case "dollar":
            return Word(Shape.STRING, match["inside"], span)
        case "number":
            return Word(Shape.NUMBER, source.replace("_", ""), span)
        case _:
            return Word(Shape.SYMBOL, source, span)


def _end_of_comment(text: str, start: int) -> int:
    """Return where a comment ends; comments may stand in comments."""
    depth = 0
    for part in _COMMENT_PART.finditer(text, start):
        depth += 1 if part[0] == "/*" else -1
        if depth == 0:
            return part.end()
    raise _never_closed(text, start)


def _never_closed(text: str, start: int) -> StatementError:
    what = {"'": "string", '"': "quoted name", "`": "quoted name", "/": "comment"}
    noun = what.get(text[start], "string")
    return StatementError(
        f"this {noun} is never closed", Span(text, start, start + 1), code="syntax"
    )
