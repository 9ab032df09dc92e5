"""INTERPRET RELEASE: words to statement values; the condition itself stays text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.model.syntax import InterpretPredicate, InterpretTable
from ppdm_sql.statements.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.statements.cursor import Cursor

_WRITE = "write WHERE and a condition in released terms, or TABLE and the name of a table"


def parse_interpret_release(cursor: Cursor) -> InterpretPredicate | InterpretTable:
    """INTERPRET RELEASE name { [PASSING OTHERS] WHERE predicate | TABLE table }."""
    cursor.expect("INTERPRET")
    cursor.expect("RELEASE")
    name, span = cursor.qualified_name("the name of the release")
    if cursor.take("TABLE"):
        table, table_span = cursor.qualified_name("the name of a table")
        cursor.expect_end()
        return InterpretTable(name, table, span, table_span)
    passes_others = cursor.take("PASSING", "OTHERS")
    if not cursor.take("WHERE"):
        cursor.fail(f"expected WHERE or TABLE, found {cursor.found()}", _WRITE)
    first = cursor.word
    if first.shape is Shape.END:
        cursor.fail("expected a condition after WHERE", _WRITE)
    while cursor.word.shape is not Shape.END:
        cursor.advance()
    text = cursor.span_from(first)
    return InterpretPredicate(name, text.source, passes_others, span, text)
