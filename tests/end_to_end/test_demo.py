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
from ppdm_sql.cli.demo import _scripts

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
    assert done.stderr == ""
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
    assert TITLE.findall(shown) == [
        "The clinic's table, which nobody else may see",
        "A first try: drafts.patients",
        "A better release: research.patients",
        "Side by side",
        "What analysts see, and the same question to both tables",
        "The file that analysts get, and the way back",
    ]
    assert len(shown.splitlines()) < 120, "two screens"


def test_a_pipe_gets_no_control_characters(shown: str) -> None:
    assert "\x1b" not in shown


def test_the_clinics_table_has_names_and_illnesses(part: Callable[[str], str]) -> None:
    rows = cells(part("The clinic's table"))
    assert len(rows) == 3
    for row in rows:
        assert FIRST_NAMES.match(row[1])
        assert row[6] in ILLNESSES


def test_analysts_see_no_name_and_no_whole_zip(part: Callable[[str], str]) -> None:
    text = part("What analysts see")
    rows = [row for row in cells(text) if len(row) == 8]
    assert len(rows) == 3
    for pseudonym, zip_code, _, sex, _, diagnosis, _, _ in rows:
        assert re.fullmatch("P-[0-9a-f]{16}", pseudonym)
        assert "*" in zip_code
        assert sex in ("F", "M", "*")
        assert diagnosis in ILLNESSES
    assert not FIRST_NAMES.search(text)


def test_the_scripts_that_are_shown_are_those_that_ran(part: Callable[[str], str]) -> None:
    for beginning, script, name in (
        ("A first try", "first.sql", "drafts.patients"),
        ("A better release", "release.sql", "research.patients"),
    ):
        text = part(beginning)
        assert _scripts().joinpath(script).read_text(encoding="utf-8").strip() in text
        assert f"created release {name}, version 1: 8 columns" in text
        verdict = text.partition(f"AUDIT RELEASE {name}\n")[2].strip().splitlines()
        assert len(verdict) == 3


def test_the_better_release_is_better(part: Callable[[str], str]) -> None:
    rows = cells(part("Side by side"))
    assert len(rows) == 4
    for _, first, better in rows:
        assert float(better.rstrip(" %")) < float(first.rstrip(" %"))


def test_both_sides_get_about_the_same_answer(part: Callable[[str], str]) -> None:
    rows = [row for row in cells(part("What analysts see")) if len(row) == 7]
    assert {row[0] for row in rows} <= set(ILLNESSES)
    assert sum(int(row[1]) for row in rows) == 300
    for row in rows:
        assert int(row[2]) <= int(row[1])


def test_results_come_back(part: Callable[[str], str]) -> None:
    text = part("The file that analysts get")
    assert "published research.patients (version 1" in text
    assert re.search(r"the owner reads it as .*zip.* AND diagnosis = 'Flu'", text)


def test_the_readme_quotes_the_verdict_of_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo"])
    told = capsys.readouterr().out.partition("AUDIT RELEASE research.patients\n")[2].splitlines()
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (quote,) = re.findall(r"^> (Everybody .*)$", readme, re.MULTILINE)
    assert " ".join(told[:3]).replace("\u00a0", " ") == quote.replace("\u00a0", " ")


def test_a_database_is_left_where_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "owner" / "clinic.duckdb"
    for code in (0, 2):
        with pytest.raises(SystemExit) as end:
            main(["demo", "--patients", "300", "--db", str(place)])
        assert end.value.code == code
        before = place.read_bytes()
    assert f"'{place}' already exists" in capsys.readouterr().err
    assert place.read_bytes() == before
    with ppdm_sql.connect(place) as owner:
        assert [info.release for info in owner.releases()] == [
            "drafts.patients",
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
    assert first[10] != second[10]


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
    assert {"patients.sql", "first.sql", "release.sql"} <= names


def test_the_wheel_brings_the_scripts_of_the_demo() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["demo"] == "ppdm_sql/_demo"
