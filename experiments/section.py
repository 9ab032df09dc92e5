"""What an experiment hands over: a piece of the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DOCS = Path("docs/reports")


@dataclass(frozen=True, slots=True)
class Section:
    """One experiment as markdown."""

    title: str
    text: str


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a markdown table, numbers to the right but for the first column."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
