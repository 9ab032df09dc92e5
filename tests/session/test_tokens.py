"""Words of a script: their shapes, their places, and the traps of the tokenizer below."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.errors import StatementError
from ppdm_sql.language.tokens import Shape, words
from tests.cases import cases

_usual = settings(max_examples=cases(200))


def shapes(text: str) -> list[tuple[Shape, str]]:
    return [(word.shape, word.text) for word in words(text)]


def slices(text: str) -> list[str]:
    """Return what the spans cut out of the text."""
    return [text[word.span.start : word.span.end] for word in words(text)]


def plain_words(*texts: str) -> list[tuple[Shape, str]]:
    return [(Shape.WORD, text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("release", [(Shape.WORD, "release")]),
        ("Größe", [(Shape.WORD, "Größe")]),
        ("名前", [(Shape.WORD, "名前")]),
        ("_a1", [(Shape.WORD, "_a1")]),
        ("select", [(Shape.WORD, "select")]),
        ("int", [(Shape.WORD, "int")]),
        ('"Select ""it"""', [(Shape.QUOTED, 'Select "it"')]),
        ('""', [(Shape.QUOTED, "")]),
        ("'it''s'", [(Shape.STRING, "it's")]),
        ("''", [(Shape.STRING, "")]),
        ("'a\\'", [(Shape.STRING, "a\\")]),
        ("$$it's$$", [(Shape.STRING, "it's")]),
        ("$tag$a $$ b$tag$", [(Shape.STRING, "a $$ b")]),
        ("12", [(Shape.NUMBER, "12")]),
        ("1.5e-3", [(Shape.NUMBER, "1.5e-3")]),
        ("-1", [(Shape.SYMBOL, "-"), (Shape.NUMBER, "1")]),
        ("=>", [(Shape.SYMBOL, "=>")]),
        ("a.b", [(Shape.WORD, "a"), (Shape.SYMBOL, "."), (Shape.WORD, "b")]),
        ("f()", [(Shape.WORD, "f"), (Shape.SYMBOL, "("), (Shape.SYMBOL, ")")]),
        ("e'a\\'b'", [(Shape.SYMBOL, "e'a\\'b'")]),
        ("", []),
        (" \t\n", []),
        ("-- nothing", []),
        ("/* nothing */", []),
    ],
)
def test_a_word_has_a_shape(text: str, expected: list[tuple[Shape, str]]) -> None:
    assert shapes(text) == expected


@pytest.mark.parametrize(
    "fused",
    [
        "primary key",
        "foreign key",
        "group by",
        "order by",
        "partition by",
        "cluster by",
        "grouping sets",
        "double precision",
        "character varying",
        "similar to",
    ],
)
@pytest.mark.parametrize("gap", [" ", "  ", "\t", "\n", " \r\n\t "])
def test_neighbours_that_arrive_as_one_token_are_two_words(fused: str, gap: str) -> None:
    first, second = fused.split()
    text = f"x {first}{gap}{second.upper()} y"
    assert shapes(text) == plain_words("x", first, second.upper(), "y")
    assert slices(text) == ["x", first, second.upper(), "y"]


@pytest.mark.parametrize("gap", ["/**/", " /* a */ ", " -- a\n"])
def test_a_comment_between_such_neighbours_changes_nothing(gap: str) -> None:
    assert shapes(f"primary{gap}key") == plain_words("primary", "key")


@pytest.mark.parametrize(
    "command", ["EXPLAIN", "CALL", "PREPARE", "EXECUTE", "VACUUM", "RESET", "OPTIMIZE"]
)
def test_what_follows_a_command_is_words_too(command: str) -> None:
    text = f"{command}  one 'two;' \"three;\" /* ; */ $$four;$$  -- five;\n ; {command} six"
    assert shapes(text) == [
        (Shape.WORD, command),
        (Shape.WORD, "one"),
        (Shape.STRING, "two;"),
        (Shape.QUOTED, "three;"),
        (Shape.STRING, "four;"),
        (Shape.SYMBOL, ";"),
        (Shape.WORD, command),
        (Shape.WORD, "six"),
    ]
    assert slices(text) == [
        command, "one", "'two;'", '"three;"', "$$four;$$", ";", command, "six",
    ]  # fmt: skip


def test_a_command_inside_a_command_is_words_too() -> None:
    text = "EXPLAIN EXECUTE p('a;b'); EXPLAIN EXPLAIN x"
    assert slices(text) == [
        "EXPLAIN", "EXECUTE", "p", "(", "'a;b'", ")", ";", "EXPLAIN", "EXPLAIN", "x",
    ]  # fmt: skip


def test_a_command_word_in_the_middle_is_a_word() -> None:
    assert slices("DROP RELEASE explain; SELECT call, execute FROM prepare") == [
        "DROP", "RELEASE", "explain", ";", "SELECT", "call", ",", "execute", "FROM", "prepare",
    ]  # fmt: skip


def test_names_in_backticks_are_quoted_names() -> None:
    # DuckDB 2.0 reads `a` as "a".
    assert shapes("`a;b`.c") == [
        (Shape.QUOTED, "a;b"),
        (Shape.SYMBOL, "."),
        (Shape.WORD, "c"),
    ]


_PIECES = st.lists(
    st.sampled_from(
        [
            "CREATE", "release", "Größe", '"a ""b"";"', "'it''s;'", "$$ ; $$", "$x$ $$ $x$", "1", "2.5",
            "1e3", "(", ")", "[", "]", ",", ".", "=", "=>", "-", "+", "*", ";", "EXPLAIN", "CALL",
            "PREPARE", "primary", "key", "group", "by", "e'\\''",
        ]
    ),
    max_size=12,
)  # fmt: skip
_GAPS = st.sampled_from([" ", "\t", "\n", "\r\n", " -- c; 'x\n", " /* ; ' */ ", " /* /* ; */ */ "])


@_usual
@given(_PIECES, st.data())
def test_words_are_found_where_they_stand(pieces: list[str], data: st.DataObject) -> None:
    text, expected = data.draw(_GAPS), []
    for piece in pieces:
        expected.append((len(text), piece))
        text += piece + data.draw(_GAPS)
    found = [(word.span.start, text[word.span.start : word.span.end]) for word in words(text)]
    assert found == expected


def test_only_plain_words_and_symbols_are_keywords() -> None:
    folded = [word.folded for word in words("Key \"key\" 'key' ( 1")]
    assert folded == ["key", "", "", "(", ""]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("SELECT 'a", 8),
        ('SELECT "a', 8),
        ("SELECT /* a", 8),
        ("SELECT $$a", 8),
        ("SELECT $tag$ a $tga$", 8),
        ("EXPLAIN SELECT 'a", 16),
        ("SELECT 1; CALL f('a", 18),
        ("SELECT 'a', 'b", 13),
        ("SELECT 'it''s", 8),
        ('SELECT "a""b', 8),
        ("SELECT e'it\\'s", 8),
        ("SELECT e'a\\'", 8),
        ("SELECT `a", 8),
        ("SELECT `a``b", 8),
        ('SELECT \'the "b" in it', 8),
        ("SELECT \"the 'b' in it", 8),
        ("SELECT /* a /* b */ c", 8),
        ("SELECT 1 /* it's */, 'b", 22),
        ("SELECT 1 -- it's\n, 'b", 3),
    ],
)
def test_what_is_never_closed_is_an_error_where_it_opens(text: str, column: int) -> None:
    with pytest.raises(StatementError, match="never closed") as caught:
        words(text)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "gap",
    [
        " ",
        "",
        "\t\n\r\n",
        "-- x\n",
        "--\n",
        "/**/",
        "/* -- */",
        "/* a */ -- b\n /* c\n */",
        "/***/",
    ],
)
def test_space_and_comments_may_stand_between_words(gap: str) -> None:
    assert [word.text for word in words(f"({gap})")] == ["(", ")"]


@pytest.mark.parametrize(
    "comment",
    ["/* a /* b */ c */", "/* /**/ */", "/*/* a */ b */", "/* a /* b */*/", "/*/**/*/", "/*/ a */"],
)
def test_comments_in_comments_may_stand_between_words(comment: str) -> None:
    with duckdb.connect(":memory:") as duck:  # which nests them
        assert duck.execute(f"SELECT 1 {comment} + {comment} 1").fetchall() == [(2,)]
    text = f"a {comment} b {comment} c"
    found = words(text)
    assert [word.text for word in found] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "name",
    [
        "é",
        "e\u0301",
        "名前",
        "\U0001f600",
        "€uro",
        "a·b",
        "x²",
        "\u0663",
        "a$b",
        "a$",
        "_",
        "ﬁ",
        "a\u2028",
    ],
    ids=ascii,
)
def test_a_name_may_be_of_the_letters_that_duckdb_takes(name: str) -> None:
    with duckdb.connect(":memory:") as duck:
        description = duck.execute(f"SELECT 1 AS {name}").description
    assert [column[0] for column in description or ()] == [name]
    assert shapes(f"x {name} (") == [*plain_words("x", name), (Shape.SYMBOL, "(")]


@pytest.mark.parametrize(
    "text", ["'" + "a" * 300_000, "/*" * 100_000, '"' + '""' * 150_000, "$a$" + "$" * 300_000]
)
def test_a_long_text_that_never_closes_is_told_and_not_searched_for_ever(text: str) -> None:
    with pytest.raises(StatementError, match="never closed"):
        words(text)


@pytest.mark.parametrize("gap", ["{# x #}", "/* a */{# b #}", "{##}"])
def test_a_template_comment_is_no_gap(gap: str) -> None:
    found = [word.text for word in words(f"a{gap}b")]
    assert found[0] == "a"
    assert found[-1] == "b"
    assert found[1:3] == ["{", "#"]
