"""CREATE, DROP, SHOW, DESCRIBE and EXPLAIN of hierarchies: words to statement values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import suggest
from ppdm_sql.language.arguments import parse_number
from ppdm_sql.language.syntax import (
    CreateHierarchy,
    DateBody,
    DescribeHierarchy,
    DigitsBody,
    DropHierarchy,
    ExplainHierarchies,
    FileBody,
    HierarchyBody,
    RangesBody,
    ShowHierarchies,
    TableBody,
    TreeBody,
)
from ppdm_sql.language.syntax.hierarchies import DATE_UNITS
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ppdm_sql.language.cursor import Cursor

    T = TypeVar("T")

_AFTER = ("when", "until")
_BODIES = ("SUPPRESS DIGITS RIGHT", "RANGES (…)", "TREE (…)", "DATE (…)", "TABLE t", "FROM 'file'")


def refuse_body(cursor: Cursor) -> None:
    """Fail where a hierarchy is written out in the place of its name; no word is reserved."""
    word, after = cursor.word, cursor.peek(1)
    is_body = (
        word.shape is Shape.STRING
        or after.folded == "("
        or cursor.at("SUPPRESS", "DIGITS")
        or (word.folded == "from" and after.shape is Shape.STRING)
        or (word.folded == "table" and after.shape is Shape.WORD and after.folded not in _AFTER)
    )
    if is_body:
        first = word.text.upper() if word.shape is Shape.WORD else "FROM"
        body = next((one for one in _BODIES if one.split()[0] == first), "…")
        cursor.fail(
            "a hierarchy is named here, not written out",
            f"write CREATE HIERARCHY name AS {body}; before this statement, and USING name here",
        )


def parse_create_hierarchy(cursor: Cursor) -> CreateHierarchy:
    """CREATE [OR REPLACE] HIERARCHY name AS body; or name FROM 'file'."""
    start = cursor.expect("CREATE")
    replace = cursor.take("OR", "REPLACE")
    cursor.expect("HIERARCHY")
    name, name_span = cursor.name("the name of the hierarchy")
    if not cursor.at("FROM"):  # FROM 'file' may stand alone, as in CREATE TABLE
        cursor.expect("AS", f"and one of {', '.join(_BODIES)}")
    first = cursor.word
    body = _body(cursor)
    body_span = cursor.span_from(first)
    cursor.expect_end(("FROM",) if isinstance(body, RangesBody) else ())
    return CreateHierarchy(name, body, replace, cursor.span_from(start), name_span, body_span)


def parse_describe_hierarchy(cursor: Cursor) -> DescribeHierarchy:
    """DESCRIBE HIERARCHY name."""
    cursor.expect("DESCRIBE")
    cursor.expect("HIERARCHY")
    name, span = cursor.name("the name of the hierarchy")
    cursor.expect_end()
    return DescribeHierarchy(name, span)


def parse_drop_hierarchy(cursor: Cursor) -> DropHierarchy:
    """DROP HIERARCHY [IF EXISTS] name."""
    cursor.expect("DROP")
    cursor.expect("HIERARCHY")
    if_exists = cursor.take("IF", "EXISTS")
    name, span = cursor.name("the name of the hierarchy")
    cursor.expect_end()
    return DropHierarchy(name, if_exists, span)


def parse_show_hierarchies(cursor: Cursor) -> ShowHierarchies:
    """SHOW HIERARCHIES."""
    start = cursor.expect("SHOW")
    cursor.expect("HIERARCHIES")
    cursor.expect_end()
    return ShowHierarchies(cursor.span_from(start))


def parse_explain_hierarchies(cursor: Cursor) -> ExplainHierarchies:
    """EXPLAIN HIERARCHIES FOR RELEASE name."""
    cursor.expect("EXPLAIN")
    cursor.expect("HIERARCHIES")
    cursor.expect("FOR", "RELEASE and its name")
    cursor.expect("RELEASE", "and its name")
    name, span = cursor.qualified_name("the name of the release")
    cursor.expect_end()
    return ExplainHierarchies(name, span)


def _body(cursor: Cursor) -> HierarchyBody:
    if cursor.take("SUPPRESS"):
        cursor.expect("DIGITS", "RIGHT")
        cursor.expect("RIGHT")
        return DigitsBody()
    if cursor.take("RANGES"):
        widths = _listed(cursor, parse_number)
        origin = parse_number(cursor) if cursor.take("FROM") else 0
        return RangesBody(widths, origin)
    if cursor.take("TREE"):
        return TreeBody(_listed(cursor, _path))
    if cursor.take("DATE"):
        return DateBody(_listed(cursor, _unit))
    if cursor.take("TABLE"):
        return TableBody(*cursor.qualified_name("the name of a table"))
    if not cursor.take("FROM"):
        cursor.fail(
            f"expected what the hierarchy is made of, found {cursor.found()}",
            f"write one of {', '.join(_BODIES)}",
        )
    word = cursor.word
    return FileBody(_string(cursor, "the path of a file"), word.span)


def _listed(cursor: Cursor, take: Callable[[Cursor], T]) -> tuple[T, ...]:
    opening = cursor.expect("(")
    values: list[T] = []
    while not cursor.take(")"):
        if values and not cursor.take(","):
            cursor.fail(f"expected ',' or ')', found {cursor.found()}")
        values.append(take(cursor))
    if not values:
        cursor.fail("this list is empty", span=opening.span)
    return tuple(values)


def _path(cursor: Cursor) -> tuple[str, ...]:
    return _listed(cursor, lambda inner: _string(inner, "a 'text'"))


def _string(cursor: Cursor, what: str) -> str:
    if cursor.word.shape is not Shape.STRING:
        cursor.fail(f"expected {what} in quotes, found {cursor.found()}")
    return cursor.advance().text


def _unit(cursor: Cursor) -> str:
    word = cursor.word.folded
    if word not in DATE_UNITS:
        cursor.fail(
            f"expected a unit of dates, found {cursor.found()}",
            suggest(cursor.word.text, DATE_UNITS, "units"),
        )
    cursor.advance()
    return word
