"""The gate: what passes, what comes out, what is said of the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from ppdm_sql.analyst.gate.admission import LONGEST, Surface, admit
from ppdm_sql.analyst.gate.functions import FUNCTIONS, TABLE_FUNCTIONS
from ppdm_sql.analyst.gate.nodes import EXPRESSIONS, NODES
from ppdm_sql.analyst.gate.redaction import redacted
from ppdm_sql.errors import PpdmError, Refused, StatementError
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Iterator

SURFACE = Surface(
    Name("memory"),
    frozenset({QualifiedName.of("research", "people"), QualifiedName.of("main", "release_info")}),
)


class Duck:
    """DuckDB as the gate asks for it, with the tables of the surface and one that is not on it."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(
            "CREATE SCHEMA research;"
            "CREATE TABLE research.people AS SELECT 'a' AS id, 30 AS age, 'x' AS ward;"
            "CREATE TABLE research.secret AS SELECT 42 AS answer;"
            "CREATE TABLE release_info AS SELECT 'research.people' AS release"
        )

    def serialize(self, text: str) -> str:
        ((tree,),) = self.connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        return str(tree)

    def deserialize(self, tree: str) -> str:
        query = "SELECT json_deserialize_sql(?::JSON)"
        ((text,),) = self.connection.execute(query, [tree]).fetchall()
        return str(text)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(admit(text, self, SURFACE)).fetchall()


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    made = Duck()
    yield made
    made.connection.close()


PASSES: dict[str, list[tuple[Any, ...]]] = {
    "SELECT * FROM research.people": [("a", 30, "x")],
    "FROM RESEARCH.People SELECT age + 1": [(31,)],
    "FROM memory.research.people SELECT count(*)": [(1,)],
    "FROM memory.release_info": [("research.people",)],
    "FROM release_info": [("research.people",)],
    "TABLE release_info": [("research.people",)],
    "WITH x AS (SELECT age FROM research.people), y AS (FROM x) FROM y JOIN x USING (age)": [(30,)],
    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 4) SELECT sum(i) FROM t": [(10,)],
    "SELECT (WITH x AS (SELECT 5 AS v) SELECT v FROM x) FROM research.people": [(5,)],
    "SELECT row_number() OVER (ORDER BY age) FROM research.people": [(1,)],
    "SELECT i FROM range(3) t(i) WHERE i NOT IN (SELECT 1)": [(0,), (2,)],
    "SELECT unnest([1, 2])": [(1,), (2,)],
    "SELECT CASE WHEN age > 3 THEN 'old' END, age BETWEEN 1 AND 99 FROM research.people": [("old", True)],
    "SELECT TRY_CAST(ward AS INTEGER), age::VARCHAR || '!' FROM research.people": [(None, "30!")],
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM research.people": [(30.0,)],
    "SELECT extract(year FROM DATE '2020-05-01' + INTERVAL 1 YEAR)": [(2021,)],
    "FROM research.people PIVOT (count(*) FOR ward IN ('x', 'y')) SELECT x, y": [(1, 0)],
    "FROM research.people PIVOT (count(*) FOR ward IN ('x', y)) SELECT x, y": [(1, 0)],
    "FROM research.people UNPIVOT (v FOR n IN (id, ward)) SELECT n, v": [("id", "a"), ("ward", "x")],
    "SELECT * EXCLUDE (id) REPLACE (age * 2 AS age) FROM research.people": [(60, "x")],
    "SELECT COLUMNS('a.*') FROM research.people": [(30, "x")],
    "SELECT DISTINCT ON (ward) age FROM research.people ORDER BY ward LIMIT 1 OFFSET 0": [(30,)],
    "SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2": [(1,)],
    "VALUES (1, 'a')": [(1, "a")],
    "SHOW TABLES": [("main", "release_info"), ("research", "people")],
    "SHOW ALL TABLES": [("main", "release_info"), ("research", "people")],
    "SELECT column_name FROM (DESCRIBE research.people)": [("id",), ("age",), ("ward",)],
}  # fmt: skip


@pytest.mark.parametrize("text", PASSES)
def test_what_analysts_need_passes_and_means_the_same(duck: Duck, text: str) -> None:
    assert duck.rows(text) == PASSES[text]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("DESCRIBE research.people", "id"),
        ("SUMMARIZE research.people", "id"),
        ("SHOW research.people", "id"),
        ("DESCRIBE SELECT age FROM research.people", "age"),
        ("(SUMMARIZE SELECT age FROM research.people)", "age"),
    ],
)
def test_describe_summarize_and_show_of_ones_own_tables(duck: Duck, text: str, first: str) -> None:
    assert duck.rows(text)[0][0] == first


REFUSED = {
    "FROM research.secret": ("there is no table 'research.secret'", "research.secret"),
    "SELECT 1, (SELECT answer FROM memory.research.secret)": ("there is no table", "memory.research.secret"),
    "FROM people": ("there is no table 'people'", "people"),
    "DESCRIBE research.secret": ("there is no table", None),
    "WITH people AS (SELECT 1) FROM research.secret, people": ("there is no table", "research.secret"),
    "WITH x AS (FROM y), y AS (SELECT 1) FROM x": ("there is no table 'y'", "y"),
    "WITH y AS (FROM y) FROM y": ("there is no table 'y'", "y"),
    "SELECT * FROM (WITH z AS (SELECT 1) FROM z) JOIN z ON true": ("there is no table 'z'", "z"),
    "SELECT getenv('HOME')": ("the function 'getenv' may not", "getenv('HOME')"),
    "SELECT suum(age) FROM research.people": ("the function 'suum' may not", "suum(age)"),
    "FROM read_csv('x')": ("the function 'read_csv' may not", None),
    "SELECT lag(age) OVER (ORDER BY stats(age)) FROM research.people": ("the function 'stats'", "stats(age)"),
    "SELECT main.sum(age) FROM research.people": ("'sum' is written without a schema", "main.sum(age)"),
    "SELECT list_filter([1], x -> x > 1)": ("may not be used here", None),
    "WITH x AS (INSERT INTO release_info VALUES ('x') RETURNING *) FROM x": ("INSERT may not", None),
    "SHOW DATABASES": ("this may not be shown", None),
    "SELECT 1; SELECT 2": ("only one statement", None),
    "INSERT INTO release_info VALUES ('x')": ("this statement may not be run", None),
    "": ("only one statement", None),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_everything_else_is_refused_with_its_place(duck: Duck, text: str) -> None:
    what, place = REFUSED[text]
    with pytest.raises(Refused) as caught:
        admit(text, duck, SURFACE)
    assert what in caught.value.what
    span = caught.value.span
    assert (span.source if span is not None else None) == place or place is None


@pytest.mark.parametrize("call", ["count(*)", "sum(age)", "max(age)"])
def test_the_inside_of_an_aggregate_is_not_handed_out(duck: Duck, call: str) -> None:
    """A state holds values that the result of the aggregate would not show."""
    with pytest.raises(Refused, match="EXPORT_STATE may not be used here") as caught:
        admit(f"SELECT {call} EXPORT_STATE FROM research.people", duck, SURFACE)
    assert caught.value.span is not None


def test_hints_name_what_may_be_used(duck: Duck) -> None:
    with pytest.raises(Refused, match=r"did you mean 'sum'\?"):
        admit("SELECT suum(age) FROM research.people", duck, SURFACE)
    with pytest.raises(Refused, match=r"tables: main.release_info, research.people") as caught:
        admit("FROM research.peple", duck, SURFACE)
    assert "secret" not in str(caught.value)


def test_a_place_counts_letters_not_bytes(duck: Duck) -> None:
    with pytest.raises(Refused) as caught:
        admit("SELECT 'é☃𝄞', getenv('é')", duck, SURFACE)
    assert caught.value.span is not None
    assert caught.value.span.source == "getenv('é')"


def test_a_syntax_error_is_told_with_its_place(duck: Duck) -> None:
    with pytest.raises(StatementError, match="syntax error") as caught:
        admit("SELECT age\nFRM research.people", duck, SURFACE)
    assert caught.value.line == 2
    with pytest.raises(StatementError, match="syntax error"):
        admit("SELECT", duck, SURFACE)


def test_a_statement_has_a_longest_length(duck: Duck) -> None:
    assert duck.rows("SELECT length('" + "x" * (LONGEST - 17) + "')") == [(LONGEST - 17,)]
    with pytest.raises(Refused, match="at most 100,000 characters"):
        admit("SELECT length('" + "x" * LONGEST + "')", duck, SURFACE)
    with pytest.raises(StatementError, match="null byte"):
        admit("SELECT 1\0", duck, SURFACE)


def test_a_statement_that_nests_too_deep_is_refused(duck: Duck) -> None:
    class Deep(Duck):
        def serialize(self, text: str) -> str:
            return "[" * 100_000 + "]" * 100_000

    with pytest.raises(Refused, match="nested too deep"):
        admit("SELECT 1", Deep(), SURFACE)


def test_what_runs_is_checked_again(duck: Duck) -> None:
    """A text that says more than its parse would not get through."""

    class Liar(Duck):
        def deserialize(self, tree: str) -> str:
            return "FROM research.secret"

    with pytest.raises(Refused, match=r"there is no table 'research.secret'"):
        admit("FROM release_info", Liar(), SURFACE)


def changed(duck: Duck, text: str, **fields: object) -> Duck:
    """Return a DuckDB whose parse has more in it than the one that the lists were made for."""
    tree = json.loads(duck.serialize(text))
    tree["statements"][0]["node"].update(fields)

    class Newer(Duck):
        def serialize(self, text: str) -> str:
            return json.dumps(tree)

    return Newer()


@pytest.mark.parametrize(
    "fields",
    [
        {"a_new_clause": 1},
        {"type": "A_NEW_NODE"},
        {"qualify": {"class": "A_NEW_CLASS", "type": "x"}},
        {"where_clause": {"class": "CONSTANT", "a_new_field": 1}},
    ],
)
def test_what_a_newer_duckdb_adds_is_refused_until_it_is_listed(
    duck: Duck, fields: dict[str, object]
) -> None:
    with pytest.raises(Refused, match="may not be used here"):
        admit("SELECT 1", changed(duck, "SELECT 1", **fields), SURFACE)


def test_no_listed_function_reads_or_changes_anything() -> None:
    """The lists themselves: nothing of a file, a catalog, a setting or a state is on them."""
    suspicious = (
        "read_", "duckdb_", "pragma_", "json_", "setting", "variable", "query", "nextval", "setval",
        "currval", "setseed", "sniff", "glob", "glob(", "parquet", "escape", "lambda", "reduce",
        "treatment", "apply", "filter", "invoke", "error", "log_message", "write_log", "checkpoint",
        "secret", "repeat", "pad", "printf", "format", "levenshtein", "sleep", "stats", "current_schema",
        "current_database", "current_user", "version", "txid", "getenv", "aggregate", "hamming", "jaccard",
    )  # fmt: skip
    listed = FUNCTIONS | TABLE_FUNCTIONS
    assert not [name for name in listed if any(part in name for part in suspicious)]
    writes = {"INSERT_QUERY_NODE", "UPDATE_QUERY_NODE", "DELETE_QUERY_NODE", "COPY_QUERY_NODE"}
    assert not writes & NODES
    assert not {"LAMBDA", "DEFAULT"} & EXPRESSIONS


def test_every_listed_function_is_one_of_duckdbs() -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions()"
        ).fetchall()
    known = {name for (name,) in rows}
    by_grammar = {
        "coalesce", "ifnull", "current_time", "current_timestamp", "row_number", "rank", "rank_dense",
        "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
        "nth_value", "unnest",
    }  # fmt: skip
    assert (FUNCTIONS | TABLE_FUNCTIONS) - known <= by_grammar


# Redaction


@pytest.mark.parametrize(
    ("kind", "message", "what"),
    [
        ("BinderException", 'Referenced column "agee" not found', "there is no column 'agee' here"),
        ("BinderException", 'Referenced column "hidden" not found', "the names or types in"),
        ("BinderException", 'column "AGEE" must appear in the GROUP BY', "'agee' must be in GROUP BY"),
        ("ConversionException", "Could not convert string 'Jane'", "a value cannot be converted"),
        ("OutOfRangeException", "Overflow in 77", "a value is out of range"),
        ("SomethingNewException", "Jane", "DuckDB could not run this statement"),
    ],
)  # fmt: skip
def test_errors_are_fixed_texts_with_ones_own_words(kind: str, message: str, what: str) -> None:
    error = redacted(kind, message, "SELECT agee FROM research.people")
    assert isinstance(error, PpdmError)
    assert error.what.startswith(what)
    assert "Jane" not in str(error)
    assert "hidden" not in str(error)
