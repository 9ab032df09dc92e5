"""INTERPRET selects the rows: a condition on the release and its translation pick the same ones."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import given, settings

import ppdm_sql
from tests.cases import cases

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

ROWS = 60
MAKE = f"""
CREATE SCHEMA s;
CREATE TABLE s.t AS
SELECT i AS id,
       CASE WHEN i % 7 = 0 THEN NULL ELSE (15 + (i * 37) % 76)::INTEGER END AS age,
       CASE WHEN i % 11 = 0 THEN NULL ELSE 40 + (i * 13 % 50) + i / 10 END::DOUBLE AS weight,
       (1000 + i * 7919 % 90000)::INTEGER AS income,
       CASE WHEN i % 5 = 0 THEN NULL ELSE ['Flu', 'HIV', 'Stomach Cancer', 'it''s'][1 + i % 4] END
           AS illness,
       CASE WHEN i % 9 = 0 THEN NULL ELSE i * 0.37 END::DOUBLE AS x, (i * i % 17)::DOUBLE AS y,
       DATE '2020-01-01' + (i % 20)::INTEGER AS seen, i % 3 = 0 AS "order", ['a', 'b'][1 + i % 2] AS ward,
       i AS n
FROM range({ROWS}) AS r (i);
CREATE RELEASE s.r FROM s.t (
    id KEY AS pseudonym(),
    age QUASI AS graded_grouping(bands => [[15, 30], [30, 44], [46, 60], [60, 89]], outside => 'null'),
    weight SENSITIVE AS scaling(by => -0.3) THEN translation(by => 7.1),
    income SENSITIVE AS bit_plus(),
    illness SENSITIVE AS mapping(prefix => 'Illness'),
    (x, y) SENSITIVE AS scaling(by => [1.5, 2.5]) THEN rotation(degrees => 13.7),
    seen NEUTRAL AS translation(by => 11),
    "order" NEUTRAL, ward NEUTRAL, n NEUTRAL
);
"""
ORDERED = ("age", "weight", "x", "y", "seen")
COLUMNS = (*ORDERED, "income", "illness", '"order"', "ward", "id")


@cache
def study() -> tuple[Owner, dict[str, list[str]]]:
    """An owner, and literals of each released column as a miner would write them."""
    owner = ppdm_sql.connect(":memory:")
    owner.execute(MAKE)
    literals = {}
    for column in COLUMNS:
        values = owner.execute(f"SELECT DISTINCT {column} FROM s.r WHERE {column} IS NOT NULL")
        literals[column] = sorted(written(value) for (value,) in values.fetchall())
    return owner, literals


def written(value: Any) -> str:
    return repr(value) if isinstance(value, int | float) else f"'{value}'"


@st.composite
def leaves(draw: st.DrawFn) -> str:
    column = draw(st.sampled_from(COLUMNS))
    literal = st.sampled_from(study()[1][column])
    kind = draw(st.sampled_from(("compare", "null", "in", "between")))
    if kind == "null":
        return f"{column} IS {draw(st.sampled_from(('', 'NOT ')))}NULL"
    no = draw(st.sampled_from(("", "NOT ")))
    if kind == "between" and column in ORDERED:
        return f"{column} {no}BETWEEN {draw(literal)} AND {draw(literal)}"
    if kind == "in":
        return f"{column} {no}IN ({', '.join(draw(st.lists(literal, min_size=1, max_size=3)))})"
    operators = ("=", "<>", "<", "<=", ">", ">=") if column in ORDERED else ("=", "<>")
    sides = [column, draw(st.sampled_from(operators)), draw(literal)]
    return " ".join(sides if draw(st.booleans()) else mirrored(sides))


def mirrored(sides: list[str]) -> list[str]:
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return [sides[2], turned.get(sides[1], sides[1]), sides[0]]


predicates = st.recursive(
    leaves(),
    lambda inner: (
        st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(lambda t: f"({' '.join(t)})")
        | inner.map(lambda text: f"NOT ({text})")
    ),
    max_leaves=5,
)


@settings(max_examples=cases(120))
@given(predicates)
def test_translated_conditions_select_the_same_rows(predicate: str) -> None:
    owner, _ = study()
    done = owner.interpret("s.r", predicate)
    assert done.is_complete
    released = owner.execute(
        f"SELECT o.id FROM s.t AS o JOIN s.r AS r USING (n) WHERE {of_release(predicate)}"
    )
    chosen = sorted(released.fetchall())
    assert sorted(owner.execute(f"SELECT id FROM s.t WHERE {done.original}").fetchall()) == chosen


def of_release(predicate: str) -> str:
    """Return the condition as a subquery on one row of the release."""
    columns = ", ".join(f"r.{column} AS {column}" for column in COLUMNS)
    return f"EXISTS (SELECT 1 FROM (SELECT {columns}) WHERE {predicate})"


@settings(max_examples=cases(20))
@given(st.lists(st.sampled_from(("replace", "refresh", "insert")), max_size=5))
def test_every_version_reads_its_own_results(later: list[str]) -> None:
    make = "RELEASE r FROM t (id NEUTRAL, illness SENSITIVE AS mapping(), x NEUTRAL AS scaling())"
    steps = {
        "replace": f"CREATE OR REPLACE {make}",
        "refresh": "REFRESH RELEASE r",
        "insert": "INSERT INTO t SELECT max(id) + 1, 'new ' || max(id), max(x) + 1 FROM t",
    }
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT i AS id, 'ill ' || i AS illness, i + 0.5 AS x"
            " FROM range(4) AS r (i)"
        )
        results: dict[int, Any] = {}
        for step in ("replace", *later):
            owner.execute(steps[step])
            if step != "insert":  # what a miner has: nothing but the release
                results[len(results) + 1] = owner.sql("FROM r").to_arrow_table()
        originals = {row[0]: row for row in owner.execute("FROM t").fetchall()}
        for version, released in results.items():
            done = owner.interpret_table("r", released, version=version)
            assert done.notes == ()
            for row in done.table.to_pylist():
                assert (row["id"], row["illness"]) == originals[row["id"]][:2]
                assert abs(row["x"] - float(originals[row["id"]][2])) < 1e-9


@settings(max_examples=cases(60))
@given(st.sampled_from((">=", ">", "<", "<=")), st.integers(15, 89), st.integers(3, 9))
def test_a_short_print_of_an_image_means_the_original(operator: str, age: int, digits: int) -> None:
    owner, _ = study()
    images = owner.execute(
        "SELECT DISTINCT r.age FROM s.t AS o JOIN s.r AS r USING (n) WHERE o.age = $age"
        " AND r.age IS NOT NULL",
        {"age": age},
    ).fetchall()
    for (image,) in images:
        printed = f"{image:.{digits}f}"
        done = owner.interpret("s.r", f"age {operator} {printed}")
        exact = owner.interpret("s.r", f"age {operator} {image!r}")
        assert done.original == exact.original
        assert bool(done.notes) == (float(printed) != image)
