"""What is refused although the language allows it, and the one way to insist."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

TABLE = """
CREATE TABLE people AS SELECT
    range AS id, 'name ' || range AS name, uuid() AS device, range * 7 AS number,
    'user' || range % 90 || '@example.org' AS email, '+49 30 1234' || range % 90 AS phone,
    (20 + range % 40)::INTEGER AS age, 40000 + range % 20 AS zip, range / 7 AS weight,
    DATE '1980-01-01' + (range * 3)::INTEGER AS born, range % 3 AS ill
FROM range(400)
"""


@pytest.fixture
def clinic(owner: Owner) -> Owner:
    owner.execute(TABLE)
    return owner


def refused(owner: Owner, statement: str) -> Refused:
    with pytest.raises(Refused) as caught:
        owner.execute(statement)
    return caught.value


# Columns that name persons


@pytest.mark.parametrize("column", ["name", "device", "number", "email", "phone"])
@pytest.mark.parametrize("role", ["NEUTRAL", "QUASI", "SENSITIVE AS keep()"])
def test_a_column_that_names_persons_does_not_leave_without_a_word(
    clinic: Owner, column: str, role: str
) -> None:
    statement = f"CREATE RELEASE r.a FROM people (id KEY, {column} {role})"
    error = refused(clinic, statement)
    assert error.code == "identifying"
    assert error.span is not None
    line = f"WITH (accept = ['identifying({column})'])"
    assert line in str(error)
    clinic.execute(f"{statement} {line}")  # what the error says to write helps


def test_what_was_accepted_is_said_everywhere(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM people (id KEY, name NEUTRAL, ill SENSITIVE)"
        " WITH (accept = ['identifying(name)'])"
    )
    more = clinic.execute("DESCRIBE RELEASE r.a").more
    assert more is not None
    assert more.fetchall() == [("accepted", None, "identifying(name)")]
    clinic.publish("r.a", to=tmp_path / "study.duckdb")
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as file:
        assert file.execute("SELECT accepted FROM release_info").fetchall() == [
            ("identifying(name)",)
        ]
    report = clinic.audit("r.a", to=tmp_path / "report.html")
    assert report.stamp.accepted == "identifying(name)"
    assert "identifying(name)" in (tmp_path / "report.html").read_text()


def test_numbers_that_are_measured_are_warned_of(clinic: Owner) -> None:
    for column in ("weight", "born"):
        with pytest.warns(PrivacyWarning, match=f"have a '{column}' that nobody else has"):
            clinic.execute(f"CREATE OR REPLACE RELEASE r.a FROM people (id KEY, {column} QUASI)")


@pytest.mark.parametrize(
    "columns",
    [
        "id KEY, name IDENTIFIER, age QUASI, zip QUASI, ill SENSITIVE",
        "id KEY, name NEUTRAL AS pseudonym(), age QUASI",
        "id KEY, number NEUTRAL AS suppress(), ill NEUTRAL",
    ],
)
def test_other_columns_leave(clinic: Owner, columns: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clinic.execute(f"CREATE RELEASE r.a FROM people ({columns})")


def test_a_few_persons_may_all_be_different(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS id, 'n' || range AS name FROM range(99)")
    owner.execute("CREATE RELEASE r.a FROM t (id KEY, name NEUTRAL)")
    owner.execute("INSERT INTO t VALUES (99, 'n99')")
    assert refused(owner, "CREATE RELEASE r.b FROM t (id KEY, name NEUTRAL)").code == "identifying"


def test_persons_are_counted_not_rows(owner: Owner) -> None:
    """One e-mail a person in many rows is one of a person all the same."""
    owner.execute(
        "CREATE TABLE visits AS SELECT range % 150 AS id, 'n' || range % 150 AS name, range % 5 AS w"
        " FROM range(1500)"
    )
    statement = "CREATE RELEASE r.a FROM visits (id KEY, name NEUTRAL, w NEUTRAL)"
    assert refused(owner, statement).code == "identifying"


def test_a_refresh_warns_and_a_publication_is_refused(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute("CREATE TABLE t AS SELECT range AS id, 'all' AS name FROM range(200)")
    clinic.execute("CREATE RELEASE r.t FROM t (id KEY, name NEUTRAL)")
    clinic.execute("UPDATE t SET name = 'name ' || id")
    with pytest.warns(PrivacyWarning, match="100% of the persons have a 'name'"):
        clinic.execute("REFRESH RELEASE r.t")
    error = refused(clinic, f"PUBLISH RELEASE r.t TO '{tmp_path / 'study.duckdb'}'")
    assert error.code == "identifying"
    assert not (tmp_path / "study.duckdb").exists()
    clinic.execute(
        f"PUBLISH RELEASE r.t TO '{tmp_path / 'study.duckdb'}'"
        " WITH (accept = ['identifying(name)'])"
    )
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as file:
        assert file.execute("SELECT accepted FROM release_info").fetchall() == [
            ("identifying(name)",)
        ]


# Twins

GENERALIZED = "GENERALIZE age USING ages UNTIL k = 5"


@pytest.fixture
def ages(clinic: Owner) -> Owner:
    clinic.execute("CREATE HIERARCHY ages AS RANGES (10, 20)")
    return clinic


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("(SELECT *, age AS twin FROM people)", "twin NEUTRAL"),
        ("(SELECT *, age + 0 AS twin FROM people)", "twin SENSITIVE"),
        ("(SELECT *, age * 2 + 1 AS twin FROM people)", "twin NEUTRAL AS mapping()"),
        ("(SELECT *, 'a' || age AS twin FROM people)", "twin SENSITIVE AS pseudonym()"),
        ("(SELECT *, age // 10 AS twin FROM people)", "twin NEUTRAL"),
        ("(SELECT * REPLACE (age + 0.0 AS weight), weight AS w FROM people)", "weight NEUTRAL"),
        ("(SELECT p.*, q.b FROM people p JOIN (SELECT id, -age AS b FROM people) q USING (id))", "b NEUTRAL"),
        ("(WITH t AS (SELECT *, age AS twin FROM people) SELECT * FROM t)", "twin NEUTRAL"),
    ],
)  # fmt: skip
def test_a_twin_of_a_generalized_column_is_refused(ages: Owner, source: str, column: str) -> None:
    statement = f"CREATE RELEASE r.a FROM {source} (id KEY, age QUASI, {column}) {GENERALIZED}"
    error = refused(ages, statement)
    name = column.split()[0]
    assert error.code == "twin"
    line = f"WITH (accept = ['twin({name})'])"
    assert line in str(error)
    ages.execute(f"{statement} {line}")


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT p.id, age, p.age AS twin FROM people p JOIN other o ON o.k = p.id)",
        "(SELECT id, age, age + 0 AS x, x + 1 AS twin FROM people)",
        "(SELECT id, age, (SELECT max(q.age) FROM people q WHERE q.id = p.id) AS twin FROM people p)",
        "(SELECT p.id, p.age, l.twin FROM people p, LATERAL (SELECT p.age AS twin) l)",
        "(SELECT * FROM people NATURAL JOIN (SELECT id, age AS twin FROM people))",
        "(SELECT i AS id, a AS age, t AS twin FROM (SELECT id, age, age FROM people) AS q (i, a, t))",
        "(WITH q (id, age, twin) AS (SELECT id, age, age FROM people) FROM q)",
        "(SELECT id, age, struct_extract(p, 'age') AS twin FROM people p)",
        "(SELECT id, age, CASE WHEN id = 3 THEN 21 ELSE age END AS twin FROM people)",
        "(SELECT id, age, age AS twin FROM people UNION ALL SELECT id, age, age FROM people WHERE false)",
    ],
)  # fmt: skip
def test_a_twin_is_refused_where_its_column_is_hard_to_follow(ages: Owner, source: str) -> None:
    """What cannot be followed is looked for in the data; one row that differs makes no other."""
    ages.execute("CREATE TABLE other AS SELECT range AS k FROM range(400)")
    statement = f"CREATE RELEASE r.a FROM {source} (id KEY, age QUASI, twin NEUTRAL) {GENERALIZED}"
    assert refused(ages, statement).code == "twin"


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("people", "zip QUASI AS suppress(), ill SENSITIVE AS mapping(), weight SENSITIVE"),
        ("(SELECT *, age AS twin FROM people)", "twin SENSITIVE AS suppress()"),
        ("(SELECT *, age AS twin FROM people)", "twin QUASI"),
        ("(SELECT *, age * 0 AS twin FROM people)", "twin NEUTRAL"),
    ],
)
def test_columns_side_by_side_are_no_twins(ages: Owner, source: str, columns: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ages.execute(
            f"CREATE RELEASE r.a FROM {source} (id KEY, age QUASI, {columns}) {GENERALIZED}"
        )


def test_a_twin_through_a_release_is_one(ages: Owner) -> None:
    ages.execute("CREATE RELEASE r.first FROM people (id KEY AS keep(), age QUASI AS scaling())")
    source = "(SELECT p.id, p.age, f.age AS twin FROM people p JOIN r.first f ON f.id = p.id)"
    statement = f"CREATE RELEASE r.a FROM {source} (id KEY, age QUASI, twin NEUTRAL) {GENERALIZED}"
    assert refused(ages, statement).code == "twin"


def test_names_outside_the_high_class_do_not_leave(clinic: Owner) -> None:
    """Rows outside WHEN show a generalized column as it is."""
    source = "(SELECT *, name AS n2 FROM people)"
    statement = (
        f"CREATE RELEASE r.a FROM {source} (id KEY, name IDENTIFIER, n2 QUASI, ill SENSITIVE)"
        " GENERALIZE n2 WHEN ill = 2 UNTIL k = 5"
    )
    assert refused(clinic, statement).code == "identifying"


def test_an_identifier_does_not_leave_under_a_little_noise(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM (SELECT *, number AS n2 FROM people)"
        " (id KEY, number IDENTIFIER, n2 SENSITIVE AS noise(normal(0, 10), rho => 40))"
    )
    with pytest.raises(Refused) as caught:
        clinic.publish("r.a", to=tmp_path / "study.duckdb")
    assert caught.value.code == "shows_identifier"


# All rows of a person

VISITS = """
CREATE TABLE visits AS
SELECT range % 60 AS id, range // 60 AS visit, (range * 13 % 40)::INTEGER AS age,
       (range * 7 % 6)::INTEGER AS ward, range % 3 AS ill
FROM range(300)
"""


def test_k_holds_over_all_rows_of_a_person(owner: Owner, tmp_path: Path) -> None:
    owner.execute(VISITS)
    columns = "age QUASI, ward QUASI, ill SENSITIVE"
    clause = "GENERALIZE age, ward UNTIL k = 3 SUPPRESS AT MOST 50 PERCENT"
    statement = f"CREATE RELEASE r.v FROM visits (id KEY AS pseudonym(), {columns}) {clause}"
    error = refused(owner, statement)
    assert error.code == "linked_rows"
    line = "WITH (accept = ['linked_rows'])"
    assert line in str(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the columns of this table go together
        owner.execute(f"{statement} {line}")
    linked = {figure.figure: figure.value for figure in owner.figures("r.v")}
    assert (linked["smallest class"] or 0) >= 3
    assert linked["smallest class of linked rows"] == brute_linked_k(owner)
    assert brute_linked_k(owner) < 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # as before
        owner.publish("r.v", to=tmp_path / "study.duckdb")
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as file:
        ((targets, accepted),) = file.execute(
            "SELECT targets, accepted FROM release_info"
        ).fetchall()
    assert targets == (
        f"k = 3, k = {linked['smallest class of linked rows']:.0f} over all rows of a person"
    )
    assert accepted == "linked_rows"
    # Without the pseudonym nobody can tell which rows are one person's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        owner.execute(f"CREATE RELEASE r.w FROM visits (id KEY, {columns}) {clause}")


@pytest.mark.parametrize(
    "column", ["i2 NEUTRAL AS mapping()", "i2 NEUTRAL AS translation()", "i2 NEUTRAL"]
)
def test_any_column_that_is_a_persons_own_links_their_rows(owner: Owner, column: str) -> None:
    owner.execute(VISITS.replace("range % 60 AS id,", "range % 60 AS id, 2 * (range % 60) AS i2,"))
    statement = (
        f"CREATE RELEASE r.v FROM visits (id KEY, {column}, age QUASI, ward QUASI, ill SENSITIVE)"
        " GENERALIZE age, ward UNTIL k = 3 SUPPRESS AT MOST 50 PERCENT"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        assert refused(owner, statement).code == "linked_rows"


def brute_linked_k(owner: Owner) -> int:
    persons: dict[str, list[tuple[object, ...]]] = {}
    for person, *shown in owner.sql("SELECT id, age, ward FROM r.v").fetchall():
        persons.setdefault(person, []).append(tuple(shown))
    profiles = [tuple(sorted(map(repr, rows))) for rows in persons.values()]
    return min(profiles.count(profile) for profile in profiles)


def test_a_release_that_shows_the_same_of_everybody_passes(owner: Owner) -> None:
    owner.execute("CREATE TABLE v AS SELECT range % 20 AS id, range // 20 AS age FROM range(60)")
    owner.execute(
        "CREATE RELEASE r.v FROM v (id KEY AS pseudonym(), age QUASI) GENERALIZE age UNTIL k = 5"
    )
    figures = {figure.figure: figure.value for figure in owner.figures("r.v")}
    assert figures["smallest class of linked rows"] == 20


# Rows kept as stars


def test_a_row_of_stars_shows_nothing_sensitive(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id, (range // 10)::INTEGER AS age, range % 4 AS ward,"
        " CASE WHEN range % 2 = 0 THEN 'Flu' ELSE 'Cold' END AS ill FROM range(40);"
        "INSERT INTO t VALUES (40, 99, 1, 'Leprosy')"
    )
    owner.execute(
        "CREATE RELEASE r.t FROM t (id KEY, age QUASI, ill SENSITIVE, ward NEUTRAL)"
        " GENERALIZE age UNTIL k = 5, l(ill) = 2 SUPPRESS AT MOST 5 PERCENT"
        " WITH (suppressed = 'star')"
    )
    assert owner.sql("SELECT ill, ward FROM r.t WHERE age = '*'").fetchall() == [(None, 1)]
    assert ("Leprosy",) not in owner.sql("SELECT ill FROM r.t").fetchall()
    owner.publish("r.t", to=tmp_path / "study.duckdb")
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as file:
        ((targets,),) = file.execute("SELECT targets FROM release_info").fetchall()
        assert file.execute("SELECT count(*) FROM r.t WHERE ill = 'Leprosy'").fetchall() == [(0,)]
    assert targets.endswith("rows kept as * show no SENSITIVE value")


# Unlinkable


def test_a_release_of_a_release_keeps_its_pseudonyms_so_it_is_not_unlinkable(
    clinic: Owner, tmp_path: Path
) -> None:
    clinic.execute("CREATE RELEASE r.first FROM people (id KEY AS pseudonym(), age QUASI)")
    clinic.execute("CREATE VIEW again AS SELECT id AS person, age FROM r.first")
    clinic.execute(
        "CREATE RELEASE r.second FROM again (person NEUTRAL, age QUASI)"
        " WITH (accept = ['identifying(person)'])"
    )
    with pytest.raises(Refused, match=r"it carries the pseudonyms of 'r\.first'") as caught:
        clinic.publish("r.second", to=tmp_path / "study.duckdb", unlinkable=True)
    assert caught.value.code == "not_unlinkable"
    with pytest.warns(PrivacyWarning, match=r"r\.first and r\.second share pseudonyms"):
        clinic.publish("r.first", "r.second", to=tmp_path / "study.duckdb")


def test_a_mapping_with_an_alias_a_person_is_not_unlinkable(clinic: Owner, tmp_path: Path) -> None:
    with pytest.warns(PrivacyWarning, match="nearly unique"):
        clinic.execute(
            "CREATE RELEASE r.a FROM people (id KEY, name NEUTRAL AS mapping(), age QUASI)"
        )
    with pytest.raises(Refused, match="nearly every person has an alias of their own"):
        clinic.publish("r.a", to=tmp_path / "study.duckdb", unlinkable=True)
    clinic.execute("CREATE RELEASE r.b FROM people (id KEY, zip NEUTRAL AS mapping(), age QUASI)")
    clinic.publish("r.b", to=tmp_path / "study.duckdb", unlinkable=True)


# The option itself


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("['everything']", "cannot be accepted"),
        ("['twin']", "write 'twin\\(column\\)'"),
        ("['linked_rows(age)']", "write 'linked_rows'"),
        ("['identifying(nobody)']", "there is no column 'nobody'"),
        ("[1]", "must be a list of error codes"),
        ("true", "must be a list of error codes"),
    ],
)
def test_only_codes_of_errors_are_accepted(clinic: Owner, value: str, what: str) -> None:
    with pytest.raises(BindError, match=what):
        clinic.execute(
            f"CREATE RELEASE r.a FROM people (id KEY, age QUASI) WITH (accept = {value})"
        )


def test_what_is_accepted_is_kept_with_the_release(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute(
        'CREATE RELEASE r.a FROM people (id KEY, "name" NEUTRAL)'
        " WITH (accept = ['IDENTIFYING(Name)'])"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ppdm_sql.PrivacyWarning)
        clinic.execute("REFRESH RELEASE r.a")
        clinic.publish("r.a", to=tmp_path / "study.duckdb")


def test_a_copy_of_a_sensitive_column_is_hidden_in_a_row_of_stars(owner: Owner) -> None:
    """`illness NEUTRAL` under another name showed what the SENSITIVE column hid."""
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id, CASE WHEN range = 7 THEN 99 ELSE range % 2 END AS age,"
        " CASE WHEN range = 7 THEN 'rare' ELSE 'flu' END AS illness, range % 3 AS ward FROM range(40);"
        "CREATE RELEASE r.s FROM (SELECT *, upper(illness) AS note FROM t)"
        " (id KEY, age QUASI, illness SENSITIVE, note NEUTRAL, ward NEUTRAL)"
        " GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT WITH (suppressed = 'star')"
    )
    rows = owner.execute("SELECT illness, note, ward FROM r.s WHERE age = '*'").fetchall()
    assert rows == [(None, None, 1)]
    assert owner.execute("SELECT count(note) FROM r.s").fetchall() == [(39,)]


@pytest.mark.parametrize("key", ["visit KEY, ", ""])
def test_a_pseudonym_of_somebody_else_than_the_key_is_warned_of(owner: Owner, key: str) -> None:
    """Classes of five visits may be one patient's."""
    owner.execute(
        "CREATE TABLE visits AS SELECT range AS visit, range // 5 AS patient, range % 2 AS sex,"
        " 60 + range % 30 AS weight FROM range(200)"
    )
    rules = f"{key}patient NEUTRAL AS pseudonym(), sex QUASI"
    with pytest.warns(PrivacyWarning, match="'patient' is released, and one 'patient' has several"):
        owner.execute(f"CREATE RELEASE r.v FROM visits ({rules}) GENERALIZE sex UNTIL k = 5")
    if key:
        noise = "weight SENSITIVE AS noise(normal(0, 20))"
        with pytest.warns(PrivacyWarning, match="is drawn for by itself"):
            owner.execute(f"CREATE RELEASE r.n FROM visits ({rules}, {noise})")
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)  # one row a patient: nothing is put together
        owner.execute(
            f"CREATE RELEASE r.one FROM (SELECT * FROM visits WHERE visit % 5 = 0) ({rules})"
            " GENERALIZE sex UNTIL k = 5"
        )


def test_python_and_the_ledger_accept_at_publish(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute("CREATE RELEASE r.a FROM people (id KEY, ill NEUTRAL, zip NEUTRAL)")
    clinic.execute("UPDATE people SET zip = id * 3")
    with pytest.raises(Refused, match="nobody else has"):
        clinic.publish("r.a", to=tmp_path / "a.duckdb")
    clinic.publish("r.a", to=tmp_path / "a.duckdb", accept=["identifying(zip)"])
    with duckdb.connect(tmp_path / "a.duckdb", read_only=True) as file:
        assert file.execute("SELECT accepted FROM release_info").fetchall() == [
            ("identifying(zip)",)
        ]


@pytest.mark.parametrize("type_", ["TIMESTAMPTZ", "TIME"])
def test_times_in_which_everybody_is_alone_are_warned_of(owner: Owner, type_: str) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id,"
        f" (TIMESTAMP '2020-01-01' + INTERVAL (i * 7) SECOND)::{type_} AS at FROM range(300) r (i)"
    )
    with pytest.warns(PrivacyWarning, match="'at' that nobody else has"):
        owner.execute("CREATE RELEASE r.a FROM t (id KEY, at NEUTRAL)")


@pytest.mark.parametrize(
    "contact",
    [
        "CASE WHEN i % 5 < 3 THEN 'none' ELSE 'user' || i || '@clinic.org' END",
        "CASE WHEN i % 2 = 0 THEN '+49 171 55512' || i ELSE 'user' || i || '@clinic.org' END",
    ],
)
def test_addresses_among_other_texts_are_found(owner: Owner, contact: str) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT i AS id, {contact} AS contact FROM range(60) r (i)")
    error = refused(owner, "CREATE RELEASE r.a FROM t (id KEY, contact NEUTRAL)")
    assert error.code == "identifying"


@pytest.mark.parametrize(
    "contact",
    [
        "'0170' || (1234567 + i)",
        "'0049170' || (1234567 + i)",
        "'+49170' || (1234567 + i)",
        "'06 ' || (10 + i) || ' 34 56 78'",
        "'98765 43' || (100 + i)",
        "'Tel. 030 123' || (1000 + i)",
        "'Ada ' || i || ' <ada' || i || '@x.org>'",
        "'a' || i || '@x.org; b' || i || '@y.org'",
        "'a' || i || '@x.рф'",
        "'\"a b' || i || '\"@x.org'",
        "'ask a' || i || '@x.org, please'",
    ],
)
def test_addresses_and_numbers_are_found_however_they_are_written(
    owner: Owner, contact: str
) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT i AS id, {contact} AS contact FROM range(60) r (i)")
    error = refused(owner, "CREATE RELEASE r.a FROM t (id KEY, contact NEUTRAL)")
    assert error.code == "identifying"


@pytest.mark.parametrize(
    "text", ["00000012%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d %H:%M"]
)
def test_dates_and_padded_numbers_are_no_phone_numbers(owner: Owner, text: str) -> None:
    owner.execute(
        f"CREATE TABLE t AS SELECT i AS id, strftime(DATE '2024-01-01' + (i % 28)::INT, '{text}') AS day"
        " FROM range(90) r (i)"
    )
    owner.execute("CREATE RELEASE r.a FROM t (id KEY, day NEUTRAL)")


def test_noise_that_leaves_most_rows_alone_shows_names(owner: Owner) -> None:
    """Red before: of a thousand numbers, 990 were released as they are, without a word."""
    owner.execute("CREATE TABLE t AS SELECT i AS id, 900000 + i * 7 AS ssn FROM range(1000) t(i)")
    with pytest.raises(Refused) as caught:
        owner.execute(
            "CREATE RELEASE r.s FROM t (id KEY, ssn NEUTRAL AS noise(normal(0, 8), rho => 1))"
        )
    assert caught.value.code == "identifying"
