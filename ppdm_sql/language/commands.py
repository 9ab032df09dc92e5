"""SHOW, DESCRIBE and EXPLAIN: words to statement values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.syntax import DescribeRelease, ExplainRelease, ShowReleases, ShowTreatments
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from ppdm_sql.language.cursor import Cursor


def parse_show_releases(cursor: Cursor) -> ShowReleases:
    """SHOW RELEASES."""
    start = cursor.expect("SHOW")
    cursor.expect("RELEASES")
    cursor.expect_end()
    return ShowReleases(cursor.span_from(start))


def parse_show_treatments(cursor: Cursor) -> ShowTreatments:
    """SHOW TREATMENTS."""
    start = cursor.expect("SHOW")
    cursor.expect("TREATMENTS")
    cursor.expect_end()
    return ShowTreatments(cursor.span_from(start))


def parse_describe_release(cursor: Cursor) -> DescribeRelease:
    """DESCRIBE RELEASE name."""
    cursor.expect("DESCRIBE")
    cursor.expect("RELEASE")
    name, span = cursor.qualified_name("the name of the release")
    cursor.expect_end()
    return DescribeRelease(name, span)


def parse_explain_release(cursor: Cursor) -> ExplainRelease:
    """EXPLAIN RELEASE name [FOR target]."""
    cursor.expect("EXPLAIN")
    cursor.expect("RELEASE")
    name, span = cursor.qualified_name("the name of the release")
    if not cursor.take("FOR"):
        cursor.expect_end(("FOR",))
        return ExplainRelease(name, span=span)
    target, target_span = cursor.name("the name of an engine")
    cursor.expect_end()
    return ExplainRelease(name, fold(target.text), span, target_span)
