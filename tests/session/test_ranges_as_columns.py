"""`WITH (ranges = 'columns')`: the ends of ranges beside them, as numbers and dates."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import BindError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RULES = "(id KEY, age QUASI, born QUASI, pay QUASI, ward QUASI, ill SENSITIVE)"
GENERALIZE = "GENERALIZE age USING ages, born USING dates, pay USING pays, ward"


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE people AS SELECT i AS id, CASE WHEN i > 3 THEN (20 + hash(i) % 50)::INT END AS age,"
        " DATE '1970-01-01' + (hash(i, 2) % 9000)::INT AS born, (hash(i, 3) % 90000 / 7)::DECIMAL(9, 2) AS pay,"
        " 'W' || (i % 2) AS ward, ['Flu', 'HIV'][1 + (hash(i, 4) % 2)::INT] AS ill FROM range(300) t(i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20); CREATE HIERARCHY pays AS RANGES (1000, 5000);"
        "CREATE HIERARCHY dates AS DATE (month, quarter, year, decade)"
    )
    return owner


def joined(owner: Owner, folder: Path) -> list[tuple[object, ...]]:
    owner.publish("r.p", to=folder / "study.duckdb")
    with duckdb.connect(folder / "study.duckdb", read_only=True) as client:
        names = [row[0] for row in client.execute("DESCRIBE r.p").fetchall()]
        listed = {row[0] for row in client.execute("SELECT column_name FROM codebook").fetchall()}
    assert names == [
        "n", "age", "age_low", "age_high", "born", "born_low", "born_high",
        "pay", "pay_low", "pay_high", "ward", "ill",
    ]  # fmt: skip
    assert set(names) == listed
    owner.execute(f"ATTACH OR REPLACE '{folder}/study.duckdb' AS s (READ_ONLY)")
    return owner.execute(
        "SELECT p.*, s.* FROM people AS p JOIN s.r.p AS s ON s.n = p.id"
    ).fetchall()


@pytest.mark.parametrize(
    "how",
    [
        "UNTIL k = 3 SUPPRESS AT MOST 20 PERCENT WITH (loss = 'ilm', suppressed = 'star',",
        "UNTIL k = 3 WITH (method = 'mondrian',",
        "WHEN ill = 'HIV' UNTIL k = 3 SUPPRESS AT MOST 20 PERCENT WITH (",
    ],
)
@pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
def test_every_value_lies_between_its_ends(people: Owner, tmp_path: Path, how: str) -> None:
    rules = RULES.replace("id KEY", "id KEY, n NEUTRAL")
    people.execute(
        f"CREATE RELEASE r.p FROM (SELECT *, id AS n FROM people) {rules} {GENERALIZE} {how}"
        " ranges = 'columns', accept = ['identifying(n)', 'identifying(pay)', 'identifying(born)'])"
    )
    rows = joined(people, tmp_path)
    assert len(rows) > 200
    ranged = 0
    for row in rows:
        original, shown = row[1:4], row[7:16]
        for value, (label, low, high) in zip(
            original, (shown[0:3], shown[3:6], shown[6:9]), strict=True
        ):
            if label in (None, "*"):
                assert (low, high) == (None, None)
                continue
            assert type(low) is type(value)
            assert low <= value <= high  # type: ignore[operator]  # of one type
            ranged += low != high
    assert ranged > 100


def test_ends_are_those_of_the_label(people: Owner) -> None:
    people.execute(
        f"CREATE RELEASE r.p FROM people {RULES.replace('pay QUASI, ', '')}"
        " GENERALIZE age USING ages LEVEL 2, born USING dates LEVEL 3, ward UNTIL k = 2"
        " SUPPRESS AT MOST 90 PERCENT WITH (ranges = 'columns')"
    )
    found = people.execute(
        "SELECT DISTINCT age, age_low, age_high, born, born_low, born_high FROM r.p WHERE age IS NOT NULL"
    ).fetchall()
    for age, low, high, born, first, last in found:
        assert age == f"[{low}, {high + 1})"
        assert (first, last) == (date(int(born), 1, 1), date(int(born), 12, 31))
    people.execute("REFRESH RELEASE r.p")


def test_a_name_that_is_taken_is_refused(people: Owner) -> None:
    with pytest.raises(BindError, match="makes a column 'age_low', and there is one already"):
        people.execute(
            "CREATE RELEASE r.p FROM (SELECT *, 1 AS AGE_LOW FROM people) (id KEY, age QUASI, age_low NEUTRAL)"
            " GENERALIZE age UNTIL k = 3 WITH (ranges = 'columns')"
        )


@pytest.mark.parametrize(
    ("type_", "values", "hierarchy"),
    [
        ("SMALLINT", "(i * 100)::SMALLINT", "RANGES (20000)"),
        ("DECIMAL(4, 1)", "(i * 3)::DECIMAL(4, 1)", "RANGES (50, 100, 500)"),
        ("INTEGER", "(40000 + i % 20)::INTEGER", "SUPPRESS DIGITS RIGHT"),
        ("INTEGER", "(i % 3)::INTEGER", "TABLE groups"),
    ],
)
@pytest.mark.filterwarnings("ignore:r.again:ppdm_sql.errors.PrivacyWarning")
def test_releases_with_ends_can_be_read_whatever_the_labels(
    owner: Owner, tmp_path: Path, type_: str, values: str, hierarchy: str
) -> None:
    """Red before: CREATE said nothing, and every read failed."""
    owner.execute(
        f"CREATE TABLE t AS SELECT i AS id, {values} AS v FROM range(320) r(i);"
        "CREATE TABLE groups AS FROM (VALUES ('0', '1'), ('1', '1'), ('2', 'rare'));"
        f"CREATE HIERARCHY h AS {hierarchy};"
        "CREATE RELEASE r.p FROM t (id KEY, v QUASI) GENERALIZE v USING h LEVEL 1 UNTIL k = 2"
        " SUPPRESS AT MOST 90 PERCENT WITH (ranges = 'columns')"
    )
    owner.publish("r.p", to=tmp_path / "a.duckdb")
    columns = owner.execute("FROM r.p").columns
    assert ("v_low" in columns) == hierarchy.startswith("RANGES")
    if "v_low" in columns:
        (row,) = owner.execute("SELECT bool_and(v_low <= v_high) FROM r.p").fetchall()
        assert row == (True,)
    owner.execute(
        "CREATE RELEASE r.again FROM r.p (v NEUTRAL"
        + (", v_low NEUTRAL)" if "v_low" in columns else ")")
    )
    owner.publish("r.again", to=tmp_path / "b.duckdb")
