"""Types by their names, as DuckDB spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.types import DOUBLE, VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    Kind.INTEGER: [
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    ],
    Kind.DECIMAL: ["DECIMAL(4,1)", "DECIMAL(38,10)", "DECIMAL"],
    Kind.FLOAT: ["FLOAT", "DOUBLE"],
    Kind.TEXT: ["VARCHAR"],
    Kind.BOOLEAN: ["BOOLEAN"],
    Kind.DATE: ["DATE"],
    Kind.TIMESTAMP: ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"],
    Kind.UUID: ["UUID"],
    Kind.ENUM: ["ENUM('a', 'b')", "ENUM('[]')", "ENUM('INTEGER')", "ENUM(']')"],
    Kind.OTHER: [
        *("BLOB", "BIT", "INTERVAL", "TIME", "TIME WITH TIME ZONE", "BIGNUM"),
        "TIMESTAMP WITH TIME ZONE",  # its text depends on the time zone of the session
        "TIMESTAMP_NS",  # its nanoseconds are lost on the way
        *("INTEGER[]", "DOUBLE[3]", "VARCHAR[][]", "ENUM('a')[]", "TIMESTAMP[]"),
        *("STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "UNION(a INTEGER, b VARCHAR)"),
        "STRUCT(a ENUM('x'))",
    ],
}


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names]
)
def test_kind_of_a_column_as_duckdb_names_its_type(
    engine: duckdb.DuckDBPyConnection, kind: Kind, name: str
) -> None:
    (type_,) = engine.sql(f"SELECT NULL::{name}").types
    assert ColumnType(str(type_)).kind is kind


def test_kind_of_a_type_that_is_not_known() -> None:
    for text in ("", "1", '"NULL"', "JSON", "MY_TYPE", "integer"):
        assert ColumnType(text).kind is Kind.OTHER


def test_a_type_is_shown_by_its_name() -> None:
    assert str(ColumnType("DECIMAL(10,2)")) == "DECIMAL(10,2)"
    assert str(ColumnType("STRUCT(a INTEGER)[]")) == "STRUCT(a INTEGER)[]"


@pytest.mark.parametrize("name", ["ENUM('hidden')", "ENUM('hidden')[]", "STRUCT(a ENUM('hidden'))"])
def test_a_type_that_lists_values_does_not_show_them(name: str) -> None:
    assert str(ColumnType(name)) == "ENUM"
    assert f"{ColumnType(name)}" == "ENUM"
    assert "hidden" not in repr(ColumnType(name))


def test_types_are_equal_by_their_text() -> None:
    assert ColumnType("DOUBLE") == DOUBLE
    assert ColumnType("VARCHAR") == VARCHAR
    assert ColumnType("DECIMAL(4,1)") != ColumnType("DECIMAL(4,2)")


@pytest.mark.parametrize(
    ("text", "decimals"),
    [("INTEGER", 0), ("UHUGEINT", 0), ("DECIMAL(10,2)", 2), ("DOUBLE", None), ("VARCHAR", None)],
)
def test_types_say_how_many_decimals_their_numbers_have(text: str, decimals: int | None) -> None:
    assert ColumnType(text).decimals == decimals
