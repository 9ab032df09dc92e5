"""`make demo-sites` from one command, where scikit-learn and mlxtend are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_finds_the_same_with_and_without_the_raw_data() -> None:
    pytest.importorskip("sklearn", reason="make experiments has scikit-learn")
    pytest.importorskip("mlxtend", reason="make experiments has mlxtend")
    done = subprocess.run(
        [sys.executable, str(ROOT / "demo" / "sites")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    compared = re.findall(r"^    ([=≠]) ", done.stdout, re.MULTILINE)
    assert compared == ["="] * 12
    assert "illness=Stomach Cancer" in done.stdout
    (read,) = re.findall(r"the neighbour reads\W+([\d.]+)", done.stdout)
    assert float(read) < 60  # of aliases that were drawn apart, some are the same by chance
