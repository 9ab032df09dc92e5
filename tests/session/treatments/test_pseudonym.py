"""pseudonym(): a keyed name, the same wherever the same column or entity is released."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.script import parse_name
from ppdm_sql.treatments.pseudonym import Pseudonym
from ppdm_sql.treatments.treatment import Treatment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def fill(owner: Owner, values: Sequence[object], type_: str = "VARCHAR", table: str = "t") -> None:
    owner.execute(f"CREATE OR REPLACE TABLE {table} (x {type_})")
    if values:
        owner.connection.execute(f"INSERT INTO {table} SELECT unnest(?)", [[*values]])


def release(
    owner: Owner, arguments: str = "", name: str = "r.t", source: str = "t", column: str = "x"
) -> list[str | None]:
    """Make a release of one column and return what it shows."""
    owner.execute(
        f"CREATE OR REPLACE RELEASE {name} FROM {source} ({column} KEY AS pseudonym({arguments}))"
    )
    return read(owner, name)


def read(owner: Owner, name: str = "r.t") -> list[str | None]:
    return [pseudonym for (pseudonym,) in owner.sql(f"FROM {name}").fetchall()]


def stored_key(owner: Owner, name: str = "r.t") -> str:
    entry = owner._releases.entry(parse_name(name))
    table = entry.storage.parameter_table()
    ((key,),) = owner.sql(f"SELECT t0_0_key FROM {table}").fetchall()
    return str(key)


def derived_key(owner: Owner, key_of: str) -> str:
    """HKDF-SHA256 (RFC 5869) without salt, written out, from the root key of the store."""
    ((root,),) = owner.sql("SELECT root_key FROM ppdm_owner.store").fetchall()
    extracted = hmac.digest(bytes(32), root, "sha256")
    info = b"ppdm-sql/1\0pseudonym\0" + key_of.encode()
    return hmac.digest(extracted, info + b"\1", "sha256")[:16].hex()


def expected(key: str, text: str, length: int = 16, prefix: str = "") -> str:
    return prefix + hashlib.sha256(f"{key}:p:{text}".encode()).hexdigest()[:length]


class TestValue:
    """What a pseudonym is: SHA-256 over key, tag and text, cut."""

    def test_is_what_hashlib_gives_from_the_stored_key(self, shared: Owner) -> None:
        fill(shared, ["Ada", "Bo", None, "Ada"])
        found = release(shared)
        key = stored_key(shared)
        assert found == [expected(key, "Ada"), expected(key, "Bo"), None, expected(key, "Ada")]

    def test_key_is_derived_from_the_root_key_and_the_source_column(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        release(shared)
        assert stored_key(shared) == derived_key(shared, 'table:"ppdm_store"."main"."t"."x"')

    def test_key_of_an_entity_is_derived_from_its_word(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        release(shared, "entity => 'patient'")
        assert stored_key(shared) == derived_key(shared, "entity:patient")

    @pytest.mark.parametrize(
        ("type_", "value", "text"),
        [
            ("VARCHAR", "", ""),
            ("VARCHAR", "日本 🦆 'x'", "日本 🦆 'x'"),
            ("VARCHAR", "a\x00b", "a\x00b"),
            ("TINYINT", -7, "-7"),
            ("BIGINT", 9007199254740993, "9007199254740993"),
            ("HUGEINT", 2**100, str(2**100)),
            ("DECIMAL(10,2)", "1.5", "1.50"),
            ("DATE", "2026-02-28", "2026-02-28"),
            (
                "UUID",
                "550E8400-E29B-41D4-A716-446655440000",
                "550e8400-e29b-41d4-a716-446655440000",
            ),
            ("ENUM('Ada')", "Ada", "Ada"),
        ],
    )
    def test_every_type_goes_by_its_text(
        self, shared: Owner, type_: str, value: object, text: str
    ) -> None:
        fill(shared, [value, None], type_)
        assert release(shared) == [expected(stored_key(shared), text), None]

    def test_a_number_and_its_text_are_the_same(self, owner: Owner) -> None:
        fill(owner, [7, -12], "INTEGER", "numbers")
        fill(owner, ["7", "-12"], "VARCHAR", "texts")
        numbers = release(owner, "entity => 'n'", "r.numbers", "numbers")
        texts = release(owner, "entity => 'n'", "r.texts", "texts")
        assert numbers == texts

    @pytest.mark.parametrize("length", [6, 16, 40])
    def test_length(self, shared: Owner, length: int) -> None:
        fill(shared, ["Ada"])
        assert release(shared, f"length => {length}") == [
            expected(stored_key(shared), "Ada", length)
        ]

    def test_a_shorter_one_begins_a_longer_one(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        (short,), (long,) = release(shared, "length => 8"), release(shared, "length => 40")
        assert short is not None
        assert long is not None
        assert long.startswith(short)

    @pytest.mark.parametrize("prefix", ["P-", "ünïcödé ", "it''s ", "%", "P" * 100])
    def test_prefix(self, shared: Owner, prefix: str) -> None:
        fill(shared, ["Ada", None])
        found = release(shared, f"prefix => '{prefix}'")
        plain = prefix.replace("''", "'")
        assert found == [expected(stored_key(shared), "Ada", prefix=plain), None]

    def test_arguments_may_stand_without_names(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        assert release(shared, "8, 'P', 'patient'") == [
            "P" + expected(stored_key(shared), "Ada", 8)
        ]

    def test_neither_key_nor_prefix_is_in_the_text_of_the_view(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        release(shared, "prefix => 'hidden_prefix', entity => 'hidden_entity'")
        (view,) = shared.sql("SELECT sql FROM duckdb_views() WHERE schema_name = 'r'").fetchall()
        for text in (view[0], shared.explain("r.t")):
            assert stored_key(shared) not in text
            assert "hidden" not in text

    def test_type_is_text_and_describe_says_what_undoes_it(self, shared: Owner) -> None:
        fill(shared, [1], "INTEGER")
        release(shared)
        (column,) = shared.describe("r.t")
        assert (column.type, column.treatment) == ("VARCHAR", "pseudonym")
        assert column.undone_by == Pseudonym.undone_by
        assert column.inverse == "by computing it again from the source"
        assert Pseudonym.invert is Treatment.invert

    def test_execution_as_function_is_the_same(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        native = release(shared)
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (x KEY AS pseudonym()) WITH (execution = 'udf')"
        )
        assert read(shared) == native

    def test_later_rows_have_theirs_at_once(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        release(shared)
        shared.execute("INSERT INTO t VALUES ('Bo')")
        assert read(shared)[1] == expected(stored_key(shared), "Bo")

    @pytest.mark.parametrize("values", [[], [None, None]], ids=["empty", "all null"])
    def test_columns_without_values(self, shared: Owner, values: list[None]) -> None:
        fill(shared, values)
        assert release(shared) == values


class TestSameKey:
    """Where pseudonyms meet, and where they must not."""

    def test_two_releases_of_a_column_agree(self, shared: Owner) -> None:
        fill(shared, ["Ada", "Bo"])
        assert release(shared) == release(shared, name="r.other")

    def test_refresh_and_or_replace_change_nothing(self, shared: Owner) -> None:
        fill(shared, ["Ada", "Bo"])
        before = release(shared)
        shared.execute("REFRESH RELEASE r.t")
        assert read(shared) == before
        assert release(shared) == before

    def test_a_table_made_again_under_its_name_is_the_same_column(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        before = release(shared)
        fill(shared, ["Ada"])
        assert release(shared) == before

    def test_a_view_and_a_query_of_the_column_agree_with_it(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        shared.execute("CREATE OR REPLACE VIEW v AS SELECT x AS renamed FROM t")
        table = release(shared)
        assert release(shared, name="r.v", source="v", column="renamed") == table
        query = release(shared, name="r.q", source="(SELECT x AS y FROM t)", column="y")
        assert query == table

    def test_quoted_and_other_case_is_the_same_column(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        assert release(shared) == release(shared, name="r.c", source='"T"', column='"X"')

    def test_columns_and_tables_have_keys_of_their_own(self, owner: Owner) -> None:
        owner.execute(
            "CREATE TABLE a (x VARCHAR, y VARCHAR); INSERT INTO a VALUES ('Ada', 'Ada');"
            "CREATE TABLE b (x VARCHAR); INSERT INTO b VALUES ('Ada')"
        )
        found = [
            release(owner, name="r.ax", source="a"),
            release(owner, name="r.ay", source="a", column="y"),
            release(owner, name="r.bx", source="b"),
            release(owner, "entity => 'x'", name="r.ex", source="a"),
            release(owner, "entity => 'y'", name="r.ey", source="a"),
        ]
        assert len({str(pseudonyms) for pseudonyms in found}) == 5

    def test_two_tables_of_one_entity_meet(self, owner: Owner) -> None:
        owner.execute(
            "CREATE TABLE visits (person VARCHAR, day DATE);"
            "INSERT INTO visits VALUES ('Ada', '2026-01-01'), ('Bo', '2026-01-02');"
            "CREATE TABLE bills (who VARCHAR, amount INTEGER);"
            "INSERT INTO bills VALUES ('Bo', 5), ('Cy', 6);"
            "CREATE RELEASE r.visits FROM visits"
            " (person KEY AS pseudonym(entity => 'patient'), day NEUTRAL);"
            "CREATE RELEASE r.bills FROM bills"
            " (who QUASI AS pseudonym(entity => 'patient'), amount NEUTRAL)"
        )
        joined = owner.sql(
            "SELECT v.day::VARCHAR, b.amount FROM r.visits v JOIN r.bills b ON v.person = b.who"
        )
        assert joined.fetchall() == [("2026-01-02", 5)]

    def test_an_entity_is_not_a_column_of_that_name(self, owner: Owner) -> None:
        fill(owner, ["Ada"])
        identity = 'table:"ppdm_store"."main"."t"."x"'
        assert release(owner) != release(owner, f"entity => '{identity}'")

    def test_two_owners_have_keys_of_their_own(self, shared: Owner, owner: Owner) -> None:
        fill(shared, ["Ada"])
        fill(owner, ["Ada"])
        assert release(shared, "entity => 'p'") != release(owner, "entity => 'p'")

    def test_a_file_agrees_with_itself_after_it_is_closed(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        database = tmp_path_factory.mktemp("place") / "owner" / "clinic.duckdb"
        with ppdm_sql.connect(database) as owner:
            fill(owner, ["Ada"])
            before = release(owner)
        with ppdm_sql.connect(database) as owner:
            assert read(owner) == before
            assert release(owner, name="r.again") == before


class TestCollisions:
    """Two values must never share a pseudonym."""

    def test_too_short_is_an_error_that_says_how_long(self, shared: Owner) -> None:
        """50,000 values in 2^24 places: no collision happens once in 10^32 runs."""
        shared.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x FROM range(50_000) r(i)")
        with pytest.raises(TreatmentError) as caught:
            release(shared, "length => 6")
        assert "values of 'x' would share pseudonyms with another" in caught.value.what
        assert caught.value.hint == "write a longer one: length => 14"
        assert caught.value.span is not None
        assert caught.value.span.source == "pseudonym(length => 6)"

    def test_a_long_one_is_unique(self, shared: Owner) -> None:
        shared.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x FROM range(50_000) r(i)")
        assert len(set(release(shared))) == 50_000

    def test_repeated_values_are_no_collision(self, shared: Owner) -> None:
        shared.execute("CREATE OR REPLACE TABLE t AS SELECT i % 9 AS x FROM range(50_000) r(i)")
        assert len(set(release(shared, "length => 6"))) == 9

    def test_refresh_finds_collisions_that_came_later(self, shared: Owner) -> None:
        shared.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x FROM range(2) r(i)")
        before = release(shared, "length => 6")
        shared.execute("INSERT INTO t SELECT i + 2 FROM range(50_000) r(i)")
        with pytest.raises(TreatmentError, match="would share pseudonyms"):
            shared.execute("REFRESH RELEASE r.t")
        assert read(shared)[:2] == before

    def test_a_column_that_ignores_case_has_no_collision(self, shared: Owner) -> None:
        fill(shared, ["Ada", "ADA", "Bo"], "VARCHAR COLLATE NOCASE")
        found = release(shared)
        assert len(found) == 3

    def test_texts_that_differ_in_form_only_are_different(self, shared: Owner) -> None:
        fill(shared, ["é", "e\u0301", "a", "a ", "A"])
        assert len(set(release(shared))) == 5


class TestRefused:
    """Columns and arguments it does not take."""

    @pytest.mark.parametrize(
        "type_",
        [
            "DOUBLE",
            "FLOAT",
            "BOOLEAN",
            "TIMESTAMP",
            "TIMESTAMP WITH TIME ZONE",
            "BLOB",
            "INTEGER[]",
            "STRUCT(a INTEGER)",
        ],
    )
    def test_types(self, shared: Owner, type_: str) -> None:
        fill(shared, [], type_)
        with pytest.raises(TreatmentError) as caught:
            release(shared)
        assert caught.value.what == f"pseudonym cannot treat 'x' of type {type_}"
        assert re.search("cast it in (a|the)", caught.value.hint or "")

    def test_a_double_that_is_cast_is_taken(self, shared: Owner) -> None:
        fill(shared, [7.0], "DOUBLE")
        found = release(shared, source="(SELECT x::BIGINT AS x FROM t)")
        assert found == [expected(stored_key(shared), "7")]

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            ("length => 5", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("length => 41", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("length => 64", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("length => 8.0", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("length => true", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("length => '16'", "pseudonym: 'length' must be a whole number from 6 to 40"),
            ("prefix => ''", "pseudonym: 'prefix' must be a text"),
            ("prefix => 5", "pseudonym: 'prefix' must be a text"),
            ("entity => ''", "pseudonym: 'entity' must be a text"),
            ("entity => null", "pseudonym: 'entity' must be a text"),
            ("key => 'k'", "unknown argument 'key' of pseudonym"),
        ],
    )
    def test_arguments(self, shared: Owner, arguments: str, what: str) -> None:
        fill(shared, ["Ada"])
        with pytest.raises(TreatmentError) as caught:
            release(shared, arguments)
        assert caught.value.what == what
        assert caught.value.span is not None
        assert caught.value.span.source == arguments

    def test_a_group_of_columns(self, people: Owner) -> None:
        with pytest.raises(TreatmentError, match="one column at a time"):
            people.execute(
                "CREATE RELEASE r.p FROM clinic.people ((id, name) QUASI AS pseudonym())"
            )


class TestChains:
    """Before and after THEN."""

    def test_pseudonym_of_aliases_is_of_the_alias(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (x SENSITIVE AS mapping('A') THEN pseudonym())"
        )
        ((key,),) = shared.sql(
            f"SELECT t0_1_key FROM"
            f" {shared._releases.entry(parse_name('r.t')).storage.parameter_table()}"
        ).fetchall()
        assert read(shared) == [expected(key, "A_1")]

    def test_pseudonym_of_a_pseudonym_has_a_key_of_its_own(self, shared: Owner) -> None:
        fill(shared, ["Ada", None])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t"
            " (x KEY AS pseudonym(length => 8) THEN pseudonym(length => 12, prefix => 'P'))"
        )
        table = shared._releases.entry(parse_name("r.t")).storage.parameter_table()
        ((first, second),) = shared.sql(f"SELECT t0_0_key, t0_1_key FROM {table}").fetchall()
        assert first != second
        assert read(shared) == [expected(second, expected(first, "Ada", 8), 12, "P"), None]

    def test_chains_agree_wherever_the_column_stands_in_its_release(self, owner: Owner) -> None:
        owner.execute(
            "CREATE TABLE people (id INTEGER, name VARCHAR); INSERT INTO people VALUES (1, 'Ada');"
            "CREATE RELEASE r.a FROM people (name QUASI AS pseudonym() THEN pseudonym());"
            "CREATE RELEASE r.b FROM people (id KEY AS keep(), name QUASI AS pseudonym() THEN pseudonym())"
        )
        assert owner.sql("SELECT name FROM r.a").fetchall() == (
            owner.sql("SELECT name FROM r.b").fetchall()
        )

    def test_after_a_mapping_refresh_changes_nothing(self, owner: Owner) -> None:
        fill(owner, ["Flu", "HIV"])
        owner.execute("CREATE RELEASE r.t FROM t (x SENSITIVE AS mapping() THEN pseudonym())")
        before = set(read(owner))
        owner.execute("INSERT INTO t VALUES ('Mumps'); REFRESH RELEASE r.t")
        assert before < set(read(owner))

    def test_after_keep_it_is_what_it_is_alone(self, shared: Owner) -> None:
        fill(shared, ["Ada"])
        alone = release(shared)
        shared.execute("CREATE OR REPLACE RELEASE r.t FROM t (x KEY AS keep() THEN pseudonym())")
        assert read(shared) == alone

    def test_bands_cannot_be_made_of_pseudonyms(self, shared: Owner) -> None:
        fill(shared, [1, 2], "INTEGER")
        with pytest.raises(
            TreatmentError, match="graded_grouping cannot treat 'x' of type VARCHAR"
        ):
            shared.execute(
                "CREATE OR REPLACE RELEASE r.t FROM t"
                " (x KEY AS pseudonym() THEN graded_grouping(bands => 2))"
            )
