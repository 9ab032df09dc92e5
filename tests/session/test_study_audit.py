"""AUDIT STUDY: figures equal to a count by Python on the published file, and a report for others."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests.clinic_tables import RELEASES, STUDY, tables

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
SHOWN = {"patients": ["born", "sex", "zip"], "visits": ["ward"], "labs": []}


@pytest.fixture
def clinic(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    owner.execute(tables(150))
    owner.execute(RELEASES + STUDY)
    return owner


def persons(file: str) -> dict[Any, dict[str, list[Any]]]:
    """Each person's rows of each table; a lab is of whose visit it is."""
    found: dict[Any, dict[str, list[Any]]] = defaultdict(lambda: {t: [] for t in SHOWN})
    with duckdb.connect(file, read_only=True) as connection:
        for table, columns in SHOWN.items():
            joined = " LEFT JOIN research.visits USING (visit_id)" if table == "labs" else ""
            shown = ", ".join(["patient_id", *columns])
            for person, *row in connection.execute(
                f"SELECT {shown} FROM research.{table}{joined}"
            ).fetchall():
                found[person][table].append(tuple(row))
    return found


def unique(file: str, without: str | None = None) -> int:
    """How many persons are alone in what their rows show, each lab beside its own visit."""
    with duckdb.connect(file, read_only=True) as connection:
        visits = connection.execute(
            "SELECT visit_id, patient_id, ward FROM research.visits"
        ).fetchall()
        labs = connection.execute("SELECT visit_id FROM research.labs").fetchall()
        patients = connection.execute(
            "SELECT patient_id, born, sex, zip FROM research.patients"
        ).fetchall()
    per_visit = Counter(visit for (visit,) in labs)
    shown: dict[Any, list[Any]] = defaultdict(list)
    for person, *row in patients:
        shown[person] += [("patient", *row)] if without != "research.patients" else []
    for visit, person, ward in visits:
        count = per_visit[visit] if without != "research.labs" else 0
        if without == "research.visits":
            shown[person] += [("labs of one visit", count)] if count else []
        else:
            shown[person] += [("visit", ward, count)]
    alike = Counter(
        str(sorted(each)) for person, each in shown.items() if person is not None and each
    )
    return sum(size == 1 for size in alike.values())


def test_figures_are_those_of_the_file(clinic: Owner) -> None:
    report = clinic.audit_study("hospital", is_internal=True)
    clinic.publish_study("hospital", to="study.duckdb", linkable="always")
    alone = report.values("unique_study")[""]
    assert alone == pytest.approx(unique("study.duckdb") / report.persons, abs=1e-9)
    for table in SHOWN:
        told = report.values("unique_without")[f"research.{table}"]
        assert told == pytest.approx(
            unique("study.duckdb", f"research.{table}") / report.persons, abs=1e-9
        )
    counts = Counter(
        tuple(len(each[table]) for table in SHOWN)
        for person, each in persons("study.duckdb").items()
        if person is not None
    )
    found = sum(size == 1 for size in counts.values())
    assert report.values("row_counts")[""] == pytest.approx(found / report.persons, abs=1e-9)


def test_intervals_between_dates_are_attacked(clinic: Owner) -> None:
    report = clinic.audit_study("hospital", is_internal=True)
    assert (report.values("intervals")[""] or 0) > 0.5
    for table, columns in (
        ("visits", "admitted NEUTRAL AS suppress()"),
        ("labs", "taken NEUTRAL AS suppress()"),
    ):
        key = "patient_id KEY AS pseudonym(prefix => 'P-'), visit_id NEUTRAL AS pseudonym()"
        if table == "labs":
            key = "visit_id KEY REFERENCES clinic.visits (visit_id) AS pseudonym()"
        clinic.execute(
            f"CREATE OR REPLACE RELEASE research.{table} FROM clinic.{table} ({key}, {columns})"
        )
    assert "intervals" not in {one.name for one in clinic.audit_study("hospital").figures}


def test_references_are_counted(clinic: Owner) -> None:
    report = clinic.audit_study("hospital", is_internal=True)
    assert report.values("joins_kept").keys() == {
        "research.visits.patient_id",
        "research.labs.visit_id",
    }
    assert all(0.5 < (value or 0) <= 1 for value in report.values("joins_kept").values())


def test_a_target_that_cannot_be_reached_is_said_and_the_rest_is_measured(clinic: Owner) -> None:
    clinic.execute("CREATE OR REPLACE " + STUDY[7:] + " UNTIL k = 100 SUPPRESS AT MOST 1 PERCENT")
    report = clinic.audit_study("hospital")
    assert "It cannot be published as it is" in repr(report)
    assert report.values("k_study")[""] == 1


def test_one_report_holds_everything_and_no_small_count(clinic: Owner, tmp_path: Path) -> None:
    answer = clinic.execute("AUDIT STUDY hospital TO 'report.html'")
    assert "gives most people away" in answer.message
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in ("Audit of study hospital", "research.labs", "unique_without", "srcdoc="):
        assert text in page
    assert "1940-" not in page
    clinic.audit_study("hospital", to="report.json")
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [one["stamp"]["release"] for one in document["releases"]] == [
        "research.patients", "research.visits", "research.labs",
    ]  # fmt: skip
    whole = document["persons"] - document["persons"] % 5
    for figure in document["figures"]:
        if figure["of"] == document["persons"] and figure["value"] is not None:
            persons = figure["value"] * whole
            assert (
                persons == pytest.approx(5 * round(persons / 5), abs=1e-6) or figure["value"] == 1
            )


def test_an_audit_leaves_nothing_behind(clinic: Owner, tmp_path: Path) -> None:
    before = clinic.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    clinic.execute("AUDIT STUDY hospital")
    assert clinic.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before
    assert list(tmp_path.iterdir()) == []
