"""Tables on a terminal: whole words, whatever its width."""

from __future__ import annotations

import pytest
from rich.console import Console

from ppdm_sql.cli import output

NAMES = ["publication", "published_at", "release", "rows"]
ROW = ["19046aa0e1f2b3c4", "2026-11-19 02:04:08", "research.patients", 19974]


def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> list[str]:
    monkeypatch.setattr(output, "console", lambda: Console(width=width, highlight=False))
    output.print_table(NAMES, [ROW, ROW])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [200, 80, 70, 60, 40])
def test_no_word_is_cut_and_no_line_is_too_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    lines = printed(monkeypatch, capsys, width)
    text = " ".join(lines)
    assert "…" not in text
    for word in (*NAMES, "19046aa0e1f2b3c4", "research.patients", "19974"):
        assert word in text
    assert max(map(len, lines)) <= width


def test_a_narrow_terminal_shows_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [line.split()[0] for line in printed(monkeypatch, capsys, 40)] == (
        ["──", *NAMES, "──", *NAMES]
    )
