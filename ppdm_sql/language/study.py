"""CREATE, REFRESH, PUBLISH, AUDIT, DESCRIBE, DROP STUDY and SHOW STUDIES: words to values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.generalize import parse_percent, parse_targets
from ppdm_sql.language.publish import parse_format, parse_path
from ppdm_sql.language.release import parse_options
from ppdm_sql.language.syntax import (
    AcrossClause,
    AuditStudy,
    CreateStudy,
    DescribeStudy,
    DropStudy,
    Member,
    PublishStudy,
    RefreshStudy,
    ReleaseName,
    ShowStudies,
)
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.cursor import Cursor
    from ppdm_sql.names import Name

_NAME = "the name of the study"
_RELEASE = "the name of a release"
_ROWS = "write AT MOST 5 ROWS PER patient"


def parse_create_study(cursor: Cursor) -> CreateStudy:
    """CREATE [OR REPLACE] STUDY name OF release, … PERSON word [UNTIL …] [WITH ( options )]."""
    start = cursor.expect("CREATE")
    replace = cursor.take("OR", "REPLACE")
    cursor.expect("STUDY")
    name, name_span = cursor.name(_NAME)
    cursor.expect("OF", "and the releases that go out together")
    limits: list[tuple[Name, Span]] = []
    members = [_member(cursor, limits)]
    while cursor.take(","):
        members.append(_member(cursor, limits))
    if not cursor.take("PERSON"):
        cursor.fail(
            f"expected ',' or PERSON, found {cursor.found()}",
            "write whose rows they are: PERSON patient",
        )
    person, person_span = cursor.name("whose rows they are, such as patient")
    for word, span in limits:
        if word != person:
            cursor.fail(f"the persons of this study are called '{person}'", _ROWS, span)
    across = _across(cursor) if cursor.at("UNTIL") else None
    options = parse_options(cursor) if cursor.take("WITH") else ()
    cursor.expect_end(("ACROSS", "SUPPRESS", "WITH") if across else ("UNTIL", "WITH"))
    return CreateStudy(
        name,
        tuple(members),
        person,
        across,
        options,
        replace,
        cursor.span_from(start),
        name_span,
        person_span,
    )


def _member(cursor: Cursor, limits: list[tuple[Name, Span]]) -> Member:
    name, span = cursor.qualified_name(_RELEASE)
    if not cursor.take("AT"):
        return Member(name, None, span)
    cursor.expect("MOST", "n ROWS PER patient")
    word = cursor.word
    is_number = word.shape is Shape.NUMBER and word.text.isdecimal() and len(word.text) < 10
    if not is_number or int(word.text) < 1:
        cursor.fail(f"expected a number of rows, found {cursor.found()}", _ROWS)
    cursor.advance()
    cursor.expect("ROWS")
    cursor.expect("PER", "and whose rows they are")
    limits.append(cursor.name("whose rows they are, such as patient"))
    return Member(name, int(word.text), span)


def _across(cursor: Cursor) -> AcrossClause:
    start = cursor.expect("UNTIL")
    targets = parse_targets(cursor)
    releases: list[ReleaseName] = []
    if cursor.take("ACROSS"):
        releases.append(ReleaseName(*cursor.qualified_name(_RELEASE)))
        while cursor.take(","):
            releases.append(ReleaseName(*cursor.qualified_name(_RELEASE)))
    percent = parse_percent(cursor) if cursor.take("SUPPRESS") else 0
    return AcrossClause(targets, tuple(releases), percent, cursor.span_from(start))


def parse_drop_study(cursor: Cursor) -> DropStudy:
    """DROP STUDY [IF EXISTS] name."""
    cursor.expect("DROP")
    cursor.expect("STUDY")
    if_exists = cursor.take("IF", "EXISTS")
    name, span = _only_name(cursor)
    return DropStudy(name, if_exists, span)


def parse_refresh_study(cursor: Cursor) -> RefreshStudy:
    """REFRESH STUDY name."""
    cursor.expect("REFRESH")
    cursor.expect("STUDY")
    return RefreshStudy(*_only_name(cursor))


def parse_describe_study(cursor: Cursor) -> DescribeStudy:
    """DESCRIBE STUDY name."""
    cursor.expect("DESCRIBE")
    cursor.expect("STUDY")
    return DescribeStudy(*_only_name(cursor))


def parse_show_studies(cursor: Cursor) -> ShowStudies:
    """SHOW STUDIES."""
    start = cursor.expect("SHOW")
    cursor.expect("STUDIES")
    cursor.expect_end()
    return ShowStudies(cursor.span_from(start))


def parse_publish_study(cursor: Cursor) -> PublishStudy:
    """PUBLISH STUDY name TO 'path' [(FORMAT word)] [WITH ( options )]."""
    start = cursor.expect("PUBLISH")
    cursor.expect("STUDY")
    name, name_span = cursor.name(_NAME)
    cursor.expect("TO", "and a 'file'")
    path, path_span = parse_path(cursor)
    format_, format_span = parse_format(cursor) if cursor.at("(") else (None, None)
    options = parse_options(cursor) if cursor.take("WITH") else ()
    cursor.expect_end(("(FORMAT parquet)", "WITH"))
    span = cursor.span_from(start)
    return PublishStudy(name, path, format_, options, span, name_span, path_span, format_span)


def parse_audit_study(cursor: Cursor) -> AuditStudy:
    """AUDIT STUDY name [TO 'report.html']."""
    cursor.expect("AUDIT")
    cursor.expect("STUDY")
    name, span = cursor.name(_NAME)
    path, path_span = parse_path(cursor) if cursor.take("TO") else (None, None)
    cursor.expect_end(("TO",))
    return AuditStudy(name, path, span, path_span)


def _only_name(cursor: Cursor) -> tuple[Name, Span]:
    name, span = cursor.name(_NAME)
    cursor.expect_end()
    return name, span
