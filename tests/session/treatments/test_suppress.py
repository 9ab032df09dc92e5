"""suppress(): every value is NULL, of the column's own type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.treatments.suppress import Suppress
from ppdm_sql.treatments.treatment import Treatment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

VALUES = {
    "BOOLEAN": "true",
    "TINYINT": "1",
    "SMALLINT": "1",
    "INTEGER": "1",
    "BIGINT": "1",
    "HUGEINT": "1",
    "UTINYINT": "1",
    "USMALLINT": "1",
    "UINTEGER": "1",
    "UBIGINT": "1",
    "UHUGEINT": "1",
    "BIGNUM": "1",
    "DECIMAL(4,1)": "1.5",
    "DECIMAL(38,10)": "1.5",
    "FLOAT": "1.5",
    "DOUBLE": "'NaN'",
    "VARCHAR": "'secret'",
    "BLOB": "'secret'",
    "BIT": "'101'",
    "DATE": "'2026-01-01'",
    "TIME": "'12:00'",
    "TIMESTAMP": "'2026-01-01 12:00'",
    "TIMESTAMP_S": "'2026-01-01 12:00'",
    "TIMESTAMP_MS": "'2026-01-01 12:00'",
    "TIMESTAMP_NS": "'2026-01-01 12:00'",
    "TIMESTAMP WITH TIME ZONE": "'2026-01-01 12:00+00'",
    "TIME WITH TIME ZONE": "'12:00:00+00'",
    "INTERVAL": "'1 day'",
    "UUID": "'550e8400-e29b-41d4-a716-446655440000'",
    "JSON": "'{}'",
    "INTEGER[]": "[1]",
    "INTEGER[3]": "[1, 2, 3]",
    "VARCHAR[][]": "[['secret']]",
    "STRUCT(a INTEGER, b VARCHAR[])": "{'a': 1, 'b': ['secret']}",
    "MAP(VARCHAR, INTEGER)": "MAP {'secret': 1}",
    "UNION(n INTEGER, t VARCHAR)": "'secret'",
}
ENUMS = {
    "ENUM('secret')": "'secret'",
    "ENUM('secret')[]": "['secret']",
    "STRUCT(a ENUM('secret'))": "{'a': 'secret'}",
    "MAP(ENUM('secret'), INTEGER)": "MAP {'secret': 1}",
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def make(owner: Owner, type_: str, value: str, treatment: str = "suppress()") -> None:
    owner.execute(
        f"CREATE OR REPLACE TABLE t (x {type_});"
        f"INSERT INTO t VALUES ({value}), (NULL), ({value});"
        f"CREATE OR REPLACE RELEASE r.t FROM t (x SENSITIVE AS {treatment})"
    )


@pytest.mark.parametrize("type_", VALUES)
def test_all_null_and_the_type_stays(shared: Owner, type_: str) -> None:
    make(shared, type_, VALUES[type_])
    assert shared.sql("SELECT x, typeof(x) FROM r.t").fetchall() == [(None, type_)] * 3
    assert [column.type for column in shared.describe("r.t")] == [type_]


@pytest.mark.parametrize("type_", ENUMS)
def test_a_type_that_lists_values_becomes_text(shared: Owner, type_: str) -> None:
    make(shared, type_, ENUMS[type_])
    assert shared.sql("SELECT x, typeof(x) FROM r.t").fetchall() == [(None, "VARCHAR")] * 3
    assert [column.type for column in shared.describe("r.t")] == ["VARCHAR"]
    (view,) = shared.sql("SELECT sql FROM duckdb_views() WHERE schema_name = 'r'").fetchall()
    assert "secret" not in view[0]


def test_later_rows_are_null_too(shared: Owner) -> None:
    make(shared, "INTEGER", "1")
    shared.execute("INSERT INTO t VALUES (2)")
    assert shared.sql("FROM r.t").fetchall() == [(None,)] * 4


def test_reads_no_value(shared: Owner) -> None:
    """A value that cannot be computed is never computed."""
    shared.execute(
        "CREATE OR REPLACE TABLE words (x VARCHAR); INSERT INTO words VALUES ('no number');"
        "CREATE OR REPLACE RELEASE r.w FROM (SELECT x::INTEGER AS x FROM words)"
        " (x SENSITIVE AS suppress())"
    )
    assert shared.sql("SELECT x, typeof(x) FROM r.w").fetchall() == [(None, "INTEGER")]


def test_a_group_of_columns(people: Owner) -> None:
    people.execute("CREATE RELEASE r.p FROM clinic.people ((age, illness) QUASI AS suppress())")
    rows = people.sql("SELECT age, typeof(age), illness, typeof(illness) FROM r.p").fetchall()
    assert rows == [(None, "INTEGER", None, "VARCHAR")] * 6


def test_describe_says_that_nothing_undoes_it(shared: Owner) -> None:
    make(shared, "INTEGER", "1")
    (column,) = shared.describe("r.t")
    assert column.treatment == "suppress"
    assert column.undone_by == Suppress.undone_by
    assert column.inverse == "not invertible"
    assert Suppress.invert is Treatment.invert


@pytest.mark.parametrize("treatment", ["suppress(1)", "suppress(rows => 5)"])
def test_takes_no_arguments(shared: Owner, treatment: str) -> None:
    with pytest.raises(TreatmentError) as caught:
        make(shared, "INTEGER", "1", treatment)
    assert caught.value.span is not None


def test_what_follows_sees_only_nulls(shared: Owner) -> None:
    make(shared, "VARCHAR", "'secret'", "suppress() THEN mapping()")
    assert shared.sql("FROM r.t").fetchall() == [(None,)] * 3
    (found,) = shared.sql(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%t0_1_aliases'"
        " ORDER BY table_name DESC LIMIT 1"
    ).fetchall()
    assert shared.sql(f'FROM ppdm_owner."{found[0]}"').fetchall() == []


def test_what_follows_cannot_be_cut_into_bands(shared: Owner) -> None:
    with pytest.raises(TreatmentError, match="has no values to cut into bands"):
        make(shared, "INTEGER", "1", "suppress() THEN graded_grouping(bands => 2)")
