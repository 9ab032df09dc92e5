"""`ppdm_sql.register(con)`: the functions in anybody's connection, without any state of ours."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.treatments.kernels.bands import EDGES_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "2b7e151628aed2a6abf7158809cf4f3c"
SIGNATURES = {
    "ppdm_graded_grouping": (["DOUBLE", "DOUBLE[]"], "DOUBLE"),
    "ppdm_bit_plus": (["BIGINT"], "HUGEINT"),
    "ppdm_bit_minus": (["BIGINT"], "HUGEINT"),
    "ppdm_translation": (["DOUBLE", "DOUBLE"], "DOUBLE"),
    "ppdm_scaling": (["DOUBLE", "DOUBLE"], "DOUBLE"),
    "ppdm_rotation": (["DOUBLE", "DOUBLE", "DOUBLE"], "STRUCT(x DOUBLE, y DOUBLE)"),
    "ppdm_noise_normal": (["VARCHAR", "BIGINT", "DOUBLE", "DOUBLE"], "DOUBLE"),
    "ppdm_noise_uniform": (["VARCHAR", "BIGINT", "DOUBLE", "DOUBLE"], "DOUBLE"),
    "ppdm_noise_laplace": (["VARCHAR", "BIGINT", "DOUBLE", "DOUBLE"], "DOUBLE"),
    "ppdm_pseudonym": (["VARCHAR", "VARCHAR"], "VARCHAR"),
}
"""What an app is promised; there may be more."""
KEY_TEXT = "the key must be 32 hexadecimal digits, the same in every row"


@pytest.fixture(scope="module")
def app() -> Iterator[duckdb.DuckDBPyConnection]:
    """Somebody's connection, with the functions in it."""
    with duckdb.connect() as connection:
        ppdm_sql.register(connection)
        yield connection


def rows(app: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = app.sql(query).fetchall()
    return found


def listed(app: duckdb.DuckDBPyConnection) -> dict[str, tuple[list[str], str]]:
    found = rows(
        app,
        "SELECT function_name, parameter_types, return_type FROM duckdb_functions()"
        " WHERE function_name LIKE 'ppdm%'",
    )
    return {name: (types, returns) for name, types, returns in found}


def test_every_function_is_there_with_its_signature(app: duckdb.DuckDBPyConnection) -> None:
    assert SIGNATURES.items() <= listed(app).items()


def test_the_names_are_returned() -> None:
    with duckdb.connect() as connection:
        names = ppdm_sql.register(connection)
        assert set(names) == set(listed(connection))
        assert len(names) == len(set(names))
        assert set(SIGNATURES) <= set(names)
        assert all(name.startswith("ppdm_") for name in names)


def test_registering_twice_is_no_error() -> None:
    with duckdb.connect() as connection:
        assert ppdm_sql.register(connection) == ppdm_sql.register(connection)
        assert rows(connection, "SELECT ppdm_bit_plus(127)") == [(138,)]


def test_registering_in_a_second_cursor_of_the_same_database_is_no_error() -> None:
    with duckdb.connect() as connection:
        ppdm_sql.register(connection)
        with connection.cursor() as cursor:
            ppdm_sql.register(cursor)
            assert cursor.execute("SELECT ppdm_bit_plus(127)").fetchall() == [(138,)]
        assert rows(connection, "SELECT ppdm_bit_minus(138)") == [(127,)]


def test_an_owner_s_connection_has_them_and_may_be_given_them_again() -> None:
    with ppdm_sql.connect(":memory:") as owner:
        ppdm_sql.register(owner.connection)
        assert rows(owner.connection, "SELECT ppdm_bit_plus(127)") == [(138,)]


def test_the_numbers_of_the_documents(app: duckdb.DuckDBPyConnection) -> None:
    assert rows(app, "SELECT ppdm_bit_plus(65982), ppdm_bit_minus(65982)") == [(66093, 64871)]
    assert rows(app, "SELECT ppdm_translation(29, -3), ppdm_scaling(48, 1.035)") == [
        (26.0, pytest.approx(49.68))
    ]
    ((point,),) = rows(app, "SELECT ppdm_rotation(42, 60, 13.7)")
    assert {name: round(value, 3) for name, value in point.items()} == {"x": 55.015, "y": 48.346}
    assert rows(app, "SELECT ppdm_graded_grouping(40, [15, 30, 45])") == [
        (pytest.approx(2.6666666667),)
    ]


def test_a_turned_point_is_read_by_its_fields(app: duckdb.DuckDBPyConnection) -> None:
    found = rows(app, "SELECT p.x, p.y FROM (SELECT ppdm_rotation(1, 0, 30) AS p)")
    assert found == [(pytest.approx(math.sqrt(3) / 2), pytest.approx(-0.5))]


def test_a_pseudonym_is_forty_digits_of_sha_256(app: duckdb.DuckDBPyConnection) -> None:
    digest = hashlib.sha256(f"{KEY}:p:Ada".encode()).hexdigest()
    assert rows(app, f"SELECT ppdm_pseudonym('{KEY}', 'Ada')") == [(digest[:40],)]


def test_integers_and_decimals_are_taken_for_numbers(app: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT ppdm_translation(x, 2) FROM (VALUES (1::TINYINT)) AS t (x)"
    assert rows(app, query) == [(3.0,)]
    assert rows(app, "SELECT ppdm_scaling(1.5::DECIMAL(4, 1), 2)") == [(3.0,)]
    assert rows(app, "SELECT ppdm_bit_plus(200::UTINYINT)") == [(211,)]


@pytest.mark.parametrize(
    "call",
    [
        "ppdm_bit_plus(NULL)",
        "ppdm_bit_minus(NULL)",
        "ppdm_translation(NULL, 1)",
        "ppdm_translation(1, NULL)",
        "ppdm_scaling(NULL, 1)",
        "ppdm_scaling(1, NULL)",
        "ppdm_rotation(NULL, 1, 30).x",
        "ppdm_rotation(1, NULL, 30).x",
        "ppdm_rotation(1, 1, NULL).x",
        f"ppdm_noise_normal('{KEY}', NULL, 0, 1)",
        f"ppdm_noise_uniform('{KEY}', 1, NULL, 1)",
        f"ppdm_noise_laplace('{KEY}', 1, 0, NULL)",
        "ppdm_pseudonym(NULL, 'x')",
        "ppdm_pseudonym('k', NULL)",
        "ppdm_graded_grouping(NULL, [1, 2])",
        "ppdm_translation('nan'::DOUBLE, 1)",
        "ppdm_scaling('infinity'::DOUBLE, 1)",
        "ppdm_scaling(1e300, 1)",
        "ppdm_rotation('-infinity'::DOUBLE, 1, 30).y",
    ],
)
def test_null_in_null_out_and_what_is_no_number_too(
    app: duckdb.DuckDBPyConnection, call: str
) -> None:
    assert rows(app, f"SELECT {call}") == [(None,)]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("ppdm_noise_normal('topsecret', 1, 0, 1)", KEY_TEXT),
        (f"ppdm_noise_normal('{KEY}ff', 1, 0, 1)", KEY_TEXT),
        ("ppdm_noise_uniform(NULL, 1, 0, 1)", KEY_TEXT),
        ("ppdm_noise_laplace('', 1, 0, 1)", KEY_TEXT),
        ("ppdm_graded_grouping(987654, [3, 2, 1])", EDGES_TEXT),
        ("ppdm_graded_grouping(987654, [1, 1])", EDGES_TEXT),
        ("ppdm_graded_grouping(987654, [1])", EDGES_TEXT),
        ("ppdm_graded_grouping(987654, [1, NULL, 3])", EDGES_TEXT),
        ("ppdm_graded_grouping(987654, ['nan'::DOUBLE, 3])", EDGES_TEXT),
    ],
)
def test_a_wrong_argument_is_told_in_fixed_words(
    app: duckdb.DuckDBPyConnection, call: str, text: str
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        rows(app, f"SELECT {call}")
    message = str(caught.value)
    assert text in message
    assert message.endswith(text), "and in no others"
    for value in ("topsecret", KEY, "987654"):
        assert value not in message


def test_different_keys_in_one_query_are_refused(app: duckdb.DuckDBPyConnection) -> None:
    app.execute(f"CREATE OR REPLACE TABLE keys AS SELECT unnest(['{KEY}', '{KEY[::-1]}']) AS key")
    with pytest.raises(duckdb.Error, match=KEY_TEXT):
        rows(app, "SELECT ppdm_noise_normal(key, 1, 0, 1) FROM keys")


def test_more_rows_than_a_chunk_and_no_rows(app: duckdb.DuckDBPyConnection) -> None:
    drawn = f"ppdm_noise_normal('{KEY}', i, 0, 1)"
    assert rows(app, f"SELECT count(DISTINCT {drawn}) FROM range(10_000) AS r (i)") == [(10_000,)]
    assert rows(app, f"SELECT {drawn}, ppdm_bit_plus(i) FROM range(0) AS r (i)") == []
    moved = rows(app, "SELECT ppdm_bit_plus(i) FROM range(10_000) AS r (i)")
    assert sorted(y for (y,) in moved) == list(range(10_000)), "a permutation"


def test_the_same_arguments_always_give_the_same_noise(app: duckdb.DuckDBPyConnection) -> None:
    query = f"SELECT i, ppdm_noise_laplace('{KEY}', i, 0, 1) AS e FROM range(5_000) AS r (i)"
    first = dict(rows(app, query))
    with duckdb.connect() as other:
        ppdm_sql.register(other)
        other.execute("SET threads = 1")
        assert dict(rows(other, f"{query} ORDER BY i DESC")) == first
    assert dict(rows(app, f"FROM ({query}) WHERE i % 7 = 3")) == {
        i: e for i, e in first.items() if i % 7 == 3
    }


def test_functions_of_an_app_s_own_treatments_are_not_registered_by_name_alone() -> None:
    """Nothing but `ppdm_…` is added to somebody's connection."""
    with duckdb.connect() as connection:
        count = "SELECT count(DISTINCT function_name) FROM duckdb_functions()"
        ((before,),) = rows(connection, count)
        names = ppdm_sql.register(connection)
        assert rows(connection, count) == [(before + len(names),)]


def test_a_live_view_with_noise_needs_the_functions_and_others_do_not(tmp_path: Path) -> None:
    database = tmp_path / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(database) as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i AS id, 60.0 + i AS weight FROM range(3) AS t (i);"
            "CREATE RELEASE noised FROM people (id KEY, weight SENSITIVE AS noise(normal(0, 5)));"
            "CREATE RELEASE plain FROM people (id KEY AS pseudonym(), weight NEUTRAL)"
        )
        noised = owner.sql("FROM noised ORDER BY ALL").fetchall()
    with duckdb.connect(database) as app:
        assert len(rows(app, "FROM plain")) == 3
        with pytest.raises(duckdb.CatalogException, match="ppdm_normal does not exist"):
            app.sql("FROM noised")
        ppdm_sql.register(app)
        assert rows(app, "FROM noised ORDER BY ALL") == noised
