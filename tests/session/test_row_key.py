"""The row key as one BIGINT: integers as they are, anything else by SHA-256 of its text."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from ppdm_sql.engine.sql import check_tree, to_sql
from ppdm_sql.engine.targets import DUCKDB
from ppdm_sql.release.row_key import row_key_number
from ppdm_sql.types import ColumnType
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
ID = "6f1c2b7e-0a52-4c57-9d0e-5f3f2f1f0a11"


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def by_hand(text: str) -> int:
    """Return the first 8 bytes of the digest, big-endian and signed."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def numbers(
    engine: duckdb.DuckDBPyConnection, type_: str, values: Sequence[object]
) -> list[int | None]:
    tree = row_key_number(exp.column("key"), ColumnType(type_))
    check_tree(tree, DUCKDB)
    query = f"SELECT {to_sql(tree)} AS n FROM (SELECT unnest($1::{type_}[]) AS key)"
    relation = engine.sql(query, params=[[*values]])
    assert [str(found) for found in relation.types] == ["BIGINT"]
    return [row[0] for row in relation.fetchall()]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("TINYINT", [-128, 0, 127]),
        ("SMALLINT", [-32768, 32767]),
        ("INTEGER", [-(2**31), 2**31 - 1]),
        ("BIGINT", [-(2**63), -1, 0, 1, 2**63 - 1]),
        ("UTINYINT", [0, 255]),
        ("USMALLINT", [65535]),
        ("UINTEGER", [2**32 - 1]),
    ],
)
def test_an_integer_is_taken_as_it_is(
    engine: duckdb.DuckDBPyConnection, type_: str, values: list[int]
) -> None:
    assert numbers(engine, type_, [*values, None]) == [*values, None]


@given(st.lists(texts | st.none(), max_size=20))
@example(["", "7", "é", "e\u0301", "'; DROP", '"', "日本", None])
@settings(max_examples=cases(60))
def test_a_text_is_the_beginning_of_its_digest(
    engine: duckdb.DuckDBPyConnection, values: list[str | None]
) -> None:
    found = numbers(engine, "VARCHAR", values)
    assert found == [None if value is None else by_hand(value) for value in values]


def test_digests_of_either_half_become_signed_numbers(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    values = [str(i) for i in range(200)]
    found = numbers(engine, "VARCHAR", values)
    assert found == [by_hand(value) for value in values]
    assert any(n is not None and n < 0 for n in found)
    assert any(n is not None and n >= 0 for n in found)


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("UUID", ID, ID),
        ("UUID", ID.upper(), ID),
        ("HUGEINT", 7, "7"),
        ("HUGEINT", -(2**100), str(-(2**100))),
        ("UBIGINT", 2**64 - 1, str(2**64 - 1)),
        ("UHUGEINT", 2**127, str(2**127)),
        ("DECIMAL(10,2)", "7", "7.00"),
        ("DATE", "2020-02-29", "2020-02-29"),
        ("TIMESTAMP", "2020-02-29 12:00:00", "2020-02-29 12:00:00"),
        ("BOOLEAN", True, "true"),
        ("ENUM('a', 'b')", "b", "b"),
    ],
)
def test_any_other_key_is_its_text(
    engine: duckdb.DuckDBPyConnection, type_: str, value: object, text: str
) -> None:
    assert numbers(engine, type_, [value, None]) == [by_hand(text), None]


def test_a_number_in_a_text_is_not_the_integer(engine: duckdb.DuckDBPyConnection) -> None:
    assert numbers(engine, "VARCHAR", ["7"]) != numbers(engine, "BIGINT", [7])


def test_keys_of_many_rows_do_not_meet(engine: duckdb.DuckDBPyConnection) -> None:
    """64 bits: two of 100,000 keys meet with a chance below one in a billion."""
    tree = to_sql(row_key_number(exp.column("key"), ColumnType("VARCHAR")))
    count = engine.sql(
        f"SELECT count(DISTINCT {tree}) FROM (SELECT 'P' || i AS key FROM range(100_000) AS r (i))"
    ).fetchall()
    assert count == [(100_000,)]


def test_python_s_own_uuids(engine: duckdb.DuckDBPyConnection) -> None:
    value = uuid.UUID(ID)
    assert numbers(engine, "UUID", [value]) == [by_hand(str(value))]
