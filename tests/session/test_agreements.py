"""Agreements: what sites share, what they cannot, and the sealed file between them."""

from __future__ import annotations

import json
import stat
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.errors import (
    BindError,
    PpdmError,
    Refused,
    StatementError,
    StoreError,
    TreatmentError,
)
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import PlainSql
from ppdm_sql.language.unparse import unparse
from ppdm_sql.sites import sealing
from ppdm_sql.sites.sealing import Cost, seal, unseal
from ppdm_sql.store.agreements import list_agreements
from ppdm_sql.treatments.treatment import Treatment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

PASSPHRASE = "correct horse battery staple"
CHEAP = Cost(4)
COLUMNS = """
    id KEY AS pseudonym(prefix => 'P-'),
    age QUASI AS graded_grouping(bands => [0, 30, 60, 90]),
    (x, y) SENSITIVE AS rotation(),
    weight SENSITIVE AS scaling() THEN noise(normal(0, 1), rho => 50),
    illness SENSITIVE AS mapping(prefix => 'Illness', domain => ['Flu', 'HIV', 'Cancer']),
    city NEUTRAL AS mapping()
"""
TABLE = """
SELECT i AS id, (i * 7 % 90)::INTEGER AS age, i::DOUBLE AS x, (i * i % 13)::DOUBLE AS y,
       50.5::DOUBLE + i AS weight, ['Flu', 'HIV', 'Cancer'][1 + i % 3] AS illness,
       ['Ulm', 'Bonn', 'Jena', 'Trier'][1 + i % 4] AS city, 'somebody' AS name
"""


@pytest.fixture(autouse=True)
def cheap_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PPDM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr("ppdm_sql.sites.agreements.seal", cheap_seal)


def cheap_seal(content: bytes, passphrase: str) -> bytes:
    return seal(content, passphrase, CHEAP)


@pytest.fixture
def other() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as opened:
        yield opened


def agree(owner: Owner, other: Owner, folder: Path, columns: str = COLUMNS) -> None:
    owner.execute(f"CREATE AGREEMENT north ({columns})")
    owner.execute(f"EXPORT AGREEMENT north TO '{folder / 'north.agreement'}'")
    other.execute(f"IMPORT AGREEMENT FROM '{folder / 'north.agreement'}'")


def release(owner: Owner, rows: str, columns: str = COLUMNS) -> dict[str, tuple[object, ...]]:
    owner.execute(f"CREATE OR REPLACE TABLE t AS {rows}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
        owner.execute(f"CREATE OR REPLACE RELEASE r FROM t ({columns}) WITH (agreement = 'north')")
    return {str(row[0]): row for row in owner.execute("FROM r").fetchall()}


def test_two_sites_release_alike_without_talking_again(
    owner: Owner, other: Owner, tmp_path: Path
) -> None:
    agree(owner, other, tmp_path)
    here = release(owner, f"{TABLE} FROM range(0, 30) AS r (i)")
    there = release(other, f"{TABLE} FROM range(20, 50) AS r (i)")
    assert len(here.keys() & there.keys()) == 10
    for key in here.keys() & there.keys():
        assert here[key] == there[key]


def test_two_agreements_draw_differently(owner: Owner, other: Owner) -> None:
    for site in (owner, other):
        site.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    here = release(owner, f"{TABLE} FROM range(30) AS r (i)")
    there = release(other, f"{TABLE} FROM range(30) AS r (i)")
    assert not here.keys() & there.keys()
    prints = [site.execute("SHOW AGREEMENTS").fetchall()[0][1] for site in (owner, other)]
    assert prints[0] != prints[1]


def test_keys_of_any_spelling_and_type_meet(owner: Owner, other: Owner, tmp_path: Path) -> None:
    columns = "id KEY AS pseudonym(), weight NEUTRAL AS noise(normal(0, 1))"
    agree(owner, other, tmp_path, columns)
    numbers = release(owner, "SELECT 7 AS id, 1.0::DOUBLE AS weight", columns)
    assert numbers == release(other, "SELECT ' 7 ' AS id, 1.0::DOUBLE AS weight", columns)
    text = release(owner, "SELECT 'ab-1 C' AS id, 1.0::DOUBLE AS weight", columns)
    assert text == release(other, "SELECT 'AB-1c' || chr(9) AS id, 1.0::DOUBLE AS weight", columns)
    assert text.keys() != numbers.keys()
    assert release(owner, "SELECT NULL::INTEGER AS id, NULL::DOUBLE AS weight", columns).keys() == {
        "None"
    }


def test_aliases_do_not_depend_on_what_a_site_has(
    owner: Owner, other: Owner, tmp_path: Path
) -> None:
    agree(owner, other, tmp_path)
    release(owner, f"{TABLE} FROM range(30) AS r (i)")
    release(other, f"{TABLE} FROM range(30) AS r (i) WHERE i % 3 = 1 AND i % 4 < 2")
    tables = "r1_v1_t4_0_aliases", "r1_v1_t5_0_aliases"
    closed, opened = (
        [dict(site.execute(f"FROM ppdm_owner.{table}").fetchall()) for site in (owner, other)]
        for table in tables
    )
    assert closed[0] == closed[1]
    assert set(closed[0]) == {"Flu", "HIV", "Cancer"}
    assert set(closed[0].values()) == {"Illness_1", "Illness_2", "Illness_3"}
    assert set(opened[1]) < set(opened[0])
    assert opened[1].items() <= opened[0].items()
    assert len(set(opened[0].values())) == 4


def test_a_refresh_keeps_and_adds_what_the_other_site_would_draw(
    owner: Owner, other: Owner, tmp_path: Path
) -> None:
    columns = "city NEUTRAL AS mapping()"
    agree(owner, other, tmp_path, columns)
    release(owner, "SELECT 'Ulm' AS city", columns)
    owner.execute("INSERT INTO t VALUES ('Bonn')")
    owner.execute("REFRESH RELEASE r")
    refreshed = {row[0] for row in owner.execute("FROM r").fetchall()}
    assert refreshed == set(release(other, "SELECT unnest(['Ulm', 'Bonn']) AS city", columns))


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("a QUASI AS graded_grouping(bands => 5)", "cut from one site's column"),
        ("a QUASI AS mean_noise()", "of one site's rows"),
        ("a QUASI AS microaggregation(size => 3)", "of one site's rows"),
        ("a QUASI AS translation()", "scaled to one site's column"),
        ("(a, b) QUASI AS hybrid()", "scaled to one site's column"),
        ("(a, b) QUASI AS hybrid(translation(), scaling())", "scaled to one site's column"),
    ],
)
def test_what_one_sites_data_decides_is_refused(owner: Owner, columns: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        owner.execute(f"CREATE AGREEMENT north (id KEY, {columns})")
    assert caught.value.span is not None
    assert list_agreements(owner._engine) == []


@pytest.mark.parametrize(
    "columns",
    [
        "(a, b) QUASI AS hybrid(translation(2), scaling())",
        "(a, b) QUASI AS hybrid(rotation(), rotation())",
        "a QUASI AS translation(by => 3)",
        "a NEUTRAL AS bit_plus()",
        "a NEUTRAL AS suppress(), b NEUTRAL",
        "a NEUTRAL AS bit_plus(decimals => 2)",
        "d NEUTRAL AS translation(by => 3) THEN noise(uniform(-3, 3))",
    ],
)
def test_what_can_be_agreed(owner: Owner, columns: str) -> None:
    owner.execute(f"CREATE AGREEMENT north (id KEY, {columns})")
    assert owner.execute("SHOW AGREEMENTS").fetchall()[0][0] == "north"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(a QUASI AS nois())", "unknown treatment 'nois'"),
        ("(a QUASI AS graded_grouping(bands => [3, 2]))", "limits of bands must ascend"),
        ("(a QUASI AS rotation())", "rotation treats two or more"),
        ("(a QUASI, a NEUTRAL)", "column 'a' is listed twice"),
        ("(a IDENTIFIER)", "nothing to agree on"),
        ("(a KEY, b KEY)", "one KEY column"),
        ("(a QUASI AS noise(normal(0, 1)))", "the sites must agree on a KEY"),
        ("FROM t (a QUASI)", "an agreement has no source"),
        ("(a QUASI) GENERALIZE a UNTIL k = 2", "levels cannot be agreed"),
        ("(a QUASI) WITH (x = 1)", "unexpected 'WITH'"),
    ],
)
def test_what_is_no_agreement_is_refused(owner: Owner, text: str, what: str) -> None:
    with pytest.raises(PpdmError, match=what) as caught:
        owner.execute(f"CREATE AGREEMENT north {text}")
    assert caught.value.span is not None


def test_a_treatment_from_outside_must_say_that_sites_draw_it_alike() -> None:
    class Quiet(Treatment):
        """A treatment that does not say how it draws."""

        keyword = "quiet"
        summary = undone_by = "test"

    with (
        ppdm_sql.connect(":memory:", treatments=(Quiet,)) as owner,
        pytest.raises(Refused, match="does not declare that all sites draw the same"),
    ):
        owner.execute("CREATE AGREEMENT north (a QUASI AS quiet())")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("age QUASI AS graded_grouping(bands => [0, 45, 90])", r"other arguments there \(bands\)"),
        ("age QUASI AS graded_grouping([0, 45, 90])", "other arguments there"),
        ("age QUASI AS suppress()", "its treatment there is graded_grouping"),
        ("age QUASI", "its treatment there is graded_grouping"),
        ("age NEUTRAL AS graded_grouping(bands => [0, 30, 60, 90])", "its role there is QUASI"),
        ("weight SENSITIVE AS scaling()", "its treatment there is scaling then noise"),
        ("x SENSITIVE AS scaling()", "has no line for 'x'"),
        ("name NEUTRAL AS mapping()", "has no line for 'name'"),
    ],
)
def test_a_release_that_contradicts_its_agreement_is_refused(
    owner: Owner, line: str, what: str
) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    owner.execute(f"CREATE TABLE t AS {TABLE} FROM range(9) AS r (i)")
    with pytest.raises(BindError, match=what) as caught:
        owner.execute(f"CREATE RELEASE r FROM t ({line}) WITH (agreement = 'north')")
    assert caught.value.span is not None
    assert "30" not in caught.value.what + (caught.value.hint or "")
    assert owner.releases() == []


def test_the_same_said_in_other_words_is_no_contradiction(owner: Owner) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    owner.execute(f"CREATE TABLE t AS {TABLE} FROM range(9) AS r (i)")
    owner.execute(
        "CREATE RELEASE r FROM t (name IDENTIFIER, AGE QUASI AS graded_grouping([0, 30, 60, 90.0]))"
        " WITH (agreement = 'NORTH')"
    )
    assert len(owner.releases()) == 1


def test_a_category_outside_the_domain_is_refused_and_not_told(owner: Owner) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    owner.execute(f"CREATE TABLE t AS {TABLE} FROM range(9) AS r (i)")
    owner.execute("UPDATE t SET illness = 'Unheard-of' WHERE id = 3")
    with pytest.raises(TreatmentError, match="1 category of 'illness' is not in its domain") as e:
        owner.execute(f"CREATE RELEASE r FROM t ({COLUMNS}) WITH (agreement = 'north')")
    assert "Unheard" not in str(e.value)


@pytest.mark.parametrize(
    ("key", "what"),
    [("1.5::DOUBLE", "of type DOUBLE"), ("1.50::DECIMAL(9, 2)", "DECIMAL"), ("true", "BOOLEAN")],
)
def test_a_key_without_one_text_is_refused(owner: Owner, key: str, what: str) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY AS pseudonym())")
    with pytest.raises(BindError, match=what):
        release(owner, f"SELECT {key} AS id", "id KEY AS pseudonym()")


def test_rows_are_told_apart_by_the_agreed_key_only(owner: Owner) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY, x NEUTRAL AS noise(normal(0, 1)))")
    owner.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x DOUBLE)")
    with pytest.raises(BindError, match="not the PRIMARY KEY 'id'"):
        owner.execute(
            "CREATE RELEASE r FROM t (x NEUTRAL AS noise(normal(0, 1))) WITH (agreement = 'north')"
        )


def test_an_agreement_that_is_not_there(owner: Owner) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY AS pseudonym()); CREATE TABLE t (id INTEGER)")
    for value in ("'nort'", "7"):
        with pytest.raises(BindError, match="there is no agreement"):
            owner.execute(f"CREATE RELEASE r FROM t (id NEUTRAL) WITH (agreement = {value})")
    for statement in ("EXPORT AGREEMENT x TO 'f'", "DESCRIBE AGREEMENT x", "DROP AGREEMENT x"):
        with pytest.raises(BindError, match="there is no agreement 'x'"):
            owner.execute(statement)
    with pytest.raises(BindError, match="there is already an agreement"):
        owner.execute("CREATE AGREEMENT North (id KEY)")


def test_describe_says_what_was_agreed(owner: Owner) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    rows = owner.execute("DESCRIBE AGREEMENT north").fetchall()
    assert rows[1] == ("age", "QUASI", 'graded_grouping("bands" => [0, 30, 60, 90])', None)
    assert [row[0] for row in rows] == ["id", "age", "x, y", "weight", "illness", "city"]
    ((name, fingerprint, columns),) = owner.execute("SHOW AGREEMENTS").fetchall()
    assert (name, len(fingerprint), columns) == ("north", 64, 7)


def test_an_agreement_in_use_is_not_dropped(owner: Owner) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY AS pseudonym())")
    release(owner, "SELECT 7 AS id", "id KEY AS pseudonym()")
    with pytest.raises(Refused, match=r"release 'main\.r' depends on agreement 'north'"):
        owner.execute("DROP AGREEMENT north")
    owner.execute("DROP RELEASE r")
    assert owner.execute("DROP AGREEMENT north").message == "dropped agreement north"
    assert owner.execute("DROP AGREEMENT IF EXISTS north").message == "there was no agreement north"


def test_plain_tables_called_agreement_stay_plain(owner: Owner) -> None:
    owner.execute("CREATE TABLE agreement AS SELECT 1 AS a")
    assert owner.execute("DESCRIBE agreement").fetchall()[0][0] == "a"


# --- the file ---


def test_the_file_is_the_owners_alone_and_never_replaced(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY)")
    path = tmp_path / "north.agreement"
    owner.execute(f"EXPORT AGREEMENT north TO '{path}'")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(Refused, match="already exists"):
        owner.execute(f"EXPORT AGREEMENT north TO '{path}'")
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="cannot be written"):
        owner.execute(f"EXPORT AGREEMENT north TO '{tmp_path / 'no' / 'where'}'")
    with pytest.raises(StoreError, match="cannot be read"):
        owner.execute(f"IMPORT AGREEMENT FROM '{tmp_path / 'nothing'}'")


def test_importing_twice_is_no_error_and_another_of_the_name_is(
    owner: Owner, other: Owner, tmp_path: Path
) -> None:
    agree(owner, other, tmp_path, "id KEY")
    done = other.execute(f"IMPORT AGREEMENT FROM '{tmp_path / 'north.agreement'}'")
    assert done.message.startswith("there was already agreement north")
    other.execute("DROP AGREEMENT north; CREATE AGREEMENT north (id KEY)")
    with pytest.raises(Refused, match="there is a different agreement named 'north' here"):
        other.execute(f"IMPORT AGREEMENT FROM '{tmp_path / 'north.agreement'}'")


def test_a_wrong_passphrase_is_refused(
    owner: Owner, other: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agree(owner, owner, tmp_path, "id KEY")
    monkeypatch.setenv("PPDM_PASSPHRASE", "correct horse battery stapl3")
    with pytest.raises(StoreError, match="the passphrase is wrong, or the file was changed") as e:
        other.execute(f"IMPORT AGREEMENT FROM '{tmp_path / 'north.agreement'}'")
    assert "stapl3" not in str(e.value)
    assert list_agreements(other._engine) == []


def test_without_a_passphrase_nothing_is_written(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY)")
    path = tmp_path / "north.agreement"
    monkeypatch.delenv("PPDM_PASSPHRASE")
    with pytest.raises(StoreError, match="there is no passphrase"):
        owner.execute(f"EXPORT AGREEMENT north TO '{path}'")
    owner.on_passphrase(lambda is_new: "short" if is_new else "")
    with pytest.raises(Refused, match="the passphrase has 5 characters"):
        owner.execute(f"EXPORT AGREEMENT north TO '{path}'")
    assert not path.exists()


def test_every_changed_byte_is_refused() -> None:
    sealed = seal(b"content", PASSPHRASE, CHEAP)
    assert unseal(sealed, PASSPHRASE) == b"content"
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(StoreError):
            unseal(bytes(changed), PASSPHRASE)
    for length in range(len(sealed)):
        with pytest.raises(StoreError):
            unseal(sealed[:length], PASSPHRASE)


def test_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "VERSION", 0)
    older = seal(b"content", PASSPHRASE, CHEAP)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="sealed in format 0, this version of ppdm-sql reads 1"):
        unseal(older, PASSPHRASE)


def test_the_usual_cost_is_what_the_documentation_says() -> None:
    assert seal(b"content", PASSPHRASE)[15] == 17


@pytest.mark.parametrize(
    "content",
    [
        b"no json",
        b"[]",
        json.dumps({"name": "n", "definition": "CREATE AGREEMENT n (a KEY)"}).encode(),
        json.dumps(
            {"name": "n", "definition": "CREATE AGREEMENT n (a KEY)", "master_key": "00"}
        ).encode(),
        json.dumps(
            {"name": "m", "definition": "CREATE AGREEMENT n (a KEY)", "master_key": "00" * 32}
        ).encode(),
        json.dumps({"name": "n", "definition": "SELECT 1", "master_key": "00" * 32}).encode(),
        json.dumps(
            {
                "name": "n",
                "definition": "CREATE AGREEMENT n (a QUASI AS mean_noise())",
                "master_key": "00" * 32,
            }
        ).encode(),
    ],
)
def test_a_sealed_file_that_holds_no_agreement_is_refused(
    owner: Owner, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "file").write_bytes(seal(content, PASSPHRASE, CHEAP))
    with pytest.raises(PpdmError) as caught:
        owner.execute(f"IMPORT AGREEMENT FROM '{tmp_path / 'file'}'")
    assert caught.value.line == 1
    assert list_agreements(owner._engine) == []


def test_nothing_of_an_agreement_is_printed_or_in_its_file(owner: Owner, tmp_path: Path) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    (agreement,) = list_agreements(owner._engine)
    assert agreement.master_key.hex() not in repr(agreement)
    assert "Cancer" not in repr(agreement)
    owner.execute(f"EXPORT AGREEMENT north TO '{tmp_path / 'f'}'")
    file = (tmp_path / "f").read_bytes()
    for secret in (agreement.master_key, agreement.master_key.hex().encode(), b"Cancer", b"north"):
        assert secret not in file


def test_the_fingerprint_is_of_key_and_content(owner: Owner) -> None:
    owner.execute(f"CREATE AGREEMENT north ({COLUMNS})")
    (agreement,) = list_agreements(owner._engine)
    prints = {
        one.fingerprint
        for one in (
            agreement,
            replace(agreement, definition=agreement.definition + " "),
            replace(agreement, master_key=bytes(32)),
        )
    }
    assert len(prints) == 3


def test_a_damaged_agreement_is_said(owner: Owner) -> None:
    owner.execute("CREATE AGREEMENT north (id KEY)")
    owner.execute("UPDATE ppdm_owner.agreements SET definition = 'SELECT 1'")
    with pytest.raises(StoreError, match="agreement 'north' cannot be read"):
        owner.execute("DESCRIBE AGREEMENT north")
    owner.execute("UPDATE ppdm_owner.agreements SET master_key = ''::BLOB")
    with pytest.raises(StoreError, match="the key of agreement 'north' is missing"):
        owner.execute("SHOW AGREEMENTS")


def test_the_command_line_asks_for_the_passphrase(
    safe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.sql"
    script.write_text(
        f"CREATE AGREEMENT north (id KEY); EXPORT AGREEMENT north TO '{tmp_path / 'f'}';"
        f"IMPORT AGREEMENT FROM '{tmp_path / 'f'}'"
    )
    monkeypatch.delenv("PPDM_PASSPHRASE")
    asked: list[object] = []

    def prompt(text: str, **options: object) -> str:
        asked.append((text, options["hide_input"], options["confirmation_prompt"]))
        return PASSPHRASE

    monkeypatch.setattr("click.prompt", prompt)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["run", str(script), "--db", str(safe)])
    assert (ended.value.code, capsys.readouterr().err) == (0, "")
    assert asked == [
        ("New passphrase of the agreement file", True, True),
        ("Passphrase of the agreement file", True, False),
    ]
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    script.write_text(f"IMPORT AGREEMENT FROM '{tmp_path / 'f'}'")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(script), "--db", str(safe)])
    assert ended.value.code == 2
    assert "there is no passphrase" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE AGREEMENT north ({COLUMNS})",
        'CREATE AGREEMENT "a b" (("x y", z) SENSITIVE AS rotation(degrees => [13.7]), k KEY)',
        "DROP AGREEMENT north",
        "DROP AGREEMENT IF EXISTS north",
        "EXPORT AGREEMENT north TO 'it''s'",
        "IMPORT AGREEMENT FROM 'it''s'",
        "DESCRIBE AGREEMENT north",
        "SHOW AGREEMENTS",
        "INTERPRET RELEASE s.r WHERE a >= 2.5 AND b = 'it''s'",
        "INTERPRET RELEASE s.r PASSING OTHERS WHERE a >= 2.5",
        "INTERPRET RELEASE s.r TABLE a.b",
    ],
)
def test_statements_are_the_same_when_written_and_read_again(text: str) -> None:
    (statement,) = parse_script(text)
    assert not isinstance(statement, PlainSql)
    (again,) = parse_script(unparse(statement))
    assert again == statement


@pytest.mark.parametrize(
    "text",
    [
        "EXPORT AGREEMENT a TO b",
        "IMPORT AGREEMENT FROM ''",
        "EXPORT AGREEMENT a",
        "SHOW AGREEMENTS x",
    ],
)
def test_what_is_no_statement_of_an_agreement(owner: Owner, text: str) -> None:
    with pytest.raises(StatementError):
        owner.execute(text)


def test_a_cost_that_no_file_should_have_is_refused() -> None:
    sealed = bytearray(seal(b"content", PASSPHRASE, CHEAP))
    sealed[15] = 40
    with pytest.raises(StoreError, match="changed since it was sealed"):
        unseal(bytes(sealed), PASSPHRASE)


def test_an_agreement_of_what_was_published_is_kept(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE AGREEMENT north (w NEUTRAL); CREATE TABLE t AS SELECT range % 5 AS w FROM range(50);"
        "CREATE RELEASE s.r FROM t (w NEUTRAL) WITH (agreement = 'north')"
    )
    owner.publish("s.r", to=tmp_path / "a.duckdb")
    owner.execute("DROP RELEASE s.r")
    with pytest.raises(Refused, match=r"release 's.r' depends on agreement 'north'"):
        owner.execute("DROP AGREEMENT north")
    assert owner.interpret("s.r", "w > 2").original == "w > 2"


PRIVATE = (
    "id KEY AS pseudonym(), age QUASI AS graded_grouping(bands => [0, 30, 60, 90]),"
    " illness SENSITIVE PRIVATE TO hospital, weight SENSITIVE PRIVATE TO hospital"
)
OWN = (
    "id KEY AS pseudonym(), age QUASI AS graded_grouping(bands => [0, 30, 60, 90]),"
    " illness SENSITIVE AS pseudonym(), weight SENSITIVE AS scaling()"
)


def private_release(owner: Owner, site: str = "hospital") -> list[tuple[object, ...]]:
    owner.execute(f"CREATE OR REPLACE TABLE t AS {TABLE} FROM range(60) AS r (i)")
    owner.execute(
        f"CREATE OR REPLACE RELEASE r FROM t ({OWN}) WITH (agreement = 'north', site = '{site}')"
    )
    return owner.sql("SELECT id, age, illness, weight FROM r ORDER BY id").fetchall()


def test_a_neighbour_reads_nothing_of_a_private_column(
    owner: Owner, other: Owner, tmp_path: Path
) -> None:
    """It holds the agreement, all the values, and does as if it were the other site."""
    agree(owner, other, tmp_path, PRIVATE)
    here, there = private_release(owner), private_release(other)
    assert [row[:2] for row in here] == [row[:2] for row in there], "what is shared is the same"
    assert not {row[2] for row in here} & {row[2] for row in there}
    ratios = {
        round(float(str(a[3])) / float(str(b[3])), 9) for a, b in zip(here, there, strict=True)
    }
    assert len(ratios) == 1
    assert ratios != {1.0}, "another constant at each site"


def test_nothing_of_a_private_column_travels(owner: Owner, other: Owner, tmp_path: Path) -> None:
    agree(owner, other, tmp_path, PRIVATE)
    rows = {row[0]: row[2:] for row in other.execute("DESCRIBE AGREEMENT north").fetchall()}
    assert rows["illness"] == (None, "hospital")
    assert rows["age"][1] is None
    private_release(owner)
    assert "hospital" in str(other.execute("DESCRIBE AGREEMENT north").fetchall())


def test_another_site_does_not_release_it(owner: Owner, other: Owner, tmp_path: Path) -> None:
    agree(owner, other, tmp_path, PRIVATE)
    with pytest.raises(BindError, match="'illness' is private to 'hospital'") as caught:
        private_release(other, "pharmacy")
    assert caught.value.code == "not_agreed"


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("id KEY PRIVATE TO a", "the KEY is what the sites share"),
        ("id KEY, x NEUTRAL PRIVATE TO a AS scaling()", "has no treatment here"),
        ("id KEY, x NEUTRAL PRIVATE a", "expected"),
    ],
)
def test_what_cannot_be_private_is_refused(owner: Owner, columns: str, what: str) -> None:
    with pytest.raises(StatementError, match=what):
        owner.execute(f"CREATE AGREEMENT north ({columns})")


def test_a_site_belongs_to_an_agreement(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS id")
    with pytest.raises(BindError, match="belongs to an agreement"):
        owner.execute("CREATE RELEASE r FROM t (id NEUTRAL) WITH (site = 'hospital')")


def test_keys_that_fall_together_are_refused_with_their_number(owner: Owner) -> None:
    owner.execute(
        "CREATE AGREEMENT north (id KEY AS pseudonym(), x NEUTRAL);"
        "CREATE TABLE t AS SELECT unnest(['a1', 'A 1', 'b', 'B', 'c']) AS id, 1 AS x"
    )
    release_it = (
        "CREATE RELEASE r FROM t (id KEY AS pseudonym(), x NEUTRAL) WITH (agreement = 'north')"
    )
    with pytest.raises(Refused, match="2 KEYs of 'id' would be the same") as caught:
        owner.execute(release_it)
    assert caught.value.code == "names_collide"
    owner.execute("DELETE FROM t WHERE id IN ('A 1', 'B')")
    owner.execute(release_it)
    owner.execute("INSERT INTO t VALUES ('A1', 1)")
    with pytest.warns(ppdm_sql.PrivacyWarning, match="1 KEY of 'id' would be the same"):
        owner.execute("REFRESH RELEASE r")
