"""Every error a user can meet, and the one place where they are rendered.

    PpdmError              something the user can fix
    ├── StatementError     the text of a statement is not what the language allows
    ├── BindError          names, roles or types do not fit the source
    ├── TreatmentError     arguments or data do not fit a treatment
    ├── Refused            allowed by the language, refused for privacy
    ├── StoreError         the owner's folder, file or store is not as it must be
    └── EngineError        DuckDB could not run a statement
    InternalError          a bug in ppdm-sql

    PrivacyWarning         a release is made, but its owner should look again

A message says what is wrong, where, what is allowed and what to write. It never holds a data
value or a secret: engine texts that could hold one are replaced by fixed words.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, Self

from ppdm_sql.terminal_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a script; `end` is exclusive.

    Spans never count in equality: two statements are equal when they mean the same.
    """

    text: str = field(repr=False)
    start: int
    end: int

    @property
    def line(self) -> int:
        """Line number, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """Column number in characters, from 1."""
        return self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1

    @property
    def source(self) -> str:
        """The text that the span covers."""
        return self.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of another."""
        return Span(self.text, self.start, max(self.end, other.end))


_QUOTED_TWICE = re.compile(r"'(\"(?:[^\"']|\"\")+\")'")


def quoted_once(text: str) -> str:
    """Return a message in which a name that stands in double quotes stands in no others."""
    return _QUOTED_TWICE.sub(r"\1", text)


class PpdmError(Exception):
    """Something the user can fix: what is wrong, where it stands, what to write."""

    any_code = "error"
    """The code of an error that says no other; all of this package do."""

    def __init__(
        self,
        what: str,
        span: Span | None = None,
        hint: str | None = None,
        *,
        code: str | None = None,
    ) -> None:
        self.what = quoted_once(what)
        self.span = span
        self.hint = hint if hint is None else quoted_once(hint)
        self.code = code or self.any_code
        """One word for programs, such as `release_exists`: it stays when sentences change."""
        super().__init__(self.what)

    @property
    def line(self) -> int | None:
        """Line of the script, from 1, where one is known."""
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        """Column of the script, from 1, where one is known."""
        return self.span.column if self.span else None

    def at(self, span: Span | None) -> Self:
        """Point at `span` unless the error already points somewhere."""
        if self.span is None:
            self.span = span
        return self

    def __str__(self) -> str:
        return render(self)


class StatementError(PpdmError):
    """The text of a statement is not what the language allows."""

    any_code = "statement"


class BindError(PpdmError):
    """Names, roles or types do not fit the source."""

    any_code = "bind"


class TreatmentError(PpdmError):
    """The arguments of a treatment, or the data, do not fit it."""

    any_code = "treatment"
    is_of_hierarchy = False
    """Whether another hierarchy helps; otherwise only another definition of the release does."""


class Refused(PpdmError):
    """The language allows it; it is refused because it would not protect."""

    any_code = "refused"


class StoreError(PpdmError):
    """The owner's folder, file or store is not as it must be."""

    any_code = "store"


class EngineKind(StrEnum):
    """Kinds of the engine's errors that somebody tells apart."""

    SYNTAX = "syntax"
    PARAMETER = "parameter"
    """A value is missing, or of a kind that does not fit."""
    RECURSION = "recursion"
    """A view reads itself."""
    DISK = "disk"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    CONFLICT = "conflict"
    """Two transactions change one thing."""
    OTHER = "other"


class EngineError(PpdmError):
    """DuckDB could not run a statement."""

    any_code = "engine"

    def __init__(
        self,
        what: str,
        span: Span | None = None,
        hint: str | None = None,
        *,
        code: str | None = None,
        kind: EngineKind | None = None,
        engine_text: str = "",
    ) -> None:
        super().__init__(what, span, hint, code=code)
        self.kind = kind or EngineKind.OTHER
        """What went wrong, for whoever must decide what to do about it."""
        self.engine_text = engine_text
        """DuckDB's own text, where it cannot hold data: empty otherwise."""


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error that does not carry the one it stands for: that one may hold a value.

    `raise … from None` only hides it; it would still be there as `__context__`.
    """
    try:
        raise error from None
    finally:
        error.__context__ = None


@contextmanager
def placed_at(span: Span | None) -> Iterator[None]:
    """Point errors at a statement: what is wrong stands in a stored text that nobody wrote just now."""
    try:
        yield
    except PpdmError as error:
        error.span = span
        raise


class InternalError(Exception):
    """A bug in ppdm-sql: please report it with the statement, without any data."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; this is a bug in ppdm-sql, please report it")


class PrivacyWarning(UserWarning):
    """A release was made, but its owner should look again."""


def render(error: PpdmError) -> str:
    """Return the message as people see it: what, the line with a caret, the hint."""
    lines = [harmless(error.what)]
    if error.span is not None:
        lines += _excerpt(error.span)
    if error.hint:
        lines.append(f"  {harmless(error.hint)}")
    return "\n".join(lines)


_MOST_BEFORE, _MOST_AFTER = 400, 200
"""Letters of a line that are shown before and after the place of an error."""


def _excerpt(span: Span) -> list[str]:
    line_start = span.text.rfind("\n", 0, span.start) + 1
    line_end = span.text.find("\n", span.start)
    line_end = len(span.text) if line_end < 0 else line_end
    # Of a very long line, what stands around the place.
    line_start = max(line_start, span.start - _MOST_BEFORE)
    line_end = min(line_end, span.start + _MOST_AFTER)
    raw = span.text[line_start:line_end].rstrip()
    shown = raw.expandtabs(4)
    before = display_width(raw[: span.start - line_start].expandtabs(4))
    covered = display_width(raw[: max(min(span.end, line_end) - line_start, 0)].expandtabs(4))
    carets = "^" * max(covered - before, 1)
    indent = len(shown) - len(shown.lstrip())
    return [
        f"  line {span.line}, column {span.column}:",
        f"      {shown[indent:]}",
        f"      {' ' * max(before - indent, 0)}{carets}",
    ]


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide letters 2, marks and controls 0."""
    return sum(
        0
        if unicodedata.combining(letter) or unicodedata.category(letter).startswith("C")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


def suggest(word: str, known: Iterable[str], noun: str = "known", most: int = 10) -> str:
    """Return a hint: the nearest known word if one is near, and the list of all, or of `most`."""
    choices = sorted(set(known))
    if not choices:
        return "there are none"
    near = _nearest(word.lower(), choices)
    listed = ", ".join(choices[:most]) + (
        f" and {len(choices) - most} more" if len(choices) > most else ""
    )
    prefix = f"did you mean '{near}'? " if near else ""
    return f"{prefix}{noun}: {listed}"


def _nearest(word: str, choices: list[str]) -> str | None:
    """Return the likeliest of the choices whose last part is near: a schema alone is no likeness."""

    def likeness(choice: str) -> float:
        return difflib.SequenceMatcher(None, choice.lower(), word).ratio()

    last = _last_part(word)
    near = [
        choice
        for choice in choices
        if difflib.get_close_matches(last, [_last_part(choice.lower())], cutoff=0.6)
    ]
    return max(near, key=likeness, default=None)


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Return `1 value`, `2,000 values`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
