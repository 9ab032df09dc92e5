"""Files outside the database: whole or not there, and never inside a transaction."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import Refused, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture
def site(tmp_path: Path) -> Owner:
    made = ppdm_sql.connect(":memory:")
    made.on_passphrase(lambda _: "seven wide rivers run north")
    made.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 9 AS age FROM range(90) r(i);"
        "CREATE RELEASE r.t FROM t (id KEY, age QUASI);"
        "CREATE AGREEMENT a (id KEY AS pseudonym(), age QUASI AS graded_grouping(bands => [0, 5, 10]))"
    )
    return made


def test_what_is_ended_while_it_writes_leaves_nothing_and_can_be_written_again(
    site: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red before: an empty file, and the retry said that it is there already."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.agreement"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="cannot be written: No space left on device"):
            site.execute(f"EXPORT AGREEMENT a TO '{file}'")
        with pytest.raises(ppdm_sql.PpdmError, match="cannot be written: No space left"):
            site.execute(f"AUDIT RELEASE r.t TO '{tmp_path}/report.html'")
    assert list(tmp_path.iterdir()) == []
    site.execute(f"EXPORT AGREEMENT a TO '{file}'; AUDIT RELEASE r.t TO '{tmp_path}/report.html'")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.agreement", "report.html"]
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Refused, match="already exists"):
        site.execute(f"EXPORT AGREEMENT a TO '{file}'")


def test_what_a_killed_one_left_is_cleared_and_nothing_else(site: Owner, tmp_path: Path) -> None:
    old = time.time() - 3600
    left = tmp_path / ".a.agreement.0123abcd"
    others = [
        tmp_path / name
        for name in (".a.agreement.0123abc", ".b.agreement.0123abcd", "a.agreement.0123abcd")
    ]
    for path in (left, *others):
        path.write_text("half of it")
        os.utime(path, (old, old))
    young = tmp_path / ".a.agreement.89abcdef"
    young.write_text("of somebody who writes it now")
    site.execute(f"EXPORT AGREEMENT a TO '{tmp_path}/a.agreement'")
    assert not left.exists()
    assert all(path.exists() for path in (*others, young))


def test_inside_a_transaction_no_file_is_written(site: Owner, tmp_path: Path) -> None:
    """Red before: ROLLBACK left the files."""
    for statement in (
        f"EXPORT AGREEMENT a TO '{tmp_path}/a.agreement'",
        f"AUDIT RELEASE r.t TO '{tmp_path}/report.html'",
        f"PUBLISH RELEASE r.t TO '{tmp_path}/a.duckdb'",
    ):
        site.execute("BEGIN")
        with pytest.raises(Refused, match="cannot run inside a transaction") as refused:
            site.execute(statement)
        assert refused.value.code == "in_transaction"
        site.execute("ROLLBACK")
    site.execute("BEGIN; AUDIT RELEASE r.t INTO audits; ROLLBACK")  # tables go with it
    assert list(tmp_path.iterdir()) == []
