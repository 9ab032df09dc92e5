"""Arrows point down only, and one room alone talks to the engine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.generalized_column import Generalize

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ppdm_sql"
ROOMS_OF_THE_GATE = ("ppdm_sql.analyst.gate", "ppdm_sql.names", "ppdm_sql.errors")
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports_at_run_time(path: Path) -> set[str]:
    """Return what a module imports, leaving out what is for type checkers only."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.add(node.module or "")
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


def test_import_linter_keeps_every_contract() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [command, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    kept = re.search(r"Contracts: (\d+) kept, (\d+) broken", done.stdout)
    assert kept is not None
    assert int(kept[1]) >= 2
    assert int(kept[2]) == 0


def test_no_two_modules_import_each_other_not_even_for_annotations() -> None:
    graph = grimp.build_graph("ppdm_sql")
    cycles = [
        (module, chain[1])
        for module in sorted(graph.modules - {"ppdm_sql"})
        for imported in graph.find_modules_directly_imported_by(module) - {"ppdm_sql"}
        if (chain := graph.find_shortest_chain(imported, module)) is not None
    ]
    assert cycles == []


def test_only_the_engines_import_duckdb() -> None:
    """The owner's engine, and that of foreign files, which runs in a process of its own."""
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(name.partition(".")[0] == "duckdb" for name in imports_at_run_time(path))
    }
    assert users == {"engine/duckdb.py", "engine/duckdb_errors.py", "foreign/child.py"}


@pytest.mark.parametrize(
    "room", ["treatments/kernels", "analyst/gate", "chance", "types.py", "names.py", "errors.py"]
)
def test_lower_rooms_build_no_sql(room: str) -> None:
    start = PACKAGE / room
    for path in [start] if start.is_file() else sorted(start.rglob("*.py")):
        roots = {name.partition(".")[0] for name in imports_at_run_time(path)}
        assert "sqlglot" not in roots, path


def test_no_word_of_a_treatment_stands_outside_its_room() -> None:
    """Others rely on traits: a treatment from outside then gets what those of the package get."""
    words = {treatment.keyword for treatment in TREATMENTS} | {Generalize.keyword}
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] != "treatments"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in words
    ]
    assert found == []


def test_unit_tests_drive_no_engine() -> None:
    """What needs one is in tests/session."""
    for path in sorted((ROOT / "tests" / "unit").rglob("*.py")):
        roots = {name.partition(".")[0] for name in imports_at_run_time(path)}
        assert "duckdb" not in roots, path
        assert "ppdm_sql.connect" not in path.read_text(encoding="utf-8"), path


def test_only_the_command_line_prints() -> None:
    for path in MODULES:
        if "cli" in path.relative_to(PACKAGE).parts:
            continue
        roots = {name.partition(".")[0] for name in imports_at_run_time(path)}
        assert not roots & {"click", "rich"}, path


def test_sqlglot_is_never_subclassed() -> None:
    """Its compiled build refuses subclasses, and somebody else's package may have brought it."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                assert not any(base.startswith(("exp.", "sqlglot")) for base in bases), path


def test_every_room_says_what_it_is_for() -> None:
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path


def test_the_gate_knows_names_and_errors_only() -> None:
    """A server will stand on it, and the process it runs in must start quickly."""
    for path in sorted((PACKAGE / "analyst" / "gate").glob("*.py")):
        ours = {name for name in imports_at_run_time(path) if name.startswith("ppdm_sql")}
        assert all(name.startswith(ROOMS_OF_THE_GATE) for name in ours), path


def test_what_is_asked_of_duckdb_is_asked_of_its_own_functions() -> None:
    """A macro of a file, or of the owner's database, may have the name of one."""
    unqualified = re.compile(r"(?<!system\.main\.)\bduckdb_[a-z]+\(\)")
    for path in sorted((ROOT / "ppdm_sql").rglob("*.py")):
        assert not unqualified.search(path.read_text(encoding="utf-8")), path
