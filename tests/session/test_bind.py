"""Binding: every name resolved, every mistake of names and roles found before anything is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, EngineError, PpdmError, Refused, TreatmentError
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease, FileSource, QuerySource, Role, TableSource
from ppdm_sql.names import Name, QualifiedName
from ppdm_sql.release.bind import bind_release
from ppdm_sql.release.model import Relation, SourceColumn
from ppdm_sql.release.sources import Sources
from ppdm_sql.store.opening import open_database
from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, ColumnType
from tests.conftest import PEOPLE
from tests.releases import bind_clause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.language.syntax import Source
    from ppdm_sql.owner import Owner
    from ppdm_sql.release.model import Release

_PEOPLE = {"id": "BIGINT", "name": "VARCHAR", "Age": "INTEGER", "weight": "DOUBLE", "é": "VARCHAR"}


@dataclass
class Catalog:
    """A catalog of a few tables, in which every source has the columns of the people."""

    tables: set[str] = field(default_factory=lambda: {"ppdm_store.clinic.people"})
    temporary: set[str] = field(default_factory=set)
    key: str | None = None
    behind: tuple[str, ...] = ()
    """The tables that the engine finds behind every source."""

    def columns(self, source: Source) -> tuple[SourceColumn, ...]:
        return tuple(SourceColumn(Name(name), ColumnType(text)) for name, text in _PEOPLE.items())

    def resolve(self, name: QualifiedName) -> Relation | None:
        for table in self.tables | self.temporary:
            full = QualifiedName.of(*table.split("."))
            if full.parts[-len(name.parts) :] == name.parts:
                return Relation(full, table in self.temporary)
        return None

    def check_query(self, source: QuerySource) -> None:
        pass

    def base_tables(self, source: Source) -> tuple[QualifiedName, ...]:
        return tuple(QualifiedName.of(*name.split(".")) for name in self.behind)

    def is_macro(self, name: Name) -> bool:
        return False

    def missing_database(self, name: QualifiedName) -> str | None:
        return None

    def macro_texts(self) -> dict[str, str]:
        return {}

    def is_release(self, name: QualifiedName) -> bool:
        return False

    def primary_key(self, source: Source) -> Name | None:
        return Name(self.key) if self.key else None

    def agreement(self, name: Name) -> None:
        return None

    def agreement_names(self) -> tuple[str, ...]:
        return ()

    def relation_names(self) -> tuple[str, ...]:
        return tuple(table.split(".", 1)[1] for table in sorted(self.tables))


def bind(
    rules: str,
    source: str = "clinic.people",
    name: str = "research.r",
    options: str = "",
    catalog: Catalog | None = None,
    treatments: Sequence[type[Treatment]] = TREATMENTS,
) -> Release:
    (statement,) = parse_script(f"CREATE RELEASE {name} FROM {source} ({rules}) {options}")
    assert isinstance(statement, CreateRelease)
    return bind_release(statement, catalog or Catalog(), treatments, bind_clause)


def test_a_release_has_its_source_in_full() -> None:
    release = bind("name NEUTRAL", source="People")
    assert release.name == QualifiedName.of("research", "r")
    assert release.source == TableSource(QualifiedName.of("ppdm_store", "clinic", "people"))
    assert release.execution == "native"
    assert release.row_key is None


def test_columns_are_found_without_regard_to_case_and_leave_as_the_script_spells_them() -> None:
    (rule,) = bind("(AGE, Weight) QUASI").rules
    assert [column.name.text for column in rule.columns] == ["Age", "weight"]
    assert [name.text for name in rule.names] == ["AGE", "Weight"]
    assert [str(type_) for type_ in rule.output_types] == ["INTEGER", "DOUBLE"]


def test_only_ascii_letters_are_found_without_regard_to_case() -> None:
    assert bind("é NEUTRAL").rules[0].names == (Name("é"),)
    with pytest.raises(BindError, match="there is no column"):
        bind("É NEUTRAL")


def test_what_stays_has_no_treatment_and_what_leaves_untreated_is_kept() -> None:
    release = bind("id KEY, name IDENTIFIER, age QUASI, weight SENSITIVE, é NEUTRAL AS suppress()")
    assert [rule.is_released for rule in release.rules] == [False, False, True, True, True]
    words = [[step.treatment.keyword for step in rule.steps] for rule in release.rules]
    assert words == [[], [], ["keep"], ["keep"], ["suppress"]]
    assert [rule.role for rule in release.released_rules] == [
        Role.QUASI,
        Role.SENSITIVE,
        Role.NEUTRAL,
    ]


def test_a_key_with_a_treatment_leaves() -> None:
    (rule,) = bind("id KEY AS pseudonym()").released_rules
    assert rule.role is Role.KEY


def test_a_chain_gives_each_treatment_what_the_one_before_returns() -> None:
    # mapping makes text of a number; graded_grouping takes numbers only.
    with pytest.raises(PpdmError, match="VARCHAR") as caught:
        bind("age QUASI AS mapping() THEN graded_grouping(3)")
    assert caught.value.span is not None
    assert caught.value.span.source == "graded_grouping(3)"
    release = bind("age QUASI AS graded_grouping(3) THEN keep(), name NEUTRAL")
    assert release.depth == 2
    assert [len(list(release.stage(stage))) for stage in range(3)] == [2, 1, 0]


def test_every_treatment_has_a_place_of_its_own() -> None:
    release = bind("age QUASI AS keep() THEN keep(), weight QUASI AS keep(), name NEUTRAL")
    slots = [step.slot for rule in release.rules for step in rule.steps]
    assert len(slots) == len(set(slots)) == 4


def test_options_choose_the_execution() -> None:
    assert bind("name NEUTRAL", options="WITH (EXECUTION = 'udf')").execution == "udf"
    assert bind("name NEUTRAL", options="WITH (execution = 'native')").execution == "native"


@pytest.mark.parametrize("text", ["'UDF'", "1", "true", "null", "[]", "['udf']", "udf()"])
def test_an_option_with_another_value_is_an_error(text: str) -> None:
    with pytest.raises(BindError, match="must be one of 'native', 'udf'") as caught:
        bind("name NEUTRAL", options=f"WITH (execution = {text})")
    assert caught.value.span is not None
    assert caught.value.span.source == f"execution = {text}"


@pytest.mark.parametrize(
    ("rules", "kind", "what", "at"),
    [
        ("id KEY, name KEY, age QUASI", BindError, "one KEY column", "name KEY"),
        ("id KEY, name KEY, age KEY", BindError, "one KEY column", "age KEY"),
        ("(id, name) KEY, age QUASI", BindError, "one KEY column", "(id, name) KEY"),
        ("name IDENTIFIER AS keep(), id KEY", BindError, "takes no treatment", "keep()"),
        ("id KEY, name IDENTIFIER", BindError, "the release contains no columns", "research.r"),
        ("nme NEUTRAL", BindError, "there is no column 'nme' in 'clinic.people'", "nme"),
        ("(age, wieght) QUASI", BindError, "there is no column 'wieght'", "wieght"),
        ("nme IDENTIFIER, id NEUTRAL", BindError, "there is no column 'nme'", "nme"),
        ("age QUASI, AGE NEUTRAL", BindError, "column 'AGE' is listed twice", "AGE"),
        ("(age, age) QUASI", BindError, "column 'age' is listed twice", "age"),
        ("name IDENTIFIER, name NEUTRAL", BindError, "column 'name' is listed twice", "name"),
        ("age QUASI AS blur(1)", BindError, "unknown treatment 'blur' for column 'Age'", "blur"),
        ("(age, id) QUASI AS Blur()", BindError, "unknown treatment 'blur' for column", "Blur"),
        ("age QUASI AS keep() THEN blur()", BindError, "unknown treatment 'blur'", "blur"),
        ("weight QUASI AS noise(normal(0, 1))", BindError, "needs a row key", "noise("),
    ],
)
def test_a_mistake_in_the_list_of_columns(
    rules: str, kind: type[PpdmError], what: str, at: str
) -> None:
    with pytest.raises(kind) as caught:
        bind(rules)
    assert what in caught.value.what
    assert caught.value.hint
    assert caught.value.span is not None
    assert caught.value.span.source.startswith(at)


@pytest.mark.parametrize(
    ("source", "called"),
    [("CLINIC.people", "'CLINIC.people'"), ("'x.csv'", "the file"), ("(SELECT 1)", "the SELECT")],
)
def test_a_missing_column_is_missing_in_the_source_as_the_script_calls_it(
    source: str, called: str
) -> None:
    with pytest.raises(BindError) as caught:
        bind("nme NEUTRAL", source=source)
    assert caught.value.what == f"there is no column 'nme' in {called}"
    # The names of a file may be its first row.
    listed = "did you mean 'name'? columns: \"é\", Age, id, name, weight"
    header = "DESCRIBE FROM 'file' lists its columns; is its first line a header?"
    assert caught.value.hint == (header if source == "'x.csv'" else listed)


def test_the_second_of_two_equal_columns_is_pointed_at() -> None:
    with pytest.raises(BindError) as caught:
        bind("age QUASI,\n age NEUTRAL")
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize(
    ("name", "kind", "hint"),
    [
        ("study.research.r", BindError, "write research.r"),
        ("ppdm_store.research.r", BindError, "write research.r"),
        ('a."b c"."D"', BindError, 'write "b c".D'),
        ("ppdm_owner.r", Refused, "name another schema"),
        ('"PPDM_Owner".r', Refused, "name another schema"),
    ],
)
def test_a_release_cannot_live_anywhere(name: str, kind: type[PpdmError], hint: str) -> None:
    with pytest.raises(kind) as caught:
        bind("name NEUTRAL", name=name)
    assert caught.value.hint == hint
    assert caught.value.span is not None
    assert caught.value.span.source == name


@pytest.mark.parametrize(
    ("source", "kind", "what"),
    [
        ("clinic.poeple", BindError, "there is no table or view 'clinic.poeple'"),
        ("visitors", BindError, "'visitors' is temporary"),
        ("(SELECT * FROM visitors)", BindError, "'visitors' is temporary"),
        ("(SELECT * FROM clinic.people, visitors)", BindError, "'visitors' is temporary"),
        ("ppdm_owner.store", Refused, "nothing is released from the owner's store"),
        ("store", Refused, "nothing is released from the owner's store"),
        ("(FROM PPDM_OWNER.store)", Refused, "nothing is released from the owner's store"),
        ("(FROM ppdm_store.ppdm_owner.gone)", Refused, "nothing is released from"),
        ("(SELECT 1 AS id FROM (FROM store))", Refused, "nothing is released from"),
        ("(WITH c AS (FROM store) FROM c)", Refused, "nothing is released from"),
        ("(SELECT (SELECT 1 FROM store) AS id)", Refused, "nothing is released from"),
        ("(SELECT 1 AS id UNION SELECT 1 FROM store)", Refused, "nothing is released from"),
        ("research.r", BindError, "a release cannot be its own source"),
        ("(SELECT * FROM research.R)", BindError, "a release cannot be its own source"),
        ("'people.txt'", BindError, "read as Parquet or CSV by the end of its name"),
        ("'people'", BindError, "read as Parquet or CSV by the end of its name"),
        ("''", BindError, "read as Parquet or CSV by the end of its name"),
        ("'people.csv.exe'", BindError, "read as Parquet or CSV by the end of its name"),
    ],
)
def test_a_mistake_in_the_source(source: str, kind: type[PpdmError], what: str) -> None:
    catalog = Catalog(
        {"ppdm_store.clinic.people", "ppdm_store.ppdm_owner.store", "ppdm_store.research.r"},
        {"temp.main.visitors"},
    )
    with pytest.raises(kind) as caught:
        bind("id NEUTRAL", source=source, catalog=catalog)
    assert what in caught.value.what
    assert caught.value.span is not None
    assert caught.value.span.source == source


def test_a_cte_may_be_called_like_a_table_of_the_store() -> None:
    catalog = Catalog({"ppdm_store.clinic.people", "ppdm_store.ppdm_owner.store"})
    bind("id NEUTRAL", source="(WITH store AS (FROM clinic.people) FROM store)", catalog=catalog)


def test_a_name_is_a_cte_only_where_the_cte_is_seen() -> None:
    catalog = Catalog({"ppdm_store.clinic.people", "ppdm_store.ppdm_owner.store"})
    hidden = "(FROM store WHERE EXISTS (WITH store AS (SELECT 1) FROM store))"
    with pytest.raises(Refused):
        bind("id NEUTRAL", source=hidden, catalog=catalog)


def test_another_release_of_the_same_name_in_another_database_is_a_source() -> None:
    catalog = Catalog({"other.research.r"})
    release = bind("id NEUTRAL", source="other.research.r", catalog=catalog)
    assert release.source == TableSource(QualifiedName.of("other", "research", "r"))


@pytest.mark.parametrize(
    "path", ["people.csv", "People.CSV", "a b.parquet", "data/*.tsv", "people.csv.gz", "x.tsv.zst"]
)
def test_a_file_is_written_out_from_the_root(path: str) -> None:
    source = bind("id NEUTRAL", source=f"'{path}'").source
    assert source == FileSource(str(Path.cwd() / path))


@pytest.mark.parametrize("path", ["/data/people.csv", "s3://bucket/people.parquet"])
def test_a_file_that_is_already_complete_stays(path: str) -> None:
    assert bind("id NEUTRAL", source=f"'{path}'").source == FileSource(path)


def test_the_tables_of_a_select_are_written_out() -> None:
    release = bind(
        "id NEUTRAL",
        source="(SELECT 'people', p.id FROM /* people */ People  AS p, unknown u\n JOIN clinic.people"
        " USING(id) WHERE EXISTS (WITH people AS (SELECT 1) FROM people))",
    )
    assert isinstance(release.source, QuerySource)
    full = '"ppdm_store"."clinic"."people"'
    assert release.source.text == (
        f"SELECT 'people', p.id FROM /* people */ {full}  AS p, unknown u\n JOIN {full}"
        " USING(id) WHERE EXISTS (WITH people AS (SELECT 1) FROM people)"
    )


def test_the_statement_itself_is_not_changed_by_binding() -> None:
    (statement,) = parse_script("CREATE RELEASE r FROM (SELECT id FROM people) (id NEUTRAL)")
    assert isinstance(statement, CreateRelease)
    assert isinstance(statement.source, QuerySource)
    bind_release(statement, Catalog(), TREATMENTS, bind_clause)
    assert statement.source.text == "SELECT id FROM people"


def test_a_treatment_fixed_for_each_row_uses_the_key() -> None:
    release = bind("id KEY, weight SENSITIVE AS noise(normal(0, 1))")
    assert release.row_key is not None
    assert release.row_key.name == Name("id")
    assert release.row_key.identity == release.rules[0].columns[0].identity


def test_without_a_key_it_uses_the_primary_key_although_it_is_not_listed() -> None:
    release = bind("weight SENSITIVE AS noise(normal(0, 1))", catalog=Catalog(key="ID"))
    assert release.row_key is not None
    assert release.row_key.name == Name("id")
    assert [rule.names for rule in release.rules] == [(Name("weight"),)]


@dataclass(frozen=True, slots=True)
class Doubling(Treatment):
    """A treatment that loses track of its columns."""

    keyword = "doubling"
    summary = undone_by = "for a test"

    def output_types(self) -> tuple[ColumnType, ...]:
        return (VARCHAR, VARCHAR)


def test_a_treatment_that_changes_the_number_of_columns_is_told_so() -> None:
    with pytest.raises(TreatmentError, match="doubling: output_types must return one type"):
        bind("age QUASI AS doubling()", treatments=[Keep, Doubling])


def test_only_the_treatments_that_are_given_are_known() -> None:
    with pytest.raises(BindError) as caught:
        bind("age QUASI AS mapping()", treatments=[Keep])
    assert caught.value.hint == "treatments: keep"


@pytest.fixture
def sources() -> Iterator[Sources]:
    """The catalog of a real engine with the people, and a second database."""
    engine = open_database(None)
    engine.connection.execute(PEOPLE)
    engine.connection.execute("ATTACH ':memory:' AS other; CREATE TABLE other.people (id BIGINT)")
    yield Sources(engine)
    engine.close()


def bind_real(sources: Sources, source: str, rules: str = "id NEUTRAL") -> Release:
    (statement,) = parse_script(f"CREATE RELEASE research.r FROM {source} ({rules})")
    assert isinstance(statement, CreateRelease)
    return bind_release(statement, sources, TREATMENTS, bind_clause)


@pytest.mark.parametrize(
    "source",
    [
        "clinic.people",
        "CLINIC.People",
        "ppdm_store.clinic.people",
        "(SELECT id FROM clinic.people)",
        "(SELECT people.id FROM clinic.people)",
        "(SELECT clinic.people.id FROM clinic.people)",
        "(SELECT ppdm_store.clinic.people.id FROM clinic.people)",
        "(SELECT p.id FROM clinic.people AS p)",
        "(SELECT id FROM clinic.people JOIN other.people USING (id))",
        "(SELECT clinic.people.id FROM clinic.people, other.people)",
        "(WITH people AS (SELECT 1 AS id) FROM people)",
        "(WITH c AS (FROM clinic.people) SELECT c.id FROM c)",
        "(FROM clinic.people)",
        "(SELECT id FROM clinic.people GROUP BY id ORDER BY id)",
        "(SELECT id FROM clinic.people GROUP /* by */ BY id)",
        "(SELECT range AS id FROM range(3))",
    ],
)
def test_what_duckdb_can_read_is_a_source(sources: Sources, source: str) -> None:
    assert bind_real(sources, source).rules[0].columns[0].name == Name("id")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM clinic.people FOR UPDATE",
        "SELECT id FROM clinic.people CLUSTER BY id",
        "SELECT id FROM clinic.people LIMIT 1, 2",
        "SELECT id FROM clinic.people AS",
        "SELECT id FROM clinic.people WHERE name RLIKE 'A'",
        "SELECT id INTO copied FROM clinic.people",
        "SELECT id FROM clinic.people GROUP BY ORDER BY id",
    ],
)
def test_what_duckdb_cannot_read_is_an_error(people: Owner, query: str) -> None:
    # sqlglot reads more than DuckDB does, and drops what it does not know how to write.
    with pytest.raises(ppdm_sql.EngineError):
        people.execute(query)
    with pytest.raises(PpdmError):
        people.execute(f"CREATE RELEASE r FROM ({query}) (id NEUTRAL)")


@pytest.mark.parametrize("before", ["", "-- a line\n", "SELECT 'a longer text' AS x;\n" * 9])
@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("SELECT id FROM clinic.people WHERE", "WHERE"),
        ("SELECT id name age FROM clinic.people", "age"),
        ("SELECT id FROM clinic.people\n\tWHERE age > 1 AND AND ward = 'A'", "AND ward"),
        ("SELECT id,\r\n  'é日😀' FRM clinic.people\r\n", "clinic"),
    ],
)
def test_a_mistake_in_a_select_is_pointed_at(
    people: Owner, before: str, query: str, marked: str
) -> None:
    script = f"{before}CREATE RELEASE r FROM ({query}) (id NEUTRAL)"
    with pytest.raises(PpdmError, match="this SELECT cannot be read") as caught:
        people.execute(script)
    assert "\x1b" not in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.source == marked.split()[0]
    assert caught.value.span.start == script.index(query) + query.index(marked)


@pytest.mark.parametrize("query", ["SELECT 1; SELECT 2", "WITH x AS (SELECT 1) DELETE FROM t"])
def test_a_source_in_parentheses_is_one_select(people: Owner, query: str) -> None:
    with pytest.raises(PpdmError):
        people.execute(f"CREATE RELEASE r FROM ({query}) (id NEUTRAL)")


@pytest.mark.parametrize("deep", [50, 500, 5000])
def test_parentheses_as_deep_as_one_likes_are_no_crash(people: Owner, deep: int) -> None:
    query = "(" * deep + "SELECT id FROM clinic.people" + ")" * deep
    try:
        people.execute(f"CREATE RELEASE r FROM ({query}) (id NEUTRAL)")
    except PpdmError:
        return
    assert people.execute("SELECT count(*) FROM r").fetchall() == [(6,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM people",
        "SELECT x'41' AS bytes, id FROM people",
        "SELECT `id` FROM people",
        "SELECT id FROM `people`",
        "SELECT id FROM people GROUP /* by */ BY id",
        "SELECT id FROM query('FROM people')",
    ],
)
def test_a_release_reads_the_table_that_was_checked(people: Owner, query: str) -> None:
    # Of two tables of one name, the view must mean the one that was meant when it was made.
    people.execute("CREATE TABLE main.people AS SELECT 99 AS id; USE clinic")
    try:
        people.execute(f"CREATE RELEASE main.r FROM ({query}) (id NEUTRAL)")
    except PpdmError:
        return  # refused is as good
    people.execute("USE ppdm_store.main")
    assert (99,) not in people.execute("FROM r").fetchall()


@pytest.mark.parametrize(
    "source",
    ["(SELECT nope FROM clinic.people)", "(SELECT id FROM nope)", "'/nowhere/*.csv'"],
)
def test_a_source_that_cannot_be_read_is_pointed_at(sources: Sources, source: str) -> None:
    with pytest.raises(EngineError, match="the source cannot be read") as caught:
        bind_real(sources, source)
    assert caught.value.span is not None
    assert caught.value.span.source == source


@pytest.mark.parametrize(
    "setup",
    [
        "CREATE VIEW innocent AS FROM ppdm_owner.store",
        "CREATE VIEW inner_one AS FROM ppdm_owner.store; CREATE VIEW innocent AS FROM inner_one",
        "CREATE VIEW innocent AS SELECT (SELECT root_key FROM ppdm_owner.store) AS root_key",
    ],
)
@pytest.mark.parametrize("source", ["innocent", "(SELECT root_key FROM innocent)"])
def test_a_view_of_the_store_is_refused_as_the_store_is(
    people: Owner, setup: str, source: str
) -> None:
    people.execute(setup)
    with pytest.raises(Refused, match="owner's store"):
        people.execute(f"CREATE RELEASE r FROM {source} (root_key NEUTRAL)")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT root_key FROM query('FROM ppdm_owner.store')",
        "SELECT root_key FROM query_table('ppdm_owner.store')",
        "SELECT root_key FROM table_macro()",
        "SELECT scalar_macro() AS root_key",
    ],
)
def test_no_function_reads_the_store_for_a_release(people: Owner, query: str) -> None:
    people.execute("CREATE MACRO table_macro() AS TABLE FROM ppdm_owner.store")
    people.execute("CREATE MACRO scalar_macro() AS (SELECT root_key FROM ppdm_owner.store)")
    with pytest.raises(Refused, match="owner's store"):
        people.execute(f"CREATE RELEASE r FROM ({query}) (root_key NEUTRAL)")


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT root_key FROM query('FROM store'))",
        "(SELECT root_key FROM `store`)",
        "(SELECT root_key, x'41' AS unread FROM store)",
        "(SELECT root_key FROM main.macro_in_use())",
    ],
)
def test_no_source_reads_the_store_while_it_is_in_use(people: Owner, source: str) -> None:
    people.execute("USE ppdm_owner; CREATE MACRO main.macro_in_use() AS TABLE FROM store")
    with pytest.raises(Refused, match="owner's store"):
        people.execute(f"CREATE RELEASE main.r FROM {source} (root_key NEUTRAL)")


@pytest.mark.parametrize("source", ["innocent", "(SELECT * FROM innocent)", "(FROM innocent())"])
def test_the_parameters_of_another_release_are_refused_as_the_store_is(
    people: Owner, source: str
) -> None:
    people.execute(
        "CREATE RELEASE first FROM clinic.people"
        " (id KEY AS pseudonym(), ward SENSITIVE AS mapping())"
    )
    kept = people.connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'ppdm_owner'"
        " AND table_name NOT IN ('store', 'releases', 'versions', 'columns')"
    ).fetchall()
    assert {table for table, _ in kept}
    for table, column in kept:
        people.execute(f"CREATE OR REPLACE VIEW innocent AS FROM ppdm_owner.{table}")
        people.execute(f"CREATE OR REPLACE MACRO innocent() AS TABLE FROM ppdm_owner.{table}")
        with pytest.raises(Refused, match="owner's store"):
            people.execute(f'CREATE OR REPLACE RELEASE leak FROM {source} ("{column}" NEUTRAL)')


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ward FROM visitors",
        "SELECT ward FROM `visitors`",
        "SELECT ward FROM query('FROM visitors')",
        "SELECT ward, x'41' AS unread FROM visitors",
    ],
)
def test_a_temporary_table_is_refused_however_it_is_named(people: Owner, query: str) -> None:
    people.execute("CREATE TEMP TABLE visitors AS FROM clinic.people")
    with pytest.raises(PpdmError):
        people.execute(f"CREATE RELEASE r FROM ({query}) (ward NEUTRAL)")


@pytest.mark.parametrize(
    "query", ["FROM r", "FROM `r`", "FROM query('FROM r')", "FROM wards", "SELECT * FROM wards"]
)
def test_a_release_is_not_its_own_source_behind_other_names(people: Owner, query: str) -> None:
    people.execute("CREATE RELEASE r FROM clinic.people (ward NEUTRAL)")
    people.execute("CREATE VIEW wards AS FROM r")
    with pytest.raises(BindError, match="its own source"):
        people.execute(f"CREATE OR REPLACE RELEASE r FROM ({query}) (ward NEUTRAL)")
    assert len(people.execute("FROM r").fetchall()) == 6


@pytest.mark.parametrize("source", ["first", "(SELECT ward FROM first)", "wards"])
def test_a_release_may_be_made_of_another_although_that_reads_the_store(
    people: Owner, source: str
) -> None:
    people.execute("CREATE RELEASE first FROM clinic.people (ward SENSITIVE AS mapping())")
    people.execute("CREATE VIEW wards AS FROM first")
    people.execute(f"CREATE RELEASE second FROM {source} (ward SENSITIVE)")
    rows = people.execute("FROM second ORDER BY ALL").fetchall()
    assert rows == people.execute("FROM first ORDER BY ALL").fetchall()
