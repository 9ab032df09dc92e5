"""Sources beside tables: databases that are attached and remembered, frames that are copied in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.errors import BindError, Refused, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = "CREATE RELEASE r.labs FROM lab.main.results (id KEY AS pseudonym(), value NEUTRAL)"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    path = tmp_path / "lab.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE results AS SELECT i AS id, i % 4 AS value FROM range(20) t(i)"
        )
    return path


def test_an_attached_database_is_remembered_and_published_from(safe: Path, lab: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.attach("lab", lab)
        owner.execute(RELEASE)
    with ppdm_sql.connect(safe) as owner:
        assert owner.publish("r.labs", to=safe.parent.parent / "out.duckdb").releases[0].rows == 20
        owner.attach("lab", lab)  # once more is no error


def test_a_missing_one_is_said_with_what_to_write(safe: Path, lab: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.attach("lab", lab)
        owner.execute(RELEASE)
    moved = lab.rename(lab.with_name("moved.duckdb"))
    with ppdm_sql.connect(safe) as owner:
        for statement in ("REFRESH RELEASE r.labs", RELEASE.replace("r.labs", "r.more")):
            with pytest.raises(BindError, match="'lab' is not attached") as caught:
                owner.execute(statement)
            assert caught.value.code == "not_attached"
            assert "--attach 'lab=file.duckdb'" in (caught.value.hint or "")
        owner.attach("lab", moved)
        owner.execute("REFRESH RELEASE r.labs")


@pytest.mark.parametrize("name", ["memory", "temp", "ppdm_store", "ppdm_x"])
def test_names_of_our_own_are_refused(owner: Owner, lab: Path, name: str) -> None:
    with pytest.raises(Refused, match="cannot be attached as") as caught:
        owner.attach(name, lab)
    assert caught.value.code == "reserved_name"


def test_what_is_no_database_is_refused(owner: Owner, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        owner.attach("lab", tmp_path / "none.duckdb")
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(StoreError, match="cannot be attached"):
        owner.attach("lab", tmp_path / "text.duckdb")


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_a_frame_is_copied_in_and_outlives_itself(safe: Path, kind: str) -> None:
    frame = pd.DataFrame({"id": range(10), "value": [1.5] * 10})
    rows = frame if kind == "pandas" else pa.Table.from_pandas(frame)
    fewer = frame.head(4) if kind == "pandas" else pa.Table.from_pandas(frame.head(4))
    with ppdm_sql.connect(safe) as owner:
        owner.register("survey.answers", rows)
        owner.execute(
            "CREATE RELEASE r.a FROM survey.answers (id KEY AS pseudonym(), value NEUTRAL)"
        )
    with ppdm_sql.connect(safe) as owner:
        owner.execute("REFRESH RELEASE r.a")
        with pytest.raises(Refused, match="already a table") as caught:
            owner.register("survey.answers", rows)
        assert caught.value.code == "name_taken"
        owner.register("survey.answers", fewer, replace=True)
        owner.execute("REFRESH RELEASE r.a")
        assert owner.releases()[0].rows == 4
        with pytest.raises(Refused, match="already a view"):
            owner.register("r.a", rows, replace=True)
        with pytest.raises(Refused, match="cannot be called"):
            owner.register("ppdm_owner.x", rows)
