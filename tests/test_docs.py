"""The README and docs/ are tested: their blocks run, their tables say what the code says.

A block of `sql` or `python` is run, one of `text` or `sh` is not. The SQL of a page is one story:
its blocks run one after the other, beside the clinic of demo/. So do the scripts of sql/.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from click import Context

import ppdm_sql
from ppdm_sql.analyst.gate.functions import FUNCTIONS, TABLE_FUNCTIONS
from ppdm_sql.cli import cli
from ppdm_sql.language.script import STATEMENTS
from ppdm_sql.owner import Owner
from ppdm_sql.treatments import TREATMENTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted(DOCS.rglob("*.md")),
]
TREATMENTS_PAGE = DOCS / "owner" / "treatments.md"
CODES_PAGE = DOCS / "error-codes.md"
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


def run_in_a_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what a reader copies, with its comments and redirections; `ppdm` is this one."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    command = tools / "ppdm"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m ppdm_sql \"$@\"\n", encoding="utf-8")
    command.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-e"], input=script, env={**os.environ, "PATH": path}, cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_commands_of_the_readme_can_be_tried_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "sql").symlink_to(ROOT / "sql")
    section = read(ROOT / "README.md").partition("## From the command line")[2]
    commands = section.partition("```sh\n")[2].partition("```\n")[0]
    assert commands.startswith("ppdm demo --db")
    done = run_in_a_shell(commands.replace("demo", "demo --patients 2000", 1), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()
    assert "diagnosis" in done.stdout


def test_a_reader_gets_from_a_csv_to_a_release(tmp_path: Path) -> None:
    done = run_in_a_shell("\n".join(blocks(DOCS / "owner" / "first-release.md", "sh")), tmp_path)
    assert done.returncode == 0, done.stderr
    for file in ("study.duckdb", "report.html"):
        assert (tmp_path / file).exists()
    assert "Everybody shares their QUASI columns" in done.stdout
    assert "born >= 1950 AND born < 1960" in done.stdout.splitlines()[-1]


def filled(page: Path, name: str, text: str) -> None:
    """Check the generated part of a page; write it with PPDM_WRITE_GOLDEN=1."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = read(page).partition(start)
    shown, _, after = rest.partition(end)
    if os.environ.get("PPDM_WRITE_GOLDEN"):
        page.write_text(f"{before}{start}{text}\n{end}{after}", encoding="utf-8")
    else:
        assert shown == f"{text}\n"


def test_the_table_of_commands_is_what_the_code_says() -> None:
    rows = ["| command | options |", "|---|---|"]
    for name, command in sorted(cli.commands.items()):
        shown = [one for one in command.params if not getattr(one, "hidden", False)]
        words = [
            str(one.make_metavar(Context(command)))
            for one in shown
            if one.param_type_name == "argument"
        ]
        options = [f"`{one.opts[-1]}`" for one in shown if one.param_type_name == "option"]
        rows.append(
            f"| `ppdm {' '.join([name, *words])}`: {command.short_help} | {', '.join(options)} |"
        )
    filled(
        DOCS / "owner" / "statements.md",
        "commands",
        "\n".join(rows).replace("[", "").replace("]", ""),
    )


REFERENCE = DOCS / "reference.md"


def test_the_list_of_functions_is_what_the_code_says() -> None:
    words = sorted(name for name in FUNCTIONS | TABLE_FUNCTIONS if name.isidentifier())
    filled(REFERENCE, "functions", ", ".join(f"`{word}`" for word in words))


def public(path: str, of: str | None = None) -> list[ast.FunctionDef]:
    """Return the public functions of a file, or the public methods of one of its classes."""
    body = ast.parse(read(ROOT / "ppdm_sql" / path)).body
    if of is not None:
        (made,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == of)
        body = made.body
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    return [node for node in found if not node.name.startswith("_") and node.name != "open"]


def signature(node: ast.FunctionDef) -> str:
    """Return how a function is called, in code, and the first sentence of what it says."""
    said = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    if any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list):
        return f"| `{node.name}` | {said} |"
    given = node.args
    given.args = [one for one in given.args if one.arg not in ("self", "cls")]
    written = ast.unparse(given).replace(" | ", " or ")
    return f"| `{node.name}({written})` | {said.replace('|', '/')} |"


@pytest.mark.parametrize(
    ("name", "path", "of"),
    [
        ("module", "__init__.py", None),
        ("owner", "owner.py", "Owner"),
        ("analyst", "analyst/session.py", "Analyst"),
        ("rows", "engine/table_rows.py", "TableRows"),
    ],
)
def test_the_reference_is_what_the_code_says(name: str, path: str, of: str | None) -> None:
    found = public(path, of)
    if of == "TableRows":
        found += public("engine/shown_rows.py", "ShownRows")
    rows = {node.name: signature(node) for node in reversed(found)}.values()
    assert len(rows) > 3
    filled(REFERENCE, name, "\n".join(["| call | |", "|---|---|", *reversed(rows)]))


def test_the_errors_of_the_reference_are_those_of_the_code() -> None:
    made = [
        node
        for node in ast.parse(read(ROOT / "ppdm_sql" / "errors.py")).body
        if isinstance(node, ast.ClassDef) and node.name in ppdm_sql.__all__
    ]
    rows = [
        f"| `{node.name}` | `{ast.unparse(node.bases[0])}` "
        f"| {' '.join((ast.get_docstring(node) or '').partition(chr(10) * 2)[0].split())} |"
        for node in made
    ]
    assert len(rows) > 7
    filled(REFERENCE, "errors", "\n".join(["| error | is a | |", "|---|---|---|", *rows]))


def test_the_table_of_traits_is_what_the_code_says() -> None:
    (made,) = (
        node
        for node in ast.parse(read(ROOT / "ppdm_sql" / "treatments" / "traits.py")).body
        if isinstance(node, ast.ClassDef)
    )
    rows = ["| trait | if not said | meaning |", "|---|---|---|"]
    for field, after in pairwise([*made.body, made]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = after.value if isinstance(after, ast.Expr) else None
            meaning = str(said.value) if isinstance(said, ast.Constant) else ""
            default = ast.unparse(field.value) if field.value else ""
            rows.append(f"| `{field.target.id}` | {default} | {' '.join(meaning.split())} |")
    filled(DOCS / "app.md", "traits", "\n".join(rows))


def test_the_codes_of_errors_are_what_the_code_says() -> None:
    rows = [f"| `{code}` | {example} |" for code, example in sorted(examples_of_codes().items())]
    filled(CODES_PAGE, "codes", "\n".join(["| code | for example |", "|---|---|", *rows]))


OTHER_CODES = {  # their sentences are put together from parts
    "bad_argument": "graded_grouping: 3 bands but 2 names",
    "engine": "DuckDB could not run this statement: …",
    "foreign_objects": "'…' holds more than tables: a view",
    "format_and_path": "'…' is no name for a DuckDB file",
    "identifying": "…% of the persons have a '…' that nobody else has",
    "linked_rows": "'…' shows which rows belong to one person: over all rows of a person, the smallest class has … persons",
    "noise_averages": "some KEYs have several rows: averaging a person's rows removes most of the noise",
    "strict": "what PUBLISH warns of, with strict = true",
    "twin": "'…' would undo GENERALIZE of '…': both come from the same column",
}


def examples_of_codes() -> dict[str, str]:
    """Return one message for each code, as it stands in the package."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "ppdm_sql").rglob("*.py")):
        for call in ast.walk(ast.parse(read(path))):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            code = next((word.value for word in call.keywords if word.arg == "code"), None)
            said = _written(call.args[0])
            if (
                isinstance(code, ast.Constant)
                and isinstance(code.value, str)
                and len(said) > len("…: …")
            ):
                found.setdefault(code.value, said.replace("|", "/").replace("\n", " "))
    listed = (ROOT / "tests" / "golden" / "error_codes.txt").read_text().split()
    return {code: found.get(code) or OTHER_CODES[code] for code in listed}


def _written(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return ""


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
    filled(TREATMENTS_PAGE, "treatments", treatment_table())


def test_every_treatment_has_a_row_of_arguments() -> None:
    page = read(TREATMENTS_PAGE)
    for treatment in TREATMENTS:
        assert re.search(rf"^\| `{treatment.keyword}\(", page, re.MULTILINE), treatment.keyword


def test_every_method_of_the_owner_is_documented() -> None:
    page = read(DOCS / "app.md")
    for name in vars(Owner):
        if not name.startswith("_") and name != "open":  # ppdm_sql.connect
            assert re.search(rf"`{name}[`(]", page), name


def test_every_command_has_help() -> None:
    for name, command in cli.commands.items():
        assert command.help, name


def test_every_page_is_in_the_site_and_every_statement_in_its_page() -> None:
    listed = re.findall(r'"([\w/-]+\.md)"', read(ROOT / "zensical.toml"))
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} == set(listed)
    statements = read(DOCS / "owner" / "statements.md")
    for opening in STATEMENTS:
        assert opening.replace("CREATE OR REPLACE", "CREATE [OR REPLACE]") in statements or (
            opening in statements
        ), opening


def test_the_readme_is_short() -> None:
    prose = re.sub(r"^```.*?^```", "", read(ROOT / "README.md"), flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) < 700
