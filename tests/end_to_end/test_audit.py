"""AUDIT RELEASE and `ppdm audit`, from a script to figures, tables, files and exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.audit import assembly
from ppdm_sql.audit.attacks import ATTACKS
from ppdm_sql.audit.report.requirements import FIGURES
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import AuditRelease
from ppdm_sql.language.unparse import unparse
from ppdm_sql.names import Name, QualifiedName
from tests.attack.canaries import found_in, plant, secrets_of
from tests.end_to_end.test_cli import Ppdm

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

PATIENTS = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients AS
SELECT i AS id,
    (40_000 + hash(i, 'zip') % 20)::VARCHAR AS zip,
    (20 + hash(i, 'age') % 60)::INTEGER AS age,
    CASE WHEN hash(i, 'ill') % 10 < 1 THEN 'HIV' WHEN hash(i, 'ill') % 10 < 4 THEN 'Flu' ELSE 'Cough' END AS illness,
    round(1000 + hash(i, 'pay') % 3000 + 20 * (hash(i, 'age') % 60), 2)::DECIMAL(10, 2) AS pay,
    (hash(i, 'bmi') % 300)::DOUBLE / 10 AS bmi,
    (hash(i, 'pulse') % 900)::DOUBLE / 10 AS pulse,
    DATE '2020-01-01' + (hash(i, 'day') % 900)::INTEGER AS day
FROM range(1500) AS numbers (i);
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY ages AS RANGES (10, 20, 40);
"""
RULES = """
    id KEY AS pseudonym(),
    zip QUASI, age QUASI,
    illness SENSITIVE AS mapping(),
    pay SENSITIVE AS noise(normal(0, 500)),
    (bmi, pulse) SENSITIVE AS rotation(),
    day NEUTRAL AS translation()
"""
GROUPED = f"""
CREATE OR REPLACE RELEASE research.patients FROM clinic.patients ({RULES})
GENERALIZE zip USING digits, age USING ages UNTIL k = 5
"""
SCBA = """
CREATE RELEASE research.delicate FROM clinic.patients (
    id KEY, zip QUASI, age QUASI, illness SENSITIVE AS mapping()
) GENERALIZE zip USING digits, age USING ages WHEN illness = 'HIV' UNTIL k = 3
"""


@pytest.fixture
def clinic(owner: Owner) -> Owner:
    owner.execute(PATIENTS)
    owner.execute(GROUPED)
    return owner


def test_statements_are_read_and_written_back() -> None:
    (full,) = parse_script("audit release a.r AGAINST b.t INTO s TO 'r''s.html'")
    assert full == AuditRelease(
        QualifiedName.of("a", "r"), QualifiedName.of("b", "t"), Name("s"), "r's.html"
    )
    (short,) = parse_script('AUDIT RELEASE "into"')
    assert short == AuditRelease(QualifiedName.of("into"))
    for statement in (full, short):
        assert parse_script(unparse(statement)) == [statement]


def test_a_generalized_release_reaches_its_k_and_noise_is_fixed(clinic: Owner) -> None:
    report = clinic.audit("research.patients", is_internal=True)
    (k,) = report.values("k").values()
    assert k is not None
    assert k >= 5
    assert report.values("prosecutor")[""] == pytest.approx(1 / k)
    assert report.values("averaging") == {"pay": 0.0}
    assert report.values("known_input")["bmi, pulse"] == 1
    assert report.values("frequency")["illness"] == 1
    assert report.values("known_pairs_2")["day"] == pytest.approx(1)
    assert (report.values("known_pairs_20")["pay"] or 0) < 0.1
    assert report.values("precision")[""] is not None
    assert report.stamp.rows == report.stamp.persons == 1500
    assert report.left_out == ()
    known = {*FIGURES, *(attack.name for attack in ATTACKS)}
    assert {f.name for f in report.figures} | {a.attack for a in report.attacks} <= known


@pytest.mark.parametrize("treatment", ["translation()", "scaling()", "rotation()", "hybrid()"])
def test_few_known_rows_undo_a_group(owner: Owner, treatment: str) -> None:
    columns = [f"c{i}" for i in range(5)]
    values = ", ".join(f"(hash(i, '{name}') % 100_000) / 100 AS {name}" for name in columns)
    owner.execute(
        f"CREATE TABLE t AS SELECT i AS id, {values} FROM range(500) AS numbers (i);"
        f"CREATE RELEASE r FROM t (id KEY, ({', '.join(columns)}) SENSITIVE AS {treatment})"
    )
    report = owner.audit("r", is_internal=True)
    with_two = report.values("known_pairs_2")[", ".join(columns)] or 0
    if treatment in ("translation()", "scaling()"):
        assert with_two == pytest.approx(1, abs=0.02)
    elif treatment == "rotation()":
        assert with_two < 0.5, "every column is made of all five"
    assert report.values("known_input") == {", ".join(columns): pytest.approx(1)}


def test_figures_agree_with_what_the_release_says_of_itself(clinic: Owner) -> None:
    report = clinic.audit("research.patients")
    said = {figure.figure: figure.value for figure in clinic.figures("research.patients")}
    assert report.values("k")[""] == said["smallest class"]
    assert report.values("classes")[""] == said["classes"]


def test_what_was_verified_is_what_is_measured(owner: Owner) -> None:
    """Targets on sensitive columns, with records left out: the same figures from both sides."""
    owner.execute(PATIENTS)
    owner.execute(
        "CREATE RELEASE r FROM clinic.patients (id KEY, zip QUASI, age QUASI, illness SENSITIVE AS"
        " mapping(), pay SENSITIVE AS graded_grouping(bands => 4)) GENERALIZE zip USING digits,"
        " age USING ages UNTIL k = 3, l(illness) = 2, entropy_l(illness) = 1.2, t(pay) <= 0.4,"
        " alpha(illness) <= 0.95 SUPPRESS AT MOST 20 PERCENT"
    )
    said = {figure.figure: figure.value for figure in owner.figures("r")}
    report = owner.audit("r", is_internal=True)
    for name, column in (
        ("l", "illness"),
        ("entropy_l", "illness"),
        ("t", "pay"),
        ("alpha", "illness"),
    ):
        assert report.values(name)[column] == pytest.approx(said[f"{name}({column})"]), name
    assert report.stamp.rows == 1500 - (said["rows suppressed"] or 0)
    assert report.values("precision")[""] == said["precision of the release"]


def test_a_statement_answers_verdict_figures_and_attacks(clinic: Owner) -> None:
    result = clinic.execute("AUDIT RELEASE research.patients")
    assert len(result.message.splitlines()) == 3
    assert result.columns == ["part", "name", "about", "value", "sentence"]
    assert result.more is not None
    assert result.more.columns[0] == "attack"
    assert len(result.more.fetchall()) > 10


def test_scba_says_what_it_leaves_open(clinic: Owner) -> None:
    with pytest.warns(ppdm_sql.PrivacyWarning, match="unique"):
        clinic.execute(SCBA)
    report = clinic.audit("research.delicate", is_internal=True)
    ((alone,),) = clinic.execute(
        "SELECT count(*) FROM (SELECT count(*) AS n FROM clinic.patients WHERE illness <> 'HIV'"
        " GROUP BY zip, age) WHERE n = 1"
    ).fetchall()
    ((low,),) = clinic.execute(
        "SELECT count(*) FROM clinic.patients WHERE illness <> 'HIV'"
    ).fetchall()
    assert report.values("untouched_unique_share")[""] == pytest.approx(alone / low)
    assert (report.values("k_high")[""] or 0) >= 3
    assert report.values("high_only") == {"illness": 1.0}
    ((absent,),) = clinic.execute(
        "SELECT count(*) FILTER ((zip, age) NOT IN (SELECT (zip, age) FROM clinic.patients WHERE"
        " illness <> 'HIV')) / count(*) FROM clinic.patients WHERE illness = 'HIV'"
    ).fetchall()
    assert report.values("absence")[""] == pytest.approx(absent)
    assert report.values("k")[""] == 1
    assert report.values("untouched")[""] == pytest.approx(low / 1500)
    assert "of the rows are released ungeneralized" in report.verdict[2]


def test_t_is_measured_by_the_tree_of_the_target(owner: Owner) -> None:
    """What lies close in the tree is not far apart: by plain distance the figure is larger."""
    owner.execute(PATIENTS)
    owner.execute(
        "CREATE HIERARCHY ills AS TREE (('HIV', 'grave'), ('Flu', 'mild'), ('Cough', 'mild'));"
        "CREATE RELEASE r FROM clinic.patients (id KEY, zip QUASI, age QUASI, illness SENSITIVE AS"
        " mapping()) GENERALIZE zip USING digits, age USING ages"
        " UNTIL k = 3, t(illness USING ills) <= 0.4;"
        "CREATE RELEASE bare FROM r (zip QUASI, age QUASI, illness SENSITIVE)"
    )
    said = {figure.figure: figure.value for figure in owner.figures("r")}
    report = owner.audit("r", is_internal=True)
    (t,) = report.values("t").values()
    assert t == pytest.approx(next(v for name, v in said.items() if name.startswith("t(")))
    (plain,) = owner.audit("bare", is_internal=True).values("t").values()
    assert t is not None
    assert plain is not None
    assert t < plain
    (told,) = [f.sentence for f in report.figures if f.name == "t"]
    assert "by the hierarchy" in told


def test_a_key_that_leaves_as_it_is_is_told(clinic: Owner) -> None:
    with pytest.warns(ppdm_sql.PrivacyWarning, match="the KEY 'id' is released unchanged"):
        clinic.execute(
            "CREATE RELEASE r FROM clinic.patients (id KEY AS keep(), zip QUASI AS suppress())"
        )
    report = clinic.audit("r")
    assert report.values("keys_shown") == {"id": 1.0}
    assert report.verdict[0].startswith("id, the KEY, is released unchanged")
    assert clinic.audit("research.patients").values("keys_shown") == {"id": 0.0}


def test_no_count_below_five_can_be_worked_out(owner: Owner) -> None:
    """Three people are alone and two of four are in a pair: the report for others tells neither."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 3 THEN i WHEN i < 5 THEN 90 ELSE 99 END AS"
        " age, 10 + i % 70 AS visits, i % 3 AS illness, i AS pay FROM range(203) AS numbers (i);"
        "CREATE TABLE known AS FROM t WHERE id < 100;"
        "CREATE RELEASE r FROM t (id KEY, age QUASI, illness SENSITIVE AS mapping(), visits"
        " SENSITIVE AS bit_plus(), pay SENSITIVE AS graded_grouping(bands => 5))"
    )
    exact = owner.audit("r", against="known", is_internal=True)
    assert exact.values("unique_share") == {"": pytest.approx(3 / 203)}
    assert exact.class_sizes[0].persons == 3
    shown = owner.audit("r", against="known")
    assert shown.values("unique_share") == {"": 5 / 200}
    for known, figure in zip(exact.figures, shown.figures, strict=True):
        is_share = figure.sentence.startswith("share of")
        assert is_share <= (known.of is not None or figure.name in _NO_COUNTS), figure.name
        assert figure.of is None
        if known.of is not None and figure.value is not None:
            fives = figure.value * (known.of // 5)
            assert abs(fives - round(fives)) < 0.02 or figure.value == 1, figure
    for attack in shown.attacks:
        assert attack.of is None
        is_told = attack.share * 20 == pytest.approx(round(attack.share * 20))
        assert is_told or attack.share <= attack.chance, attack
    assert [size.persons for size in shown.class_sizes][:2] == [None, None]
    assert all(set_.unique_share * 203 > 4.9 for set_ in shown.singling)


def test_numbers_closer_than_doubles_are_told_apart(owner: Owner) -> None:
    """Twenty numbers that are one as a double, dates beyond Arrow's, infinities of all kinds."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 1152921504606846976 + i AS big,"
        " (12345678901234567 + i * 0.01)::DECIMAL(20, 2) AS exact, 1e30::HUGEINT + i AS huge,"
        " CASE i % 4 WHEN 0 THEN 'inf' WHEN 1 THEN '-inf' WHEN 2 THEN 'nan' END::DOUBLE AS odd,"
        " CASE i WHEN 1 THEN DATE '400000-05-17' WHEN 2 THEN DATE 'infinity' ELSE"
        " DATE '2020-01-01' + i::INTEGER END AS day,"
        " CASE i WHEN 2 THEN 'infinity'::TIMESTAMP_S ELSE '2020-01-01' END::TIMESTAMP_S AS hour"
        " FROM range(20) AS numbers (i)"
    )
    for name, classes in (
        ("big", 20), ("exact", 20), ("huge", 20), ("odd", 4), ("day", 20), ("hour", 2)
    ):  # fmt: skip
        owner.execute(f"CREATE OR REPLACE RELEASE r FROM t (id KEY, {name} QUASI)")
        assert owner.audit("r").values("classes") == {"": classes}, name
        owner.execute(f"CREATE OR REPLACE RELEASE r FROM t (id KEY, {name} SENSITIVE)")
        report = owner.audit("r")
        assert report.values("l") == {name: classes}, name
        assert report.values("t") == {name: 0}, name


def test_collations_and_missing_keys_change_no_figure(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i >= 10 THEN i END AS id, 1 AS town,"
        " CASE WHEN i < 10 THEN 5 ELSE i % 2 END AS visits FROM range(20) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, town QUASI, visits SENSITIVE);"
        "CREATE TABLE texts (id INTEGER, ill VARCHAR COLLATE NOCASE);"
        "INSERT INTO texts SELECT i, ['a', 'A', 'b'][1 + i % 3] FROM range(9) AS numbers (i);"
        "CREATE RELEASE nocase FROM texts (id KEY, ill SENSITIVE);"
        "CREATE TABLE named (id VARCHAR COLLATE NOCASE, town INTEGER);"
        "INSERT INTO named SELECT ['a', 'A'][1 + i % 2] || i // 2, 1 FROM range(10) AS n (i);"
        "CREATE RELEASE people FROM named (id KEY, town QUASI);"
        "CREATE TABLE odd AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN INTERVAL 1 MONTH ELSE"
        " INTERVAL 30 DAY END AS span, [CASE WHEN i % 2 = 0 THEN 0.0::DOUBLE ELSE -0.0::DOUBLE END]"
        " AS list FROM range(10) AS n (i);"
        "CREATE RELEASE odder FROM odd (id KEY, span SENSITIVE, list SENSITIVE)"
    )
    assert owner.audit("people").values("k") == {"": 5}
    assert owner.audit("odder").values("l") == {"span": 2, "list": 2}
    assert owner.audit("r").values("t") == {"visits": 0}  # one class, which is the whole source
    assert owner.audit("nocase").values("l") == {"ill": 3}


def test_records_kept_as_stars_are_told_from_those_whose_group_is_a_star(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 3 THEN 'X' ELSE 'F' END AS sex,"
        " (40000 + i * 137)::VARCHAR AS zip FROM range(60) AS numbers (i)"
    )
    script = (
        "CREATE OR REPLACE RELEASE r FROM t (id KEY, sex QUASI, zip QUASI) GENERALIZE zip"
        " UNTIL k = 5 SUPPRESS AT MOST 10 PERCENT"
    )
    owner.execute(script)
    dropped = owner.audit("r", is_internal=True)
    owner.execute(f"{script} WITH (suppressed = 'star')")
    starred = owner.audit("r", is_internal=True)
    assert dropped.values("k") == starred.values("k") == {"": 57}
    assert dropped.values("discernibility") == starred.values("discernibility")


def test_the_verdict_counts_rows_that_are_put_together(owner: Owner) -> None:
    """Ten in every class, but only two people were twice in the same one."""
    owner.execute(
        "CREATE TABLE t AS SELECT i // 2 AS id, CASE WHEN i < 20 THEN (i // 2) % 2 ELSE"
        " (i // 4 + i % 2) % 2 END AS town FROM range(80) AS n (i);"
        "CREATE RELEASE r FROM t (id KEY AS pseudonym(), town QUASI)"
    )
    report = owner.audit("r", is_internal=True)
    (k,), (linked,) = report.values("k").values(), report.values("k_linked").values()
    assert k is not None
    assert linked is not None
    assert 1 < linked < k
    assert f"with a probability of {100 / linked:.3g}\u00a0%" in report.verdict[0]


def test_untouched_people_are_unique_however_often_they_come(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i // 2 AS id, i // 2 AS town, CASE WHEN i < 20 THEN 'HIV' ELSE"
        " 'Flu' END AS ill FROM range(80) AS n (i)"
    )
    with pytest.warns(ppdm_sql.PrivacyWarning):
        owner.execute(
            "CREATE RELEASE r FROM t (id KEY AS keep(), town QUASI, ill SENSITIVE)"
            " GENERALIZE town WHEN ill = 'HIV' UNTIL k = 3"
        )
    assert owner.audit("r").values("untouched_unique_share") == {"": 1.0}
    told = {figure.figure: figure.value for figure in owner.figures("r")}
    assert told["unique untouched rows"] == 60


def test_classes_of_one_value_are_told_first(owner: Owner) -> None:
    """k holds, and nobody needs to be found in a class that shares its diagnosis."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 10 AS town, CASE WHEN i < 40 THEN 'Flu' ELSE"
        " 'Flu ' || i % 2 END AS ill FROM range(100) AS n (i);"
        " CREATE RELEASE r FROM t (id KEY, town QUASI, ill SENSITIVE)"
    )
    report = owner.audit("r")
    assert report.values("homogeneous") == {"ill": 0.4}
    assert report.verdict[0].endswith(
        "; the class of 40\u00a0% of the people has one ill only and so reveals it."
    )


def test_decimals_of_noise_tell_whose_rows_are_one_persons(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i // 4 AS id, i % 8 AS town, i AS bill FROM range(400) AS n (i)"
    )
    release = "CREATE OR REPLACE RELEASE r FROM t (id KEY, town QUASI, bill SENSITIVE AS {})"
    with pytest.warns(ppdm_sql.PrivacyWarning, match="differences between them"):
        owner.execute(release.format("noise(normal(0, 9), per => 'person', round => false)"))
    report = owner.audit("r")
    assert (report.values("k")[""], report.values("k_linked")[""]) == (50, 50)
    told = next(figure for figure in report.figures if figure.name == "k_linked")
    assert told.sentence.endswith("put together by the decimals of bill, show the same")
    with pytest.warns(ppdm_sql.PrivacyWarning):
        owner.execute(release.format("noise(normal(0, 9), per => 'person')"))
    assert owner.audit("r").values("k_linked") == {}  # rounded, they tell nothing


def test_columns_of_nothing_but_null_show_nothing(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT NULL::INTEGER AS id, NULL::VARCHAR AS a, i AS b FROM range(9)"
        " AS n (i); CREATE RELEASE r FROM t (id KEY AS pseudonym(), a QUASI, b NEUTRAL)"
    )
    report = owner.audit("r")
    assert report.values("keys_shown") == {"id": 0}
    assert {column.name: column.risk for column in report.columns} == {"a": 0, "b": 1}


def test_rows_of_one_person_are_seen_together(owner: Owner) -> None:
    """Whoever comes twice is found by the pair of visits, and by the visit outside WHEN."""
    owner.execute(
        "CREATE TABLE visits AS SELECT i // 2 AS person, CASE WHEN i % 2 = 0 THEN 'HIV' ELSE 'Flu'"
        " END AS ill, '4000' || (hash(i) % 10) AS zip FROM range(400) AS numbers (i);"
        "CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT"
    )
    rules = "(person {}, zip QUASI, ill SENSITIVE AS mapping())"
    clause = "GENERALIZE zip USING digits WHEN ill = 'HIV' UNTIL k = 150"
    with pytest.warns(ppdm_sql.PrivacyWarning, match="linked by the released KEY .person.: 200"):
        owner.execute(f"CREATE RELEASE r FROM visits {rules.format('KEY AS pseudonym()')} {clause}")
    report = owner.audit("r", is_internal=True)
    assert report.values("high_linked") == {"": 1.0}
    assert "100\u00a0% of its rows can be tied to untouched rows" in report.verdict[0]
    owner.execute(f"CREATE RELEASE s FROM visits {rules.format('KEY')} {clause}")
    assert owner.audit("s").values("high_linked") == {}
    owner.execute(f"CREATE RELEASE bare FROM visits {rules.format('KEY AS pseudonym()')}")
    together = owner.audit("bare", is_internal=True)
    ((alone,),) = owner.execute(
        "SELECT count(*) / 200 FROM (SELECT zips FROM (SELECT list_sort(list(zip)) AS zips FROM"
        " visits GROUP BY person) GROUP BY zips HAVING count(*) = 1)"
    ).fetchall()
    assert together.values("linked_unique_share") == {"": pytest.approx(alone)}
    assert "are alone in what all their rows show" in together.verdict[0]


def test_a_comma_in_a_name_mixes_up_no_columns(owner: Owner) -> None:
    owner.execute(
        'CREATE TABLE t AS SELECT i AS id, hash(i, 1) % 1000 AS "a, b", hash(i, 2) % 1000 AS a,'
        " hash(i, 3) % 1000 AS b FROM range(500) AS numbers (i);"
        'CREATE RELEASE r FROM t (id KEY, "a, b" SENSITIVE AS translation(),'
        " (a, b) SENSITIVE AS noise(normal(0, 500), normal(0, 500)))"
    )
    report = owner.audit("r", require="known_pairs_5(a, b)<=0.5")
    risks = {column.name: column.risk for column in report.columns}
    assert risks["a, b"] == 1
    assert risks["a"] < 0.5
    assert [outcome.is_met for outcome in report.outcomes] == [False]


def test_columns_of_any_name_stand_on_the_page(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        'CREATE TABLE t AS SELECT i AS "x{}(y)", i AS "{0.__class__}", i AS "<b>, $z" FROM range(9)'
        ' AS n (i); CREATE RELEASE r FROM t ("x{}(y)" QUASI, "{0.__class__}" NEUTRAL, "<b>, $z"'
        " SENSITIVE)"
    )
    owner.execute(f"AUDIT RELEASE r TO '{tmp_path / 'r.html'}'")
    page = (tmp_path / "r.html").read_text()
    assert "x{}(y): original distribution" in page
    assert "<b>, $z" not in page


def test_a_report_and_the_rows_give_no_parameter_away(owner: Owner, tmp_path: Path) -> None:
    """What undid them: drifts are constants, Sec is a factor, a correlation is an angle."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 20 + hash(i, 1) % 70 AS age, 1000 + hash(i, 2) % 9000"
        " AS pay, (hash(i, 3) % 300) / 10.0 AS bmi, (hash(i, 4) % 900) / 10.0 AS pulse,"
        " hash(i, 5) % 1000 AS score FROM range(500) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, age QUASI AS translation(), pay SENSITIVE AS scaling(),"
        " (bmi, pulse) SENSITIVE AS rotation(), score SENSITIVE AS noise(normal(0, 37)))"
    )
    owner.execute(f"AUDIT RELEASE r TO '{tmp_path / 'r.json'}'")
    document = json.loads((tmp_path / "r.json").read_text())
    told = {(f["name"], f["about"]): f["value"] for f in document["figures"]}
    for (name, about), value in told.items():
        if name in {"sec", "mean_drift", "quantile_drift", "ks", "wasserstein", "js", "il1s"}:
            assert value is None, (name, about)
        if name in {"covariance", "eigenvalues", "correlations"}:
            assert value is None, (name, about)
        if name == "correlation" and about in {"bmi", "pulse"}:
            assert value is None
        elif name == "correlation":
            assert value * 10 == pytest.approx(round(value * 10)), about
        if name == "changed" and about == "score":
            assert value is None
    kinds = {column["name"]: column["before"]["kind"] for column in document["columns"]}
    assert {name for name, kind in kinds.items() if kind == "withheld"} == {"bmi", "pulse", "score"}
    for attack in document["attacks"]:
        is_told = attack["share"] * 20 == pytest.approx(round(attack["share"] * 20))
        assert is_told or attack["share"] <= attack["chance"]
    exact = owner.audit("r", is_internal=True)
    assert exact.values("mean_drift")["age"] is not None


def test_a_high_class_that_nobody_sees_is_not_counted_for_others(owner: Owner) -> None:
    """At level 0 no cell is generalized: how many are of the class would tell which aliases are."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 2 AS town, CASE WHEN i % 10 = 0 THEN 'HIV'"
        " WHEN i % 10 < 4 THEN 'Flu' ELSE 'Gout' END AS ill FROM range(200) AS n (i)"
    )
    owner.execute(
        "CREATE RELEASE r FROM t (id KEY, town QUASI, ill SENSITIVE AS mapping())"
        " GENERALIZE town WHEN ill = 'HIV' UNTIL k = 5"
    )
    names = {"k_high", "untouched", "untouched_unique_share", "absence", "high_only", "divergence"}
    for is_internal in (False, True):
        report = owner.audit("r", is_internal=is_internal)
        for figure in report.figures:
            if figure.name in names:
                assert figure.is_withheld == (not is_internal), figure.name
        assert report.verdict[0].startswith("Only the high class is protected. The release") == (
            not is_internal
        )


def test_how_many_were_suppressed_cannot_be_worked_out(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 2 THEN 90 + i ELSE i % 4 END AS town"
        " FROM range(200) AS n (i); CREATE RELEASE r FROM t (id KEY, town QUASI)"
        " GENERALIZE town UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT"
    )
    report = owner.audit("r")
    assert report.values("discernibility") == {"": None}
    assert report.values("suppressed")[""] == pytest.approx(5 / 200)
    assert "2.5\u00a0% of the rows are suppressed" in report.verdict[2]
    exact = owner.audit("r", is_internal=True)
    assert exact.values("suppressed") == {"": 2 / 200}
    assert (exact.values("discernibility")[""] or 0) >= 2 * 200


def test_requirements_are_judged_for_the_owner_alone(owner: Owner, tmp_path: Path) -> None:
    """Asked well, met and not met tell the exact figure: files for others do not say them."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 5 AS age FROM range(23) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, age QUASI)"
    )
    for is_internal in (False, True):
        places = [tmp_path / "r.json", tmp_path / "r.html"]
        report = owner.audit("r", require="k>=2", to=places, is_internal=is_internal)
        assert [outcome.is_met for outcome in report.outcomes] == [True]
        assert bool(json.loads((tmp_path / "r.json").read_text())["outcomes"]) == is_internal
        assert ("<h2>Requirements" in (tmp_path / "r.html").read_text()) == is_internal


_NO_COUNTS = {"association", "marketer", "misclassification", "rules"}


def test_suppressed_records_are_exempt(owner: Owner) -> None:
    owner.execute(PATIENTS)
    owner.execute(
        "INSERT INTO clinic.patients (id, zip, age, illness) VALUES (9999, '9', 99, 'Flu')"
    )
    owner.execute(
        "CREATE RELEASE r FROM clinic.patients (id KEY, zip QUASI, age QUASI, illness SENSITIVE)"
        " GENERALIZE zip USING digits, age USING ages UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT"
        " WITH (suppressed = 'star')"
    )
    report = owner.audit("r")
    assert report.stamp.rows == 1501
    assert (report.values("k")[""] or 0) >= 5
    assert 0 < (owner.audit("r", is_internal=True).values("suppressed")[""] or 0) <= 0.05


def test_a_background_finds_one_of_each_class(clinic: Owner) -> None:
    clinic.execute(
        "CREATE RELEASE research.bare FROM clinic.patients (id KEY, zip QUASI, age QUASI,"
        " illness SENSITIVE AS mapping());"
        "CREATE TABLE clinic.voters AS SELECT id, zip, age::VARCHAR AS age FROM clinic.patients"
    )
    report = clinic.audit("research.bare", against="clinic.voters", is_internal=True)
    ((classes,),) = clinic.execute(
        "SELECT count(DISTINCT (zip, age)) / 1500 FROM clinic.patients"
    ).fetchall()
    # One person of each class, if lots are drawn: the voters are the patients.
    assert report.values("linking") == {"zip, age": pytest.approx(classes)}
    assert report.stamp.against == "clinic.voters"
    grouped = clinic.audit("research.patients", against="clinic.voters", is_internal=True)
    assert grouped.values("linking") == {"zip, age": pytest.approx(grouped.values("marketer")[""])}
    assert grouped.values("journalist") == grouped.values("prosecutor")


def test_people_of_a_background_fit_groups_whoever_was_released(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (30 + i % 5)::SMALLINT AS age FROM range(40) AS n (i);"
        "CREATE HIERARCHY tens AS RANGES (10);"
        "CREATE RELEASE r FROM t (id KEY, age QUASI) GENERALIZE age USING tens UNTIL k = 20;"
        "CREATE TABLE everybody AS"
        " SELECT (30 + i % 10)::VARCHAR AS age FROM range(1000) AS n (i)"
        " UNION ALL SELECT NULL FROM range(10)"
    )
    report = owner.audit("r", against="everybody", is_internal=True)
    assert report.values("journalist") == {"": pytest.approx(1 / 1000)}
    assert report.values("linking") == {"age": pytest.approx(1 / 1000)}


def test_backgrounds_and_columns_of_every_type_can_be_compared(owner: Owner) -> None:
    owner.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t AS SELECT i AS id,"
        " CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'happy' END::mood AS feels, i % 3 = 0 AS flag,"
        " (i / 4)::DECIMAL(10, 2) AS price, i::HUGEINT AS huge, md5(i::VARCHAR)::UUID AS code,"
        " DATE '2020-01-01' + i::INTEGER AS day, TIMESTAMP '2020-01-01' + to_hours(i) AS hour,"
        " [i] AS list, (i / 7)::DECIMAL(5, 1) AS part FROM range(40) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, feels QUASI, flag QUASI, price QUASI, huge QUASI,"
        " code QUASI, day QUASI, hour QUASI, list NEUTRAL, part SENSITIVE AS mapping());"
        "CREATE TABLE texts AS SELECT COLUMNS(*)::VARCHAR FROM t"
    )
    report = owner.audit("r", against="texts")
    assert report.values("linking") == {"feels, flag, price, huge, code, day, hour": 1.0}
    assert report.values("t")["part"] is not None


def test_numbers_of_a_background_are_compared_with_generalized_texts(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (42000 + i % 20)::VARCHAR AS zip FROM range(40) AS n (i);"
        "CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;"
        "CREATE RELEASE r FROM t (id KEY, zip QUASI) GENERALIZE zip USING digits UNTIL k = 20;"
        "CREATE TABLE numbers AS SELECT 42000 + i % 20 AS zip FROM range(100) AS n (i)"
    )
    report = owner.audit("r", against="numbers", is_internal=True)
    assert report.values("journalist") == {"": pytest.approx(1 / 50)}
    (reason,) = report.left_out
    assert reason.startswith("linking may find too few: 'zip' is BIGINT in numbers and text")


def test_a_background_that_fails_is_told_at_its_place(clinic: Owner) -> None:
    clinic.execute(
        "CREATE VIEW clinic.broken AS SELECT error('secret')::VARCHAR AS zip FROM clinic.patients"
    )
    with pytest.raises(ppdm_sql.PpdmError, match="the background cannot be read") as caught:
        clinic.execute("AUDIT RELEASE research.patients AGAINST clinic.broken")
    assert caught.value.span is not None
    assert caught.value.span.source == "clinic.broken"
    assert "secret" not in str(caught.value)


def seen(owner: Owner, release: str, folder: Path) -> None:
    """Have somebody see the newest version of a release: drafts help no attacker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
        owner.publish(release, to=folder / "seen.duckdb")


def test_a_draft_that_nobody_saw_is_not_attacked_with(clinic: Owner) -> None:
    clinic.execute("REFRESH RELEASE research.patients")
    assert clinic.audit("research.patients").values("differencing") == {}


def test_versions_are_compared(clinic: Owner, tmp_path: Path) -> None:
    seen(clinic, "research.patients", tmp_path)
    clinic.execute("REFRESH RELEASE research.patients")
    report = clinic.audit("research.patients")
    assert report.values("differencing")["pay"] == 0
    assert report.values("differencing_classes") == {"": 0.0}
    seen(clinic, "research.patients", tmp_path)
    clinic.execute(
        f"CREATE OR REPLACE RELEASE research.patients FROM clinic.patients ({RULES})"
        " GENERALIZE zip USING digits, age USING ages UNTIL k = 40"
    )
    assert "differencing_classes" in {a.attack for a in clinic.audit("research.patients").attacks}


def test_what_the_version_before_showed_stays_shown(clinic: Owner, tmp_path: Path) -> None:
    shown = "age SENSITIVE AS keep(), illness SENSITIVE AS keep(), day NEUTRAL AS keep()"
    hidden = (
        "age SENSITIVE AS suppress(), illness SENSITIVE AS mapping(), day NEUTRAL AS translation()"
    )
    for rules in (shown, hidden):
        clinic.execute(
            f"CREATE OR REPLACE RELEASE research.r FROM clinic.patients"
            f" (id KEY, zip QUASI, {rules}) GENERALIZE zip USING digits UNTIL k = 5"
        )
        seen(clinic, "research.r", tmp_path)
    found = clinic.audit("research.r").values("differencing_values")
    assert found == {"zip": 0, "age": 1, "illness": 1, "day": 1}
    clinic.execute("REFRESH RELEASE research.r")  # takes nothing back either
    seen(clinic, "research.r", tmp_path)
    again = clinic.audit("research.r")
    assert again.values("differencing_values") == found
    assert again.left_out == ()
    for _ in range(9):
        clinic.execute("REFRESH RELEASE research.r")
        seen(clinic, "research.r", tmp_path)
    (reason,) = clinic.audit("research.r").left_out
    assert reason == "of what else was published, only the latest 10 were compared"


def test_a_version_that_cannot_be_read_is_left_out(clinic: Owner, tmp_path: Path) -> None:
    def made(columns: str, source: str = "clinic.patients") -> None:
        clinic.execute(f"CREATE OR REPLACE RELEASE research.patients FROM {source} ({columns})")

    made("age QUASI")
    seen(clinic, "research.patients", tmp_path)
    made("id KEY, age QUASI")
    (reason,) = clinic.audit("research.patients").left_out
    assert reason == (
        "differencing was not tried with version 2: the two list no KEY that is written in the same way"
    )
    seen(clinic, "research.patients", tmp_path)
    made("age QUASI")
    reasons = clinic.audit("research.patients").left_out
    assert len(reasons) == 2  # neither version can be matched
    assert all("no KEY that is written in the same way" in one for one in reasons)
    clinic.execute("CREATE TABLE other AS SELECT id, age FROM clinic.patients")
    made("id KEY, age QUASI", "other")
    seen(clinic, "research.patients", tmp_path)
    made("id KEY, age QUASI")
    clinic.execute("DROP TABLE other")
    gone, nameless = sorted(clinic.audit("research.patients").left_out)
    assert gone.endswith("research.patients version 5, which cannot be read any more")
    assert nameless.endswith("the two list no KEY that is written in the same way")
    clinic.execute("CREATE TABLE texts AS SELECT id, age::VARCHAR AS age FROM clinic.patients")
    made("id KEY, age QUASI", "(SELECT id, age::INTEGER AS age FROM texts)")
    seen(clinic, "research.patients", tmp_path)
    made("id KEY, age QUASI", "texts")
    clinic.execute("UPDATE texts SET age = 'old' WHERE id = 3")
    reasons = clinic.audit("research.patients").left_out
    (gone,) = [one for one in reasons if "version 7" in one]
    assert gone.endswith("cannot be read any more")


def test_persons_are_counted_once(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE visits AS SELECT i // 2 AS person, 'A' AS town, i % 7 AS illness"
        " FROM range(20) AS t (i); CREATE RELEASE r FROM visits (person KEY, town QUASI,"
        " illness SENSITIVE)"
    )
    report = owner.audit("r")
    assert report.values("k") == {"": 10}
    assert report.values("k_rows") == {"": 20}
    assert report.stamp.persons == 10


def test_a_person_counts_once_for_each_value_and_null_is_one(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE visits AS FROM (VALUES (1, 'A', 1), (1, 'A', 2), (2, 'A', 1), (2, 'A', 1),"
        " (3, 'A', NULL)) AS t (person, town, illness);"
        "CREATE RELEASE r FROM visits (person KEY, town QUASI, illness SENSITIVE)"
    )
    report = owner.audit("r", is_internal=True)
    assert report.values("l") == {"illness": 3}
    assert report.values("entropy_l") == {"illness": pytest.approx(2**1.5)}  # of 2, 1 and 1 pairs
    assert report.values("alpha") == {"illness": pytest.approx(2 / 3)}


def test_an_empty_release_has_no_figures_to_show(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t (a INTEGER, b VARCHAR);"
        "CREATE RELEASE r FROM t (a QUASI, b SENSITIVE AS mapping())"
    )
    report = owner.audit("r")
    assert report.values("k") == {"": None}
    assert report.attacks == ()


def test_a_source_that_is_gone_is_told_at_the_statement(clinic: Owner) -> None:
    clinic.execute("CREATE TABLE lost AS SELECT 1 AS a; CREATE RELEASE r FROM lost (a QUASI)")
    clinic.execute("DROP TABLE lost")
    with pytest.raises(ppdm_sql.PpdmError) as caught:
        clinic.execute("AUDIT RELEASE r")
    assert caught.value.span is not None
    assert caught.value.span.source == "r"


def test_large_releases_are_sampled_and_the_classifier_is_optional(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "MOST_SAMPLED", 100)
    monkeypatch.setattr(assembly, "is_available", lambda: False)
    owner.execute(PATIENTS)
    owner.execute(
        "CREATE RELEASE r FROM clinic.patients (age QUASI, illness SENSITIVE AS mapping())"
    )
    first, second = (owner.audit("r") for _ in range(2))
    assert first.stamp.sampled == 100
    assert first.left_out == ("classifiers: install ppdm-sql[audit]",)
    assert first.attacks == second.attacks


def test_tables_are_written_and_replaced(clinic: Owner) -> None:
    for _ in range(2):
        clinic.execute("AUDIT RELEASE research.patients INTO audits")
    ((k,),) = clinic.execute("SELECT value FROM audits.audit_figures WHERE name = 'k'").fetchall()
    assert k >= 5
    assert clinic.execute("FROM audits.audit_attacks").fetchall()
    (stamp,) = clinic.execute(
        "SELECT release, version, rows, against, audited_at FROM audits.audit_stamp"
    ).fetchall()
    assert stamp[:4] == ("research.patients", 1, 1500, None)
    now = datetime.now(UTC).replace(tzinfo=None)
    assert timedelta() <= now - stamp[4] < timedelta(minutes=5), "in UTC"
    clinic.execute("CREATE SCHEMA mine; CREATE TABLE mine.AUDIT_columns (a INTEGER)")
    clinic.execute("CREATE SCHEMA seen; CREATE VIEW seen.audit_attacks AS SELECT 1 AS a")
    for schema in ("mine", "Seen"):
        with pytest.raises(
            ppdm_sql.Refused, match="already exists and was not written by an audit"
        ):
            clinic.execute(f"AUDIT RELEASE research.patients INTO {schema}")
    assert clinic.execute("FROM mine.audit_columns").columns == ["a"]
    with pytest.raises(ppdm_sql.BindError, match="not the name of a schema"):
        clinic.audit("research.patients", into="other.audits")
    with pytest.raises(ppdm_sql.Refused, match="owner's store"):
        clinic.execute("AUDIT RELEASE research.patients INTO ppdm_owner")


def test_files_are_written_as_their_names_say(
    clinic: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    clinic.execute("AUDIT RELEASE research.patients TO 'r.html'")
    clinic.execute("AUDIT RELEASE research.patients TO 'r.json'")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert json.loads((tmp_path / "r.json").read_text())["stamp"]["release"] == "research.patients"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json"]
    with pytest.raises(ppdm_sql.PpdmError, match=r"\.html or \.json"):
        clinic.execute("AUDIT RELEASE research.patients TO 'r.pdf'")
    with pytest.raises(ppdm_sql.PpdmError, match="there is no such folder"):
        clinic.execute("AUDIT RELEASE research.patients TO 'nowhere/r.html'")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ppdm_sql.PpdmError, match="cannot be written"):
        clinic.execute("AUDIT RELEASE research.patients TO 'folder.html'")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_report_goes_everywhere_or_nowhere(
    clinic: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder.html"
    folder.mkdir()
    for statement in (
        f"AUDIT RELEASE research.patients INTO audits TO '{folder}'",
        f"AUDIT RELEASE research.patients INTO audits TO '{tmp_path / 'none' / 'r.html'}'",
    ):
        with pytest.raises(ppdm_sql.PpdmError, match="cannot be written"):
            clinic.execute(statement)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ppdm_sql.statements.write_tables", stopped)
        with pytest.raises(KeyboardInterrupt):
            clinic.audit(
                "research.patients",
                into="audits",
                to=[tmp_path / "r.html", tmp_path / "r.json"],
                is_internal=True,
            )
    assert list(tmp_path.iterdir()) == [folder]
    schemas = "SELECT 1 FROM duckdb_schemas() WHERE schema_name = 'audits'"
    assert clinic.sql(schemas).fetchall() == []
    clinic.audit("research.patients", to=str(tmp_path / "r.html"))
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_no_value_and_no_parameter_is_in_a_report(owner: Owner, tmp_path: Path) -> None:
    plant(owner)
    owner.execute(f"AUDIT RELEASE research.people INTO audits TO '{tmp_path / 'r.html'}'")
    owner.execute(f"AUDIT RELEASE research.people TO '{tmp_path / 'r.json'}'")
    secrets = secrets_of(owner)
    tables = [
        owner.execute(f"FROM audits.{name}").df().to_string()
        for name in ("audit_figures", "audit_attacks", "audit_columns", "audit_class_sizes")
    ]
    report = owner.audit("research.people")
    for text in (
        (tmp_path / "r.html").read_text(),
        (tmp_path / "r.json").read_text(),
        repr(report),
        str(owner.execute("AUDIT RELEASE research.people").fetchall()),
        *tables,
    ):
        assert found_in(text, secrets) == []


def test_an_internal_report_shows_parameters_to_the_owner_alone(
    safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ppdm_sql.connect(safe) as owner:
        plant(owner)
    page = tmp_path / "internal.html"
    done = Ppdm(capsys, monkeypatch)(
        "audit", "research.people", "--db", str(safe), "--html", str(page), "--internal"
    )
    assert done.code == 0
    assert "31.4159265" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert found_in(done.out) == []


def test_the_command_line_ends_as_requirements_say(
    safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PATIENTS)
        owner.execute(GROUPED)
    ppdm = Ppdm(capsys, monkeypatch)
    base = ("audit", "research.patients", "--db", str(safe))
    done = ppdm(*base, "--require", "k>=5, prosecutor<=0.2", "--json", str(tmp_path / "a.json"))
    assert done.code == 0, done.err
    assert "k>=5: met" in done.out
    assert "known_input" in done.out
    assert json.loads((tmp_path / "a.json").read_text())["format"] == 1
    assert done.err == f"note: wrote {tmp_path / 'a.json'}\n"
    missed = ppdm(*base, "--require", "known_input<=0.05")
    assert missed.code == 3
    assert "known_input<=0.05: NOT met: 1 (bmi, pulse)" in missed.out
    swapped = ppdm(*base, "--json", "report.html")
    assert swapped.code == 2
    assert "the file name must end in .json" in swapped.err
    wrong = ppdm(*base, "--require", "k>five")
    assert wrong.code == 2
    assert "this is not a requirement" in wrong.err
    misspelt = ppdm(*base, "--require", "k>=5, l(ilness)>=2")
    assert misspelt.code == 2
    assert "did you mean 'illness'?" in misspelt.err
    assert misspelt.out == ""
    alone = ppdm(*base, "--require", "linking<=0.05")
    assert alone.code == 2
    assert "--against" in alone.err


def test_a_script_says_where_it_wrote_and_how_to_see_the_rest(
    safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT i AS id, i % 3 AS ward, i % 7 AS ill FROM range(99) AS n (i);"
            "CREATE RELEASE r FROM t (id KEY, ward QUASI, ill SENSITIVE AS mapping())"
        )
    ppdm = Ppdm(capsys, monkeypatch)
    page = tmp_path / "r.html"
    script = f"AUDIT RELEASE r INTO audits TO '{page}'"
    done = ppdm("run", "-", "--db", str(safe), "--rows", "5", stdin=script)
    assert done.code == 0, done.err
    assert f"\nwrote the tables audits.audit_…\nwrote {page}\n" in done.out
    told = "(the first 5 rows; all of them: TO 'report.html', INTO a schema, or `ppdm audit`)"
    assert told in done.out
    rows = ppdm("run", "-", "--db", str(safe), "--format", "json", stdin=script).out
    assert all(json.loads(line) for line in rows.splitlines())
    direct = ppdm("audit", "r", "--db", str(safe), "--into", "audits", "--html", str(page))
    assert direct.err == f"note: wrote the tables audits.audit_…\nnote: wrote {page}\n"


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_stands_in_a_browser(clinic: Owner, tmp_path: Path) -> None:
    """No console message, all pictures drawn, nothing wider than the window, on a phone either."""
    page = tmp_path / "r.html"
    clinic.execute(f"AUDIT RELEASE research.patients TO '{page}'")
    pictures = page.read_text().count("<svg role=")
    assert pictures >= 10
    # The page itself runs nothing; a frame around it measures it.
    (tmp_path / "around.html").write_text(
        "<!doctype html><html><body style='margin:0'><script>"
        "window.onload = () => { const out = [360, 800, 1200].map(width => {"
        " const frame = document.getElementById('f' + width);"
        " const page = frame.contentDocument;"
        " const drawn = [...page.querySelectorAll('svg[role=img]')].filter("
        "   one => one.getBoundingClientRect().width > 20 && one.children.length > 1).length;"
        " return [page.documentElement.scrollWidth <= width, drawn].join(' '); });"
        " document.title = out.join('|'); document.body.innerHTML = '<p id=found>' +"
        " out.join('|') + '</p>'; };</script>"
        + "".join(
            f"<iframe id=f{width} src=r.html style='width:{width}px;height:900px;border:0'></iframe>"
            for width in (360, 800, 1200)
        )
        + "</body></html>"
    )
    assert CHROMIUM is not None
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
        "--v=0",
        "--dump-dom",
    ]
    done = subprocess.run(
        [
            CHROMIUM,
            *flags,
            f"--user-data-dir={tmp_path / 'profile'}",
            (tmp_path / "around.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    assert f'<p id="found">{"|".join([f"true {pictures}"] * 3)}</p>' in done.stdout


def test_whoever_is_left_out_counts_once_in_what_t_is_measured_by(owner: Owner) -> None:
    """Every KEY leaves once; the one that is suppressed stands in twenty rows."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 'F' AS sex, '4000' || (i % 2) AS zip,"
        " CASE WHEN i % 3 = 0 THEN 'HIV' ELSE 'Flu' END AS ill FROM range(40) AS numbers (i)"
        " UNION ALL SELECT 900, 'X', '9', 'HIV' FROM range(20);"
        "CREATE RELEASE r FROM t (id KEY, sex QUASI, zip QUASI, ill SENSITIVE)"
        " GENERALIZE zip UNTIL k = 5, t(ill) <= 0.4 SUPPRESS AT MOST 50 PERCENT"
    )
    said = {f.figure: f.value for f in owner.figures("r")}
    report = owner.audit("r", is_internal=True)
    assert report.values("t")["ill"] == pytest.approx(said["t(ill)"])
    assert report.values("suppressed") == {"": pytest.approx(20 / 60)}


def test_what_is_suppressed_is_counted_as_the_source_is_now(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 3 THEN 'X' ELSE 'F' END AS sex,"
        " (40000 + i % 2)::VARCHAR AS zip FROM range(60) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, sex QUASI, zip QUASI) GENERALIZE zip UNTIL k = 5"
        " SUPPRESS AT MOST 10 PERCENT"
    )
    before = owner.audit("r", is_internal=True)
    assert before.values("discernibility") == {"": 28**2 + 29**2 + 3 * 60}
    assert before.values("precision")[""] is not None
    owner.execute("DELETE FROM t WHERE sex = 'X'")
    gone = owner.audit("r", is_internal=True)
    assert gone.values("discernibility") == {"": 28**2 + 29**2}
    assert gone.values("suppressed") == {"": 0}
    assert gone.values("precision") == {}
    assert gone.left_out == ("precision: the source has changed since; refresh the release",)
    # Combinations that arrive later are withheld.
    owner.execute("INSERT INTO t SELECT 100 + i, 'F', '99999' FROM range(3) AS numbers (i)")
    assert owner.audit("r", is_internal=True).values("suppressed") == {"": 3 / 60}


def test_numbers_that_are_one_as_doubles_changed(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 1152921504606846976 + 2 * i AS big"
        " FROM range(100) AS numbers (i);"
        "CREATE RELEASE moved FROM t (id KEY, big SENSITIVE AS translation(1));"
        "CREATE RELEASE kept FROM t (id KEY, big SENSITIVE) WITH (accept = ['identifying(big)']);"
        "CREATE RELEASE grouped FROM t (id KEY, big SENSITIVE AS microaggregation(size => 5))"
    )
    moved, kept, grouped = (
        owner.audit(name, is_internal=True) for name in ("moved", "kept", "grouped")
    )
    assert (moved.values("changed"), moved.values("merged")) == ({"big": 1}, {"big": 0})
    assert (kept.values("changed"), kept.values("merged")) == ({"big": 0}, {"big": 0})
    assert grouped.values("merged") == {"big": 1}


def test_nothing_that_was_not_measured_is_met(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t (a INTEGER, s VARCHAR, n INTEGER);"
        "CREATE RELEASE r FROM t (a QUASI, s SENSITIVE, n SENSITIVE)"
    )
    names = ("t", "alpha", "recursive_c_2", "homogeneous", "divergence", "proximity")
    outcomes = owner.audit("r", require=[f"{name}<=1" for name in names]).outcomes
    assert [outcome.is_met for outcome in outcomes] == [False] * len(names)


def test_records_that_are_all_stars_cost_everything(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i AS a, 'x' || i AS b, i % 2 AS s"
        " FROM range(10) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, a QUASI, b QUASI, s SENSITIVE) GENERALIZE b UNTIL k = 2"
        " SUPPRESS AT MOST 100 PERCENT WITH (suppressed = 'star')"
    )
    report = owner.audit("r", is_internal=True)
    assert (report.values("k"), report.values("suppressed")) == ({"": None}, {"": 1})
    assert report.values("discernibility") == {"": 100}
    assert report.values("l") == report.values("t") == {"s": None}


def test_aliases_of_numbers_hide_no_nearness(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 1 AS q, 10000 + i % 2 AS pay FROM range(50) AS n (i)"
        " UNION ALL SELECT 99, 2, 9;"
        "CREATE RELEASE r FROM t (id KEY, q QUASI, pay SENSITIVE AS mapping())"
    )
    report = owner.audit("r", is_internal=True)
    assert report.values("proximity") == {"pay": 1}
    assert report.values("divergence") == {}
    assert report.values("l") == {"pay": 1}


def test_a_high_class_is_what_people_are_wrongly_tied_to(owner: Owner) -> None:
    """Of each class half is HIV; nobody is tied to Flu, because that is not what WHEN protects."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 'A' AS town,"
        " CASE WHEN i % 2 = 0 THEN 'HIV' ELSE 'Flu' END AS ill FROM range(40) AS numbers (i);"
        "CREATE RELEASE r FROM t (id KEY, town QUASI, ill SENSITIVE)"
        " GENERALIZE town WHEN ill = 'HIV' UNTIL k = 5;"
        "CREATE RELEASE plain FROM t (id KEY, town QUASI, ill SENSITIVE)"
    )
    assert owner.audit("r", is_internal=True).values("divergence") == {"ill": 0.5}
    assert owner.audit("plain", is_internal=True).values("divergence") == {"ill": 1}


def test_columns_that_share_no_row_are_told(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN i END AS a,"
        " CASE WHEN i % 2 = 1 OR i < 6 THEN i END AS b, CASE WHEN i % 2 = 1 THEN i END AS c"
        " FROM range(100) AS numbers (i)"
    )
    for others, missing in (("c", "il1s, covariance, "), ("b", "misclassification: ")):
        owner.execute(
            f"CREATE OR REPLACE RELEASE r FROM t (id KEY, a NEUTRAL AS scaling(3),"
            f" {others} NEUTRAL AS scaling(3))"
        )
        (told,) = owner.audit("r").left_out
        assert told.startswith(missing)
        assert told.endswith("too few rows have a number in every numeric column")


def test_precision_is_that_of_the_release_with_its_untouched_rows(clinic: Owner) -> None:
    with pytest.warns(ppdm_sql.PrivacyWarning):
        clinic.execute(SCBA)
    said = {f.figure: f.value for f in clinic.figures("research.delicate")}
    found = clinic.audit("research.delicate", is_internal=True).values("precision")
    assert found == {"": said["precision of the release"]}
    assert said["precision of the release"] != said["precision of treated rows"]


# What was broken


def test_a_report_tells_nothing_of_a_column_that_is_suppressed(
    owner: Owner, tmp_path: Path
) -> None:
    """Before: `homogeneous` and bars of a suppressed illness named the ward in which all have it."""
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id, chr(65 + (range // 100)::INTEGER) AS ward,"
        " range < 100 OR range % 7 = 0 AS hiv, range % 5 AS other FROM range(300);"
        "CREATE RELEASE r FROM t"
        " (id KEY, ward QUASI, hiv SENSITIVE AS suppress(), other SENSITIVE)"
    )
    report = owner.audit("r", to=tmp_path / "report.json")
    told = json.loads((tmp_path / "report.json").read_text())
    of_hiv = [figure for figure in told["figures"] if figure["about"] == "hiv"]
    assert of_hiv
    assert {figure["value"] for figure in of_hiv} == {None}
    assert report.values("homogeneous")["hiv"] is None
    (column,) = [column for column in told["columns"] if column["name"] == "hiv"]
    assert not any(column["before"]["bars"])
    internal = owner.audit("r", is_internal=True)
    assert internal.values("homogeneous")["hiv"]  # the owner sees it


def test_the_average_risk_follows_the_background_and_stays_below_the_largest(owner: Owner) -> None:
    """As ARX: the sum of f / F over the classes, divided by n. Before: 0.52 above 0.056."""
    owner.execute(
        "CREATE TABLE everybody AS SELECT range AS id, range % 10 AS a, range // 10 % 6 AS b"
        " FROM range(600);"
        "CREATE TABLE t AS FROM everybody WHERE id < 90;"
        "CREATE RELEASE r FROM t (id KEY AS keep(), a QUASI, b QUASI)"
    )
    exact = owner.audit("r", against="everybody", is_internal=True)
    rows = owner.sql(
        "SELECT count(*) AS f, any_value(n) AS F FROM t JOIN (SELECT a, b, count(*) AS n FROM"
        " everybody GROUP BY ALL) USING (a, b) GROUP BY a, b"
    ).fetchall()
    assert exact.values("marketer")[""] == pytest.approx(sum(f / large for f, large in rows) / 90)
    largest = exact.values("journalist")[""]
    assert largest == pytest.approx(1 / min(large for _, large in rows))
    public = owner.audit("r", against="everybody")
    marketer, journalist = (public.values(name)[""] for name in ("marketer", "journalist"))
    assert marketer is not None
    assert journalist is not None
    assert marketer <= journalist
    assert exact.values("at_risk")[""] == 0
