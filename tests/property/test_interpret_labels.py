"""A condition on generalized columns and its translation pick the same rows of those that leave."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import given, settings

import ppdm_sql
from tests.cases import cases

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

SOURCE = """
CREATE TABLE t AS SELECT i AS n,
    CASE WHEN i % 23 = 0 THEN NULL ELSE DATE '1998-11-03' + (i * 131 % 2000)::INTEGER END AS day,
    TIMESTAMP '2023-12-30 20:00:00' + INTERVAL (i * 97 % 400) HOUR AS moment,
    CASE WHEN i % 19 = 0 THEN NULL ELSE i * 7 % 60 - 20 END AS age,
    (i % 40) / 10 AS dose, (i % 30 * 0.25)::DECIMAL(6, 2) AS pay,
    ['a', 'b', 'it''s', '*', NULL][1 + i % 5] AS word,
    (3990 + i % 25)::VARCHAR AS zip, i % 3 = 0 AS flag
FROM range(120) AS r (i);
CREATE HIERARCHY days AS DATE (day, month, quarter, year, decade);
CREATE HIERARCHY ages AS RANGES (5, 10, 20) FROM 2;
CREATE HIERARCHY doses AS RANGES (0.1, 0.5, 1);
CREATE HIERARCHY words AS TREE (('a', 'letter'), ('b', 'letter'), ('it''s', 'word'), ('*', 'word'));
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
"""
COLUMNS = {
    "day": "days", "moment": "days", "age": "ages", "dose": "doses", "pay": "doses",
    "word": "words", "zip": "digits", "flag": None,
}  # fmt: skip


@cache
def source() -> Owner:
    owner = ppdm_sql.connect(":memory:")
    owner.execute(SOURCE)
    return owner


@cache
def release(columns: tuple[str, ...], k: int, percent: int) -> tuple[str, dict[str, list[str]]]:
    """Return the name of a release of these columns, and the labels that each shows."""
    owner = source()
    name = f"r.{'_'.join(columns)}_{k}_{percent}"
    listed = ", ".join(f"{column} QUASI" for column in columns)
    grouped = ", ".join(
        column + (f" USING {COLUMNS[column]}" if COLUMNS[column] else "") for column in columns
    )
    owner.execute(
        f"CREATE RELEASE {name} FROM t (n KEY AS keep(), {listed}) GENERALIZE {grouped}"
        f" UNTIL k = {k} SUPPRESS AT MOST {percent} PERCENT"
    )
    labels = {}
    for column in columns:
        found = owner.execute(f"SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL")
        labels[column] = sorted(label for (label,) in found.fetchall())
    return name, labels


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, str]:
    columns = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=2, unique=True))
    name, labels = release(
        tuple(columns), draw(st.sampled_from((2, 4, 9))), draw(st.sampled_from((0, 30)))
    )
    parts = []
    for column in columns:
        label = f"'{draw(st.sampled_from(labels[column]))}'".replace("'it's'", "'it''s'")
        form = draw(st.sampled_from(("= {}", "<> {}", "IN ({})", "NOT IN ({})", "IS NULL", "IS NOT NULL")))  # fmt: skip
        parts.append(f"{column} {form.format(label)}")
    text = draw(st.sampled_from((" AND ", " OR "))).join(parts)
    return name, f"NOT ({text})" if draw(st.booleans()) else text


@settings(max_examples=cases(100))
@given(questions())
def test_the_originals_are_of_the_same_rows(question: tuple[str, str]) -> None:
    name, condition = question
    owner = source()
    done = owner.interpret(name, condition)
    assert done.is_complete, done.notes
    released = owner.execute(f"SELECT n FROM {name} WHERE {condition} ORDER BY n").fetchall()
    originals = owner.execute(
        f"SELECT n FROM t WHERE ({done.original}) AND n IN (SELECT n FROM {name}) ORDER BY n"
    ).fetchall()
    assert originals == released
