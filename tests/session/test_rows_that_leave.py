"""What CREATE, REFRESH, SHOW and PUBLISH say of the rows of a release is what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

SOURCE = """
CREATE TABLE t AS SELECT i AS id, CASE WHEN i < 18 THEN 'big' ELSE 'small' || i END AS city,
    CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END AS illness FROM range(20) r(i)
"""
RELEASE = """
CREATE RELEASE r FROM t (id KEY, city QUASI, illness SENSITIVE)
GENERALIZE city {when} UNTIL k = 5 SUPPRESS AT MOST {percent} PERCENT {options}
"""


@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # SCBA says what it leaves open
@pytest.mark.parametrize(
    ("when", "percent", "options", "rows", "fate"),
    [
        ("", 10, "", 18, "2 rows suppressed and left out"),
        ("", 10, "WITH (suppressed = 'star')", 20, "2 rows suppressed and kept as *"),
        ("", 10, "WITH (method = 'mondrian')", 20, "0 rows suppressed;"),
        ("", 0, "", 20, "0 rows suppressed;"),
        ("WHEN illness = 'cold'", 10, "", 19, "1 row suppressed and left out"),
    ],
)
def test_all_tell_the_rows_that_leave(
    owner: Owner, tmp_path: Path, when: str, percent: int, options: str, rows: int, fate: str
) -> None:
    owner.execute(SOURCE)
    made = owner.execute(RELEASE.format(when=when, percent=percent, options=options)).message
    assert owner.execute("SELECT count(*) FROM r").fetchall() == [(rows,)]
    assert f"release main.r, version 1: 2 columns, {rows} rows\n" in made
    assert fate in made
    assert [info.rows for info in owner.releases()] == [rows]
    refreshed = owner.execute("REFRESH RELEASE r").message
    assert f"version 2: 2 columns, {rows} rows\n" in refreshed
    published = owner.execute(f"PUBLISH RELEASE r TO '{tmp_path}/study.duckdb'").message
    assert f"(version 2, {rows} rows)" in published


def test_each_version_has_its_own(owner: Owner) -> None:
    owner.execute(SOURCE)
    owner.execute(RELEASE.format(when="", percent=10, options=""))
    owner.execute("INSERT INTO t SELECT 20 + i, 'small18', 'flu' FROM range(9) AS s (i)")
    owner.execute("REFRESH RELEASE r")
    assert owner.execute("SELECT count(*) FROM r").fetchall() == [(28,)]
    assert [(info.version, info.rows) for info in owner.releases()] == [(2, 28)]
    owner.execute("CREATE OR REPLACE RELEASE r FROM t (id KEY, illness SENSITIVE)")
    assert [(info.version, info.rows) for info in owner.releases()] == [(3, 29)]


def test_the_command_line(safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "release.sql"
    made = RELEASE.format(when="", percent=10, options="")
    script.write_text(f"{SOURCE}; {made}", encoding="utf-8")
    for arguments in (["run", str(script)], ["show", "--format", "csv"]):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--db", str(safe)])
        assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "created release main.r, version 1: 2 columns, 18 rows\n" in said
    assert "main.r,1,main.t,2,18,0," in said
