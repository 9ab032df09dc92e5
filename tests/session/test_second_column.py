"""What a second column, a second source or a second KEY must not open: lineage that fails closed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import PrivacyWarning, Refused, TreatmentError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

COPIES = {
    "lateral": ("(SELECT * FROM q, (SELECT upper(q.diag) AS c))", ""),
    "exists": ("(SELECT *, EXISTS (SELECT 1 FROM q AS o WHERE q.diag = 'HIV') AS c FROM q)", ""),
    "window": (
        "(SELECT *, dense_rank() OVER w AS c FROM q WINDOW w AS (ORDER BY diag))",
        "",
    ),
    "view": ("v", "CREATE VIEW v (id, age, diag, c) AS SELECT id, age, diag, diag FROM q"),
    "macro": (
        "(SELECT *, f(id) AS c FROM q)",
        "CREATE MACRO f(x) AS (SELECT any_value(diag) FROM q AS o WHERE o.id = x)",
    ),
    "generated": (
        "g",
        "CREATE TABLE g (id INT, age INT, diag VARCHAR, c VARCHAR AS (upper(diag))); INSERT INTO g SELECT * FROM q",
    ),
    "quasi": ("(SELECT *, age + 1 AS c FROM q)", ""),
}
TWINS = {
    "window": ("(SELECT *, dense_rank() OVER w AS a2 FROM t WINDOW w AS (ORDER BY age))", ""),
    "columns": ("(SELECT *, COLUMNS('^age$') + 1 AS a2 FROM t)", ""),
    "position": ("(SELECT *, #2 + 1 AS a2 FROM t)", ""),
    "macro": (
        "(SELECT *, f(id) AS a2 FROM main.t)",
        "CREATE MACRO f(x) AS (SELECT any_value(age) FROM main.t AS o WHERE o.id = x)",
    ),
    "year of birth": ("(SELECT *, 2026 - age - (hash(id) % 2)::INT AS a2 FROM t)", ""),
    "mostly": ("(SELECT *, CASE WHEN id % 10 > 0 THEN age END AS a2 FROM t)", ""),
    "generated": (
        "g",
        "CREATE TABLE g (id INT, age INT, a2 INT AS (age + 1)); INSERT INTO g SELECT id, age FROM t",
    ),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_row_of_stars_shows_nothing_that_may_be_a_copy(owner: Owner, how: str) -> None:
    source, before = COPIES[how]
    owner.execute(
        "CREATE TABLE q AS SELECT i::INT AS id, CASE WHEN i = 7 THEN 99 ELSE i % 2 END::INT AS age,"
        f" ['Flu', 'HIV', 'Asthma'][1 + i % 3] AS diag FROM range(60) t (i); {before}"
    )
    # `quasi` is a twin as well, which the owner may insist on.
    owner.execute(
        f"CREATE RELEASE r.x FROM {source} (id KEY, age QUASI, diag SENSITIVE, c NEUTRAL)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT"
        " WITH (suppressed = 'star', accept = ['twin(c)', 'identifying(c)'])"
    )
    rows = owner.execute("SELECT diag, c FROM r.x WHERE age = '*'").fetchall()
    assert rows == [(None, None)]


@pytest.mark.parametrize("how", TWINS)
def test_a_twin_is_refused_by_whatever_it_is_computed(owner: Owner, how: str) -> None:
    source, before = TWINS[how]
    owner.execute(
        "CREATE TABLE t AS SELECT i::INT AS id, (i % 40)::INT AS age FROM range(2000) r (i);"
        f"CREATE HIERARCHY ages AS RANGES (5, 10, 20); {before}"
    )
    with pytest.raises(Refused) as caught:
        owner.execute(
            f"CREATE RELEASE r.x FROM {source} (id KEY, age QUASI, a2 NEUTRAL)"
            " GENERALIZE age USING ages UNTIL k = 200"
        )
    assert caught.value.code == "twin"


@pytest.mark.parametrize(
    "value", ["json_object('p', i // 4)", "[i // 4]", "{'a': i // 4}", "(i // 4)::VARCHAR::BLOB"]
)
def test_any_type_may_link_the_rows_of_a_person(owner: Owner, value: str) -> None:
    owner.execute(
        f"CREATE TABLE v AS SELECT i // 4 AS pat, (hash(i) % 60)::INT AS age, {value} AS c"
        " FROM range(800) t (i); CREATE HIERARCHY ages AS RANGES (5, 10)"
    )
    with pytest.raises(Refused) as caught:
        owner.execute(
            "CREATE RELEASE r.x FROM v (pat KEY, age QUASI, c NEUTRAL)"
            " GENERALIZE age USING ages UNTIL k = 20"
        )
    assert caught.value.code == "linked_rows"


SUMS = "CREATE RELEASE r.{} FROM {} (id KEY, pay SENSITIVE AS microaggregation(size => 5))"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(SELECT * FROM p WHERE id < 300)", "p"),  # others have no pay, but one
        ("(SELECT * FROM p WHERE id <> 5)", "(SELECT * FROM p WHERE id <> 6)"),  # as many rows
    ],
)
def test_sums_of_nearly_the_same_people_are_told(
    owner: Owner, tmp_path: Path, first: str, second: str
) -> None:
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id, CASE WHEN i < 300 OR i = 305"
        " THEN (20000 + hash(i) % 50000)::INT END AS pay FROM range(320) t (i)"
    )
    owner.execute(SUMS.format("a", first))
    owner.execute(SUMS.format("b", second))
    owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    found = owner.audit("r.b", is_internal=True)
    assert "sum_difference" in {attack.attack for attack in found.attacks}
    with pytest.raises(Refused, match="has the sum of 'pay', too"):
        owner.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_sums_that_cannot_be_matched_are_told(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE p AS SELECT i AS id, i * 7 AS pay FROM range(300) t (i)")
    owner.execute(SUMS.format("a", "p"))
    owner.execute(SUMS.format("b", "(SELECT id::VARCHAR AS id, pay FROM p WHERE id > 20)"))
    owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="it cannot be counted how many rows differ"):
        owner.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


@pytest.fixture
def consented(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id, (i % 10) * 5 AS age,"
        " ['Flu', 'Asthma', 'HIV'][1 + i % 3] AS diag, i >= 10 AS consent FROM range(110) t (i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20);"
        "CREATE RELEASE r.a FROM p (id KEY, age QUASI, diag SENSITIVE)"
        " GENERALIZE age USING ages UNTIL k = 10"
    )
    return owner


def test_a_part_of_a_release_leaves_the_rest_alone(consented: Owner, tmp_path: Path) -> None:
    """One of each age did not consent: EXCEPT ALL gives exactly those, with their illness."""
    consented.execute(
        "CREATE RELEASE r.b FROM (SELECT * FROM p WHERE consent) (id KEY, age QUASI, diag SENSITIVE)"
        " GENERALIZE age USING ages UNTIL k = 10"
    )
    consented.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="10 persons of today's rows into classes smaller than"):
        consented.publish("r.b", to=tmp_path / "b.duckdb", strict=True)
    report = consented.audit("r.a", together_with="r.b", is_internal=True)
    (found,) = [a for a in report.attacks if a.attack == "differencing_classes"]
    assert found.share == pytest.approx(10 / 110)
    (found,) = [a for a in report.attacks if a.attack == "intersection"]
    assert found.share == pytest.approx(10 / 110)
    assert found.chance == 0


@pytest.mark.parametrize("key", ["id::DOUBLE", "'P' || id", "-id", "id * 10"])
def test_a_key_that_is_written_otherwise_is_not_matched_in_silence(
    consented: Owner, tmp_path: Path, key: str
) -> None:
    consented.execute(
        f"CREATE RELEASE r.b FROM (SELECT {key} AS id, age, diag FROM p)"
        " (id KEY, age QUASI, diag SENSITIVE) GENERALIZE age USING ages UNTIL k = 20"
    )
    consented.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    (reason,) = consented.audit("r.b").left_out
    assert reason.endswith("the two list no KEY that is written in the same way")
    with pytest.raises(Refused, match="classes of the two together cannot be"):
        consented.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_another_release_of_the_table_is_not_passed_over_in_silence(
    owner: Owner, tmp_path: Path
) -> None:
    """The two have no column in common, and one of them no KEY."""
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id, i % 10 AS age, i % 3 AS diag FROM range(110) t (i);"
        "CREATE RELEASE r.a FROM p (diag NEUTRAL);"
        "CREATE RELEASE r.b FROM p (id KEY, age NEUTRAL)"
    )
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    (reason,) = owner.audit("r.b").left_out
    assert reason.endswith("the two list no KEY that is written in the same way")


NOISE = "CREATE RELEASE r.{} FROM {} (id KEY, w SENSITIVE AS noise(normal(0, 20)))"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(SELECT id, w + 1 AS w FROM t)", "(SELECT id, w + 2 AS w FROM t)"),
        ("t", "(SELECT -id AS id, w FROM t)"),
        ("(SELECT id::VARCHAR AS id, w FROM t)", "(SELECT (id + 5)::VARCHAR AS id, w FROM t)"),
        ("t", "(SELECT id, w2 AS w FROM t)"),
    ],
)
def test_noises_of_other_expressions_are_counted(
    owner: Owner, tmp_path: Path, first: str, second: str
) -> None:
    owner.execute(
        "CREATE TABLE t (id INT, w INT, w2 INT AS (w + 0));"
        "INSERT INTO t SELECT i, i % 60 FROM range(500) r (i)"
    )
    owner.execute(NOISE.format("a", first))
    owner.execute(NOISE.format("b", second))
    owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="2 independent noises of 'w' are published"):
        owner.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_a_view_that_was_replaced_draws_anew_and_is_counted(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 60 AS w FROM range(500) r (i);"
        "CREATE VIEW v AS SELECT id, w + 1 AS w FROM t"
    )
    owner.execute(NOISE.format("a", "v"))
    owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    owner.execute("CREATE OR REPLACE VIEW v AS SELECT id, w + 2 AS w FROM t; REFRESH RELEASE r.a")
    with pytest.raises(Refused, match="2 independent noises of 'w' are published"):
        owner.publish("r.a", to=tmp_path / "b.duckdb", strict=True)


def test_rho_is_rounded_as_the_data_are(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (1000 + i % 50)::DECIMAL(18, 3) AS a, i * 100 AS b,"
        " TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) HOUR AS c FROM range(1000) r (i);"
        "CREATE RELEASE r.x FROM t (id KEY, (a, b, c) SENSITIVE AS noise(normal(0, 20),"
        " normal(0, 500), normal(0, 20), rho => 50))"
    )
    ((rows, fine, tens, hours),) = owner.execute(
        "SELECT count(*), count_if(a = floor(a)), count_if(b % 100 = 0),"
        " count_if(c = date_trunc('hour', c)) FROM r.x"
    ).fetchall()
    assert rows == fine == tens == hours
    owner.execute("CREATE TABLE f AS SELECT i AS id, (i / 10.0)::FLOAT AS w FROM range(99) r (i)")
    with pytest.raises(TreatmentError, match="keep the digits of a FLOAT"):
        owner.execute(
            "CREATE RELEASE r.f FROM f (id KEY, w SENSITIVE AS noise(normal(0, 9), rho => 50))"
        )


def test_a_refresh_looks_for_room_again(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 60 AS w FROM range(500) r (i)")
    owner.execute(NOISE.format("a", "t"))
    owner.execute("INSERT INTO t SELECT 1000 + i, 1000000000000000000 + i FROM range(9) r (i)")
    with pytest.raises(TreatmentError, match="so large that a sum is rounded"):
        owner.execute("REFRESH RELEASE r.a")
    with pytest.raises(TreatmentError, match="too small"):
        owner.execute(
            "CREATE RELEASE r.m FROM t (id KEY, w SENSITIVE AS noise(normal(1, 1e-18),"
            " multiplicative => true))"
        )


def test_groups_of_rows_of_one_person_are_warned_of(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE v AS SELECT i // 10 AS id, 20000 + (hash(i // 10) % 50000)::INT AS pay"
        " FROM range(300) r (i)"
    )
    with pytest.warns(PrivacyWarning, match="a group may hold rows of one person"):
        owner.execute(SUMS.format("a", "v"))


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT id, age, CASE WHEN age = 33 AND id < 1000 THEN 'x' END AS a2 FROM t)",
        "(SELECT id, age, w AS a2 FROM t WHERE id < 0 UNION ALL SELECT id, age, age FROM t)",
        "(SELECT id, age, unnest({'a2': age}) FROM t)",
        "(SELECT id, age, * EXCLUDE (id, w) RENAME (age AS a2) FROM t)",
        "(SELECT id, age, concat(id % 3, *COLUMNS('^age$')) AS a2 FROM t)",
        "(SELECT id, age, soundex(id) AS a2 FROM main.t)",
    ],
)
def test_what_names_columns_itself_is_not_taken_for_another(owner: Owner, source: str) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i::INT AS id, (i % 40)::INT AS age, (i % 7)::INT AS w, 1 AS a2"
        " FROM range(2000) r (i); CREATE HIERARCHY ages AS RANGES (5, 10, 20);"
        "CREATE MACRO soundex(x) AS (SELECT any_value(age) + 1 FROM main.t AS o WHERE o.id = x)"
    )
    with pytest.raises(Refused) as caught:
        owner.execute(
            f"CREATE RELEASE r.x FROM {source} (id KEY, age QUASI, a2 NEUTRAL)"
            " GENERALIZE age USING ages UNTIL k = 200"
        )
    assert caught.value.code == "twin"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("FROM t (id KEY, ", "FROM t (id2 KEY, "),
        (
            "FROM (SELECT id, w + 1 AS x, x AS w FROM t) (id KEY, ",
            "FROM (SELECT id, w + 2 AS x, x AS w FROM t) (id KEY, ",
        ),
    ],
)
def test_another_key_is_another_draw(owner: Owner, tmp_path: Path, first: str, second: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, -i AS id2, i % 60 AS w FROM range(500) r (i)")
    for name, source in (("a", first), ("b", second)):
        owner.execute(f"CREATE RELEASE r.{name} {source} w SENSITIVE AS noise(normal(0, 20)))")
    owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="2 independent noises of 'w' are published"):
        owner.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_a_macro_that_was_replaced_is_another_draw(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 60 AS w FROM range(500) r (i)")
    for number, name in enumerate("ab"):
        owner.execute(f"CREATE OR REPLACE MACRO f(x) AS x + {number}")
        owner.execute(NOISE.format(name, "(SELECT id, f(w) AS w FROM t)"))
        if name == "a":
            owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="2 independent noises of 'w' are published"):
        owner.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


@pytest.mark.parametrize(
    ("before", "second"),
    [
        ("", "CREATE OR REPLACE RELEASE r.a FROM (SELECT pay FROM p WHERE id <> 5) (pay SENSITIVE AS microaggregation(size => 5))"),
        ("", SUMS.format("b", "(SELECT id, CASE WHEN id = 5 THEN 0 ELSE pay END AS pay FROM p)")),
        ("INSERT INTO p VALUES (7, 700)", SUMS.format("b", "p")),
    ],
)  # fmt: skip
def test_other_values_of_the_same_people_are_told(
    owner: Owner, tmp_path: Path, before: str, second: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of a KEY that repeats
        owner.execute("CREATE TABLE p AS SELECT i AS id, i * 7 AS pay FROM range(300) t (i)")
        source = "(SELECT * FROM p WHERE pay < 9999)"
        owner.execute(
            SUMS.format("a", source)
            if "OR REPLACE" not in second
            else "CREATE RELEASE r.a FROM p (pay SENSITIVE AS microaggregation(size => 5))"
        )
        owner.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
        owner.execute(f"{before}; {second}")
        name = "r.a" if "OR REPLACE" in second else "r.b"
        with pytest.raises(Refused, match=r"has (the sum|sums) of 'pay', too"):
            owner.publish(name, to=tmp_path / "b.duckdb", strict=True)


@pytest.mark.parametrize(
    "second",
    [
        "CREATE VIEW v (id, age, diag) AS SELECT id, age, diag FROM p WHERE consent; CREATE RELEASE r.b FROM v (id KEY, age QUASI, diag SENSITIVE) GENERALIZE age USING ages UNTIL k = 10",
        "CREATE RELEASE r.b FROM (SELECT * FROM p WHERE id <> 61) (id KEY, diag SENSITIVE)",
    ],
)
def test_who_is_missing_in_any_other_release_is_told(
    consented: Owner, tmp_path: Path, second: str
) -> None:
    consented.execute(second)
    consented.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match=r"r\.b: "):
        consented.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_people_without_a_key_who_are_left_out_are_told(consented: Owner, tmp_path: Path) -> None:
    consented.execute(
        "UPDATE p SET id = NULL WHERE id = 61;"
        "CREATE RELEASE r.b FROM (SELECT * FROM p WHERE id IS NOT NULL)"
        " (id KEY, age QUASI, diag SENSITIVE) GENERALIZE age USING ages UNTIL k = 10"
    )
    consented.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="classes smaller than"):
        consented.publish("r.b", to=tmp_path / "b.duckdb", strict=True)


def test_the_same_classes_of_people_with_several_rows_are_no_alarm(
    owner: Owner, tmp_path: Path
) -> None:
    owner.execute(
        "CREATE TABLE v AS SELECT i // 3 AS pat, (hash(i) % 60)::INT AS age FROM range(900) t (i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10)"
    )
    for name in "ab":
        owner.execute(
            f"CREATE RELEASE r.{name} FROM v (pat KEY, age QUASI)"
            " GENERALIZE age USING ages UNTIL k = 20"
        )
        owner.publish(f"r.{name}", to=tmp_path / f"{name}.duckdb", strict=True)
