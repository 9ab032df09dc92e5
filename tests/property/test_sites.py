"""Several sites, one study: transforming the parts and combining them is transforming the whole."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis import given, settings

import ppdm_sql
from tests.cases import cases

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

PASSPHRASE = "correct horse battery staple"
WHOLE = """
    id KEY AS pseudonym(),
    age QUASI AS graded_grouping(bands => [[0, 29], [30, 60], [60, 90]], outside => 'clamp'),
    (x, y) SENSITIVE AS rotation() THEN noise(normal(0, 1), laplace(0, 2), rho => 40),
    pay SENSITIVE AS scaling(),
    seen NEUTRAL AS translation(by => 11),
    flag NEUTRAL,
    illness SENSITIVE AS mapping(prefix => 'I', domain => ['Flu', 'HIV', 'Cancer']),
    city NEUTRAL AS mapping()
"""
LEFT, _, RIGHT = WHOLE.partition(",\n    seen")
RIGHT = f"id KEY AS pseudonym(), seen{RIGHT}"
CITIES = ["a", "b", "Ä b", "☃", ""]
SITES = 3
OTHER_TYPES = {
    1: {"age": "SMALLINT"},
    2: {"id": "VARCHAR", "age": "BIGINT", "city": "VARCHAR COLLATE NOCASE"},
    3: {"id": "INTEGER", "age": "DECIMAL(9, 2)"},
}
"""The types of some columns at some sites: what is released must not depend on them."""
TYPES = pa.schema(
    {
        "id": pa.int64(),
        "age": pa.int32(),
        "x": pa.float64(),
        "y": pa.float64(),
        "pay": pa.float64(),
        "seen": pa.date32(),
        "flag": pa.bool_(),
        "illness": pa.string(),
        "city": pa.string(),
    }
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)
values = {
    "age": st.integers(-5, 120),
    "x": numbers,
    "y": numbers,
    "pay": numbers,
    "seen": st.dates(),
    "flag": st.booleans(),
    "illness": st.sampled_from(["Flu", "HIV", "Cancer"]),
    "city": st.sampled_from(CITIES),
}
rows = st.fixed_dictionaries({name: st.none() | value for name, value in values.items()})
tables = st.lists(rows, min_size=1, max_size=8).map(
    lambda found: [{"id": number, **row} for number, row in enumerate(found)]
)


@cache
def sites() -> tuple[Owner, ...]:
    """Owners with one agreement and the same releases; the first is the one who has everything.

    Releases are live views, so that an example only has to change the rows of a table.
    """
    owners = tuple(ppdm_sql.connect(":memory:") for _ in range(SITES + 1))
    with tempfile.TemporaryDirectory() as folder:
        for owner in owners:
            owner.on_passphrase(lambda _: PASSPHRASE)
        owners[0].execute(f"CREATE AGREEMENT north ({WHOLE})")
        owners[0].execute(f"EXPORT AGREEMENT north TO '{folder}/file'")
        for owner in owners[1:]:
            owner.execute(f"IMPORT AGREEMENT FROM '{folder}/file'")
    for index, owner in enumerate(owners):
        # Every site meets the cities in another order.
        turned = CITIES[index:] + CITIES[:index]
        owner.connection.register(
            "incoming", pa.Table.from_pylist([{"city": city} for city in turned], schema=TYPES)
        )
        owner.execute("CREATE TABLE t AS FROM incoming")
        for column, type_ in OTHER_TYPES.get(index, {}).items():
            owner.execute(f"ALTER TABLE t ALTER {column} TYPE {type_}")
        for name, columns in (("whole", WHOLE), ("lefts", LEFT), ("rights", RIGHT)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
                owner.execute("UPDATE t SET id = rowid")
                owner.execute(
                    f"CREATE RELEASE {name} FROM t ({columns}) WITH (agreement = 'north')"
                )
    return owners


def released(owner: Owner, table: list[dict[str, Any]], release: str = "whole") -> list[Any]:
    owner.connection.register("incoming", pa.Table.from_pylist(table, schema=TYPES))
    owner.execute("DELETE FROM t; INSERT INTO t FROM incoming")
    return owner.execute(f"FROM {release}").fetchall()


def in_order(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(found, key=lambda row: str(row[0]))


@settings(max_examples=cases(25))
@given(tables, st.data())
def test_stacking_transformed_parts_is_transforming_the_whole(
    whole: list[dict[str, Any]], data: st.DataObject
) -> None:
    place = [data.draw(st.integers(1, SITES), label="site") for _ in whole]
    stacked: list[tuple[Any, ...]] = []
    for site in range(1, SITES + 1):
        part = [row for row, at in zip(whole, place, strict=True) if at == site]
        stacked += released(sites()[site], part)
    assert in_order(stacked) == in_order(released(sites()[0], whole))


@settings(max_examples=cases(25))
@given(tables)
def test_joining_transformed_parts_is_transforming_the_whole(whole: list[dict[str, Any]]) -> None:
    left = in_order(released(sites()[1], whole, "lefts"))
    right = in_order(released(sites()[2], list(reversed(whole)), "rights"))
    assert [row[0] for row in left] == [row[0] for row in right]
    joined = [(*one, *other[1:]) for one, other in zip(left, right, strict=True)]
    assert joined == in_order(released(sites()[0], whole))
