"""kill -9 at random moments: the store has the old state or the new one, never a mixture.

Each victim opens the store that the one before it left, checks that it is whole, begins a
statement and is killed; every tenth time the store is opened and checked from here as well.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ppdm_sql
from tests.conftest import PEOPLE
from tests.end_to_end.victims import look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.soak
KILLS = int(os.environ.get("PPDM_KILLS", "50"))
NOTHING = "SELECT 1"
RULES = """FROM clinic.people (
    id      KEY       AS pseudonym(),
    illness SENSITIVE AS mapping(prefix => 'Illness')
)"""


class Victims:
    """The process that forks victims and kills them."""

    def __init__(self, process: subprocess.Popen[str], database: Path) -> None:
        self._process = process
        self.database = database

    def run(self, statement: str, delay: float | None, prepare: str = NOTHING) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "database": str(self.database),
            "prepare": prepare,
            "statement": statement,
            "delay": delay,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert not answer["error"], answer["error"]
        return answer


@pytest.fixture
def victims(safe: Path) -> Iterator[Victims]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.end_to_end.victims"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        yield Victims(process, safe)
    finally:
        process.kill()
        process.communicate()


def set_up(safe: Path, *releases: str) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PEOPLE)
        for release in releases:
            owner.execute(f"CREATE RELEASE {release} {RULES}")


def kill_many(
    victims: Victims,
    statement: Callable[[int], str],
    compare: Callable[[dict[str, Any], dict[str, Any]], bool],
    prepare: Callable[[int], str] = lambda _: NOTHING,
) -> None:
    """Kill until enough were killed; `compare` old and new state: True when it is the old one."""
    trials = [victims.run(statement(turn), None, prepare(turn))["took"] for turn in range(3)]
    usual = statistics.median(trials)
    chance = random.Random(statement(0))
    states: list[dict[str, Any]] = []
    opened = None
    killed = 0
    for turn in range(3, 4 * KILLS):
        answer = victims.run(statement(turn), chance.uniform(0, 1.2 * usual), prepare(turn))
        states.append(answer["found"])  # what the victim before it left behind
        assert opened in (None, answer["found"])
        killed += answer["was_killed"]
        opened = _opened_here(victims.database) if killed % 10 == 0 else None
        if killed == KILLS and opened is not None:
            states.append(opened)
            break
    assert killed == KILLS
    unchanged = [compare(before, after) for before, after in itertools.pairwise(states)]
    assert any(unchanged), "every statement came through: the kills came too late"


def _opened_here(safe: Path) -> dict[str, Any]:
    with ppdm_sql.connect(safe) as owner:
        return look(owner)


def test_killed_while_creating(safe: Path, victims: Victims) -> None:
    set_up(safe)

    def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
        old, new = before["versions"], after["versions"]
        assert old.items() <= new.items()
        assert len(new) <= len(old) + 1
        return bool(old == new)

    kill_many(victims, lambda turn: f"CREATE RELEASE research.r{turn:03} {RULES}", compare)


def test_killed_while_refreshing(safe: Path, victims: Victims) -> None:
    set_up(safe, "research.people")

    def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
        (old,), (new,) = before["versions"].values(), after["versions"].values()
        old_names = before["aliases"][f"r1_v{old}_t1_0_aliases"]
        new_names = after["aliases"][f"r1_v{new}_t1_0_aliases"]
        assert old_names.items() <= new_names.items(), "an alias that analysts know has changed"
        assert len(set(new_names.values())) == len(new_names)
        assert new in (old, old + 1)
        assert len(new_names) > len(old_names) or new == old
        return bool(old == new)

    kill_many(
        victims,
        lambda _: "REFRESH RELEASE research.people",
        compare,
        lambda i: f"INSERT INTO clinic.people VALUES ({100 + i}, '', 1, 1, 1, 'New {i}', '')",
    )


def test_killed_while_replacing(safe: Path, victims: Victims) -> None:
    set_up(safe, "research.people")

    def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
        for table in before["aliases"].keys() & after["aliases"].keys():
            assert before["aliases"][table] == after["aliases"][table], "an old version has changed"
        (old,), (new,) = before["versions"].values(), after["versions"].values()
        assert new in (old, old + 1)
        return bool(old == new)

    kill_many(victims, lambda _: f"CREATE OR REPLACE RELEASE research.people {RULES}", compare)


def test_killed_while_dropping(safe: Path, victims: Victims) -> None:
    set_up(safe)

    def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
        made = before["versions"].get("research.people", 0) + 1
        assert after["versions"] in ({}, {"research.people": made})
        return bool(after["versions"])

    kill_many(
        victims,
        lambda _: "DROP RELEASE research.people",
        compare,
        lambda _: f"CREATE OR REPLACE RELEASE research.people {RULES}",
    )


def test_killed_while_the_store_is_made(safe: Path) -> None:
    chance = random.Random(5)
    safe.parent.mkdir(mode=0o700)
    code = (
        "import os, ppdm_sql, ppdm_sql.owner\n"
        "os.umask(0o077)\n"
        "print(flush=True)\n"
        f"ppdm_sql.connect({str(safe)!r})"
    )
    for _ in range(12):
        for path in safe.parent.iterdir():
            path.unlink()
        victim = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        victim.kill()
        victim.communicate()
        with ppdm_sql.connect(safe) as owner:
            assert owner.releases() == []
            owner.execute(PEOPLE)
            owner.execute(f"CREATE RELEASE research.people {RULES}")
            look(owner)
