"""PUBLISH RELEASE and SHOW PUBLICATIONS: words to statement values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.release import parse_options
from ppdm_sql.language.syntax import PublishRelease, ReleaseName, ShowPublications
from ppdm_sql.language.tokens import Shape
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.cursor import Cursor


def parse_publish_release(cursor: Cursor) -> PublishRelease:
    """PUBLISH RELEASE name [, name …] TO 'path' [(FORMAT word)] [WITH ( options )]."""
    start = cursor.expect("PUBLISH")
    cursor.expect("RELEASE")
    releases = [_release(cursor)]
    while cursor.take(","):
        releases.append(_release(cursor))
    if not cursor.take("TO"):
        cursor.fail(
            f"expected ',' or TO after the name of a release, found {cursor.found()}",
            "write PUBLISH RELEASE a, b TO 'study.duckdb'",
        )
    path, path_span = parse_path(cursor)
    format_, format_span = parse_format(cursor) if cursor.at("(") else (None, None)
    options = parse_options(cursor) if cursor.take("WITH") else ()
    cursor.expect_end(("(FORMAT parquet)", "WITH"))
    span = cursor.span_from(start)
    return PublishRelease(tuple(releases), path, format_, options, span, path_span, format_span)


def parse_show_publications(cursor: Cursor) -> ShowPublications:
    """SHOW PUBLICATIONS."""
    start = cursor.expect("SHOW")
    cursor.expect("PUBLICATIONS")
    cursor.expect_end()
    return ShowPublications(cursor.span_from(start))


def _release(cursor: Cursor) -> ReleaseName:
    return ReleaseName(*cursor.qualified_name("the name of a release"))


def parse_path(cursor: Cursor) -> tuple[str, Span]:
    """Take the file that something is written to."""
    word = cursor.word
    if word.shape is not Shape.STRING:
        cursor.fail(
            f"expected the file as a string, found {cursor.found()}", "write TO 'study.duckdb'"
        )
    cursor.advance()
    return word.text, word.span


def parse_format(cursor: Cursor) -> tuple[str, Span]:
    """Take (FORMAT word)."""
    cursor.expect("(")
    cursor.expect("FORMAT", "inside the parentheses")
    name, span = cursor.name("the name of a format")
    cursor.expect(")", "after the format")
    return fold(name.text), span
