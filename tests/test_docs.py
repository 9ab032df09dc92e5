"""The README is tested: its blocks run, its tables say what the code says; so do sql/ and demo/."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import ppdm_sql
from ppdm_sql.cli import cli
from ppdm_sql.transforms import TRANSFORMS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NEEDS = re.compile(r"^-- Needs: (\S+\.sql)\.", re.MULTILINE)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def script_with_needs(path: Path) -> list[str]:
    """Return a script after those it says it needs."""
    text = path.read_text(encoding="utf-8")
    needed = NEEDS.search(text)
    before = script_with_needs(ROOT / needed[1]) if needed else []
    return [*before, text.replace("$patients", "500")]


@pytest.mark.parametrize("block", blocks("python"))
def test_python_blocks_of_the_readme_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "README.md", "exec"), {})


@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # SCBA says what it leaves open
@pytest.mark.parametrize("block", blocks("sql"))
def test_sql_blocks_of_the_readme_run(block: str) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        for script in script_with_needs(ROOT / "demo" / "patients.sql"):
            owner.execute(script)
        owner.execute(block)
        assert owner.sql("SHOW RELEASES").fetchall()


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
        f"| `{transform.keyword}` | {transform.summary} | {transform.undone_by} "
        f"| {transform.exactness.value} |"
        for transform in TRANSFORMS
    ]
    head = (
        "| treatment | what it does | what undoes it | the owner gets it back |\n|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def test_table_of_treatments_is_what_the_code_says() -> None:
    start, end = "<!-- treatments -->\n", "\n<!-- end of treatments -->"
    shown = README.split(start)[1].split(end)[0]
    if os.environ.get("PPDM_WRITE_GOLDEN"):
        text = README.replace(start + shown + end, start + treatment_table() + end)
        (ROOT / "README.md").write_text(text, encoding="utf-8")
    else:
        assert shown == treatment_table()


def test_every_treatment_has_a_row_of_arguments() -> None:
    for transform in TRANSFORMS:
        assert re.search(rf"^\| `{transform.keyword}\(", README, re.MULTILINE), transform.keyword


def test_every_command_is_documented_and_has_help() -> None:
    for name, command in cli.commands.items():
        assert command.help, name
        assert f"ppdm {name}" in README or f"make {name}" in README, name
