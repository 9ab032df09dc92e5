"""What is written back is read as the same statement, whatever stands between the words."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import (
    Argument,
    ColumnName,
    ColumnRule,
    Condition,
    CreateHierarchy,
    CreateRelease,
    DateBody,
    DescribeRelease,
    DigitsBody,
    DropHierarchy,
    DropRelease,
    ExplainHierarchies,
    ExplainRelease,
    FileBody,
    FileSource,
    GeneralizeClause,
    GeneralizedColumn,
    InterpretPredicate,
    InterpretTable,
    Option,
    PlainSql,
    PublishRelease,
    QuerySource,
    RangesBody,
    RefreshRelease,
    ReleaseName,
    Role,
    ShowHierarchies,
    ShowReleases,
    TableBody,
    TableSource,
    TargetClause,
    TreatmentCall,
    TreeBody,
)
from ppdm_sql.language.syntax.hierarchies import DATE_UNITS
from ppdm_sql.language.tokens import Shape, words
from ppdm_sql.language.unparse import unparse
from ppdm_sql.names import Name, QualifiedName, fold, quote
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ppdm_sql.language.syntax import Source, Statement, Value
    from ppdm_sql.owner import Owner

_usual = settings(max_examples=cases(100))
_T = TypeVar("_T")

_ODD_NAMES = [
    "release", "releases", "key", "KEY", "until", "noise", "select", "primary", "from", "as", "then",
    "with", "if", "exists", "for", "by", "group", "order", "null", "true", "explain", "call", "begin",
    "a b", "a.b", ".", '"', '""', "'", "''", '"; DROP TABLE people; --', "'; DROP TABLE people; --",
    "--", "/*", "*/", "$$", "$a$", "{#", "#}", "{# x #}", "{{ x }}", "\\", "\\'", ";", "(", ")", ",",
    "=>", "*", "1", "1a", " ", " a", "a ", "\t", "\n", "a\r\nb", "é", "É", "ß", "日本", "😀", "e\u0301",
    "\u00a0", "\u200b", "\ufeff", "`", "a`b",
]  # fmt: skip
_TEXTS = st.one_of(
    st.sampled_from(_ODD_NAMES),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    st.text("ab'\"$-/*\\{}#;.()\n ", max_size=8),
)
_FULL_TEXTS = _TEXTS.filter(bool)
_NAMES = _FULL_TEXTS.map(Name)
_QUALIFIED = st.lists(_NAMES, min_size=1, max_size=3).map(lambda parts: QualifiedName(tuple(parts)))
# A treatment is a plain word: letters of any script, digits, underscores.
_KEYWORDS = st.one_of(
    st.sampled_from(
        ["keep", "release", "key", "primary", "by", "then", "as", "select", "explain", "call", "true",
         "null", "e", "x", "b", "_", "größe", "名前", "int", "date", "case", "values", "from"]
    ),
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
)  # fmt: skip


def _unique(items: list[_T], names: list[str]) -> list[_T]:
    """Return the items whose names have not come before."""
    return [item for i, item in enumerate(items) if names[i] not in names[:i]]


@st.composite
def _calls(draw: st.DrawFn, values: st.SearchStrategy[Value]) -> TreatmentCall:
    positional = draw(st.lists(values, max_size=2))
    named = draw(st.lists(st.tuples(_FULL_TEXTS.map(fold), values), max_size=2))
    named = _unique(named, [name for name, _ in named])
    return TreatmentCall(
        draw(_KEYWORDS),
        (
            *(Argument(None, value) for value in positional),
            *(Argument(name, value) for name, value in named),
        ),
    )


_SIMPLE: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    _TEXTS,
)
_VALUES: st.SearchStrategy[Value] = st.recursive(
    _SIMPLE,
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), _calls(inner)),
    max_leaves=4,
)
_RULES = st.builds(
    ColumnRule,
    st.lists(_NAMES.map(ColumnName), min_size=1, max_size=3).map(tuple),
    st.sampled_from(Role),
    st.lists(_calls(_VALUES), max_size=2).map(tuple),
)
_OPTIONS = st.lists(st.builds(Option, _FULL_TEXTS.map(fold), _VALUES), max_size=2).map(
    lambda options: tuple(_unique(options, [option.name for option in options]))
)

_SELECTS = [
    "SELECT a FROM t",
    "SELECT a, b AS c, t.d FROM s.t AS t WHERE a > 1 AND b LIKE 'it''s;%'",
    "SELECT * FROM t",
    "FROM t",
    "SELECT * EXCLUDE (a) REPLACE (b + 1 AS b) FROM t",
    'SELECT "a b", "q""x", \'x;y\', \')\' FROM "s t"."u"',
    "SELECT a FROM t JOIN u USING (id) LEFT JOIN v ON t.id = v.id",
    "WITH c AS (SELECT 1 AS x), d AS (SELECT 2 AS x) SELECT * FROM c UNION ALL SELECT * FROM d",
    "SELECT (SELECT max(x) FROM u) AS m, EXISTS(SELECT 1 FROM u) AS e FROM t",
    "SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 1 ORDER BY n DESC LIMIT 3",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b) AS r FROM t",
    "SELECT CASE WHEN a = 1 THEN 'x' ELSE NULL END AS k, CAST(b AS DOUBLE) AS d FROM t",
    "SELECT [1, 2, 3] AS l, {'a': 1} AS s, -1.5 AS n, TRUE AS b FROM t",
    "SELECT a FROM read_csv('people;.csv')",
    'SELECT "größe", "日本" FROM "名前"',
    "(SELECT a FROM t)",
]


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_PLAIN_SOURCES: st.SearchStrategy[Source] = st.one_of(
    _QUALIFIED.map(TableSource), _TEXTS.map(FileSource)
)
_QUERIES = st.one_of(
    st.sampled_from(_SELECTS),
    # Any text as a literal, a column and a table of a SELECT.
    st.builds(
        lambda text, column, table: (
            f"SELECT {_string(text)} AS x, {quote(column)} FROM {quote(table)}"
        ),
        _TEXTS,
        _FULL_TEXTS,
        _FULL_TEXTS,
    ),
)


_NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
_COLUMNS = _NAMES.map(ColumnName)
_CONDITION_TEXTS = st.one_of(
    st.sampled_from(
        [
            "a = 1",
            "until = 3",
            "x = until",
            "a IN ('UNTIL', 'k = 2')",
            "(a OR b) AND c",
            "NOT k",
        ]
    ),
    st.builds(lambda name, text: f"{quote(name)} = {_string(text)}", _FULL_TEXTS, _TEXTS),
)
_CONDITIONS = _CONDITION_TEXTS.map(Condition)
_VERSIONS = st.none() | st.integers(0, 10**18 - 1)
_TARGETS = st.one_of(
    st.builds(TargetClause, st.just("k"), st.just("="), _NUMBERS),
    st.builds(TargetClause, st.sampled_from(["l", "entropy_l"]), st.just("="), _NUMBERS, _COLUMNS),
    st.builds(TargetClause, st.just("alpha"), st.just("<="), _NUMBERS, _COLUMNS),
    st.builds(
        TargetClause,
        st.just("alpha"),
        st.just("<="),
        _NUMBERS,
        _COLUMNS,
        values=st.lists(_NUMBERS | _TEXTS, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        TargetClause,
        st.sampled_from(["recursive_l", "proximity"]),
        st.just("="),
        _NUMBERS,
        _COLUMNS,
        st.tuples(_NUMBERS),
    ),
    st.builds(
        TargetClause,
        st.just("kpqr"),
        st.just("="),
        _NUMBERS,
        _COLUMNS,
        st.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
    ),
    st.builds(
        TargetClause,
        st.just("t"),
        st.just("<="),
        _NUMBERS,
        _COLUMNS,
        hierarchy=st.none() | _COLUMNS,
    ),
)
_TARGETS = _TARGETS | st.builds(
    TargetClause, st.just("k_map"), st.just("="), _NUMBERS, against=_QUALIFIED
)
_GENERALIZE = st.builds(
    GeneralizeClause,
    st.lists(
        st.builds(
            GeneralizedColumn,
            _COLUMNS,
            st.none() | _COLUMNS,
            st.none() | st.tuples(st.integers(0, 3), st.integers(3, 6)),
            st.just(1) | st.floats(0.01, 1000),
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
    st.lists(_TARGETS, min_size=1, max_size=2).map(tuple),
    st.none() | _CONDITIONS,
    st.integers(0, 100) | st.floats(0, 100),
    suppresses_cells=st.booleans(),
)
_BODIES = st.one_of(
    st.just(DigitsBody()),
    st.builds(RangesBody, st.lists(_NUMBERS, min_size=1, max_size=3).map(tuple), _NUMBERS),
    st.builds(
        TreeBody,
        st.lists(st.lists(_TEXTS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(
            tuple
        ),
    ),
    st.builds(DateBody, st.lists(st.sampled_from(DATE_UNITS), min_size=1, max_size=3).map(tuple)),
    _QUALIFIED.map(TableBody),
    _TEXTS.map(FileBody),
)


_PERHAPS_GENERALIZE: st.SearchStrategy[GeneralizeClause | None] = st.none() | _GENERALIZE


def _releases(
    sources: st.SearchStrategy[Source],
    generalize: st.SearchStrategy[GeneralizeClause | None] = _PERHAPS_GENERALIZE,
) -> st.SearchStrategy[CreateRelease]:
    rules = st.lists(_RULES, min_size=1, max_size=2).map(tuple)
    return st.builds(
        CreateRelease,
        _QUALIFIED,
        sources,
        rules,
        _OPTIONS,
        st.booleans(),
        generalize,
    )


_SHORT: dict[str, st.SearchStrategy[Statement]] = {
    "drop": st.builds(DropRelease, _QUALIFIED, st.booleans()),
    "refresh": st.builds(RefreshRelease, _QUALIFIED),
    "show": st.just(ShowReleases()),
    "describe": st.builds(DescribeRelease, _QUALIFIED),
    "publish": st.builds(
        PublishRelease,
        st.lists(_QUALIFIED.map(ReleaseName), min_size=1, max_size=3).map(tuple),
        _TEXTS,
        st.just("duckdb") | _KEYWORDS,
        _OPTIONS,
    ),
    "explain": st.builds(ExplainRelease, _QUALIFIED, st.just("duckdb") | _KEYWORDS),
    "hierarchy": st.builds(CreateHierarchy, _NAMES, _BODIES, st.booleans()),
    "drop hierarchy": st.builds(DropHierarchy, _NAMES, st.booleans()),
    "show hierarchies": st.just(ShowHierarchies()),
    "explain hierarchies": st.builds(ExplainHierarchies, _QUALIFIED),
    "interpret table": st.builds(InterpretTable, _QUALIFIED, _QUALIFIED, _VERSIONS),
    "plain": st.sampled_from(
        ["SELECT 1", "select  ';' -- x\n + 1", "EXPLAIN SELECT $$;$$", "DESCRIBE release", "é()"]
    ).map(PlainSql),
}
_CREATIONS: dict[str, st.SearchStrategy[Statement]] = {
    "create from a table or a file": _releases(_PLAIN_SOURCES),
    "create from a select": _releases(_QUERIES.map(QuerySource)),
}
_INTERPRETATIONS: dict[str, st.SearchStrategy[Statement]] = {
    "interpret": st.builds(
        InterpretPredicate, _QUALIFIED, _CONDITION_TEXTS, st.booleans(), _VERSIONS
    ),
}
_STATEMENTS = _SHORT | _CREATIONS | _INTERPRETATIONS


def exactly(value: object) -> object:
    """Return a value so that only the very same is equal to it.

    Names are equal without regard to case, `True` is equal to `1` and `1` to `1.0`: here not.
    """
    if isinstance(value, tuple):
        return ("tuple", *(exactly(item) for item in value))
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.compare]
        return (type(value).__name__, *(exactly(getattr(value, name)) for name in fields))
    return (type(value).__name__, repr(value))


def read(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


@pytest.mark.parametrize("kind", _STATEMENTS)
@_usual
@given(data=st.data())
def test_what_is_written_back_is_read_as_the_same(kind: str, data: st.DataObject) -> None:
    statement = data.draw(_STATEMENTS[kind])
    text = unparse(statement)
    again = read(text)
    assert again == statement
    assert exactly(again) == exactly(statement)
    assert unparse(again) == text


@pytest.mark.parametrize("engine", ["my engine", 'a"b', "1", "a.b", "größe", "for", "x; select 1"])
def test_an_engine_in_quotes_is_written_back_in_quotes(engine: str) -> None:
    # There is none of these names, but an error that shows the statement must show it right.
    statement = ExplainRelease(QualifiedName.of("r"), engine)
    assert exactly(read(f"EXPLAIN RELEASE r FOR {quote(engine)}")) == exactly(statement)
    assert exactly(read(unparse(statement))) == exactly(statement)


@pytest.mark.parametrize("kind", _STATEMENTS)
@settings(_usual, max_examples=cases(30))
@given(data=st.data())
def test_neighbours_in_a_script_change_nothing(kind: str, data: st.DataObject) -> None:
    statement = data.draw(_STATEMENTS[kind])
    texts = [unparse(ShowReleases()), "SELECT ';'", unparse(statement), "EXPLAIN SELECT 1"]
    read_again = parse_script(";\n-- ;\n".join(texts) + ";")
    assert [exactly(one) for one in read_again] == [
        exactly(one) for one in (ShowReleases(), PlainSql(texts[1]), statement, PlainSql(texts[3]))
    ]


_FILLERS = st.one_of(
    st.sampled_from(
        [
            " ", "\t", "\n", "\r\n", "\x0b", "\x0c", "\u00a0", "\u3000", "-- x\n", "--\n", "/* x */",
            "/**/", "/***/", "-- /* x\n", "/* -- x */", "/* /* x */ y */", "/* a /* b */ c /* d */ e */", "-- it's \"x\n",
            "/* it's; \"x */", "-- ; x\n", "/* ; */", "/* {# */", "-- $$ $a$\n", "/* 日本 é */",
            " \t/* a */ -- b\n /* c */\n", "/* a */\n/* b */",
        ]
    ),
    st.text("ab ;'\"$-{#}é", max_size=6).map(lambda text: f"--{text}\n"),
    st.text("ab ;'\"$-{#}\né", max_size=6).map(lambda text: f"/*{text}*/"),
)  # fmt: skip


def _without_gaps(statement: Statement) -> Statement:
    """SELECT, WHEN and WHERE are kept letter by letter with comments: only words are compared."""
    if isinstance(statement, InterpretPredicate):
        return dataclasses.replace(statement, predicate=_words_of(statement.predicate))
    if not isinstance(statement, CreateRelease):
        return statement
    if isinstance(statement.source, QuerySource):
        source = QuerySource(_words_of(statement.source.text))
        statement = dataclasses.replace(statement, source=source)
    clause = statement.generalize
    if clause is not None and clause.when is not None:
        clause = dataclasses.replace(clause, when=Condition(_words_of(clause.when.text)))
        statement = dataclasses.replace(statement, generalize=clause)
    return statement


def _words_of(text: str) -> str:
    return " ".join(word.span.source for word in words(text))


def _fill(text: str, fillers: list[str]) -> str:
    """Put space or a comment into every gap between the words of a text, and around it."""
    filler = itertools.cycle(fillers)
    filled, end = next(filler), 0
    for word in words(text):
        gap = text[end : word.span.start]
        if end:
            gap = next(filler)
            # A minus before the dashes of a comment would be the first of them.
            gap = " " + gap if text[end - 1] + gap[0] == "--" else gap
        filled += gap + word.span.source
        end = word.span.end
    return filled + " " + next(filler)


@pytest.mark.parametrize("kind", [kind for kind in _STATEMENTS if kind != "plain"])
@_usual
@given(data=st.data(), fillers=st.lists(_FILLERS, min_size=1, max_size=5))
def test_comments_and_odd_space_in_every_gap_change_nothing(
    kind: str, data: st.DataObject, fillers: list[str]
) -> None:
    statement = data.draw(_STATEMENTS[kind])
    found = read(_fill(unparse(statement), fillers))
    assert exactly(_without_gaps(found)) == exactly(_without_gaps(statement))


_IN_ANY_CASE = {kind: made for kind, made in _SHORT.items() if kind != "plain"} | {
    # The words of a condition are the owner's.
    "create from a table or a file": _releases(
        _PLAIN_SOURCES, _GENERALIZE.map(lambda clause: dataclasses.replace(clause, when=None))
    )
}


@pytest.mark.parametrize("kind", _IN_ANY_CASE)
@_usual
@given(
    data=st.data(),
    cases=st.lists(st.sampled_from([str.upper, str.lower, str.title]), min_size=1, max_size=5),
)
def test_any_letter_case_is_read_as_the_same(
    kind: str, data: st.DataObject, cases: list[Callable[[str], str]]
) -> None:
    statement = data.draw(_IN_ANY_CASE[kind])
    text, change = unparse(statement), itertools.cycle(cases)
    changed, end = "", 0
    for word in words(text):
        # Names are in quotes in what is written back, so every plain word of it is a keyword.
        is_keyword = word.shape is Shape.WORD and word.span.source.isascii()
        source = next(change)(word.span.source) if is_keyword else word.span.source
        changed += text[end : word.span.start] + source
        end = word.span.end
    assert exactly(read(changed)) == exactly(statement)


@pytest.fixture(scope="module")
def shared_owner() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


@settings(_usual, max_examples=cases(40))
@given(
    release=_NAMES,
    table=_NAMES,
    columns=st.lists(_FULL_TEXTS, min_size=1, max_size=3, unique_by=fold),
)
def test_any_name_survives_from_a_table_to_a_release_its_refresh_and_its_end(
    shared_owner: Owner, release: Name, table: Name, columns: list[str]
) -> None:
    listed = ", ".join(f"{quote(column)} INTEGER" for column in columns)
    shared_owner.execute("CREATE SCHEMA IF NOT EXISTS raw")
    shared_owner.execute(f"CREATE OR REPLACE TABLE raw.{quote(table.text)} ({listed})")
    name = QualifiedName((Name("research"), release))
    statement = CreateRelease(
        name,
        TableSource(QualifiedName((Name("raw"), table))),
        tuple(ColumnRule((ColumnName(Name(column)),), Role.NEUTRAL) for column in columns),
        replace=True,
    )
    shared_owner.execute(unparse(statement))
    shared_owner.execute(unparse(RefreshRelease(name)))
    result = shared_owner.execute(f"FROM research.{quote(release.text)}")
    assert result.columns == columns
    assert [info.column for info in shared_owner.describe(str(name))] == columns
    shared_owner.execute(unparse(DropRelease(name)))
    assert shared_owner.releases() == []
