"""INTERPRET RELEASE: worked conditions, what is said and not guessed, tables that miners print."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.errors import BindError, EngineError, StatementError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

DOCUMENT = """
CREATE SCHEMA s;
CREATE TABLE s.patients (id INTEGER, age INTEGER, disease VARCHAR, sex VARCHAR, bmi DOUBLE, pulse DOUBLE,
                         dose DOUBLE, seen DATE, pay INTEGER, n INTEGER);
INSERT INTO s.patients
SELECT i, ([30, 40, 70, 25, 15, 58, 73, 37, 90])[i], (['Flu', 'Stomach Cancer', 'HIV'])[1 + i % 3],
       'F', 20 + i, 60 + 2 * i, i / 3, DATE '2020-01-01' + i::INTEGER, 1000 * i + 9, i
FROM range(1, 10) AS r (i);
CREATE RELEASE s.study FROM s.patients (
    id KEY AS pseudonym(),
    age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    disease SENSITIVE AS mapping(prefix => 'Illness'),
    sex NEUTRAL,
    (bmi, pulse) SENSITIVE AS rotation(degrees => 13.7),
    dose SENSITIVE AS noise(normal(0, 1)),
    seen NEUTRAL AS translation(by => 10),
    pay SENSITIVE AS bit_plus(),
    n NEUTRAL
);
"""


@pytest.fixture(scope="module")
def study() -> Iterator[Owner]:
    """An owner that every test of this module reads and none changes."""
    with ppdm_sql.connect(":memory:") as opened:
        opened.execute(DOCUMENT)
        yield opened


@pytest.fixture
def fresh(owner: Owner) -> Owner:
    """An owner that a test may change."""
    owner.execute(DOCUMENT)
    return owner


def alias(study: Owner, disease: str) -> str:
    rows = study.execute(
        "SELECT DISTINCT r.disease FROM s.patients AS o JOIN s.study AS r USING (n)"
        " WHERE o.disease = $disease",
        {"disease": disease},
    )
    return str(rows.fetchall()[0][0])


def original(study: Owner, predicate: str) -> str:
    done = study.interpret("s.study", predicate)
    assert done.is_complete
    return done.original


def test_the_worked_example(study: Owner) -> None:
    text = f"disease = '{alias(study, 'Stomach Cancer')}' AND age >= 2.6666666666666665"
    rows = study.execute(f"INTERPRET RELEASE s.study WHERE {text}").fetchall()
    assert rows == [("disease = 'Stomach Cancer' AND age >= 40", None)]


def test_a_threshold_printed_short_snaps_and_says_so(study: Owner) -> None:
    done = study.interpret("s.study", "age >= 2.667")
    assert done.original == "age >= 40"
    assert done.notes == ("age: 2.667 was read as 2.6666666666666665, the nearest released value",)


def test_a_threshold_printed_too_short_is_taken_as_it_is(fresh: Owner) -> None:
    study = fresh
    done = study.interpret("s.study", "age >= 4.8")  # 4.667 is 70, 4.867 is 73: neither is near
    assert (done.original, done.notes) == ("age >= 72", ())
    done = study.interpret("s.study", "age > 2.5e0")  # 2.467 is 37, within half a tenth
    assert (done.original, len(done.notes)) == ("age > 37", 1)
    study.execute("UPDATE s.patients SET age = 38 WHERE id = 1")  # 2.533
    done = study.interpret("s.study", "age > 2.5")
    assert done.original == "age > 37.5"
    assert done.notes == (
        "age: 2.5 has too few digits: it may be any of 2 original values; used as written",
    )


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("age < 2", "age < 30"),
        ("NOT age < 2", "age >= 30"),
        ("2 < age", "age > 30"),
        ("NOT (age < 2 OR age > 3)", "age >= 30 AND age <= 45"),
        ("age BETWEEN 2 AND 3", "age >= 30 AND age <= 45"),
        ("age NOT BETWEEN 2 AND 3", "age < 30 OR age > 45"),
        ("age IN (2, 4)", "age = 30 OR age = 60"),
        ("age NOT IN (2)", "age <> 30"),
        ("age IS NULL", "age IS NULL"),
        ("NOT (age IS NULL)", "age IS NOT NULL"),
        ("s.study.age >= 2", "age >= 30"),
        ("study.age >= 2 -- a remark", "age >= 30"),
        ("sex = 'F'", "sex = 'F'"),
        ("seen >= DATE '2020-01-13'", "seen >= CAST('2020-01-03' AS DATE)"),
        ("seen = '2020-01-13 00:00:00'", "seen = CAST('2020-01-03 00:00:00' AS TIMESTAMP)"),
        ("pay = 2110", "pay = 2009"),
        ("bmi IS NOT NULL", "NOT (bmi IS NULL OR pulse IS NULL)"),
    ],
)
def test_conditions_in_original_terms(study: Owner, predicate: str, expected: str) -> None:
    assert original(study, predicate) == expected


def test_a_rotated_pair_becomes_a_condition_on_both(study: Owner) -> None:
    angle = math.radians(13.7)
    assert original(study, "bmi >= 40") == (
        f"{math.cos(angle)!r}e0 * CAST(bmi AS DOUBLE) + "
        f"{math.sin(angle)!r}e0 * CAST(pulse AS DOUBLE) >= 40"
    )


def test_a_pseudonym_is_found_again_in_the_source(study: Owner) -> None:
    ((name,),) = study.execute(
        "SELECT r.id FROM s.patients AS o JOIN s.study AS r USING (n) WHERE o.id = 4"
    ).fetchall()
    assert original(study, f"id = '{name}'") == "id = 4"
    assert original(study, f"id <> '{name}'") == "id <> 4"
    assert original(study, "id IS NULL") == "id IS NULL"
    assert not study.interpret("s.study", "id = 'nobody'").is_complete
    assert not study.interpret("s.study", f"id > '{name}'").is_complete


@pytest.mark.parametrize(
    ("predicate", "kept", "why"),
    [
        ("dose > 3", "s.study.dose > 3", "noise cannot be inverted"),
        ("dose IS NULL", "s.study.dose IS NULL", "noise cannot be inverted"),
        ("dose IS NOT NULL", "s.study.dose IS NOT NULL", "noise cannot be inverted"),
        ("pay > 3", "s.study.pay > 3", "bit_plus releases no original value as this"),
        ("disease > 'Illness_2'", "s.study.disease > 'Illness_2'", "mapping releases no original"),
        (
            "disease = 'Illness_99'",
            "s.study.disease = 'Illness_99'",
            "mapping releases no original",
        ),
        ("age > 'x'", "s.study.age > 'x'", "graded_grouping releases no original"),
        ("seen > 'x'", "s.study.seen > 'x'", "translation releases no original"),
    ],
)
def test_what_cannot_be_translated_stays_and_is_said(
    study: Owner, predicate: str, kept: str, why: str
) -> None:
    done = study.interpret("s.study", f"age >= 2 AND {predicate}")
    assert done.original == f"age >= 30 AND {kept}"
    assert not done.is_complete
    assert len(done.notes) == 1
    assert why in done.notes[0]


@pytest.mark.parametrize(
    ("predicate", "error", "what"),
    [
        ("agee > 3", BindError, "there is no column 'agee' in release 's.study'"),
        ("other.age > 3", BindError, "there is no column 'age'"),
        ("age", StatementError, "this condition cannot be translated"),
        ("age > sex", StatementError, "this condition cannot be translated"),
        ("lower(sex) = 'f'", StatementError, "this condition cannot be translated"),
        ("sex LIKE 'F%'", StatementError, "this condition cannot be translated"),
        ("age IN (SELECT 1)", StatementError, "this condition cannot be translated"),
        ("age = -'x'", StatementError, "this condition cannot be translated"),
        ("age = NULL", StatementError, "no comparison with NULL is ever true"),
        ("age > 3 AND", StatementError, "this is not a condition"),
    ],
)
def test_what_is_no_condition_is_refused(
    study: Owner, predicate: str, error: type[Exception], what: str
) -> None:
    script = f"\nINTERPRET RELEASE s.study WHERE {predicate}"
    with pytest.raises(error, match=what.replace("(", r"\(")) as caught:
        study.execute(script)
    assert isinstance(caught.value, ppdm_sql.PpdmError)
    assert caught.value.line == 2
    assert caught.value.span is not None
    assert caught.value.span.source in predicate
    with pytest.raises(error):
        study.interpret("s.study", predicate)


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("INTERPRET RELEASE s.study", "expected WHERE or TABLE"),
        ("INTERPRET RELEASE s.study WHERE", "expected a condition"),
        ("INTERPRET RELEASE s.study TABLE a b", "unexpected 'b'"),
        ("INTERPRET RELEASE s.study PASSING WHERE age > 2", "expected WHERE or TABLE"),
        ("INTERPRET RELEASE s.nothing WHERE age > 2", "there is no release 's.nothing'"),
        ("INTERPRET RELEASE s.study TABLE nothing", "the results cannot be read"),
    ],
)
def test_what_is_no_statement_is_refused(study: Owner, script: str, what: str) -> None:
    with pytest.raises(ppdm_sql.PpdmError, match=what):
        study.execute(script)


def test_conditions_go_round_between_sites(study: Owner) -> None:
    text = "drug = 'Drug_3' AND NOT (age > 2 OR dose_a * 2 + dose_b > 5)"
    done = study.interpret("s.study", text, passing_others=True)
    assert done.original == ("drug = 'Drug_3' AND (age <= 30 AND NOT dose_a * 2 + dose_b > 5)")
    rows = study.execute(f"INTERPRET RELEASE s.study PASSING OTHERS WHERE {text}").fetchall()
    assert rows[0][0] == done.original


def test_words_that_sql_reserves_are_quoted(owner: Owner) -> None:
    owner.execute('CREATE TABLE t AS SELECT 1 AS "order", 2 AS "Ä b"')
    owner.execute(
        'CREATE RELEASE r FROM t ("order" NEUTRAL, "Ä b" NEUTRAL AS translation(by => 5))'
    )
    done = owner.interpret("r", '"order" = 1 AND "Ä b" = 7')
    assert done.original == '"order" = 1 AND "Ä b" = 2'
    assert owner.execute(f"SELECT count(*) FROM t WHERE {done.original}").fetchall() == [(1,)]


def test_two_affine_steps_before_a_rotation_are_put_into_the_condition(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i::DOUBLE AS x, (i * i % 7)::DOUBLE AS y FROM range(9) r (i)"
    )
    owner.execute(
        "CREATE RELEASE r FROM t ((x, y) NEUTRAL AS translation() THEN scaling() THEN rotation())"
    )
    (limit,) = owner.execute("SELECT median(x) FROM r").fetchall()[0]
    done = owner.interpret("r", f"x > {limit!r}")
    chosen = owner.execute(f"SELECT x FROM t WHERE {done.original} ORDER BY x").fetchall()
    assert (
        chosen
        == owner.execute(
            f"SELECT t.x FROM t POSITIONAL JOIN r WHERE r.x > {limit!r} ORDER BY 1"
        ).fetchall()
    )


def test_a_group_mean_before_a_rotation_cannot_be_translated(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i::DOUBLE AS x, (i % 4)::DOUBLE AS y FROM range(9) r (i)"
    )
    owner.execute(
        "CREATE RELEASE r FROM t ((x, y) NEUTRAL AS microaggregation(size => 3) THEN rotation())"
    )
    done = owner.interpret("r", "x > 1 AND y IS NULL")
    assert not done.is_complete
    assert done.original == "main.r.x > 1 AND main.r.y IS NULL"


def test_suppressed_columns_are_always_null(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
    owner.execute("CREATE RELEASE r FROM t (a QUASI AS suppress(), b SENSITIVE AS mapping())")
    assert owner.interpret("r", "a IS NULL").original == "TRUE"
    owner.execute("DELETE FROM t")
    owner.execute("REFRESH RELEASE r")
    assert owner.interpret("r", "b IS NULL").original == "b IS NULL OR NOT b IN ('x')"


def test_a_mapping_of_nothing_is_always_null(owner: Owner) -> None:
    owner.execute("CREATE TABLE t (b VARCHAR)")
    owner.execute("CREATE RELEASE r FROM t (b SENSITIVE AS mapping())")
    assert owner.interpret("r", "b IS NULL").original == "TRUE"


def test_a_damaged_source_is_said_at_the_statement(fresh: Owner) -> None:
    fresh.execute("ALTER TABLE s.patients DROP COLUMN pay")
    with pytest.raises(ppdm_sql.PpdmError, match="pay") as caught:
        fresh.execute("INTERPRET RELEASE s.study WHERE age > 2")
    assert caught.value.line == 1


@pytest.mark.parametrize("threshold", ["nan", "inf", "-inf"])
def test_a_threshold_that_is_no_number_stays(study: Owner, threshold: str) -> None:
    splits = pa.table({"feature": ["age", "age"], "threshold": [float(threshold), 2.5]})
    done = study.interpret_table("s.study", splits)
    assert repr(done.table.column("threshold")[0].as_py()) == threshold
    assert "a threshold of age is not a number: it stays as it is" in done.notes


@pytest.mark.filterwarnings("ignore:.*two rules:ppdm_sql.errors.PrivacyWarning")
def test_a_published_version_is_read_after_drop(fresh: Owner, tmp_path: Path) -> None:
    fresh.publish("s.study", to=tmp_path / "a.duckdb")
    before = fresh.interpret("s.study", "age > 2").original
    fresh.execute("DROP RELEASE s.study")
    assert fresh.interpret("s.study", "age > 2").original == before
    assert fresh.interpret("s.study", "age > 2", version=1).original == before
    with pytest.raises(ppdm_sql.PpdmError, match=r"there is no release 's.other'"):
        fresh.interpret("s.other", "age > 2")
    fresh.execute("CREATE RELEASE s.study FROM s.patients (age NEUTRAL)")
    assert fresh.interpret("s.study", "age > 2").original == "age > 2"  # the one that is there
    for path in ("b", "c"):
        with pytest.raises(ppdm_sql.PpdmError, match=r"version 1 of 's.study' is not clear"):
            fresh.interpret("s.study", "age > 2", version=1)
        fresh.publish("s.study", to=tmp_path / f"{path}.duckdb")


def test_secrets_are_in_no_repr(study: Owner) -> None:
    done = study.interpret("s.study", f"disease = '{alias(study, 'HIV')}' AND age > 2")
    table = study.interpret_table("s.study", pa.table({"age": [2.0]}))
    assert "HIV" not in repr(done)
    assert "30" not in repr(done) + repr(table)


TREE = """\
|--- age <= 2.67
|   |--- disease_{cancer} <= 0.50
|   |   |--- class: {flu}
|   |--- disease_{cancer} >  0.50
|   |   |--- class: {hiv}
|--- age >  2.67
|   |--- sex_F <= 0.50
|   |   |--- class: {flu}
"""


def test_scikit_learns_printed_tree(study: Owner, tmp_path: Path) -> None:
    cancer, flu, hiv = (alias(study, name) for name in ("Stomach Cancer", "Flu", "HIV"))
    path = tmp_path / "tree.txt"
    path.write_text(TREE.format(cancer=cancer, flu=flu, hiv=hiv), encoding="utf-8")
    done = study.interpret_file("s.study", path)
    assert done.table.column("text").to_pylist() == [
        "|--- age <= 40",
        "|   |--- disease <> Stomach Cancer",
        "|   |   |--- class: Flu",
        "|   |--- disease = Stomach Cancer",
        "|   |   |--- class: HIV",
        "|--- age >  40",
        "|   |--- sex_F <= 0.50",
        "|   |   |--- class: Flu",
    ]
    assert len(done.notes) == 1


def test_mlxtends_rules_with_their_sets(study: Owner, tmp_path: Path) -> None:
    cancer, flu = alias(study, "Stomach Cancer"), alias(study, "Flu")
    rules = pd.DataFrame(
        {
            "antecedents": [frozenset({f"disease={cancer}", "age=2.667"}), frozenset({flu})],
            "consequents": [frozenset({"sex=F"}), frozenset({f"disease_{cancer}", 7})],
            "support": [0.25, 0.5],
        }
    )
    done = study.interpret_table("s.study", rules)
    frame = done.df()
    assert frame["antecedents"].tolist() == [
        frozenset({"disease=Stomach Cancer", "age=40"}),
        frozenset({"Flu"}),
    ]
    assert frame["consequents"].tolist() == [
        frozenset({"sex=F"}),
        frozenset({"disease=Stomach Cancer", 7}),
    ]
    assert frame["support"].tolist() == [0.25, 0.5]
    rules.to_csv(tmp_path / "rules.csv", index=False)
    printed = study.interpret_file("s.study", tmp_path / "rules.csv").table
    assert printed.column("antecedents").to_pylist()[1] == "frozenset({'Flu'})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("disease={c}, age=2 => sex=F", "disease=Stomach Cancer, age=30 => sex=F"),
        ("sex=F -> disease={c}", "sex=F -> disease=Stomach Cancer"),
        ("disease == '{c}' and age > 2", "disease = 'Stomach Cancer' and age > 30"),
        ('disease != "{c}"', 'disease <> "Stomach Cancer"'),
        ("2 < age <= 3", "age > 30 and age <= 45"),
        ("age >= 2 and age < 3", "age >= 30 and age < 45"),
        ("drug=Drug_1, disease={c}", "drug=Drug_1, disease=Stomach Cancer"),
        ("disease=Illness_99", "disease=Illness_99"),
        ("wage <= 2, my.age <= 2", "wage <= 2, my.age <= 2"),
        ("2 < pay <= 3", "2 < pay <= 3"),
        ("disease_{c} <= 0.7", "disease_{c} <= 0.7"),
        ("nothing to see", "nothing to see"),
        ("frozenset({{broken)", "frozenset({{broken)"),
        ("frozenset({{x y}})", "frozenset({{x y}})"),
    ],
)
def test_texts_of_rules(study: Owner, text: str, expected: str) -> None:
    cancer = alias(study, "Stomach Cancer")
    rows = pa.table({"rule": [text.format(c=cancer)]})
    done = study.interpret_table("s.study", rows).table
    assert done.column("rule").to_pylist() == [expected.format(c=cancer)]


def test_a_translated_value_that_looks_like_an_alias_is_left_alone(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT unnest(['c_1', 'c_2', 'c_3', 'c_4']) AS c")
    owner.execute("CREATE RELEASE r FROM t (c SENSITIVE AS mapping())")
    pairs = dict(
        owner.execute("SELECT released, original FROM ppdm_owner.r1_v1_t0_0_aliases").fetchall()
    )
    rows = pa.table({"rule": [f"c={released}, c_{released}" for released in pairs]})
    done = owner.interpret_table("r", rows).table.column("rule").to_pylist()
    assert done == [f"c={value}, c={value}" for value in pairs.values()]


def test_an_alias_of_two_columns_is_said(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 'x' AS a, 'y' AS b")
    owner.execute(
        "CREATE RELEASE r FROM t (a QUASI AS mapping(prefix => 'V'), b QUASI AS mapping(prefix => 'V'))"
    )
    done = owner.interpret_table("r", pa.table({"text": ["class: V_1"]}))
    assert done.table.column("text").to_pylist() == ["class: V_1"]
    assert done.notes == ("'V_1' is an alias of several columns: left as it is",)


def test_centroids_column_by_column(study: Owner) -> None:
    x, y = study.execute("SELECT bmi, pulse FROM s.study WHERE n = 1").fetchall()[0]
    rows = pa.table(
        {
            "cluster": [0, 1],
            "age": [2.6666666666666665, 2.1],
            "bmi": [x, None],
            "pulse": [y, 1.0],
            "dose": [1.0, 2.0],
            "disease": [alias(study, "HIV"), "Illness_99"],
            "pay": [2110, 2110],
        }
    )
    study.connection.register("centroids", rows)
    result = study.execute("INTERPRET RELEASE s.study TABLE centroids")
    assert result.message.splitlines() == [
        "age: if these are means, their translation is approximate: graded_grouping does not keep means",
        "dose stays in released terms: noise cannot be inverted",
    ]
    done = result.arrow().to_pydict()
    assert done["cluster"] == [0, 1]
    assert done["age"] == [40.0, 31.5]
    assert done["bmi"] == [pytest.approx(21.0), None]
    assert done["pulse"] == [pytest.approx(62.0), None]
    assert done["dose"] == [1.0, 2.0]
    assert done["disease"] == ["HIV", None]
    assert [int(value) for value in done["pay"]] == [2009, 2009]
    assert study.interpret_table("s.study", "centroids").table.column("age").to_pylist()[0] == 40.0


def test_what_a_table_cannot_say_is_said(study: Owner) -> None:
    done = study.interpret_table("s.study", pa.table({"bmi": [1.0], "pay": [2110.5]}))
    assert done.table.to_pydict() == {"bmi": [1.0], "pay": [2110.5]}
    assert done.notes == (
        "bmi stays in released terms: rotation needs pulse beside it",
        "pay stays in released terms: the values are not among those of bit_plus",
    )


def test_pseudonyms_in_a_table_are_found_again(study: Owner) -> None:
    found = study.execute("SELECT id FROM s.study WHERE n < 3 ORDER BY n").fetchall()
    names = [name for (name,) in found]
    done = study.interpret_table("s.study", pa.table({"id": [*names, "nobody", None]}))
    assert done.table.column("id").to_pylist() == ["1", "2", None, None]
    empty = study.interpret_table("s.study", pa.table({"id": pa.array([None], pa.string())}))
    assert empty.table.column("id").to_pylist() == [None]


def test_thresholds_of_a_tree(study: Owner) -> None:
    cancer = alias(study, "Stomach Cancer")
    rows = pa.table(
        {
            "node": [0, 1, 2, 3, 4],
            "feature": ["age", f"disease_{cancer}", None, "dose", "age"],
            "threshold": [2.5, 0.5, None, 1.5, None],
        }
    )
    done = study.interpret_table("s.study", rows)
    assert done.table.column("feature").to_pylist() == [
        "age",
        "disease=Stomach Cancer",
        None,
        "dose",
        "age",
    ]
    assert done.table.column("threshold").to_pylist() == [37.0, 0.5, None, 1.5, None]
    assert (
        "a threshold of dose stays in released terms: it cannot be written as one '<='"
        in done.notes
    )


def test_a_threshold_that_turns_round_is_said(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1.5::DOUBLE AS x")
    owner.execute("CREATE RELEASE r FROM t (x NEUTRAL AS scaling(by => -2))")
    done = owner.interpret_table("r", pa.table({"feature": ["x"], "threshold": [-3.25]}))
    assert done.table.column("threshold").to_pylist() == [-3.25]
    assert len(done.notes) == 1
    text = owner.interpret_table("r", pa.table({"rule": ["x <= -3.25"]}))
    assert text.table.column("rule").to_pylist() == ["x >= 1.625"]


def test_a_release_without_treatments_changes_no_text(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS a")
    owner.execute("CREATE RELEASE r FROM t (a NEUTRAL)")
    rows = pa.table({"rule": ["a <= 2"], "a": [2]})
    assert owner.interpret_table("r", rows).table == rows


def test_files_that_cannot_be_read_are_said(study: Owner, tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(BindError, match="cannot be read as text"):
        study.interpret_file("s.study", tmp_path / "tree.txt")
    with pytest.raises(EngineError, match="the results cannot be read"):
        study.interpret_file("s.study", tmp_path / "nothing.csv")


def test_the_command_line(safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(DOCUMENT)
    (tmp_path / "tree.txt").write_text("|--- age <= 2.67\n", encoding="utf-8")
    (tmp_path / "rules.csv").write_text("rule,support\nage=2.667 => sex=F,0.5\n", encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["interpret", "s.study", *arguments, "--db", str(safe)])
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    snapped = "was read as 2.6666666666666665, the nearest released value\n"
    assert run("--where", "age >= 2.667") == (0, "age >= 40\n", f"note: age: 2.667 {snapped}")
    assert run("--where", "drug = 'x' AND age > 2", "--passing-others") == (
        0,
        "drug = 'x' AND age > 30\n",
        "",
    )
    assert run(str(tmp_path / "tree.txt")) == (0, "|--- age <= 40\n", f"note: age: 2.67 {snapped}")
    code, out, _ = run(str(tmp_path / "rules.csv"), "--format", "csv")
    assert (code, out) == (0, "rule,support\nage=40 => sex=F,0.5\n")
    code, out, _ = run(str(tmp_path / "rules.csv"))
    assert (code, "age=40 => sex=F" in out) == (0, True)
    assert run()[0] == 2
    assert run("--where", "agee > 2")[0] == 2


@pytest.mark.parametrize("name", ['x"y', "it's", "/*", "a.b", "--", "sélect", "order"])
def test_columns_of_any_name_are_read_back(owner: Owner, name: str) -> None:
    column = '"' + name.replace('"', '""') + '"'
    owner.execute(f"CREATE TABLE t AS SELECT i AS id, 'd' || i % 3 AS {column} FROM range(9) r (i)")
    owner.execute(f"CREATE RELEASE r.t FROM t (id KEY, {column} SENSITIVE AS mapping())")
    assert column in str(owner.interpret("r.t", f"{column} IS NULL"))


@pytest.mark.parametrize("threshold", ["0x1p3", "much", "1e3 kg"])
def test_a_threshold_that_is_a_text_stays(owner: Owner, tmp_path: Path, threshold: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, 20 + i % 50 AS age FROM range(90) r (i)")
    owner.execute("CREATE RELEASE r.t FROM t (id KEY, age SENSITIVE AS translation(by => 5))")
    file = tmp_path / "tree.csv"
    file.write_text(f"feature,threshold\nage,{threshold}\n", encoding="utf-8")
    done = owner.interpret_file("r.t", file)
    assert done.notes == ("a threshold of age is not a number: it stays as it is",)


def test_labels_in_a_table_become_conditions(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 50 AS age FROM range(300) r (i)")
    owner.execute("CREATE HIERARCHY ages AS RANGES (10, 50)")
    owner.execute(
        "CREATE RELEASE r.t FROM t (id KEY, age QUASI) GENERALIZE age USING ages UNTIL k = 20"
    )
    (label,) = owner.execute("SELECT min(age) FROM r.t").fetchone() or ("",)
    done = owner.interpret_table("r.t", pa.table({"age": [label], "n": [60]}))
    assert done.table.to_pylist() == [{"age": "age >= 0 AND age < 10", "n": 60}]
    assert done.notes == ()
    assert str(owner.interpret("r.t", f"age = '{label}'")) == "age >= 0 AND age < 10"


def test_a_release_of_a_name_that_was_published_before_says_so(
    owner: Owner, tmp_path: Path
) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 3 AS dx FROM range(90) r (i)")
    made = "CREATE RELEASE r.t FROM t (id KEY, dx SENSITIVE AS mapping())"
    owner.execute(made)
    assert owner.interpret("r.t", "dx = 'dx_1'").notes == ()
    owner.publish("r.t", to=tmp_path / "t.duckdb")
    owner.execute(f"DROP RELEASE r.t; {made}")
    (note,) = owner.interpret("r.t", "dx = 'dx_1'").notes
    assert note.startswith("a release of the name r.t was published and dropped")
