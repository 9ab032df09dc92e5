"""`ppdm publish` and `ppdm query`, and what is left when either is killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.delivery.workplace import WORKPLACE_PREFIX
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Callable

PPDM = [sys.executable, "-m", "ppdm_sql"]
SLOW = "SELECT sum(a.i * b.i) FROM range(9000000) a(i), range(9000000) b(i)"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two releases and a published file beside it."""
    folder = tmp_path_factory.mktemp("template")
    with ppdm_sql.connect(folder / "owner" / "clinic.duckdb") as owner:
        owner.execute(PEOPLE)
        owner.execute(
            "CREATE RELEASE research.people FROM clinic.people (id KEY AS pseudonym(), ward NEUTRAL);"
            "CREATE RELEASE research.wards FROM clinic.people (ward NEUTRAL)"
        )
        owner.publish("research.people", to=folder / "study.duckdb")
    return folder


@pytest.fixture
def here(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "here"))


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def ppdm(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run commands in this process, in the folder with the store."""
    monkeypatch.chdir(here)
    monkeypatch.delenv("PPDM_DB", raising=False)

    def run(*arguments: str) -> Done:
        with warnings.catch_warnings(), monkeypatch.context() as patch:
            patch.setattr(warnings, "showwarning", warnings.showwarning)
            with pytest.raises(SystemExit) as end:
                main(list(arguments))
        assert isinstance(end.value.code, int)
        return Done(end.value.code, *capsys.readouterr())

    return run


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_publish_and_query(ppdm: Callable[..., Done]) -> None:
    names = ("research.people", "research.wards")
    done = ppdm("publish", *names, "--to", "new.duckdb", "--db", "owner/clinic.duckdb")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("published research.people (version 1, 6 rows), research.wards")
    query = "SELECT ward, count(*) AS n FROM research.wards GROUP BY ward ORDER BY ward"
    shown = ppdm("query", "new.duckdb", query)
    assert shown.code == 0
    assert "NULL" in shown.out
    cut = ppdm("query", "new.duckdb", query, "--rows", "2")
    assert "(the first 2 rows; --rows shows more)" in cut.out
    csv = ppdm("query", "new.duckdb", query, "--format", "csv")
    assert csv.out == "ward,n\nA,2\nB,2\nC,1\n,1\n"
    rows = ppdm("query", "new.duckdb", query, "--format", "json").out.splitlines()
    assert json.loads(rows[0]) == {"ward": "A", "n": 2}
    assert len(rows) == 4


def test_publish_parquet_unlinkable(ppdm: Callable[..., Done]) -> None:
    options = ("--to", "out", "--as", "parquet", "--unlinkable", "--db", "owner/clinic.duckdb")
    assert ppdm("publish", "research.people", *options).code == 0
    assert sorted(os.listdir("out")) == ["research.people.parquet"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("query", "study.duckdb", "SELECT agee FROM research.people"), "there is no column 'agee'"),
        (("query", "nowhere.duckdb", "SELECT 1"), "there is no file 'nowhere.duckdb'"),
        (("query", "owner/clinic.duckdb", "SELECT 1"), "is not a published release"),
        (("query", "study.duckdb", SLOW, "--timeout", "0.5"), "took longer than 0.5 s"),
        (("query", "study.duckdb", "SELECT 1", "--memory", "much"), "is written like '1GB'"),
        (("publish", "research.nobody", "--to", "x.duckdb", "--db", "owner/clinic.duckdb"), "no release"),
        (("publish", "research.people", "--to", "research.duckdb", "--db", "owner/clinic.duckdb"), "has the same name"),
    ],
)  # fmt: skip
def test_mistakes_end_with_2_and_one_message(
    ppdm: Callable[..., Done], arguments: tuple[str, ...], told: str
) -> None:
    done = ppdm(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert told in done.err


def test_ctrl_c_ends_a_query_and_its_process(here: Path) -> None:
    asker = subprocess.Popen(
        [*PPDM, "query", "study.duckdb", SLOW], cwd=here, stderr=subprocess.PIPE, text=True
    )
    children = Path(f"/proc/{asker.pid}/task/{asker.pid}/children")
    wait_for(lambda: children.read_text())
    (child,) = children.read_text().split()
    time.sleep(1)
    asker.send_signal(signal.SIGINT)
    _, told = asker.communicate(timeout=20)
    assert (asker.returncode, told.strip()) == (
        130,
        "error: stopped; the statement that ran changed nothing",
    )
    assert not Path(f"/proc/{child}").exists()


# Killed


def test_killed_while_publishing(here: Path) -> None:
    """kill -9 while it writes: readers find the old file or the new one, and debris is cleared."""
    chance = random.Random(11)
    database = here / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(database) as owner:
        owner.execute(
            "INSERT INTO clinic.people SELECT range, '', 1, 1, 1, '', range // 2 FROM range(200000)"
        )
    code = (
        "import os, ppdm_sql; os.umask(0o077)\n"
        "owner = ppdm_sql.connect('owner/clinic.duckdb')\n"
        "while True: owner.publish('research.people', to='study.duckdb')"
    )
    debris = 0
    for _ in range(5):
        victim = subprocess.Popen([sys.executable, "-c", code], cwd=here)
        wait_for(lambda: list(here.glob(f"{WORKPLACE_PREFIX}*/study.duckdb")))
        time.sleep(chance.uniform(0, 0.2))
        victim.kill()
        victim.wait()
        left = list(here.glob(f"{WORKPLACE_PREFIX}*"))
        debris += len(left)
        with duckdb.connect(here / "study.duckdb", read_only=True) as client:
            counts = "SELECT count(*), (SELECT rows FROM release_info) FROM research.people"
            ((rows, told),) = client.execute(counts).fetchall()
        assert rows == told
        assert rows in (6, 200_006)
        assert all(path.stat().st_mode & 0o777 == 0o700 for path in left)
        assert len(left) <= 1, "an earlier victim's debris was not cleared"
    assert debris > 0
    with ppdm_sql.connect(database) as owner:
        owner.publish("research.people", to=here / "study.duckdb")
    assert sorted(os.listdir(here)) == ["owner", "study.duckdb"]


def test_two_owners_at_once(here: Path) -> None:
    """Two processes open one store: one wins, the other is told who has it."""
    with ppdm_sql.connect(here / "owner" / "clinic.duckdb") as owner:
        command = ("publish", "research.people", "--to", "x.duckdb", "--db", "owner/clinic.duckdb")
        done = subprocess.run(
            [*PPDM, *command], cwd=here, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 2
        assert "is open in another process" in done.stderr
        assert not (here / "x.duckdb").exists()
        owner.publish("research.people", to=here / "x.duckdb")
    assert (here / "x.duckdb").exists()
