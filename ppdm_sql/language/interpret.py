"""INTERPRET RELEASE: words to statement values; the condition itself stays text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.syntax import InterpretPredicate, InterpretTable
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.cursor import Cursor

_WRITE = "write WHERE and a condition in released terms, or TABLE and the name of a table"
_WRITE_VERSION = "write VERSION 2; release_info of a published file says which version it holds"
_WRITE_PUBLICATION = "write PUBLICATION '…'; release_info of a published file says its name"
_MOST_DIGITS = 18


def parse_interpret_release(cursor: Cursor) -> InterpretPredicate | InterpretTable:
    """INTERPRET RELEASE name [VERSION n | PUBLICATION 'p'] { [PASSING OTHERS] WHERE … | TABLE … }."""
    cursor.expect("INTERPRET")
    cursor.expect("RELEASE")
    name, span = cursor.qualified_name("the name of the release")
    version, version_span = _version(cursor)
    publication = None
    if version is None and cursor.take("PUBLICATION"):
        publication, version_span = _publication(cursor)
    if cursor.take("TABLE"):
        table, table_span = cursor.qualified_name("the name of a table")
        cursor.expect_end()
        return InterpretTable(name, table, version, span, table_span, version_span, publication)
    passes_others = cursor.take("PASSING", "OTHERS")
    if not cursor.take("WHERE"):
        hint = "VERSION stands before PASSING OTHERS" if cursor.at("VERSION") else _WRITE
        cursor.fail(f"expected WHERE or TABLE, found {cursor.found()}", hint)
    first = cursor.word
    if first.shape is Shape.END:
        cursor.fail("expected a condition after WHERE", _WRITE)
    while cursor.word.shape is not Shape.END:
        cursor.advance()
    text = cursor.span_from(first)
    return InterpretPredicate(
        name, text.source, passes_others, version, span, text, version_span, publication
    )


def _version(cursor: Cursor) -> tuple[int, Span] | tuple[None, None]:
    if not cursor.take("VERSION"):
        return None, None
    word = cursor.word
    if word.shape is not Shape.NUMBER or not word.text.isdecimal() or len(word.text) > _MOST_DIGITS:
        cursor.fail(f"expected the number of a version, found {cursor.found()}", _WRITE_VERSION)
    cursor.advance()
    return int(word.text), word.span


def _publication(cursor: Cursor) -> tuple[str, Span]:
    word = cursor.word
    if word.shape is not Shape.STRING or not word.text:
        cursor.fail(
            f"expected the name of a publication, found {cursor.found()}", _WRITE_PUBLICATION
        )
    cursor.advance()
    return word.text, word.span
