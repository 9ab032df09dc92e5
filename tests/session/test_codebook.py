"""The codebook, and folders of CSV files: what analysts need beside the rows, and nothing more."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdm_sql.errors import BindError, Refused
from ppdm_sql.treatments import TREATMENTS

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
ILLNESSES = ["Flu", "HIV", "", 'Co,"ld', "a|b", None, "NULL"]


@pytest.fixture
def here(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    owner.register(
        "people",
        pd.DataFrame(
            {
                "id": range(210),
                "age": [20 + i % 60 for i in range(210)],
                "sex": ["f" if i % 2 else "m" for i in range(210)],
                "illness": [ILLNESSES[i % 7] for i in range(210)],
                "pay": [1000 + 1.25 * i for i in range(210)],
            }
        ),
    )
    owner.execute(
        "CREATE HIERARCHY ages AS RANGES (10, 20, 40);"
        "CREATE RELEASE r.p FROM people (id KEY AS pseudonym(), age QUASI, sex QUASI,"
        " illness SENSITIVE, pay SENSITIVE AS noise(normal(0, 70)))"
        " GENERALIZE age USING ages, sex UNTIL k = 5 SUPPRESS AT MOST 2% WITH (suppressed = 'star');"
        "CREATE RELEASE r.ages FROM people (age NEUTRAL AS round(to => 5))"
    )
    return owner


def lines(file: str = "study.duckdb") -> dict[tuple[str, str], dict[Any, Any]]:
    with duckdb.connect(file, read_only=True) as shown:
        rows = shown.execute("FROM codebook").df().to_dict("records")
    return {(str(row["release"]), str(row["column_name"])): dict(row) for row in rows}


def test_every_column_has_a_line(here: Owner) -> None:
    here.publish("r.p", "r.ages", to="study.duckdb")
    found = lines()
    assert list(found) == [("r.p", name) for name in ("id", "age", "sex", "illness", "pay")] + [
        ("r.ages", "age")
    ]
    assert found["r.p", "age"]["treatment"] == "generalize"
    assert "30 or more" in found["r.p", "age"]["meaning"]
    assert "`*`" in found["r.p", "age"]["missing"]
    assert found["r.p", "sex"]["shown"] == "f, m"
    assert "suppressed" in found["r.p", "illness"]["missing"]
    assert found["r.ages", "age"]["shown"] == "20 to 80"
    assert found["r.ages", "age"]["type"] == "BIGINT"


def test_what_it_says_of_values_stands_in_the_rows(here: Owner) -> None:
    """Nothing of the source, and no parameter that is not disclosed."""
    here.publish("r.p", to="study.duckdb")
    found = lines()
    with duckdb.connect("study.duckdb", read_only=True) as shown:
        least, most = shown.execute("SELECT min(pay), max(pay) FROM r.p").fetchall()[0]
    assert found["r.p", "pay"]["shown"] == f"{least} to {most}"
    assert (least, most) != (1000.0, 1261.25)
    assert all(pd.isna(row["disclosed"]) for row in found.values())
    assert "70" not in "".join(str(row["meaning"]) for row in found.values())


def test_what_the_owner_discloses_is_said(here: Owner) -> None:
    here.execute(
        "PUBLISH RELEASE r.p, r.ages TO 'study.duckdb'"
        " WITH (disclose = ['noise(pay)', 'round(age)'])"
    )
    found = lines()
    assert found["r.p", "pay"]["disclosed"] == "normal(0, 70) added, one for each value"
    assert found["r.ages", "age"]["disclosed"] == "multiples of 5"
    here.publish("r.p", to="study.duckdb")
    assert pd.isna(lines()["r.p", "pay"]["disclosed"])


def test_the_matrix_of_an_exchange_can_be_disclosed(here: Owner) -> None:
    here.execute(
        "CREATE RELEASE r.x FROM (SELECT id, sex FROM people) (id KEY, sex NEUTRAL AS pram(keep => 0.8))"
    )
    here.publish("r.x", to="study.duckdb", disclose=["pram(sex)"])
    said = lines()["r.x", "sex"]["disclosed"]
    assert said == "stays with probability 0.8; else one of: f 0.5, m 0.5"


@pytest.mark.parametrize("wrong", ["pseudonym(id)", "noise(age)", "noise(nothing)", "noise", "70"])
def test_what_cannot_be_disclosed_is_refused(here: Owner, wrong: str) -> None:
    with pytest.raises(BindError):
        here.publish("r.p", to="study.duckdb", disclose=[wrong])
    assert not Path("study.duckdb").exists()


def test_a_folder_has_a_page_beside_it(here: Owner) -> None:
    for _ in range(2):
        here.publish("r.p", to="study/")
    page = Path("study.codebook.md").read_text()
    assert "## r.p" in page
    assert "'Co,\"ld', Flu" in page
    assert "a\\|b" in page, "no cell of the table ends where a value has a bar"
    rows = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    assert {line.replace("\\|", "").count("|") for line in rows} == {9}
    kept = pq.read_metadata("study/r.p.parquet").metadata[b"ppdm:codebook"]
    assert [line["column_name"] for line in json.loads(kept)] == [
        "id",
        "age",
        "sex",
        "illness",
        "pay",
    ]
    assert os.listdir("study") == ["r.p.parquet"]


def test_a_page_of_somebody_else_is_not_replaced(here: Owner) -> None:
    Path("study.codebook.md").write_text("my notes")
    with pytest.raises(Refused, match=r"'study\.codebook\.md' lies beside the target"):
        here.publish("r.p", to="study/")
    assert Path("study.codebook.md").read_text() == "my notes"
    assert not Path("study").exists()


def test_a_release_called_codebook_is_refused(here: Owner) -> None:
    here.execute("CREATE RELEASE codebook FROM people (age NEUTRAL)")
    with pytest.raises(Refused, match="reserved name"):
        here.publish("codebook", to="study.duckdb")


def test_a_folder_of_csv_files(here: Owner) -> None:
    for _ in range(2):
        here.execute("PUBLISH RELEASE r.p, r.ages TO 'study/' (FORMAT csv)")
    assert sorted(os.listdir("study")) == [
        "codebook.csv",
        "r.ages.csv",
        "r.p.csv",
        "release_info.csv",
    ]
    with Path("study/r.p.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = here.execute("SELECT coalesce(illness, '') FROM r.p ORDER BY 1").fetchall()
    assert sorted(row["illness"] for row in rows) == [value for (value,) in expected]
    text = Path("study/r.p.csv").read_text()
    assert ',"",' in text, "an empty text"
    assert ",," in text, "NULL"
    info = pd.read_csv("study/release_info.csv")
    assert info["release"].tolist() == ["r.p", "r.ages"]
    assert info["rows"].tolist() == [210, 210]
    assert len(pd.read_csv("study/codebook.csv")) == 6


def test_lists_and_structs_come_back_from_csv(here: Owner) -> None:
    """Whatever is published is read back and compared, so a type that CSV loses is refused."""
    here.execute(
        "CREATE TABLE odd AS SELECT [{'a': i, 'b': 'x,y'}] AS x FROM range(5) t(i);"
        "CREATE RELEASE r.odd FROM odd (x NEUTRAL)"
    )
    here.publish("r.odd", to="study/", format="csv")
    assert "x,y" in Path("study/r.odd.csv").read_text()


def test_a_folder_with_other_csv_files_is_not_replaced(here: Owner) -> None:
    here.publish("r.ages", to="study/", format="csv")
    Path("study/mine.csv").write_text("a,b")
    with pytest.raises(Refused, match="already exists and is not a publication"):
        here.publish("r.ages", to="study/", format="csv")


@pytest.mark.parametrize("treatment", TREATMENTS, ids=lambda one: one.keyword)
def test_every_treatment_says_how_to_read_it(treatment: Any) -> None:
    assert treatment.reading
    assert not treatment.reading.endswith(".")
