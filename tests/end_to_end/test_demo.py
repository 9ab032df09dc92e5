"""`ppdm demo` shows what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.cli.demo import _ORDER, _scripts

if TYPE_CHECKING:
    from collections.abc import Callable

ILLNESSES = ["Asthma", "Cancer", "Diabetes", "Flu", "HIV", "Hypertension"]
FIRST_NAMES = re.compile("Ada|Boris|Chen|Dalia|Emeka|Farah|Goran|Hana|Iris|Jonas")
TITLE = re.compile(r"^── (.*) $", re.MULTILINE)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "ppdm_sql", "demo", "--patients", "300"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    # The part that compares treatments shows the KEY, and is told what that means.
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("warning: the KEY 'patient_id' is released unchanged")
    assert done.returncode == 0
    assert list(folder.iterdir()) == [], "nothing is left behind"
    return done.stdout


@pytest.fixture(scope="module")
def part(shown: str) -> Callable[[str], str]:
    """Return the part of the demo under a title that begins so."""
    _, *pieces = TITLE.split(shown)
    parts = dict(zip(pieces[::2], pieces[1::2], strict=True))

    def find(beginning: str) -> str:
        (found,) = (text for title, text in parts.items() if title.startswith(beginning))
        return found

    return find


def cells(text: str) -> list[list[str]]:
    """Return the rows of the tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_the_story_is_told_in_order(shown: str) -> None:
    titles = TITLE.findall(shown)
    beginnings = [
        "The clinic's table",
        "The owner's script",
        "What analysts see",
        "What each treatment leaves to be undone",
        "Correlation of every released number",
        "The same question to both",
        "What the owner keeps",
        "The view's own text holds no secret",
        "Groups: no patient with a delicate illness",
        "One column, seven treatments",
        "The owner attacks the release",
    ]
    assert len(titles) == len(beginnings)
    for title, beginning in zip(titles, beginnings, strict=True):
        assert title.startswith(beginning)


def test_the_delicate_are_in_groups_and_the_rest_is_not_hidden(part: Callable[[str], str]) -> None:
    text = part("Groups")
    assert "unique in what they show: only the high class is protected" in text
    figures = {row[0]: row[1] for row in cells(text) if len(row) == 3}
    assert int(float(figures["smallest class"])) >= 5
    assert int(float(figures["l(diagnosis)"])) == 2
    generalized = [row for row in cells(text) if len(row) == 5]
    assert all("*" in row[0] for row in generalized)


def test_a_pipe_gets_no_control_characters(shown: str) -> None:
    assert "\x1b" not in shown


def test_the_clinics_table_has_names_and_illnesses(part: Callable[[str], str]) -> None:
    rows = cells(part("The clinic's table"))
    assert len(rows) == 5
    for row in rows:
        assert FIRST_NAMES.match(row[1])
        assert row[6] in ILLNESSES


def test_analysts_see_no_name_no_zip_and_no_illness(part: Callable[[str], str]) -> None:
    text = part("What analysts see")
    rows = cells(text)
    assert len(rows) == 5
    for pseudonym, zip_code, _, sex, _, diagnosis, _, _ in rows:
        assert re.fullmatch("P-[0-9a-f]{16}", pseudonym)
        assert zip_code == "NULL"
        assert sex in ("F", "M")
        assert re.fullmatch("Illness_[1-6]", diagnosis)
    assert not FIRST_NAMES.search(text)
    assert not any(illness in text for illness in ILLNESSES)


def test_the_script_that_is_shown_is_the_one_that_ran(part: Callable[[str], str]) -> None:
    text = part("The owner's script")
    assert "CREATE RELEASE research.patients" in text
    assert "created release research.patients, version 1: 8 columns, 300 rows" in text


def test_every_column_says_what_undoes_it(part: Callable[[str], str]) -> None:
    rows = cells(part("What each treatment leaves"))
    assert [row[0] for row in rows] == [
        "patient_id",
        "name",
        "zip",
        "age",
        "sex",
        "weight",
        "diagnosis",
        "income",
        "stay_days",
    ]
    assert rows[1][2:] == ["stays with the owner", "NULL"]
    assert all(row[3] for row in rows)


def test_released_numbers_go_with_their_originals(part: Callable[[str], str]) -> None:
    (row,) = cells(part("Correlation of every released number"))
    assert len(row) == 3
    for correlation in row:
        assert 0.95 < float(correlation) <= 1


def test_both_sides_get_the_same_answer(part: Callable[[str], str]) -> None:
    rows = cells(part("The same question to both"))
    original, released = rows[:6], rows[6:]
    assert sorted(row[0] for row in original) == ILLNESSES
    assert sorted(row[0] for row in released) == [f"Illness_{i}" for i in range(1, 7)]
    assert [row[1:3] for row in original] == [row[1:3] for row in released]
    assert sum(int(row[1]) for row in original) == 300


def test_the_owner_can_translate_back(part: Callable[[str], str]) -> None:
    mapping = dict(cells(part("What the owner keeps")))
    assert sorted(mapping) == ILLNESSES
    assert sorted(mapping.values()) == [f"Illness_{i}" for i in range(1, 7)]
    rows = cells(part("The same question to both"))
    for before, after in zip(rows[:6], rows[6:], strict=True):
        assert mapping[before[0]] == after[0]


def test_the_text_of_the_view_holds_no_secret(part: Callable[[str], str]) -> None:
    text = part("The view's own text")
    assert '"ppdm_owner"."r1_v1_parameters"' in text
    assert not any(illness in text for illness in ILLNESSES)
    assert not re.search(r"\b(15|30|45|60|75|90)\b", text)


def test_seven_treatments_are_compared(part: Callable[[str], str]) -> None:
    text = part("One column, seven treatments")
    rows = {row[0]: row[1:] for row in cells(text)}
    assert list(rows) == _ORDER
    assert float(rows["translated"][0]) == float(rows["scaled"][0]) == 1
    assert float(rows["translated"][1]) == 0
    for row in rows.values():
        assert 0.8 < float(row[0]) <= 1
        assert float(row[2]) > 90, "nearly every value is changed"
    before, after = rows["aggregated"][3:]
    assert abs(float(before) - float(after)) < 0.02, "means of groups keep the mean"
    assert re.search(r"aggregated: \d+ groups, the smallest of \d+; [\d.]+% of the variance", text)


def test_the_release_is_attacked(part: Callable[[str], str]) -> None:
    text = part("The owner attacks the release")
    sentences = [line for line in text.splitlines() if line.endswith(".")][:3]
    assert [line.split()[0] for line in sentences[1:]] == ["The", "The"]
    assert "The attack that gains most is" in sentences[1]
    assert "The treated columns keep" in sentences[2]
    rows = {row[0]: row for row in cells(text)}
    assert list(rows) == ["nothing", "public figures", "some people", "all of a person"]
    assert rows["some people"][1].startswith("known_pairs_")


def test_the_readme_quotes_the_verdict_of_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo"])
    told = capsys.readouterr().out.partition("AUDIT RELEASE research.patients")[2].splitlines()
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (quote,) = re.findall(r"^> (Everybody .*)$", readme, re.MULTILINE)
    assert " ".join(told[1:4]).replace("\u00a0", " ") == quote.replace("\u00a0", " ")


def test_a_database_is_left_where_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "owner" / "clinic.duckdb"
    for code in (0, 2):
        with pytest.raises(SystemExit) as end:
            main(["demo", "--patients", "300", "--db", str(place)])
        assert end.value.code == code
        before = place.read_bytes()
    assert f"'{place}' is there already" in capsys.readouterr().err
    assert place.read_bytes() == before
    with ppdm_sql.connect(place) as owner:
        assert [info.release for info in owner.releases()] == [
            "research.delicate",
            "research.incomes",
            "research.patients",
        ]


def test_it_ends_with_what_is_not_protected(shown: str) -> None:
    assert "Pseudonymised is not anonymous" in shown[-400:]


def test_patients_are_the_same_in_every_run_and_pseudonyms_are_not(
    shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--patients", "300"])
    assert end.value.code == 0
    again = capsys.readouterr().out
    second = TITLE.split(again)
    first = TITLE.split(shown)
    assert first[2] == second[2]
    assert first[6] != second[6]


@pytest.mark.parametrize("patients", ["0", "1", "-1"])
def test_too_few_patients_are_the_users_to_fix(
    capsys: pytest.CaptureFixture[str], patients: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--patients", patients])
    assert end.value.code == 2
    assert "bug" not in capsys.readouterr().err


def test_the_scripts_of_the_demo_are_where_they_are_looked_for() -> None:
    names = {path.name for path in _scripts().iterdir()}
    assert {"patients.sql", "release.sql", "incomes.sql"} <= names


def test_the_wheel_brings_the_scripts_of_the_demo() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["demo"] == "ppdm_sql/_demo"
