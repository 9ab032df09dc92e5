"""Oddities on the owner's own side: names, collations, shadows, duplicates. None may do harm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

import ppdm_sql
from ppdm_sql.names import quote
from tests.end_to_end.state import tables_of_versions, whole_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

NAMES = {
    "quotes": "a \"b\" 'c'; DROP TABLE clinic.people; --",
    "white space": " a\n\t\r\nb ",
    "unicode": "größe ☃ 日本 𝄞 e\u0301 \u202egnp",
    "keyword": "select",
    "placeholders": "%s %(a)s {0} $1 ? $$ [red] \\",
    "like ours": "r1_v1_parameters",
    "long": "x" * 3000,
}
RULES = """(
    {k} KEY       AS pseudonym(),
    {w} SENSITIVE AS graded_grouping(bands => [0, 50, 100]),
    {c} SENSITIVE AS mapping(),
    {n} QUASI     AS noise(normal(0, 9)),
    {i} IDENTIFIER
)"""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Warnings about privacy are not what these tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
        yield


def rows(owner: Owner, query: str) -> list[tuple[Any, ...]]:
    return owner.execute(query).fetchall()


def whole_life(owner: Owner, release: str, source: str, rules: str, count: int) -> None:
    """Create, read, ask about, refresh, replace and drop a release; nothing else may change."""
    before = whole_state(owner.connection)
    owner.execute(f"CREATE RELEASE {release} FROM {source} {rules}")
    assert rows(owner, f"SELECT count(*) FROM {release}") == [(count,)]
    assert len(rows(owner, f"FROM {release}")) == count
    (info,) = owner.releases()
    assert owner.describe(release)
    assert len(rows(owner, f"FROM ({owner.explain(release)})")) == count
    assert len(rows(owner, "SHOW RELEASES")) == 1
    assert rows(owner, f"DESCRIBE RELEASE {release}")
    assert owner.describe(info.release) == owner.describe(release)
    owner.execute(f"REFRESH RELEASE {release}")
    assert rows(owner, f"SELECT count(*) FROM {release}") == [(count,)]
    owner.execute(f"CREATE OR REPLACE RELEASE {release} FROM {source} {rules}")
    assert [info.version for info in owner.releases()] == [3]
    owner.execute(f"DROP RELEASE {release}")
    after = whole_state(owner.connection)
    before["schemas"] = after["schemas"]  # that of the release stays
    assert after == before


# Names


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_tables_columns_and_releases_may_have_any_name(people: Owner, name: str) -> None:
    quoted = quote(name)
    columns = {letter: quote(f"{name}{letter}") for letter in "kwcni"}
    people.execute(f"CREATE SCHEMA {quoted}")
    people.execute(
        f"CREATE TABLE {quoted}.{quoted} AS SELECT range AS {columns['k']},"
        f" range * 10 AS {columns['w']}, 'c' || range % 3 AS {columns['c']},"
        f" range AS {columns['n']}, 'secret' AS {columns['i']} FROM range(9)"
    )
    rules = RULES.format(**columns)
    whole_life(people, f"{quote(name + 'r')}.{quoted}", f"{quoted}.{quoted}", rules, 9)
    assert len(rows(people, "FROM clinic.people")) == 6


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_release_with_any_name_is_found_by_the_next_connection(safe: Path, name: str) -> None:
    quoted = quote(name)
    with ppdm_sql.connect(safe) as owner:
        owner.execute(f"CREATE TABLE t AS SELECT 'v' AS {quoted}")
        owner.execute(f"CREATE RELEASE {quoted}.{quoted} FROM t ({quoted} SENSITIVE AS mapping())")
        expected = rows(owner, f"FROM {quoted}.{quoted}")
    with ppdm_sql.connect(safe) as owner:
        owner.execute(f"REFRESH RELEASE {quoted}.{quoted}")
        assert rows(owner, f"FROM {quoted}.{quoted}") == expected == [(f"{name}_1",)]
        assert owner.execute(f"FROM {quoted}.{quoted}").columns == [name]


def test_a_release_keeps_the_spelling_of_its_script(people: Owner) -> None:
    people.execute("CREATE RELEASE Research.People FROM CLINIC.PEOPLE (WARD NEUTRAL, Age QUASI)")
    assert people.execute("FROM research.people").columns == ["WARD", "Age"]
    with pytest.raises(ppdm_sql.BindError, match="already a release"):
        people.execute("CREATE RELEASE research.PEOPLE FROM clinic.people (ward NEUTRAL)")
    people.execute("DROP RELEASE rESEARCH.pEOPLE")


OURS = [
    "s", "p", "m", "m0", "m1", "m0_of", "t0_0_key", "t0_0_prefix", "t0_0_c0", "t1_0_low_1",
    "t0_0_i0", "t0_0_o0", "original", "released", "rows", "keys", "parameters", "aliases",
    "rowid", "t2_0_categories", "t1_0_outside", "release_id",
]  # fmt: skip


@pytest.mark.parametrize("turn", [0, 1])
def test_columns_may_be_called_like_something_of_ours(owner: Owner, turn: int) -> None:
    ways = (
        ("range", "SENSITIVE AS graded_grouping(bands => [0, 5, 10]) THEN scaling(by => 2)"),
        ("'c' || range % 3", "SENSITIVE AS mapping(prefix => 'x') THEN mapping(prefix => 'again')"),
        ("range", "QUASI AS noise(normal(0, 1), round => false)"),
        ("'v' || range", "SENSITIVE AS pseudonym(prefix => 'P')"),
    )
    chosen = [(name, *ways[(at + turn) % 4]) for at, name in enumerate(OURS)]
    columns = ", ".join(f"{value} AS {quote(name)}" for name, value, _ in chosen)
    rules = ", ".join(f"{quote(name)} {rule}" for name, _, rule in chosen)
    owner.execute(f"CREATE OR REPLACE TABLE t AS SELECT range AS id, {columns} FROM range(9)")
    owner.execute(f"CREATE OR REPLACE RELEASE r FROM t (id KEY AS keep(), {rules})")
    owner.execute("REFRESH RELEASE r")
    released = sorted(rows(owner, "FROM r"))
    assert len(released) == 9
    for at, (name, _, rule) in enumerate(chosen, start=1):
        column = [row[at] for row in released]
        if "graded" in rule:
            edges = [2 * (1 + i / 5) if i < 5 else 2 * (2 + (i - 5) / 5) for i in range(9)]
            assert column == pytest.approx(edges), name
        elif "mapping" in rule:
            assert set(column) == {"again_1", "again_2", "again_3"}, name
            assert column[:3] == column[3:6] == column[6:], name
        elif "noise" in rule:
            assert all(0 < abs(noised - i) < 9 for i, noised in enumerate(column)), name
        else:
            assert len(set(column)) == 9, name
            assert all(word.startswith("P") for word in column), name


@pytest.mark.parametrize("name", ["ppdm_row", "ppdm_t0_0_0", "PPDM_T1_0_0", "ppdm_t1_0_1"])
def test_a_column_with_a_name_that_is_taken_is_refused_or_told_apart(
    owner: Owner, name: str
) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT range AS id, range * 10 AS {name} FROM range(5)")
    for rule in (
        "graded_grouping(bands => [0, 20, 50])",
        "noise(normal(0, 9)) THEN scaling(by => 2)",
    ):
        try:
            owner.execute(
                f"CREATE OR REPLACE RELEASE r FROM t (id KEY AS keep(), {name} QUASI AS {rule})"
            )
        except ppdm_sql.PpdmError:
            continue
        released = sorted(rows(owner, "FROM r"))
        assert [row[0] for row in released] == [0, 1, 2, 3, 4]
        if rule.startswith("graded"):
            assert [row[1] for row in released] == pytest.approx([1, 1.5, 2, 2 + 1 / 3, 2 + 2 / 3])


@pytest.mark.parametrize("name", ["s", "p", "r1_v1_parameters", "ppdm_incoming"])
def test_a_source_may_be_called_like_something_of_ours(owner: Owner, name: str) -> None:
    owner.execute(f"CREATE SCHEMA clinic; CREATE TABLE clinic.{name} AS SELECT 'a' AS v, 5 AS n")
    rules = "(v SENSITIVE AS mapping(), n QUASI AS graded_grouping(bands => [0, 10]))"
    whole_life(owner, "r", f"clinic.{name}", rules, 1)
    query = f"(SELECT * FROM clinic.{name} AS s JOIN clinic.{name} AS p USING (v, n))"
    whole_life(owner, "r", query, rules, 1)


def test_a_struct_column_called_like_our_alias_of_the_source(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT {'v': 'inner'} AS s, {'t0_0_key': 'x'} AS p, 'outer' AS v"
    )
    owner.execute("CREATE RELEASE r FROM t (v SENSITIVE, s SENSITIVE, p SENSITIVE)")
    assert rows(owner, "FROM r") == [("outer", {"v": "inner"}, {"t0_0_key": "x"})]
    owner.execute("CREATE OR REPLACE RELEASE r FROM t (v KEY AS pseudonym(), s SENSITIVE)")
    ((pseudonym, _),) = rows(owner, "FROM r")
    assert len(pseudonym) == 16


def test_columns_that_differ_in_accents_only_are_two(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 'a' AS É, 'b' AS é")
    owner.execute("CREATE RELEASE r FROM t (É SENSITIVE, é SENSITIVE AS suppress())")
    assert rows(owner, "FROM r") == [("a", None)]


def test_columns_that_join_to_one_name_are_refused_or_told_apart(people: Owner) -> None:
    source = "(SELECT a.id, b.id FROM clinic.people AS a JOIN clinic.people AS b USING (name))"
    try:
        people.execute(f"CREATE RELEASE r FROM {source} (id KEY AS pseudonym())")
    except ppdm_sql.PpdmError:
        assert people.releases() == []
    else:
        assert len(rows(people, "FROM r")) == 6


# Collations


COLLATED = """
CREATE TABLE t (id INTEGER, v VARCHAR COLLATE {collation});
INSERT INTO t VALUES (1, 'Flu'), (2, 'FLU'), (3, 'flu'), (4, 'Cold'), (5, 'Grippe'), (6, NULL),
                     (7, 'grippé'), (8, 'cold');
"""


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "DE"])
def test_a_collation_multiplies_no_rows(owner: Owner, collation: str) -> None:
    owner.execute(COLLATED.format(collation=collation))
    owner.execute("CREATE RELEASE r FROM t (id KEY, v SENSITIVE AS mapping())")
    everybody = "SELECT count(*), count(v) FROM r"
    assert rows(owner, everybody) == [(8, 7)]
    changes = (
        "DELETE FROM t WHERE id = 1; REFRESH RELEASE r; INSERT INTO t VALUES (1, 'Flu')",
        "DELETE FROM t WHERE id = 4; REFRESH RELEASE r; INSERT INTO t VALUES (4, 'Cold')",
        "UPDATE t SET v = upper(v); REFRESH RELEASE r",
        "UPDATE t SET v = lower(v); REFRESH RELEASE r",
        "UPDATE t SET v = upper(v[1]) || lower(v[2:]); REFRESH RELEASE r",
    )
    for change in changes:
        owner.execute(change)
        assert rows(owner, everybody) == [(8, 7)], change


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "DE"])
def test_values_that_a_collation_takes_for_equal_have_one_alias(
    owner: Owner, collation: str
) -> None:
    """Or each its own; but never an alias in one row and another in the next for equal texts."""
    owner.execute(COLLATED.format(collation=collation))
    owner.execute("CREATE RELEASE r FROM t (id KEY AS keep(), v SENSITIVE AS mapping())")
    pairs = rows(owner, 'SELECT DISTINCT t.v::VARCHAR COLLATE "C", r.v FROM t JOIN r USING (id)')
    assert len(pairs) == len({original for original, _ in pairs})


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "DE"])
def test_a_collation_is_no_collision_of_pseudonyms(owner: Owner, collation: str) -> None:
    owner.execute(COLLATED.format(collation=collation))
    owner.execute("CREATE RELEASE r FROM t (v KEY AS pseudonym())")
    assert rows(owner, "SELECT count(*), count(DISTINCT v) FROM r") == [(8, 7)]


def test_a_collation_of_the_whole_database_multiplies_no_rows(owner: Owner) -> None:
    owner.execute("SET default_collation = 'NOCASE'")
    owner.execute("CREATE TABLE t AS SELECT unnest(['Flu', 'FLU', 'flu', 'Cold']) AS v")
    owner.execute("CREATE RELEASE r FROM t (v SENSITIVE AS mapping())")
    assert rows(owner, "SELECT count(*), count(v) FROM r") == [(4, 4)]
    owner.execute("DELETE FROM t WHERE v = 'flu' COLLATE \"C\"; REFRESH RELEASE r")
    (left,) = rows(owner, "SELECT count(*) FROM t")
    assert rows(owner, "SELECT count(*) FROM r") == [left]
    owner.execute("RESET default_collation")
    assert rows(owner, "SELECT count(*) FROM r") == [left]


# Rows


def test_equal_rows_stay_as_many_as_they_are(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS k, 'a' AS c, 5 AS w FROM range(1000)")
    owner.execute(
        "CREATE RELEASE r FROM t (k KEY AS pseudonym(), c SENSITIVE AS mapping(),"
        " w SENSITIVE AS graded_grouping(bands => [0, 10]))"
    )
    assert rows(owner, "SELECT count(*) FROM r") == [(1000,)]
    assert len(rows(owner, "SELECT DISTINCT * FROM r")) == 1


TREATMENTS = [
    "keep()", "suppress()", "mapping()", "pseudonym()", "graded_grouping(bands => [0, 10])",
    "translation()", "scaling()", "bit_plus()", "bit_minus()", "noise(normal(0, 9))",
]  # fmt: skip


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_release_of_an_empty_table_is_made(owner: Owner, treatment: str) -> None:
    owner.execute("CREATE TABLE t (k INTEGER, v INTEGER)")
    owner.execute(f"CREATE RELEASE r FROM t (k KEY, v SENSITIVE AS {treatment})")
    assert rows(owner, "FROM r") == []
    owner.execute("INSERT INTO t VALUES (1, 5)")
    owner.execute("REFRESH RELEASE r")
    assert rows(owner, "SELECT count(*) FROM r") == [(1,)]


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_release_of_nothing_but_nulls_is_made(owner: Owner, treatment: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS k, NULL::INTEGER AS v FROM range(5)")
    owner.execute(f"CREATE RELEASE r FROM t (k KEY, v SENSITIVE AS {treatment})")
    assert rows(owner, "SELECT count(*), count(v) FROM r") == [(5, 0)]


# Shadows


SHADOWS = [
    "TEMP MACRO starts_with(a, b) AS false",
    "TEMP MACRO nextval(a) AS 1",
    "TEMP MACRO current_schema() AS 'clinic'",
    "TEMP MACRO current_database() AS 'memory'",
    "TEMP MACRO txid_current() AS 1",
    "TEMP MACRO count_if(a) AS 0",
    "MACRO starts_with(a, b) AS false",
]


@pytest.mark.parametrize("macro", SHADOWS)
def test_a_macro_of_the_owner_does_not_lead_the_store_astray(people: Owner, macro: str) -> None:
    people.execute("CREATE SCHEMA research; CREATE TABLE main.p AS FROM clinic.people")
    people.execute(f"CREATE {macro}")
    people.execute("CREATE RELEASE a FROM p (illness SENSITIVE AS mapping())")
    people.execute("CREATE RELEASE b FROM p (illness SENSITIVE AS mapping())")
    people.execute("REFRESH RELEASE a; REFRESH RELEASE b")
    assert [(info.release, info.version) for info in people.releases()] == [
        ("main.a", 2),
        ("main.b", 2),
    ]
    recorded = rows(people, "SELECT DISTINCT unnest(tables) FROM ppdm_owner.versions")
    assert {table for (table,) in recorded} == tables_of_versions(people.connection)
    assert len(recorded) == 4
    with pytest.raises(ppdm_sql.TreatmentError, match="in no band"):
        people.execute("CREATE RELEASE c FROM p (age QUASI AS graded_grouping(bands => [0, 1]))")
    before = whole_state(people.connection)
    with pytest.raises(ppdm_sql.PpdmError):
        people.execute("CREATE RELEASE a FROM p (illness SENSITIVE AS mapping())")
    assert whole_state(people.connection) == before


@pytest.mark.parametrize("name", ["ppdm_incoming", "r1_v1_parameters", "s", "people"])
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_a_temporary_table_of_the_owner_is_neither_read_nor_lost(
    people: Owner, kind: str, name: str
) -> None:
    people.execute(f"CREATE TEMP {kind} {name} AS SELECT 42 AS mine")
    rules = "(id KEY AS pseudonym(), illness SENSITIVE AS mapping())"
    people.execute(f"CREATE RELEASE research.people FROM clinic.people {rules}")
    people.execute("REFRESH RELEASE research.people")
    assert rows(people, "SELECT count(*), count(illness) FROM research.people") == [(6, 5)]
    assert rows(people, f"FROM temp.main.{name}") == [(42,)]


def test_a_temporary_table_that_hides_a_source_of_the_schema_main_is_not_released(
    owner: Owner,
) -> None:
    """DuckDB keeps `main.t` in the view, and `temp.main.t` comes first."""
    owner.execute("CREATE TABLE t AS SELECT 'kept' AS v")
    owner.execute("CREATE TEMP TABLE t AS SELECT 'temporary' AS v")
    for source in ("ppdm_store.main.t", "(SELECT * FROM ppdm_store.main.t)"):
        try:
            owner.execute(f"CREATE OR REPLACE RELEASE r FROM {source} (v NEUTRAL)")
        except ppdm_sql.PpdmError:
            continue
        assert rows(owner, "FROM r") == [("kept",)]


def test_a_variable_of_the_owner_changes_nothing(people: Owner) -> None:
    people.execute("SET VARIABLE p = 1; SET VARIABLE s = 2; SET VARIABLE ppdm_incoming = 3")
    people.execute("CREATE RELEASE r FROM clinic.people (illness SENSITIVE AS mapping())")
    assert rows(people, "SELECT count(*) FROM r") == [(6,)]


@pytest.mark.parametrize(
    "setting",
    [
        "SET preserve_insertion_order = false",
        "SET integer_division = true",
        "SET default_null_order = 'nulls_first'",
        "SET default_order = 'DESC'",
        "SET arrow_large_buffer_size = true",
        "SET produce_arrow_string_view = true",
        "SET arrow_output_list_view = true",
        "SET disabled_optimizers = 'filter_pushdown,join_order,statistics_propagation'",
    ],
)
def test_a_setting_of_the_owner_changes_nothing(
    people: Owner, setting: str, tmp_path: Path
) -> None:
    try:
        people.execute(setting)
    except ppdm_sql.EngineError:
        pytest.skip("this DuckDB has no such setting")
    rules = """(
        id KEY AS pseudonym(), illness SENSITIVE AS mapping(), ward SENSITIVE AS mapping(),
        age QUASI AS graded_grouping(bands => [0, 50, 100]),
        weight SENSITIVE AS translation(by => 1.5), income SENSITIVE AS graded_grouping(bands => 3)
    )"""
    people.execute(f"CREATE RELEASE r FROM clinic.people {rules}; REFRESH RELEASE r")
    released = rows(people, "SELECT age, weight, income IS NULL FROM r ORDER BY id")
    assert len(released) == 6
    ages = sorted(row[0] for row in released if row[0] is not None)
    assert ages == pytest.approx([1.5, 1.6, 1.8, 2.16, 2.4])
    assert sum(row[1] for row in released if row[1] is not None) == pytest.approx(367.75 + 7.5)
    described = [row[:2] for row in people.execute("DESCRIBE RELEASE r").fetchall()]
    assert described[0][0] == "id"
    people.publish("r", to=tmp_path / "r.duckdb")
    assert repr(people.audit("r"))
    assert rows(people, "SELECT count(DISTINCT illness), count(DISTINCT ward) FROM r") == [(3, 3)]


# Types


TYPES = """
    bool bigint hugeint uhugeint bignum date time timestamp timestamp_s timestamp_ms timestamp_ns
    time_tz timestamp_tz float double dec_38_10 uuid interval varchar blob bit small_enum int_array
    struct map union fixed_int_array
"""


@pytest.mark.parametrize(
    "treatment",
    [
        "mapping()",
        "pseudonym()",
        "translation()",
        "graded_grouping(bands => 1, outside => 'null')",
    ],
)
def test_every_type_is_released_or_refused_in_words(owner: Owner, treatment: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT * FROM test_all_types()")
    wrong = {}
    for name in set(TYPES.split()) & set(owner.execute("FROM t LIMIT 0").columns):
        column = quote(name)
        try:
            owner.execute(f"CREATE OR REPLACE RELEASE r FROM t ({column} SENSITIVE AS {treatment})")
            if rows(owner, "SELECT count(*) FROM r") != [(3,)]:
                wrong[name] = "rows are lost"
            if treatment == "mapping()":
                lost = f"SELECT count(*) FROM {{}} WHERE {column} IS NULL"
                if rows(owner, lost.format("t")) != rows(owner, lost.format("r")):
                    wrong[name] = "values are lost"
        except ppdm_sql.PpdmError:
            continue
        except Exception as error:  # noqa: BLE001 - all of them are told together
            wrong[name] = type(error).__name__
    assert wrong == {}


def test_generated_and_hidden_columns(owner: Owner) -> None:
    owner.execute("CREATE TABLE t (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL)")
    owner.execute("INSERT INTO t VALUES (1), (2)")
    owner.execute("CREATE RELEASE r FROM t (b SENSITIVE AS mapping())")
    assert rows(owner, "SELECT count(b) FROM r") == [(2,)]
    with pytest.raises(ppdm_sql.BindError, match="no column 'rowid'"):
        owner.execute("CREATE RELEASE q FROM t (rowid NEUTRAL)")
