"""Whether two columns go together, beside plain counting and at any size of the table."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

import ppdm_sql
from ppdm_sql import PrivacyWarning
from ppdm_sql.engine.sql import column_of
from ppdm_sql.lifecycle.values_together import ValuesTogether, values_together
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def one() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def counted(owner: Owner) -> ValuesTogether:
    source = exp.alias_(exp.to_table("t"), "s", table=True)
    return values_together(owner._engine, source, column_of("a", "s"), column_of("b", "s"))


small = st.one_of(st.none(), st.integers(0, 5))


@settings(max_examples=cases(60))
@given(st.lists(st.tuples(small, small), max_size=40))
def test_counts_are_those_of_plain_counting(
    one: Owner, rows: list[tuple[int | None, int | None]]
) -> None:
    one.execute("CREATE OR REPLACE TABLE t (a INTEGER, b INTEGER)")
    if rows:
        one.connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    found = counted(one)
    first, second = Counter(a for a, _ in rows), Counter(b for _, b in rows)
    assert (found.rows, found.pairs) == (len(rows), len(set(rows)))
    assert (found.first, found.second) == (len(first), len(second))
    if rows:
        often = np.array(list(first.values()))[:, None], np.array(list(second.values()))[None, :]
        absent = (1 - np.maximum(*often) / len(rows)) ** np.minimum(*often)
        assert found.by_chance == pytest.approx((1 - absent).sum())
        met = sum(first[a] * second[b] for a, b in set(rows))
        assert found.missed == pytest.approx(len(rows) - met / len(rows), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_what_shuffled_rows_give(one: Owner, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    rows = 400
    sides = [drawn.geometric(p, rows) for p in drawn.uniform(0.01, 0.6, 2)]
    one.execute("CREATE OR REPLACE TABLE t (a INTEGER, b INTEGER)")
    one.connection.executemany("INSERT INTO t VALUES (?, ?)", np.transpose(sides).tolist())
    shuffled = [
        len(set(zip(sides[0].tolist(), drawn.permutation(sides[1]).tolist(), strict=True)))
        for _ in range(200)
    ]
    assert counted(one).by_chance == pytest.approx(np.mean(shuffled), rel=0.02)


BORN = "DATE '1950-01-01' + (hash(i) % 14600)::INT"
TOGETHER = {
    "two values": ("CASE WHEN i < 4 THEN 'F' ELSE 'M' END", "CASE WHEN i < 4 THEN 1 ELSE 2 END"),
    "birth date and age": (BORN, f"2026 - year({BORN})"),
    "the same in other words": ("hash(i) % 16", "3 * (hash(i) % 16)"),
    "but for a few errors": ("CASE i % 300 WHEN 0 THEN 99 ELSE hash(i) % 16 END", "hash(i) % 16"),
    "age and year of birth": (f"year({BORN})", f"date_sub('year', {BORN}, DATE '2024-06-15')"),
    "a band": ("(hash(i) % 60) // 10", "hash(i) % 60"),
}
APART = {
    "two values": ("CASE WHEN i < 4 THEN 'F' ELSE 'M' END", "hash(i) % 2"),
    "two rare ones": ("i % 97 = 0", "i % 89 = 0"),
    "birth date and another": (BORN, "hash(31 * i) % 40"),
    "nearly constant": ("i = 7", "hash(i) % 20"),
    "a number of its own": ("(hash(3 * i) % 1000000) / 7", "hash(5 * i) % 30"),
}


@pytest.mark.parametrize("rows", [300, 2_000, 20_000])
@pytest.mark.parametrize("columns", TOGETHER.values(), ids=TOGETHER)
def test_columns_that_go_together_are_found(
    one: Owner, columns: tuple[str, str], rows: int
) -> None:
    one.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT {columns[0]} AS a, {columns[1]} AS b FROM range({rows}) r (i)"
    )
    if rows == 300 and columns[0] == BORN:  # nobody shares a birthday: the order says it
        assert counted(one).determine_each_other() is None
    else:
        assert counted(one).determine_each_other() is True


@pytest.mark.parametrize("rows", [300, 2_000, 20_000])
@pytest.mark.parametrize("columns", APART.values(), ids=APART)
def test_columns_that_do_not_go_together_are_left_alone(
    one: Owner, columns: tuple[str, str], rows: int
) -> None:
    one.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT {columns[0]} AS a, {columns[1]} AS b FROM range({rows}) r (i)"
    )
    assert not counted(one).determine_each_other()


WARNED = {
    "few birth dates": (200, f"{BORN} AS x", "2026 - year(x) AS y", "RANGES (5, 20)"),
    "birth dates": (2000, f"{BORN} AS x", "2026 - year(x) AS y", "RANGES (5, 20)"),
    "years of birth": (2000, f"year({BORN}) AS x", f"date_sub('year', {BORN}, DATE '2024-06-15') AS y", "RANGES (5, 20)"),
    "few rows": (99, "2004 - i % 30 AS x", "20 + i % 30 AS y", "RANGES (5, 20)"),
    "two values": (300, "CASE WHEN i < 4 THEN 'Mrs' ELSE 'Mr' END AS x", "CASE WHEN i < 4 THEN 'F' ELSE 'M' END AS y", "TREE (('F', 'any'), ('M', 'any'))"),
    "cities": (2000, "10 + (i * 7919) % 90000 // 1000 AS x", "(10000 + (i * 7919) % 90000)::VARCHAR AS y", "SUPPRESS DIGITS RIGHT"),
}  # fmt: skip


@pytest.mark.parametrize("case", WARNED.values(), ids=WARNED)
def test_columns_that_go_together_are_warned_of_at_any_size(
    owner: Owner, case: tuple[int, str, str, str]
) -> None:
    """Before: not between some 1,600 and 23,000 birth dates, and never of two values."""
    rows, first, second, levels = case
    owner.execute(
        f"CREATE TABLE p AS SELECT i AS id, {first}, {second} FROM range({rows}) r (i);"
        f"CREATE HIERARCHY h AS {levels}"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        owner.execute(
            "CREATE RELEASE r.a FROM p (id KEY, y QUASI, x NEUTRAL) GENERALIZE y USING h UNTIL k = 10"
        )
    assert any("'x' may undo GENERALIZE of 'y'" in str(one.message) for one in caught)
