"""AUDIT RELEASE: words to a statement value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.cursor import Cursor
from ppdm_sql.language.syntax import AuditRelease, ReleaseName
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name, QualifiedName


_ORDER = (
    "the order is AUDIT RELEASE name TOGETHER WITH another AGAINST table INTO schema"
    " TO 'report.html'"
)
_TABLE = "the name of a table"
_OTHER = "the name of another release"


def parse_audit_release(cursor: Cursor) -> AuditRelease:
    """AUDIT RELEASE name, … [TOGETHER WITH name, …] [AGAINST table] [INTO schema] [TO 'a.html']."""
    cursor.expect("AUDIT")
    cursor.expect("RELEASE")
    name, span = cursor.qualified_name("the name of the release")
    also = []
    while cursor.take(","):
        also.append(ReleaseName(*cursor.qualified_name("the name of a release")))
    against: tuple[QualifiedName | None, Span | None] = (None, None)
    into: tuple[Name | None, Span | None] = (None, None)
    path: tuple[str | None, Span | None] = (None, None)
    allowed = ["TOGETHER", "AGAINST", "INTO", "TO"]
    named: list[tuple[QualifiedName, Span]] = []
    if cursor.take("TOGETHER"):
        cursor.expect("WITH")
        named.append(cursor.qualified_name(_OTHER))
        while cursor.take(","):
            named.append(cursor.qualified_name(_OTHER))
        allowed = ["AGAINST", "INTO", "TO"]
    if cursor.take("AGAINST"):
        against = _background(cursor)
        allowed = ["INTO", "TO"]
    if also and cursor.word.folded in ("into", "to"):
        cursor.fail("a report is of one release", "write one AUDIT statement for each report")
    if cursor.take("INTO"):
        into = cursor.name("the name of a schema")
        allowed = ["TO"]
    if cursor.take("TO"):
        path = _file(cursor)
        allowed = []
    for word in ("TOGETHER", "AGAINST", "INTO"):
        if word not in allowed and cursor.at(word):
            cursor.fail(f"unexpected '{word}' here", _ORDER)
    cursor.expect_end(allowed)
    return AuditRelease(
        name,
        against[0],
        into[0],
        path[0],
        span,
        against[1],
        into[1],
        path[1],
        tuple(other for other, _ in named),
        tuple(place for _, place in named),
        tuple(also),
    )


def parse_background(text: str) -> QualifiedName:
    """Parse what may stand behind AGAINST."""
    cursor = Cursor.over(text, _TABLE)
    name, _ = _background(cursor)
    cursor.expect_end()
    return name


def _background(cursor: Cursor) -> tuple[QualifiedName, Span]:
    if cursor.word.shape is Shape.STRING:
        cursor.fail(
            f"expected {_TABLE}, found {cursor.found()}",
            "a file is read into a table first: CREATE TABLE background AS FROM 'register.csv'",
        )
    return cursor.qualified_name(_TABLE)


def _file(cursor: Cursor) -> tuple[str, Span]:
    word = cursor.word
    if word.shape is not Shape.STRING or not word.text:
        cursor.fail(
            f"expected the name of a file in quotes, found {cursor.found()}",
            "write TO 'report.html' or TO 'report.json'",
        )
    cursor.advance()
    return word.text, word.span
