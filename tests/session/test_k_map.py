"""k_map: every class fits k persons of a register, who need not be in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import BindError, Refused
from ppdm_sql.groups.run import Generalizing

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = (
    "CREATE OR REPLACE RELEASE r.p FROM sick (id KEY, age QUASI, town QUASI, sex QUASI, ill SENSITIVE)"
    " GENERALIZE age USING ages, town USING towns UNTIL {targets} SUPPRESS AT MOST {percent} PERCENT"
)


@pytest.fixture
def sick(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE town AS SELECT i AS person, (20 + hash(i) % 60)::SMALLINT AS age,"
        " 'T' || (hash(i, 2) % 9) AS town, ['F', 'M'][1 + (hash(i, 1) % 2)::INT] AS sex FROM range(4000) t(i);"
        "CREATE TABLE sick AS SELECT person AS id, age::INTEGER AS age, town, sex, 'Flu' AS ill FROM town"
        " WHERE hash(person, 9) % 40 = 0;"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);"
        "CREATE TABLE places AS SELECT 'T' || i AS t, CASE WHEN i < 5 THEN 'N' ELSE 'S' END AS side FROM range(8) r(i);"
        "CREATE HIERARCHY towns AS TABLE places"
    )
    owner.execute(
        "DELETE FROM sick WHERE town = 'T8'"
    )  # nobody listed T8: only the register has it
    return owner


def fewest(owner: Owner, folder: Path) -> int:
    """Return how many of the town fit the smallest class, read off the published labels."""
    owner.publish("r.p", to=folder / "study.duckdb")
    with duckdb.connect(folder / "study.duckdb", read_only=True) as client:
        rows = client.execute("SELECT DISTINCT age, town, sex FROM r.p").fetchall()
    everybody = owner.execute("SELECT age, town, sex FROM town").fetchall()
    found = [
        sum(
            bool(fits_age(age, one[0]) and fits_town(town, one[1]) and sex == one[2])
            for one in everybody
        )
        for age, town, sex in rows
    ]
    return min(found)


def fits_age(label: str, age: int) -> bool:
    if label == "*":
        return True
    if label.startswith("["):
        low, high = label.strip("[)").split(", ")
        return int(low) <= age < int(high)
    return int(label) == age


def fits_town(label: str, town: str) -> bool:
    if town == "T8":
        return False  # in no group of the hierarchy
    return label in ("*", town) or label == ("N" if town < "T5" else "S")


@pytest.mark.parametrize("k", [2, 20, 60])
def test_every_class_fits_as_many_of_the_register(sick: Owner, tmp_path: Path, k: int) -> None:
    sick.execute(RELEASE.format(targets=f"k_map = {k} AGAINST town", percent=5))
    found = fewest(sick, tmp_path)
    assert found >= k
    told = {one.figure: one.value or 0 for one in sick.figures("r.p")}
    assert told["smallest class of the register"] >= k
    assert told["smallest class of the register"] <= found
    # Few of the data, many of the town: that is what it is for.
    assert told["smallest class"] < k


def test_it_asks_for_less_than_k_of_the_data_and_more_than_nothing(sick: Owner) -> None:
    lost = []
    for targets in ("k_map = 10 AGAINST main.town", "k_map = 10 AGAINST town, k = 10"):
        sick.execute(RELEASE.format(targets=targets, percent=0))
        lost.append(
            next(one.value for one in sick.figures("r.p") if one.figure == "loss (precision)") or 0
        )
    assert 0 < lost[0] < lost[1]


def test_the_best_levels_are_found(sick: Owner) -> None:
    """Against every node, by the register's own rows."""
    sick.execute(RELEASE.format(targets="k_map = 30 AGAINST town", percent=0))
    found = {one.figure: one.value for one in sick.figures("r.p")}
    best = found["loss (precision)"] or 0
    for age in range(6):
        for town in range(3):
            statement = RELEASE.format(targets="k_map = 30 AGAINST town", percent=0)
            statement = statement.replace("USING ages", f"USING ages LEVEL {age}").replace(
                "USING towns", f"USING towns LEVEL {town}"
            )
            try:
                sick.execute(statement)
            except Refused:
                continue
            other = {one.figure: one.value for one in sick.figures("r.p")}
            assert (other["loss (precision)"] or 0) >= best - 1e-12


def test_publish_looks_for_itself(
    sick: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = RELEASE.format(targets="k_map = 60 AGAINST town", percent=0)
    with monkeypatch.context() as patch:
        patch.setattr(Generalizing, "targets", lambda _: ())
        patch.setattr(Generalizing, "fewest_of_register", lambda _: 60)
        sick.execute(statement)
    with pytest.raises(Refused, match="what would be published does not reach its targets"):
        sick.publish("r.p", to=tmp_path / "a.duckdb")


def test_a_refresh_reads_the_register_again(sick: Owner) -> None:
    sick.execute(RELEASE.format(targets="k_map = 20 AGAINST town", percent=5))
    sick.execute("DELETE FROM town WHERE person % 10 > 0")
    with pytest.raises(Refused):
        sick.execute(RELEASE.format(targets="k_map = 500 AGAINST town", percent=0))
    sick.execute("REFRESH RELEASE r.p; DROP RELEASE r.p")
    left = sick.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ppdm_owner'"
        " AND regexp_matches(table_name, '^r[0-9]+_v')"
    ).fetchall()
    assert left == []  # the register's people, too


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            RELEASE.format(targets="k_map = 5 AGAINST tow", percent=5),
            "there is no table or view 'tow'",
        ),
        (
            RELEASE.format(targets="k_map = 5 AGAINST places", percent=5),
            "the register cannot be read",
        ),
        (
            RELEASE.format(targets="k_map = 1 AGAINST town", percent=5),
            "k_map must be a whole number",
        ),
        (
            RELEASE.format(targets="k_map = 5 AGAINST town", percent=5)
            + " WITH (method = 'mondrian')",
            "k_map needs levels",
        ),
        (
            RELEASE.format(targets="k_map = 5 AGAINST town", percent=5).replace(
                "sex QUASI", "sex QUASI AS mapping()"
            ),
            "'sex' has a treatment",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(sick: Owner, statement: str, said: str) -> None:
    with pytest.raises(BindError, match=said):
        sick.execute(statement)
    assert sick.releases() == []


@pytest.mark.parametrize(
    ("rules", "generalize"),
    [
        ("age QUASI", "age USING ages"),
        ("sex QUASI, age QUASI", "age USING ages, sex"),
    ],
    ids=["one column", "an ENUM"],
)
def test_every_quasi_column_may_be_generalized(
    sick: Owner, tmp_path: Path, rules: str, generalize: str
) -> None:
    """Red before: an ArrowInvalid, or a refusal of the ENUM."""
    sick.execute(
        "CREATE TYPE sexes AS ENUM ('F', 'M'); CREATE TABLE ill AS SELECT * REPLACE (sex::sexes AS sex) FROM sick;"
        f"CREATE RELEASE r.p FROM ill (id KEY, {rules}) GENERALIZE {generalize}"
        " UNTIL k_map = 100 AGAINST town SUPPRESS AT MOST 5 PERCENT"
    )
    told = {one.figure: one.value or 0 for one in sick.figures("r.p")}
    assert told["smallest class of the register"] >= 100
    sick.publish("r.p", to=tmp_path / "a.duckdb")


def test_what_no_value_of_the_column_is_counts_for_nobody(sick: Owner) -> None:
    """Red before: ages that are no numbers counted as NULL, and a person without age fitted them."""
    sick.execute(
        "CREATE TABLE odd AS SELECT person, CASE WHEN person % 2 = 0 THEN 'unknown' ELSE age::VARCHAR END AS age,"
        " town, sex FROM town;"
        "INSERT INTO sick VALUES (100000, NULL, 'T1', 'F', 'Flu')"
    )
    with pytest.raises(Refused):
        sick.execute(
            "CREATE RELEASE r.p FROM sick (id KEY, age QUASI) GENERALIZE age USING ages LEVEL 1"
            " UNTIL k_map = 5 AGAINST odd"
        )
