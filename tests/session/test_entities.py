"""Whose a column is: what a release says, what the keys of the database say, through several tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, StatementError, TreatmentError
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

CLINIC = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients (patient_id INTEGER PRIMARY KEY, sex VARCHAR);
CREATE TABLE clinic.visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES clinic.patients (patient_id),
    ward VARCHAR
);
CREATE TABLE clinic.labs (
    lab_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES clinic.visits (visit_id), value DOUBLE
);
INSERT INTO clinic.patients SELECT i, ['F', 'M'][1 + i % 2] FROM range(40) AS r (i);
INSERT INTO clinic.visits SELECT 100 + i, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 40 END,
    ['A', 'B'][1 + i % 2] FROM range(90) AS r (i);
INSERT INTO clinic.labs SELECT 1000 + i, CASE WHEN i % 13 = 0 THEN NULL ELSE 100 + i % 90 END, i % 4
    FROM range(300) AS r (i);
"""
# The same without declared keys.
PLAIN = """
CREATE SCHEMA files;
CREATE TABLE files.patients AS FROM clinic.patients;
CREATE TABLE files.visits AS FROM clinic.visits;
CREATE TABLE files.labs AS FROM clinic.labs;
"""
PATIENTS = "CREATE RELEASE r.patients FROM clinic.patients (patient_id KEY OF patient AS pseudonym(), sex QUASI)"
VISITS = (
    "CREATE RELEASE r.visits FROM clinic.visits (visit_id NEUTRAL AS pseudonym(),"
    " patient_id KEY AS pseudonym(), ward NEUTRAL)"
)
LABS = "CREATE RELEASE r.labs FROM clinic.labs (visit_id KEY AS pseudonym(), value NEUTRAL)"
JOINED = (
    "SELECT count(*) FROM {0}.labs AS l JOIN {0}.visits AS v ON {1} JOIN {0}.patients AS p ON {2}"
)


@pytest.fixture
def clinic(owner: Owner) -> Owner:
    owner.execute(CLINIC)
    return owner


def count(owner: Owner, query: str) -> int:
    found = owner.execute(query).fetchone()
    assert found is not None
    return int(found[0])


def roles(owner: Owner, name: str) -> dict[str, tuple[str, str]]:
    return {one.column: (one.role, one.treatment) for one in owner.describe(name)}


def test_pseudonyms_join_where_the_sources_join(clinic: Owner) -> None:
    for statement in (PATIENTS, VISITS, LABS):
        clinic.execute(statement)
    on = ("l.visit_id = v.visit_id", "v.patient_id = p.patient_id")
    expected = count(clinic, JOINED.format("clinic", *on))
    assert expected > 200
    assert count(clinic, JOINED.format("r", *on)) == expected
    # Orphans and rows of nobody stay as many.
    for table, column in (("labs", "visit_id"), ("visits", "patient_id")):
        counted = f"SELECT count({column}), count(DISTINCT {column}) FROM {{}}.{table}"
        assert (
            clinic.execute(counted.format("r")).fetchone()
            == clinic.execute(counted.format("clinic")).fetchone()
        )


def test_the_person_of_a_row_is_found_through_other_tables(clinic: Owner) -> None:
    clinic.execute(PATIENTS)
    clinic.execute(VISITS)
    clinic.execute(LABS)
    assert roles(clinic, "r.labs") == {
        "patient_id": ("KEY", "stays with the owner"),
        "visit_id": ("NEUTRAL", "pseudonym"),
        "value": ("NEUTRAL", "keep"),
    }
    assert count(clinic, "SELECT count(*) FROM r.labs") == 300


def test_dates_of_a_person_move_alike_in_every_table(clinic: Owner) -> None:
    clinic.execute("ALTER TABLE clinic.labs ADD COLUMN taken DATE")
    clinic.execute("UPDATE clinic.labs SET taken = DATE '2024-01-01'")
    clinic.execute(PATIENTS)
    visits = VISITS.replace("ward NEUTRAL", "d NEUTRAL AS date_shift()")
    dated = "(SELECT *, DATE '2024-01-01' AS d FROM clinic.visits)"
    with pytest.warns(PrivacyWarning, match="have no KEY"):
        clinic.execute(visits.replace("clinic.visits", dated))
    with pytest.warns(PrivacyWarning, match="have no KEY"):
        clinic.execute(LABS.replace("value NEUTRAL", "taken NEUTRAL AS date_shift()"))
    apart = "SELECT DISTINCT l.taken - v.d FROM r.labs AS l JOIN r.visits AS v USING (visit_id) WHERE v.d IS NOT NULL"
    assert clinic.sql(apart).fetchall() == [(0,)]


def test_without_a_release_of_the_person_a_row_is_of_its_own_key(clinic: Owner) -> None:
    clinic.execute(LABS)
    assert roles(clinic, "r.labs")["visit_id"] == ("KEY", "pseudonym")


def test_what_is_not_declared_can_be_said(clinic: Owner) -> None:
    clinic.execute(PLAIN)
    clinic.execute(PATIENTS.replace("clinic.", "files."))
    clinic.execute(
        VISITS.replace("clinic.", "files.").replace(
            "patient_id KEY", "patient_id KEY OF patient REFERENCES files.patients (patient_id)"
        )
    )
    clinic.execute(
        LABS.replace("clinic.", "files.").replace(
            "visit_id KEY", "visit_id KEY REFERENCES files.visits (visit_id)"
        )
    )
    on = ("l.visit_id = v.visit_id", "v.patient_id = p.patient_id")
    assert count(clinic, JOINED.format("r", *on)) == count(clinic, JOINED.format("files", *on))


def test_a_key_that_is_declared_later_changes_no_pseudonym(clinic: Owner) -> None:
    clinic.execute(PLAIN)
    clinic.execute(PATIENTS.replace("clinic.", "files."))
    clinic.execute(VISITS.replace("clinic.", "files."))
    before = clinic.sql("SELECT * FROM r.visits ORDER BY ALL").fetchall()
    clinic.execute(
        "ALTER TABLE files.patients ADD PRIMARY KEY (patient_id);"
        "CREATE OR REPLACE TABLE files.visits (visit_id INTEGER, patient_id INTEGER"
        "  REFERENCES files.patients (patient_id), ward VARCHAR);"
        "INSERT INTO files.visits FROM clinic.visits; REFRESH RELEASE r.visits"
    )
    assert clinic.sql("SELECT * FROM r.visits ORDER BY ALL").fetchall() == before


def test_keys_of_other_entities_have_keys_of_their_own(clinic: Owner) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM clinic.patients (patient_id KEY OF patient AS pseudonym());"
        "CREATE RELEASE r.b FROM clinic.patients (patient_id KEY OF doctor AS pseudonym())"
    )
    assert count(clinic, "SELECT count(*) FROM r.a JOIN r.b USING (patient_id)") == 0


def test_pseudonyms_that_do_not_meet_are_warned_of(clinic: Owner) -> None:
    clinic.execute(PATIENTS)
    with pytest.warns(
        PrivacyWarning, match="cannot be joined as they are: write the same length, prefix"
    ):
        clinic.execute(VISITS.replace("KEY AS pseudonym()", "KEY AS pseudonym(prefix => 'P')"))


def test_a_release_from_before_the_word_is_pointed_at(clinic: Owner) -> None:
    clinic.execute(VISITS)
    with pytest.warns(PrivacyWarning, match=r"make r\.visits again"):
        clinic.execute(PATIENTS)


@pytest.mark.parametrize(
    ("rule", "error", "what"),
    [
        ("visit_id KEY REFERENCES clinic.vists (visit_id)", BindError, "no table or view"),
        ("visit_id KEY REFERENCES clinic.visits (visit)", BindError, "no column 'visit'"),
        ("visit_id KEY REFERENCES clinic.visits", StatementError, "expected '\\('"),
        ("visit_id KEY OF", StatementError, "whose the values are"),
        ("(visit_id, value) NEUTRAL OF a AS rotation()", StatementError, "of one column"),
        ("visit_id KEY OF a AS pseudonym(entity => 'a')", TreatmentError, "not both"),
        ("visit_id KEY PRIVATE TO north", StatementError, "stands in an agreement"),
    ],
)
def test_what_is_said_wrongly_is_refused(
    clinic: Owner, rule: str, error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        clinic.execute(f"CREATE RELEASE r.labs FROM clinic.labs ({rule})")
    assert clinic.releases() == []


def test_a_row_of_two_persons_is_nobodys(clinic: Owner) -> None:
    """Joined through a column that repeats, a row would be released several times."""
    clinic.execute(PLAIN)
    clinic.execute("INSERT INTO files.visits FROM files.visits LIMIT 3")
    clinic.execute(PATIENTS.replace("clinic.", "files."))
    clinic.execute(
        VISITS.replace("clinic.", "files.").replace(
            "patient_id KEY", "patient_id KEY OF patient REFERENCES files.patients (patient_id)"
        )
    )
    with pytest.raises(BindError, match="in several rows") as caught:
        clinic.execute(
            LABS.replace("clinic.", "files.").replace(
                "visit_id KEY", "visit_id KEY REFERENCES files.visits (visit_id)"
            )
        )
    assert caught.value.code == "not_unique"


# Tables t0, t1, …: each refers to any of them, itself too, so that there are circles.
SCHEMAS = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.one_of(st.none(), st.integers(0, n - 1)), min_size=n, max_size=n)
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


@settings(max_examples=cases(60))
@given(SCHEMAS, st.randoms(use_true_random=False))
def test_any_schema_joins_as_its_tables_do(shared: Owner, refers: list[int | None], order) -> None:  # type: ignore[no-untyped-def]  # random.Random
    """Whatever refers to whatever, in whatever order releases are made: rows meet as before."""
    shared.execute("DROP SCHEMA IF EXISTS t CASCADE; CREATE SCHEMA t")
    for number, _ in enumerate(refers):
        shared.execute(
            f"CREATE TABLE t.t{number} AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN NULL"
            f" ELSE (i * 7 + {number}) % 14 END AS up FROM range(12) AS r (i)"
        )
    numbers = list(range(len(refers)))
    order.shuffle(numbers)
    for number in numbers:
        target = refers[number]
        says = "" if target is None else f" REFERENCES t.t{target} (id)"
        shared.execute(
            f"CREATE RELEASE r.t{number} FROM t.t{number} (id KEY AS pseudonym(),"
            f" up NEUTRAL{says} AS pseudonym())"
        )
    try:
        for number, target in enumerate(refers):
            if target is None:
                continue
            joined = "SELECT count(*) FROM {0}.t{1} AS a JOIN {0}.t{2} AS b ON a.up = b.id"
            assert count(shared, joined.format("r", number, target)) == count(
                shared, joined.format("t", number, target)
            )
    finally:
        for number in numbers:
            shared.execute(f"DROP RELEASE IF EXISTS r.t{number}")
