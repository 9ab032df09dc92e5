"""docs/promises.md: every promise names tests, and every test that it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def rows() -> list[list[str]]:
    """Return the promises: the cells of every row but heads and lines."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "promise"]


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_holds_a_promise_is_there(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in names


def test_every_promise_says_to_whom_against_whom_and_by_what() -> None:
    found = rows()
    assert len(found) > 30
    for row in found:
        assert len(row) == 4, row[0]
        assert all(row), row[0]
        assert "::test_" in row[3], row[0]


def test_every_group_says_what_is_not_promised() -> None:
    groups = PAGE.split("\n## ")[1:]
    assert all("\nNot promised:\n" in group for group in groups)
