"""Scripts are split where DuckDB splits them, and plain SQL is handed over letter by letter."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.errors import StatementError
from ppdm_sql.language.script import STATEMENTS, parse_name, parse_script
from ppdm_sql.language.syntax import (
    CreateRelease,
    DescribeRelease,
    DropRelease,
    ExplainRelease,
    PlainSql,
    QuerySource,
    RefreshRelease,
    ShowReleases,
)
from ppdm_sql.names import QualifiedName
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

_usual = settings(max_examples=cases(200))


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        yield connection


def plain_texts(script: str) -> list[str]:
    """Return the texts of a script that is plain SQL and nothing else."""
    texts = []
    for statement in parse_script(script):
        assert isinstance(statement, PlainSql)
        assert statement.span is not None
        assert statement.span.text is script
        assert statement.span.source == statement.text
        texts.append(statement.text)
    return texts


def check_against_duckdb(duck: duckdb.DuckDBPyConnection, script: str) -> None:
    """Assert that DuckDB sees the same statements, and between them only space and comments."""
    theirs = [statement.query for statement in duck.extract_statements(script)]
    ours = plain_texts(script)
    assert len(ours) == len(theirs)
    rest = script
    for text in ours:
        assert len(duck.extract_statements(text)) == 1
        before, _, rest = rest.partition(text)
        assert duck.extract_statements(before) == []
    assert duck.extract_statements(rest) == []


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1;SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("", []),
        (";", []),
        (" ;;\n; ", []),
        ("-- nothing; at all", []),
        ("/* nothing; at all */ ;", []),
        (";;SELECT 1;;;SELECT 2;;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT 'it''s;'", ["SELECT ';'", "SELECT 'it''s;'"]),
        ("SELECT 'a\\'; SELECT 'b'", ["SELECT 'a\\'", "SELECT 'b'"]),
        ("SELECT e'\\';'; SELECT 2", ["SELECT e'\\';'", "SELECT 2"]),
        ("SELECT E'\\\\'; SELECT ';'", ["SELECT E'\\\\'", "SELECT ';'"]),
        ('SELECT 1 AS ";"; SELECT 2 AS """;"', ['SELECT 1 AS ";"', 'SELECT 2 AS """;"']),
        ("SELECT $$;$$; SELECT 2", ["SELECT $$;$$", "SELECT 2"]),
        ("SELECT $a$;$$;'$a$; SELECT 2", ["SELECT $a$;$$;'$a$", "SELECT 2"]),
        ("SELECT 1 AS a$b; SELECT 2 AS c$d", ["SELECT 1 AS a$b", "SELECT 2 AS c$d"]),
        ("SELECT 1 -- ; no\n+ 1; SELECT 2", ["SELECT 1 -- ; no\n+ 1", "SELECT 2"]),
        ("SELECT 1 /* ; */ + 1; SELECT 2", ["SELECT 1 /* ; */ + 1", "SELECT 2"]),
        ("SELECT 1 /* /* ; */ ; */ + 1; SELECT 2", ["SELECT 1 /* /* ; */ ; */ + 1", "SELECT 2"]),
        ("SELECT 1 /* ' */ + 1; SELECT '/*'", ["SELECT 1 /* ' */ + 1", "SELECT '/*'"]),
        ("SELECT 1 -- it's\n; SELECT '--'", ["SELECT 1", "SELECT '--'"]),
        ("-- first\nSELECT 1 -- last\n;", ["SELECT 1"]),
        ("SELECT\t1\r\n;\r\nSELECT\n2\r\n", ["SELECT\t1", "SELECT\n2"]),
        ("SELECT {'a': [1]}; SELECT MAP {1: 2}", ["SELECT {'a': [1]}", "SELECT MAP {1: 2}"]),
        ("SELECT 'é;日😀'; SELECT 2", ["SELECT 'é;日😀'", "SELECT 2"]),
        ("EXPLAIN SELECT ';'; SELECT 2", ["EXPLAIN SELECT ';'", "SELECT 2"]),
        ("EXPLAIN SELECT 1 /* ; */ ; SELECT 2", ["EXPLAIN SELECT 1", "SELECT 2"]),
        ("EXPLAIN SELECT 1 -- ;\n; SELECT 2", ["EXPLAIN SELECT 1", "SELECT 2"]),
        ("explain analyze select $$;$$ ;", ["explain analyze select $$;$$"]),
        ("CALL pragma_version(); SELECT 2", ["CALL pragma_version()", "SELECT 2"]),
        (
            "PREPARE p AS SELECT ';', ?; EXECUTE p(';'); DEALLOCATE p",
            ["PREPARE p AS SELECT ';', ?", "EXECUTE p(';')", "DEALLOCATE p"],
        ),
        ("VACUUM; ANALYZE; CHECKPOINT", ["VACUUM", "ANALYZE", "CHECKPOINT"]),
        ("RESET threads; SET threads = 1", ["RESET threads", "SET threads = 1"]),
        ("BEGIN; EXPLAIN SELECT 1; COMMIT", ["BEGIN", "EXPLAIN SELECT 1", "COMMIT"]),
        (
            'ALTER TABLE begin RENAME a TO "b;c"; SELECT 2',
            ['ALTER TABLE begin RENAME a TO "b;c"', "SELECT 2"],
        ),
        ("SELECT $1, $2; SELECT #1", ["SELECT $1, $2", "SELECT #1"]),
        ("SELECT $a, $b; SELECT ?", ["SELECT $a, $b", "SELECT ?"]),
        ("CREATE MACRO f(a) AS a || ';'; SELECT 2", ["CREATE MACRO f(a) AS a || ';'", "SELECT 2"]),
    ],
)
def test_plain_sql_is_split_as_duckdb_splits_it(
    duck: duckdb.DuckDBPyConnection, script: str, texts: list[str]
) -> None:
    assert plain_texts(script) == texts
    check_against_duckdb(duck, script)


@pytest.mark.parametrize(
    "script",
    [
        "SELECT 1 AS `a;b`; SELECT 2",
        "SELECT 1 AS `it's`; SELECT 2",
        "SELECT 1 AS `a``;b`",
        "EXPLAIN SELECT 1 AS `;`",
        "SELECT MAP {#1: ';'} FROM (SELECT 1); SELECT 2",
        "SELECT [x FOR x IN [1] IF x > 0]; SELECT 2",
        "SELECT 1;\ufeff SELECT 2",
        "SELECT 1; /*/* a */ SELECT 2; */ SELECT 3",
        "SELECT 1 /* a /* b */*/; SELECT 2",
        "SELECT 1 /*/ ; */; SELECT 2",
    ],
)
def test_the_rarer_spellings_of_duckdb_are_split_as_well(
    duck: duckdb.DuckDBPyConnection, script: str
) -> None:
    assert len(duck.extract_statements(script)) == len(plain_texts(script))


_LETTERS = st.text("ab;'\"`$-/*\\{}#\n é日", max_size=6)
_STRINGS = st.one_of(
    _LETTERS.map(lambda text: "'" + text.replace("'", "''") + "'"),
    _LETTERS.filter(lambda text: "$" not in text).map(lambda text: f"$${text}$$"),
    _LETTERS.filter(lambda text: "$tag$" not in f"{text}$").map(lambda text: f"$tag${text}$tag$"),
    _LETTERS.filter(lambda text: "$é1$" not in f"{text}$").map(lambda text: f"$é1${text}$é1$"),
    _LETTERS.map(
        lambda text: "e'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("#", "''") + "'"
    ),
)
_NAMES = st.one_of(
    st.sampled_from(["a", "B_2", "é", "release", "releases", "quasi", "x$y", "名前"]),
    _LETTERS.map(lambda text: '"x' + text.replace('"', '""') + '"'),
    _LETTERS.map(lambda text: "`x" + text.replace("`", "``") + "`"),
)
_COMMENTS = st.one_of(
    _LETTERS.map(lambda text: "--" + text.replace("\n", "") + "\n"),
    _LETTERS.filter(lambda text: "*/" not in f"{text}*" and "/*" not in f"/{text}/").map(
        lambda text: f"/*{text.rstrip('*/')} */"
    ),
    st.sampled_from(["/* a /* ; ' */ b */", "/*/* ; */*/", "/*/ ; */", "/***/", "-- ;\r"]),
)
# No other spaces: DuckDB puts plain ones in their place, but not where a comment has a quote.
_SPACES = st.sampled_from([" ", "\t", "\n", "\r\n", "\x0b", "\x0c"])
_GAPS = st.lists(st.one_of(_SPACES, _COMMENTS), max_size=2).map(lambda parts: " " + "".join(parts))
_EXPRESSIONS = st.one_of(
    _STRINGS,
    st.sampled_from(["1", "2.5", "1e3", "NULL", "[1, 2]", "{'a;': 1}", "?", "(1 + 2)", "-1"]),
    _NAMES,
)


@st.composite
def _statements(draw: st.DrawFn) -> str:
    def spaced(*parts: str) -> str:
        text = parts[0]
        for part in parts[1:]:
            text += draw(_GAPS) + part
        return text

    select = spaced("SELECT", draw(_EXPRESSIONS), "AS", draw(_NAMES), "FROM", draw(_NAMES))
    kind = draw(st.integers(0, 9))
    match kind:
        case 0:
            return spaced("EXPLAIN", select)
        case 1:
            return spaced("PREPARE", "p", "AS", select)
        case 2:
            return spaced("EXECUTE", "p", "(", draw(_STRINGS), ")")
        case 3:
            return spaced("CALL", "f", "(", draw(_STRINGS), ")")
        case 4:
            return spaced("CREATE", "VIEW", draw(_NAMES), "AS", select)
        case 5:
            return draw(st.sampled_from(["BEGIN", "COMMIT", "VACUUM", "RESET threads", "ROLLBACK"]))
        case _:
            return select


@_usual
@given(parts=st.lists(st.tuples(_GAPS, _statements(), _GAPS), max_size=4), data=st.data())
def test_any_plain_script_is_split_as_duckdb_splits_it(
    duck: duckdb.DuckDBPyConnection, parts: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    script = ""
    for before, statement, after in parts:
        script += before + statement + after + data.draw(st.sampled_from([";", "; ;", ";;\n"]))
    check_against_duckdb(duck, script)
    assert plain_texts(script) == [statement for _, statement, _ in parts]


def test_ours_and_plain_sql_may_stand_in_one_script() -> None:
    script = """
    CREATE TABLE t AS SELECT ';' AS a;           -- plain;
    create release r from t (a neutral as mapping(prefix => ';'));
    EXPLAIN SELECT ';' FROM r; EXPLAIN RELEASE r;
    SHOW RELEASES; DESCRIBE RELEASE "r;"; REFRESH RELEASE r; DROP RELEASE IF EXISTS r
    ; SELECT 'CREATE RELEASE x'
    """
    statements = parse_script(script)
    assert [type(statement) for statement in statements] == [
        PlainSql,
        CreateRelease,
        PlainSql,
        ExplainRelease,
        ShowReleases,
        DescribeRelease,
        RefreshRelease,
        DropRelease,
        PlainSql,
    ]
    texts = [statement.text for statement in statements if isinstance(statement, PlainSql)]
    assert texts == [
        "CREATE TABLE t AS SELECT ';' AS a",
        "EXPLAIN SELECT ';' FROM r",
        "SELECT 'CREATE RELEASE x'",
    ]


def test_spans_of_a_statement_cut_its_parts_out_of_the_script() -> None:
    script = (
        "SELECT 1;\n"
        "CREATE RELEASE a.r FROM b.t ( (x, y) SENSITIVE AS f( n => [1, 2] ) THEN g(h('é')),\n"
        "  z KEY ) WITH ( execution = 'udf' ) -- end\n;"
    )
    _, statement = parse_script(script)
    assert isinstance(statement, CreateRelease)
    assert statement.span is not None
    assert script.startswith(statement.span.source, script.index("CREATE"))
    assert statement.span.source.endswith("'udf' )")
    assert statement.name_span is not None
    assert statement.name_span.source == "a.r"
    assert statement.source.span is not None
    assert statement.source.span.source == "b.t"
    (first, second), (option,) = statement.rules, statement.options
    calls = first.treatments
    spans = [
        first.span,
        second.span,
        option.span,
        *(column.span for column in first.columns),
        *(call.span for call in calls),
        *(argument.span for argument in calls[0].arguments),
    ]
    cut = {span.source for span in spans if span is not None}
    assert cut == {
        "(x, y) SENSITIVE AS f( n => [1, 2] ) THEN g(h('é'))",
        "z KEY",
        "execution = 'udf'",
        "x",
        "y",
        "f( n => [1, 2] )",
        "g(h('é'))",
        "n => [1, 2]",
    }


@pytest.mark.parametrize(
    ("script", "cut"),
    [
        ("DROP RELEASE a.b", "a.b"),
        ('SELECT 1; REFRESH RELEASE "a b"', '"a b"'),
        ("EXPLAIN  RELEASE a . b FOR duckdb", "a . b"),
        ("DESCRIBE RELEASE r -- x", "r"),
    ],
)
def test_the_span_of_a_short_statement_is_the_name(script: str, cut: str) -> None:
    statement = parse_script(script)[-1]
    assert statement.span is not None
    assert statement.span.source == cut


def test_the_engine_of_an_explain_has_its_own_span() -> None:
    (statement,) = parse_script("EXPLAIN RELEASE r FOR\n  spark ;")
    assert isinstance(statement, ExplainRelease)
    assert statement.target_span is not None
    assert (statement.target_span.source, statement.target_span.line) == ("spark", 2)


@pytest.mark.parametrize(
    "script",
    [
        "SELECT 'a",
        'SELECT "a',
        "SELECT 1; /* a",
        "SELECT $$a",
        "SELECT $a$ x $b$",
        "SHOW RELEASES; SELECT 'a",
        "EXPLAIN SELECT 'a",
        'DROP RELEASE "r',
        "/* /* */",
    ],
)
def test_what_is_never_closed_stops_the_whole_script(script: str) -> None:
    with pytest.raises(StatementError, match="never closed"):
        parse_script(script)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE {# x #} RELEASE r FROM t (a NEUTRAL)",
        "CREATE RELEASE r FROM t ({# a IDENTIFIER, #} b NEUTRAL)",
        "CREATE RELEASE r FROM t (b NEUTRAL /* x */ {# , a IDENTIFIER #} /* y */)",
        "CREATE RELEASE r FROM (SELECT a {# , b #} FROM t) (a NEUTRAL)",
        "CREATE RELEASE r FROM t (a NEUTRAL AS f({# 1 #}))",
        "CREATE RELEASE r FROM t (a NEUTRAL) {# WITH (execution = 'udf') #};",
        "EXPLAIN {# x #} RELEASE r",
        "EXPLAIN RELEASE r {# FOR spark #}",
        "SHOW {# x #} RELEASES",
        "DROP RELEASE {# IF EXISTS #} r",
        "DROP RELEASE r {# x #}",
        "{# x #} SHOW RELEASES",
        "SELECT 1; {# x #} DROP RELEASE r",
        "SELECT 1 {# x #}",
        "{# x #} SELECT 1",
        "SELECT {# x #} 1",
        "{# DROP TABLE t; #}",
    ],
)
def test_a_comment_of_a_template_language_is_an_error_and_never_vanishes(
    duck: duckdb.DuckDBPyConnection, script: str
) -> None:
    def read() -> None:
        for statement in parse_script(script):
            # What is not ours is for DuckDB to refuse, in the owner's own letters.
            if isinstance(statement, PlainSql):
                duck.extract_statements(statement.text)
            elif isinstance(statement, CreateRelease) and isinstance(statement.source, QuerySource):
                duck.extract_statements(statement.source.text)

    with pytest.raises((StatementError, duckdb.ParserException)):
        read()


@pytest.mark.parametrize(
    "space",
    ["\u00a0", "\u2003", "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff"],
    ids=lambda space: f"U+{ord(space):04X}",
)
def test_the_spaces_of_duckdb_are_spaces_in_our_statements(
    duck: duckdb.DuckDBPyConnection, space: str
) -> None:
    assert duck.execute(f"SELECT{space}1{space}+{space}1").fetchall() == [(2,)]
    script = "CREATE RELEASE r FROM t ( a NEUTRAL )"
    assert parse_script(script.replace(" ", space)) == parse_script(script)


def test_a_byte_order_mark_before_a_script_is_no_word() -> None:
    assert parse_script("\ufeffSHOW RELEASES;") == [ShowReleases()]


def test_the_work_of_reading_a_script_grows_with_its_length() -> None:
    def calls(count: int) -> int:
        made = 0

        def counted(_frame: object, event: str, _argument: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        script = "CREATE RELEASE r FROM (SELECT a FROM t) (a NEUTRAL);\n" * count
        sys.setprofile(counted)
        try:
            parse_script(script)
        finally:
            sys.setprofile(None)
        return made

    calls(10)  # fills what is looked up once
    assert calls(150) < 7 * calls(25)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("patients", QualifiedName.of("patients")),
        ("research.patients", QualifiedName.of("research", "patients")),
        (' "my study" . "a.b" ', QualifiedName.of("my study", "a.b")),
        ("release", QualifiedName.of("release")),
        ("explain", QualifiedName.of("explain")),
    ],
)
def test_the_name_of_a_release_is_read_as_in_a_statement(text: str, name: QualifiedName) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize("text", ["", "  ", "a b", "a;", "a; DROP TABLE t", "'a'", "a.b.c.d", '"a'])
def test_anything_more_than_a_name_is_an_error(text: str) -> None:
    with pytest.raises(StatementError):
        parse_name(text)


def test_the_openings_of_our_statements_are_listed_for_hints() -> None:
    assert "CREATE RELEASE" in STATEMENTS
    assert "SHOW RELEASES" in STATEMENTS
    assert all(opening == opening.upper() for opening in STATEMENTS)
