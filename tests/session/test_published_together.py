"""Publications of one column, judged together: groups, noises, rows that were left alone."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pandas as pd
import pytest

from ppdm_sql.errors import PrivacyWarning, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture
def people(owner: Owner) -> Owner:
    pay = np.random.default_rng(5).lognormal(8, 0.5, 1000).round(2)
    owner.register("people", pd.DataFrame({"id": np.arange(1000), "pay": pay}))
    return owner


def quiet(owner: Owner, script: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        owner.execute(script)


def release(owner: Owner, name: str, *columns: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.{name} FROM people (id KEY, {', '.join(columns)})")


def said(owner: Owner, name: str, path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", PrivacyWarning)
        owner.publish(f"r.{name}", to=path / f"{name}{len(list(path.iterdir()))}.duckdb")
    return [str(one.message) for one in found]


GROUPS = "pay SENSITIVE AS microaggregation(size => {})"


def test_two_sizes_of_groups_give_single_values_and_are_told(people: Owner, tmp_path: Path) -> None:
    """Sums of the first groups of one size less those of the other are one value, to the cent."""
    release(people, "a", GROUPS.format(5))
    release(people, "b", GROUPS.format(4))
    assert said(people, "a", tmp_path) == []
    (warning,) = said(people, "b", tmp_path)
    assert "'pay' is shown in other groups by r.a" in warning
    sums: dict[int, float] = {}
    found = []
    for file in sorted(tmp_path.iterdir()):
        with duckdb.connect(str(file), read_only=True) as shown:
            (name,) = shown.execute("SELECT release FROM release_info").fetchone() or ()
            rows = shown.execute(
                f"SELECT pay, count(*) FROM {name} GROUP BY 1 ORDER BY 1"
            ).fetchall()
        for count, total in zip(
            np.cumsum([n for _, n in rows]), np.cumsum([pay * n for pay, n in rows]), strict=True
        ):
            for other in (int(count) - 1, int(count) + 1):
                if other in sums:
                    found.append(abs(total - sums[other]))
        sums |= {
            int(count): float(total)
            for count, total in zip(
                np.cumsum([n for _, n in rows]), np.cumsum([p * n for p, n in rows]), strict=True
            )
        }
    pay = people.execute("SELECT pay FROM people").df()["pay"].to_numpy()
    exact = [value for value in found if np.abs(pay - value).min() < 0.006]
    assert len(exact) > 20, "the attack that the warning is about"


def test_groups_that_stay_and_groups_beside_each_other(people: Owner, tmp_path: Path) -> None:
    release(people, "a", GROUPS.format(5))
    assert said(people, "a", tmp_path) == []
    people.execute(
        "INSERT INTO people SELECT 1000 + i, 3000 FROM range(50) t(i); REFRESH RELEASE r.a"
    )
    assert not [text for text in said(people, "a", tmp_path) if "other groups" in text]
    people.execute("CREATE OR REPLACE TABLE people AS SELECT *, pay AS pay2 FROM people")
    release(people, "two", GROUPS.format(7), "pay2 SENSITIVE AS microaggregation(size => 10)")
    assert not [text for text in said(people, "two", tmp_path) if "beside it" in text]
    people.execute(
        "CREATE RELEASE r.beside FROM (SELECT id, pay, pay AS again FROM people) (id KEY,"
        f" {GROUPS.format(7)}, again SENSITIVE AS microaggregation(size => 10))"
    )
    assert [
        text for text in said(people, "beside", tmp_path) if "in other groups beside it" in text
    ]


def test_rows_that_two_noises_leave_alone_are_told(people: Owner, tmp_path: Path) -> None:
    release(people, "a", "pay SENSITIVE AS noise(normal(0, 500), rho => 50)")
    release(people, "b", "pay SENSITIVE AS noise(normal(0, 500), rho => 60)")
    assert said(people, "a", tmp_path) == []
    texts = said(people, "b", tmp_path)
    assert [text for text in texts if "where the two agree, the value is the original one" in text]
    with pytest.raises(Refused):
        people.publish("r.b", to=tmp_path / "strict.duckdb", strict=True)


def test_one_noise_per_person_is_one_behind_whatever_treatment(
    people: Owner, tmp_path: Path
) -> None:
    noise = "pay SENSITIVE AS noise(normal(0, 500), per => 'person')"
    release(people, "a", noise)
    said(people, "a", tmp_path)
    people.execute("UPDATE people SET pay = pay + 1000 WHERE id % 2 = 0")
    release(people, "b", f"{noise} THEN top_code(at => 10000000)")
    texts = said(people, "b", tmp_path)
    assert [text for text in texts if "one noise per person, the same as in" in text]
    assert not [text for text in texts if "independent noises" in text]


def test_noise_that_is_rounded_later_is_the_same_noise(people: Owner, tmp_path: Path) -> None:
    release(people, "a", "pay SENSITIVE AS noise(normal(0, 500))")
    release(people, "b", "pay SENSITIVE AS noise(normal(0, 500)) THEN round(to => 50)")
    release(people, "c", "pay SENSITIVE AS round(to => 50) THEN noise(normal(0, 500))")
    said(people, "a", tmp_path)
    assert said(people, "b", tmp_path) == []
    assert [text for text in said(people, "c", tmp_path) if "2 independent noises" in text]


def test_relative_noise_is_the_same_in_whatever_order_rows_are_read(
    people: Owner, tmp_path: Path
) -> None:
    """The last bits of a standard deviation depend on the order of its sums."""
    noise = "(id KEY AS keep(), pay SENSITIVE AS noise(normal(0, relative => 0.5)))"
    people.execute(f"CREATE RELEASE r.a FROM people {noise}")
    people.execute(f"CREATE RELEASE r.b FROM (SELECT * FROM people ORDER BY id DESC) {noise}")
    assert people.execute("FROM r.a ORDER BY id").fetchall() == (
        people.execute("FROM r.b ORDER BY id").fetchall()
    )


def test_a_number_of_rows_ties_no_two_tables(people: Owner, tmp_path: Path) -> None:
    """Before: every later publication was warned of, of whatever table, once for each version."""
    people.execute("CREATE TABLE zoo AS SELECT i AS animal, i % 7 AS kind FROM range(500) t(i)")
    with pytest.warns(PrivacyWarning, match="'nr' numbers the rows"):
        people.execute(
            "CREATE RELEASE r.a FROM (SELECT row_number() OVER () AS nr, * FROM people)"
            " (nr KEY AS pseudonym(), pay QUASI) GENERALIZE pay UNTIL k = 5"
        )
    said(people, "a", tmp_path)
    with pytest.warns(PrivacyWarning, match="'nr' numbers the rows"):
        people.execute("REFRESH RELEASE r.a")
    said(people, "a", tmp_path)
    people.execute("CREATE RELEASE r.zoo FROM zoo (animal KEY AS pseudonym(), kind QUASI)")
    assert said(people, "zoo", tmp_path) == []


def test_noises_of_other_columns_of_a_table_that_is_gone_are_not_counted(
    people: Owner, tmp_path: Path
) -> None:
    people.execute("CREATE TABLE old AS SELECT id, pay AS hours FROM people")
    people.execute("CREATE RELEASE r.a FROM old (id KEY, hours SENSITIVE AS noise(normal(0, 500)))")
    said(people, "a", tmp_path)
    people.execute("DROP TABLE old")
    release(people, "b", "pay SENSITIVE AS noise(normal(0, 500))")
    assert not [text for text in said(people, "b", tmp_path) if "independent noises" in text]


def test_persons_are_those_that_went_out(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE OR REPLACE TABLE people AS SELECT i AS id, i // 20 AS age FROM range(101) t(i);"
        "CREATE RELEASE r.a FROM people (id KEY, age QUASI) GENERALIZE age UNTIL k = 5"
        " SUPPRESS AT MOST 5 PERCENT"
    )
    said(people, "a", tmp_path)
    (one,) = people.publications()
    assert one.persons == one.rows == 100


def test_two_parts_of_one_column_are_told(people: Owner, tmp_path: Path) -> None:
    """The first six characters here and the last six there are all ten."""
    people.execute(
        "CREATE OR REPLACE TABLE people AS SELECT i AS id, md5(i::VARCHAR)[:10] AS account,"
        " md5(i::VARCHAR)[:10] AS other FROM range(50) t(i)"
    )
    release(people, "a", "account NEUTRAL AS partial(left => 6)")
    release(people, "b", "account NEUTRAL AS partial(right => 6)")
    release(people, "c", "other NEUTRAL AS partial(left => 3)")
    assert said(people, "a", tmp_path) == []
    assert [text for text in said(people, "b", tmp_path) if "show one column by two rules" in text]
    assert said(people, "c", tmp_path) == []
    assert not [text for text in said(people, "a", tmp_path) if "'account' of r.a" in text]


@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ("noise(normal(0, 500))", "noise(normal(0, 501))", "2 independent noises"),
        (
            "noise(normal(0, 500), rho => 50)",
            "noise(normal(0, 900), rho => 50)",
            "where the two agree",
        ),
        ("microaggregation(size => 5)", "microaggregation(size => 6)", "in other groups"),
        (
            "noise(normal(0, 500), per => 'person')",
            "noise(normal(0, 500), per => 'person')",
            "one noise per person, the same as in",
        ),
    ],
)
def test_what_a_release_below_did_is_judged_too(
    people: Owner, tmp_path: Path, first: str, second: str, warned: str
) -> None:
    """Before: one release in between, and nothing of it was said."""
    release(people, "a", f"pay SENSITIVE AS {first}")
    release(people, "b", f"pay SENSITIVE AS {second}")
    quiet(
        people,
        "CREATE RELEASE r.through FROM (SELECT * FROM r.b) (pay SENSITIVE)"
        " WITH (accept = ['identifying(pay)'])",
    )
    said(people, "a", tmp_path)
    assert [text for text in said(people, "through", tmp_path) if warned in text]


def test_the_same_noise_through_a_release_is_one_draw(people: Owner, tmp_path: Path) -> None:
    quiet(
        people,
        "CREATE RELEASE r.b FROM people (id KEY AS keep(), pay SENSITIVE AS noise(normal(0, 500)));"
        "CREATE RELEASE r.through FROM r.b (id KEY AS keep(), pay SENSITIVE)"
        " WITH (accept = ['identifying(pay)'])",
    )
    said(people, "b", tmp_path)
    assert not [text for text in said(people, "through", tmp_path) if "independent" in text]


def test_targets_of_a_release_below_are_verified(people: Owner, tmp_path: Path) -> None:
    quiet(
        people,
        "CREATE OR REPLACE TABLE people AS SELECT i AS id, i // 10 AS age FROM range(100) t(i);"
        "CREATE RELEASE r.below FROM people (id KEY AS keep(), age QUASI) GENERALIZE age UNTIL k = 5;"
        "CREATE RELEASE r.through FROM r.below (id KEY AS keep(), age QUASI);"
        "CREATE RELEASE r.other FROM people (id KEY AS keep(), age QUASI)",
    )
    assert not [text for text in said(people, "through", tmp_path) if "classes" in text]
    texts = said(people, "through", tmp_path)
    assert [text for text in texts if "it reads r.below, whose classes cannot be counted" in text]
    people.execute("DELETE FROM people WHERE id < 9")
    with pytest.raises(Refused) as caught:
        people.publish("r.through", to=tmp_path / "after.duckdb")
    assert caught.value.code == "target_missed"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("encrypt(keep_prefix => 6)", "encrypt(keep_suffix => 6)"),
        ("encrypt(keep_prefix => 6)", "partial(right => 6)"),
        ("partial(left => 6)", "partial(right => 6)"),
    ],
)
def test_two_ends_of_a_number_are_told(owner: Owner, tmp_path: Path, one: str, other: str) -> None:
    """Red before: the file gave every account number, and strict PUBLISH said nothing."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, printf('%012d', (i * 7919133571) % 1000000000000) AS acct"
        " FROM range(50) r(i)"
    )
    owner.execute(
        f"CREATE RELEASE r.e FROM (SELECT id, acct, acct AS acct2 FROM t) (id KEY, acct NEUTRAL AS {one},"
        f" acct2 NEUTRAL AS {other})"
    )
    with pytest.warns(PrivacyWarning, match="show one column by two rules"):
        owner.execute(f"PUBLISH RELEASE r.e TO '{tmp_path}/e.duckdb'")


@pytest.mark.parametrize("rule", ["top_code(at => 3000)", "round(to => 1000)"])
@pytest.mark.parametrize("other", ["translation()", "scaling()", "graded_grouping(bands => 4)"])
def test_a_rule_beside_a_sum_is_told(owner: Owner, tmp_path: Path, rule: str, other: str) -> None:
    """What a limit hides, a constant added to all gives back: the file itself says the constant."""
    owner.execute(
        "CREATE TABLE pay AS SELECT i AS id, 1000 + (i * 7919) % 9000 AS pay FROM range(90) r(i)"
    )
    owner.execute(
        f"CREATE RELEASE r.c FROM (SELECT id, pay, pay AS pay2 FROM pay) (id KEY, pay NEUTRAL AS {other},"
        f" pay2 NEUTRAL AS {rule})"
    )
    with pytest.warns(PrivacyWarning, match="show one column by two rules"):
        owner.execute(f"PUBLISH RELEASE r.c TO '{tmp_path}/c.duckdb'")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("translation()", "scaling()"),
        ("translation()", "shuffle()"),
        ("translation()", "microaggregation(size => 5)"),
        ("translation()", "noise(normal(0, 300))"),
        ("mapping()", "pram(keep => 0.6)"),
        ("pseudonym()", "pram(keep => 0.6)"),
        ("mapping()", "microaggregation(size => 5)"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*single out rows as names")
def test_a_column_that_is_treated_otherwise_is_told(
    owner: Owner, tmp_path: Path, first: str, second: str
) -> None:
    """Each alone is as strong as it says; together, everybody's value was exact."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 1000 + i * 7919 % 40 AS x FROM range(400) r(i)"
    )
    owner.execute(f"CREATE RELEASE r.a FROM t (id KEY, x SENSITIVE AS {first})")
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    owner.execute(f"CREATE OR REPLACE RELEASE r.a FROM t (id KEY, x SENSITIVE AS {second})")
    with pytest.warns(PrivacyWarning, match="show one column by two rules"):
        owner.execute(f"PUBLISH RELEASE r.a TO '{tmp_path}/b.duckdb'")


@pytest.mark.parametrize(
    "word", ["microaggregation(size => 5)", "mean_noise()", "pram(keep => 0.5)"]
)
def test_rows_of_a_person_who_is_not_the_key_are_told(owner: Owner, word: str) -> None:
    """Red before: the mode over a patient's visits was the patient's own value, for all of them."""
    owner.execute(
        "CREATE TABLE v AS SELECT i AS visit, i // 15 AS pid, i // 15 % 7 AS x FROM range(1500) t(i)"
    )
    with pytest.warns(PrivacyWarning, match="if 'pid' is the person, list it as KEY"):
        owner.execute(
            f"CREATE RELEASE r.v FROM v (visit KEY, pid NEUTRAL AS pseudonym(), x SENSITIVE AS {word})"
        )
