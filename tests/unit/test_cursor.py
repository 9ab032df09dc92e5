"""The cursor: look, take, expect, fail; and SELECTs taken as they are written."""

from __future__ import annotations

import logging

import pytest

from ppdm_sql.errors import StatementError
from ppdm_sql.language.cursor import Cursor
from ppdm_sql.language.tokens import Shape, words
from ppdm_sql.names import Name, QualifiedName


def cursor_over(text: str) -> Cursor:
    return Cursor(text, words(text), len(text))


def failure(text: str, call: str, *arguments: str) -> StatementError:
    """Return the error of one method of a cursor over a text."""
    cursor = cursor_over(text)
    with pytest.raises(StatementError) as caught:
        getattr(cursor, call)(*arguments)
    return caught.value


def test_keywords_match_in_any_case() -> None:
    cursor = cursor_over("cReAtE Or RePlAcE x")
    assert cursor.at("CREATE")
    assert cursor.at("create", "OR", "replace")
    assert not cursor.at("CREATE", "REPLACE")
    assert cursor.take("CREATE", "OR", "REPLACE")
    assert cursor.word.text == "x"


@pytest.mark.parametrize("text", ['"create"', "'create'", "creates", "\u212aey"])
def test_keywords_match_neither_quoted_names_nor_strings_nor_other_letters(text: str) -> None:
    cursor = cursor_over(text)
    assert not cursor.at("CREATE")
    assert not cursor.at("KEY")


def test_taking_what_is_not_there_stays_where_it_is() -> None:
    cursor = cursor_over("IF x")
    assert not cursor.take("IF", "EXISTS")
    assert cursor.word.text == "IF"


def test_after_the_last_word_there_is_an_end() -> None:
    cursor = cursor_over("a")
    assert cursor.advance().text == "a"
    assert cursor.word.shape is Shape.END
    assert cursor.peek(5).shape is Shape.END
    assert cursor.found() == "the end of the statement"
    cursor.expect_end()


def test_looking_ahead_takes_nothing() -> None:
    cursor = cursor_over("a b c")
    assert [cursor.peek(i).text for i in range(3)] == ["a", "b", "c"]
    assert cursor.word.text == "a"


def test_a_span_reaches_from_a_word_to_the_last_one_taken() -> None:
    cursor = cursor_over("x one  two three")
    cursor.advance()
    start = cursor.word
    cursor.advance()
    cursor.advance()
    assert cursor.previous.text == "two"
    assert cursor.span_from(start).source == "one  two"


def test_before_the_first_word_the_previous_is_the_first() -> None:
    assert cursor_over("one two").previous.text == "one"


def test_expecting_a_keyword_returns_it_or_says_what_was_found() -> None:
    assert cursor_over("From x").expect("FROM").text == "From"
    error = failure("a FRM x", "expect", "FROM", "and the table")
    assert error.what == "expected 'FROM' and the table, found 'a'"
    assert failure("'x'", "expect", "FROM").what == "expected 'FROM', found a string"
    assert failure("", "expect", "FROM").what == "expected 'FROM', found the end of the statement"


def test_a_string_is_never_shown_in_a_message() -> None:
    error = failure("'secret'", "name", "a name")
    assert "secret" not in error.what


def test_what_follows_the_end_is_an_error_with_what_is_allowed() -> None:
    cursor = cursor_over("WIHT (x)")
    with pytest.raises(StatementError) as caught:
        cursor.expect_end(("WITH",))
    assert caught.value.what == "unexpected 'WIHT': the statement was complete before it"
    assert caught.value.hint == "did you mean 'WITH'? allowed here: WITH"
    assert failure("x", "expect_end").hint is None


@pytest.mark.parametrize(
    ("text", "name"),
    [("a", "a"), ("Key", "Key"), ('"a b"', "a b"), ("select", "select"), ("Größe", "Größe")],
)
def test_any_word_may_be_a_name(text: str, name: str) -> None:
    found, span = cursor_over(text).name("a name")
    assert (found.text, span.source) == (name, text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1", "'1'"),
        ("'a'", "a string"),
        ("(", "'('"),
        ('""', "an empty name"),
        ("", "the end of the statement"),
    ],
)
def test_anything_else_is_no_name(text: str, found: str) -> None:
    assert failure(text, "name", "a name").what == f"expected a name, found {found}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ('a . "b.c" /* x */ . d', ("a", "b.c", "d")),
        ("primary.key", ("primary", "key")),
    ],
)
def test_a_qualified_name_has_up_to_three_parts(text: str, parts: tuple[str, ...]) -> None:
    name, span = cursor_over(text).qualified_name("a name")
    assert name == QualifiedName(tuple(Name(part) for part in parts))
    assert span.source == text


def test_four_parts_are_too_many() -> None:
    error = failure("a.b.c.d", "qualified_name", "a name")
    assert error.span is not None
    assert error.span.source == "a.b.c.d"
    assert "three parts" in error.what


@pytest.mark.parametrize("text", ["a.", "a.1", "a..b", ".a", "a.'b'"])
def test_a_part_that_is_no_name_is_an_error(text: str) -> None:
    assert failure(text, "qualified_name", "a name").what.startswith("expected a name, found")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "SELECT ')' AS x, \"(\" FROM t -- )\n WHERE true",
        "SELECT (1 + (2)) * [1, 2][1] FROM t",
        "SELECT {'a': [1]} AS s",
        "select  a FROM t GROUP /* by */ BY a\r\n\tORDER BY a",
        "FROM t",
        "WITH c AS (SELECT 1 AS x) SELECT x FROM c",
        "SELECT 1 UNION ALL SELECT 2",
        "(SELECT 1)",
        "SELECT $$;)$$ AS x, e'\\')' AS y, `)` AS z",
        "VALUES (1), (2)",
    ],
)
def test_a_select_in_parentheses_is_taken_letter_by_letter(query: str) -> None:
    text = f"( /* first */ {query} -- last )\n ) rest"
    cursor = cursor_over(text)
    taken, span = cursor.query_in_parentheses()
    assert taken == query
    assert span.source == text.removesuffix(" rest")
    assert cursor.word.text == "rest"


@pytest.mark.parametrize(
    ("inside", "first"),
    [
        ("INSERT INTO t VALUES (1)", "INSERT"),
        ("UPDATE t SET a = 1", "UPDATE"),
        ("DROP TABLE t", "DROP"),
        ("CREATE TABLE t AS SELECT 1", "CREATE"),
        ("a", "a"),
        ("1", "1"),
        ("'people.csv'", "'people.csv'"),
        ('"select" 1', '"select"'),
        ("COPY t TO 'x.csv'", "COPY"),
        ("ATTACH 'x'", "ATTACH"),
        ("SET threads = 1", "SET"),
        ("CALL f()", "CALL"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("EXECUTE p", "EXECUTE"),
    ],
)
def test_what_begins_otherwise_is_no_select(
    inside: str, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        error = failure(f"({inside})", "query_in_parentheses")
    assert "must be a SELECT" in error.what
    assert error.span is not None
    assert error.span.source == first
    assert caplog.messages == []


@pytest.mark.parametrize("inside", ["", "  ", "/* x */"])
def test_empty_parentheses_hold_no_select(inside: str) -> None:
    assert "SELECT" in failure(f"({inside})", "query_in_parentheses").what


@pytest.mark.parametrize("text", ["(SELECT 1", "(SELECT (1)", "(SELECT [1) x", "(SELECT ')'"])
def test_a_parenthesis_that_is_never_closed_is_pointed_at(text: str) -> None:
    error = failure(text, "query_in_parentheses")
    assert error.what == "this '(' is not closed before the end of the statement"
    assert error.column == 1


def test_parentheses_may_be_nested_as_deep_as_one_likes() -> None:
    deep = 20_000
    query = "(" * deep + "SELECT 1" + ")" * deep
    taken, _ = cursor_over(f"({query})").query_in_parentheses()
    assert taken == query
