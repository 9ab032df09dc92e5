"""A cursor over words: look, take, expect, fail.

Keywords are compared without regard to case and never match a quoted name or a string, so no
word is reserved: `release` is a keyword only where the grammar asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Self

from ppdm_sql.errors import Span, StatementError, suggest
from ppdm_sql.language.tokens import Shape, Word, words
from ppdm_sql.names import Name, QualifiedName, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_QUERY_STARTS = ("select", "with", "from", "values", "(")


class Cursor:
    """Walks the words of one statement."""

    def __init__(self, text: str, words: list[Word], end: int) -> None:
        self._text = text
        self._words = words
        self._end = Word(Shape.END, "", Span(text, end, end))
        self._at = 0

    @classmethod
    def over(cls, text: str, what: str) -> Self:
        """Walk a text that is not of a script, such as an argument; `what` it is, for the error."""
        if not text.strip():
            raise StatementError(f"expected {what}, found an empty text", code="syntax")
        return cls(text, words(text), len(text))

    @property
    def word(self) -> Word:
        """The word under the cursor; a word of shape END after the last."""
        return self.peek(0)

    def peek(self, ahead: int) -> Word:
        """Return a word further on."""
        index = self._at + ahead
        return self._words[index] if index < len(self._words) else self._end

    @property
    def previous(self) -> Word:
        """The word before the cursor."""
        return self._words[self._at - 1] if self._at else self.word

    def span_from(self, start: Word) -> Span:
        """Return the span from a word to the last one taken."""
        return start.span.to(self.previous.span)

    def at(self, *keywords: str) -> bool:
        """Whether the next words are these keywords or symbols."""
        return all(self.peek(i).folded == fold(word) for i, word in enumerate(keywords))

    def take(self, *keywords: str) -> bool:
        """Step over these keywords if they come next."""
        if not self.at(*keywords):
            return False
        self._at += len(keywords)
        return True

    def advance(self) -> Word:
        """Step over the next word, whatever it is."""
        word = self.word
        self._at += 1
        return word

    def expect(self, keyword: str, why: str = "") -> Word:
        """Step over a keyword or fail with what was expected."""
        if not self.at(keyword):
            self.fail(f"expected '{keyword}'{' ' + why if why else ''}, found {self.found()}")
        return self.advance()

    def expect_end(self, allowed: Iterable[str] = ()) -> None:
        """Fail on anything that follows a complete statement."""
        if self.word.shape is not Shape.END:
            known = list(allowed)
            hint = suggest(self.word.text, known, "allowed here") if known else None
            if self.at(","):
                hint = hint or "this statement takes one name: write one for each"
            self.fail(f"unexpected {self.found()}: the statement was complete before it", hint)

    def found(self) -> str:
        """Return the next word as a message names it."""
        if self.word.shape is Shape.END:
            return "the end of the statement"
        if self.word.shape is Shape.STRING:
            return "a string"
        return f"'{self.word.text}'"

    def fail(self, what: str, hint: str | None = None, span: Span | None = None) -> NoReturn:
        """Raise, pointing at the next word unless told otherwise."""
        raise StatementError(what, span or self.word.span, hint, code="syntax")

    def name(self, what: str) -> tuple[Name, Span]:
        """Take one identifier; `what` says of what, for the error."""
        word = self.word
        if word.shape not in (Shape.WORD, Shape.QUOTED):
            self.fail(f"expected {what}, found {self.found()}")
        if not word.text:
            self.fail(f"expected {what}, found an empty name")
        self.advance()
        return Name(word.text), word.span

    def qualified_name(self, what: str) -> tuple[QualifiedName, Span]:
        """Take `name`, `schema.name` or `catalog.schema.name`."""
        first = self.word
        parts = [self.name(what)[0]]
        while self.take("."):
            parts.append(self.name(what)[0])
        span = self.span_from(first)
        if len(parts) > 3:
            self.fail("a name has at most three parts: catalog.schema.name", span=span)
        return QualifiedName(tuple(parts)), span

    def text_until(self, is_end: Callable[[], bool], what: str) -> tuple[str, Span]:
        """Take everything before a place outside all parentheses; `what` it is, for the error."""
        first = self.word
        depth: list[tuple[str, Word]] = []
        while self.word.shape is not Shape.END and (depth or not is_end()):
            word = self.advance()
            if word.shape is not Shape.SYMBOL:
                continue
            if word.text in _CLOSING:
                depth.append((_CLOSING[word.text], word))
            elif word.text in _CLOSING.values() and (not depth or depth.pop()[0] != word.text):
                self.fail(f"this '{word.text}' was never opened", span=word.span)
        if depth:
            self.fail(f"this '{depth[-1][1].text}' is never closed", span=depth[-1][1].span)
        if self.word is first:
            self.fail(f"expected {what}, found {self.found()}")
        span = self.span_from(first)
        return span.source, span

    def query_in_parentheses(self) -> tuple[str, Span]:
        """Take `( SELECT … )` and return the text of the inside; DuckDB will read it."""
        opening = self.expect("(")
        depth = [")"]
        first = self.word
        while depth:
            if self.word.shape is Shape.END:
                self.fail(
                    "this '(' is not closed before the end of the statement",
                    "a source in parentheses is one SELECT, without ';'",
                    opening.span,
                )
            word = self.advance()
            if word.shape is Shape.SYMBOL and word.text in _CLOSING:
                depth.append(_CLOSING[word.text])
            elif word.shape is Shape.SYMBOL and word.text == depth[-1]:
                depth.pop()
        closing = self.previous
        if first is closing:
            self.fail("expected SELECT inside the parentheses", span=opening.span)
        last = self._words[self._at - 2]
        if first.folded not in _QUERY_STARTS:
            self.fail("a source in parentheses must be a SELECT", span=first.span)
        return first.span.to(last.span).source, opening.span.to(closing.span)
