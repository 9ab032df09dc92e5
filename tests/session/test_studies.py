"""Studies: releases that go out together. What they promise is counted on the file, by plain SQL."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, Refused, StatementError
from tests.clinic_tables import MEMBERS, RELEASES, STUDY, tables

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")


@pytest.fixture
def clinic(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    owner.execute(tables())
    owner.execute(RELEASES)
    return owner


def publish(owner: Owner, to: str = "study.duckdb", recipient: str = "uni") -> Any:
    return owner.publish_study("hospital", to=to, recipient=recipient)


def ask(file: str, query: str) -> list[Any]:
    with duckdb.connect(file, read_only=True) as connection:
        return connection.execute(query).fetchall()


JOINED = """SELECT count(*) FROM {0}.labs AS l JOIN {0}.visits AS v ON l.visit_id = v.visit_id
    JOIN {0}.patients AS p ON v.patient_id = p.patient_id"""


def test_it_publishes_all_of_its_releases_and_nothing_else(clinic: Owner) -> None:
    clinic.execute(STUDY)
    done = publish(clinic)
    listed = ask("study.duckdb", "SELECT release FROM release_info ORDER BY ALL")
    assert listed == [("research.labs",), ("research.patients",), ("research.visits",)]
    assert [str(one.release) for one in done.releases] == MEMBERS.split(", ")
    (name,) = {one.publication.study for one in clinic.publications()}
    assert name == "hospital"


def test_it_joins_exactly_where_the_sources_join(clinic: Owner) -> None:
    """Whoever GENERALIZE suppressed is left out of all tables; of the others every row joins."""
    clinic.execute(STUDY)
    publish(clinic)
    shown = ask("study.duckdb", JOINED.format("research"))
    # The owner's own views tell who was suppressed: those whose pseudonym is not in the release.
    clinic.execute(
        "CREATE TEMP TABLE names AS SELECT v.patient_id AS id, r.patient_id AS name"
        " FROM clinic.visits AS v POSITIONAL JOIN research.visits AS r"
    )
    expected = clinic.execute(
        JOINED.format("clinic") + " WHERE p.patient_id IN"
        " (SELECT id FROM names WHERE name IN (SELECT patient_id FROM research.patients))"
    ).fetchall()
    assert shown == expected
    assert shown[0][0] > 500


def test_whoever_is_suppressed_in_one_table_is_in_none(clinic: Owner) -> None:
    clinic.execute(
        "UPDATE clinic.patients SET born = DATE '1800-01-01', zip = 1 WHERE patient_id IN (7, 8);"
        f"REFRESH RELEASE research.patients; {STUDY}"
    )
    done = publish(clinic)
    assert "left out of all tables: " in done.message
    known = {name for (name,) in ask("study.duckdb", "SELECT patient_id FROM research.patients")}
    seen = ask("study.duckdb", "SELECT DISTINCT patient_id FROM research.visits")
    assert {name for (name,) in seen} - {None} <= known
    assert len(known) <= 298


def test_references_hold_in_what_is_published(clinic: Owner) -> None:
    """What can be looked up in the source and goes out can be looked up in the file."""
    clinic.execute(STUDY.replace("research.visits", "research.visits AT MOST 1 ROWS PER patient"))
    publish(clinic)
    rows = ask("study.duckdb", "SELECT patient_id, count(*) FROM research.visits GROUP BY ALL")
    assert all(count == 1 for _, count in rows)
    dangling = ask(
        "study.duckdb",
        "SELECT DISTINCT visit_id FROM research.labs WHERE visit_id NOT IN"
        " (SELECT visit_id FROM research.visits)",
    )
    assert dangling == [], "orphans of the source name nothing either"
    again = ask("study.duckdb", "SELECT visit_id FROM research.visits ORDER BY ALL")
    publish(clinic, "again.duckdb")
    assert ask("again.duckdb", "SELECT visit_id FROM research.visits ORDER BY ALL") == again


def test_time_between_dates_of_a_person_stays_to_the_second(clinic: Owner) -> None:
    clinic.execute(STUDY)
    publish(clinic)
    apart = """SELECT epoch(l.taken) - epoch(v.admitted), epoch(v.discharged) - epoch(v.admitted)
        FROM {0}.labs AS l JOIN {0}.visits AS v USING (visit_id) {1} ORDER BY ALL"""
    shown = Counter(ask("study.duckdb", apart.format("research", "WHERE v.admitted IS NOT NULL")))
    whole = Counter(clinic.execute(apart.format("clinic", "")).fetchall())
    assert shown <= whole
    assert shown.total() > 500


def shown_together(file: str) -> Counter[Any]:
    """How many persons show the same over patients and visits: by Python, from the file alone."""
    rows: dict[str, list[Any]] = defaultdict(list)
    for table, columns in (("patients", "born, sex, zip"), ("visits", "ward")):
        for person, *shown in ask(file, f"SELECT patient_id, {columns} FROM research.{table}"):
            rows[person].append((table, *shown))
    return Counter(tuple(sorted(shown, key=repr)) for shown in rows.values())


def test_k_holds_over_all_tables(clinic: Owner) -> None:
    clinic.execute(
        STUDY + " UNTIL k = 4 ACROSS research.patients, research.visits SUPPRESS AT MOST 90 PERCENT"
    )
    publish(clinic)
    assert min(shown_together("study.duckdb").values()) >= 4
    sizes = ask("study.duckdb", "SELECT count(*) FROM research.patients GROUP BY born, sex, zip")
    assert min(size for (size,) in sizes) >= 5
    said = ask("study.duckdb", "SELECT targets FROM release_info")
    assert all("k = 4 across research.patients, research.visits" in text for (text,) in said)


def test_without_it_the_owner_is_told_what_all_tables_show(clinic: Owner) -> None:
    clinic.execute(STUDY)
    with pytest.warns(PrivacyWarning, match="is shared by 1 person only"):
        publish(clinic)
    assert min(shown_together("study.duckdb").values()) == 1


def test_l_holds_over_all_tables(clinic: Owner) -> None:
    clinic.execute(
        STUDY + " UNTIL k = 2, l(illness) = 2 ACROSS research.patients, research.visits"
        " SUPPRESS AT MOST 95 PERCENT"
    )
    publish(clinic)
    found = ask("study.duckdb", "SELECT patient_id, born, sex, zip FROM research.patients")
    whose = {person: shown for person, *shown in found}
    wards: dict[str, list[str]] = defaultdict(list)
    ill: dict[str, set[str]] = defaultdict(set)
    for person, ward, illness in ask(
        "study.duckdb", "SELECT patient_id, ward, illness FROM research.visits"
    ):
        wards[person].append(ward)
        ill[person].add(illness)
    classes: dict[Any, set[str]] = defaultdict(set)
    for person, shown in whose.items():
        key = (*shown, *sorted(wards[person]))
        classes[key] |= ill[person]
    # Who has no visit has no illness to be found out.
    assert min(len(values) for values in classes.values() if values) >= 2


def test_too_many_left_out_is_refused_with_the_column(clinic: Owner) -> None:
    clinic.execute(STUDY + " UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT")
    with pytest.raises(Refused, match="sets most of them apart") as caught:
        publish(clinic)
    assert caught.value.code == "target_missed"
    assert "research." in caught.value.what
    assert "AT MOST 5 ROWS PER patient" in (caught.value.hint or "")
    assert clinic.publications() == []


def test_a_recipient_keeps_pseudonyms_and_another_gets_others(clinic: Owner) -> None:
    clinic.execute(STUDY)
    files = (("a", "uni"), ("b", "uni"), ("c", "firm"))
    names = {}
    for file, recipient in files:
        publish(clinic, f"{file}.duckdb", recipient)
        found = ask(f"{file}.duckdb", "SELECT patient_id FROM research.patients")
        names[file] = {name for (name,) in found}
        dates = ask(f"{file}.duckdb", "SELECT admitted FROM research.visits ORDER BY ALL")
        assert dates == ask("a.duckdb", "SELECT admitted FROM research.visits ORDER BY ALL")
    assert names["a"] == names["b"]
    assert not names["a"] & names["c"]
    live = {
        name for (name,) in clinic.execute("SELECT patient_id FROM research.patients").fetchall()
    }
    assert not live & names["a"]


def test_a_recipient_is_needed_unless_pseudonyms_are_of_the_store(clinic: Owner) -> None:
    clinic.execute(STUDY)
    with pytest.raises(BindError, match="the recipient is missing") as caught:
        clinic.publish_study("hospital", to="a.duckdb")
    assert caught.value.code == "no_recipient"
    clinic.publish_study("hospital", to="a.duckdb", linkable="always")
    live = clinic.execute("SELECT patient_id FROM research.patients ORDER BY ALL").fetchall()
    assert ask("a.duckdb", "SELECT patient_id FROM research.patients ORDER BY ALL") == live
    clinic.publish_study("hospital", to="b.duckdb", linkable="publication")
    assert ask("b.duckdb", "SELECT patient_id FROM research.patients ORDER BY ALL") != live


def test_a_refresh_is_of_all_or_none(clinic: Owner) -> None:
    clinic.execute(STUDY)
    clinic.execute("REFRESH STUDY hospital")
    assert {info.version for info in clinic.releases()} == {2}
    clinic.execute("ALTER TABLE clinic.labs RENAME value TO amount")
    with pytest.raises(ppdm_sql.PpdmError):
        clinic.execute("REFRESH STUDY hospital")
    assert {info.version for info in clinic.releases()} == {2}


def test_what_there_is_and_what_refers_to_what(clinic: Owner) -> None:
    clinic.execute(STUDY + " UNTIL k = 3 SUPPRESS AT MOST 10 PERCENT WITH (linkable = 'always')")
    (row,) = clinic.execute("SHOW STUDIES").fetchall()
    assert row[:5] == (
        "hospital", "patient", MEMBERS.split(", "), "k = 3, at most 10 percent left out", "always",
    )  # fmt: skip
    rows = clinic.execute("DESCRIBE STUDY hospital").fetchall()
    until = "k = 3, at most 10 percent left out"
    assert [(one[0], *one[4:]) for one in rows] == [
        ("research.patients", None, until),
        ("research.visits", "patient_id → research.patients", until),
        ("research.labs", "visit_id → research.visits", until),
    ]


def test_a_release_of_a_study_is_not_dropped(clinic: Owner) -> None:
    clinic.execute(STUDY)
    with pytest.raises(BindError, match="part of study 'hospital'"):
        clinic.execute("DROP RELEASE research.labs")
    clinic.execute("DROP STUDY hospital; DROP RELEASE research.labs; DROP STUDY IF EXISTS hospital")
    assert clinic.execute("SHOW STUDIES").fetchall() == []


@pytest.mark.parametrize(
    ("statement", "error", "what", "code"),
    [
        (STUDY.replace("research.labs", "research.lab"), BindError, "no release", "unknown_release"),
        (STUDY.replace("research.labs", "research.visits"), BindError, "twice", "listed_twice"),
        (STUDY.replace("PERSON patient", "PERSON doctor"), BindError, "is of 'patient'", "other_person"),
        (STUDY.replace("PERSON patient", ""), StatementError, "expected ',' or PERSON", "syntax"),
        (STUDY + " UNTIL t(illness) <= 0.5", BindError, "cannot be counted", "bad_target"),
        (STUDY + " UNTIL k = 1", BindError, "cannot be counted", "bad_target"),
        (STUDY + " UNTIL l(ward) = 2", BindError, "SENSITIVE column 'ward'", "unknown_column"),
        (STUDY + " UNTIL k = 2 ACROSS research.other", BindError, "not in the study", "unknown_release"),
        (STUDY + " WITH (linkable = 'never')", BindError, "must be one of", "bad_option"),
        (STUDY + " WITH (linkabel = 'always')", BindError, "unknown option", "unknown_option"),
        (STUDY.replace("labs", "labs AT MOST 0 ROWS PER patient"), StatementError, "number of rows", "syntax"),
        (STUDY.replace("labs", "labs AT MOST 3 ROWS PER ward"), StatementError, "called 'patient'", "syntax"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_study_is_refused(
    clinic: Owner, statement: str, error: type[ppdm_sql.PpdmError], what: str, code: str
) -> None:
    with pytest.raises(error, match=what) as caught:
        clinic.execute(statement)
    assert caught.value.code == code
    assert clinic.execute("SHOW STUDIES").fetchall() == []


def test_a_table_of_somebody_else_is_refused(clinic: Owner) -> None:
    clinic.execute(
        "CREATE RELEASE r.wards FROM (SELECT DISTINCT ward FROM clinic.visits) (ward NEUTRAL)"
    )
    with pytest.raises(BindError, match="has no KEY"):
        clinic.execute(STUDY.replace(MEMBERS, "research.patients, r.wards"))
    clinic.execute(
        "CREATE TABLE t AS SELECT 'x' AS id, 1 AS a; CREATE RELEASE r.t FROM t (id KEY OF patient, a NEUTRAL)"
    )
    with pytest.raises(BindError, match=r"is INTEGER, that of 'r\.t' is VARCHAR"):
        clinic.execute(STUDY.replace(MEMBERS, "research.patients, r.t"))


def test_the_key_that_chooses_rows_is_in_no_text(clinic: Owner) -> None:
    clinic.execute(STUDY.replace("visits", "visits AT MOST 1 ROWS PER patient"))
    publish(clinic)
    shown = clinic.execute("SELECT DISTINCT patient_id, visit_id FROM research.visits").fetchall()
    assert shown
    first = ask("study.duckdb", "SELECT admitted FROM research.visits ORDER BY ALL")
    with ppdm_sql.connect(":memory:") as other:
        other.execute(tables())
        other.execute(RELEASES)
        other.execute(STUDY.replace("visits", "visits AT MOST 1 ROWS PER patient"))
        other.publish_study("hospital", to="other.duckdb", recipient="uni")
    assert ask("other.duckdb", "SELECT admitted FROM research.visits ORDER BY ALL") != first


def test_pseudonyms_of_a_recipient_are_translated_by_their_publication(clinic: Owner) -> None:
    clinic.execute(STUDY)
    publish(clinic)
    ((name, publication),) = ask(
        "study.duckdb",
        "SELECT min(patient_id), (SELECT min(publication) FROM release_info) FROM research.patients",
    )
    text = f"INTERPRET RELEASE research.patients PUBLICATION '{publication}' WHERE patient_id = '{name}'"
    ((original, _),) = clinic.execute(text).fetchall()
    assert original.startswith("patient_id = ")
    again = clinic.interpret("research.patients", f"patient_id = '{name}'", publication=publication)
    assert again.original == original
    assert clinic.interpret("research.patients", f"patient_id = '{name}'").original != original
    with pytest.raises(BindError, match="in no publication") as caught:
        clinic.interpret("research.patients", "sex = 'F'", publication="no")
    assert caught.value.code == "unknown_publication"
