"""What must not be seen: bands, prefixes, constants, categories, keys and raw values.

Canaries are planted in the data and in the definition of a release; then every place is searched
where somebody could come across them. What the owner writes in a script may be shown to the owner
in the line of an error of that same script, and nowhere else.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import sys
import warnings
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql import PpdmError
from ppdm_sql.cli import main
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import DescribeRelease, ExplainRelease, RefreshRelease
from ppdm_sql.lifecycle import describe as answers
from ppdm_sql.lifecycle.release import refresh_release
from ppdm_sql.names import QualifiedName
from ppdm_sql.store import catalog
from tests.attack import canaries
from tests.attack.canaries import ALL, RELEASE, TABLE, everything_shown, found_in, plant, secrets_of
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

NAME = QualifiedName.of("research", "people")


@pytest.fixture
def planted(owner: Owner) -> Owner:
    plant(owner)
    return owner


@pytest.fixture(scope="module")
def planted_once() -> Iterator[Owner]:
    """For tests that only look."""
    with ppdm_sql.connect(":memory:") as owner:
        plant(owner)
        owner.execute("REFRESH RELEASE research.people")
        yield owner


def rows_of(owner: Owner, query: str) -> str:
    return "\n".join(map(repr, owner.connection.execute(query).fetchall()))


def test_canaries_are_found_where_they_are(planted: Owner) -> None:
    """The search itself works: the owner's tables are full of them."""
    text = rows_of(planted, "FROM ppdm_owner.versions")
    text += rows_of(planted, "FROM ppdm_owner.r1_v1_parameters")
    text += rows_of(planted, "FROM ppdm_owner.r1_v1_t6_0_aliases")
    text += rows_of(planted, "FROM clinic.people") + rows_of(planted, "FROM ppdm_owner.store")
    assert set(found_in(text, ALL)) == set(ALL)
    assert len(found_in(text, secrets_of(planted))) > len(ALL)


# Catalogs and plans


CATALOGS = [
    "SELECT sql FROM duckdb_views()",
    "SELECT * FROM duckdb_views() WHERE NOT internal",
    "SELECT sql FROM sqlite_master",
    "SELECT view_definition FROM information_schema.views",
    "SELECT definition FROM pg_catalog.pg_views",
    "SELECT pg_get_viewdef(oid) FROM pg_catalog.pg_class WHERE relkind = 'v'",
    "SELECT * FROM duckdb_functions() WHERE NOT internal",
    "SELECT macro_definition, description, examples FROM duckdb_functions()",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_columns() WHERE NOT internal",
    "SELECT * FROM duckdb_constraints()",
    "SELECT * FROM duckdb_sequences()",
    "SELECT * FROM duckdb_types() WHERE NOT internal",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_variables()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM duckdb_indexes()",
    "SELECT * FROM duckdb_dependencies()",
    "SELECT * FROM duckdb_prepared_statements()",
    "SELECT * FROM duckdb_logs()",
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM pg_catalog.pg_attrdef",
    "SELECT * FROM pg_catalog.pg_description",
    "SHOW ALL TABLES",
    "DESCRIBE research.people",
    "SELECT * FROM duckdb_temporary_files()",
    "SELECT * FROM duckdb_secrets()",
]


@pytest.mark.parametrize("query", CATALOGS)
def test_no_catalog_tells_a_secret(planted_once: Owner, query: str) -> None:
    assert found_in(rows_of(planted_once, query), secrets_of(planted_once)) == []


def test_the_text_of_a_release_of_python_functions_tells_no_secret(owner: Owner) -> None:
    owner.execute(TABLE)
    owner.execute(f"{RELEASE} WITH (execution = 'udf')")
    text = rows_of(owner, "SELECT sql FROM duckdb_views()") + owner.explain("research.people")
    assert "ppdm_" in text
    assert found_in(text, secrets_of(owner)) == []


def test_explain_release_tells_no_secret(planted: Owner) -> None:
    text = planted.explain("research.people")
    text += rows_of(planted, "FROM duckdb_views()")
    text += str(planted.execute("EXPLAIN RELEASE research.people").fetchall())
    assert found_in(text, secrets_of(planted)) == []


QUERIES = [
    "SELECT * FROM research.people",
    "SELECT illness, count(*) FROM research.people GROUP BY ALL",
    "SELECT * FROM research.people WHERE illness IS NOT NULL",
    "SELECT * FROM research.people WHERE illness = 'Zyxwv' || 'ish_1'",
    "SELECT * FROM research.people WHERE weight > 1.5 AND income < 100",
    "SELECT max(weight), min(income), sum(height) FROM research.people",
    "SELECT * FROM research.people WHERE id = 'nobody' ORDER BY weight LIMIT 3",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("how", ["EXPLAIN", "EXPLAIN (FORMAT json)", "EXPLAIN (SQL)"])
def test_a_plan_tells_no_secret(planted_once: Owner, how: str, query: str) -> None:
    plan = rows_of(planted_once, f"{how} {query}")
    assert found_in(plan.replace("Zyxwvish_1", ""), secrets_of(planted_once)) == []


def test_statistics_of_released_columns_tell_no_secret(planted: Owner) -> None:
    columns = planted.execute("FROM research.people LIMIT 0").columns
    for column in columns:
        text = rows_of(planted, f"SELECT stats({column}) FROM research.people")
        leaked = found_in(text, secrets_of(planted))
        assert [word for word in leaked if word not in ("Zyxwvish",)] == []


# The type of an ENUM


ENUM = """
CREATE TYPE clinic.sickness AS ENUM ('Bubonic', 'Scrofula', 'Quinsy');
CREATE TABLE clinic.sick (id INTEGER, one clinic.sickness, many clinic.sickness[],
                          inside STRUCT(a clinic.sickness), pairs MAP(VARCHAR, clinic.sickness));
INSERT INTO clinic.sick VALUES
    (1, 'Bubonic', ['Bubonic'], {'a': 'Bubonic'}, MAP {'a': 'Bubonic'});
"""


@pytest.mark.parametrize(
    "rule",
    [
        "one SENSITIVE",
        "one SENSITIVE AS keep()",
        "one SENSITIVE AS suppress()",
        "one SENSITIVE AS mapping()",
        "one KEY AS pseudonym()",
        "one SENSITIVE AS keep() THEN suppress()",
        "one SENSITIVE AS keep() THEN mapping()",
        "one SENSITIVE AS suppress() THEN mapping()",
        "many SENSITIVE AS suppress()",
        "inside SENSITIVE AS suppress()",
        "pairs SENSITIVE AS suppress()",
        "(one, many, inside) SENSITIVE AS suppress()",
        "many SENSITIVE",
        "inside SENSITIVE",
        "pairs SENSITIVE",
    ],
)
def test_the_type_of_a_released_column_lists_no_values(people: Owner, rule: str) -> None:
    people.execute(ENUM)
    with contextlib.suppress(ppdm_sql.Refused):
        people.execute(f"CREATE RELEASE research.sick FROM clinic.sick ({rule})")
    relation = people.sql("SELECT 1") if not people.releases() else people.sql("FROM research.sick")
    shown = str(relation.types)
    shown += rows_of(
        people,
        "SELECT table_name, column_name, data_type, numeric_precision FROM duckdb_columns()"
        " WHERE schema_name = 'research'",
    )
    shown += rows_of(
        people, "SELECT * FROM information_schema.columns WHERE table_schema = 'research'"
    )
    shown += rows_of(people, "SELECT sql FROM duckdb_views() WHERE schema_name = 'research'")
    shown += rows_of(people, "SELECT type FROM ppdm_owner.columns")
    for info in people.releases():
        shown += str(people.describe(info.release)) + people.explain(info.release)
        shown += str(people.execute(f"DESCRIBE {info.release}").fetchall())
    assert found_in(shown, canaries.ILLNESSES) == []


@pytest.mark.parametrize(
    "rule",
    [
        "one SENSITIVE AS graded_grouping(bands => 2)",
        "one SENSITIVE AS translation()",
        "one SENSITIVE AS noise(normal(0, 9)), id KEY",
        "many SENSITIVE",
        "many SENSITIVE AS mapping()",
        "inside SENSITIVE AS mapping()",
        "many KEY AS pseudonym()",
        "many SENSITIVE AS microaggregation(size => 2)",
        "(one, many) SENSITIVE AS rotation()",
    ],
)
def test_the_refusal_of_an_enum_lists_no_values(people: Owner, rule: str) -> None:
    people.execute(ENUM)
    with pytest.raises(PpdmError) as caught:
        people.execute(f"CREATE RELEASE research.sick FROM clinic.sick ({rule})")
    assert found_in(everything_shown(caught.value), canaries.ILLNESSES) == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE RELEASE r FROM (SELECT one + 1 AS n FROM clinic.sick) (n SENSITIVE)",
        "CREATE RELEASE r FROM (SELECT sum(one) AS n FROM clinic.sick) (n SENSITIVE)",
        "CREATE VIEW clinic.bad AS SELECT many + 1 AS n FROM clinic.sick",
        "SELECT one + 1 FROM clinic.sick",
    ],
)
def test_a_mistake_with_an_enum_lists_no_values(people: Owner, statement: str) -> None:
    people.execute(ENUM)
    with pytest.raises(PpdmError) as caught:
        people.execute(statement)
    assert found_in(everything_shown(caught.value), canaries.ILLNESSES) == []


# Objects


def reachable(start: object) -> Iterator[object]:
    """Return all objects of ours that can be reached through fields, lists and mappings."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | None):
            continue
        seen.add(id(thing))
        if isinstance(thing, dict):
            waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += thing
        elif type(thing).__module__.startswith("ppdm_sql") and not isinstance(thing, type):
            yield thing
            if is_dataclass(thing):
                waiting += [getattr(thing, field.name) for field in fields(thing)]
            waiting += vars(thing).values() if hasattr(thing, "__dict__") else ()


def objects(owner: Owner) -> dict[str, object]:
    releases = owner._releases
    entry = releases.entry(NAME)
    version = releases.open(entry)
    release = version.release
    return {
        "statements": parse_script(f"{RELEASE}; REFRESH RELEASE research.people; {RELEASE}"),
        "owner": owner,
        "releases": releases,
        "keys": releases.keys,
        "entry": entry,
        "columns": catalog.list_columns(owner._engine, entry),
        "release": release,
        "treatments": [step.treatment for rule in release.rules for step in rule.steps],
        "drawn": version.parameters,
        "shown": answers.list_releases(releases),
        "described": answers.describe_release(releases, DescribeRelease(NAME)),
        "explained": ExplainRelease(NAME),
        "result": owner.execute("FROM research.people"),
        "made": refresh_release(releases, RefreshRelease(NAME)),
    }


PARTS = (
    "statements", "owner", "releases", "keys", "entry", "columns", "release", "treatments",
    "drawn", "shown", "described", "explained", "result", "made",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_no_object_shows_a_secret(planted_once: Owner, part: str) -> None:
    secrets = secrets_of(planted_once)
    found = objects(planted_once)
    assert tuple(found) == PARTS
    things = list(reachable(found[part]))
    assert things
    leaks = {
        type(thing).__name__: (shown, repr(thing))
        for thing in things
        if (shown := found_in(f"{thing!r} {thing}", secrets))
    }
    assert leaks == {}


def test_no_object_shows_the_values_of_an_enum(owner: Owner) -> None:
    owner.execute("CREATE SCHEMA clinic")
    owner.execute(ENUM)
    owner.execute(
        "CREATE RELEASE r FROM clinic.sick (id KEY, one SENSITIVE AS mapping(),"
        " many SENSITIVE AS suppress(), inside IDENTIFIER)"
    )
    release = version_of(owner, "main.r").release
    leaks = {
        type(thing).__name__: repr(thing)
        for thing in reachable([release, [s.treatment for r in release.rules for s in r.steps]])
        if found_in(f"{thing!r} {thing}", canaries.ILLNESSES)
    }
    assert leaks == {}


def test_a_plain_statement_can_be_printed() -> None:
    """It may hold data: `INSERT INTO … VALUES`."""
    (statement,) = parse_script("INSERT INTO clinic.people (name) VALUES ('Xanthippe')")
    assert found_in(repr(statement)) == []


# Errors


@contextlib.contextmanager
def nothing_told(caplog: pytest.LogCaptureFixture, words: tuple[str, ...] = ALL) -> Iterator[None]:
    """Expect an error of ours, and no canary in it, in a log or in a warning."""
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(PpdmError) as caught:
            yield
    shown = everything_shown(caught.value)
    shown += "".join(record.getMessage() + str(record.exc_text) for record in caplog.records)
    shown += "".join(str(warning.message) for warning in warned)
    assert found_in(shown, words) == []


BAD = {
    "conversion": "SELECT id, name::INTEGER AS v FROM clinic.people",
    "date": "SELECT id, name::DATE AS v FROM clinic.people",
    "timestamp": "SELECT id, strptime(name, '%Y') AS v FROM clinic.people",
    "own error": "SELECT id, error(name) AS v FROM clinic.people",
    "json": "SELECT id, json_extract('{' || name, '$.a')::VARCHAR AS v FROM clinic.people",
    "pattern": "SELECT id, regexp_matches('a', '(' || name) AS v FROM clinic.people",
    "overflow": "SELECT id, (3141592 * id)::UTINYINT AS v FROM clinic.people",
    "subquery": "SELECT id, (SELECT name FROM clinic.people)::VARCHAR AS v FROM clinic.people",
}


@pytest.mark.parametrize("kind", BAD)
def test_an_error_in_the_source_tells_no_value(
    owner: Owner, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    owner.execute(TABLE)
    owner.execute(f"CREATE VIEW clinic.bad AS {BAD[kind]}")
    words = (*ALL, "3141592", "6283184")
    for source in ("clinic.bad", f"({BAD[kind]})"):
        for rules in ("v SENSITIVE AS mapping()", "v KEY AS pseudonym()"):
            text = f"CREATE RELEASE r FROM {source} ({rules})"
            with nothing_told(caplog, tuple(word for word in words if word not in text)):
                owner.execute(text)
    assert owner.releases() == []


@pytest.mark.parametrize("kind", BAD)
def test_an_error_while_a_release_is_read_tells_no_value(
    owner: Owner, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    owner.execute(TABLE)
    owner.execute(f"CREATE VIEW clinic.bad AS {BAD[kind]}")
    # Made while there is nobody: a release whose columns cannot be read is not made at all.
    owner.execute("CREATE TABLE kept AS FROM clinic.people; DELETE FROM clinic.people")
    owner.execute("CREATE RELEASE r FROM clinic.bad (v SENSITIVE)")
    owner.execute("INSERT INTO clinic.people FROM kept")
    words = (*ALL, "3141592", "6283184")
    with nothing_told(caplog, words):
        owner.execute("FROM r").fetchall()
    with nothing_told(caplog, words):
        owner.execute("FROM r").fetchone()
    with nothing_told(caplog, words):
        owner.execute("FROM r").fetchmany(2)
    with nothing_told(caplog, words):
        owner.execute("FROM r").df()
    with nothing_told(caplog, words):
        owner.execute("FROM r").arrow()
    with nothing_told(caplog, words):
        owner.execute("CREATE TABLE copy AS FROM r")


def test_a_value_outside_its_bands_is_not_told(
    planted: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    planted.execute("INSERT INTO clinic.people (id, weight) VALUES (6, 271828.1828)")
    with nothing_told(caplog, (*ALL, "271828")):
        planted.execute("REFRESH RELEASE research.people")


def test_values_that_share_a_pseudonym_are_not_told(
    owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    """20,000 names of 24 bits: the chance that no two are equal is below 1e-5."""
    owner.execute("CREATE TABLE t AS SELECT 'Xanthippe ' || range AS v FROM range(20_000)")
    with nothing_told(caplog):
        owner.execute("CREATE RELEASE r FROM t (v KEY AS pseudonym(length => 6))")


def test_a_refresh_of_a_column_of_another_type_tells_no_category(
    planted: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    planted.execute("ALTER TABLE clinic.people ALTER illness TYPE INTEGER USING length(illness)")
    with pytest.raises(ppdm_sql.BindError) as caught:
        planted.execute("REFRESH RELEASE research.people")
    shown = everything_shown(caught.value)
    assert found_in(shown + caplog.text, secrets_of(planted)) == []


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clinic.people DROP COLUMN weight",
        "ALTER TABLE clinic.people DROP COLUMN illness",
        "ALTER TABLE clinic.people ALTER weight TYPE VARCHAR",
        "DROP TABLE clinic.people",
    ],
)
@pytest.mark.parametrize(
    "statement",
    ["REFRESH RELEASE research.people", "EXPLAIN RELEASE research.people", "FROM research.people"],
)
def test_a_stored_definition_is_not_quoted(
    planted: Owner, caplog: pytest.LogCaptureFixture, change: str, statement: str
) -> None:
    """The line of an error is that of the script at hand, never of the one in the store."""
    planted.execute(change)
    secrets = secrets_of(planted)
    with nothing_told(caplog, secrets):
        planted.execute(statement).fetchall()
    if statement.startswith("EXPLAIN"):
        with nothing_told(caplog, secrets):
            planted.explain("research.people")


@pytest.mark.parametrize(
    "content",
    [
        "id,v\n1,2\n3,Xanthippe,Ozymandias\n",
        "id,v\n" + "1,2\n" * 30_000 + "3,Xanthippe\n",
        "",
    ],
)
def test_an_error_in_a_file_tells_no_value(
    owner: Owner, caplog: pytest.LogCaptureFixture, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(content)
    with nothing_told(caplog):
        owner.execute(f"CREATE RELEASE r FROM '{file}' (v SENSITIVE AS mapping())")


def test_an_error_of_a_parameter_tells_no_value(
    planted: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    with nothing_told(caplog):
        planted.execute("SELECT ?::INTEGER", ["Xanthippe"]).fetchall()


def test_an_error_of_a_constraint_tells_no_value(
    owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    owner.execute("CREATE TABLE t (v VARCHAR UNIQUE, n INTEGER CHECK (n < 5))")
    owner.execute("INSERT INTO t VALUES (?, 1)", ["Xanthippe"])
    with nothing_told(caplog):
        owner.execute("INSERT INTO t VALUES (?, 1)", ["Xanthippe"])
    with nothing_told(caplog):
        owner.execute("INSERT INTO t SELECT v, 6 FROM t")


FUNCTIONS = [
    "ppdm_graded_grouping(weight, [31.4159265, weight])",
    "ppdm_graded_grouping(weight, [62.8318531, 31.4159265])",
    "ppdm_graded_grouping(weight, CASE WHEN id > 2 THEN [31.4159265, 62.8318531] END)",
    "ppdm_graded_bands(weight, [31.4159265, weight], [62.8318531, 94.2477796], [1, 2], true)",
    "ppdm_noise_normal(name, id, 0, 4.66920161)",
    "ppdm_noise_normal(name || repeat('0', 32), id, 0, 4.66920161)",
]


@pytest.mark.parametrize("call", FUNCTIONS)
def test_an_error_of_a_function_tells_no_argument(call: str) -> None:
    """DuckDB gives the text of a Python function's error to whoever asks: it must be fixed."""
    with duckdb.connect() as raw:
        ppdm_sql.register(raw)
        raw.execute(TABLE)
        with pytest.raises(duckdb.Error) as caught:
            raw.execute(f"SELECT {call} FROM clinic.people").fetchall()
    said = str(caught.value).split("\nLINE")[0]
    assert found_in(said) == []


# Warnings and logs


def test_a_warning_tells_no_value(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 'Xanthippe ' || range AS v FROM range(100)")
    with pytest.warns(ppdm_sql.PrivacyWarning) as warned:
        owner.execute("CREATE RELEASE r FROM t (v SENSITIVE AS mapping(prefix => 'Zyxwvish'))")
    assert found_in("".join(str(warning.message) for warning in warned)) == []


def test_nothing_is_logged(owner: Owner, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    plant(owner)
    columns = "SELECT id, 'Xanthippe' AS a"
    odd = (
        f"CREATE VIEW clinic.a AS {columns}, list_filter([1], lambda x: x > 3) FROM clinic.people",
        f"CREATE SECURE VIEW clinic.b AS {columns} FROM clinic.people",
        f"CREATE VIEW clinic.c AS {columns} FROM clinic.people USING SAMPLE 3 ROWS",
    )
    for statement in odd:
        owner.execute(statement)
        name = re.findall(r"VIEW (\S+)", statement)[0]
        owner.execute(f"CREATE OR REPLACE RELEASE r FROM {name} (id KEY AS pseudonym())")
    owner.execute("REFRESH RELEASE research.people; SHOW RELEASES")
    owner.execute("DESCRIBE RELEASE research.people; EXPLAIN RELEASE research.people")
    shown = "".join(record.getMessage() for record in caplog.records)
    assert found_in(shown) == []


# The command line


def run(arguments: list[str], stdin: str = "") -> tuple[int, str]:
    """Return the exit code and all that was printed."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.stdin, warnings.showwarning
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
            pytest.raises(SystemExit) as end,
        ):
            main(arguments)
    finally:
        sys.stdin, warnings.showwarning = before
    assert isinstance(end.value.code, int)
    return end.value.code, out.getvalue() + err.getvalue()


@pytest.fixture
def planted_file(safe: Path) -> tuple[str, tuple[str, ...]]:
    with ppdm_sql.connect(safe) as owner:
        plant(owner)
        return str(safe), secrets_of(owner)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "--format", "json"],
        ["describe", "research.people"],
        ["describe", "research.people", "--format", "csv"],
        ["explain", "research.people"],
        ["run", "-"],
    ],
)
def test_the_command_line_tells_no_secret(
    planted_file: tuple[str, tuple[str, ...]], arguments: list[str]
) -> None:
    database, secrets = planted_file
    script = "REFRESH RELEASE research.people; DESCRIBE RELEASE research.people"
    code, shown = run([*arguments, "--db", database], script)
    assert any(word in shown for word in ("research", "ppdm_owner", "pseudonym"))
    assert code == 0
    assert found_in(shown, secrets) == []


@pytest.mark.parametrize(
    ("change", "script"),
    [
        ("DROP TABLE clinic.people", "REFRESH RELEASE research.people"),
        ("DROP TABLE clinic.people", "EXPLAIN RELEASE research.people"),
        ("ALTER TABLE clinic.people DROP COLUMN weight", "REFRESH RELEASE research.people"),
        ("ALTER TABLE clinic.people DROP COLUMN weight", "EXPLAIN RELEASE research.people"),
        ("SELECT 1", "SELECT name::INTEGER FROM clinic.people"),
        ("SELECT 1", "SELECT error(name) FROM clinic.people"),
        ("UPDATE clinic.people SET weight = 1e9", "REFRESH RELEASE research.people"),
        (
            "ALTER TABLE clinic.people ALTER illness TYPE INTEGER USING 1",
            "REFRESH RELEASE research.people",
        ),
    ],
)
def test_an_error_on_the_command_line_tells_no_secret(
    planted_file: tuple[str, tuple[str, ...]], change: str, script: str
) -> None:
    database, secrets = planted_file
    with ppdm_sql.connect(database) as owner:
        owner.execute(change)
    _, shown = run(["run", "-", "--db", database], script)
    assert found_in(shown, secrets) == []


def test_a_mistake_in_a_script_shows_only_its_own_line(owner: Owner) -> None:
    """The line with the mistake is shown to the one who wrote it, and no other line."""
    owner.execute(TABLE)
    script = RELEASE.replace("mapping(prefix => 'Zyxwvish')", "mappin(prefix => 'Zyxwvish')")
    with pytest.raises(PpdmError) as caught:
        owner.execute(script)
    assert found_in(everything_shown(caught.value)) == ["Zyxwvish"]


# Files


def test_the_order_of_a_mapping_on_disk_tells_nothing(owner: Owner) -> None:
    """Neither that of the source nor that of the aliases; 200! orders make chance negligible."""
    owner.execute(
        "CREATE TABLE t AS SELECT 'v' || lpad(range::VARCHAR, 3, '0') AS v FROM range(200)"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        owner.execute("CREATE RELEASE r FROM t (v SENSITIVE AS mapping())")
    rows = owner.execute("FROM ppdm_owner.r1_v1_t0_0_aliases").fetchall()
    originals = [row[0] for row in rows]
    numbers = [int(row[1].removeprefix("v_")) for row in rows]
    assert sorted(numbers) == list(range(1, 201))
    assert originals != sorted(originals)
    assert numbers != sorted(numbers)
    by_original = [number for _, number in sorted(zip(originals, numbers, strict=True))]
    assert by_original != sorted(by_original)


def test_everything_secret_is_inside_the_owners_schema(planted: Owner) -> None:
    tables = planted.connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables()"
    ).fetchall()
    assert {schema for schema, _ in tables} == {"clinic", "ppdm_owner"}


def test_nothing_is_released_from_the_owners_schema(planted: Owner) -> None:
    for source in (
        "ppdm_owner.store",
        "PPDM_OWNER.store",
        '"ppdm_owner"."r1_v1_parameters"',
        "ppdm_store.ppdm_owner.versions",
        "(SELECT * FROM ppdm_owner.store)",
        "(SELECT * FROM Ppdm_Owner.store)",
        "(WITH a AS (SELECT * FROM ppdm_store.ppdm_owner.store) SELECT * FROM a)",
        "(SELECT (SELECT count(*) FROM ppdm_owner.store) AS root_key)",
        "(SELECT * FROM clinic.people WHERE EXISTS (FROM ppdm_owner.store))",
    ):
        with pytest.raises(ppdm_sql.Refused):
            planted.execute(f"CREATE RELEASE leak FROM {source} (root_key NEUTRAL)")
    for schema in ("ppdm_owner", "PPDM_OWNER", '"ppdm_owner"'):
        with pytest.raises(ppdm_sql.Refused):
            planted.execute(f"CREATE RELEASE {schema}.leak FROM clinic.people (ward NEUTRAL)")


@pytest.mark.parametrize(
    "source",
    [
        "clinic.inside",
        "(SELECT * FROM clinic.inside)",
        "(SELECT * FROM query('SELECT * FROM ppdm_owner.store'))",
        "(SELECT * FROM query_table('ppdm_owner.store'))",
        "(SELECT * FROM clinic.inside AS a JOIN clinic.inside AS b USING (root_key))",
        "(SELECT a.root_key FROM clinic.people NATURAL JOIN (SELECT * FROM clinic.inside) AS a)",
        "clinic.deeper",
    ],
)
def test_nothing_is_released_from_the_owners_schema_by_a_detour(
    planted: Owner, source: str
) -> None:
    planted.execute("CREATE VIEW clinic.inside AS FROM ppdm_owner.store")
    planted.execute("CREATE VIEW clinic.deeper AS FROM clinic.inside")
    with pytest.raises(ppdm_sql.Refused):
        planted.execute(f"CREATE RELEASE leak FROM {source} (root_key NEUTRAL)")


def test_a_released_view_of_the_current_schema_is_refused_when_it_is_the_owners(
    planted: Owner,
) -> None:
    planted.execute("USE ppdm_owner")
    with pytest.raises(ppdm_sql.Refused):
        planted.execute("CREATE RELEASE leak FROM store (root_key NEUTRAL)")
    with pytest.raises(ppdm_sql.Refused):
        planted.execute("CREATE RELEASE leak FROM clinic.people (ward NEUTRAL)")
