"""DESCRIBE RELEASE says in words how coarse a column became."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

SOURCE = """
CREATE TABLE t AS
SELECT i AS id, DATE '2020-01-01' + (i * 3)::INTEGER AS day,
    TIMESTAMP '2020-01-01' + to_hours(i * 50) AS hour, (10_000 + i * 7)::VARCHAR AS zip,
    i % 50 AS age, ['a', 'b', 'c', 'd'][1 + i % 4] AS ward
FROM range(400) AS numbers (i);
CREATE HIERARCHY days AS DATE (day, month, quarter, year);
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY ages AS RANGES (5, 10, 20);
CREATE HIERARCHY wards AS TREE (('a', 'x'), ('b', 'x'), ('c', 'y'), ('d', 'y'));
"""


@pytest.mark.parametrize(
    ("column", "k", "told", "shown"),
    [
        ("day USING days", 2, "of 4: months", "2020-01"),
        ("day USING days", 20, "of 4: years", "2020"),
        ("hour USING days", 2, "of 5: months", "2020-01"),
        ("zip USING digits", 2, "of 5: 2 characters from the right as *", "100**"),
        ("age USING ages", 2, "of 4: as it was", "0"),
        ("age USING ages", 20, "of 4: ranges of 5", "[0, 5)"),
        ("ward USING wards", 150, "of 2: groups of the hierarchy", "x"),
        ("ward", 150, "of 1: all *", "*"),
    ],
)
def test_levels_are_told_in_words(owner: Owner, column: str, k: int, told: str, shown: str) -> None:
    owner.execute(SOURCE)
    name = column.split()[0]
    owner.execute(
        f"CREATE RELEASE r FROM t (id KEY, {name} QUASI) GENERALIZE {column} UNTIL k = {k}"
    )
    assert {figure.figure: figure.note for figure in owner.figures("r")}[f"level of {name}"] == told
    assert (shown,) in owner.execute(f"SELECT {name} FROM r").fetchall()
