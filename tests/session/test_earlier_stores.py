"""Stores of earlier programs: opened, upgraded once, and everything in them as it was."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import ppdm_sql
from ppdm_sql import StoreError
from ppdm_sql.release.model import FORMULA
from ppdm_sql.store import formats
from tests.stores import record

if TYPE_CHECKING:
    from collections.abc import Iterator

STORES = Path(__file__).parents[1] / "stores"
RECORDED = sorted(path.name for path in STORES.glob("format_*"))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What publishing warns of is not what these tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
        yield


@pytest.fixture(params=RECORDED)
def recorded(request: pytest.FixtureRequest, safe: Path) -> tuple[Path, dict[str, Any]]:
    """A store as an earlier program left it, and what that program gave."""
    folder = STORES / request.param
    safe.parent.mkdir(mode=0o700)
    with gzip.open(folder / "clinic.duckdb.gz") as packed, safe.open("wb") as target:
        shutil.copyfileobj(packed, target)
    safe.chmod(0o600)
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return safe, expected


def test_there_is_a_store_of_every_format_before_this_one() -> None:
    assert [f"format_{number}" for number in range(formats.OLDEST, formats.FORMAT)] == RECORDED


def test_everything_is_as_it_was(recorded: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    safe, expected = recorded
    with ppdm_sql.connect(safe) as owner:
        assert record.facts(owner, tmp_path) == expected
    with ppdm_sql.connect(safe) as owner:  # upgraded by now
        assert record.facts(owner, tmp_path) == expected


def test_a_refresh_keeps_what_was_released(recorded: tuple[Path, dict[str, Any]]) -> None:
    safe, expected = recorded
    with ppdm_sql.connect(safe) as owner:
        for name in ("treated", "geometric", "agreed"):
            owner.execute(f"REFRESH RELEASE r.{name}")
            before = {tuple(row) for row in expected["rows"][name]}
            assert {tuple(row) for row in record.rows(owner, name)} >= before
        owner.execute("REFRESH RELEASE r.grouped")
        (grouped,) = [info for info in owner.releases() if info.release == "r.grouped"]
        assert (grouped.version, grouped.waiting) == (2, 0)


def test_versions_keep_the_formula_they_were_made_with(
    recorded: tuple[Path, dict[str, Any]],
) -> None:
    safe, _ = recorded
    with duckdb.connect(str(safe)) as raw:
        has_formulas = raw.execute("SELECT format >= 4 FROM ppdm_owner.store").fetchone() == (True,)
    with ppdm_sql.connect(safe) as owner:
        owner.execute("REFRESH RELEASE r.treated")
        owner.execute("CREATE RELEASE r.new FROM clinic.people (age NEUTRAL)")
        made = dict(
            owner.execute(
                "SELECT release_name || ' ' || v.version, formula FROM ppdm_owner.versions AS v"
                " JOIN ppdm_owner.releases USING (release_id)"
            ).fetchall()
        )
    then = 3 if has_formulas else 1  # format 4 came with noise of formula 2, then 3
    assert made["treated 1"] == made["treated 2"] == made["treated 3"] == then
    assert made["new 1"] == FORMULA == 5


@pytest.mark.parametrize("recorded", ["formula_2"], indirect=True)
def test_noise_of_an_earlier_formula_stays(recorded: tuple[Path, dict[str, Any]]) -> None:
    safe, expected = recorded
    with ppdm_sql.connect(safe) as owner:
        assert record.noises(owner) == expected
        owner.execute("REFRESH RELEASE r.persons, r.chains, r.turned")
        assert record.noises(owner) == expected
        (before,) = owner.execute("SELECT list(weight ORDER BY ALL) FROM r.turned").fetchall()
        owner.execute(
            "CREATE OR REPLACE RELEASE r.turned FROM clinic.visits (visit KEY, (weight, height)"
            " SENSITIVE AS rotation() THEN noise(normal(0, 9), normal(0, 9)))"
        )
        assert owner.execute("SELECT list(weight ORDER BY ALL) FROM r.turned").fetchall() != [
            before
        ]


@pytest.mark.parametrize("recorded", ["formula_4"], indirect=True)
def test_columns_turned_by_an_earlier_formula_stay(
    recorded: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    safe, expected = recorded
    with ppdm_sql.connect(safe) as owner:
        assert record.turns(owner, tmp_path) == expected
        owner.execute("REFRESH RELEASE " + ", ".join(f"r.{name}" for name in expected["rows"]))
        assert record.turns(owner, tmp_path) == expected
        owner.execute(
            "CREATE OR REPLACE RELEASE r.one_angle FROM clinic.people (id KEY AS keep(),"
            " (a, b, c, d) NEUTRAL AS rotation(degrees => 30))"
        )
        assert record.rows(owner, "one_angle") != expected["rows"]["one_angle"]


def test_the_store_is_copied_before_it_is_upgraded(
    recorded: tuple[Path, dict[str, Any]],
) -> None:
    safe, _ = recorded
    before = safe.read_bytes()
    ppdm_sql.connect(safe).close()
    (copy,) = safe.parent.glob("clinic.duckdb.format-*")
    assert copy.read_bytes() == before
    assert copy.stat().st_mode & 0o777 == 0o600
    ppdm_sql.connect(safe).close()
    assert len(list(safe.parent.glob("clinic.duckdb.format-*"))) == 1


def test_a_copy_that_is_there_is_not_replaced(recorded: tuple[Path, dict[str, Any]]) -> None:
    safe, _ = recorded
    with duckdb.connect(str(safe), read_only=True) as raw:
        ((found,),) = raw.execute("SELECT format FROM ppdm_owner.store").fetchall()
    earlier = safe.with_name(f"clinic.duckdb.format-{found}")
    earlier.write_text("years of work")
    ppdm_sql.connect(safe).close()
    assert earlier.read_text() == "years of work"
    assert safe.with_name(f"{earlier.name}.1").exists()


def test_without_a_copy_nothing_is_upgraded(
    recorded: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, _ = recorded
    before = safe.read_bytes()
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", lambda *_: (_ for _ in ()).throw(full))
        with pytest.raises(StoreError, match="cannot be copied before it is upgraded: No space"):
            ppdm_sql.connect(safe)
    assert safe.read_bytes() == before
    assert sorted(os.listdir(safe.parent)) == [".clinic.duckdb.lock", "clinic.duckdb"]


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(
    recorded: tuple[Path, dict[str, Any]],
) -> None:
    safe, expected = recorded
    with duckdb.connect(str(safe)) as raw:
        found = raw.execute("SELECT format FROM ppdm_owner.store").fetchall()
        raw.execute("ALTER TABLE ppdm_owner.publications ADD COLUMN study DOUBLE")
    with pytest.raises(StoreError, match=f"cannot be upgraded to {formats.FORMAT}"):
        ppdm_sql.connect(safe)
    assert sorted(os.listdir(safe.parent)) == [".clinic.duckdb.lock", "clinic.duckdb"]
    with duckdb.connect(str(safe)) as raw:
        assert raw.execute("SELECT format FROM ppdm_owner.store").fetchall() == found
        raw.execute("ALTER TABLE ppdm_owner.publications DROP COLUMN study")
    with ppdm_sql.connect(safe) as owner:
        assert record.rows(owner, "treated") == expected["rows"]["treated"]


def test_an_upgraded_store_is_like_a_new_one(
    recorded: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    safe, _ = recorded
    new = tmp_path / "other" / "clinic.duckdb"
    shapes = []
    for path in (safe, new):
        with ppdm_sql.connect(path) as owner:
            found = owner.execute(
                "SELECT table_name, column_name, data_type, column_default, is_nullable"
                " FROM duckdb_columns() WHERE schema_name = 'ppdm_owner'"
                r" AND NOT regexp_matches(table_name, '^[rh]\d+_') ORDER BY ALL"
            )
            shapes.append(found.fetchall())
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("recorded", ["format_2"], indirect=True)
def test_a_store_from_before_publications_and_agreements_gets_them(
    recorded: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    safe, _ = recorded
    with duckdb.connect(str(safe)) as raw:
        raw.execute("DROP TABLE ppdm_owner.publications; DROP TABLE ppdm_owner.agreements")
    with ppdm_sql.connect(safe) as owner:
        assert owner.publications() == []
        owner.execute("CREATE AGREEMENT south (id KEY)")
        owner.publish("r.grouped", to=tmp_path / "study.duckdb")
        assert len(owner.publications()) == 1


@pytest.mark.parametrize("number", [1, formats.FORMAT + 1])
def test_another_format_is_refused(safe: Path, number: int) -> None:
    ppdm_sql.connect(safe).close()
    with duckdb.connect(str(safe)) as raw:
        raw.execute("UPDATE ppdm_owner.store SET format = ?", [number])
    with pytest.raises(
        StoreError, match=f"has format {number}, this version of ppdm-sql reads 2 to 5"
    ):
        ppdm_sql.connect(safe)
