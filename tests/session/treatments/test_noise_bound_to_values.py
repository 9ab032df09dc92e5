"""Noise: bound to what it hides, rounded as the column is, the same on every machine."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.errors import PrivacyWarning, Refused, TreatmentError
from ppdm_sql.treatments.kernels.logarithm import natural_logarithm

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

ROWS = 4_000
TABLE = f"""
CREATE TABLE t AS SELECT
    range AS id, (range % 90)::INTEGER AS age, (range * 13 % 997)::DOUBLE AS income,
    (range % 50)::DOUBLE AS bonus, TIMESTAMP '2020-01-01 08:00:00' + INTERVAL (range) HOUR AS seen
FROM range({ROWS})
"""


@pytest.fixture
def table(owner: Owner) -> Owner:
    owner.execute(TABLE)
    return owner


def noise_of(owner: Owner, release: str, column: str, original: str | None = None) -> np.ndarray:
    """Return what a release added, row by row: rows of a live view come as the source has them."""
    found = owner.sql(f"SELECT {column} AS x FROM {release}").df()["x"].to_numpy()
    source = owner.sql(f"SELECT {original or column} AS x FROM t").df()["x"].to_numpy()
    added: np.ndarray = found - source
    return added


def released(owner: Owner, name: str, source: str, column: str, noise: str, more: str = "") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.{name} FROM {source} (id KEY, {column} SENSITIVE AS {noise})"
        f" {more}"
    )


# What was done to the first version


def test_a_unit_that_is_converted_gives_no_equation(table: Owner) -> None:
    """Before: x + e and 2.54 x + e, published one after the other, gave every x."""
    released(table, "a", "t", "income", "noise(normal(0, 30))")
    before = table.sql("SELECT income FROM r.a").df()["income"].to_numpy()
    table.execute("UPDATE t SET income = income * 2.54")
    table.execute("REFRESH RELEASE r.a")
    after = table.sql("SELECT income FROM r.a").df()["income"].to_numpy()
    original = table.sql("SELECT income / 2.54 AS x FROM t").df()["x"].to_numpy()
    guessed = (after - before) / 1.54
    assert np.mean(np.abs(guessed - original) < 0.5) < 0.05
    assert np.std(guessed - original) > 20  # two draws of 30, not one


def test_computed_columns_of_one_name_share_no_noise(table: Owner) -> None:
    released(
        table, "a", "(SELECT id, income + bonus AS money FROM t)", "money", "noise(normal(0, 30))"
    )
    released(table, "b", "(SELECT id, income * 1 AS money FROM t)", "money", "noise(normal(0, 30))")
    one = noise_of(table, "r.a", "money", "income + bonus")
    two = noise_of(table, "r.b", "money", "income")
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / math.sqrt(ROWS)


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("income", "income + 0 AS income FROM t"),
        ("money", "income AS money FROM t"),
        ("whole", "CAST(income AS INTEGER) AS whole FROM t"),
        ("exact", "income::DECIMAL(10, 2) AS exact FROM t"),
        ("small", "income::FLOAT AS small FROM t"),
        ("income", "income FROM t JOIN (SELECT range AS k FROM range(4000)) AS o ON o.k = t.id"),
        ("b", "income AS a, a AS b FROM t"),
        ("zz", "zz FROM (SELECT id, income FROM t) AS q (id, zz)"),
        ("again", "again FROM (SELECT id, 1 * income AS again FROM t)"),
    ],
)
def test_the_same_value_gets_the_same_answer_however_it_is_written(
    table: Owner, column: str, written: str
) -> None:
    """Before: another expression, name or type drew anew, and 20 releases took sd 10 to 2.2."""
    noise = "noise(normal(0, 30), round => false)"
    released(table, "a", "t", "income", noise)
    released(table, "b", f"(SELECT id, {written})", column, noise)
    first, second = (
        sorted(table.sql(f"SELECT {name} AS x FROM r.{release}").df()["x"].tolist())
        for release, name in (("a", "income"), ("b", column))
    )
    assert first == second


def test_other_sizes_draw_apart(table: Owner) -> None:
    """From one draw, 2(x + e) - (x + 2e) is x."""
    noises = ["noise(normal(0, 20))", "noise(normal(0, 20.01))", "noise(laplace(0, 20))"]
    found = []
    for index, noise in enumerate(noises):
        released(table, f"n{index}", "t", "income", noise)
        found.append(noise_of(table, f"r.n{index}", "income"))
    correlations = np.corrcoef(found)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 5 / math.sqrt(ROWS)


def test_a_value_that_changes_draws_anew_and_the_others_stay(table: Owner) -> None:
    released(table, "a", "t", "age", "noise(normal(0, 10))")
    before = table.sql("SELECT age FROM r.a").df()["age"].to_numpy()
    table.execute("UPDATE t SET age = age + 1 WHERE id % 2 = 0")
    after = table.sql("SELECT age FROM r.a").df()["age"].to_numpy()
    changed = np.arange(ROWS) % 2 == 0
    assert (before == after)[~changed].all()
    moved = (after - before)[changed]
    assert np.std(moved - 1) > 10  # sqrt(2) · 10 of two independent draws
    table.execute("UPDATE t SET age = age - 1 WHERE id % 2 = 0")
    back = table.sql("SELECT age FROM r.a").df()["age"].to_numpy()
    assert back.tolist() == before.tolist()


# What was done to the second version

PER_PERSON = "noise(normal(0, 30), per => 'person')"


def test_one_noise_of_a_person_that_is_published_again_is_warned_of(
    table: Owner, tmp_path: Path
) -> None:
    """It does not depend on the value: another unit gives every value by the difference."""
    table.execute("UPDATE t SET id = id // 4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        released(table, "a", "t", "income", PER_PERSON)
        table.publish("r.a", to=tmp_path / "a.duckdb", strict=True)
        table.execute("UPDATE t SET income = income * 1000; REFRESH RELEASE r.a")
    with pytest.raises(Refused, match="values that changed since, or another unit, are disclosed"):
        table.publish("r.a", to=tmp_path / "b.duckdb", strict=True)


def test_noise_of_a_person_stays_where_other_rows_of_theirs_come_and_go(table: Owner) -> None:
    """Bound to their values, each row that comes or goes would be another draw to average."""
    table.execute("UPDATE t SET id = id // 4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        released(table, "a", "t", "income", PER_PERSON)
        before = set(table.execute("SELECT income FROM r.a").fetchall())
        table.execute("DELETE FROM t WHERE income < 300; REFRESH RELEASE r.a")
        assert set(table.execute("SELECT income FROM r.a").fetchall()) <= before


def test_two_expressions_of_a_column_have_two_noises_of_a_person(table: Owner) -> None:
    """Before: 2x + e and x + e stood side by side."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        table.execute(
            "CREATE RELEASE r.a FROM (SELECT id, income, income * 2 AS twice FROM t)"
            f" (id KEY, income SENSITIVE AS {PER_PERSON}, twice SENSITIVE AS {PER_PERSON})"
        )
    one, two = noise_of(table, "r.a", "income"), noise_of(table, "r.a", "twice", "income * 2")
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / math.sqrt(ROWS)


def test_noise_of_a_person_is_that_of_all_their_rows(table: Owner) -> None:
    """Rows that GENERALIZE leaves out are the person's, too."""
    table.execute("UPDATE t SET id = id // 4; UPDATE t SET age = 90 WHERE income < 100")
    columns = f"(id KEY AS keep(), age QUASI, income SENSITIVE AS {PER_PERSON})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        table.execute(f"CREATE RELEASE r.a FROM t {columns}")
        table.execute(
            f"CREATE RELEASE r.b FROM t {columns} GENERALIZE age UNTIL k = 50 SUPPRESS AT MOST 90%"
            " WITH (accept = ['linked_rows'])"
        )
    ids = "SELECT DISTINCT id, income FROM r.{} ORDER BY ALL"
    whole, part = (set(table.execute(ids.format(name)).fetchall()) for name in "ab")
    assert part <= whole


def test_what_a_rotation_mixes_in_draws_anew(table: Owner) -> None:
    """Before: the noise was bound to one of the two, and a change of the other stood alone."""
    noise = "rotation() THEN noise(normal(0, 30), normal(0, 30))"
    table.execute(f"CREATE RELEASE r.a FROM t (id KEY, (income, bonus) SENSITIVE AS {noise})")
    before = table.sql("SELECT income FROM r.a").df()["income"].to_numpy()
    table.execute("UPDATE t SET bonus = bonus + id % 2")
    after = table.sql("SELECT income FROM r.a").df()["income"].to_numpy()
    changed = np.arange(ROWS) % 2 == 1
    assert (before == after)[~changed].all()
    assert np.std((after - before)[changed]) > 35  # two draws of 30


@pytest.mark.parametrize("word", ["bit_plus()", "bit_minus()"])
def test_what_was_done_before_is_another_noise(table: Owner, word: str) -> None:
    """Before: what the digits were moved by stood alone in the difference."""
    released(table, "a", "t", "age", "noise(normal(0, 30))")
    released(table, "b", "t", "age", f"{word} THEN noise(normal(0, 30))")
    released(table, "c", "t", "age", word)
    one, two = noise_of(table, "r.a", "age"), noise_of(table, "r.b", "age")
    two -= noise_of(table, "r.c", "age")
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / math.sqrt(ROWS)


def test_zero_has_no_sign_and_rho_draws_apart(table: Owner) -> None:
    released(table, "a", "t", "age", "noise(normal(0, 30))")
    released(table, "b", "t", "age", "noise(normal(-0.0, 30))")
    one = noise_of(table, "r.a", "age")
    assert (one == noise_of(table, "r.b", "age")).all()
    released(table, "b", "t", "age", "noise(normal(0, 30), rho => 99)")
    assert abs(np.corrcoef(one, noise_of(table, "r.b", "age"))[0, 1]) < 5 / math.sqrt(ROWS)


def test_rows_that_rho_leaves_alone_are_rounded_as_the_others(table: Owner) -> None:
    """Before: data that became finer after CREATE showed by their decimals which rows these were."""
    released(table, "a", "t", "income", "noise(normal(0, 30), rho => 50)")
    table.execute("UPDATE t SET income = income + 0.25; REFRESH RELEASE r.a")
    assert table.execute("SELECT DISTINCT income % 1 FROM r.a").fetchall() == [(0.0,)]


# Several rows of one person


def test_repeated_keys_are_refused_with_both_choices(owner: Owner) -> None:
    owner.execute("CREATE TABLE v AS SELECT range % 50 AS id, range AS x FROM range(200)")
    statement = (
        "CREATE OR REPLACE RELEASE r.v FROM v (id KEY, x SENSITIVE AS noise(normal(0, 50){}))"
    )
    with pytest.raises(Refused) as caught:
        owner.execute(statement.format(""))
    assert caught.value.code == "noise_averages"
    assert "per => 'person'" in str(caught.value)
    assert "WITH (accept = ['noise_averages'])" in str(caught.value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        owner.execute(statement.format("") + " WITH (accept = ['noise_averages'])")
    with pytest.warns(PrivacyWarning, match="differences between them are the true ones"):
        owner.execute(statement.format(", per => 'person'"))
    rows = owner.sql(
        "SELECT v.id, r.x - v.x AS e FROM (SELECT x, row_number() OVER () AS n FROM r.v) r"
        " JOIN (SELECT *, row_number() OVER () AS n FROM v) v USING (n)"
    ).fetchall()
    assert len({(person, round(e)) for person, e in rows}) == 50


def test_a_key_that_came_to_repeat_is_refused_by_publish(table: Owner, tmp_path: object) -> None:
    released(table, "a", "t", "age", "noise(normal(0, 10))")
    table.execute("INSERT INTO t SELECT * REPLACE (id - 1 AS id) FROM t WHERE id = 7")
    with pytest.raises(Refused) as caught:
        table.publish("r.a", to=f"{tmp_path}/study.duckdb")
    assert caught.value.code == "noise_averages"


# Rounding


@pytest.mark.parametrize(
    ("type_", "value", "step"),
    [
        ("INTEGER", "range", 1),
        ("DECIMAL(10, 2)", "range / 4", 0.01),
        ("DOUBLE", "range", 1),
        ("DOUBLE", "range / 4", 0.01),
        ("FLOAT", "range / 2", 0.1),
    ],
)
def test_sums_are_rounded_as_the_column_is(
    owner: Owner, type_: str, value: str, step: float
) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT range AS id, ({value})::{type_} AS x FROM range(500)")
    released(owner, "a", "t", "x", "noise(normal(0, 9), rho => 50)")
    found = owner.sql("SELECT x FROM r.a").df()["x"].to_numpy()
    steps = found / step
    assert np.abs(steps - np.round(steps)).max() < 1e-6  # so nobody sees which rows rho left alone
    owner.execute("INSERT INTO t VALUES (500, 1.125)")
    last = owner.sql("SELECT x FROM r.a").df()["x"].to_numpy()
    assert last[:500].tolist() == found.tolist()  # the scale is that of CREATE


def test_decimals_stay_where_they_are_asked_for_or_have_no_end(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS id, range / 7 AS x FROM range(500)")
    for noise in ("noise(normal(0, 9))", "noise(normal(0, 9), round => false)"):
        released(owner, "a", "t", "x", noise)
        found = owner.sql("SELECT x FROM r.a").df()["x"].to_numpy()
        assert (np.round(found, 6) != found).mean() > 0.9
    released(owner, "a", "t", "x", "noise(normal(1, 0.1), multiplicative => true)")
    found = owner.sql("SELECT x FROM r.a").df()["x"].to_numpy()
    assert (np.round(found, 6) != found).mean() > 0.9


@pytest.mark.parametrize(
    ("column", "noise", "share"),
    [
        ("age", "noise(normal(0, 0.3))", "90%"),
        ("age", "noise(uniform(-1, 1))", "50%"),
        ("age", "noise(laplace(0, 1))", "39%"),
        ("income", "noise(normal(0, 1.9))", "21%"),
    ],
)
def test_noise_that_would_be_rounded_away_is_refused(
    table: Owner, column: str, noise: str, share: str
) -> None:
    with pytest.raises(TreatmentError, match=f"{share} of the values would stay") as caught:
        released(table, "a", "t", column, noise)
    assert caught.value.code == "noise_too_small"
    released(table, "a", "t", column, noise.removesuffix(")") + ", round => false)")


@pytest.mark.parametrize("type_", ["DOUBLE", "BIGINT", "DECIMAL(30, 2)"])
@pytest.mark.parametrize("more", ["", ", round => false"])
def test_noise_that_a_large_number_swallows_is_refused(owner: Owner, type_: str, more: str) -> None:
    """Beside 1e18, a DOUBLE has steps of 128: noise of 20 left most values as they were."""
    owner.execute(
        f"CREATE TABLE t AS SELECT range AS id, (1e18 + range)::{type_} AS x FROM range(9)"
    )
    with pytest.raises(TreatmentError, match="rounded to steps of 128") as caught:
        released(owner, "a", "t", "x", f"noise(normal(0, 20){more})")
    assert caught.value.code == "noise_too_small"
    released(owner, "a", "t", "x", f"noise(normal(0, 2000){more})")
    released(owner, "b", "t", "x", "noise(normal(1, 0.1), multiplicative => true)")


def test_times_move_to_the_second(table: Owner) -> None:
    released(table, "a", "t", "seen", "noise(normal(0, 10))")
    rows = table.sql(
        "SELECT date_diff('second', t.seen, r.seen) AS s, r.seen FROM"
        " (SELECT seen, row_number() OVER () AS n FROM r.a) r"
        " JOIN (SELECT seen, row_number() OVER () AS n FROM t) t USING (n)"
    ).df()
    days = rows["s"].to_numpy() / 86_400
    assert abs(days.mean()) < 5 * 10 / math.sqrt(ROWS)
    assert abs(days.std() - 10) < 1
    assert (rows["seen"].dt.minute != 0).mean() > 0.9  # the time of day is hidden, too


def test_fractions_of_a_second_tell_nobody(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id,"
        " TIMESTAMP '2020-01-01' + to_microseconds(range * 1234567) AS seen FROM range(200)"
    )
    released(owner, "a", "t", "seen", "noise(normal(0, 30), rho => 50)")
    fractions = "SELECT count(*) FROM r.a WHERE microsecond(seen) % 1000000 <> 0"
    assert owner.sql(fractions).fetchall() == [(0,)]


def test_rows_of_rho_are_the_same_however_the_key_is_written(table: Owner) -> None:
    """Two selections would show by what differs which rows are raw."""
    noise = "noise(normal(0, 90), rho => 50)"
    joined = "(SELECT id, income FROM t JOIN (SELECT range AS k FROM range(4000)) AS o ON k = id)"
    found = []
    for source in ("t", joined):
        released(table, "a", source, "income", noise)
        found.append(sorted(table.sql("SELECT income FROM r.a").df()["income"].tolist()))
    assert found[0] == found[1]


# Distribution, independence; each bound fails by chance less than once in a million runs


@pytest.mark.parametrize(
    ("noise", "deviation"),
    [
        ("normal(0, 25)", 25.0),
        ("laplace(0, 25)", 25 * math.sqrt(2)),
        ("uniform(-30, 30)", 60 / math.sqrt(12)),
    ],
)
def test_noise_has_its_distribution_and_depends_on_nothing_seen(
    table: Owner, noise: str, deviation: float
) -> None:
    from scipy import stats

    table.execute(
        "CREATE OR REPLACE RELEASE r.a FROM t (id KEY,"
        f" income SENSITIVE AS noise({noise}, round => false),"
        f" bonus SENSITIVE AS noise({noise}, round => false))"
    )
    one, two = noise_of(table, "r.a", "income"), noise_of(table, "r.a", "bonus")
    known = {
        "normal": stats.norm(0, 25),
        "laplace": stats.laplace(0, 25),
        "uniform": stats.uniform(-30, 60),
    }[noise.partition("(")[0]]
    assert stats.kstest(one, known.cdf).pvalue > 1e-6
    assert abs(one.std() / deviation - 1) < 0.1
    for other in (two, np.arange(ROWS), table.sql("SELECT income FROM t").df()["income"]):
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(ROWS)


# The logarithm


def test_the_logarithm_is_one_to_three_units_of_the_last_place() -> None:
    rng = np.random.default_rng(7)
    x = np.concatenate(
        [rng.uniform(0, 1, 200_000), 2.0 ** -np.arange(1.0, 1000), 1 - 2.0 ** -np.arange(1.0, 53)]
    )
    x = x[x > 0]
    exact = np.array([math.log(value) for value in x])
    units = np.abs(natural_logarithm(x) - exact) / np.spacing(np.abs(exact))
    assert units.max() <= 3
    assert natural_logarithm(np.array([1.0])).tolist() == [0.0]


def test_its_bits_are_fixed() -> None:
    """Written down once: another processor or library must give the same."""
    found = natural_logarithm(np.array([0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999]))
    assert [value.hex() for value in found.tolist()] == BITS


BITS = [
    "-0x1.ba18a998fffa0p+2",
    "-0x1.26bb1bbb55515p+1",
    "-0x1.34378fcbda720p+0",
    "-0x1.62e42fefa39efp-1",
    "-0x1.6d3c324e13f4fp-2",
    "-0x1.af8e8210a415bp-4",
    "-0x1.064670d979b73p-10",
]


def test_one_factor_for_all_rows_of_a_person_is_refused(owner: Owner) -> None:
    """Before: ratios of a person's whole numbers gave the numbers of every second person."""
    owner.execute("CREATE TABLE v AS SELECT i % 50 AS id, 50 + i % 37 AS kg FROM range(200) t(i)")
    noise = "noise(uniform(0.7, 1.3), multiplicative => true, per => 'person')"
    with pytest.raises(TreatmentError, match="one factor for all rows of a person") as caught:
        owner.execute(f"CREATE RELEASE r.v FROM v (id KEY, kg SENSITIVE AS {noise})")
    assert caught.value.code == "bad_argument"


def test_factors_with_rho_are_refused(owner: Owner) -> None:
    """Before: rows that were left alone were the whole numbers among numbers with decimals."""
    owner.execute("CREATE TABLE v AS SELECT i AS id, 1000 + i % 370 AS pay FROM range(200) t(i)")
    made = "CREATE RELEASE r.v FROM v (id KEY, pay SENSITIVE AS noise(normal(1, 0.1), multiplicative => true, rho => 50{}))"  # fmt: skip
    with pytest.raises(TreatmentError, match="which 'rho' leaves alone") as caught:
        owner.execute(made.format(""))
    assert caught.value.code == "bad_argument"
    owner.execute(made.format(", round => false"))


@pytest.mark.parametrize(
    ("values", "grid"),
    [
        ("(50 + i % 37)::DECIMAL(18, 3)", 1),
        ("1000 * (20 + i % 37)", 1000),
        ("1000.0 * (20 + i % 37)", 1000),
    ],
)
def test_one_noise_of_a_person_links_no_rows_by_their_decimals(
    owner: Owner, values: str, grid: int
) -> None:
    """Before: sums were rounded as the type is, and rows of a person had one remainder."""
    owner.execute(f"CREATE TABLE v AS SELECT i % 60 AS id, {values} AS x FROM range(300) t(i)")
    noise = f"noise(normal(0, {5 * grid}), per => 'person')"
    with pytest.warns(PrivacyWarning, match="differences"):
        owner.execute(f"CREATE RELEASE r.v FROM v (id KEY, x SENSITIVE AS {noise})")
    rest = owner.execute(f"SELECT DISTINCT round(x, 6) % {grid} FROM r.v").fetchall()
    assert {abs(float(one)) for (one,) in rest} <= {0.0, float(grid)}


def test_days_with_one_noise_of_a_person_stay_days(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE v AS SELECT i % 60 AS id, TIMESTAMP '2020-01-01' + INTERVAL (i) DAY AS x"
        " FROM range(300) t(i)"
    )
    with pytest.warns(PrivacyWarning, match="differences"):
        owner.execute("CREATE RELEASE r.v FROM v (id KEY, x SENSITIVE AS noise(normal(0, 9), per => 'person'))")  # fmt: skip
    assert owner.execute("SELECT DISTINCT x::TIME::VARCHAR FROM r.v").fetchall() == [("00:00:00",)]


@pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
def test_one_noise_of_a_person_is_another_one_for_another_column_of_its_name(owner: Owner) -> None:
    """Two columns called value, of two tables, through joins that cannot be followed by name."""
    owner.execute(
        "CREATE TABLE p AS SELECT i AS pid, i % 2 AS sex FROM range(60) t(i);"
        "CREATE TABLE a AS SELECT i // 3 AS pid, (100 + i)::DOUBLE + 0.5 AS value FROM range(180) t(i);"
        "CREATE TABLE b AS SELECT i // 3 AS pid, (37 + i)::DOUBLE + 0.5 AS value FROM range(180) t(i)"
    )
    for table in "ab":
        owner.execute(
            f"CREATE RELEASE r.{table} FROM (SELECT pid, sex, value FROM {table} JOIN p USING (pid))"
            " (pid KEY AS keep(), value SENSITIVE AS noise(normal(0, 40), per => 'person'))"
        )
    apart = owner.execute(
        "SELECT DISTINCT a.value - b.value FROM r.a AS a JOIN r.b AS b USING (pid)"
    ).fetchall()
    assert len(apart) > 40


def test_one_noise_that_went_out_in_another_unit_is_said(owner: Owner, tmp_path: Path) -> None:
    """By the ledger: what sums are rounded to makes no other noise."""
    owner.execute(
        "CREATE TABLE v AS SELECT i // 3 AS pid, i % 3 AS n, (50 + i % 50)::DECIMAL(9, 1) AS w FROM range(300) t(i)"
    )
    rule = "(pid KEY AS keep(), n NEUTRAL, w SENSITIVE AS noise(normal(0, 20), per => 'person'))"
    with pytest.warns(PrivacyWarning, match="differences between them are the true ones"):
        owner.execute(f"CREATE RELEASE r.a FROM v {rule}")
    said = []
    for name in "ab":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            owner.publish("r.a", to=tmp_path / f"{name}.duckdb", accept=["identifying(pid)"])
        said.append(" ".join(str(one.message) for one in caught))
        owner.execute("UPDATE v SET w = w * 2.2")
        owner.execute("DROP RELEASE r.a")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            owner.execute(f"CREATE RELEASE r.a FROM v {rule}")
    assert "one noise per person, the same as in the publication" in said[1]
    assert "independent noises" not in said[1]


def test_a_macro_that_is_not_called_makes_no_other_noise(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE v AS SELECT i AS pid, i AS w FROM range(30) t(i);"
        "CREATE RELEASE r.a FROM (SELECT pid, w + 1 AS w FROM v) (pid KEY, w SENSITIVE AS noise(normal(0, 20)))"
    )
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    owner.execute("CREATE MACRO other(x) AS x + 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        owner.publish("r.a", to=tmp_path / "b.duckdb")


def test_rho_after_a_constant_with_many_decimals_is_warned_of(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (i / 10)::DECIMAL(9, 1) AS d FROM range(100) t(i)"
    )
    with pytest.warns(PrivacyWarning, match="which rows 'rho' left alone"):
        owner.execute(
            "CREATE RELEASE r FROM t (id KEY, d SENSITIVE AS translation() THEN noise(normal(0, 20), rho => 30))"
        )
