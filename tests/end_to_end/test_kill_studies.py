"""kill -9 while a study is published or refreshed: the old study or the new one, never a mixture."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from tests.clinic_tables import RELEASES, STUDY, tables

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.soak
KILLS = int(os.environ.get("PPDM_KILLS", "50"))
RUN = """
import sys, warnings, ppdm_sql
warnings.simplefilter("ignore")
with ppdm_sql.connect(sys.argv[1]) as owner:
    print("ready", flush=True)
    owner.execute(sys.argv[2])
print("done", flush=True)
"""


@pytest.fixture
def clinic(safe: Path) -> Path:
    with warnings.catch_warnings(), ppdm_sql.connect(safe) as owner:
        warnings.simplefilter("ignore")
        owner.execute(tables(1500))
        owner.execute(RELEASES)
        owner.execute(STUDY)
    return safe


def victim(safe: Path, statement: str, delay: float | None) -> tuple[bool, float]:
    """Run a statement in a process, killed after a while; whether it came to its end, and when."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(safe), statement], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    begun = time.perf_counter()
    if delay is not None:
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    return rest == "done\n", time.perf_counter() - begun


def test_killed_while_publishing_a_study(clinic: Path, tmp_path: Path) -> None:
    target = tmp_path / "study.duckdb"
    statement = f"PUBLISH STUDY hospital TO '{target}' WITH (recipient = 'uni')"
    came_through, usual = victim(clinic, statement, None)
    assert came_through
    chance, seen, killed = random.Random(4), set(), 0
    for _ in range(KILLS):
        came_through, _ = victim(clinic, statement, chance.uniform(0, 1.8 * usual))
        killed += not came_through
        with duckdb.connect(str(target), read_only=True) as file:
            listed = file.execute("SELECT release, publication FROM release_info").fetchall()
            rows = file.execute("SELECT count(*) FROM research.patients").fetchall()
        assert len(listed) == 3
        assert rows[0][0] > 1000
        ((name,),) = {(publication,) for _, publication in listed}
        seen.add(name)
        with ppdm_sql.connect(clinic) as owner:
            states = {one.publication.name: one.publication.state for one in owner.publications()}
        assert states[name] == "done"
        assert set(states.values()) == {"done"}
        assert {path.name for path in tmp_path.iterdir()} <= {"owner", "study.duckdb"} | {
            path.name for path in tmp_path.glob(".ppdm*")
        }
    assert killed > KILLS // 4
    assert len(seen) > 1, "none came through"


def test_killed_while_refreshing_a_study(clinic: Path) -> None:
    came_through, usual = victim(clinic, "REFRESH STUDY hospital", None)
    assert came_through
    chance, kept = random.Random(5), 0
    before = 2
    for _ in range(KILLS):
        victim(clinic, "REFRESH STUDY hospital", chance.uniform(0, 1.1 * usual))
        with ppdm_sql.connect(clinic) as owner:
            (version,) = {info.version for info in owner.releases()}
        assert version in (before, before + 1)
        kept += version == before
        before = version
    assert kept
