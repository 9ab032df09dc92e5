"""CREATE, DROP, EXPORT, IMPORT, DESCRIBE AGREEMENT and SHOW AGREEMENTS: words to statement values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.release import parse_rules
from ppdm_sql.language.syntax import (
    CreateAgreement,
    DescribeAgreement,
    DropAgreement,
    ExportAgreement,
    ImportAgreement,
    Role,
    ShowAgreements,
)
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.cursor import Cursor

_NAME = "the name of the agreement"


def parse_create_agreement(cursor: Cursor) -> CreateAgreement:
    """CREATE AGREEMENT name ( rules )."""
    start = cursor.expect("CREATE")
    cursor.expect("AGREEMENT")
    name, _ = cursor.name(_NAME)
    if cursor.at("FROM"):
        cursor.fail(
            "an agreement has no source: it is what sites with different tables share",
            "write the list of columns after its name",
        )
    rules = parse_rules(cursor)
    for rule in rules:
        if rule.private_to is not None and rule.treatments:
            cursor.fail(
                f"a column that is private to '{rule.private_to}' has no treatment here",
                "remove it: the site writes its own, and nobody else learns it",
                rule.span,
            )
        if rule.private_to is not None and rule.role is Role.KEY:
            cursor.fail(
                "the KEY is what the sites share",
                "leave PRIVATE TO out, or give the column another role",
                rule.span,
            )
    if cursor.at("GENERALIZE"):
        cursor.fail(
            "levels cannot be agreed: they are found in the rows of one site",
            "generalize after combining, or in a release without the agreement",
        )
    cursor.expect_end()
    return CreateAgreement(name, rules, cursor.span_from(start))


def parse_drop_agreement(cursor: Cursor) -> DropAgreement:
    """DROP AGREEMENT [IF EXISTS] name."""
    cursor.expect("DROP")
    cursor.expect("AGREEMENT")
    if_exists = cursor.take("IF", "EXISTS")
    name, span = cursor.name(_NAME)
    cursor.expect_end()
    return DropAgreement(name, if_exists, span)


def parse_export_agreement(cursor: Cursor) -> ExportAgreement:
    """EXPORT AGREEMENT name TO 'file'."""
    cursor.expect("EXPORT")
    cursor.expect("AGREEMENT")
    name, span = cursor.name(_NAME)
    cursor.expect("TO", "and a 'file'")
    path, path_span = _file(cursor)
    return ExportAgreement(name, path, span, path_span)


def parse_import_agreement(cursor: Cursor) -> ImportAgreement:
    """IMPORT AGREEMENT FROM 'file'."""
    cursor.expect("IMPORT")
    cursor.expect("AGREEMENT")
    cursor.expect("FROM", "and a 'file'")
    return ImportAgreement(*_file(cursor))


def parse_describe_agreement(cursor: Cursor) -> DescribeAgreement:
    """DESCRIBE AGREEMENT name."""
    cursor.expect("DESCRIBE")
    cursor.expect("AGREEMENT")
    name, span = cursor.name(_NAME)
    cursor.expect_end()
    return DescribeAgreement(name, span)


def parse_show_agreements(cursor: Cursor) -> ShowAgreements:
    """SHOW AGREEMENTS."""
    start = cursor.expect("SHOW")
    cursor.expect("AGREEMENTS")
    cursor.expect_end()
    return ShowAgreements(cursor.span_from(start))


def _file(cursor: Cursor) -> tuple[str, Span]:
    word = cursor.word
    if word.shape is not Shape.STRING or not word.text:
        cursor.fail(f"expected a 'file', found {cursor.found()}", "write its name in single quotes")
    cursor.advance()
    cursor.expect_end()
    return word.text, word.span
