"""Targets about which values a class holds: chosen ones, near ones, rare ones."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import BindError, Refused
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.publish import write

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = (
    "CREATE OR REPLACE RELEASE r.p FROM people (n NEUTRAL, id KEY, age QUASI, ill SENSITIVE,"
    " income SENSITIVE) GENERALIZE age USING ages UNTIL {targets} SUPPRESS AT MOST 20 PERCENT"
    " WITH ({how}, accept = ['identifying(n)', 'identifying(income)', 'linked_rows'])"
)
pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
HOW = ["loss = 'ilm'", "method = 'mondrian'"]


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE people AS SELECT i AS n, i // 2 * 2 AS id, (20 + i // 2 * 7 % 60)::INTEGER AS age,"
        " ['Flu', 'HIV', 'Cold', 'Flu', 'Flu', 'Cold', 'Measles'][1 + (hash(i, 1) % 7)::INT] AS ill,"
        " round(sqrt(1 + hash(i // 3, 2) % 9000000), 2)::DECIMAL(10, 2) AS income"
        " FROM range(400) t(i);"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40)"
    )
    return owner


def classes(owner: Owner, folder: Path) -> dict[str, list[tuple[int, str, float]]]:
    """Return who is in each class of the published file: person, illness, income."""
    owner.publish("r.p", to=folder / "study.duckdb")
    with duckdb.connect(folder / "study.duckdb", read_only=True) as client:
        rows = client.execute("SELECT n, age, ill, income::DOUBLE FROM r.p").fetchall()
    found = defaultdict(list)
    for number, age, illness, income in rows:
        found[age].append((number // 2 * 2, illness, income))
    return found


@pytest.mark.parametrize("how", HOW)
def test_alpha_bounds_the_values_that_are_named(people: Owner, tmp_path: Path, how: str) -> None:
    people.execute(
        RELEASE.format(targets="k = 4, alpha(ill IN ('HIV', 'Measles')) <= 0.4", how=how)
    )
    shares = []
    for rows in classes(people, tmp_path).values():
        everybody = {person for person, _, _ in rows}
        for illness in ("HIV", "Measles", "Flu"):
            holders = {person for person, ill, _ in rows if ill == illness}
            shares.append((illness, len(holders) / len(everybody)))
    assert all(share <= 0.4 + 1e-9 for illness, share in shares if illness != "Flu")
    # Flu, which is not named, may be as frequent as it is.
    assert max(share for illness, share in shares if illness == "Flu") > 0.4
    told = next(one for one in people.figures("r.p") if one.figure == "alpha(ill)")
    named = [share for illness, share in shares if illness != "Flu"]
    assert told.value == pytest.approx(max(named))


@pytest.mark.parametrize("how", HOW)
def test_proximity_bounds_who_is_near(people: Owner, tmp_path: Path, how: str) -> None:
    people.execute(RELEASE.format(targets="k = 3, proximity(income, 100) = 2", how=how))
    found = classes(people, tmp_path)
    assert len(found) > 1
    for rows in found.values():
        everybody = {person for person, _, _ in rows}
        pairs = {(person, income) for person, _, income in rows}
        for _, income in pairs:
            near = sum(abs(other - income) <= 100 for _, other in pairs)
            assert near <= len(everybody) / 2


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("column", ["income", "ill"])
def test_kpqr_wants_classes_with_rare_values_to_vary(
    people: Owner, tmp_path: Path, column: str, how: str
) -> None:
    rare, least = (0.15, 0.3) if column == "ill" else (0.02, 0.5)
    people.execute(RELEASE.format(targets=f"kpqr({column}, 3, {rare}, {least}) = 4", how=how))
    at = 1 if column == "ill" else 2
    source = people.execute(
        "SELECT DISTINCT id, ill, income::DOUBLE FROM (SELECT id, "
        + ("ill, 0 AS income" if column == "ill" else "'' AS ill, income")
        + " FROM people)"
    ).fetchall()
    whole = [row[at] for row in source]
    for rows in classes(people, tmp_path).values():
        assert len({person for person, _, _ in rows}) >= 4
        values: list[object] = [value for _, value in {(row[0], row[at]) for row in rows}]
        if any(whole.count(value) / len(whole) < rare for value in values):
            assert len(set(values)) >= 3
            assert spread(values) >= least * spread(whole) * (1 - 1e-9)


def spread(values: list[object]) -> float:
    if isinstance(values[0], str):
        return 1 - sum((values.count(v) / len(values)) ** 2 for v in set(values))
    return statistics.pvariance([float(str(value)) for value in values])


@pytest.mark.parametrize(
    "target",
    ["alpha(ill IN ('HIV')) <= 0.01", "proximity(income, 100000) = 2", "kpqr(income, 3, 1, 5) = 4"],
)
def test_what_misses_it_is_not_made_and_not_published(
    people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    with pytest.raises(Refused, match="no generalization reaches") as refused:
        people.execute(RELEASE.format(targets=target, how="loss = 'ilm'"))
    assert "HIV" not in refused.value.what
    # A search that is wrong about everything: PUBLISH has eyes of its own.
    with monkeypatch.context() as patch:
        patch.setattr(Generalizing, "targets", lambda _: ())
        people.execute(RELEASE.format(targets=target, how="loss = 'ilm'"))
    with pytest.raises(Refused, match="does not reach its targets"):
        people.publish("r.p", to=tmp_path / "study.duckdb")
    monkeypatch.setattr(write, "check_targets", lambda *_: None)
    monkeypatch.setattr(Generalizing, "targets", lambda _: ())
    people.publish("r.p", to=tmp_path / "study.duckdb")  # that was the protection


def test_the_values_that_alpha_names_stay_with_the_owner(people: Owner, tmp_path: Path) -> None:
    people.execute(
        RELEASE.format(
            targets="k = 4, alpha(ill IN ('Measles')) <= 0.5", how="loss = 'ilm'"
        ).replace("ill SENSITIVE", "ill SENSITIVE AS mapping()")
    )
    assert "Measles" not in str(people.explain("r.p"))
    people.publish("r.p", to=tmp_path / "study.duckdb")
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as client:
        (said,) = client.execute("SELECT targets FROM release_info").fetchall()
    assert said == ("k = 4, alpha(ill IN (…)) <= 0.5",)
    for file in ("report.html", "report.json"):  # red before: it stood in the script
        people.audit("r.p", to=[tmp_path / file])
        assert "Measles" not in (tmp_path / file).read_text()
    people.execute("DELETE FROM people WHERE ill = 'Measles'; REFRESH RELEASE r.p")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("DECIMAL(10, 2)", "5"),
        ("DATE", "'2020-01-05'"),
        ("ENUM ('5', '6')", "'5'"),
        ("DOUBLE", "5"),
    ],
)
def test_values_are_compared_as_the_column_has_them(
    owner: Owner, tmp_path: Path, type_: str, value: str
) -> None:
    of = "DATE '2020-01-04' + ({n})::INT" if type_ == "DATE" else "(5 + {n})::VARCHAR"
    owner.execute(
        f"CREATE TABLE t AS SELECT i AS id, i % 20 AS age, CAST({of.format(n='(i // 20) % 2')} AS {type_}) AS v"
        " FROM range(200) r(i)"
    )
    statement = (
        "CREATE RELEASE r FROM t (id KEY, age QUASI, v SENSITIVE) GENERALIZE age"
        f" UNTIL k = 2, alpha(v IN ({value})) <= {{share}}"
    )
    with pytest.raises(Refused):
        owner.execute(statement.format(share=0.4))
    assert owner.releases() == []
    owner.execute(statement.format(share=0.5))
    owner.publish("r", to=tmp_path / "study.duckdb")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("alpha(ill IN ('Flu', 'hiv')) <= 0.5", "no row of 'ill' has the value number 2"),
        ("alpha(income IN ('many')) <= 0.5", "no row of 'income' has the value number 1"),
        ("proximity(ill, 3) = 2", "proximity is about numbers; 'ill' is VARCHAR"),
        ("proximity(income, 3) = 1", "proximity must be a whole number, 2 or more"),
        ("proximity(income, -3) = 2", "the distance of proximity is 0 or more"),
        ("kpqr(income, 1, 0.5, 0.5) = 3", "kpqr needs p from 2 on"),
        ("kpqr(income, 2, 0.5, 0.5) = 1", "kpqr must be a whole number, 2 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(people: Owner, target: str, said: str) -> None:
    with pytest.raises(BindError, match=said.replace("(", r"\(")) as refused:
        people.execute(RELEASE.format(targets=f"k = 2, {target}", how="loss = 'ilm'"))
    assert "hiv" not in str(refused.value.what)
    assert people.releases() == []
