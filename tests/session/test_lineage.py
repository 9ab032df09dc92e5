"""A column is the same column through views, subqueries and new names: its keys depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease, FileSource, TableSource
from ppdm_sql.names import Name, QualifiedName
from ppdm_sql.release.bind import bind_release
from ppdm_sql.release.lineage import column_identity
from ppdm_sql.release.model import Relation
from ppdm_sql.release.sources import Sources
from ppdm_sql.store.opening import open_database
from ppdm_sql.treatments import TREATMENTS
from tests.conftest import PEOPLE
from tests.releases import bind_clause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.groups.hierarchy_kinds import Hierarchy
    from ppdm_sql.language.syntax import QuerySource, Source
    from ppdm_sql.owner import Owner
    from ppdm_sql.release.model import SourceColumn

_VIEWS = """
CREATE TABLE clinic.visits (id BIGINT, person BIGINT, age INTEGER);
CREATE VIEW everything AS SELECT * FROM clinic.people;
CREATE VIEW adults AS SELECT id, age AS years, age + 1 AS older FROM clinic.people WHERE age > 30;
CREATE VIEW of_a_view AS SELECT years AS y, id FROM adults;
CREATE VIEW joined AS
    SELECT p.id, v.age AS at_visit, p.* EXCLUDE (id)
    FROM clinic.people AS p JOIN clinic.visits AS v ON v.person = p.id;
CREATE VIEW renamed (number, word) AS SELECT id, name FROM clinic.people;
CREATE VIEW swapped (age, id) AS SELECT id, age FROM clinic.people;
CREATE VIEW relabelled (a, b, c, d, e, f, g) AS FROM clinic.people;
CREATE SCHEMA east; CREATE TABLE east.people (id BIGINT, age INTEGER);
USE clinic; CREATE VIEW clinic.near AS SELECT id FROM people; USE ppdm_store.main;
ATTACH ':memory:' AS other; CREATE TABLE other.people (id BIGINT, age INTEGER);
USE other; CREATE VIEW other.near AS SELECT id FROM people; USE ppdm_store.main;
CREATE TABLE main.people (id BIGINT, age INTEGER);
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    opened = open_database(None)
    opened.connection.execute(PEOPLE + _VIEWS)
    yield opened
    opened.close()


def identity(engine: Engine, source: str, column: str) -> str:
    (statement,) = parse_script(f"CREATE RELEASE research.r FROM {source} ({column} NEUTRAL)")
    assert isinstance(statement, CreateRelease)
    release = bind_release(statement, Sources(engine), TREATMENTS, bind_clause)
    return release.rules[0].columns[0].identity


@pytest.mark.parametrize(
    ("source", "column", "original"),
    [
        ("CLINIC.People", "ID", "id"),
        ("ppdm_store.clinic.people", "id", "id"),
        ("everything", "age", "age"),
        ("adults", "years", "age"),
        ("of_a_view", "y", "age"),
        ("of_a_view", "id", "id"),
        ("joined", "id", "id"),
        ("joined", "ward", "ward"),
        ("(SELECT id FROM clinic.people)", "id", "id"),
        ("(SELECT ID FROM Clinic.People)", "id", "id"),
        ('(SELECT "AGE" AS "Years" FROM clinic.people)', "years", "age"),
        ("(SELECT age y FROM clinic.people)", "y", "age"),
        ("(SELECT years: age FROM clinic.people)", "years", "age"),
        ("(SELECT p.age AS x FROM clinic.people AS p)", "x", "age"),
        ("(SELECT people.age AS x FROM clinic.people)", "x", "age"),
        ("(SELECT * FROM clinic.people)", "age", "age"),
        ("(FROM clinic.people)", "age", "age"),
        ("(SELECT p.* FROM clinic.people AS p)", "age", "age"),
        ("(SELECT * EXCLUDE (name) FROM clinic.people)", "age", "age"),
        ("(SELECT DISTINCT age FROM clinic.people ORDER BY age LIMIT 3)", "age", "age"),
        ("(SELECT x FROM (SELECT age AS x FROM clinic.people))", "x", "age"),
        ("(SELECT s.x AS z FROM (SELECT age AS x FROM clinic.people) AS s)", "z", "age"),
        ("(SELECT * FROM (SELECT * FROM everything))", "age", "age"),
        ("(SELECT y FROM of_a_view)", "y", "age"),
        (
            "(SELECT a.id, b.age AS x FROM clinic.visits a JOIN clinic.people b ON a.person = b.id)",
            "x",
            "age",
        ),
        ("(SELECT v.id AS visit, p.* FROM clinic.visits v, clinic.people p)", "ward", "ward"),
        ("(SELECT id AS age, age AS id FROM clinic.people)", "age", "id"),
        ("(SELECT *, age AS twice FROM clinic.people)", "twice", "age"),
    ],
)
def test_a_column_is_followed_to_its_table(
    engine: Engine, source: str, column: str, original: str
) -> None:
    assert identity(engine, source, column) == identity(engine, "clinic.people", original)


@pytest.mark.parametrize(
    ("source", "column", "original"),
    [
        ("renamed", "number", "id"),
        ("renamed", "word", "name"),
        ("swapped", "age", "id"),
        ("swapped", "id", "age"),
        ("relabelled", "c", "age"),
        ("(SELECT b FROM clinic.people AS p(a, b))", "b", "name"),
        ("(SELECT age FROM clinic.people AS p(age))", "age", "id"),
        ("(SELECT x FROM (SELECT age FROM clinic.people) AS s(x))", "x", "age"),
        ("(SELECT * RENAME (age AS years) FROM clinic.people)", "years", "age"),
        ("(SELECT p.* RENAME (age AS years) FROM clinic.people AS p)", "years", "age"),
        ("(SELECT p.* RENAME (age AS id, id AS age) FROM clinic.people AS p)", "id", "age"),
    ],
)
def test_a_column_renamed_from_outside_is_never_taken_for_another(
    engine: Engine, source: str, column: str, original: str
) -> None:
    """Followed, or not followed at all: but never another column's identity."""
    found = identity(engine, source, column)
    assert found in (identity(engine, "clinic.people", original), f'column:"{column}"')


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("(WITH c AS (SELECT * FROM clinic.people) SELECT age FROM c)", "age"),
        ("((SELECT age FROM clinic.people))", "age"),
        ("(SELECT age FROM ((SELECT age FROM clinic.people)))", "age"),
        ("(SELECT (age) AS age FROM clinic.people)", "age"),
        ("(SELECT * REPLACE (upper(name) AS name) FROM clinic.people)", "age"),
    ],
)
def test_what_is_easy_for_a_person_to_follow_is_followed(
    engine: Engine, source: str, column: str
) -> None:
    # Otherwise a second release made this way would have other pseudonyms and other noise.
    assert identity(engine, source, column) == identity(engine, "clinic.people", column)


@pytest.mark.parametrize(
    ("source", "column", "original"),
    [
        ("(WITH a AS (FROM clinic.people), b AS (SELECT age AS x FROM a) FROM b)", "x", "age"),
        ("(WITH people AS (SELECT age AS id FROM clinic.people) FROM people)", "id", "age"),
        ("(SELECT y FROM (WITH a AS (FROM clinic.people) SELECT age AS y FROM a))", "y", "age"),
        ("(WITH a AS (FROM clinic.people) SELECT s.z FROM (SELECT age AS z FROM a) s)", "z", "age"),
        ("(SELECT * EXCLUDE (age), weight AS age FROM clinic.people)", "age", "weight"),
        ("(SELECT p.* EXCLUDE (age), p.weight AS age FROM clinic.people p)", "age", "weight"),
        (
            "(SELECT p.age AS x FROM (clinic.people AS p JOIN clinic.visits v ON v.person = p.id))",
            "x",
            "age",
        ),
    ],
)
def test_a_column_is_followed_through_ctes_and_stars(
    engine: Engine, source: str, column: str, original: str
) -> None:
    assert identity(engine, source, column) == identity(engine, "clinic.people", original)


@pytest.mark.parametrize(
    ("source", "column", "wrong"),
    [
        ("(WITH c(age) AS (SELECT id FROM clinic.people) FROM c)", "age", "age"),
        ("(WITH c(age, id) AS (SELECT id, age FROM clinic.people) FROM c)", "id", "id"),
        ("(WITH RECURSIVE c AS (SELECT 1 AS age UNION SELECT 2 FROM c) FROM c)", "age", "age"),
        ("(SELECT x.age FROM clinic.people p, (SELECT 1 AS age) x)", "age", "age"),
    ],
)
def test_a_column_is_never_taken_for_one_it_is_not(
    engine: Engine, source: str, column: str, wrong: str
) -> None:
    assert identity(engine, source, column) != f'table:"ppdm_store"."clinic"."people"."{wrong}"'


def test_a_view_means_the_tables_of_its_own_schema(engine: Engine) -> None:
    expected = identity(engine, "clinic.people", "id")
    assert identity(engine, "clinic.near", "id") == expected
    engine.connection.execute("USE east")
    try:
        assert identity(engine, "clinic.near", "id") == expected
    finally:
        engine.connection.execute("USE ppdm_store.main")


def test_a_view_of_another_database_means_the_tables_of_that_database(engine: Engine) -> None:
    assert identity(engine, "other.near", "id") == identity(engine, "other.people", "id")


def test_the_schema_in_use_does_not_change_an_identity(engine: Engine) -> None:
    expected = identity(engine, "clinic.people", "id")
    engine.connection.execute("USE clinic")
    try:
        assert identity(engine, "people", "id") == expected
        assert identity(engine, "(SELECT id FROM people)", "id") == expected
    finally:
        engine.connection.execute("USE ppdm_store.main")


def test_different_columns_are_different(engine: Engine) -> None:
    found = [
        identity(engine, source, column)
        for source, column in [
            ("clinic.people", "id"),
            ("clinic.people", "age"),
            ("clinic.visits", "id"),
            ("clinic.visits", "age"),
            ("east.people", "id"),
            ("other.people", "id"),
        ]
    ]
    assert len(set(found)) == len(found)
    assert identity(engine, "joined", "at_visit") == identity(engine, "clinic.visits", "age")
    assert identity(engine, "joined", "age") == identity(engine, "clinic.people", "age")


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("adults", "older"),
        ("(SELECT age + 0 AS older FROM clinic.people)", "older"),
        ("(SELECT CAST(age AS BIGINT) AS older FROM clinic.people)", "older"),
        ("(SELECT max(age) AS older FROM clinic.people)", "older"),
        ("(SELECT 5 AS older)", "older"),
        ("(SELECT years AS older FROM adults, clinic.visits)", "older"),
        ("(SELECT range AS older FROM range(3))", "older"),
        ("(SELECT OLDER FROM adults)", "Older"),
    ],
)
def test_an_expression_is_known_by_its_name_alone(engine: Engine, source: str, column: str) -> None:
    assert identity(engine, source, column) == 'column:"older"'


def test_a_replaced_column_is_an_expression(engine: Engine) -> None:
    source = "(SELECT * REPLACE (age + 1 AS age) FROM clinic.people)"
    assert identity(engine, source, "age") == 'column:"age"'


def test_a_file_is_known_by_its_own_name_wherever_it_lies() -> None:
    catalog = Nothing()
    one, same, other = (
        column_identity(catalog, FileSource(path), Name("Age"))
        for path in ("/data/people.csv", "/backup/people.csv", "/data/visits.csv")
    )
    assert one == same == 'file:"people.csv"."age"'
    assert other != one


def test_odd_names_cannot_be_mistaken_for_others() -> None:
    # Dots and quotes are part of a name, not of the identity's own grammar.
    catalog = Tables()
    found = {
        column_identity(catalog, TableSource(QualifiedName.of(*parts)), Name(column))
        for *parts, column in [
            ("c", "s", "t", "a"),
            ("c", "s", "t.a", "b"),
            ("c", "s", "t", "a.b"),
            ("c", "s", 't"."a', "b"),
            ("c", "s.t", "a", "b"),
        ]
    }
    assert len(found) == 5


class Nothing:
    """A catalog without tables."""

    def columns(self, source: Source) -> tuple[SourceColumn, ...]:
        return ()

    def resolve(self, name: QualifiedName) -> Relation | None:
        return None

    def check_query(self, source: QuerySource) -> None:
        pass

    def base_tables(self, source: Source) -> tuple[QualifiedName, ...]:
        return ()

    def is_macro(self, name: Name) -> bool:
        return False

    def missing_database(self, name: QualifiedName) -> str | None:
        return None

    def macro_texts(self) -> dict[str, str]:
        return {}

    def is_release(self, name: QualifiedName) -> bool:
        return False

    def primary_key(self, source: Source) -> Name | None:
        return None

    def agreement(self, name: Name) -> None:
        return None

    def agreement_names(self) -> tuple[str, ...]:
        return ()

    def relation_names(self) -> tuple[str, ...]:
        return ()

    def hierarchy(self, name: Name) -> Hierarchy | None:
        return None

    def hierarchy_names(self) -> tuple[str, ...]:
        return ()


class Tables(Nothing):
    """A catalog in which every name is a table."""

    def resolve(self, name: QualifiedName) -> Relation | None:
        return Relation(name, is_temporary=False)


class Views(Nothing):
    """A catalog with one view, of any text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def resolve(self, name: QualifiedName) -> Relation | None:
        return Relation(name, is_temporary=False, view_sql=self._text)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE VIEW v AS SELECT a FROM v;",  # of itself: followed only so deep
        "CREATE VIEW v AS SELECT a FROM (SELECT a FROM (FROM v));",
        "CREATE VIEW v AS SELECT (",  # a text that sqlglot cannot read
        "SELECT a FROM t",
        "CREATE VIEW v AS VALUES (1)",
        "PRAGMA version",
        "",
    ],
)
def test_a_view_that_cannot_be_followed_ends_in_the_name(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = TableSource(QualifiedName.of("c", "s", "v"))
    assert column_identity(Views(text), source, Name("A")) == 'column:"a"'
    assert caplog.messages == []


def test_a_table_that_is_not_there_ends_in_the_name() -> None:
    source = TableSource(QualifiedName.of("gone"))
    assert column_identity(Nothing(), source, Name("A")) == 'column:"a"'


def test_pseudonyms_are_the_same_in_a_release_through_a_view(people: Owner) -> None:
    people.execute("CREATE VIEW staff AS SELECT id AS number, name FROM clinic.people")
    people.execute("CREATE RELEASE direct FROM clinic.people (id KEY AS pseudonym())")
    people.execute("CREATE RELEASE viewed FROM staff (number KEY AS pseudonym())")
    people.execute(
        "CREATE RELEASE queried FROM (SELECT s.number AS n FROM staff AS s) (n KEY AS pseudonym())"
    )
    people.execute("CREATE RELEASE another FROM clinic.people (age KEY AS pseudonym())")
    direct, viewed, queried, another = (
        people.execute(f"FROM {release} ORDER BY ALL").fetchall()
        for release in ("direct", "viewed", "queried", "another")
    )
    assert direct == viewed == queried
    assert not set(direct) & {row for row in another if row[0] is not None}
