"""The README and docs/ are tested: their blocks run, their tables say what the code says.

A block of `sql` or `python` is run, one of `text` or `sh` is not. The SQL of a page is one story:
its blocks run one after the other, beside the clinic of demo/. So do the scripts of sql/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ppdm_sql
from ppdm_sql.cli import cli
from ppdm_sql.owner import Owner
from ppdm_sql.treatments import TREATMENTS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TREATMENTS_PAGE = ROOT / "docs" / "treatments.md"
NEEDS = re.compile(r"^-- Needs: (\S+\.sql)\.", re.MULTILINE)


LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL)


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def script_with_needs(path: Path) -> list[str]:
    """Return a script after those it says it needs."""
    text = path.read_text(encoding="utf-8")
    needed = NEEDS.search(text)
    before = script_with_needs(ROOT / needed[1]) if needed else []
    return [*before, text.replace("$patients", "500")]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be somebody who tries what a page shows: in a folder of their own, with a passphrase."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PPDM_PASSPHRASE", "correct horse battery staple")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.stem)
def test_python_blocks_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), {})


@pytest.mark.usefixtures("reader")
@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # SCBA says what it leaves open
@pytest.mark.parametrize("page", pages_with("sql"), ids=lambda page: page.stem)
def test_sql_blocks_run(page: Path) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        for script in script_with_needs(ROOT / "demo" / "patients.sql"):
            owner.execute(script)
        for block in blocks(page, "sql"):
            owner.execute(block)
        assert owner.releases()


@pytest.mark.usefixtures("reader")
def test_the_commands_of_the_readme_can_be_tried_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "sql").symlink_to(ROOT / "sql")
    section = read(ROOT / "README.md").partition("## From the command line")[2]
    commands = re.findall(r"^ppdm (.*)$", section.partition("```\n")[0], re.MULTILINE)
    assert commands[0].startswith("demo --db")
    commands[0] = commands[0].replace("demo", "demo --patients 2000", 1)
    for command in commands:
        # As whoever copies a line runs it, with its comment and its redirection.
        line = f"'{sys.executable}' -m ppdm_sql {command}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        missed = command.startswith("audit") and done.returncode == 3  # of fewer patients
        assert done.returncode == 0 or missed, (command, done.stderr)
    assert (tmp_path / "report.html").exists()


def test_every_block_says_whether_it_runs() -> None:
    for page in PAGES:
        opened = re.findall(r"^```(.*)$", read(page), re.MULTILINE)[::2]
        assert set(opened) <= {"sql", "python", "text", "sh", "json"}, page.name


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for path, anchor in LINK.findall(read(page)):
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name}: {path}"
            titles = re.findall(r"^#+ (.*)$", read(target), re.MULTILINE) if anchor else []
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert not anchor or anchor in anchors, f"{page.name}: {path}#{anchor}"


@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # SCBA says what it leaves open
@pytest.mark.parametrize("path", sorted((ROOT / "sql").glob("*.sql")), ids=lambda path: path.stem)
def test_example_scripts_run_and_their_last_query_answers(path: Path) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        for script in script_with_needs(path):
            result = owner.execute(script)
        assert result.fetchall()
        assert owner.releases()


def test_refresh_example_maps_the_new_category() -> None:
    *before, refresh = script_with_needs(ROOT / "sql" / "refresh.sql")
    with ppdm_sql.connect(":memory:") as owner:
        for script in before:
            owner.execute(script)
        waiting = [
            result.fetchall() for result in owner.results(refresh) if result.columns == ["waiting"]
        ]
    assert waiting == [[(1,)], [(0,)]]


def treatment_table() -> str:
    rows = [
        f"| `{treatment.keyword}` | {treatment.summary} | {treatment.undone_by} "
        f"| {treatment.exactness.value} |"
        for treatment in TREATMENTS
    ]
    head = (
        "| treatment | what it does | what undoes it | the owner gets it back |\n|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def test_table_of_treatments_is_what_the_code_says() -> None:
    start, end = "<!-- treatments -->\n", "\n<!-- end of treatments -->"
    page = read(TREATMENTS_PAGE)
    shown = page.split(start)[1].split(end)[0]
    if os.environ.get("PPDM_WRITE_GOLDEN"):
        text = page.replace(start + shown + end, start + treatment_table() + end)
        TREATMENTS_PAGE.write_text(text, encoding="utf-8")
    else:
        assert shown == treatment_table()


def test_every_treatment_has_a_row_of_arguments_and_is_in_the_readme() -> None:
    page, readme = read(TREATMENTS_PAGE), read(ROOT / "README.md")
    for treatment in TREATMENTS:
        assert re.search(rf"^\| `{treatment.keyword}\(", page, re.MULTILINE), treatment.keyword
        assert f"`{treatment.keyword}`" in readme, treatment.keyword


def test_every_method_of_the_owner_is_documented() -> None:
    page = read(ROOT / "docs" / "python.md")
    for name in vars(Owner):
        if not name.startswith("_") and name != "open":  # ppdm_sql.connect
            assert re.search(rf"`{name}[`(]", page), name


def test_every_command_is_documented_and_has_help() -> None:
    readme = read(ROOT / "README.md")
    for name, command in cli.commands.items():
        assert command.help, name
        assert f"ppdm {name}" in readme or f"make {name}" in readme, name
