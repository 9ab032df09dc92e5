"""The store: what it keeps of every version, and how it behaves when somebody damaged it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import ppdm_sql
from ppdm_sql import PpdmError, StoreError
from ppdm_sql.names import QualifiedName
from ppdm_sql.store import catalog
from ppdm_sql.store.formats import open_store
from ppdm_sql.store.opening import open_database
from ppdm_sql.store.parameters import VersionStorage
from tests.conftest import PEOPLE
from tests.end_to_end.state import State, tables_of_versions, whole_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.owner import Owner

RELEASE = """CREATE RELEASE research.people FROM clinic.people (
    id      KEY       AS pseudonym(prefix => 'P-'),
    name    IDENTIFIER,
    weight  SENSITIVE AS graded_grouping(bands => 3),
    illness SENSITIVE AS mapping(prefix => 'Illness'),
    ward    NEUTRAL
)"""
REFRESH = "REFRESH RELEASE research.people"


@pytest.fixture
def engine() -> Iterator[Engine]:
    opened = open_database(None)
    yield opened
    opened.close()


@pytest.fixture
def released(people: Owner) -> Owner:
    people.execute(RELEASE)
    return people


def rows(owner: Owner, query: str) -> list[tuple[Any, ...]]:
    return owner.execute(query).fetchall()


def aliases(owner: Owner, version: int) -> dict[str, str]:
    return dict(rows(owner, f"FROM ppdm_owner.r1_v{version}_t3_0_aliases"))


# A new store


def test_a_store_is_made_once_and_found_again(engine: Engine) -> None:
    first = open_store(engine)
    again = open_store(engine)
    assert first == again
    assert len(first.secret) == 32
    assert engine.query("SELECT count(*) AS n FROM ppdm_owner.store").to_pylist() == [{"n": 1}]


def test_two_stores_have_different_root_keys() -> None:
    secrets = set()
    for _ in range(2):
        opened = open_database(None)
        secrets.add(open_store(opened).secret)
        opened.close()
    assert len(secrets) == 2


def test_the_root_key_survives_in_the_file(safe: Path) -> None:
    for version in (1, 2):
        with ppdm_sql.connect(safe) as owner:
            if version == 1:
                owner.execute(PEOPLE)
                owner.execute(RELEASE)
                before = rows(owner, "SELECT id, illness FROM research.people ORDER BY ALL")
            else:
                owner.execute(REFRESH)
                assert before == rows(owner, "SELECT id, illness FROM research.people ORDER BY ALL")


def test_a_new_store_lists_nothing(engine: Engine) -> None:
    open_store(engine)
    assert catalog.list_entries(engine) == []
    assert catalog.find_entry(engine, QualifiedName.of("research", "people")) is None


# What a version keeps


def test_an_entry_says_what_was_made(released: Owner) -> None:
    (entry,) = catalog.list_entries(released._engine)
    assert str(entry.name) == "research.people"
    assert (entry.release_id, entry.version, entry.facts.source_rows) == (1, 1, 6)
    assert entry.storage == VersionStorage(1, 1)
    assert set(entry.tables) == {"r1_v1_parameters", "r1_v1_t3_0_aliases"}
    assert set(entry.tables) == tables_of_versions(released.connection)
    now = datetime.now(UTC).replace(tzinfo=None)
    assert now - timedelta(minutes=1) < entry.created_at <= now


def test_an_entry_is_found_as_duckdb_finds_names(released: Owner) -> None:
    engine = released._engine
    assert catalog.find_entry(engine, QualifiedName.of("RESEARCH", "People")) is not None
    assert catalog.find_entry(engine, QualifiedName.of("research", "peoplé")) is None
    assert catalog.find_entry(engine, QualifiedName.of("main", "people")) is None


def test_columns_are_listed_in_the_order_of_the_script(released: Owner) -> None:
    (entry,) = catalog.list_entries(released._engine)
    listed = [
        (c.name, str(c.role), c.treatments, c.type)
        for c in catalog.list_columns(released._engine, entry)
    ]
    assert listed == [
        ("id", "KEY", ("pseudonym",), "VARCHAR"),
        ("name", "IDENTIFIER", (), None),
        ("weight", "SENSITIVE", ("graded_grouping",), "DOUBLE"),
        ("illness", "SENSITIVE", ("mapping",), "VARCHAR"),
        ("ward", "NEUTRAL", ("keep",), "VARCHAR"),
    ]


def test_what_was_drawn_is_read_back(released: Owner) -> None:
    releases = released._releases
    entry = releases.entry(QualifiedName.of("research", "people"))
    drawn = releases.open(entry).parameters
    assert set(drawn) == {"t0_0", "t2_0", "t3_0", "t4_0"}
    assert drawn["t0_0"].parameters["prefix"] == "P-"
    assert len(str(drawn["t0_0"].parameters["key"])) == 32
    assert drawn["t2_0"].parameters["low_1"] == 55.0
    assert drawn["t2_0"].parameters["high_3"] == 99.0
    assert set(drawn["t3_0"].tables["aliases"].column("original").to_pylist()) == {
        "Flu",
        "HIV",
        "Cancer",
    }
    assert drawn["t4_0"].parameters == {}
    assert drawn["t4_0"].tables == {}


def test_a_release_without_parameters_keeps_no_tables(people: Owner) -> None:
    people.execute("CREATE RELEASE r FROM clinic.people (ward NEUTRAL, age QUASI AS suppress())")
    (entry,) = catalog.list_entries(people._engine)
    assert entry.tables == ()
    people.execute("REFRESH RELEASE r")
    assert [info.version for info in people.releases()] == [2]


def test_tables_of_many_releases_and_versions_are_told_apart(people: Owner) -> None:
    small = "CREATE RELEASE research.p{} FROM clinic.people (illness SENSITIVE AS mapping())"
    for i in range(11):
        people.execute(small.format(i))
    for _ in range(10):
        people.execute("REFRESH RELEASE research.p0")
    recorded = rows(people, "SELECT release_id, version, tables FROM ppdm_owner.versions")
    assert len(recorded) == 21
    for release_id, version, tables in recorded:
        assert tables == [f"r{release_id}_v{version}_t0_0_aliases"]


def test_a_release_with_many_columns_keeps_their_parameters_apart(owner: Owner) -> None:
    names = [f"c{i}" for i in range(23)]
    columns = ", ".join(f"'{name}' AS {name}" for name in names)
    owner.execute(f"CREATE TABLE t AS SELECT {columns}")
    rules = ", ".join(f"{name} SENSITIVE AS mapping(prefix => 'p_{name}')" for name in names)
    owner.execute(f"CREATE RELEASE r FROM t ({rules}); REFRESH RELEASE r")
    assert rows(owner, "FROM r") == [tuple(f"p_{name}_1" for name in names)]


# Versions


def test_refresh_keeps_old_aliases_and_adds_new_ones(released: Owner) -> None:
    old = aliases(released, 1)
    released.execute("INSERT INTO clinic.people VALUES (7, 'Gi', 33, 70, 10, 'Gout', 'D')")
    released.execute("INSERT INTO clinic.people VALUES (8, 'Ho', 33, 70, 10, 'Acne', 'D')")
    released.execute("DELETE FROM clinic.people WHERE illness = 'HIV'")
    before = rows(released, "SELECT illness FROM research.people WHERE ward = 'D'")
    assert before == [(None,), (None,)]
    released.execute(REFRESH)
    new = aliases(released, 2)
    assert old.items() < new.items()
    assert set(new) - set(old) == {"Gout", "Acne"}
    assert set(new.values()) == {f"Illness_{i}" for i in range(1, 6)}
    after = rows(released, "SELECT illness FROM research.people WHERE ward = 'D'")
    assert sorted(after) == sorted([(new["Gout"],), (new["Acne"],)])
    assert aliases(released, 1) == old


def test_a_category_that_comes_back_gets_its_old_alias(released: Owner) -> None:
    old = aliases(released, 1)
    released.execute("UPDATE clinic.people SET illness = 'Flu' WHERE illness = 'HIV'")
    released.execute(f"{REFRESH}; {REFRESH}")
    released.execute("UPDATE clinic.people SET illness = 'HIV' WHERE id = 1")
    released.execute(REFRESH)
    assert aliases(released, 4) == old


def test_refresh_keeps_bands(released: Owner) -> None:
    before = rows(released, "SELECT id, weight FROM research.people ORDER BY ALL")
    kept = rows(released, "FROM ppdm_owner.r1_v1_parameters")
    released.execute(
        "INSERT INTO clinic.people VALUES (7, 'Gi', 33, 56.0, 10, 'Flu', 'D'); " + REFRESH
    )
    assert rows(released, "FROM ppdm_owner.r1_v2_parameters") == kept
    after = rows(released, "SELECT id, weight FROM research.people ORDER BY ALL")
    assert set(before) < set(after)


def test_refresh_refuses_a_value_outside_the_bands_it_keeps(released: Owner) -> None:
    released.execute("INSERT INTO clinic.people VALUES (7, 'Gi', 33, 1234.5, 10, 'Flu', 'D')")
    before = whole_state(released.connection)
    with pytest.raises(ppdm_sql.TreatmentError, match="1 value of 'weight' lies in no band"):
        released.execute(REFRESH)
    assert whole_state(released.connection) == before


def test_refresh_of_an_emptied_and_refilled_table(released: Owner) -> None:
    old = aliases(released, 1)
    released.execute("CREATE TABLE clinic.copy AS FROM clinic.people; DELETE FROM clinic.people")
    released.execute(REFRESH)
    assert aliases(released, 2) == old
    assert rows(released, "FROM research.people") == []
    released.execute("INSERT INTO clinic.people FROM clinic.copy; " + REFRESH)
    assert aliases(released, 3) == old


def test_a_release_of_an_empty_table_is_filled_by_refresh(owner: Owner) -> None:
    owner.execute("CREATE TABLE t (d DATE, b BOOLEAN, n BIGINT, v VARCHAR, e ENUM ('x', 'y'))")
    rules = ", ".join(f"{name} SENSITIVE AS mapping()" for name in "dbnve")
    owner.execute(f"CREATE RELEASE r FROM t ({rules})")
    owner.execute("INSERT INTO t VALUES ('2020-01-31', true, 7, 'a', 'y'); REFRESH RELEASE r")
    assert rows(owner, "FROM r") == [("d_1", "b_1", "n_1", "v_1", "e_1")]
    owner.execute("DELETE FROM t; REFRESH RELEASE r")
    owner.execute("INSERT INTO t VALUES ('2020-01-31', true, 7, 'a', 'y'); REFRESH RELEASE r")
    assert rows(owner, "FROM r") == [("d_1", "b_1", "n_1", "v_1", "e_1")]


def test_every_version_stays_in_the_store(released: Owner) -> None:
    first = rows(released, "FROM ppdm_owner.r1_v1_parameters")
    released.execute(f"{REFRESH}; {RELEASE.replace('CREATE', 'CREATE OR REPLACE')}; {REFRESH}")
    assert rows(released, "SELECT version FROM ppdm_owner.versions ORDER BY 1") == [
        (1,),
        (2,),
        (3,),
        (4,),
    ]
    assert rows(released, "FROM ppdm_owner.r1_v1_parameters") == first
    assert [info.version for info in released.releases()] == [4]
    assert len(tables_of_versions(released.connection)) == 8
    counts = rows(released, "SELECT version, count(*) FROM ppdm_owner.columns GROUP BY 1")
    assert sorted(counts) == [(1, 5), (2, 5), (3, 5), (4, 5)]


def test_replace_makes_the_next_version_with_another_definition(released: Owner) -> None:
    released.execute("CREATE OR REPLACE RELEASE research.people FROM clinic.people (ward NEUTRAL)")
    assert [(i.version, i.columns) for i in released.releases()] == [(2, 1)]
    assert released.execute("FROM research.people").columns == ["ward"]
    assert len(rows(released, "FROM ppdm_owner.r1_v1_t3_0_aliases")) == 3
    released.execute(REFRESH)
    assert released.execute("FROM research.people").columns == ["ward"]


def test_replace_may_read_another_source(released: Owner) -> None:
    released.execute("CREATE TABLE clinic.b AS SELECT 'w' AS ward")
    released.execute("CREATE OR REPLACE RELEASE research.people FROM clinic.b (ward NEUTRAL)")
    assert rows(released, "FROM research.people") == [("w",)]
    assert [(i.source, i.rows) for i in released.releases()] == [("clinic.b", 1)]


def test_replace_draws_anew(owner: Owner) -> None:
    """Thirty categories: the chance that two random orders are equal is below 1e-32."""
    owner.execute("CREATE TABLE t AS SELECT 'v' || range AS v FROM range(30)")
    rules = "FROM t (v SENSITIVE AS mapping())"
    owner.execute(f"CREATE RELEASE r {rules}; CREATE OR REPLACE RELEASE r {rules}")
    first, second = (
        dict(rows(owner, f"FROM ppdm_owner.r1_v{version}_t0_0_aliases")) for version in (1, 2)
    )
    assert first.keys() == second.keys()
    assert set(first.values()) == set(second.values())
    assert first != second


def test_drop_removes_view_versions_and_tables(released: Owner) -> None:
    released.execute(RELEASE.replace("research.people", "research.other"))
    kept: State = whole_state(released.connection)
    released.execute(RELEASE.replace("research.people", "research.third"))
    released.execute("REFRESH RELEASE research.third; REFRESH RELEASE research.third")
    released.execute("DROP RELEASE research.third")
    assert whole_state(released.connection) == kept


def test_drop_if_exists(released: Owner) -> None:
    done = released.execute("DROP RELEASE IF EXISTS research.people")
    assert done.message == "dropped release research.people"
    before = whole_state(released.connection)
    done = released.execute("DROP RELEASE IF EXISTS research.people")
    assert done.message == "there was no release research.people"
    assert whole_state(released.connection) == before
    with pytest.raises(ppdm_sql.BindError, match="no release"):
        released.execute("DROP RELEASE research.people")


@pytest.mark.parametrize("before", ["DROP VIEW research.people", "DROP SCHEMA research CASCADE"])
def test_a_release_whose_view_is_gone_can_be_dropped_or_made_again(
    released: Owner, before: str
) -> None:
    released.execute(before)
    released.execute(REFRESH)
    assert len(rows(released, "FROM research.people")) == 6
    released.execute(before)
    released.execute("DROP RELEASE research.people")
    assert released.releases() == []
    assert tables_of_versions(released.connection) == set()


def test_numbers_of_releases_are_never_used_twice(released: Owner) -> None:
    """So that no table of a dropped release is taken for that of another."""
    released.execute(f"BEGIN; {RELEASE.replace('research.people', 'research.other')}; ROLLBACK")
    released.execute(RELEASE.replace("research.people", "research.other"))
    first, second = (e.release_id for e in catalog.list_entries(released._engine))
    assert first != second
    released.execute("DROP RELEASE research.other")
    released.execute(RELEASE.replace("research.people", "research.third"))
    assert catalog.list_entries(released._engine)[-1].release_id > max(first, second)


def test_numbers_of_releases_are_never_used_twice_in_a_file(safe: Path) -> None:
    numbers = []
    for i in range(3):
        with ppdm_sql.connect(safe) as owner:
            if i == 0:
                owner.execute(PEOPLE)
            owner.execute(RELEASE.replace("research.people", f"research.p{i}"))
            numbers.append(catalog.list_entries(owner._engine)[-1].release_id)
    assert numbers == sorted(set(numbers))


# A source that changed


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clinic.people DROP COLUMN weight",
        "ALTER TABLE clinic.people DROP COLUMN name",
        "ALTER TABLE clinic.people RENAME COLUMN illness TO sickness",
        "DROP TABLE clinic.people",
        "ALTER TABLE clinic.people ALTER weight TYPE VARCHAR",
        "ALTER TABLE clinic.people RENAME TO persons",
    ],
)
def test_refresh_of_a_source_that_no_longer_fits_says_so_and_changes_nothing(
    released: Owner, change: str
) -> None:
    released.execute(change)
    before = whole_state(released.connection)
    with pytest.raises(PpdmError) as caught:
        released.execute(f"SELECT 1;\n{REFRESH}")
    assert not isinstance(caught.value, ppdm_sql.EngineError)
    assert (caught.value.line, caught.value.column) == (2, 17)
    assert "REFRESH RELEASE research.people" in str(caught.value)
    assert "graded_grouping(" not in str(caught.value)
    assert whole_state(released.connection) == before
    assert [info.version for info in released.releases()] == [1]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER illness TYPE INTEGER USING length(illness)",
        "ALTER illness TYPE DATE USING DATE '2020-01-01'",
        "ALTER illness TYPE BOOLEAN USING true",
        "ALTER illness TYPE ENUM ('Flu', 'HIV', 'Cancer')",
        "ALTER id TYPE VARCHAR",
        "ALTER weight TYPE DECIMAL(10, 3)",
    ],
)
def test_refresh_of_a_column_of_another_type_works_or_says_why(
    released: Owner, change: str
) -> None:
    released.execute(f"ALTER TABLE clinic.people {change}")
    before = whole_state(released.connection)
    said = ""
    try:
        released.execute(REFRESH)
    except PpdmError as error:
        said = str(error)
    if said:
        assert whole_state(released.connection) == before
        assert not any(word in said for word in ("Flu", "HIV", "Cancer"))
    else:
        assert len(rows(released, "FROM research.people")) == 6
        assert rows(released, "SELECT count(weight) FROM research.people") == [(5,)]
        lost = "SELECT count(*) FROM research.people WHERE illness IS NULL"
        (expected,) = rows(released, lost.replace("research", "clinic"))
        assert rows(released, lost) == [expected]


# A damaged store


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(path) as owner:
        owner.execute(PEOPLE)
        owner.execute(RELEASE)
    return path


@pytest.fixture
def closed(safe: Path, template: Path) -> Path:
    """A store with a release, closed."""
    shutil.copytree(template.parent, safe.parent)
    return safe


def damage(safe: Path, statement: str) -> State:
    with duckdb.connect(str(safe)) as raw:
        raw.execute(statement).fetchall()
        return whole_state(raw)


def state_of(safe: Path) -> State:
    with duckdb.connect(str(safe), read_only=True) as raw:
        return whole_state(raw)


OWNER = "clinic.ppdm_owner"


@pytest.mark.parametrize(
    "table", ["store", "releases", "versions", "columns", "figures", "hierarchies"]
)
def test_a_store_without_one_of_its_tables_is_refused(closed: Path, table: str) -> None:
    before = damage(closed, f"DROP TABLE {OWNER}.{table}")
    with pytest.raises(StoreError) as caught:
        ppdm_sql.connect(closed)
    assert f"the owner's store is damaged: {table} missing" in str(caught.value)
    assert "restore the database from a backup" in str(caught.value)
    assert state_of(closed) == before


def test_a_schema_of_our_name_without_a_store_is_refused(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)
    with duckdb.connect(str(safe)) as raw:
        raw.execute("CREATE SCHEMA ppdm_owner; CREATE TABLE ppdm_owner.mine (i INTEGER)")
    safe.chmod(0o600)
    before = state_of(safe)
    with pytest.raises(StoreError, match="damaged"):
        ppdm_sql.connect(safe)
    assert state_of(safe) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"DELETE FROM {OWNER}.store",
        f"INSERT INTO {OWNER}.store FROM {OWNER}.store",
        f"UPDATE {OWNER}.store SET root_key = 'short'::BLOB",
        f"UPDATE {OWNER}.store SET root_key = repeat('x', 33)::BLOB",
        f"CREATE OR REPLACE TABLE {OWNER}.store AS SELECT 3 AS format, NULL::BLOB AS root_key",
    ],
)
def test_a_store_without_its_root_key_is_refused(closed: Path, statement: str) -> None:
    before = damage(closed, statement)
    with pytest.raises(StoreError) as caught:
        ppdm_sql.connect(closed)
    assert "its root key is missing" in str(caught.value)
    assert state_of(closed) == before


@pytest.mark.parametrize("number", [0, 1, 99])
def test_a_store_of_another_format_is_refused(closed: Path, number: int) -> None:
    before = damage(closed, f"UPDATE {OWNER}.store SET format = {number}")
    with pytest.raises(StoreError) as caught:
        ppdm_sql.connect(closed)
    assert f"format {number}, this version of ppdm-sql reads 2" in str(caught.value)
    assert "use the version of ppdm-sql that made it" in str(caught.value)
    assert state_of(closed) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"ALTER TABLE {OWNER}.store DROP COLUMN root_key",
        f"ALTER TABLE {OWNER}.store RENAME COLUMN format TO form",
    ],
)
def test_a_store_with_other_columns_is_refused_in_words(closed: Path, statement: str) -> None:
    before = damage(closed, statement)
    with pytest.raises(PpdmError):
        ppdm_sql.connect(closed)
    assert state_of(closed) == before


def test_a_store_without_its_sequence_makes_no_release(closed: Path) -> None:
    before = damage(closed, f"DROP SEQUENCE {OWNER}.release_ids")
    with pytest.raises(PpdmError), ppdm_sql.connect(closed) as owner:
        owner.execute(RELEASE.replace("research.people", "research.other"))
    assert state_of(closed) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO {OWNER}.r1_v1_parameters FROM {OWNER}.r1_v1_parameters",
        f"DELETE FROM {OWNER}.r1_v1_parameters",
    ],
)
def test_a_parameter_table_without_exactly_one_row_is_refused(closed: Path, statement: str) -> None:
    before = damage(closed, statement)
    with ppdm_sql.connect(closed) as owner, pytest.raises(StoreError) as caught:
        owner.execute(REFRESH)
    assert "a parameter table does not have exactly one row" in str(caught.value)
    assert state_of(closed) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"DROP TABLE {OWNER}.r1_v1_parameters",
        f"DROP TABLE {OWNER}.r1_v1_t3_0_aliases",
        f"ALTER TABLE {OWNER}.r1_v1_parameters DROP COLUMN t2_0_low_1",
        f"ALTER TABLE {OWNER}.r1_v1_t3_0_aliases DROP COLUMN original",
        f"ALTER TABLE {OWNER}.r1_v1_t3_0_aliases RENAME COLUMN released TO alias",
        f"UPDATE {OWNER}.versions SET tables = []",
        f"UPDATE {OWNER}.versions SET tables = ['r1_v1_parameters']",
        f"UPDATE {OWNER}.versions SET definition = ''",
        f"UPDATE {OWNER}.versions SET definition = 'nonsense'",
        f"UPDATE {OWNER}.versions SET definition = 'SELECT 1; SELECT 2'",
        f"UPDATE {OWNER}.versions SET definition = 'CREATE RELEASE ('",
        f"UPDATE {OWNER}.versions SET definition = 'DROP RELEASE research.people'",
    ],
)
def test_refresh_from_a_damaged_version_is_refused_in_words(closed: Path, statement: str) -> None:
    before = damage(closed, statement)
    with ppdm_sql.connect(closed) as owner, pytest.raises(PpdmError):
        owner.execute(REFRESH)
    assert state_of(closed) == before


@pytest.mark.parametrize("definition", ["", "nonsense", "CREATE RELEASE ("])
@pytest.mark.parametrize(
    "question",
    ["SHOW RELEASES", "DESCRIBE RELEASE research.people", "EXPLAIN RELEASE research.people"],
)
def test_questions_about_a_damaged_version_are_answered_or_refused_in_words(
    people: Owner, definition: str, question: str
) -> None:
    people.execute(RELEASE)
    people.execute(f"UPDATE ppdm_owner.versions SET definition = '{definition}'")
    with suppress(PpdmError):
        people.execute(question).fetchall()


def test_a_store_that_was_dropped_is_not_made_anew(tmp_path: Path) -> None:
    """Red before: the next connect made another root key, and pseudonyms were others, unsaid."""
    path = tmp_path / "owner" / "a.duckdb"
    with ppdm_sql.connect(path) as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT i AS id FROM range(5) r(i);"
            "CREATE RELEASE r.t FROM t (id KEY AS pseudonym()); DROP SCHEMA ppdm_owner CASCADE"
        )
    with pytest.raises(
        StoreError, match="the owner's store is gone, and 1 view of releases is left"
    ):
        ppdm_sql.connect(path)
    with duckdb.connect(path) as plain:
        plain.execute("DROP VIEW r.t")
    ppdm_sql.connect(path).close()
