"""A publication is written down before it is put in its place, and settled after it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.delivery.destinations import DatabaseFile

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

PUBLISH = """
import os, sys, ppdm_sql
from ppdm_sql.delivery.destinations import DatabaseFile, ParquetFolder
import ppdm_sql.publish.run as run
owner = ppdm_sql.connect(sys.argv[1])
owner.execute("CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS i")
owner.execute("CREATE OR REPLACE RELEASE r.t FROM t (i NEUTRAL)")
end = lambda *_: os._exit(9)
if sys.argv[3] == "before":
    DatabaseFile.put = ParquetFolder.put = end
else:
    run.set_state = end
owner.publish("r.t", to=sys.argv[2], format=sys.argv[4])
"""


def killed(safe: Path, target: Path, when: str, form: str = "duckdb") -> None:
    done = subprocess.run([sys.executable, "-c", PUBLISH, safe, target, when, form], check=False)
    assert done.returncode == 9


def states(safe: Path) -> list[str]:
    with ppdm_sql.connect(safe) as owner:
        return [one.publication.state for one in owner.publications()]


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_a_kill_after_the_rename_is_written_down_at_the_next_start(
    safe: Path, tmp_path: Path, form: str
) -> None:
    target = tmp_path / "study"
    killed(safe, target, "after", form)
    assert target.exists()
    assert states(safe) == ["done"]


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_a_kill_before_the_rename_is_forgotten_at_the_next_start(
    safe: Path, tmp_path: Path, form: str
) -> None:
    target = tmp_path / "study"
    killed(safe, target, "before", form)
    assert not target.exists()
    assert states(safe) == []


def test_what_nobody_can_tell_counts_as_published(safe: Path, tmp_path: Path) -> None:
    target = tmp_path / "study.duckdb"
    killed(safe, target, "after")
    target.unlink()  # an analyst may have taken it before
    assert states(safe) == ["unknown"]


def test_a_publication_over_an_earlier_one_is_told_from_it(safe: Path, tmp_path: Path) -> None:
    target = tmp_path / "study.duckdb"
    killed(safe, target, "after")
    killed(safe, target, "before")
    assert states(safe) == ["done"]


def test_ctrl_c_after_the_rename_is_a_publication(
    people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = DatabaseFile.put

    def interrupted(file: DatabaseFile, target: Path) -> None:
        put(file, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(DatabaseFile, "put", interrupted)
    people.execute("CREATE RELEASE r.t FROM clinic.people (ward NEUTRAL)")
    with pytest.raises(KeyboardInterrupt):
        people.publish("r.t", to=tmp_path / "study.duckdb")
    assert [one.publication.state for one in people.publications()] == ["done"]


def test_a_place_that_was_taken_meanwhile_leaves_no_record(
    people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = DatabaseFile.put

    def taken(file: DatabaseFile, target: Path) -> None:
        target.write_text("years of work")
        put(file, target.with_name("nowhere") / "study.duckdb")

    monkeypatch.setattr(DatabaseFile, "put", taken)
    people.execute("CREATE RELEASE r.t FROM clinic.people (ward NEUTRAL)")
    with pytest.raises(ppdm_sql.StoreError, match="could not be moved into place"):
        people.publish("r.t", to=tmp_path / "study.duckdb")
    assert people.publications() == []
