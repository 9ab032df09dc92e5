"""`SUPPRESS CELLS`: single cells become `*`, from the script to the published file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import BindError, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = (
    "CREATE OR REPLACE RELEASE r.p FROM people (id KEY, age QUASI, sex QUASI, town QUASI, ill SENSITIVE)"
    " GENERALIZE age USING ages{age}, sex, town UNTIL k = 3{more} SUPPRESS CELLS{share}"
)


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE people AS SELECT i AS id, (20 + hash(i) % 30)::INT AS age,"
        " ['F', 'M'][1 + (hash(i, 1) % 2)::INT] AS sex, 'T' || (hash(i, 2) % 4) AS town,"
        " ['Flu', 'HIV', 'Cold'][1 + (hash(i, 3) % 3)::INT] AS ill FROM range(300) t(i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10)"
    )
    return owner


def published(owner: Owner, folder: Path) -> list[tuple[str, str, str, str]]:
    owner.publish("r.p", to=folder / "study.duckdb")
    with duckdb.connect(folder / "study.duckdb", read_only=True) as client:
        return client.execute("SELECT age, sex, town, ill FROM r.p").fetchall()


def test_what_goes_out_holds_and_loses_less_than_whole_rows(people: Owner, tmp_path: Path) -> None:
    people.execute(RELEASE.format(age="", more=", l(ill) = 2", share=" AT MOST 60 PERCENT"))
    rows = published(people, tmp_path)
    sizes = Counter(row[:3] for row in rows)
    assert min(sizes.values()) >= 3
    assert all(len({r[3] for r in rows if r[:3] == shown}) >= 2 for shown in sizes)
    stars = sum(cell == "*" for row in rows for cell in row[:3])
    assert 0 < stars <= 0.6 * 900
    found = {one.figure: one.value for one in people.figures("r.p")}
    assert found["rows suppressed"] == 300 - len(rows)
    # The same classes by leaving whole rows out lose more.
    whole = RELEASE.format(age=" LEVEL 0", more=", l(ill) = 2", share="")
    people.execute(
        whole.replace("SUPPRESS CELLS", "SUPPRESS AT MOST 100%")
        .replace("sex,", "sex LEVEL 0,")
        .replace("town UNTIL", "town LEVEL 0 UNTIL")
    )
    other = {one.figure: one.value for one in people.figures("r.p")}
    precision = "precision of treated rows"
    assert (other[precision] or 0) < (found[precision] or 0)


def test_values_stay_as_they_are_without_a_level(people: Owner) -> None:
    people.execute(RELEASE.format(age="", more="", share=""))
    ages = {row[0] for row in people.execute("SELECT DISTINCT age FROM r.p").fetchall()}
    assert "*" in ages
    assert all(age == "*" or 20 <= int(age) < 50 for age in ages)
    done = people.interpret("r.p", "age = '*'")
    assert "single cells are * whatever their value is" in done.notes[0]
    people.execute("REFRESH RELEASE r.p")
    with pytest.raises(BindError, match="there are none to choose from"):
        people.execute("EXPLAIN HIERARCHIES FOR RELEASE r.p")


def test_too_many_cells_are_refused(people: Owner) -> None:
    with pytest.raises(Refused, match="with at most 1 percent of the cells suppressed"):
        people.execute(RELEASE.format(age="", more="", share=" AT MOST 1 PERCENT"))
    assert people.releases() == []


def test_records_that_stars_do_not_help_are_kept_or_left_out(people: Owner, tmp_path: Path) -> None:
    statement = RELEASE.format(age="", more=", l(ill) = 3", share="").replace(
        "FROM people (", "FROM (FROM people LIMIT 8) ("
    )
    people.execute(f"{statement} WITH (suppressed = 'star')")
    rows = published(people, tmp_path)
    assert len(rows) == 8
    sizes = Counter(row[:3] for row in rows if row[3] is not None)
    assert all(count >= 3 for count in sizes.values())


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        (
            "GENERALIZE age USING ages LEVEL 0 TO 2 UNTIL k = 3 SUPPRESS CELLS",
            "looks for no levels",
        ),
        (
            "GENERALIZE age UNTIL k = 3 SUPPRESS CELLS WITH (method = 'mondrian')",
            "suppresses no cells",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(people: Owner, clause: str, said: str) -> None:
    with pytest.raises(BindError, match=said):
        people.execute(f"CREATE RELEASE r.p FROM people (id KEY, age QUASI) {clause}")
