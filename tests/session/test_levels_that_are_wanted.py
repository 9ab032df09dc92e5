"""`USING ages LEVEL 1 TO 2`: the owner says between which levels a column may be generalized."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import BindError, Refused, StatementError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = (
    "CREATE OR REPLACE RELEASE r.p FROM people (id KEY, age QUASI, zip QUASI)"
    " GENERALIZE age USING ages{age}, zip USING digits{zip} UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT"
)


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE people AS SELECT i AS id, (20 + i * 7 % 60)::INTEGER AS age, 100 + i * 13 % 90 AS zip"
        " FROM range(400) t(i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40); CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT"
    )
    return owner


def levels(owner: Owner) -> tuple[float, ...]:
    found = {one.figure: one.value for one in owner.figures("r.p")}
    return found["level of age"] or 0, found["level of zip"] or 0, found["loss (precision)"] or 0


def test_a_level_is_fixed_and_the_other_one_found(people: Owner) -> None:
    people.execute(RELEASE.format(age=" LEVEL 2", zip=""))
    assert levels(people)[0] == 2
    shown = people.execute("SELECT DISTINCT age FROM r.p ORDER BY 1").fetchall()
    assert shown[0] == ("[20, 30)",)
    people.execute("REFRESH RELEASE r.p")
    assert levels(people)[0] == 2


@pytest.mark.parametrize("age", list(itertools.combinations_with_replacement(range(6), 2)))
def test_it_is_the_best_between_the_levels(people: Owner, age: tuple[int, int]) -> None:
    """Against every pair of fixed levels inside."""
    people.execute(RELEASE.format(age=f" LEVEL {age[0]} TO {age[1]}", zip=" LEVEL 0 TO 2"))
    found = levels(people)
    assert age[0] <= found[0] <= age[1]
    losses = []
    for one in range(age[0], age[1] + 1):
        for other in range(3):
            try:
                people.execute(RELEASE.format(age=f" LEVEL {one}", zip=f" LEVEL {other}"))
            except Refused:
                continue
            losses.append(levels(people)[2])
    assert found[2] == pytest.approx(min(losses))


def test_explain_lists_what_lies_between(people: Owner) -> None:
    people.execute(RELEASE.format(age=" LEVEL 3 TO 4", zip=""))
    rows = people.execute("EXPLAIN HIERARCHIES FOR RELEASE r.p").fetchall()
    assert rows
    assert {row[0] for row in rows} <= {3, 4}


def test_what_is_written_is_kept(people: Owner) -> None:
    people.execute(RELEASE.format(age=" LEVEL 1 TO 3", zip=" LEVEL 2"))
    ((text,),) = people.execute(
        "SELECT definition FROM ppdm_owner.versions ORDER BY version DESC LIMIT 1"
    ).fetchall()
    assert "LEVEL 1 TO 3" in text
    assert "LEVEL 2 TO 2" in text


@pytest.mark.parametrize(
    ("age", "error", "what"),
    [
        (" LEVEL 9", BindError, "there is no level 9 of 'age': its levels go from 0 to 5"),
        (" LEVEL 3 TO 2", StatementError, "the lower one first"),
        (" LEVEL 1.5", StatementError, "whole numbers"),
        (" LEVEL 0", Refused, "no generalization reaches"),
    ],
)
def test_what_it_refuses(people: Owner, age: str, error: type[Exception], what: str) -> None:
    zip_ = " LEVEL 0" if error is Refused else ""
    with pytest.raises(error, match=what):
        people.execute(RELEASE.format(age=age, zip=zip_))


def test_regions_have_no_levels(people: Owner) -> None:
    with pytest.raises(BindError, match="has no levels"):
        people.execute(RELEASE.format(age=" LEVEL 2", zip="") + " WITH (method = 'mondrian')")


def test_without_until_it_only_recodes(people: Owner) -> None:
    """What is written is done, whatever the classes are; nothing else becomes coarser."""
    people.execute(
        "CREATE RELEASE r.p FROM people (id KEY, age QUASI, zip QUASI)"
        " GENERALIZE age USING ages LEVEL 2, zip WITH (accept = ['linked_rows'])"
    )
    assert levels(people)[:2] == (2, 0)
    people.execute("REFRESH RELEASE r.p")
    assert levels(people)[:2] == (2, 0)
    shown = "SELECT count(*) FROM r.p JOIN people USING (zip) WHERE r.p.zip IS NOT NULL"
    ((kept,),) = people.execute(shown).fetchall()
    assert kept > 0


@pytest.mark.parametrize("clause", ["GENERALIZE age USING ages", "GENERALIZE age, zip"])
def test_neither_how_far_nor_until_when(people: Owner, clause: str) -> None:
    with pytest.raises(StatementError, match="neither how far nor until when"):
        people.execute(f"CREATE RELEASE r.p FROM people (id KEY, age QUASI, zip QUASI) {clause}")


@pytest.mark.parametrize(
    "options", ["", "WITH (method = 'mondrian')", "WITH (suppressed = 'star')"]
)
@pytest.mark.parametrize("key", ["id KEY, ", ""])
def test_an_empty_source_waits_for_rows(
    people: Owner, tmp_path: Path, options: str, key: str
) -> None:
    people.execute("CREATE TABLE later AS FROM people LIMIT 0")
    people.execute(
        f"CREATE RELEASE r.l FROM later ({key}age QUASI, zip QUASI)"
        f" GENERALIZE age, zip UNTIL k = 5 {options}"
    )
    people.publish("r.l", to=tmp_path / "l.duckdb")
    people.execute("INSERT INTO later FROM people")
    assert people.execute("FROM r.l").fetchall() == []  # nobody has counted them yet
    people.execute("REFRESH RELEASE r.l")
    classes = "SELECT min(n) FROM (SELECT count(*) AS n FROM r.l GROUP BY age, zip)"
    ((least,),) = people.execute(classes).fetchall()
    assert least >= 5


def test_a_column_that_weighs_more_keeps_more(people: Owner) -> None:
    """Red without weights: the two releases are the same."""
    found = []
    for age, zip_ in ((" WEIGHT 50", ""), ("", " WEIGHT 50")):
        people.execute(RELEASE.format(age=age, zip=zip_))
        found.append(weighted(people))
    (age_first, zip_second), (age_second, zip_first) = found
    assert age_first < age_second
    assert zip_first < zip_second


def weighted(owner: Owner) -> tuple[float, float]:
    found = {one.figure: one.value for one in owner.figures("r.p")}
    assert "loss (precision, weighted)" in found
    return found["level of age"] or 0, found["level of zip"] or 0


@pytest.mark.parametrize("weight", ["0", "-1", "2000"])
def test_a_weight_out_of_range_is_an_error(people: Owner, weight: str) -> None:
    with pytest.raises(StatementError, match="a weight is above 0 and at most 1000"):
        people.execute(RELEASE.format(age=f" WEIGHT {weight}", zip=""))


def test_a_list_that_ends_in_one_group_has_no_star_above(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, ['a', 'b', 'c', 'd'][1 + i % 4] AS v, i % 50 AS w FROM range(100) r(i);"
        "CREATE TABLE listed AS FROM (VALUES ('a', 'ab', 'any'), ('b', 'ab', 'any'), ('c', 'cd', 'any'),"
        " ('d', 'cd', 'any')); CREATE HIERARCHY h AS TABLE listed"
    )
    made = "CREATE OR REPLACE RELEASE r FROM {} (id KEY, v QUASI) GENERALIZE v USING h UNTIL k = 60"
    owner.execute(made.format("t"))
    assert owner.execute("SELECT DISTINCT v FROM r").fetchall() == [("any",)]
    assert {one.figure: one.value for one in owner.figures("r")}["nodes of the lattice"] == 3
    # NULL is in no group: for it, there is a star.
    owner.execute(made.format("(SELECT id, CASE WHEN id > 5 THEN v END AS v FROM t)"))
    assert owner.execute("SELECT DISTINCT v FROM r").fetchall() == [("*",)]
