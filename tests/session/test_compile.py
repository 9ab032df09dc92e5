"""A bound release to SQL: one tree, quoted names, nothing that a target does not list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import UnsupportedError

import ppdm_sql
from ppdm_sql.engine.duckdb import Engine
from ppdm_sql.engine.sql import check_tree, table_of, to_sql
from ppdm_sql.engine.targets import DUCKDB, TARGETS, SqlTarget
from ppdm_sql.errors import BindError, InternalError, Refused
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease, FileSource, TableSource
from ppdm_sql.names import QualifiedName
from ppdm_sql.parameters import parameter_column
from ppdm_sql.release.bind import bind_release
from ppdm_sql.release.compile import checks_query, release_select, source_table, statistics_query
from ppdm_sql.release.model import Plan
from ppdm_sql.release.sources import Sources
from ppdm_sql.treatments import TREATMENTS
from tests.releases import bind_clause

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner
    from ppdm_sql.release.model import Release


@dataclass(frozen=True)
class Shelf:
    """Where a test would keep what was drawn."""

    def parameter_table(self) -> QualifiedName:
        return QualifiedName.of("store", "parameters")

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        return QualifiedName.of("store", f"{slot}_{table}")


@pytest.fixture(scope="module")
def clinic() -> Iterator[Owner]:
    """An owner to bind against; nothing is made in it."""
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE SCHEMA clinic; CREATE TABLE clinic.people"
            " (id BIGINT, name VARCHAR, age INTEGER, weight DOUBLE, illness VARCHAR)"
        )
        yield owner


def bind(owner: Owner, rules: str, options: str = "") -> Release:
    (statement,) = parse_script(f"CREATE RELEASE r.p FROM clinic.people ({rules}) {options}")
    assert isinstance(statement, CreateRelease)
    return bind_release(statement, Sources(owner._engine), TREATMENTS, bind_clause)


def outputs(select: exp.Select) -> list[str]:
    return [projection.alias for projection in select.expressions]


class TestRender:
    """Trees to text."""

    def test_every_name_is_quoted(self) -> None:
        tree = sqlglot.parse_one("SELECT a.b AS c FROM d.e AS a", dialect="duckdb")
        assert to_sql(tree) == 'SELECT "a"."b" AS "c" FROM "d"."e" AS "a"'

    def test_quotes_in_names_and_texts_are_doubled(self) -> None:
        tree = exp.select(
            exp.alias_(exp.Literal.string("it's"), exp.to_identifier('a"b; --', quoted=True))
        )
        assert to_sql(tree) == "SELECT 'it''s' AS \"a\"\"b; --\""

    def test_comments_are_dropped(self) -> None:
        tree = sqlglot.parse_one("SELECT /* secret */ 1 AS a -- secret", dialect="duckdb")
        assert to_sql(tree) == 'SELECT 1 AS "a"'

    def test_functions_keep_their_spelling(self) -> None:
        tree = exp.Anonymous(this="ppdm_Graded", expressions=[exp.null()])
        assert to_sql(tree) == "ppdm_Graded(NULL)"

    def test_what_a_dialect_cannot_say_is_an_error(self) -> None:
        tree = sqlglot.parse_one("SELECT a FROM t TABLESAMPLE (5 PERCENT)", dialect="duckdb")
        assert "TABLESAMPLE" in to_sql(tree)
        with pytest.raises(UnsupportedError):
            to_sql(tree, "mysql")

    @pytest.mark.parametrize(
        ("parts", "text"),
        [
            (("people",), '"people"'),
            (("clinic", "people"), '"clinic"."people"'),
            (("store", "clinic", "people"), '"store"."clinic"."people"'),
            (('a"b', "c.d"), '"a""b"."c.d"'),
            (("select", "from"), '"select"."from"'),
        ],
    )
    def test_tables_part_by_part(self, parts: tuple[str, ...], text: str) -> None:
        assert to_sql(table_of(QualifiedName.of(*parts))) == text
        assert to_sql(table_of(QualifiedName.of(*parts), 'x"y')) == f'{text} AS "x""y"'


LISTED = [
    "a + b - c * d / -e",
    "CASE WHEN a < 1 THEN 'x' WHEN a >= 2 OR NOT b IS NULL THEN NULL ELSE 'y' END",
    "CAST(a AS DOUBLE) || SHA256(b) || SUBSTRING(c, 1, 2)",
    "ppdm_graded_bands(a, [b], [c], [d], TRUE)",
]
UNLISTED = {
    "getenv('HOME')": "an unlisted function",
    "read_text('/etc/passwd')": "an unlisted function",
    "hash(a)": "an unlisted function",
    "my_ppdm_kernel(a)": "an unlisted function",
    "PPDM_GRADED_BANDS(a)": "an unlisted function",
    "random()": "Rand",
    "log(a)": "Log",
    "reverse(a)": "Reverse",
    "log10(a)": "Log",
    "regexp_matches(a, 'b')": "RegexpLike",
    "sum(a)": "Sum",
    "row_number() OVER ()": "Window",
    "a SIMILAR TO 'b'": "SimilarTo",
    "current_timestamp": "CurrentTimestamp",
    "a GLOB 'b'": "Glob",
    "md5(a)": "MD5",
    "?": "Placeholder",
    "$1": "Placeholder",
}


class TestCheckTree:
    """Default deny."""

    @pytest.mark.parametrize("text", LISTED)
    def test_what_is_listed_passes(self, text: str) -> None:
        check_tree(sqlglot.parse_one(text, dialect="duckdb"), DUCKDB)

    @pytest.mark.parametrize("text", UNLISTED)
    def test_what_is_not_listed_is_refused(self, text: str) -> None:
        tree = sqlglot.parse_one(text, dialect="duckdb")
        with pytest.raises(InternalError, match="is not allowed in SQL for duckdb"):
            check_tree(tree, DUCKDB)

    @pytest.mark.parametrize("text", UNLISTED)
    def test_it_is_found_however_deep_it_lies(self, text: str) -> None:
        tree = sqlglot.parse_one(
            f"CASE WHEN a > 1 THEN b || CAST(({text}) AS VARCHAR) END", dialect="duckdb"
        )
        with pytest.raises(InternalError, match=UNLISTED[text]):
            check_tree(tree, DUCKDB)

    def test_statements_are_refused(self) -> None:
        for tree in (
            exp.Command(this="INSTALL", expression=exp.Literal.string("httpfs")),
            exp.Drop(kind="TABLE"),
            exp.Union(this=exp.select("1"), expression=exp.select("2")),
        ):
            with pytest.raises(InternalError):
                check_tree(tree, DUCKDB)

    def test_refusal_tells_no_value(self) -> None:
        tree = sqlglot.parse_one("getenv('hidden')", dialect="duckdb")
        with pytest.raises(InternalError) as caught:
            check_tree(tree, DUCKDB)
        assert "hidden" not in str(caught.value)
        assert "this is a bug" in str(caught.value)

    def test_a_target_without_kernels_refuses_calls(self) -> None:
        plain = replace(DUCKDB, name="plain", nodes=DUCKDB.nodes - {exp.Anonymous})
        tree = sqlglot.parse_one("ppdm_graded_bands(a)", dialect="duckdb")
        with pytest.raises(InternalError, match="Anonymous is not allowed in SQL for plain"):
            check_tree(tree, plain)

    def test_targets_go_by_their_names(self) -> None:
        assert all(name == target.name for name, target in TARGETS.items())
        assert TARGETS["duckdb"] is DUCKDB

    @pytest.mark.parametrize(
        "rules",
        [
            "age QUASI AS graded_grouping(bands => 2)",
            "illness SENSITIVE AS mapping()",
            "id KEY AS pseudonym()",
            "name NEUTRAL AS suppress()",
        ],
    )
    def test_a_release_is_checked_against_its_target(self, clinic: Owner, rules: str) -> None:
        bare = SqlTarget("bare", "duckdb", frozenset({exp.Alias, exp.Identifier}))
        with pytest.raises(InternalError, match="is not allowed in SQL for bare"):
            release_select(Plan(bind(clinic, rules), Shelf(), bare))


class TestCompile:
    """A release to one SELECT."""

    def test_columns_in_the_order_of_the_script_under_its_spelling(self, clinic: Owner) -> None:
        release = bind(clinic, 'ILLNESS NEUTRAL, (weight, "Age") QUASI AS suppress(), id NEUTRAL')
        assert outputs(release_select(Plan(release, Shelf(), DUCKDB))) == [
            "ILLNESS",
            "weight",
            "Age",
            "id",
        ]

    def test_what_stays_is_not_read(self, clinic: Owner) -> None:
        release = bind(clinic, "id KEY, name IDENTIFIER, age QUASI")
        text = to_sql(release_select(Plan(release, Shelf(), DUCKDB)))
        assert '"name"' not in text
        assert '"id"' not in text

    def test_parameters_are_joined_only_where_they_are_used(self, clinic: Owner) -> None:
        plain = release_select(Plan(bind(clinic, "age QUASI"), Shelf(), DUCKDB))
        keyed = release_select(Plan(bind(clinic, "id KEY AS pseudonym()"), Shelf(), DUCKDB))
        assert "parameters" not in to_sql(plain)
        assert to_sql(keyed).count('CROSS JOIN "store"."parameters" AS "p"') == 1

    def test_each_table_is_joined_once_under_its_own_name(self, clinic: Owner) -> None:
        release = bind(clinic, "illness SENSITIVE AS mapping(), name QUASI AS mapping()")
        select = release_select(Plan(release, Shelf(), DUCKDB))
        joins = [join.this.alias for join in select.args["joins"]]
        assert joins == ["m0", "m1"]

    def test_every_stage_is_a_select_over_the_one_before(self, clinic: Owner) -> None:
        release = bind(clinic, "name QUASI AS keep() THEN keep() THEN keep(), illness NEUTRAL")
        select = release_select(Plan(release, Shelf(), DUCKDB))
        assert len(list(select.find_all(exp.Select))) == release.depth == 3
        assert to_sql(select).count('FROM "ppdm_store"."clinic"."people"') == 1

    def test_functions_are_called_only_when_asked_for(self, clinic: Owner) -> None:
        rule = "age QUASI AS graded_grouping(bands => 2)"
        native = release_select(Plan(bind(clinic, rule), Shelf(), DUCKDB))
        udf = release_select(Plan(bind(clinic, rule, "WITH (execution = 'udf')"), Shelf(), DUCKDB))
        assert native.find(exp.Anonymous) is None
        assert udf.find(exp.Anonymous) is not None

    def test_bands_are_searched_by_halves(self, clinic: Owner) -> None:
        """256 bands cost eight comparisons and the band's own, not 256."""
        release = bind(clinic, "weight QUASI AS graded_grouping(bands => 256)")
        select = release_select(Plan(release, Shelf(), DUCKDB))

        def depth(case: exp.Case) -> int:
            inner = [c for c in case.find_all(exp.Case) if c.find_ancestor(exp.Case) is case]
            return 1 + max((depth(c) for c in inner), default=0)

        outermost = select.find(exp.Case)
        assert outermost is not None
        assert depth(outermost) <= 10

    def test_a_target_that_cannot_call_functions_says_so(self, clinic: Owner) -> None:
        plain = replace(DUCKDB, name="plain", calls_kernels=False)
        rule = "age QUASI AS graded_grouping(bands => 2)"
        udf = bind(clinic, rule, "WITH (execution = 'udf')")
        with pytest.raises(Refused, match="plain cannot run Python functions"):
            release_select(Plan(udf, Shelf(), plain))
        assert release_select(Plan(bind(clinic, rule), Shelf(), plain))

    def test_compiling_twice_gives_the_same(self, clinic: Owner) -> None:
        release = bind(
            clinic, "id KEY AS pseudonym(), illness SENSITIVE AS mapping() THEN mapping()"
        )
        first = release_select(Plan(release, Shelf(), DUCKDB))
        assert release_select(Plan(release, Shelf(), DUCKDB)) == first

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            (TableSource(QualifiedName.of("a", "b", "c")), '"a"."b"."c" AS "s"'),
            (FileSource('/data/it\'s "here".parquet'), '"/data/it\'s ""here"".parquet" AS "s"'),
        ],
    )
    def test_sources(self, source: TableSource | FileSource, text: str) -> None:
        assert to_sql(source_table(source)) == text

    def test_a_query_as_source_stands_in_parentheses(self, clinic: Owner) -> None:
        (statement,) = parse_script(
            "CREATE RELEASE r.p FROM (SELECT age + 1 AS a, 'it''s' AS b FROM clinic.people)"
            " (b NEUTRAL, a NEUTRAL)"
        )
        assert isinstance(statement, CreateRelease)
        release = bind_release(statement, Sources(clinic._engine), TREATMENTS, bind_clause)
        text = to_sql(release_select(Plan(release, Shelf(), DUCKDB)))
        assert text.endswith(') AS "s"')
        assert clinic.connection.sql(text).columns == ["b", "a"]
        assert to_sql(release_select(Plan(release, Shelf(), DUCKDB))) == text

    def test_names_of_parameters(self) -> None:
        assert parameter_column("t0_1", "key") == "t0_1_key"


class TestStatistics:
    """What is asked of the source, and how often."""

    def test_the_first_stage_always_counts_rows(self, clinic: Owner) -> None:
        query = statistics_query(Plan(bind(clinic, "age QUASI"), Shelf()), 0)
        assert query is not None
        assert outputs(query) == ["rows"]

    def test_a_later_stage_asks_only_when_somebody_wants_to_know(self, clinic: Owner) -> None:
        silent = bind(clinic, "age QUASI AS keep() THEN keep()")
        assert statistics_query(Plan(silent, Shelf()), 1) is None
        asking = bind(clinic, "age QUASI AS keep() THEN graded_grouping(bands => 3)")
        query = statistics_query(Plan(asking, Shelf()), 1)
        assert query is not None
        assert "rows" not in outputs(query)
        assert all(name.startswith("t0_1_") for name in outputs(query))

    def test_all_treatments_of_a_stage_ask_at_once(self, clinic: Owner) -> None:
        release = bind(
            clinic,
            "age QUASI AS graded_grouping(bands => 3), weight QUASI AS graded_grouping(bands => 3),"
            " illness SENSITIVE AS mapping(), name NEUTRAL AS mapping()",
        )
        query = statistics_query(Plan(release, Shelf()), 0)
        assert query is not None
        assert {name.split("_")[0] for name in outputs(query)} == {"rows", "t0", "t1", "t2", "t3"}
        assert len(list(query.find_all(exp.Table))) == 1

    def test_nobody_checks_where_nothing_can_go_wrong(self, clinic: Owner) -> None:
        release = bind(clinic, "age QUASI, illness SENSITIVE AS mapping()")
        assert checks_query(Plan(release, Shelf()), 0) is None

    def test_limits_that_are_given_ask_nothing(self, clinic: Owner) -> None:
        release = bind(clinic, "age QUASI AS graded_grouping(bands => [0, 5])")
        query = statistics_query(Plan(release, Shelf()), 0)
        assert query is not None
        assert outputs(query) == ["rows"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every query for rows that reaches the source from now on."""
    seen: list[str] = []
    original = Engine.query

    def query(self: Engine, statement: str | exp.Expr, parameters: tuple[Any, ...] = ()) -> Any:
        text = statement if isinstance(statement, str) else to_sql(statement)
        if '"clinic"."people"' in text:
            seen.append(text)
        return original(self, statement, parameters)

    monkeypatch.setattr(Engine, "query", query)
    return seen


class TestScans:
    """How often a statement reads the source."""

    def test_one_stage_reads_twice_however_many_columns(
        self, people: Owner, asked: list[str]
    ) -> None:
        people.execute(
            "CREATE RELEASE r.p FROM clinic.people (id KEY AS pseudonym(), name QUASI AS mapping(),"
            " age QUASI AS graded_grouping(bands => 2), illness SENSITIVE AS mapping(),"
            " weight SENSITIVE AS graded_grouping(bands => 3), ward NEUTRAL AS mapping())"
        )
        statistics, checks = asked
        assert statistics.count('"clinic"."people"') == 1
        assert checks.count('"clinic"."people"') == 1
        assert 'AS "t1_0_categories"' in statistics
        assert 'AS "t4_0_high"' in statistics
        assert 'AS "t0_0_pseudonyms"' in checks

    def test_kept_columns_are_read_once_to_count_rows(
        self, people: Owner, asked: list[str]
    ) -> None:
        people.execute("CREATE RELEASE r.p FROM clinic.people (age QUASI, ward NEUTRAL)")
        assert len(asked) == 1
        assert 'COUNT(*) AS "rows"' in asked[0]
        assert 'APPROX_COUNT_DISTINCT("s"."ward")' in asked[0]  # does it name persons?

    def test_each_stage_asks_for_itself(self, people: Owner, asked: list[str]) -> None:
        people.execute(
            "CREATE RELEASE r.p FROM clinic.people ("
            " illness SENSITIVE AS mapping() THEN mapping() THEN keep(),"
            " age QUASI AS keep() THEN graded_grouping(bands => 2) THEN keep())"
        )
        # Statistics of both stages, the checks of the bands; nobody asks in the third stage.
        assert len(asked) == 3
        assert 'AS "t0_0_categories"' in asked[0]
        assert 'AS "t0_1_categories"' in asked[1]
        assert 'AS "t1_1_high"' in asked[1]
        assert 'AS "t1_1_outside"' in asked[2]

    def test_refresh_reads_as_often(self, people: Owner, asked: list[str]) -> None:
        people.execute(
            "CREATE RELEASE r.p FROM clinic.people"
            " (illness SENSITIVE AS mapping(), age QUASI AS graded_grouping(bands => 2))"
        )
        first = len(asked)
        people.execute("REFRESH RELEASE r.p")
        assert len(asked) == 2 * first == 4


class TestExplain:
    """EXPLAIN RELEASE is text for people and other engines."""

    def test_an_unknown_engine_is_an_error(self, people: Owner) -> None:
        people.execute("CREATE RELEASE r.p FROM clinic.people (age QUASI)")
        with pytest.raises(BindError, match="unknown engine 'oracle'") as caught:
            people.execute("EXPLAIN RELEASE r.p FOR oracle")
        assert "duckdb" in (caught.value.hint or "")

    def test_a_file_as_source(self, people: Owner, tmp_path: Path) -> None:
        path = tmp_path / 'it\'s "data".csv'
        path.write_text("age,ward\n30,A\n40,B\n")
        quoted = str(path).replace("'", "''")
        people.execute(
            f"CREATE RELEASE r.p FROM '{quoted}' (age QUASI AS graded_grouping(bands => [0, 50]),"
            " ward QUASI AS mapping('W'))"
        )
        text = people.explain("r.p")
        assert "ppdm_store" not in text
        rows = people.connection.execute(text).fetchall()
        assert sorted(age for age, _ in rows) == [1.6, 1.8]
        assert {ward for _, ward in rows} == {"W_1", "W_2"}

    def test_another_database_keeps_its_name(self, people: Owner) -> None:
        people.execute(
            "ATTACH ':memory:' AS lake; CREATE TABLE lake.main.t (x INTEGER);"
            "INSERT INTO lake.main.t VALUES (7);"
            "CREATE RELEASE r.p FROM lake.main.t (x NEUTRAL)"
        )
        assert '"lake"."main"."t"' in people.explain("r.p")


# Names that the compiler uses itself: as columns of a source they must mean the source's.
OWN_NAMES = (
    *("s", "p", "m0", "m1", "original", "released", "rows", "keys"),
    *("t0_0_c0", "t1_0_c0", "t0_0_key", "t0_0_prefix", "t1_0_low_1", "t1_0_i0", "t1_0_o0"),
)


@pytest.mark.parametrize("chain", ["", " THEN keep()"], ids=["one stage", "two stages"])
@pytest.mark.parametrize("treatment", ["mapping()", "pseudonym()", "keep()"])
def test_columns_may_be_called_as_the_compiler_calls_its_own(
    people: Owner, treatment: str, chain: str
) -> None:
    names = [f'"{name}"' for name in OWN_NAMES]
    columns = ", ".join(f"{name} VARCHAR" for name in names)
    rules = ", ".join(f"{name} QUASI AS {treatment}{chain}" for name in names)
    values = ", ".join("i || ' of ' || " + name.replace('"', "'") for name in names)
    people.execute(
        f"CREATE TABLE t ({columns}, y INTEGER); INSERT INTO t SELECT {values}, i FROM range(3) r(i);"
        f"CREATE RELEASE r.t FROM t ({rules}, y NEUTRAL{chain.replace(' THEN', ' AS')})"
    )
    rows = people.sql("FROM r.t ORDER BY y").fetchall()
    assert [row[-1] for row in rows] == [0, 1, 2]
    for name, found in zip(OWN_NAMES, zip(*rows, strict=True), strict=False):
        if treatment == "keep()":
            assert list(found) == [f"{i} of {name}" for i in range(3)]
        elif treatment == "mapping()":
            assert set(found) == {f"{name}_{i + 1}" for i in range(3)}
        else:
            assert len(set(found)) == 3
            assert {len(value) for value in found} == {16}


@pytest.mark.parametrize("chain", ["", " THEN keep()"], ids=["one stage", "two stages"])
def test_numbers_may_be_called_as_the_compiler_calls_its_own(people: Owner, chain: str) -> None:
    names = [f'"{name}"' for name in OWN_NAMES]
    columns = ", ".join(f"{name} INTEGER" for name in names)
    treatment = f"graded_grouping(bands => [0, 10]){chain}"
    rules = ", ".join(f"{name} QUASI AS {treatment}" for name in names)
    values = ", ".join(str(i % 10) for i, _ in enumerate(names))
    people.execute(
        f"CREATE TABLE t ({columns}); INSERT INTO t VALUES ({values});"
        f"CREATE RELEASE r.t FROM t ({rules})"
    )
    (row,) = people.sql("FROM r.t").fetchall()
    assert list(row) == [1 + i % 10 / 10 for i, _ in enumerate(names)]


@pytest.mark.parametrize("name", ["ppdm_t1_0_0", "PPDM_T1_0_0"])
def test_a_column_called_as_a_computed_one_is_refused_or_right(people: Owner, name: str) -> None:
    people.execute(
        f'CREATE TABLE t ("{name}" DOUBLE, y INTEGER); INSERT INTO t VALUES (77, 0), (78, 10)'
    )
    try:
        people.execute(
            f'CREATE RELEASE r.t FROM t ("{name}" NEUTRAL,'
            " y QUASI AS graded_grouping(bands => [0, 10], outside => 'null'))"
        )
    except Refused:
        return
    rows = people.sql(f'SELECT "{name}", y FROM r.t ORDER BY 1').fetchall()
    assert rows == [(77, 1), (78, 1.999)]
