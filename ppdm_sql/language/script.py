"""A script to statements: ours become values, everything else stays the owner's own text."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.language.agreement import (
    parse_create_agreement,
    parse_describe_agreement,
    parse_drop_agreement,
    parse_export_agreement,
    parse_import_agreement,
    parse_show_agreements,
)
from ppdm_sql.language.audit import parse_audit_release
from ppdm_sql.language.commands import (
    parse_describe_release,
    parse_explain_release,
    parse_show_releases,
    parse_show_treatments,
)
from ppdm_sql.language.cursor import Cursor
from ppdm_sql.language.hierarchy import (
    parse_create_hierarchy,
    parse_describe_hierarchy,
    parse_drop_hierarchy,
    parse_explain_hierarchies,
    parse_show_hierarchies,
)
from ppdm_sql.language.interpret import parse_interpret_release
from ppdm_sql.language.publish import parse_publish_release, parse_show_publications
from ppdm_sql.language.release import (
    parse_create_release,
    parse_drop_release,
    parse_refresh_release,
)
from ppdm_sql.language.study import (
    parse_audit_study,
    parse_create_study,
    parse_describe_study,
    parse_drop_study,
    parse_publish_study,
    parse_refresh_study,
    parse_show_studies,
)
from ppdm_sql.language.syntax import OwnStatement, PlainSql, Statement
from ppdm_sql.language.tokens import Shape, Word, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.errors import Span
    from ppdm_sql.names import QualifiedName

StatementParser: TypeAlias = "Callable[[Cursor], OwnStatement]"

# A statement is ours by its first words. `DESCRIBE release` alone is a table of that name, and
# `DESCRIBE release.people` one in a schema of that name.
_OURS: tuple[tuple[tuple[str, ...], StatementParser], ...] = (
    (("CREATE", "RELEASE"), parse_create_release),
    (("CREATE", "OR", "REPLACE", "RELEASE"), parse_create_release),
    (("DROP", "RELEASE"), parse_drop_release),
    (("REFRESH", "RELEASE"), parse_refresh_release),
    (("DESCRIBE", "RELEASE"), parse_describe_release),
    (("EXPLAIN", "RELEASE"), parse_explain_release),
    (("SHOW", "RELEASES"), parse_show_releases),
    (("SHOW", "TREATMENTS"), parse_show_treatments),
    (("CREATE", "HIERARCHY"), parse_create_hierarchy),
    (("CREATE", "OR", "REPLACE", "HIERARCHY"), parse_create_hierarchy),
    (("DROP", "HIERARCHY"), parse_drop_hierarchy),
    (("SHOW", "HIERARCHIES"), parse_show_hierarchies),
    (("DESCRIBE", "HIERARCHY"), parse_describe_hierarchy),
    (("EXPLAIN", "HIERARCHIES"), parse_explain_hierarchies),
    (("INTERPRET", "RELEASE"), parse_interpret_release),
    (("CREATE", "AGREEMENT"), parse_create_agreement),
    (("DROP", "AGREEMENT"), parse_drop_agreement),
    (("EXPORT", "AGREEMENT"), parse_export_agreement),
    (("IMPORT", "AGREEMENT"), parse_import_agreement),
    (("DESCRIBE", "AGREEMENT"), parse_describe_agreement),
    (("SHOW", "AGREEMENTS"), parse_show_agreements),
    (("PUBLISH", "RELEASE"), parse_publish_release),
    (("SHOW", "PUBLICATIONS"), parse_show_publications),
    (("AUDIT", "RELEASE"), parse_audit_release),
    (("CREATE", "STUDY"), parse_create_study),
    (("CREATE", "OR", "REPLACE", "STUDY"), parse_create_study),
    (("REFRESH", "STUDY"), parse_refresh_study),
    (("PUBLISH", "STUDY"), parse_publish_study),
    (("AUDIT", "STUDY"), parse_audit_study),
    (("DROP", "STUDY"), parse_drop_study),
    (("DESCRIBE", "STUDY"), parse_describe_study),
    (("SHOW", "STUDIES"), parse_show_studies),
)

_DESCRIBES = (
    parse_describe_release,
    parse_describe_agreement,
    parse_describe_hierarchy,
    parse_describe_study,
)

STATEMENTS = tuple(" ".join(opening) for opening, _ in _OURS)
"""The openings of our statements, for hints."""


def parse_script(text: str) -> list[Statement]:
    """Split a script at its semicolons and parse the statements that are ours."""
    statements: list[Statement] = []
    for part in _split(words(text)):
        span = part[0].span.to(part[-1].span)
        statements.append(_parse(text, part, span))
    return statements


def parse_name(text: str, what: str = "the name of a release") -> QualifiedName:
    """Parse a name as it stands in a statement: `research.patients`; `what` of, for the error."""
    cursor = Cursor.over(text, what)
    name, _ = cursor.qualified_name(what)
    cursor.expect_end()
    return name


def parse_table(text: str) -> QualifiedName:
    """Parse the name of a table that may have an alias: `clinic.patients AS p`."""
    return Cursor(text, words(text), len(text)).qualified_name("the name of a table")[0]


def _names_a_table(word: Word) -> bool:
    return word.shape is Shape.END or word.folded == "."


def _split(found: list[Word]) -> list[list[Word]]:
    parts: list[list[Word]] = [[]]
    for word in found:
        if word.shape is Shape.SYMBOL and word.text == ";":
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _parse(text: str, part: list[Word], span: Span) -> Statement:
    cursor = Cursor(text, part, span.end)
    for opening, parser in _OURS:
        if cursor.at(*opening):
            if parser in _DESCRIBES and _names_a_table(cursor.peek(2)):
                break
            return parser(cursor)
    return PlainSql(span.source, span)
