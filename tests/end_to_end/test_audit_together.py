"""Audits with what else is out about the same rows: other releases, and rows of a person."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, StatementError
from tests.end_to_end.test_audit import seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.owner import Owner

NOISY = (
    "CREATE RELEASE research.{} FROM people (id KEY AS pseudonym(),"
    " weight SENSITIVE AS noise(normal(0, {})))"
)


def gained(report: Report, attack: str, column: str = "weight") -> float:
    (found,) = [a for a in report.attacks if a.attack == attack and column in a.columns]
    return found.share


@pytest.fixture
def people() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i AS id, 20 + i % 60 AS age, i % 7 AS town,"
            " 40 + (i * 37 % 101) AS weight, ['flu', 'hiv', 'cold'][1 + i % 3] AS illness"
            " FROM range(600) AS n (i)"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
            yield owner


def test_draws_of_other_releases_are_averaged(people: Owner, tmp_path: Path) -> None:
    """Each size is a draw of its own: what was published of the same rows is attacked with."""
    for name in range(5):
        people.execute(NOISY.format(f"r{name}", f"20.0{name}"))
    assert people.audit("research.r0").values("differencing") == {}
    shares = []
    for name in range(1, 5):
        seen(people, f"research.r{name}", tmp_path)
        shares.append(gained(people.audit("research.r0", is_internal=True), "differencing"))
    assert shares == sorted(shares)
    assert 0.2 < shares[0] < 0.6
    assert shares[-1] > 0.6
    # The same noise in another release is one draw.
    people.execute(NOISY.format("again", "20.00"))
    seen(people, "research.again", tmp_path)
    found = gained(people.audit("research.r0", is_internal=True), "differencing")
    assert found == pytest.approx(shares[-1], abs=0.01)


def test_a_draft_is_attacked_with_where_it_is_named(people: Owner) -> None:
    for name, size in (("a", 20), ("b", 25)):
        people.execute(NOISY.format(name, size))
    alone = people.audit("research.a")
    assert alone.values("differencing") == {}
    assert alone.stamp.together_with is None
    report = people.audit("research.a", together_with="research.b", is_internal=True)
    assert gained(report, "differencing") > 0.2
    assert report.stamp.together_with == "research.b"
    (found,) = [a for a in report.attacks if a.attack == "differencing"]
    assert "together with research.b version 1" in found.sentence
    assert found.needs == "other publications"


def test_the_statement_names_other_releases(people: Owner, tmp_path: Path) -> None:
    for name, size in (("a", 20), ("b", 25), ("c", 30)):
        people.execute(NOISY.format(name, size))
    page = tmp_path / "report.json"
    people.execute(
        f"AUDIT RELEASE research.a TOGETHER WITH research.b, research.c INTO audits TO '{page}'"
    )
    stamp = json.loads(page.read_text())["stamp"]
    assert stamp["together_with"] == "research.b, research.c"
    rows = people.execute("SELECT together_with FROM audits.audit_stamp").fetchall()
    assert rows == [("research.b, research.c",)]
    found = people.execute(
        "SELECT share FROM audits.audit_attacks WHERE attack = 'differencing'"
    ).fetchall()
    assert found[0][0] > 0.2


@pytest.mark.parametrize(
    ("named", "code", "place"),
    [
        ("research.a", "same_release", 40),
        ("research.other", "no_common_key", 40),
        ("research.nothing", "unknown_release", 40),
    ],
)
def test_what_cannot_be_attacked_with_is_said_at_its_place(
    people: Owner, named: str, code: str, place: int
) -> None:
    people.execute(NOISY.format("a", 20))
    people.execute(
        "CREATE TABLE others AS FROM people;"
        "CREATE RELEASE research.other FROM others (id KEY AS pseudonym(), age QUASI)"
    )
    with pytest.raises(BindError) as error:
        people.execute(f"AUDIT RELEASE research.a TOGETHER WITH {named}")
    assert error.value.code == code
    assert error.value.span is not None
    assert error.value.span.column == place
    with pytest.raises(BindError):
        people.audit("research.a", together_with=[named])


def test_words_in_another_order_are_refused(people: Owner) -> None:
    with pytest.raises(StatementError, match="TOGETHER"):
        people.execute("AUDIT RELEASE a AGAINST b TOGETHER WITH c")
    with pytest.raises(TypeError, match="together_with"):
        people.audit("a", together_with=7)  # type: ignore[arg-type]


def test_two_releases_leave_one_value(people: Owner, tmp_path: Path) -> None:
    """One shows the ages, the other the towns: each class has all illnesses, together few do."""
    people.execute(
        "CREATE RELEASE research.ages FROM people"
        " (id KEY AS pseudonym(), age QUASI, illness SENSITIVE);"
        "CREATE RELEASE research.towns FROM people"
        " (id KEY AS pseudonym(), town QUASI, illness SENSITIVE)"
    )
    seen(people, "research.towns", tmp_path)
    report = people.audit("research.ages", is_internal=True)
    ((expected, alone),) = people.execute(
        "WITH a AS (SELECT age, list(DISTINCT illness) AS ills FROM people GROUP BY age),"
        " t AS (SELECT town, list(DISTINCT illness) AS ills FROM people GROUP BY town)"
        " SELECT avg((len(list_intersect(a.ills, t.ills)) = 1)::INT),"
        " avg((len(a.ills) = 1 OR len(t.ills) = 1)::INT)"
        " FROM people JOIN a USING (age) JOIN t USING (town)"
    ).fetchall()
    (found,) = [a for a in report.attacks if a.attack == "intersection"]
    assert found.share == pytest.approx(expected)
    assert found.chance == pytest.approx(alone)
    (classes,) = [a for a in report.attacks if a.attack == "differencing_classes"]
    assert classes.share == 1


def test_a_newcomer_is_told_by_two_sums(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE RELEASE research.r FROM people"
        " (id KEY AS pseudonym(), weight SENSITIVE AS microaggregation(size => 5))"
    )
    assert "sum_difference" not in {a.attack for a in people.audit("research.r").attacks}
    seen(people, "research.r", tmp_path)
    people.execute("INSERT INTO people VALUES (9999, 44, 3, 77, 'hiv'); REFRESH RELEASE research.r")
    (found,) = [a for a in people.audit("research.r").attacks if a.attack == "sum_difference"]
    assert found.share == 1
    assert found.needs == "other publications"


def test_noise_of_a_persons_rows_is_averaged(people: Owner) -> None:
    people.execute(
        "CREATE TABLE visits AS SELECT i % 100 AS id, 60 + i % 100 + (i // 100) % 2 AS weight"
        " FROM range(1000) AS n (i);"
        "CREATE RELEASE research.v FROM visits (id KEY AS pseudonym(),"
        " weight SENSITIVE AS noise(normal(0, 20))) WITH (accept = ['noise_averages']);"
        "CREATE RELEASE research.p FROM visits (id KEY AS pseudonym(),"
        " weight SENSITIVE AS noise(normal(0, 20), per => 'person'))"
    )
    assert gained(people.audit("research.v"), "averaging_rows") > 0.3
    assert gained(people.audit("research.p"), "averaging_rows") < 0.05


def test_null_is_a_value_that_two_classes_may_have_in_common(people: Owner) -> None:
    people.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 2 AS a, CASE WHEN i % 2 = 0 THEN 'flu' END AS ill"
        " FROM range(90) AS n (i);"
        "CREATE RELEASE research.a FROM t (id KEY, a QUASI, ill SENSITIVE);"
        "CREATE RELEASE research.b FROM t (id KEY, a QUASI, ill SENSITIVE)"
    )
    report = people.audit("research.a", together_with="research.b", is_internal=True)
    (found,) = [a for a in report.attacks if a.attack == "intersection"]
    assert (found.share, found.chance) == (0, 0)  # flu or nothing: nobody knows


def test_records_kept_as_stars_hide_nobody_else_from_a_background(people: Owner) -> None:
    people.execute(
        "CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;"
        "CREATE TABLE t AS SELECT i AS id, (10 + i % 30)::VARCHAR AS zip, 'm' AS sex"
        " FROM range(60) AS n (i) UNION ALL SELECT 1000, '10', 'f';"
        "CREATE TABLE register AS FROM t;"
        "CREATE RELEASE research.s FROM t (id KEY, zip QUASI, sex QUASI)"
        " GENERALIZE zip USING digits, sex UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT"
        " WITH (suppressed = 'star')"
    )
    report = people.audit("research.s", against="register", is_internal=True)
    (found,) = [a for a in report.attacks if a.attack == "linking"]
    assert found.share == pytest.approx(3 / 61)  # one of each class


@pytest.mark.parametrize("emptied", ["UPDATE t SET zip = NULL", "DELETE FROM t"])
def test_a_background_is_compared_with_nothing(people: Owner, emptied: str) -> None:
    people.execute(
        "CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;"
        "CREATE TABLE t AS SELECT i AS id, '1' || i % 2 AS zip, i % 2 AS a FROM range(8) AS n (i);"
        "CREATE TABLE register AS FROM t;"
        "CREATE RELEASE research.n FROM t (id KEY, zip QUASI, a QUASI)"
        f" GENERALIZE zip USING digits UNTIL k = 2; {emptied}"
    )
    report = people.audit("research.n", against="register")
    assert all(a.share == 0 for a in report.attacks if a.attack == "linking")
