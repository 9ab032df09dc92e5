"""What a newcomer with a table of pupils met: each sentence was unclear or untrue before."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import EngineError, PrivacyWarning, StoreError
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.treatments.round import Round

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner


class Rounding(Round):
    keyword = "rounding"


def test_nobody_is_told_to_shut_others_out_of_tmp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    for mode, home, offers in (
        (0o1777, "/", False),
        (0o755, str(folder), False),
        (0o755, "/", True),
    ):
        folder.chmod(mode)
        monkeypatch.setattr(Path, "home", lambda home=home: Path(home))
        with pytest.raises(StoreError, match="others may enter the folder") as refused:
            ppdm_sql.connect(folder / "clinic.duckdb")
        hint = refused.value.hint or ""
        assert "put the database in a folder of its own: owner/clinic.duckdb" in hint
        assert ("chmod 700" in hint) == offers
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_file_that_is_not_utf_8_says_so(owner: Owner, tmp_path: Path) -> None:
    file = tmp_path / "pupils.csv"
    file.write_bytes("id;name\n1;Müller\n".encode("latin-1"))
    for source in (f"'{file}'", f"read_csv('{file}', encoding = 'windows-1252')"):
        with pytest.raises(EngineError, match="not written in UTF-8") as refused:
            owner.execute(f"CREATE TABLE p AS FROM {source}")
        assert "encoding = 'latin-1'" in (refused.value.hint or "")
        assert "ller" not in refused.value.what
    owner.execute(f"CREATE TABLE p AS FROM read_csv('{file}', encoding = 'latin-1')")
    assert owner.execute("SELECT name FROM p").fetchall() == [("Müller",)]


def test_a_treatment_of_ones_own_is_named_where_nobody_knows_it(tmp_path: Path) -> None:
    file = tmp_path / "owner" / "a.duckdb"
    with ppdm_sql.connect(file, treatments=[Rounding]) as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT i AS id, i % 40 AS age, 'W' || (i % 3) AS ward FROM range(200) r(i);"
            "CREATE RELEASE r.a FROM t (id KEY AS pseudonym(), age QUASI AS rounding(to => 5));"
            "CREATE RELEASE r.b FROM t (id KEY AS pseudonym(), ward QUASI) GENERALIZE ward UNTIL k = 5"
        )
        owner.publish("r.a", to=tmp_path / "a.duckdb")
    with ppdm_sql.connect(file) as owner, pytest.warns(PrivacyWarning) as found:
        owner.publish("r.b", to=tmp_path / "b.duckdb")
    said = [str(one.message) for one in found]
    assert any("r.a uses 'rounding', which this program does not know" in one for one in said)
    assert not any("the source is not what it was" in one for one in said)
    assert issubclass(Rounding, PlainRule)


def test_dates_of_a_month_are_not_read_as_they_stand(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, DATE '1950-01-01' + (hash(i) % 20000)::INT AS born FROM range(500) r(i);"
        "CREATE RELEASE r.a FROM t (id KEY, born QUASI AS truncate('month'))"
    )
    found = [one for one in owner.audit("r.a").attacks if one.attack == "face_value"]
    assert found
    assert "to within 1 % of the column's spread" in found[0].result
