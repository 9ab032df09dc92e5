"""How studies were broken when they were new: each break, and that it is closed."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from ppdm_sql.errors import BindError, PrivacyWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")


@pytest.fixture
def here(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    return owner


def ask(query: str, file: str = "study.duckdb") -> list[Any]:
    with duckdb.connect(file, read_only=True) as connection:
        return connection.execute(query).fetchall()


def publish(owner: Owner, to: str = "study.duckdb") -> None:
    owner.publish_study("s", to=to, recipient="uni")


ESCORTS = """
CREATE SCHEMA c; CREATE TABLE c.patients (patient_id INTEGER PRIMARY KEY, age INTEGER);
CREATE TABLE c.visits (visit_id INTEGER, patient_id INTEGER REFERENCES c.patients (patient_id),
    escort_id INTEGER REFERENCES c.patients (patient_id), ward VARCHAR);
INSERT INTO c.patients SELECT i, CASE WHEN i < 6 THEN 110 + i ELSE 30 + i % 3 END FROM range(300) t(i);
INSERT INTO c.visits SELECT i, 6 + i % 294, i % 10, ['A', 'B'][1 + i % 2] FROM range(600) t(i);
CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient{key}, age QUASI)
    GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 5%;
CREATE RELEASE r.visits FROM c.visits (patient_id KEY OF patient AS pseudonym(),
    escort_id NEUTRAL{of} AS pseudonym(), ward QUASI);
CREATE STUDY s OF r.patients, r.visits PERSON patient;
"""


@pytest.mark.parametrize(
    "of", ["", " OF patient", " OF patient REFERENCES c.patients (patient_id)"]
)
@pytest.mark.parametrize("key", ["", " AS pseudonym()"])
def test_nobody_who_is_left_out_is_named_by_another_column(here: Owner, of: str, key: str) -> None:
    here.execute(ESCORTS.format(of=of, key=key))
    publish(here)
    shown = {name for (name,) in ask("SELECT DISTINCT escort_id FROM r.visits")} - {None}
    assert len(shown) == 4, "six of the ten escorts are left out"
    here.execute("SELECT 1")
    known = {name for (name,) in ask("SELECT DISTINCT patient_id FROM r.visits")}
    assert shown <= known


def test_a_person_is_found_the_way_the_release_before_found_them(here: Owner) -> None:
    """Of two foreign keys that lead to patients, the one that the release between names as KEY."""
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients (patient_id INTEGER PRIMARY KEY, age INTEGER);"
        "CREATE TABLE c.visits (visit_id INTEGER PRIMARY KEY,"
        " patient_id INTEGER REFERENCES c.patients (patient_id), ward VARCHAR);"
        "CREATE TABLE c.samples (sample_id INTEGER PRIMARY KEY,"
        " companion_id INTEGER REFERENCES c.patients (patient_id),"
        " visit_id INTEGER REFERENCES c.visits (visit_id));"
        "CREATE TABLE c.results (sample_id INTEGER REFERENCES c.samples (sample_id), hiv VARCHAR);"
        "INSERT INTO c.patients SELECT i, CASE WHEN i < 4 THEN 110 + i ELSE 30 + i % 2 END FROM range(200) t(i);"
        "INSERT INTO c.visits SELECT 1000 + i, i, ['A', 'B'][1 + i % 2] FROM range(200) t(i);"
        "INSERT INTO c.samples SELECT 5000 + i, 199 - i, 1000 + i FROM range(200) t(i);"
        "INSERT INTO c.results SELECT 5000 + i, CASE WHEN i < 4 THEN 'positive' ELSE 'negative' END"
        " FROM range(200) t(i);"
        "CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(), age QUASI)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 5%;"
        "CREATE RELEASE r.visits FROM c.visits (visit_id NEUTRAL AS pseudonym(),"
        " patient_id KEY AS pseudonym(), ward QUASI);"
        "CREATE RELEASE r.samples FROM c.samples (visit_id KEY AS pseudonym(),"
        " sample_id NEUTRAL AS pseudonym());"
        "CREATE RELEASE r.results FROM c.results (sample_id KEY AS pseudonym(), hiv SENSITIVE);"
        "CREATE STUDY s OF r.patients, r.visits, r.samples, r.results PERSON patient"
    )
    publish(here)
    assert ask("SELECT hiv, count(*) FROM r.results GROUP BY ALL") == [("negative", 196)]


JOINED = """
CREATE SCHEMA c; CREATE TABLE c.patients (patient_id INTEGER PRIMARY KEY, age INTEGER);
CREATE TABLE c.visits (visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES c.patients (patient_id), ward VARCHAR);
CREATE TABLE c.labs (lab INTEGER, visit_id INTEGER REFERENCES c.visits (visit_id), test VARCHAR);
INSERT INTO c.patients SELECT i, 30 FROM range(60) t(i);
INSERT INTO c.visits SELECT 1000 + i, i // 2, ['A', 'B'][1 + i % 2] FROM range(120) t(i);
INSERT INTO c.labs SELECT i, 1000 + i,
    CASE WHEN i // 2 = 17 THEN ['flu', 'hiv'][1 + i % 2] ELSE ['hiv', 'flu'][1 + i % 2] END FROM range(120) t(i);
CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(), age QUASI);
CREATE RELEASE r.visits FROM c.visits (visit_id NEUTRAL AS pseudonym(), patient_id KEY AS pseudonym(), ward QUASI);
CREATE RELEASE r.labs FROM c.labs (visit_id KEY AS pseudonym(), test {role});
CREATE STUDY s OF r.patients, r.visits, r.labs PERSON patient UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT;
"""


@pytest.mark.parametrize("role", ["QUASI", "NEUTRAL"])
def test_k_counts_which_row_is_joined_to_which(here: Owner, role: str) -> None:
    here.execute(JOINED.format(role=role))
    if role == "NEUTRAL":  # then only how many rows a visit has can be seen
        here.execute(
            "DELETE FROM c.labs WHERE lab IN (34, 35); INSERT INTO c.labs VALUES (34, 1034, 'x'), (35, 1034, 'x')"
        )
    publish(here)
    shown = "test" if role == "QUASI" else "1"
    rows = ask(
        f"SELECT v.patient_id, v.visit_id, v.ward, l.{shown} FROM r.visits AS v LEFT JOIN r.labs AS l USING (visit_id)"
        if role == "QUASI"
        else "SELECT v.patient_id, v.visit_id, v.ward, count(l.visit_id) FROM r.visits AS v LEFT JOIN r.labs AS l USING (visit_id) GROUP BY ALL"
    )
    persons: dict[str, list[Any]] = defaultdict(list)
    for person, _, *row in rows:
        persons[person].append(tuple(row))
    assert min(Counter(str(sorted(each)) for each in persons.values()).values()) >= 5
    assert len(persons) == 59
    assert here.audit_study("s").values("unique_study")[""] == 0


@pytest.mark.parametrize("key", ["", "m INTEGER PRIMARY KEY"])
def test_chosen_rows_stay_when_something_else_changes(here: Owner, key: str) -> None:
    columns = key or "m INTEGER"
    here.execute(
        f"CREATE TABLE p AS SELECT i AS pid, 30 AS age FROM range(60) t(i);"
        f"CREATE TABLE v ({columns}, pid INTEGER, w VARCHAR, note VARCHAR);"
        "INSERT INTO v SELECT i, i % 60, 'A', 'n' FROM range(240) t(i);"
        "CREATE RELEASE r.p FROM p (pid KEY OF patient AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.v FROM v (pid KEY OF patient REFERENCES p (pid) AS pseudonym(),"
        " w QUASI, note IDENTIFIER, m NEUTRAL) WITH (accept = ['identifying(m)']);"
        "CREATE STUDY s OF r.p, r.v AT MOST 1 ROWS PER patient PERSON patient"
    )
    shown = []
    for name in ("a.duckdb", "b.duckdb"):
        publish(here, name)
        shown.append(ask("SELECT m FROM r.v ORDER BY m", name))
        here.execute("UPDATE v SET note = 'n2'")
        if key:
            here.execute("UPDATE v SET w = 'B' WHERE m % 3 = 0")
    assert shown[0] == shown[1]
    assert len(shown[0]) == 60


def test_a_reference_to_rows_of_the_same_table_joins(here: Owner) -> None:
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients (patient_id INTEGER PRIMARY KEY, age INTEGER,"
        " mother_id INTEGER REFERENCES c.patients (patient_id));"
        "INSERT INTO c.patients SELECT i, CASE WHEN i < 4 THEN 100 + i ELSE 30 + i % 3 END, NULL FROM range(300) t(i);"
        "UPDATE c.patients SET mother_id = patient_id // 40 WHERE patient_id > 50;"
        "CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(),"
        " age QUASI, mother_id NEUTRAL AS pseudonym()) GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 5%;"
        "CREATE STUDY s OF r.patients PERSON patient"
    )
    publish(here)
    named = "SELECT count(mother_id), count(DISTINCT mother_id) FROM r.patients"
    joined = "SELECT count(*), count(DISTINCT m.patient_id) FROM r.patients AS c JOIN r.patients AS m ON c.mother_id = m.patient_id"
    assert ask(named) == ask(joined)
    assert ask(named)[0][1] == 4


def test_dates_that_move_apart_are_warned_of_and_not_attacked(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p AS SELECT i AS pid, DATE '2020-01-01' AS d FROM range(60) t(i);"
        "CREATE TABLE v AS SELECT i AS pid, DATE '2020-01-03' + (i * 5)::INTEGER AS a FROM range(60) t(i);"
        "CREATE RELEASE r.p FROM p (pid KEY OF patient AS pseudonym(), d NEUTRAL AS date_shift(days => 365));"
        "CREATE RELEASE r.v FROM v (pid KEY OF patient REFERENCES p (pid) AS pseudonym(),"
        " a NEUTRAL AS date_shift(days => 360))"
    )
    with pytest.warns(PrivacyWarning, match="moved by different numbers of days"):
        here.execute("CREATE STUDY s OF r.p, r.v PERSON patient")
    assert here.audit_study("s", is_internal=True).values("intervals")[""] == 0


def test_rows_that_came_to_belong_to_two_persons_are_not_published(here: Owner) -> None:
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients AS SELECT i AS pid, 1 AS a FROM range(20) t(i);"
        "CREATE TABLE c.visits AS SELECT 100 + i AS vid, i % 20 AS pid FROM range(40) t(i);"
        "CREATE TABLE c.labs AS SELECT 100 + i % 40 AS vid, i AS x FROM range(80) t(i);"
        "CREATE RELEASE r.patients FROM c.patients (pid KEY OF patient AS pseudonym(), a QUASI);"
        "CREATE RELEASE r.visits FROM c.visits (vid NEUTRAL AS pseudonym(),"
        " pid KEY OF patient REFERENCES c.patients (pid) AS pseudonym());"
        "CREATE RELEASE r.labs FROM c.labs (vid KEY REFERENCES c.visits (vid) AS pseudonym(), x NEUTRAL);"
        "CREATE STUDY s OF r.patients, r.visits, r.labs PERSON patient"
    )
    publish(here)
    here.execute("INSERT INTO c.visits SELECT vid, pid + 1 FROM c.visits WHERE vid < 105")
    for statement in (
        "REFRESH RELEASE r.labs",
        "PUBLISH STUDY s TO 'x.duckdb' WITH (recipient = 'a')",
    ):
        with pytest.raises(BindError, match="in several rows") as caught:
            here.execute(statement)
        assert caught.value.code == "not_unique"


def test_a_collation_does_not_make_persons_alike(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p (pid INTEGER, ward VARCHAR COLLATE NOCASE);"
        "INSERT INTO p SELECT i, CASE WHEN i = 0 THEN 'a' ELSE 'A' END FROM range(60) t(i);"
        "CREATE RELEASE r.p FROM p (pid KEY OF patient AS pseudonym(), ward QUASI);"
        "CREATE STUDY s OF r.p PERSON patient UNTIL k = 3 SUPPRESS AT MOST 5 PERCENT"
    )
    publish(here)
    assert {ward for (ward,) in ask("SELECT ward FROM r.p")} == {"A"}


def test_of_two_releases_that_can_be_joined_one_is_enough(here: Owner) -> None:
    here.execute(JOINED.format(role="QUASI").partition("CREATE STUDY")[0])
    here.execute(
        "CREATE RELEASE r.few FROM c.visits (visit_id NEUTRAL AS pseudonym(), patient_id KEY OF patient AS pseudonym());"
        "CREATE STUDY s OF r.patients, r.visits, r.few AT MOST 1 ROWS PER patient, r.labs PERSON patient"
    )
    publish(here)
    assert ask("SELECT count(*) FROM r.labs JOIN r.visits USING (visit_id)") == [(120,)]


def test_nothing_is_said_twice(here: Owner) -> None:
    here.execute(JOINED.format(role="QUASI"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        publish(here)
    assert len({str(one.message) for one in caught}) == len(caught)


@pytest.mark.parametrize("treatment", ["AS pseudonym()", "AS mapping()", ""])
def test_whoever_is_left_out_is_not_named_under_any_treatment(here: Owner, treatment: str) -> None:
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients (patient_id INTEGER PRIMARY KEY, age INTEGER);"
        "CREATE TABLE c.gifts (gift INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES c.patients (patient_id),"
        " donor_id INTEGER REFERENCES c.patients (patient_id));"
        "INSERT INTO c.patients SELECT 70000 + i, CASE WHEN i < 4 THEN 110 + i ELSE 30 + i % 3 END FROM range(90) t(i);"
        "INSERT INTO c.gifts SELECT i, 70004 + i % 86, 70000 + i % 10 FROM range(300) t(i);"
        "CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(), age QUASI)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 6%;"
        f"CREATE RELEASE r.gifts FROM c.gifts (patient_id KEY AS pseudonym(), donor_id NEUTRAL {treatment});"
        "CREATE STUDY s OF r.patients, r.gifts PERSON patient"
    )
    publish(here)
    assert ask("SELECT count(DISTINCT donor_id), count(donor_id) FROM r.gifts") == [(6, 180)]


def test_rows_are_joined_through_tables_that_are_not_named(here: Owner) -> None:
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients AS SELECT i AS patient_id, 30 AS age FROM range(60) t(i);"
        "CREATE TABLE c.stays AS SELECT 500 + i AS stay_id, i // 2 AS patient_id, ['x', 'y'][1 + i % 2] AS clinic FROM range(120) t(i);"
        "CREATE TABLE c.visits AS SELECT 1000 + i AS visit_id, 500 + i AS stay_id FROM range(120) t(i);"
        "CREATE TABLE c.labs AS SELECT 1000 + i AS visit_id,"
        " CASE WHEN i // 2 = 17 THEN ['a', 'b'][1 + i % 2] ELSE ['b', 'a'][1 + i % 2] END AS test FROM range(120) t(i);"
        "CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.stays FROM c.stays (stay_id NEUTRAL AS pseudonym(),"
        " patient_id KEY REFERENCES c.patients (patient_id) AS pseudonym(), clinic QUASI);"
        "CREATE RELEASE r.visits FROM c.visits (visit_id NEUTRAL AS pseudonym(), stay_id KEY REFERENCES c.stays (stay_id) AS pseudonym());"
        "CREATE RELEASE r.labs FROM c.labs (visit_id KEY REFERENCES c.visits (visit_id) AS pseudonym(), test QUASI);"
        "CREATE STUDY s OF r.patients, r.stays, r.visits, r.labs PERSON patient"
        " UNTIL k = 5 ACROSS r.patients, r.stays, r.labs SUPPRESS AT MOST 10 PERCENT"
    )
    publish(here)
    shown = ask(
        "SELECT w, count(*) FROM (SELECT patient_id, list(clinic || test ORDER BY clinic) AS w"
        " FROM r.stays JOIN r.visits USING (stay_id) JOIN r.labs USING (visit_id) GROUP BY 1) GROUP BY 1"
    )
    assert shown == [(["xb", "ya"], 59)]


def test_a_chain_of_rows_is_followed_to_its_end(here: Owner) -> None:
    here.execute(
        "CREATE SCHEMA c; CREATE TABLE c.patients AS SELECT i AS patient_id, 30 AS age FROM range(60) t(i);"
        "CREATE TABLE c.visits AS SELECT 1000 + i AS visit_id, i // 6 AS patient_id,"
        " CASE WHEN i % 6 > 0 THEN 999 + i END AS previous_id,"
        " substr(CASE WHEN i // 6 = 17 THEN 'AABAAA' ELSE 'AAABAA' END, (1 + i % 6)::INT, 1) AS ward FROM range(360) t(i);"
        "CREATE RELEASE r.patients FROM c.patients (patient_id KEY OF patient AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.visits FROM c.visits (visit_id NEUTRAL AS pseudonym(),"
        " previous_id NEUTRAL REFERENCES c.visits (visit_id) AS pseudonym(),"
        " patient_id KEY OF patient AS pseudonym(), ward QUASI);"
        "CREATE STUDY s OF r.patients, r.visits PERSON patient UNTIL k = 5 SUPPRESS AT MOST 20 PERCENT"
    )
    publish(here)
    paths = ask(
        "WITH RECURSIVE w AS (SELECT visit_id, ward AS path FROM r.visits WHERE previous_id IS NULL UNION ALL"
        " SELECT v.visit_id, path || v.ward FROM w JOIN r.visits AS v ON v.previous_id = w.visit_id)"
        " SELECT path, count(*) FROM w WHERE length(path) = 6 GROUP BY 1"
    )
    assert paths == [("AAABAA", 59)]


def test_what_is_accepted_may_be_of_any_release(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p AS SELECT i AS pid, i % 2 AS a FROM range(200) t(i);"
        "CREATE TABLE v AS SELECT i AS pid, 5000 + i AS v FROM range(200) t(i);"
        "CREATE RELEASE r.p FROM p (pid KEY OF patient AS pseudonym(), a QUASI);"
        "CREATE RELEASE r.v FROM v (pid KEY OF patient REFERENCES p (pid) AS pseudonym(), v NEUTRAL)"
        " WITH (accept = ['identifying(v)']);"
        "CREATE STUDY s OF r.p, r.v PERSON patient"
    )
    here.publish_study("s", to="x.duckdb", recipient="a", accept=["identifying(v)"])
    with pytest.raises(BindError, match="no column 'w'"):
        here.publish_study("s", to="y.duckdb", recipient="a", accept=["identifying(w)"])


def test_the_same_rows_of_a_person_are_kept_in_whatever_order_they_are_loaded(here: Owner) -> None:
    """A doctor's pseudonym names no visit: what it ties, the PRIMARY KEY tells apart."""
    here.execute(
        "CREATE TABLE p AS SELECT i::INTEGER AS id, 30 AS age FROM range(100) t(i);"
        "CREATE TABLE v (visit INTEGER PRIMARY KEY, id INTEGER, doctor INTEGER, pain DOUBLE);"
        "INSERT INTO v SELECT i, i % 100, i % 4, i + 0.5 FROM range(1000) t(i);"
        "CREATE RELEASE r.p FROM p (id KEY OF person AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.v FROM v (id KEY OF person AS pseudonym(), doctor NEUTRAL AS pseudonym(), pain NEUTRAL);"
        "CREATE STUDY s OF r.p, r.v AT MOST 1 ROWS PER person PERSON person UNTIL k = 2"
    )
    publish(here, "one.duckdb")
    here.execute(
        "CREATE TABLE w AS SELECT * FROM v; DELETE FROM v; INSERT INTO v SELECT * FROM w ORDER BY visit DESC"
    )
    publish(here, "two.duckdb")
    one, two = (set(ask("SELECT id, pain FROM r.v", f"{name}.duckdb")) for name in ("one", "two"))
    assert len(one) == 100
    assert one == two


def test_nobody_is_left_out_for_rows_outside_the_high_class(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p AS SELECT i::INTEGER AS id, 10000 + 7 * (CASE WHEN i < 20 THEN i % 3 ELSE i % 47 END) AS zip,"
        " CASE WHEN i < 20 THEN 'HIV' ELSE 'flu' END AS ill FROM range(100) t(i);"
        "CREATE TABLE v AS SELECT i::INTEGER AS id, 'A' AS ward FROM range(100) t(i);"
        "CREATE HIERARCHY zips AS SUPPRESS DIGITS RIGHT;"
        "CREATE RELEASE r.p FROM p (id KEY OF person AS pseudonym(), zip QUASI, ill SENSITIVE)"
        " GENERALIZE zip USING zips WHEN ill = 'HIV' UNTIL k = 5;"
        "CREATE RELEASE r.v FROM v (id KEY OF person AS pseudonym(), ward NEUTRAL);"
        "CREATE STUDY s OF r.p, r.v PERSON person"
    )
    publish(here)
    assert ask("SELECT count(*) FROM r.p") == ask("SELECT count(*) FROM r.v") == [(100,)]


FILTERED = """
CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER, ward VARCHAR, consent BOOLEAN);
CREATE TABLE labs (visit INTEGER REFERENCES visits (visit), id INTEGER, test VARCHAR);
INSERT INTO visits SELECT 100 + i, i // 3, 'A', i % 3 <> 0 FROM range(30) t(i);
INSERT INTO labs SELECT 100 + i, i // 3, 'x' FROM range(30) t(i);
CREATE RELEASE r.visits FROM (SELECT * FROM visits WHERE consent)
    (visit NEUTRAL AS pseudonym(), id KEY OF person AS pseudonym(), ward QUASI);
CREATE RELEASE r.labs FROM labs (visit NEUTRAL AS pseudonym(), id KEY OF person AS pseudonym(), test QUASI);
CREATE STUDY s OF r.visits, r.labs PERSON person UNTIL k = 2;
"""
CHAINED = """
CREATE TABLE stays (visit INTEGER PRIMARY KEY, id INTEGER);
CREATE TABLE visits (visit INTEGER PRIMARY KEY REFERENCES stays (visit), id INTEGER, ward VARCHAR);
CREATE TABLE labs (visit INTEGER REFERENCES visits (visit), id INTEGER, test VARCHAR);
INSERT INTO stays SELECT 100 + i, i // 3 FROM range(30) t(i);
INSERT INTO visits SELECT 100 + i, i // 3, 'A' FROM range(30) t(i);
INSERT INTO labs SELECT 100 + i, i // 3, 'x' FROM range(30) t(i);
CREATE RELEASE r.stays FROM stays (visit NEUTRAL AS pseudonym(), id KEY OF person AS pseudonym());
CREATE RELEASE r.visits FROM visits (visit NEUTRAL AS pseudonym(), id KEY OF person AS pseudonym(), ward QUASI);
CREATE RELEASE r.labs FROM labs (visit NEUTRAL AS pseudonym(), id KEY OF person AS pseudonym(), test QUASI);
CREATE STUDY s OF {stays}r.visits AT MOST 1 ROWS PER person, r.labs PERSON person UNTIL k = 2;
"""


@pytest.mark.parametrize(
    ("script", "known"),
    [(FILTERED, 20), (CHAINED.format(stays=""), 10), (CHAINED.format(stays="r.stays, "), 30)],
)
def test_a_reference_to_a_row_that_the_owner_left_out_is_null(
    here: Owner, script: str, known: int
) -> None:
    """By WHERE, or by AT MOST in the middle of a chain; where the stay goes out, it names that."""
    here.execute(script)
    publish(here)
    assert ask("SELECT count(*), count(visit) FROM r.labs") == [(30, known)]
    there = "(SELECT visit FROM r.visits)"
    if known < 30:
        assert ask(f"SELECT count(visit) FROM r.labs WHERE visit IN {there}") == [(known,)]


def test_dates_that_a_new_member_moves_apart_are_said_when_it_is_published(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p AS SELECT i::INTEGER AS id, DATE '2020-01-01' AS born FROM range(30) t(i);"
        "CREATE TABLE v AS SELECT i::INTEGER AS id, DATE '2020-01-01' AS seen FROM range(30) t(i);"
        "CREATE RELEASE r.p FROM p (id KEY OF person AS pseudonym(), born NEUTRAL AS date_shift(days => 30));"
        "CREATE RELEASE r.v FROM v (id KEY OF person AS pseudonym(), seen NEUTRAL AS date_shift(days => 30));"
        "CREATE STUDY s OF r.p, r.v PERSON person;"
        "CREATE OR REPLACE RELEASE r.v FROM v (id KEY OF person AS pseudonym(), seen NEUTRAL AS date_shift(days => 90))"
    )
    with pytest.warns(PrivacyWarning, match="moved by different numbers of days"):
        publish(here)


def test_as_many_as_are_allowed_may_be_left_out(here: Owner) -> None:
    """29 of 100 are 29 percent, whatever a computer makes of 0.29."""
    here.execute(
        "CREATE TABLE p AS SELECT i::INTEGER AS id, CASE WHEN i < 29 THEN i ELSE 99 END AS age FROM range(100) t(i);"
        "CREATE RELEASE r.p FROM p (id KEY OF person AS pseudonym(), age QUASI);"
        "CREATE STUDY s OF r.p PERSON person UNTIL k = 2 SUPPRESS AT MOST 29 PERCENT"
    )
    publish(here)
    assert ask("SELECT count(*) FROM r.p") == [(71,)]


def test_the_member_with_the_other_person_is_named_whichever_it_is(here: Owner) -> None:
    here.execute(
        "CREATE TABLE p AS SELECT i AS id FROM range(9) t(i);"
        "CREATE RELEASE r.one FROM p (id KEY OF clerk AS pseudonym());"
        "CREATE RELEASE r.two FROM p (id KEY OF person AS pseudonym())"
    )
    for members in ("r.one, r.two", "r.two, r.one"):
        with pytest.raises(BindError, match=r"the KEY of 'r.one' is of 'clerk', not of 'person'"):
            here.execute(f"CREATE STUDY s OF {members} PERSON person")


@pytest.mark.parametrize(
    ("made", "changed", "names"),
    [
        (
            (
                "CREATE TABLE v AS SELECT i::INTEGER AS visit, (i % 100)::INTEGER AS id, (i % 4)::INTEGER AS doctor"
                " FROM range(1000) t(i);"
                "CREATE RELEASE r.v FROM v (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
                " doctor NEUTRAL AS pseudonym())"
            ),
            "UPDATE v SET doctor = doctor + 1",
            "visit",
        ),
        (
            (
                "CREATE TABLE v (id INTEGER, nr INTEGER, pain INTEGER, PRIMARY KEY (id, nr));"
                "INSERT INTO v SELECT i % 100, i // 100, i % 7 FROM range(1000) t(i);"
                "CREATE RELEASE r.v FROM v (id KEY OF p AS pseudonym(), nr NEUTRAL, pain NEUTRAL)"
            ),
            "UPDATE v SET pain = pain + 1",
            "nr",
        ),
    ],
)
def test_rows_stay_chosen_while_what_names_them_stays(
    here: Owner, made: str, changed: str, names: str
) -> None:
    here.execute(f"{made}; CREATE STUDY s OF r.v AT MOST 1 ROWS PER p PERSON p")
    publish(here, "one.duckdb")
    here.execute(changed)
    publish(here, "two.duckdb")
    one, two = (set(ask(f"SELECT id, {names} FROM r.v", f"{n}.duckdb")) for n in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT visit::BIGINT AS visit, id, ward FROM visits)",
        "(SELECT * FROM visits UNION ALL SELECT * FROM visits WHERE false)",
    ],
)
def test_references_are_followed_through_casts_and_unions(here: Owner, source: str) -> None:
    here.execute(
        "CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER, ward VARCHAR);"
        "CREATE TABLE labs (visit INTEGER REFERENCES visits (visit), id INTEGER, test VARCHAR);"
        "INSERT INTO visits SELECT 200 + i, i // 3, 'A' FROM range(30) t(i);"
        "INSERT INTO labs SELECT 200 + i, i // 3, 'x' FROM range(30) t(i);"
        f"CREATE RELEASE r.visits FROM {source}"
        " (visit NEUTRAL OF visit AS pseudonym(), id KEY OF p AS pseudonym(), ward QUASI);"
        "CREATE RELEASE r.labs FROM labs (visit NEUTRAL OF visit REFERENCES visits (visit) AS pseudonym(),"
        " id KEY OF p AS pseudonym(), test QUASI);"
        "CREATE STUDY s OF r.visits AT MOST 1 ROWS PER p, r.labs PERSON p UNTIL k = 2"
    )
    publish(here)
    assert ask("SELECT count(*), count(visit) FROM r.labs") == [(30, 10)]


def test_references_of_a_group_of_columns_are_null_too(here: Owner) -> None:
    here.execute(
        "CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER, ward VARCHAR);"
        "INSERT INTO visits SELECT 200 + i, i // 3, 'A' FROM range(30) t(i);"
        "CREATE TABLE labs (first INTEGER REFERENCES visits (visit), last INTEGER REFERENCES visits (visit),"
        " id INTEGER, test VARCHAR);"
        "INSERT INTO labs SELECT 200 + 3 * i, 201 + 3 * i, i, 'x' FROM range(10) t(i);"
        "CREATE RELEASE r.visits FROM visits (visit NEUTRAL, id KEY OF p AS pseudonym(), ward QUASI);"
        "CREATE RELEASE r.labs FROM labs ((first, last) NEUTRAL, id KEY OF p AS pseudonym(), test QUASI);"
        "CREATE STUDY s OF r.visits AT MOST 1 ROWS PER p, r.labs PERSON p UNTIL k = 2"
        " SUPPRESS AT MOST 90 PERCENT"
    )
    publish(here)
    there = "(SELECT visit FROM r.visits)"
    names = f"count(*) FILTER (first NOT IN {there}) + count(*) FILTER (last NOT IN {there})"
    assert ask(f"SELECT {names} FROM r.labs") == [(0,)]


def test_persons_that_are_named_by_a_word_in_the_treatment_are_null(here: Owner) -> None:
    here.execute(
        "CREATE TABLE persons AS SELECT i AS id, CASE WHEN i = 0 THEN 99 ELSE 30 END AS age,"
        " CASE WHEN i > 0 THEN 0 END AS mother FROM range(10) t(i);"
        "CREATE RELEASE r.p FROM persons (id KEY OF p AS pseudonym(), age QUASI,"
        " mother NEUTRAL AS pseudonym(entity => 'p'));"
        "CREATE STUDY s OF r.p PERSON p UNTIL k = 5 SUPPRESS AT MOST 50 PERCENT"
    )
    publish(here)
    assert ask("SELECT count(*), count(mother) FROM r.p") == [(9, 0)]
