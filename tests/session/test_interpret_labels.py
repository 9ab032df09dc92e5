"""Labels of GENERALIZE read back: periods, ranges, lists of values, and where that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

SOURCE = """
CREATE TABLE t AS SELECT i AS id, DATE '2024-01-15' + (i % 12 * 30 + i // 12 % 3)::INTEGER AS admitted,
    20 + i % 40 AS age, ['x', 'y', 'z', 'w'][1 + i % 4] AS ward, 42300 + i % 20 AS zip
FROM range(240) AS r (i);
CREATE HIERARCHY periods AS DATE ({units});
CREATE HIERARCHY ages AS RANGES (10);
CREATE HIERARCHY wards AS TREE (('x', 'north'), ('y', 'north'), ('z', 'south'), ('w', 'south'));
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
"""


def released(owner: Owner, clause: str, k: int, more: str = "", units: str = "quarter") -> Owner:
    column = clause.split()[0]
    owner.execute(SOURCE.format(units=units))
    owner.execute(
        f"CREATE RELEASE r FROM t (id KEY, {column} QUASI) GENERALIZE {clause} {more} UNTIL k = {k}"
    )
    return owner


def read(owner: Owner, condition: str) -> str:
    done = owner.interpret("r", condition)
    assert (done.is_complete, done.notes) == (True, ())
    return done.original


@pytest.mark.parametrize(
    ("units", "label", "first", "end"),
    [
        ("month", "2024-12", "2024-12-01", "2025-01-01"),
        ("quarter", "2024-Q3", "2024-07-01", "2024-10-01"),
        ("quarter", "2024-Q4", "2024-10-01", "2025-01-01"),
        ("year", "2024", "2024-01-01", "2025-01-01"),
        ("decade", "2020s", "2020-01-01", "2030-01-01"),
    ],
)
def test_periods(owner: Owner, units: str, label: str, first: str, end: str) -> None:
    released(owner, "admitted USING periods", 20, units=units)
    expected = f"admitted >= CAST('{first}' AS DATE) AND admitted < CAST('{end}' AS DATE)"
    assert read(owner, f"admitted = '{label}'") == expected
    assert read(owner, f"admitted <> '{label}'") == f"NOT ({expected})"


def test_ranges(owner: Owner) -> None:
    released(owner, "age USING ages", 7)
    assert read(owner, "age = '[30, 40)'") == "age >= 30 AND age < 40"


def test_groups_of_a_tree_are_listed(owner: Owner) -> None:
    released(owner, "ward USING wards", 61)
    assert read(owner, "ward = 'north'") == "ward IN ('x', 'y')"
    assert read(owner, "ward IS NULL") == "ward IS NULL"


def test_codes_are_listed_as_the_source_has_them(owner: Owner) -> None:
    released(owner, "zip USING digits", 13)
    listed = ", ".join(str(code) for code in range(42310, 42320))
    assert read(owner, "zip = '4231*'") == f"zip IN ({listed})"


def test_a_column_that_was_left_is_itself(owner: Owner) -> None:
    released(owner, "age USING ages", 2)
    assert read(owner, "age = '30'") == "age = 30"
    assert read(owner, "age <> 30") == "age <> 30"
    assert read(owner, "age >= 30") == "age >= 30"
    assert read(owner, "age = 30.0") == "age = 30"


def test_a_column_of_stars_tells_nothing(owner: Owner) -> None:
    released(owner, "age", 100)
    assert read(owner, "age = '*'") == "TRUE"
    assert read(owner, "age <> '*'") == "FALSE"
    assert read(owner, "age IS NULL") == "FALSE"
    assert read(owner, "age IS NOT NULL") == "TRUE"


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("age = '[31, 40)'", "no row shows it"),
        ("age > '[30, 40)'", "labels have no order"),
        ("age < 30", "labels have no order"),
    ],
)
def test_what_no_label_says_stays(owner: Owner, condition: str, why: str) -> None:
    released(owner, "age USING ages", 7)
    done = owner.interpret("r", condition)
    assert (done.is_complete, len(done.notes)) == (False, 1)
    assert done.notes[0].endswith(f" stays in released terms: {why}")


@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # SCBA says what it leaves open
@pytest.mark.parametrize(
    ("when", "options", "why"),
    [
        ("WHEN id < 120", "", "rows outside WHEN show no label"),
        ("", "method = 'mondrian'", "local recoding (mondrian) gives one value different labels"),
        ("", "suppressed = 'star'", "a suppressed record shows * whatever its value is"),
    ],
)
def test_where_labels_stand_for_no_values_it_says_why(
    owner: Owner, when: str, options: str, why: str
) -> None:
    owner.execute(SOURCE.format(units="quarter"))
    owner.execute("INSERT INTO t (id, age) VALUES (500, 99)")
    owner.execute(
        f"CREATE RELEASE r FROM t (id KEY, age QUASI) GENERALIZE age USING ages {when}"
        " UNTIL k = 7 SUPPRESS AT MOST 5 PERCENT" + (f" WITH ({options})" if options else "")
    )
    done = owner.interpret("r", "age = '[30, 40)'")
    assert (done.is_complete, done.original) == (False, "main.r.age = '[30, 40)'")
    assert done.notes == (f"age = [30, 40) stays in released terms: {why}",)


def test_records_that_were_left_out_are_said(owner: Owner) -> None:
    owner.execute(SOURCE.format(units="quarter"))
    owner.execute("INSERT INTO t (id, age) VALUES (500, 99)")
    owner.execute(
        "CREATE RELEASE r FROM t (id KEY, age QUASI) GENERALIZE age USING ages UNTIL k = 7"
        " SUPPRESS AT MOST 5 PERCENT"
    )
    done = owner.interpret("r", "age IN ('[30, 40)', '[40, 50)')")
    assert done.original == "(age >= 30 AND age < 40) OR (age >= 40 AND age < 50)"
    assert done.notes == ("suppressed rows are left out of the release, but not of this condition",)


def test_an_earlier_version_has_its_own_labels_whatever_became_of_its_hierarchy(
    owner: Owner,
) -> None:
    released(owner, "ward USING wards", 61)
    owner.execute(
        "CREATE OR REPLACE HIERARCHY wards AS TREE"
        " (('x', 'north'), ('z', 'north'), ('y', 'south'), ('w', 'south'))"
    )
    owner.execute("REFRESH RELEASE r")
    assert owner.interpret("r", "ward = 'north'").original == "ward IN ('x', 'z')"
    assert owner.interpret("r", "ward = 'north'", version=1).original == "ward IN ('x', 'y')"


def test_ranges_of_floating_point_follow_what_was_released(owner: Owner) -> None:
    # 0.3 / 0.1 is less than 3 in binary: it was released in the range below.
    owner.execute("CREATE TABLE f AS SELECT unnest([0.2, 0.25, 0.3, 0.31, 0.35])::DOUBLE AS x")
    owner.execute("CREATE HIERARCHY tenths AS RANGES (0.1)")
    owner.execute("CREATE RELEASE r FROM f (x QUASI) GENERALIZE x USING tenths UNTIL k = 2")
    shown = dict(owner.execute("SELECT x, count(*) FROM r GROUP BY x").fetchall())
    for label, count in shown.items():
        text = owner.interpret("r", f"x = '{label}'").original
        assert text.startswith("x IN (")
        assert owner.execute(f"SELECT count(*) FROM f WHERE {text}").fetchall() == [(count,)]


def test_texts_of_rules(owner: Owner) -> None:
    released(owner, "admitted USING periods", 21)
    rules = pa.table({"rule": ["admitted=2024-Q3 => ward=x"]})
    (text,) = owner.interpret_table("r", rules).table.column("rule").to_pylist()
    assert text.startswith("(admitted >= CAST('2024-07-01' AS DATE) AND")
    assert text.endswith(") => ward=x")


def test_the_command_line(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ppdm_sql.connect(safe) as owner:
        released(owner, "age USING ages", 7)
    with pytest.raises(SystemExit) as ended:
        main(["interpret", "r", "--where", "age = '[30, 40)'", "--db", str(safe)])
    assert (ended.value.code, capsys.readouterr().out) == (0, "age >= 30 AND age < 40\n")
