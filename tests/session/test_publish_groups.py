"""A release with GENERALIZE is verified again when it is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

GROUPS = """
CREATE TABLE t AS SELECT i AS id, i // 4 AS city, ['flu', 'cold'][1 + i % 2] AS illness
    FROM range(8) r(i);
CREATE RELEASE study.t FROM t (id KEY, city QUASI, illness SENSITIVE)
    GENERALIZE city UNTIL k = 2, alpha(illness) <= 0.6;
"""


pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")


def test_the_file_says_which_targets_are_reached(owner: Owner, tmp_path: Path) -> None:
    owner.execute(GROUPS + f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}'")
    with duckdb.connect(tmp_path / "out.duckdb", read_only=True) as analyst:
        info = analyst.execute("SELECT targets FROM release_info").fetchall()
        assert analyst.execute("SELECT count(*) FROM study.t").fetchall() == [(8,)]
    assert info == [("k = 2, alpha(illness) <= 0.6",)]


def test_rows_that_came_since_can_stop_a_publication(owner: Owner, tmp_path: Path) -> None:
    owner.execute(GROUPS + "INSERT INTO t SELECT 100 + i, 0, 'flu' FROM range(9) r(i)")
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.execute(f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}'")
    assert list(tmp_path.iterdir()) == []


def test_a_quasi_pseudonym_of_groups_keeps_its_key(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i % 2 AS a, i % 3 AS b FROM range(30) r(i);"
        "CREATE RELEASE study.t FROM t (a QUASI AS pseudonym(), b QUASI) GENERALIZE b UNTIL k = 2"
    )
    with pytest.raises(Refused, match="GENERALIZE builds on its values"):
        owner.execute(
            f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}' WITH (unlinkable = true)"
        )


def test_a_high_class_that_is_gone_stops_a_publication(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i AS city, i < 4 AS ill FROM range(8) r(i);"
        "CREATE RELEASE study.t FROM t (id KEY, city QUASI) GENERALIZE city WHEN ill UNTIL k = 2"
    )
    owner.execute("UPDATE t SET ill = id < 1")
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.execute(f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}'")
    assert list(tmp_path.iterdir()) == []
