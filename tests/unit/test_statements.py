"""The grammar: what each statement means, in any case, with every word usable as a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_sql.errors import StatementError
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import (
    Argument,
    ColumnName,
    ColumnRule,
    CreateRelease,
    DescribeRelease,
    DropRelease,
    ExplainRelease,
    FileSource,
    Option,
    PlainSql,
    QuerySource,
    RefreshRelease,
    Role,
    ShowReleases,
    TableSource,
    TreatmentCall,
)
from ppdm_sql.language.unparse import unparse
from ppdm_sql.names import Name, QualifiedName, quote

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import Statement, Value

# Every word that a statement of ours gives a meaning to, now or in the language as designed, and
# words that mean something to SQL or to the tokenizer.
_WORDS = [
    "create", "or", "replace", "release", "releases", "from", "key", "identifier", "quasi",
    "sensitive", "neutral", "as", "then", "with", "drop", "if", "exists", "refresh", "show",
    "describe", "explain", "for", "keep", "suppress", "mapping", "pseudonym", "graded_grouping",
    "generalize", "using", "when", "until", "at", "most", "percent", "hierarchy", "agreement",
    "publish", "to", "audit", "interpret", "export", "import", "noise", "rotation", "k", "l", "t",
    "alpha", "true", "false", "null", "not", "in", "and", "on", "select", "primary", "foreign",
    "group", "order", "by", "partition", "double", "precision", "table", "view", "call",
    "execute", "prepare", "begin", "end", "commit", "fetch", "rename", "vacuum", "reset", "set",
    "values", "union", "index", "unique", "default", "int", "integer", "varchar", "date",
    "timestamp", "interval", "case", "cast", "all", "distinct", "limit", "offset",
]  # fmt: skip


def parse(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


def create(text: str) -> CreateRelease:
    statement = parse(text)
    assert isinstance(statement, CreateRelease)
    return statement


def failure(text: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    return caught.value


def rule(columns: str, role: Role, *treatments: TreatmentCall) -> ColumnRule:
    names = tuple(ColumnName(Name(column)) for column in columns.split())
    return ColumnRule(names, role, treatments)


def value(text: str) -> Value:
    """Return the one argument of a call."""
    statement = create(f"CREATE RELEASE r FROM t (a NEUTRAL AS f({text}))")
    (argument,) = statement.rules[0].treatments[0].arguments
    assert argument.name is None
    return argument.value


def test_a_whole_release() -> None:
    statement = create(
        """
        CREATE OR REPLACE RELEASE research.patients
        FROM clinic.patients (
            patient_id   KEY         AS pseudonym(),
            name         IDENTIFIER,
            zip          QUASI,
            weight       SENSITIVE   AS graded_grouping(bands => [30, 60, 90]),
            (bmi, pulse) SENSITIVE   AS rotation(degrees => 13.7) THEN noise(normal(0, 1), rho => 5),
            stay_days    NEUTRAL
        )
        WITH (execution = 'udf');
        """
    )
    bands = Argument("bands", (30, 60, 90))
    normal = TreatmentCall("normal", (Argument(None, 0), Argument(None, 1)))
    assert statement == CreateRelease(
        QualifiedName.of("research", "patients"),
        TableSource(QualifiedName.of("clinic", "patients")),
        (
            rule("patient_id", Role.KEY, TreatmentCall("pseudonym")),
            rule("name", Role.IDENTIFIER),
            rule("zip", Role.QUASI),
            rule("weight", Role.SENSITIVE, TreatmentCall("graded_grouping", (bands,))),
            rule(
                "bmi pulse",
                Role.SENSITIVE,
                TreatmentCall("rotation", (Argument("degrees", 13.7),)),
                TreatmentCall("noise", (Argument(None, normal), Argument("rho", 5))),
            ),
            rule("stay_days", Role.NEUTRAL),
        ),
        (Option("execution", "udf"),),
        replace=True,
    )


def test_the_smallest_release() -> None:
    statement = create("CREATE RELEASE r FROM t (a NEUTRAL)")
    assert statement.replace is False
    assert statement.options == ()
    assert statement.rules == (rule("a", Role.NEUTRAL),)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("DROP RELEASE r", DropRelease(QualifiedName.of("r"))),
        ("DROP RELEASE IF EXISTS s.r", DropRelease(QualifiedName.of("s", "r"), if_exists=True)),
        ("REFRESH RELEASE c.s.r", RefreshRelease(QualifiedName.of("c", "s", "r"))),
        ("SHOW RELEASES", ShowReleases()),
        ("DESCRIBE RELEASE r", DescribeRelease(QualifiedName.of("r"))),
        ("EXPLAIN RELEASE r", ExplainRelease(QualifiedName.of("r"), "duckdb")),
        ("EXPLAIN RELEASE r FOR Spark", ExplainRelease(QualifiedName.of("r"), "spark")),
    ],
)
def test_the_short_statements(text: str, statement: Statement) -> None:
    assert parse(text) == statement
    assert parse(text.lower()) == statement
    assert parse(text.swapcase()) == statement


def test_a_source_is_a_table_a_file_or_a_select() -> None:
    table, file, query = (
        create(f"CREATE RELEASE r FROM {source} (a NEUTRAL)").source
        for source in ('c."s x".t', "'data/*.parquet'", "(SELECT a FROM t WHERE b = ')')")
    )
    assert table == TableSource(QualifiedName.of("c", "s x", "t"))
    assert file == FileSource("data/*.parquet")
    assert isinstance(query, QuerySource)
    assert query.text == "SELECT a FROM t WHERE b = ')'"


@pytest.mark.parametrize("role", list(Role))
def test_a_role_is_one_of_five_words_in_any_case(role: Role) -> None:
    for text in (role.value, role.value.lower(), role.value.capitalize()):
        assert create(f"CREATE RELEASE r FROM t (a {text})").rules[0].role is role


@pytest.mark.parametrize(
    "text", ["keys", "ke", "PUBLIC", "\u017fENSITIVE", "\u0131DENTIFIER", "KEY\u0301", "\uff2bEY"]
)
def test_nothing_else_is_a_role(text: str) -> None:
    error = failure(f"CREATE RELEASE r FROM t (a NEUTRAL, b {text})")
    assert error.what == f"unknown role '{text}' for 'b'"
    assert error.span is not None
    assert error.span.source == text


@pytest.mark.parametrize(
    ("role", "treated", "leaves"),
    [
        (Role.KEY, False, False),
        (Role.KEY, True, True),
        (Role.IDENTIFIER, False, False),
        (Role.IDENTIFIER, True, False),
        (Role.QUASI, False, True),
        (Role.SENSITIVE, False, True),
        (Role.NEUTRAL, False, True),
        (Role.NEUTRAL, True, True),
    ],
)
def test_which_columns_leave(role: Role, treated: bool, leaves: bool) -> None:
    treatments = (TreatmentCall("keep"),) if treated else ()
    assert rule("a", role, *treatments).is_released is leaves


def test_a_column_keeps_its_letters() -> None:
    statement = create('CREATE RELEASE R FROM T (Ward NEUTRAL, "größe" QUASI)')
    assert [column.name.text for one in statement.rules for column in one.columns] == [
        "Ward",
        "größe",
    ]
    assert statement.name.name.text == "R"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("42", 42),
        ("-7", -7),
        ("- 7", -7),
        ("+7", 7),
        ("007", 7),
        ("9" * 40, int("9" * 40)),
        ("1.5", 1.5),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1.5e+3", 1500.0),
        ("'text'", "text"),
        ("'it''s'", "it's"),
        ("''", ""),
        ("'a\\nb'", "a\\nb"),
        ("$$it's$$", "it's"),
        ("$x$ $$ $x$", " $$ "),
        ("true", True),
        ("FALSE", False),
        ("Null", None),
        ("[]", ()),
        ("[1, 2.5, 'a', null]", (1, 2.5, "a", None)),
        ("[[15, 29], [30, 44]]", ((15, 29), (30, 44))),
        ("f()", TreatmentCall("f")),
        ("Normal(0, sd => 1)", TreatmentCall("normal", (Argument(None, 0), Argument("sd", 1)))),
        ("true()", TreatmentCall("true")),
        ("null(1)", TreatmentCall("null", (Argument(None, 1),))),
        ("[normal(0, 1)]", (TreatmentCall("normal", (Argument(None, 0), Argument(None, 1))),)),
    ],
)
def test_a_value_is_what_it_looks_like(text: str, expected: Value) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_digits_may_be_grouped_as_in_duckdb() -> None:
    found = value("1_000")
    assert found == 1000
    assert isinstance(found, int)


@pytest.mark.parametrize("word", ["Bands", '"BANDS"', "bands"])
def test_arguments_are_named_without_regard_to_case(word: str) -> None:
    call = create(f"CREATE RELEASE r FROM t (a NEUTRAL AS F({word} => 1))").rules[0].treatments[0]
    assert call == TreatmentCall("f", (Argument("bands", 1),))


def test_options_are_named_without_regard_to_case() -> None:
    options = create('CREATE RELEASE r FROM t (a NEUTRAL) WITH (A = 1, "B" = [2])').options
    assert options == (Option("a", 1), Option("b", (2,)))


def test_an_empty_list_of_options_is_none() -> None:
    assert create("CREATE RELEASE r FROM t (a NEUTRAL) WITH ()").options == ()


@pytest.mark.parametrize("count", [16, 17])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("f(", ")")])
def test_values_are_nested_sixteen_deep_and_no_deeper(
    count: int, opening: str, closing: str
) -> None:
    text = opening * count + "1" + closing * count
    if count == 16:
        value(text)
    else:
        with pytest.raises(StatementError, match="nested more than 16 deep"):
            value(text)


@pytest.mark.parametrize("opening", ["[", "f("])
def test_a_very_deep_value_is_an_error_and_no_crash(opening: str) -> None:
    assert "16 deep" in failure(f"CREATE RELEASE r FROM t (a KEY AS f({opening * 5000}").what


@pytest.mark.parametrize("digits", ["1e400", "-1e999", "9" * 4301], ids=["float", "minus", "int"])
def test_a_number_too_large_is_an_error_and_no_crash(digits: str) -> None:
    assert "too large" in failure(f"CREATE RELEASE r FROM t (a KEY AS f({digits}))").what


@pytest.mark.parametrize(
    "text",
    ["a", "*", "?", "$1", "1 + 1", "(1)", "{'a': 1}", "x'00'", "date '2020-01-01'", "1 2", "5abc",
     "0x1F", "²", "٣", "--1\n,", "[1", "1,", "[1,]", "a = 1", "a := 1", "inf", "1..2", "select 1"],
)  # fmt: skip
def test_anything_else_is_no_value(text: str) -> None:
    assert "expected" in failure(f"CREATE RELEASE r FROM t (a KEY AS f({text}))").what


NAMES = st.sampled_from(_WORDS).flatmap(
    lambda word: st.sampled_from([(word, word.lower()), (word, word.upper()), (word, quote(word))])
)
"""Any word of SQL or of ours, as it may be written where a name stands."""


@given(NAMES)
def test_any_word_may_name_a_column(name: tuple[str, str]) -> None:
    word, written = name
    statement = create(
        f"CREATE RELEASE r FROM t ({written} KEY AS pseudonym(), (x, {written}) QUASI,"
        f" {written} NEUTRAL)"
    )
    assert statement.rules == (
        rule(word, Role.KEY, TreatmentCall("pseudonym")),
        rule(f"x {word}", Role.QUASI),
        rule(word, Role.NEUTRAL),
    )


@given(NAMES)
def test_any_word_may_name_a_table_or_a_release(name: tuple[str, str]) -> None:
    word, written = name
    for text, parts in ((written, (word,)), (f"{written}.{written}", (word, word))):
        statement = create(f"CREATE RELEASE {text} FROM {text} (a NEUTRAL)")
        assert statement.name == QualifiedName.of(*parts)
        assert statement.source == TableSource(QualifiedName.of(*parts))


@given(NAMES)
def test_any_word_may_name_a_release_in_the_short_statements(name: tuple[str, str]) -> None:
    (word, written), called = name, QualifiedName.of(name[0])
    assert called == QualifiedName.of(word)
    assert parse(f"DROP RELEASE {written}") == DropRelease(called)
    assert parse(f"DROP RELEASE IF EXISTS {written}") == DropRelease(called, if_exists=True)
    assert parse(f"REFRESH RELEASE {written}") == RefreshRelease(called)
    assert parse(f"DESCRIBE RELEASE {written}") == DescribeRelease(called)
    assert parse(f"EXPLAIN RELEASE {written}") == ExplainRelease(called)
    assert parse(f"EXPLAIN RELEASE {written} FOR duckdb") == ExplainRelease(called)


@given(st.sampled_from(_WORDS))
def test_any_word_may_name_a_treatment_or_an_argument(word: str) -> None:
    statement = create(f"CREATE RELEASE r FROM t (a QUASI AS {word}({word} => {word}(1)))")
    inner = TreatmentCall(word, (Argument(None, 1),))
    assert statement.rules[0].treatments == (TreatmentCall(word, (Argument(word, inner),)),)


def test_the_words_of_the_language_all_at_once() -> None:
    statement = create(
        "CREATE RELEASE release FROM key (release KEY AS pseudonym(), until QUASI, noise NEUTRAL,"
        ' "primary" NEUTRAL, primary QUASI, "KEY" SENSITIVE, as NEUTRAL AS keep() THEN then())'
    )
    assert [one.columns[0].name.text for one in statement.rules] == [
        "release", "until", "noise", "primary", "primary", "KEY", "as",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["primary KEY", "primary\n\tKEY", "primary/**/KEY", "foreign key"])
def test_a_column_that_fuses_with_its_role_is_read_apart(text: str) -> None:
    name = text[:7]
    statement = create(f"CREATE RELEASE r FROM t (x QUASI, {text})")
    assert statement.rules[1] == rule(name, Role.KEY)
    assert statement.rules[1].columns[0].span is not None
    assert statement.rules[1].columns[0].span.source == name


@pytest.mark.parametrize(("text", "found"), [("group by", "by"), ("double precision", "precision")])
def test_a_fused_word_that_is_no_role_is_pointed_at_alone(text: str, found: str) -> None:
    error = failure(f"CREATE RELEASE r FROM t ({text})")
    assert error.what == f"unknown role '{found}' for '{text.split()[0]}'"
    assert error.span is not None
    assert error.span.source == found


@pytest.mark.parametrize(
    "text",
    [
        "DESCRIBE release",
        "describe RELEASE",
        "DESCRIBE release.people",
        "DESCRIBE release.main.people",
        "DESCRIBE releases",
        'DESCRIBE "release"',
        "DESC release",
        "SHOW release",
        'SHOW "releases"',
        "SELECT release FROM releases",
        "CREATE TABLE release (key INT)",
        "CREATE VIEW release AS SELECT 1",
        "DROP TABLE release",
        "DROP VIEW IF EXISTS release",
        "EXPLAIN SELECT * FROM release",
        "FROM release",
        'CREATE "release" r FROM t (a NEUTRAL)',
        "CREATE OR REPLACE TABLE release AS SELECT 1 AS quasi",
    ],
)
def test_a_table_called_release_is_still_plain_sql(text: str) -> None:
    assert parse(text) == PlainSql(text)


def test_describing_a_release_called_release() -> None:
    assert parse("DESCRIBE RELEASE release") == DescribeRelease(QualifiedName.of("release"))
    assert parse('DESCRIBE RELEASE "release"') == DescribeRelease(QualifiedName.of("release"))
    assert parse("EXPLAIN RELEASE for FOR duckdb") == ExplainRelease(QualifiedName.of("for"))
    assert parse("DROP RELEASE if") == DropRelease(QualifiedName.of("if"))
    assert parse("DROP RELEASE if.exists") == DropRelease(QualifiedName.of("if", "exists"))


@pytest.mark.parametrize(
    ("text", "what", "at"),
    [
        ("CREATE RELEASE r", "expected 'FROM'", ""),
        ("CREATE RELEASE r FROM t (a)", "the role of 'a' is missing", ")"),
        ("CREATE RELEASE r FROM t (a AS f())", "the role of 'a' is missing", "AS"),
        ("CREATE RELEASE r FROM t ((a, b))", "the role of 'a, b' is missing", ")"),
        ("CREATE RELEASE r FROM t ()", "the list of columns is empty", "("),
        ("CREATE RELEASE r FROM t (a KEY,)", "expected a column after ','", ")"),
        ("CREATE RELEASE r FROM t (a KEY", "this '(' is never closed", "("),
        ("CREATE RELEASE r FROM t (a KEY b KEY)", "expected ',' or ')' after a column", "b"),
        ("CREATE RELEASE r FROM t (*)", "'*' is not a column", "*"),
        ("CREATE RELEASE r FROM t (a.b KEY)", "the role of 'a' is missing", "."),
        ("CREATE RELEASE r FROM t ((a, b KEY)", "expected ')' after a group", "KEY"),
        ("CREATE RELEASE r FROM t (() KEY)", "expected the name of a column", ")"),
        ("CREATE RELEASE r FROM t ((a,) KEY)", "expected the name of a column", ")"),
        ("CREATE RELEASE r FROM t (a KEY AS f)", "expected '(' after 'f'", "f"),
        ('CREATE RELEASE r FROM t (a KEY AS "f"())', "expected a treatment", '"f"'),
        ("CREATE RELEASE r FROM t (a KEY AS f() THEN)", "expected a treatment", ")"),
        ("CREATE RELEASE r FROM t (a KEY THEN f())", "expected ',' or ')' after a column", "THEN"),
        ("CREATE RELEASE r FROM t (a KEY AS f(1 2))", "expected ',' or ')' in the arg", "2"),
        ("CREATE RELEASE r FROM t (a KEY AS f(b => 1, 2))", "an argument without a name", "2"),
        ("CREATE RELEASE r FROM t (a KEY AS f(b => 1, B => 2))", "given twice", "B => 2"),
        ("CREATE RELEASE r FROM t (a KEY AS f([1 2]))", "expected ',' or ']' in a list", "2"),
        ("CREATE RELEASE r FROM t (a KEY) WITH (b = 1, B = 2)", "given twice", "B = 2"),
        ("CREATE RELEASE r FROM t (a KEY) WITH b = 1", "expected '(' after WITH", "b"),
        ("CREATE RELEASE r FROM t (a KEY) WITH (b)", "expected '=' after 'b'", ")"),
        ("CREATE RELEASE r FROM t (a KEY) GENERALISE a", "unexpected 'GENERALISE'", "GENERALISE"),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a", "neither how far nor until", ""),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL m = 2", "expected a target", "m"),
        (
            "CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL k <= 2",
            "expected '=' after k",
            "<",
        ),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL l = 2", "l needs a column", "l"),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL t(b) = 2", "expected '<='", "="),
        (
            "CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL recursive_l(b) = 2",
            "and the number c",
            ")",
        ),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a WHEN UNTIL k = 2", "a condition", "UNTIL"),
        ("CREATE RELEASE r FROM t (a QUASI) GENERALIZE a WHEN (b UNTIL k = 2", "never closed", "("),
        (
            "CREATE RELEASE r FROM t (a QUASI) GENERALIZE a WHEN b] UNTIL k = 2",
            "was never opened",
            "]",
        ),
        (
            "CREATE RELEASE r FROM t (a QUASI) GENERALIZE a UNTIL k = 2 SUPPRESS AT MOST 101 PERCENT",
            "between 0 and 100",
            "101",
        ),
        ("CREATE HIERARCHY h AS ROUND (5)", "what the hierarchy is made of", "ROUND"),
        ("CREATE HIERARCHY h AS RANGES ()", "this list is empty", "("),
        ("CREATE HIERARCHY h AS TREE (('a', 1))", "expected a 'text' in quotes", "1"),
        ("CREATE HIERARCHY h AS DATE (week)", "expected a unit of dates", "week"),
        ("CREATE HIERARCHY h AS RANGES (5, 10) UP", "unexpected 'UP'", "UP"),
        ("CREATE HIERARCHY h AS FROM file", "the path of a file in quotes", "file"),
        ("EXPLAIN HIERARCHIES r", "expected 'FOR'", "r"),
        ("CREATE RELEASE r FROM f('x') (a KEY)", "a table function cannot stand here", "f"),
        ("CREATE RELEASE r FROM t AS x (a KEY)", "expected '(' and the list", "AS"),
        ("CREATE OR REPLACE RELEASE", "expected the name of the release", ""),
        ("DROP RELEASE a b", "unexpected 'b'", "b"),
        ("DROP RELEASE IF EXISTS", "expected the name of the release", ""),
        ("REFRESH RELEASE 'r'", "expected the name of the release, found a string", "'r'"),
        ("SHOW RELEASES LIKE 'x'", "unexpected 'LIKE'", "LIKE"),
        ("EXPLAIN RELEASE", "expected the name of the release", ""),
        ("EXPLAIN RELEASE r FOR", "expected the name of an engine", ""),
        ("EXPLAIN RELEASE r FORR spark", "unexpected 'FORR'", "FORR"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, what: str, at: str) -> None:
    error = failure(f"SELECT 1;\n{text}")
    assert what in error.what
    assert error.line == 2
    assert error.span is not None
    assert error.span.source == at


def test_a_statement_prints_no_argument() -> None:
    # Arguments may be secrets: bands, angles, prefixes.
    statement = create(
        "CREATE RELEASE r FROM (SELECT 'hidden' AS a) (a NEUTRAL AS f('hidden', x => ['hidden']))"
        " WITH (o = 'hidden')"
    )
    assert "hidden" not in repr(statement)


def test_the_canonical_text() -> None:
    statement = create(
        "create or replace release r from t (a key as F(1,-2.50,'it''s',b=>[true,null]), (c,D) quasi)"
        " with (o = g())"
    )
    assert unparse(statement) == (
        'CREATE OR REPLACE RELEASE "r"\n'
        'FROM "t" (\n'
        "    \"a\" KEY AS f(1, -2.5, 'it''s', \"b\" => [true, NULL]),\n"
        '    ("c", "D") QUASI\n'
        ")\n"
        'WITH ("o" = g())'
    )
    assert unparse(parse("explain release a.b")) == 'EXPLAIN RELEASE "a"."b" FOR duckdb'
    assert unparse(parse("drop release if exists r")) == 'DROP RELEASE IF EXISTS "r"'
    assert unparse(PlainSql("select  1")) == "select  1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("UNTIL k >= 5, l(b) >= 2", "UNTIL k = 5, l(b) = 2"),
        ("UNTIL k = 5 SUPPRESS AT MOST 5%", "UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT"),
    ],
)
def test_targets_are_written_as_requirements_are(one: str, other: str) -> None:
    head = "CREATE RELEASE r FROM t (a QUASI, b SENSITIVE) GENERALIZE a "
    assert parse_script(head + one) == parse_script(head + other)
