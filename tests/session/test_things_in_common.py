"""What rows of a person have in common, whatever says so: each case was published with a promise of k.

Five persons are alike, and of one, person 0, two rows are the other way round: every row alone, and
every two of its columns, look as those of the others do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import BindError, Refused
from tests.session.test_joined_rows import publish

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")

PERSONS = "FROM range(6) a(p), range(2) b(s)"
TEST = "['hiv', 'flu'][1 + (s + (p = 0)::INT) % 2]"
SHOWN = ["", " AS translation(by => 1000)", " AS mapping()", " AS pseudonym()"]


@pytest.fixture
def here(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    return owner


def refused(owner: Owner, members: str) -> None:
    """A study that leaves nobody out does not go out; that of five does."""
    with pytest.raises(Refused) as caught:
        publish(owner, members)
    assert caught.value.code == "target_missed"


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("by", ["key", "reference", "view"])
def test_rows_that_refer_to_a_table_outside_the_study(here: Owner, shown: str, by: str) -> None:
    """Doctors have no persons: they cannot be in a study."""
    key = " REFERENCES doctors (doctor)" if by == "key" else ""
    said = {"key": "", "reference": " REFERENCES doctors (doctor)", "view": " REFERENCES d (nr)"}[
        by
    ]
    here.execute(
        "CREATE TABLE doctors (doctor INTEGER PRIMARY KEY); INSERT INTO doctors VALUES (1), (2);"
        "CREATE VIEW d AS SELECT doctor AS nr FROM doctors;"
        f"CREATE TABLE visits (id INTEGER, doctor INTEGER{key}, ward VARCHAR);"
        f"CREATE TABLE labs (id INTEGER, doctor INTEGER{key}, test VARCHAR);"
        f"INSERT INTO visits SELECT p, 1 + s, ['A', 'B'][s + 1] {PERSONS};"
        f"INSERT INTO labs SELECT p, 1 + s, {TEST} {PERSONS};"
        f"CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), doctor NEUTRAL{said}{shown},"
        " ward QUASI);"
        f"CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), doctor NEUTRAL{said}{shown},"
        " test QUASI)"
    )
    refused(here, "r.visits, r.labs")


def test_rows_of_one_table_that_refer_to_the_same(here: Owner) -> None:
    here.execute(
        "CREATE TABLE wards (ward INTEGER PRIMARY KEY); INSERT INTO wards VALUES (1), (2);"
        "CREATE TABLE t (id INTEGER, ward INTEGER REFERENCES wards (ward), test VARCHAR);"
        "INSERT INTO t SELECT p, 1 + w, ['hiv', 'flu'][1 + (CASE WHEN p = 0 THEN w ELSE s END)]"
        " FROM range(6) a(p), range(2) b(s), range(2) c(w);"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), ward NEUTRAL, test QUASI)"
    )
    refused(here, "r.t")


TWO_TABLES = (
    "CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER, previous INTEGER REFERENCES visits"
    " (visit), ward VARCHAR, room INTEGER);"
    "CREATE TABLE labs (visit INTEGER REFERENCES visits (visit), id INTEGER, test VARCHAR, room INTEGER);"
    f"INSERT INTO visits SELECT 10 * p + s, p, NULL, ['A', 'B'][s + 1], 1 {PERSONS};"
    f"INSERT INTO labs SELECT 10 * p + s, p, {TEST}, 1 {PERSONS};"
)


@pytest.mark.parametrize("shown", [SHOWN[0], SHOWN[1], SHOWN[3]])
@pytest.mark.parametrize("previous", ["", "previous NEUTRAL{}, "])
def test_a_table_that_refers_to_itself_beside_another(
    here: Owner, shown: str, previous: str
) -> None:
    here.execute(
        f"{TWO_TABLES}CREATE RELEASE r.visits FROM visits (visit NEUTRAL{shown}, id KEY OF p AS"
        f" pseudonym(), {previous.format(shown)}ward QUASI);"
        f"CREATE RELEASE r.labs FROM labs (visit NEUTRAL{shown}, id KEY OF p AS pseudonym(), test QUASI)"
    )
    refused(here, "r.visits, r.labs")


def test_columns_of_a_group(here: Owner) -> None:
    here.execute(
        f"{TWO_TABLES}CREATE RELEASE r.visits FROM visits ((visit, room) NEUTRAL, id KEY OF p AS"
        " pseudonym(), ward QUASI);"
        "CREATE RELEASE r.labs FROM labs ((visit, room) NEUTRAL, id KEY OF p AS pseudonym(), test QUASI)"
    )
    refused(here, "r.visits, r.labs")


def test_a_group_that_mixes_names_is_refused(here: Owner) -> None:
    here.execute(
        f"{TWO_TABLES}CREATE RELEASE r.visits FROM visits ((visit, room) NEUTRAL AS rotation(), id KEY OF"
        " p AS pseudonym(), ward QUASI)"
    )
    with pytest.raises(BindError, match="'visit' of r\\.visits names something"):
        publish(here, "r.visits")


@pytest.mark.parametrize("parent", ["pseudonym()", "suppress()"])
def test_two_tables_keep_what_the_third_hides(here: Owner, parent: str) -> None:
    here.execute(
        f"{TWO_TABLES}CREATE TABLE meds AS SELECT visit, id, ward AS drug FROM visits;"
        f"CREATE RELEASE r.visits FROM visits (visit NEUTRAL AS {parent}, id KEY OF p AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (visit NEUTRAL, id KEY OF p AS pseudonym(), test QUASI);"
        "CREATE RELEASE r.meds FROM meds (visit NEUTRAL REFERENCES visits (visit), id KEY OF p AS"
        " pseudonym(), drug QUASI)"
    )
    refused(here, "r.visits, r.labs, r.meds")


def test_three_columns_at_once(here: Owner) -> None:
    """Each two of stay, drug and doctor are of two rows; all three are of one."""
    rows = "FROM range(6) p(p), range(2) a(s), range(2) b(d), range(2) e(c)"
    named = "p AS id, 10 * p + s AS stay, 'drug' || d AS drug, 'doc' || c AS doctor"
    names = "".join(
        f", {name} NEUTRAL OF {name} AS pseudonym()" for name in ("stay", "drug", "doctor")
    )
    here.execute(
        f"CREATE TABLE a AS SELECT {named}, ['low', 'high'][1 + (s + d + c) % 2] AS dose {rows};"
        f"CREATE TABLE b AS SELECT {named}, ['bad', 'good'][1 + (s + d + c + (p = 0)::INT) % 2] AS effect"
        f" {rows};"
        f"CREATE RELEASE r.a FROM a (id KEY OF p AS pseudonym(){names}, dose QUASI);"
        f"CREATE RELEASE r.b FROM b (id KEY OF p AS pseudonym(){names}, effect QUASI)"
    )
    refused(here, "r.a, r.b")


@pytest.mark.parametrize("other", ["10 * p + s", "10 * p"])
def test_one_thing_named_twice_in_a_row(here: Owner, other: str) -> None:
    """From one stay to itself, and not to the other one and back."""
    here.execute(
        "CREATE TABLE t AS SELECT p AS id, 10 * p + s AS a, CASE WHEN p = 0 THEN"
        f" {other} ELSE 10 * p + 1 - s END AS b, 'A' AS ward {PERSONS};"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), a NEUTRAL OF stay AS pseudonym(),"
        " b NEUTRAL OF stay AS pseudonym(), ward QUASI)"
    )
    refused(here, "r.t")


def test_names_of_other_persons_of_two_lengths_are_refused(here: Owner) -> None:
    here.execute(
        f"CREATE TABLE t AS SELECT p AS id, 100 + 2 * p + s AS escort, {TEST} AS test {PERSONS};"
        "CREATE RELEASE r.a FROM t (id KEY OF p AS pseudonym(), escort NEUTRAL OF p AS pseudonym());"
        "CREATE RELEASE r.b FROM t (id KEY OF p AS pseudonym(), escort NEUTRAL OF p AS"
        " pseudonym(length => 12), test QUASI)"
    )
    with pytest.raises(BindError) as caught:
        publish(here, "r.a, r.b")
    assert caught.value.code == "names_differ"


def test_two_releases_of_one_table_that_show_the_same_column(here: Owner) -> None:
    """No key says so; but it is the same column, and JOIN USING takes it."""
    here.execute(
        f"CREATE TABLE t AS SELECT p AS id, s % 2 AS day, ['A', 'B'][s + 1] AS ward, {TEST} AS test"
        f" {PERSONS};"
        "CREATE RELEASE r.a FROM t (id KEY OF p AS pseudonym(), day NEUTRAL, ward QUASI);"
        "CREATE RELEASE r.b FROM t (id KEY OF p AS pseudonym(), day NEUTRAL, test QUASI)"
    )
    refused(here, "r.a, r.b")


# Who is counted


def test_who_is_in_none_of_the_tables_that_count_is_no_class_of_one(here: Owner) -> None:
    here.execute(
        "CREATE TABLE patients AS SELECT i AS id, 30 AS age FROM range(20) t(i);"
        "CREATE TABLE visits AS SELECT i AS id, 'A' AS ward FROM range(1, 20) t(i);"
        "CREATE RELEASE r.patients FROM patients (id KEY OF p AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), ward QUASI)"
    )
    publish(here, "r.patients, r.visits", "UNTIL k = 3 ACROSS r.visits SUPPRESS AT MOST 50 PERCENT")
    counts = "SELECT count(*) FROM x.r.{}"
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert [here.sql(counts.format(name)).fetchall() for name in ("patients", "visits")] == [
        [(19,)]
    ] * 2


def test_rows_of_nobody_fill_up_no_class(here: Owner) -> None:
    here.execute(
        "CREATE TABLE t AS SELECT 10 + i AS id, 'A' AS ward FROM range(20) t(i) UNION ALL"
        " VALUES (1, 'RARE'), (2, 'RARE'), (NULL, 'RARE');"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), ward QUASI)"
    )
    publish(here, "r.t", "UNTIL k = 3 SUPPRESS AT MOST 50 PERCENT")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT DISTINCT ward FROM x.r.t").fetchall() == [("A",)]


def test_persons_whose_keys_differ_in_letters_are_two(here: Owner) -> None:
    here.execute(
        "CREATE TABLE t (id VARCHAR COLLATE NOCASE, visit VARCHAR, ward VARCHAR);"
        "INSERT INTO t SELECT 'p' || i, 'v' || i, 'A' FROM range(5) s(i);"
        "INSERT INTO t VALUES ('P1', 'w', 'B');"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), visit NEUTRAL OF v AS pseudonym(),"
        " ward QUASI)"
    )
    publish(here, "r.t", "UNTIL k = 2 SUPPRESS AT MOST 50 PERCENT")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT ward, count(*) FROM x.r.t GROUP BY ALL").fetchall() == [("A", 5)]


@pytest.mark.parametrize(("ill", "is_even"), [("s", False), ("p", True)])
def test_l_is_counted_where_other_columns_say_which(here: Owner, ill: str, is_even: bool) -> None:
    """In ward A all have HIV, in ward B flu: two values, and everybody knows which."""
    here.execute(
        "CREATE TABLE t AS SELECT p AS id, ['A', 'B'][s + 1] AS ward, ['HIV', 'flu']"
        f"[1 + {ill} % 2] AS ill FROM range(12) a(p), range(2) b(s);"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), ward QUASI, ill SENSITIVE)"
    )
    until = "UNTIL k = 3, l(ill) = 2"
    if is_even:
        publish(here, "r.t", until)
    else:
        with pytest.raises(Refused):
            publish(here, "r.t", until)


# Who is named


@pytest.mark.parametrize(
    "columns",
    ["(escort, partner) NEUTRAL", "escort NEUTRAL, partner NEUTRAL"],
)
def test_names_in_a_group_are_forgotten(here: Owner, columns: str) -> None:
    here.execute(
        "CREATE TABLE patients (id INTEGER PRIMARY KEY); INSERT INTO patients SELECT 7000 + i FROM"
        " range(300) t(i); CREATE TABLE v (id INTEGER REFERENCES patients (id), escort INTEGER REFERENCES"
        " patients (id), partner INTEGER REFERENCES patients (id), age INTEGER);"
        "INSERT INTO v SELECT 7000 + i, 7000 + i % 10, 7000 + i % 7, CASE WHEN i < 4 THEN 110 + i ELSE 30"
        " END FROM range(300) t(i);"
        f"CREATE RELEASE r.v FROM v (id KEY, {columns}, age QUASI) GENERALIZE age UNTIL k = 5 SUPPRESS AT"
        " MOST 5%"
    )
    publish(here, "r.v", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    found = "SELECT min(least(escort, partner)), count(*) FILTER (escort IS NULL) > 0 FROM x.r.v"
    assert here.sql(found).fetchall() == [(7004, True)]


@pytest.mark.parametrize(
    "escort",
    [
        "escort",
        "escort::VARCHAR AS escort",
        "coalesce(escort, id) AS escort",
        "escort::DECIMAL(10, 1) AS escort",
        "lpad(escort::VARCHAR, 8, '0') AS escort",
    ],
)
def test_a_computed_name_is_still_a_name(here: Owner, escort: str) -> None:
    here.execute(
        "CREATE TABLE patients (id INTEGER PRIMARY KEY, age INTEGER); INSERT INTO patients SELECT 70000 + i,"
        " CASE WHEN i < 4 THEN 110 + i ELSE 30 END FROM range(200) t(i);"
        "CREATE TABLE v (id INTEGER REFERENCES patients (id), escort INTEGER REFERENCES patients (id));"
        "INSERT INTO v SELECT 70000 + i % 200, 70000 + i % 10 FROM range(400) t(i);"
        "CREATE RELEASE r.p FROM patients (id KEY OF p AS pseudonym(), age QUASI)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 5%;"
        f"CREATE RELEASE r.v FROM (SELECT id, {escort} FROM v) (id KEY OF p AS pseudonym(), escort NEUTRAL)"
    )
    publish(here, "r.p, r.v", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    named = "SELECT count(*) FROM x.r.v WHERE escort::DOUBLE < 70004"
    assert here.sql(named).fetchall() == [(0,)]


def test_a_person_is_named_by_another_key_of_the_table(here: Owner) -> None:
    here.execute(
        "CREATE TABLE pa (id INTEGER PRIMARY KEY, insurance INTEGER UNIQUE, age INTEGER); INSERT INTO pa"
        " SELECT 70000 + i, 900000 + i * 7, CASE WHEN i < 4 THEN 110 + i ELSE 30 END FROM range(200) t(i);"
        "CREATE TABLE v (id INTEGER REFERENCES pa (id), escort INTEGER REFERENCES pa (insurance));"
        "INSERT INTO v SELECT 70000 + i % 200, 900000 + 7 * (i % 10) FROM range(400) t(i);"
        "CREATE RELEASE r.p FROM pa (id KEY OF p AS pseudonym(), age QUASI)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 5%;"
        "CREATE RELEASE r.v FROM v (id KEY AS pseudonym(), escort NEUTRAL)"
    )
    publish(here, "r.p, r.v", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT min(escort) FROM x.r.v").fetchall() == [(900028,)]


@pytest.mark.parametrize("word", ["mapping()", "translation(by => 1000)", "pseudonym()"])
def test_a_key_that_another_release_renamed_is_refused(here: Owner, word: str) -> None:
    type_ = "INTEGER" if word.startswith("translation") else "VARCHAR"
    here.execute(
        f"CREATE TABLE p AS SELECT i::{type_} AS id, 30 AS age FROM range(20) t(i);"
        f"CREATE TABLE v AS SELECT i::{type_} AS id, 'A' AS ward FROM range(20) t(i);"
        "CREATE RELEASE r.p FROM p (id KEY OF p AS pseudonym(), age QUASI);"
        f"CREATE RELEASE b.v FROM v (id KEY AS {word}, ward QUASI);"
        "CREATE RELEASE r.v FROM b.v (id KEY OF p AS pseudonym(), ward QUASI)"
    )
    with pytest.raises(BindError, match="nobody can tell who is who"):
        publish(here, "r.p, r.v", "")


def test_a_computed_column_that_two_releases_of_a_view_show(here: Owner) -> None:
    here.execute(
        f"CREATE TABLE t AS SELECT p AS id, s AS d, 7 AS one, ['A', 'B'][s + 1] AS ward, {TEST} AS test"
        f" {PERSONS}; CREATE VIEW vv AS SELECT *, d + one AS day FROM t;"
        "CREATE RELEASE r.a FROM vv (id KEY OF p AS pseudonym(), day NEUTRAL, ward QUASI);"
        "CREATE RELEASE r.b FROM vv (id KEY OF p AS pseudonym(), day NEUTRAL, test QUASI)"
    )
    refused(here, "r.a, r.b")


@pytest.mark.parametrize(
    "order", [("s1", "s2", "doctor"), ("s2", "s1", "doctor"), ("doctor", "s2", "s1")]
)
def test_the_order_of_lines_changes_nothing(here: Owner, order: tuple[str, ...]) -> None:
    """Two stays and a doctor, listed in another order by the second release."""
    rows = "FROM range(6) p(p), range(2) a(s), range(2) b(d), range(2) e(c)"
    named = "p AS id, 10 * p + s AS s1, 1000 + 10 * p + d AS s2, 'doc' || c AS doctor"
    lines = {
        "s1": "s1 NEUTRAL OF stay AS pseudonym()",
        "s2": "s2 NEUTRAL OF stay AS pseudonym()",
        "doctor": "doctor NEUTRAL OF doctor AS pseudonym()",
    }
    here.execute(
        f"CREATE TABLE a AS SELECT {named}, ['low', 'high'][1 + (s + d + c) % 2] AS dose {rows};"
        f"CREATE TABLE b AS SELECT {named}, ['bad', 'good'][1 + (s + d + c + (p = 0)::INT) % 2] AS effect"
        f" {rows};"
        f"CREATE RELEASE r.a FROM a (id KEY OF p AS pseudonym(), {', '.join(lines.values())}, dose QUASI);"
        f"CREATE RELEASE r.b FROM b (id KEY OF p AS pseudonym(), {', '.join(lines[one] for one in order)},"
        " effect QUASI)"
    )
    refused(here, "r.a, r.b")


@pytest.mark.parametrize(
    "word",
    [
        "round(to => 10)",
        "top_code(at => 5)",
        "bottom_code(at => 500)",
        "microaggregation(size => 3)",
    ],
)
def test_coarser_names_are_joined_as_they_are_shown(here: Owner, word: str) -> None:
    """The visits 1 and 2 of one person are one visit in the file; those of the others are two."""
    here.execute(
        "CREATE TABLE v (visit INTEGER PRIMARY KEY, id INTEGER, ward VARCHAR);"
        "CREATE TABLE l (visit INTEGER REFERENCES v (visit), id INTEGER, test VARCHAR);"
        "INSERT INTO v SELECT 100 * p + CASE WHEN p = 0 THEN 1 + s ELSE 1 + 40 * s END, p,"
        f" ['A', 'B'][s + 1] {PERSONS};"
        "INSERT INTO l SELECT visit, id, CASE WHEN ward = 'A' THEN 'x' ELSE 'y' END FROM v;"
        f"CREATE RELEASE r.v FROM v (visit NEUTRAL AS {word}, id KEY OF p AS pseudonym(), ward QUASI);"
        f"CREATE RELEASE r.l FROM l (visit NEUTRAL AS {word}, id KEY OF p AS pseudonym(), test QUASI)"
    )
    refused(here, "r.v, r.l")


@pytest.mark.parametrize("word", ["shuffle()", "rank_swap(percent => 50)", "pram(keep => 0.5)"])
def test_names_that_are_dealt_out_to_other_rows_are_refused(here: Owner, word: str) -> None:
    here.execute(
        "CREATE TABLE pa (id INTEGER PRIMARY KEY, age INTEGER); INSERT INTO pa SELECT 7000 + i,"
        " CASE WHEN i < 4 THEN 110 + i ELSE 30 END FROM range(200) t(i);"
        "CREATE TABLE v (visit INTEGER PRIMARY KEY, id INTEGER REFERENCES pa (id), escort INTEGER"
        " REFERENCES pa (id)); INSERT INTO v SELECT i, 7000 + i, 7000 + (i * 7 % 10) FROM range(200) t(i);"
        "CREATE RELEASE r.p FROM pa (id KEY OF p AS pseudonym(), age QUASI);"
        f"CREATE RELEASE r.v FROM v (id KEY OF p AS pseudonym(), escort NEUTRAL AS {word})"
    )
    with pytest.raises(BindError, match="its treatment shows the names in other rows"):
        publish(here, "r.p, r.v", "UNTIL k = 5 ACROSS r.p SUPPRESS AT MOST 5 PERCENT")


def test_another_key_of_a_table_that_is_no_release_is_refused(here: Owner) -> None:
    here.execute(
        "CREATE TABLE pa (id INTEGER PRIMARY KEY, mrn INTEGER UNIQUE); INSERT INTO pa SELECT i, 900000 + i"
        " FROM range(40) t(i); CREATE TABLE v (id INTEGER REFERENCES pa (id), escort INTEGER REFERENCES pa"
        " (mrn), age INTEGER); INSERT INTO v SELECT i % 40, 900000 + i % 10, 30 FROM range(80) t(i);"
        "CREATE RELEASE r.v FROM v (id KEY OF p AS pseudonym(), escort NEUTRAL, age QUASI)"
    )
    with pytest.raises(BindError, match=r"by another key of 'main\.pa'"):
        publish(here, "r.v")


@pytest.mark.parametrize("word", ["mapping()", "translation(by => 500)"])
def test_names_that_a_release_below_changed_are_refused(here: Owner, word: str) -> None:
    here.execute(
        "CREATE TABLE pa (id INTEGER PRIMARY KEY, age INTEGER); INSERT INTO pa SELECT i, 30 FROM"
        " range(40) t(i); CREATE TABLE v (id INTEGER REFERENCES pa (id), escort INTEGER REFERENCES pa (id));"
        "INSERT INTO v SELECT i % 40, i % 10 FROM range(80) t(i);"
        f"CREATE RELEASE b.v FROM v (id KEY AS keep(), escort NEUTRAL AS {word});"
        "CREATE RELEASE r.p FROM pa (id KEY OF p AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.v FROM b.v (id KEY OF p AS pseudonym(), escort NEUTRAL)"
    )
    with pytest.raises(BindError, match=r"'escort' of r\.v carries names that b\.v made"):
        publish(here, "r.p, r.v", "")


def test_numbers_refer_to_numbers_of_another_type(here: Owner) -> None:
    here.execute(
        "CREATE TABLE v (visit DECIMAL(10, 2), id INTEGER); INSERT INTO v SELECT i, i FROM range(9) t(i);"
        "CREATE TABLE l AS SELECT i::DOUBLE AS visit, i AS id FROM range(9) t(i);"
        "CREATE RELEASE r.v FROM v (visit NEUTRAL AS translation(by => 5), id KEY OF p AS pseudonym());"
        "CREATE RELEASE r.l FROM l (visit NEUTRAL REFERENCES v (visit) AS translation(by => 5),"
        " id KEY OF p AS pseudonym())"
    )
    publish(here, "r.v, r.l", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT count(visit) FROM x.r.l").fetchall() == [(9,)]


def test_references_that_are_all_lost_are_warned_of(here: Owner) -> None:
    here.execute(
        "CREATE TABLE v AS SELECT 'V' || i AS visit, i AS id FROM range(9) t(i);"
        "CREATE TABLE l AS SELECT i AS visit, i AS id FROM range(9) t(i);"
        "CREATE RELEASE r.v FROM v (visit NEUTRAL AS pseudonym(), id KEY OF p AS pseudonym());"
        "CREATE RELEASE r.l FROM l (visit NEUTRAL REFERENCES v (visit) AS pseudonym(), id KEY OF p AS"
        " pseudonym()); CREATE STUDY s OF r.v, r.l PERSON p"
    )
    published = here.publish_study("s", to="study.duckdb", recipient="uni")
    assert any("all of them are NULL" in one for one in published.warnings)


def test_what_one_row_alone_names_sets_nobody_apart(here: Owner) -> None:
    """Over-strict before: a doctor of one row, and none, were two kinds of rows."""
    here.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i = 3 THEN NULL ELSE 'doc' || i END AS doctor,"
        " 'A' AS ward FROM range(20) s(i);"
        "CREATE RELEASE r.t FROM t (id KEY OF p AS pseudonym(), doctor NEUTRAL OF doctor AS pseudonym(),"
        " ward QUASI);"
        "CREATE RELEASE r.u FROM t (id KEY OF p AS pseudonym(), ward QUASI)"
    )
    publish(here, "r.t, r.u", "UNTIL k = 20")


def test_who_has_no_row_misses_no_l(here: Owner) -> None:
    here.execute(
        "CREATE TABLE patients AS SELECT i AS id, 30 AS age FROM range(20) t(i);"
        "CREATE TABLE labs AS SELECT i AS id, i % 2 AS ill FROM range(12) t(i);"
        "CREATE RELEASE r.patients FROM patients (id KEY OF p AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), ill SENSITIVE)"
    )
    publish(here, "r.patients, r.labs", "UNTIL k = 3, l(ill) = 2")


# Sources in which a column is hard to follow

LISTED = (
    "CREATE TABLE patients (id INTEGER PRIMARY KEY, age INTEGER); INSERT INTO patients SELECT i, 30 FROM"
    " range(6) t(i); CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER REFERENCES patients (id),"
    " ward VARCHAR, nr INTEGER, sub INTEGER);"
    f"INSERT INTO visits SELECT 10 * p + s, p, ['A', 'B'][s + 1], p, s {PERSONS};"
    "CREATE TABLE bills (visit INTEGER REFERENCES visits (visit), amount INTEGER); INSERT INTO bills SELECT"
    " visit, 5 FROM visits; CREATE TABLE labs (visit INTEGER REFERENCES visits (visit), id INTEGER REFERENCES"
    f" patients (id), test VARCHAR); INSERT INTO labs SELECT 10 * p + s, p, {TEST} {PERSONS};"
    "CREATE TABLE labs2 AS FROM labs;"
    "CREATE VIEW all_visits AS SELECT visit, id, ward FROM visits WHERE id < 3 UNION ALL"
    " SELECT visit, id, ward FROM visits WHERE id >= 3;"
    "CREATE VIEW numbered AS SELECT nr * 10 + sub AS visit, id, ward FROM visits;"
)


@pytest.mark.parametrize(
    ("source", "labs", "reference"),
    [
        ("(SELECT * FROM visits JOIN bills USING (visit))", "labs", ""),
        ("(SELECT * FROM visits NATURAL JOIN bills)", "labs", ""),
        ("(SELECT * FROM visits SEMI JOIN bills USING (visit))", "labs", ""),
        ("(SELECT * FROM (SELECT * FROM visits) AS q(visit, id, ward, nr, sub))", "labs", ""),
        ("all_visits", "labs2", " REFERENCES all_visits (visit)"),
        ("numbered", "labs2", " REFERENCES numbered (visit)"),
        ("visits", "(SELECT visit, l.id, l.test FROM visits v JOIN labs2 l USING (visit))", ""),
    ],
)
def test_a_source_that_is_hard_to_follow(
    here: Owner, source: str, labs: str, reference: str
) -> None:
    here.execute(
        f"{LISTED}CREATE RELEASE r.visits FROM {source} (id KEY OF p AS pseudonym(), visit NEUTRAL, ward"
        f" QUASI); CREATE RELEASE r.labs FROM {labs} (id KEY OF p AS pseudonym(), visit NEUTRAL{reference},"
        " test QUASI)"
    )
    refused(here, "r.visits, r.labs")


def test_pseudonyms_meet_through_using(here: Owner) -> None:
    here.execute(
        f"{LISTED}CREATE RELEASE r.visits FROM (SELECT * FROM visits JOIN bills USING (visit)) (id KEY OF p AS"
        " pseudonym(), visit NEUTRAL AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym())"
    )
    publish(here, "r.visits, r.labs", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT count(*) FROM x.r.visits JOIN x.r.labs USING (visit)").fetchall() == [
        (12,)
    ]


def test_pseudonyms_meet_through_using_where_only_a_line_says_so(here: Owner) -> None:
    """No key is declared: labs says what it refers to, and visits is that table."""
    here.execute(
        "CREATE TABLE visits AS SELECT i AS visit, i % 6 AS id FROM range(12) t(i);"
        "CREATE TABLE bills AS SELECT visit, 5 AS amount FROM visits; CREATE TABLE labs AS FROM visits;"
        "CREATE RELEASE r.visits FROM (SELECT * FROM visits JOIN bills USING (visit)) (id KEY OF p AS"
        " pseudonym(), visit NEUTRAL AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), visit NEUTRAL REFERENCES visits (visit)"
        " AS pseudonym())"
    )
    publish(here, "r.visits, r.labs", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT count(*) FROM x.r.visits JOIN x.r.labs USING (visit)").fetchall() == [
        (12,)
    ]


@pytest.mark.parametrize("escort", ["", " REFERENCES patients (id)", " AS pseudonym()"])
def test_nobody_is_named_where_the_patients_are_joined_with_using(here: Owner, escort: str) -> None:
    here.execute(
        "CREATE TABLE patients (id INTEGER PRIMARY KEY, age INTEGER); INSERT INTO patients SELECT i, CASE"
        " WHEN i = 11 THEN 99 ELSE 30 END FROM range(12) t(i);"
        "CREATE TABLE addresses AS SELECT id, 'x' AS street FROM patients;"
        "CREATE TABLE visits (visit INTEGER PRIMARY KEY, id INTEGER, escort INTEGER REFERENCES patients"
        " (id), ward VARCHAR); INSERT INTO visits SELECT 100 + i, i, (i + 1) % 12, 'A' FROM range(12) t(i);"
        "CREATE RELEASE r.patients FROM (SELECT id, age FROM patients JOIN addresses USING (id))"
        " (id KEY OF p AS pseudonym(), age QUASI) GENERALIZE age UNTIL k = 3 SUPPRESS AT MOST 20 PERCENT;"
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL,"
        f" escort NEUTRAL{escort}, ward QUASI)"
    )
    publish(here, "r.patients, r.visits", "")
    here.execute("ATTACH 'study.duckdb' AS x (READ_ONLY)")
    assert here.sql("SELECT count(*), count(escort) FROM x.r.visits").fetchall() == [(11, 10)]


def test_a_day_and_its_midnight_are_one(here: Owner) -> None:
    here.execute(
        f"{LISTED}CREATE TABLE days (day DATE PRIMARY KEY); INSERT INTO days SELECT DATE '2024-01-01' + visit"
        " FROM visits; CREATE TABLE v AS SELECT DATE '2024-01-01' + visit AS visit, id, ward FROM visits;"
        "CREATE TABLE l AS SELECT (DATE '2024-01-01' + visit)::TIMESTAMP AS visit, id, test FROM labs;"
        "CREATE RELEASE r.v FROM v (id KEY OF p AS pseudonym(), visit NEUTRAL REFERENCES days (day), ward"
        " QUASI); CREATE RELEASE r.l FROM l (id KEY OF p AS pseudonym(), visit NEUTRAL REFERENCES days (day),"
        " test QUASI)"
    )
    refused(here, "r.v, r.l")
