"""GENERALIZE from script to view: SCBA, targets, suppression, what waits, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")

TABLE_I = """
CREATE TABLE table_1 AS SELECT * FROM (VALUES
    (1, '423065', 29, 'M', 'Heart Disease'), (2, '422036', 32, 'F', 'Flu'),
    (3, '423245', 38, 'M', 'Headache'),      (4, '422035', 27, 'F', 'HIV'),
    (5, '423012', 47, 'M', 'Cancer'),        (6, '423432', 53, 'F', 'Viral')
) t(id, zip, age, sex, diagnosis);
CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY decades AS RANGES (10, 20, 40);
CREATE HIERARCHY over_25 AS TREE (
    ('27', '>25'), ('29', '>25'), ('32', '>25'), ('38', '>25'), ('47', '>25'), ('53', '>25'));
"""
RULES = "(id KEY, zip QUASI, age QUASI, sex QUASI, diagnosis SENSITIVE)"


@pytest.fixture
def table_1(owner: Owner) -> Owner:
    owner.execute(TABLE_I)
    return owner


def rows(owner: Owner, release: str = "r") -> list[tuple[Any, ...]]:
    return sorted(owner.execute(f"FROM {release}").fetchall())


def figures(owner: Owner, release: str = "r") -> dict[str, float | None]:
    return {figure.figure: figure.value for figure in owner.figures(release)}


def test_table_vi_comes_out_of_table_i(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES}"
        " GENERALIZE zip USING zip_digits, age USING over_25, sex"
        " WHEN diagnosis IN ('HIV', 'Cancer') UNTIL k = 2"
    )
    assert rows(table_1) == [
        ("42****", ">25", "*", "Cancer"),
        ("42****", ">25", "*", "HIV"),
        ("422036", "32", "F", "Flu"),
        ("423065", "29", "M", "Heart Disease"),
        ("423245", "38", "M", "Headache"),
        ("423432", "53", "F", "Viral"),
    ]


def test_describe_tells_levels_classes_and_what_is_not_protected(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES}"
        " GENERALIZE zip USING zip_digits, age USING over_25, sex"
        " WHEN diagnosis IN ('HIV', 'Cancer') UNTIL k = 2"
    )
    found = figures(table_1)
    assert found["level of zip"] == 4
    assert found["level of age"] == 1
    assert found["level of sex"] == 1
    assert found["rows treated"] == 2
    assert found["classes"] == 1
    assert found["smallest class"] == 2
    assert found["unique untouched rows"] == 4
    treated = 1 - (4 / 6 + 1 / 2 + 1) / 3
    assert found["precision of treated rows"] == pytest.approx(treated)
    assert found["precision of the release"] == pytest.approx(1 - (1 - treated) * 2 / 6)
    assert found["precision of plain k-anonymity"] is not None
    assert found["nodes of the lattice"] == 7 * 3 * 2
    result = table_1.execute("DESCRIBE RELEASE r")
    assert result.more is not None
    assert [row[2] for row in result.fetchall()][1:4] == ["generalize"] * 3
    assert len(result.more.fetchall()) == len(found)


def test_unique_untouched_rows_are_warned_of(table_1: Owner) -> None:
    with pytest.warns(PrivacyWarning, match="that are unique in what they show: 4"):
        table_1.execute(
            f"CREATE RELEASE r FROM table_1 {RULES} GENERALIZE zip, age, sex"
            " WHEN diagnosis = 'HIV' OR diagnosis = 'Cancer' UNTIL k = 2"
        )


def test_without_when_all_rows_are_treated(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES}"
        " GENERALIZE zip USING zip_digits, age USING decades, sex UNTIL k = 3"
    )
    assert figures(table_1)["smallest class"] >= 3  # type: ignore[operator]
    assert "unique untouched rows" not in figures(table_1)


def test_a_null_in_when_counts_as_high(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a', 'HIV'), (2, 'b', NULL), (3, 'c', 'Flu'))"
        " v(id, city, illness);"
        "CREATE RELEASE r FROM t (id KEY, city QUASI, illness SENSITIVE)"
        " GENERALIZE city WHEN illness = 'HIV' UNTIL k = 2"
    )
    assert owner.execute("SELECT city, illness FROM r ORDER BY ALL").fetchall() == [
        ("*", "HIV"),
        ("*", None),
        ("c", "Flu"),
    ]


def test_when_may_use_a_column_that_stays(table_1: Owner) -> None:
    table_1.execute(
        "CREATE RELEASE r FROM table_1 (zip QUASI, sex QUASI)"
        " GENERALIZE zip USING zip_digits, sex WHEN id IN (4, 5) UNTIL k = 2"
    )
    assert rows(table_1)[:2] == [("42****", "*")] * 2


def test_the_sensitive_column_may_be_mapped_and_when_sees_original_values(table_1: Owner) -> None:
    table_1.execute(
        "CREATE RELEASE r FROM table_1 (sex QUASI, diagnosis SENSITIVE AS mapping(prefix => 'I'))"
        " GENERALIZE sex WHEN diagnosis IN ('HIV', 'Cancer') UNTIL k = 2"
    )
    found = rows(table_1)
    assert [sex for sex, _ in found].count("*") == 2
    assert all(alias.startswith("I_") for _, alias in found)


def test_the_values_of_when_are_in_no_text_of_the_catalog(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES} GENERALIZE zip, age, sex"
        " WHEN diagnosis IN ('HIV', 'Cancer') AND age BETWEEN 17 AND 4711 UNTIL k = 2"
    )
    texts = str(table_1.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'r'").fetchall())
    texts += table_1.explain("r")
    assert "ppdm_high" in texts
    for value in ("HIV", "Cancer", "4711"):
        assert value not in texts


def test_a_later_row_with_a_new_combination_waits(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES} GENERALIZE zip USING zip_digits, age, sex"
        " WHEN diagnosis IN ('HIV', 'Cancer') UNTIL k = 2"
    )
    table_1.execute(
        "INSERT INTO table_1 VALUES (7, '999999', 47, 'M', 'Cancer'), (8, '999999', 1, 'M', 'Flu'),"
        " (9, '423012', 47, 'M', 'Cancer')"
    )
    found = rows(table_1)
    assert len(found) == 8, "the new high row waits; the low one and a known combination do not"
    assert ("999999", "1", "M", "Flu") in found
    assert table_1.releases()[0].waiting == 1
    table_1.execute("REFRESH RELEASE r")
    assert len(rows(table_1)) == 9
    assert table_1.releases()[0].waiting == 0


def test_without_when_new_values_and_combinations_wait(table_1: Owner) -> None:
    table_1.execute(
        "CREATE RELEASE r FROM table_1 (age QUASI, sex QUASI) GENERALIZE age, sex UNTIL k = 3"
    )
    table_1.execute("INSERT INTO table_1 VALUES (7, '1', 29, 'F', 'x'), (8, '1', NULL, 'M', 'x')")
    assert len(rows(table_1)) == 6
    assert table_1.releases()[0].waiting == 2


SKEWED = """
CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 18 THEN 'big' ELSE 'small' || i END AS city,
    CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END AS illness FROM range(20) r(i);
"""


def test_suppressed_records_are_left_out(owner: Owner) -> None:
    owner.execute(
        SKEWED + "CREATE RELEASE r FROM t (id KEY, city QUASI, illness SENSITIVE)"
        " GENERALIZE city UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT"
    )
    assert {city for city, _ in rows(owner)} == {"big"}
    assert (len(rows(owner)), figures(owner)["rows suppressed"]) == (18, 2)


def test_suppressed_records_can_stay_as_stars(owner: Owner) -> None:
    owner.execute(
        SKEWED + "CREATE RELEASE r FROM t (id KEY, city QUASI, illness QUASI)"
        " GENERALIZE city UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT WITH (suppressed = 'star')"
    )
    assert len(rows(owner)) == 20
    assert owner.execute("SELECT * FROM r WHERE city = '*'").fetchall() == [("*", None)] * 2


def test_too_little_suppression_generalizes(owner: Owner) -> None:
    owner.execute(
        SKEWED + "CREATE RELEASE r FROM t (id KEY, city QUASI, illness SENSITIVE)"
        " GENERALIZE city UNTIL k = 5 SUPPRESS AT MOST 9 PERCENT"
    )
    assert {city for city, _ in rows(owner)} == {"*"}


def test_persons_are_counted_and_not_rows(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i // 10 AS person, CASE WHEN i < 30 THEN 'a' ELSE 'b' END AS city"
        " FROM range(60) r(i);"
        "CREATE RELEASE by_rows FROM t (city QUASI) GENERALIZE city UNTIL k = 4;"
        "CREATE RELEASE by_persons FROM t (person KEY, city QUASI) GENERALIZE city UNTIL k = 4"
    )
    assert {city for (city,) in rows(owner, "by_rows")} == {"a", "b"}
    assert {city for (city,) in rows(owner, "by_persons")} == {"*"}
    assert figures(owner, "by_persons")["smallest class"] == 6


def test_rows_without_a_key_are_one_person(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i < 2 THEN i END AS person, i % 2 AS city"
        " FROM range(8) r(i);"
        "CREATE RELEASE r FROM t (person KEY, city QUASI) GENERALIZE city UNTIL k = 3"
    )
    assert {city for (city,) in rows(owner)} == {"*"}
    assert figures(owner)["smallest class"] == 3
    with pytest.raises(Refused, match="fewer than k = 4 persons"):
        owner.execute(
            "CREATE RELEASE q FROM t (person KEY, city QUASI) GENERALIZE city UNTIL k = 4"
        )


def test_classes_are_over_all_quasi_columns_as_released(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 4 AS a, i % 2 AS b FROM range(16) r(i);"
        "CREATE RELEASE r FROM t (id KEY, a QUASI, b QUASI AS mapping(prefix => 'B'))"
        " GENERALIZE a UNTIL k = 8"
    )
    assert {len(set(row)) for row in rows(owner)} == {2}
    assert {row[0] for row in rows(owner)} == {"*"}
    with pytest.raises(Refused, match="no generalization reaches k = 9") as caught:
        owner.execute("CREATE RELEASE q FROM t (id KEY, a QUASI, b QUASI) GENERALIZE a UNTIL k = 9")
    assert "are not generalized and split the classes: b" in str(caught.value)


def test_diversity_is_of_the_original_values(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 4 AS city, i // 4 AS income FROM range(8) r(i);"
        "CREATE RELEASE r FROM t (id KEY, city QUASI,"
        " income SENSITIVE AS noise(normal(0, 1000)))"
        " GENERALIZE city UNTIL k = 2, l(income) = 2"
    )
    assert {row[0] for row in rows(owner)} == {"*"}, "noise makes every income different"


@pytest.mark.parametrize(
    ("target", "figure", "is_reached"),
    [
        ("l(illness) = 2", "l(illness)", lambda value: value >= 2),
        ("entropy_l(illness) = 1.5", "entropy_l(illness)", lambda value: value >= 1.5),
        ("recursive_l(illness, 2.5) = 2", "recursive_l(illness)", lambda value: value < 2.5),
        ("t(illness) <= 0.2", "t(illness)", lambda value: value <= 0.2),
        ("t(illness USING kinds) <= 0.2", "t(illness)", lambda value: value <= 0.2),
        ("t(age) <= 0.2", "t(age)", lambda value: value <= 0.2),
        ("alpha(illness) <= 0.7", "alpha(illness)", lambda value: value <= 0.7),
    ],
)
def test_every_target_is_reached_and_shown(
    owner: Owner, target: str, figure: str, is_reached: Any
) -> None:
    owner.execute(
        "CREATE HIERARCHY kinds AS TREE (('flu', 'mild'), ('cold', 'mild'), ('hiv', 'grave'));"
        "CREATE TABLE t AS SELECT i AS id, i % 7 AS city, (i * 5) % 11 AS age,"
        " ['flu', 'cold', 'hiv'][1 + (i * i) % 3] AS illness FROM range(90) r(i);"
        "CREATE RELEASE r FROM t (id KEY, city QUASI, age SENSITIVE, illness SENSITIVE)"
        f" GENERALIZE city UNTIL k = 3, {target} SUPPRESS AT MOST 20 PERCENT"
    )
    assert is_reached(figures(owner)[figure])


@pytest.mark.parametrize(
    ("condition", "high"),
    [
        ("born >= '1980-01-01'", 4),
        ("born >= DATE '1980-01-01' AND city <> 'b'", 3),
        ("score > 1.5", 4),
        ("score * 2 + 1 > 4", 4),
        ("kind = 'x'", 3),
        ("city LIKE 'a%'", 2),
        ("lower(city) IN ('b', 'c')", 4),
        ("NOT (score BETWEEN 0 AND 2.4)", 4),
        ("city IS NOT NULL AND score IS DISTINCT FROM 3.5", 5),
    ],
)
def test_conditions_mean_what_duckdb_says(owner: Owner, condition: str, high: int) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, ['a', 'b', 'c'][1 + i % 3] AS city,"
        " DATE '1970-01-01' + INTERVAL (i * 5) YEAR AS born, (i + 0.5)::DECIMAL(4, 1) AS score,"
        " (['x', 'y'][1 + i % 2])::ENUM('x', 'y') AS kind FROM range(6) r(i);"
        f"CREATE RELEASE r FROM t (id KEY, city QUASI) GENERALIZE city WHEN {condition} UNTIL k = 2"
    )
    counted = owner.execute(f"SELECT count(*) FROM t WHERE {condition}").fetchall()
    assert counted == [(high,)]
    assert figures(owner)["rows treated"] == high


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("nosuch = 1", "there is no column 'nosuch'"),
        ("t.id = 1", "'t' cannot stand before a column"),
        ("id IN (SELECT id FROM t)", "cannot stand in a WHEN condition"),
        ("random() > 0.5", "cannot stand in a WHEN condition"),
        ("1 = 1", "names no column"),
        ("id = ", "cannot be read"),
        ("id = 99999999999999999999", "does not fit BIGINT"),
    ],
)
def test_a_condition_that_is_more_than_a_comparison_is_refused(
    table_1: Owner, condition: str, what: str
) -> None:
    with pytest.raises(ppdm_sql.PpdmError, match=what):
        table_1.execute(
            f"CREATE RELEASE r FROM table_1 {RULES} GENERALIZE sex WHEN {condition} UNTIL k = 2"
        )
    assert table_1.releases() == []


@pytest.mark.parametrize(
    ("clause", "what"),
    [
        ("GENERALIZE zip WHEN diagnosis = 'HIV' UNTIL k = 2", "fewer than k = 2 persons"),
        ("GENERALIZE zip WHEN diagnosis = 'none' UNTIL k = 2", "no row of the source"),
        ("GENERALIZE diagnosis UNTIL k = 2", "only QUASI columns are generalized"),
        ("GENERALIZE weight UNTIL k = 2", "is not in the list of columns"),
        ("GENERALIZE zip, zip UNTIL k = 2", "generalized twice"),
        ("GENERALIZE zip USING nosuch UNTIL k = 2", "there is no hierarchy 'nosuch'"),
        ("GENERALIZE zip USING decades UNTIL k = 2", "RANGES cannot generalize 'zip'"),
        ("GENERALIZE zip UNTIL k = 1", "whole number, 2 or more"),
        ("GENERALIZE zip UNTIL k = 2.5", "whole number, 2 or more"),
        ("GENERALIZE zip UNTIL k = 2, k = 3", "given twice"),
        ("GENERALIZE zip UNTIL l(zip) = 2", "is about a SENSITIVE column"),
        ("GENERALIZE zip UNTIL l(nosuch) = 2", "is not in the list of columns"),
        ("GENERALIZE zip UNTIL t(diagnosis) <= 1.5", "between 0 and 1"),
        ("GENERALIZE zip UNTIL alpha(diagnosis) <= 0", "above 0"),
        ("GENERALIZE zip UNTIL entropy_l(diagnosis) = 1", "above 1"),
        ("GENERALIZE zip UNTIL recursive_l(diagnosis, 0) = 2", "c of recursive_l"),
        ("GENERALIZE zip UNTIL k = 2 WITH (loss = 'x')", "must be one of"),
        ("GENERALIZE zip USING over_25 UNTIL k = 2", "6 values are not in the hierarchy"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_made(
    table_1: Owner, clause: str, what: str
) -> None:
    with pytest.raises(ppdm_sql.PpdmError, match=what) as caught:
        table_1.execute(f"CREATE RELEASE r FROM table_1 {RULES} {clause}")
    assert caught.value.span is not None
    assert table_1.releases() == []
    owned = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'r1_v%'"
    assert table_1.execute(owned).fetchall() == [(0,)]


def test_a_treated_column_is_not_generalized(table_1: Owner) -> None:
    with pytest.raises(BindError, match="treated or generalized, not both"):
        table_1.execute(
            "CREATE RELEASE r FROM table_1 (zip QUASI AS suppress()) GENERALIZE zip UNTIL k = 2"
        )


def test_options_of_generalize_need_it(table_1: Owner) -> None:
    with pytest.raises(BindError, match="belongs to GENERALIZE"):
        table_1.execute("CREATE RELEASE r FROM table_1 (zip QUASI) WITH (loss = 'ilm')")


def test_a_group_of_columns_may_be_generalized_in_part(table_1: Owner) -> None:
    table_1.execute("CREATE RELEASE r FROM table_1 ((zip, sex) QUASI) GENERALIZE zip UNTIL k = 3")
    assert {zip_code for zip_code, _ in rows(table_1)} == {"*"}


def test_a_source_that_changes_while_it_is_read_is_refused(owner: Owner) -> None:
    owner.execute(
        "CREATE VIEW v AS SELECT i AS id, (random() * 100)::INT AS city FROM range(100) r(i)"
    )
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.execute(
            "CREATE RELEASE r FROM v (city QUASI) GENERALIZE city UNTIL k = 2"
            " SUPPRESS AT MOST 90 PERCENT"
        )
    assert owner.releases() == []


LOCAL = """
CREATE TABLE t AS SELECT i AS id, i AS age, DATE '2000-01-01' + i::INTEGER AS born,
    ['Single', 'Widowed', 'Married'][1 + i % 3] AS status FROM range(12) r(i);
CREATE HIERARCHY statuses AS TREE (
    ('Single', 'alone'), ('Widowed', 'alone'), ('Married', 'together'));
"""


def test_mondrian_takes_ranges_of_the_data(owner: Owner) -> None:
    owner.execute(
        LOCAL + "CREATE RELEASE r FROM t (id KEY, age QUASI) GENERALIZE age UNTIL k = 3"
        " WITH (method = 'mondrian')"
    )
    assert {row[0] for row in rows(owner)} == {"[0, 2]", "[3, 5]", "[6, 8]", "[9, 11]"}
    found = figures(owner)
    assert found["loss (ilm)"] == pytest.approx(2 / 11)
    assert found["classes"] == 4
    assert "nodes checked" not in found


def test_mondrian_takes_groups_of_trees_and_dates(owner: Owner) -> None:
    owner.execute(
        LOCAL + "CREATE RELEASE r FROM t (id KEY, status QUASI, born QUASI)"
        " GENERALIZE status USING statuses, born UNTIL k = 4 WITH (method = 'mondrian')"
    )
    shown = rows(owner)
    classes = {row: shown.count(row) for row in shown}
    assert min(classes.values()) >= 4
    assert {row[0] for row in shown} <= {"Single", "Widowed", "Married", "alone", "together", "*"}
    assert all(row[1].startswith(("[2000-01-", "2000-01-")) for row in shown)


def test_mondrian_loses_less_than_the_best_levels(owner: Owner) -> None:
    release = "CREATE RELEASE {} FROM t (id KEY, age QUASI) GENERALIZE age USING fives UNTIL k = 3"
    owner.execute(
        LOCAL + "CREATE HIERARCHY fives AS RANGES (5, 10);"
        f"{release.format('best')} WITH (loss = 'ilm');"
        f"{release.format('local')} WITH (method = 'mondrian')"
    )
    best, local = (figures(owner, name)["loss (ilm)"] for name in ("best", "local"))
    assert best is not None
    assert local is not None
    assert local < best


def test_mondrian_may_suppress_everything(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS age, i AS fixed FROM range(4) r(i);"
        "CREATE RELEASE r FROM t (age QUASI, fixed QUASI) GENERALIZE age UNTIL k = 2"
        " SUPPRESS AT MOST 100 PERCENT WITH (method = 'mondrian', suppressed = 'star')"
    )
    assert rows(owner) == [("*", None)] * 4


def test_mondrian_is_not_measured_by_levels(owner: Owner) -> None:
    with pytest.raises(BindError, match="no levels"):
        owner.execute(
            LOCAL + "CREATE RELEASE r FROM t (age QUASI) GENERALIZE age UNTIL k = 3"
            " WITH (method = 'mondrian', loss = 'precision')"
        )


def test_null_stays_null_or_becomes_a_star(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i >= 3 THEN i END AS age FROM range(9) r(i);"
        "CREATE RELEASE local FROM t (age QUASI) GENERALIZE age UNTIL k = 3"
        " WITH (method = 'mondrian');"
        "CREATE RELEASE best FROM t (age QUASI) GENERALIZE age UNTIL k = 3"
    )
    shown = [row[0] for row in owner.execute("FROM local").fetchall()]
    assert sorted(map(str, set(shown))) == ["None", "[3, 5]", "[6, 8]"]
    assert {row[0] for row in rows(owner, "best")} == {"*"}


def test_every_minimal_node_is_listed_with_its_loss(table_1: Owner) -> None:
    table_1.execute(
        f"CREATE RELEASE r FROM table_1 {RULES}"
        " GENERALIZE zip USING zip_digits, age USING over_25, sex"
        " WHEN diagnosis IN ('HIV', 'Cancer') UNTIL k = 2"
    )
    listed = table_1.execute("EXPLAIN HIERARCHIES FOR RELEASE r")
    assert listed.columns == ["zip", "age", "sex", "loss", "rows_suppressed"]
    (node,) = listed.fetchall()
    assert node == (4, 1, 1, pytest.approx((4 / 6 + 1 / 2 + 1) / 3), 0)
    table_1.execute("CREATE RELEASE q FROM table_1 (sex QUASI)")
    with pytest.raises(BindError, match="has no GENERALIZE"):
        table_1.execute("EXPLAIN HIERARCHIES FOR RELEASE q")


def test_a_group_is_not_read_back_as_if_it_were_a_value(table_1: Owner) -> None:
    table_1.execute(
        "CREATE RELEASE r FROM table_1 (zip QUASI, sex QUASI AS mapping(prefix => 'S'))"
        " GENERALIZE zip USING zip_digits UNTIL k = 2 SUPPRESS AT MOST 50 PERCENT"
    )
    answer = table_1.interpret("r", "zip = '42****'")
    assert not answer.is_complete
    assert any("no row shows it" in note for note in answer.notes)


def test_hierarchies_are_listed_replaced_and_dropped(table_1: Owner) -> None:
    shown = table_1.execute("SHOW HIERARCHIES").fetchall()
    assert [row[:4] for row in shown] == [
        ("decades", "RANGES", 4, None),
        ("over_25", "list of values", 2, 6),
        ("zip_digits", "SUPPRESS DIGITS RIGHT", None, None),
    ]
    with pytest.raises(BindError, match="already a hierarchy 'Decades'"):
        table_1.execute("CREATE HIERARCHY Decades AS RANGES (5)")
    table_1.execute("CREATE OR REPLACE HIERARCHY Decades AS RANGES (5)")
    assert table_1.execute("SHOW HIERARCHIES").fetchall()[0][:3] == ("Decades", "RANGES", 2)
    assert table_1.execute("DROP HIERARCHY decades").message == "dropped hierarchy decades"
    assert "there was no" in table_1.execute("DROP HIERARCHY IF EXISTS decades").message
    with pytest.raises(BindError, match="there is no hierarchy 'decades'"):
        table_1.execute("DROP HIERARCHY decades")


def test_a_used_hierarchy_is_not_dropped(table_1: Owner) -> None:
    table_1.execute(
        "CREATE RELEASE r FROM table_1 (age QUASI) GENERALIZE age USING decades UNTIL k = 2"
    )
    with pytest.raises(BindError, match=r"used by main\.r"):
        table_1.execute("DROP HIERARCHY decades")
    table_1.execute("DROP RELEASE r; DROP HIERARCHY decades")


def test_a_hierarchy_from_a_table_is_kept_when_the_table_goes(table_1: Owner) -> None:
    table_1.execute(
        "CREATE TABLE h AS SELECT DISTINCT diagnosis AS v, 'any' AS g FROM table_1;"
        "CREATE HIERARCHY from_table AS TABLE h; DROP TABLE h;"
        "CREATE RELEASE r FROM table_1 (diagnosis QUASI)"
        " GENERALIZE diagnosis USING from_table UNTIL k = 2"
    )
    assert rows(table_1) == [("any",)] * 6


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_hierarchy_from_a_file(table_1: Owner, tmp_path: Path, separator: str) -> None:
    file = tmp_path / "sex.csv"
    lines = ['"M";"a ""person"""', 'F;"a ""person"""']
    file.write_text("\n".join(line.replace(";", separator) for line in lines), encoding="utf-8")
    table_1.execute(
        f"CREATE HIERARCHY sexes AS FROM '{file}';"
        "CREATE RELEASE r FROM table_1 (sex QUASI) GENERALIZE sex USING sexes UNTIL k = 4"
    )
    assert rows(table_1) == [('a "person"',)] * 6


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"M;x\nF\n", "cannot be read as a hierarchy"),
        (b"\xff\xfe;x\n", "cannot be read as a hierarchy"),
        (b"", "cannot be read as a hierarchy"),
        (b"M;x\nM;y\n", "1 value listed more than once"),
        (b"sex;any\nM;*\nF;*\n", "looks like a header"),
        (b"\xef\xbb\xbfvalue;group;\n1;low;*\n2;low;*\n", "looks like a header"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused(
    owner: Owner, tmp_path: Path, content: bytes, what: str
) -> None:
    file = tmp_path / "h.csv"
    file.write_bytes(content)
    with pytest.raises(ppdm_sql.PpdmError, match=what):
        owner.execute(f"CREATE HIERARCHY h AS FROM '{file}'")
    assert owner.execute("SHOW HIERARCHIES").fetchall() == []


@pytest.mark.parametrize(
    "content",
    ["M;*\nF;*\n", "M;person\nF;*\n", "sex;any\nM;x\nF;y\n", "*\nM\nF\n", "M;x\nF;*\nD;y\n"],
)
def test_a_first_line_that_may_be_a_value_is_one(
    owner: Owner, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "h.csv"
    file.write_text(content)
    owner.execute(f"CREATE HIERARCHY h AS FROM '{file}'")
    assert owner.execute("SHOW HIERARCHIES").fetchall()[0][3] == content.count("\n")


def test_a_file_that_is_not_there_is_said(owner: Owner) -> None:
    with pytest.raises(BindError, match="no such file"):
        owner.execute("CREATE HIERARCHY h AS FROM '/nowhere/h.csv'")
    with pytest.raises(ppdm_sql.PpdmError, match="the table cannot be read"):
        owner.execute("CREATE HIERARCHY h AS TABLE nowhere")


def test_rows_of_a_tree_have_one_length(owner: Owner) -> None:
    with pytest.raises(BindError, match="different lengths"):
        owner.execute("CREATE HIERARCHY h AS TREE (('a', 'b'), ('c', 'd', 'e'))")


HIGH = """
CREATE TABLE t AS SELECT i AS id, 20 + i AS age, CASE WHEN i < 5 THEN '{high}' ELSE '{low}' END::{type}
    AS d FROM range(10) r(i);
CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);
"""
WHEN = "CREATE RELEASE r.x FROM t (id KEY, age QUASI, d SENSITIVE AS suppress())"


@pytest.mark.parametrize(
    "side",
    ["d", "(d)", "trim(d)", "coalesce(d, 'x')", "CAST(d AS VARCHAR)", "coalesce(trim(d), d)"],
)
def test_a_condition_does_not_depend_on_the_collation_of_its_reader(
    owner: Owner, side: str
) -> None:
    owner.execute("SET default_collation = 'NOCASE'")
    owner.execute(HIGH.format(high="HIV", low="flu", type="VARCHAR"))
    with pytest.raises(BindError, match="read this condition differently"):
        owner.execute(f"{WHEN} GENERALIZE age USING ages WHEN {side} = 'hiv' UNTIL k = 3")
    owner.execute(f"{WHEN} GENERALIZE age USING ages WHEN {side} IN ('HIV', 'x') UNTIL k = 3")
    owner.execute("RESET default_collation")
    assert sum(age.startswith("[") for age, _ in rows(owner, "r.x")) == 5


@pytest.mark.parametrize("condition", ["d > TIMESTAMPTZ '2020-01-01 05:00'", "d::TIMESTAMPTZ > d"])
def test_a_condition_on_a_zone_is_refused(owner: Owner, condition: str) -> None:
    owner.execute(HIGH.format(high="2020-01-01", low="2021-01-01", type="TIMESTAMP"))
    with pytest.raises(BindError, match="depends on the time zone"):
        owner.execute(f"{WHEN} GENERALIZE age USING ages WHEN {condition} UNTIL k = 3")


def test_a_decimal_of_a_condition_is_the_one_that_duckdb_reads(owner: Owner) -> None:
    owner.execute(HIGH.format(high="0.9", low="0.2", type="FLOAT"))
    owner.execute(f"{WHEN} GENERALIZE age USING ages WHEN d >= 0.7 UNTIL k = 3")
    owner.execute("INSERT INTO t VALUES (77, 48, 0.7::FLOAT)")
    assert owner.execute("SELECT count(*) FROM t WHERE d >= 0.7").fetchall() == [(6,)]
    assert "48" not in {age for age, _ in rows(owner, "r.x")}
    assert owner.releases()[0].waiting == 1


def test_persons_are_equal_as_duckdb_says(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t (id VARCHAR COLLATE NOCASE, age INT, d INT);"
        "INSERT INTO t VALUES ('p', 21, 1), ('P', 22, 2), ('q', 31, 1), ('s', 32, 2);"
        "CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);"
        "CREATE RELEASE r.x FROM t (id KEY, age QUASI, d SENSITIVE)"
        " GENERALIZE age USING ages UNTIL k = 2"
    )
    assert {age for age, _ in rows(owner, "r.x")} == {"[20, 40)"}


def test_a_value_that_cannot_be_cast_is_high_and_in_no_error(owner: Owner) -> None:
    owner.execute(HIGH.format(high="7", low="1", type="VARCHAR"))
    owner.execute(f"{WHEN} GENERALIZE age USING ages WHEN CAST(d AS INT) > 5 UNTIL k = 3")
    owner.execute("INSERT INTO t VALUES (99, 22, 'CANARY'), (98, 48, 'CANARY')")
    shown = owner.connection.execute("FROM r.x").fetchall()
    assert len(shown) == 11
    assert owner.releases()[0].waiting == 1


@pytest.mark.parametrize(
    "values",
    ["(['a', 'b'])[1 + i % 2]::ENUM('a', 'b')", "([0.0, '-0.0'::DOUBLE])[1 + i % 2]",
     "(['a', 'A'])[1 + i % 2]", "(['infinity', '2020-01-01'])[1 + i % 2]::DATE"],
)  # fmt: skip
@pytest.mark.parametrize("setting", ["", "SET default_collation = 'NOCASE';"])
def test_odd_sensitive_values_are_counted(owner: Owner, values: str, setting: str) -> None:
    owner.execute(
        f"{setting} CREATE TABLE t AS SELECT i AS id, i // 4 AS age, {values} AS d"
        " FROM range(8) r(i);"
        "CREATE RELEASE r.x FROM t (id KEY, age QUASI, d SENSITIVE)"
        " GENERALIZE age UNTIL k = 2, alpha(d) <= 1"
    )
    assert len(rows(owner, "r.x")) == 8


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_infinite_dates_are_generalized(owner: Owner, method: str) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i < 3 THEN DATE 'infinity' ELSE DATE '2020-01-01' END"
        " AS born FROM range(8) r(i);"
        "CREATE RELEASE r.x FROM t (born QUASI) GENERALIZE born UNTIL k = 3"
        f" WITH (method = '{method}')"
    )
    assert len(rows(owner, "r.x")) == 8


def test_a_condition_may_have_no_value(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 20 + i AS age, i < 5 AS b FROM range(10) r(i);"
        "CREATE RELEASE r.x FROM t (id KEY, age QUASI) GENERALIZE age WHEN b UNTIL k = 3"
    )
    assert [age for (age,) in rows(owner, "r.x")].count("*") == 5


def test_texts_are_told_apart_letter_by_letter(owner: Owner) -> None:
    owner.execute(
        "SET default_collation = 'NOCASE'; CREATE TABLE t (id INT, g VARCHAR, a INT);"
        "INSERT INTO t VALUES (1, 'a', 1), (2, 'A', 1), (3, 'a', 2), (4, 'b', 3), (5, 'b', 3);"
        "CREATE RELEASE r.x FROM t (id KEY, g QUASI, a SENSITIVE) GENERALIZE g UNTIL k = 2"
        " SUPPRESS AT MOST 40 PERCENT"
    )
    assert len(rows(owner, "r.x")) == 4
    assert figures(owner, "r.x")["rows suppressed"] == 1
    assert owner.releases()[0].waiting == 0


def test_columns_of_which_nothing_is_left_are_named(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i AS zip, i % 2 AS sex FROM range(40) r (i)")
    made = "CREATE OR REPLACE RELEASE r.a FROM t (id KEY, zip QUASI, sex QUASI) GENERALIZE zip, sex UNTIL k = {}"
    assert owner.execute(made.format(5)).message.endswith("; all * in every treated row: zip")
    assert owner.execute(made.format(30)).message.endswith("; all * in every treated row: zip, sex")
