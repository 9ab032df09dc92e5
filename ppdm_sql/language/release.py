"""CREATE, DROP and REFRESH RELEASE: words to statement values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import suggest
from ppdm_sql.language.arguments import parse_call, parse_value
from ppdm_sql.language.generalize import AFTER_TARGETS, parse_generalize
from ppdm_sql.language.syntax import (
    ColumnName,
    ColumnRule,
    CreateRelease,
    DropRelease,
    FileSource,
    Option,
    QuerySource,
    Reference,
    RefreshRelease,
    Role,
    Source,
    TableSource,
    TreatmentCall,
)
from ppdm_sql.language.tokens import Shape
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from ppdm_sql.language.cursor import Cursor

_ROLES = {fold(role.value): role for role in Role}
_ROLE_NAMES = tuple(role.value for role in Role)
_CLAUSES = ("GENERALIZE", "WITH")


def parse_create_release(cursor: Cursor) -> CreateRelease:
    """CREATE [OR REPLACE] RELEASE name FROM source ( rules ) [GENERALIZE …] [WITH ( options )]."""
    start = cursor.expect("CREATE")
    replace = cursor.take("OR", "REPLACE")
    cursor.expect("RELEASE")
    name, name_span = cursor.qualified_name("the name of the release")
    if str(name).upper() == "IF" and cursor.at("NOT"):
        cursor.fail(
            "CREATE RELEASE has no IF NOT EXISTS",
            "write CREATE RELEASE, or CREATE OR REPLACE RELEASE, which makes new parameters",
        )
    cursor.expect("FROM", "and the table to release")
    source = _source(cursor)
    rules = parse_rules(cursor)
    for rule in rules:
        if rule.private_to is not None:
            cursor.fail(
                "PRIVATE TO stands in an agreement", "leave it out of the release", rule.span
            )
    generalize = parse_generalize(cursor) if cursor.at("GENERALIZE") else None
    options = parse_options(cursor) if cursor.take("WITH") else ()
    cursor.expect_end(AFTER_TARGETS if generalize else _CLAUSES)
    span = cursor.span_from(start)
    return CreateRelease(name, source, rules, options, replace, generalize, span, name_span)


def parse_drop_release(cursor: Cursor) -> DropRelease:
    """DROP RELEASE [IF EXISTS] name."""
    cursor.expect("DROP")
    cursor.expect("RELEASE")
    # `if` may itself be the name of a release: it is the clause only when EXISTS follows.
    if_exists = cursor.take("IF", "EXISTS")
    name, span = cursor.qualified_name("the name of the release")
    cursor.expect_end()
    return DropRelease(name, if_exists, span)


def parse_refresh_release(cursor: Cursor) -> RefreshRelease:
    """REFRESH RELEASE name [, name …]."""
    cursor.expect("REFRESH")
    cursor.expect("RELEASE")
    named = [cursor.qualified_name("the name of the release")]
    while cursor.take(","):
        named.append(cursor.qualified_name("the name of the release"))
    cursor.expect_end()
    first, *also = (RefreshRelease(*one) for one in named)
    return replace(first, also=tuple(also))


def _source(cursor: Cursor) -> Source:
    word = cursor.word
    if cursor.at("("):
        text, span = cursor.query_in_parentheses()
        return QuerySource(text, span)
    if word.shape is Shape.STRING:
        cursor.advance()
        return FileSource(word.text, word.span)
    name, span = cursor.qualified_name("a table, a 'file' or a (SELECT …)")
    if cursor.at("(") and _is_function_call(cursor):
        cursor.fail(
            f"a table function cannot stand here: '{name}'",
            f"put it inside a query: FROM (SELECT … {name}(…)), then the list of columns",
            span,
        )
    return TableSource(name, span)


def _is_function_call(cursor: Cursor) -> bool:
    """Whether the parenthesis under the cursor is followed by another: `read_csv('x') (…`."""
    depth, ahead = 0, 0
    while cursor.peek(ahead).shape is not Shape.END:
        text = cursor.peek(ahead).folded
        depth += (text == "(") - (text == ")")
        ahead += 1
        if depth == 0:
            return cursor.peek(ahead).folded == "("
    return False


def parse_rules(cursor: Cursor) -> tuple[ColumnRule, ...]:
    """Take `( column ROLE AS treatment(), … )`."""
    if cursor.at("WHERE"):
        cursor.fail(
            "WHERE stands inside a query", "write FROM (SELECT * FROM … WHERE …), then the columns"
        )
    opening = cursor.expect("(", "and the list of columns")
    rules: list[ColumnRule] = []
    while not cursor.take(")"):
        if rules and not cursor.take(","):
            if cursor.word.shape is Shape.END:
                cursor.fail("this '(' is never closed", span=opening.span)
            cursor.fail(
                f"expected ',' or ')' after a column, found {cursor.found()}",
                "write a comma between columns; a treatment begins with AS, the next with THEN",
            )
        if rules and cursor.at(")"):
            cursor.fail("expected a column after ',', found ')'", "remove the last comma")
        rules.append(_rule(cursor))
    if not rules:
        cursor.fail(
            "the list of columns is empty", "list every column that may be released", opening.span
        )
    return tuple(rules)


def _rule(cursor: Cursor) -> ColumnRule:
    start = cursor.word
    if cursor.at("*"):
        cursor.fail(
            "'*' is not a column: a release lists every column by name",
            "a column that is not listed is not released",
        )
    columns = _group(cursor) if cursor.at("(") else (_column(cursor),)
    role = _role(cursor, columns)
    entity = cursor.name("whose the values are, such as patient")[0] if cursor.take("OF") else None
    references = _reference(cursor) if cursor.at("REFERENCES") else None
    private_to = cursor.name("the name of the site")[0] if cursor.take("PRIVATE", "TO") else None
    if len(columns) > 1 and (entity or references):
        cursor.fail(
            "OF and REFERENCES are of one column, not of a group", span=cursor.span_from(start)
        )
    treatments: list[TreatmentCall] = []
    if cursor.take("AS"):
        treatments.append(parse_call(cursor))
        while cursor.take("THEN"):
            treatments.append(parse_call(cursor))
    span = cursor.span_from(start)
    return ColumnRule(columns, role, tuple(treatments), span, entity, references, private_to)


def _reference(cursor: Cursor) -> Reference:
    start = cursor.expect("REFERENCES")
    table, _ = cursor.qualified_name("the name of a table")
    cursor.expect("(", "and a column of that table")
    column, _ = cursor.name("the name of a column")
    cursor.expect(")", "after the column")
    return Reference(table, column, cursor.span_from(start))


def _group(cursor: Cursor) -> tuple[ColumnName, ...]:
    cursor.expect("(")
    columns = [_column(cursor)]
    while cursor.take(","):
        columns.append(_column(cursor))
    cursor.expect(")", "after a group of columns")
    return tuple(columns)


def _column(cursor: Cursor) -> ColumnName:
    return ColumnName(*cursor.name("the name of a column"))


def _role(cursor: Cursor, columns: tuple[ColumnName, ...]) -> Role:
    names = ", ".join(str(column.name) for column in columns)
    word = cursor.word
    if word.shape is Shape.SYMBOL and word.text in "-/":
        cursor.fail(
            f"a column name may not have '{word.text}' in it without quotes",
            f'write it in double quotes: "{names}{word.text}…"',
        )
    if word.shape in (Shape.SYMBOL, Shape.END) or word.folded == "as":
        cursor.fail(f"the role of '{names}' is missing", f"write one of {', '.join(_ROLE_NAMES)}")
    if word.folded not in _ROLES:
        hint = suggest(word.text, _ROLE_NAMES, "roles")
        if fold(word.text) in _ROLES:
            cursor.fail(f"the role of '{names}' is in quotes", f"write {fold(word.text).upper()}")
        cursor.fail(f"unknown role {cursor.found()} for '{names}'", hint)
    return _ROLES[cursor.advance().folded]


def parse_options(cursor: Cursor) -> tuple[Option, ...]:
    """Take `( name = value, … )`, after WITH."""
    cursor.expect("(", "after WITH")
    options: list[Option] = []
    while not cursor.take(")"):
        if options:
            cursor.expect(",", "or ')' between options")
        start = cursor.word
        name, _ = cursor.name("the name of an option")
        cursor.expect("=", f"after '{name}'")
        value = parse_value(cursor)
        option = Option(fold(name.text), value, cursor.span_from(start))
        if any(option.name == earlier.name for earlier in options):
            cursor.fail(f"option '{option.name}' is given twice", span=option.span)
        options.append(option)
    return tuple(options)
