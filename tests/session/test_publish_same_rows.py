"""What is published is what was verified, also of a source that is never the same twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.engine import duckdb as engine
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PpdmError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlglot import exp

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")

K = 12
DRAW = "(random() * 4)::INT % 4"


def classes(path: Path) -> dict[str, int]:
    with duckdb.connect(path, read_only=True) as analyst:
        return dict(analyst.execute("SELECT q, count(*) FROM study.t GROUP BY q").fetchall())


@pytest.mark.parametrize("format_", ["duckdb", "parquet"])
@pytest.mark.parametrize("source", ["v", f"(SELECT id, {DRAW} AS q FROM t)", "drawn"])
def test_no_class_of_a_volatile_source_is_published_below_k(
    owner: Owner, tmp_path: Path, source: str, format_: str
) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id FROM range(60) r(i);"
        f"CREATE VIEW v AS SELECT id, {DRAW} AS q FROM t;"
        f"CREATE TABLE drawn (id INT, q INT GENERATED ALWAYS AS ({DRAW}));"
        "INSERT INTO drawn SELECT id FROM t"
    )
    published = 0
    for turn in range(10):
        to = tmp_path / (f"{turn}.duckdb" if format_ == "duckdb" else f"{turn}/")
        try:
            owner.execute(
                f"CREATE OR REPLACE RELEASE study.t FROM {source} (id KEY, q QUASI)"
                f" GENERALIZE q UNTIL k = {K};"
                f"PUBLISH RELEASE study.t TO '{to}' (FORMAT {format_})"
            )
        except PpdmError:
            continue
        published += 1
        if format_ == "duckdb":
            counts = classes(to)
        else:
            rows = owner.execute(
                f"SELECT q, count(*) FROM read_parquet('{to}/study.t.parquet') GROUP BY q"
            )
            counts = dict(rows.fetchall())
        assert min(counts.values()) >= K
    assert published


def test_the_copy_of_the_source_is_gone_afterwards(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 4 AS q FROM range(8) r(i);"
        "CREATE RELEASE study.t FROM (SELECT * FROM t) (id KEY, q QUASI) GENERALIZE q UNTIL k = 4"
    )
    before = owner.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    owner.execute(f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}'")
    assert owner.execute("SELECT table_name FROM duckdb_tables()").fetchall() == before
    owner.execute("DELETE FROM t WHERE id = 0")
    with pytest.raises(PpdmError, match="does not reach"):
        owner.execute(f"PUBLISH RELEASE study.t TO '{tmp_path / 'other.duckdb'}'")
    assert owner.execute("SELECT table_name FROM duckdb_tables()").fetchall() == before


def test_a_source_is_read_once(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Targets of all kinds, WHEN and stars: every figure is of the rows that were written."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i // 10 AS q, i % 3 AS s, i < 60 AS ill,"
        " 'unused' AS more FROM range(120) r(i); CREATE VIEW origin AS FROM t;"
        "CREATE RELEASE study.t FROM origin (id KEY AS pseudonym(), q QUASI, s SENSITIVE)"
        " GENERALIZE q WHEN ill UNTIL k = 10, l(s) = 2, t(s) <= 0.2, alpha(s) <= 0.6"
        " SUPPRESS AT MOST 10 PERCENT WITH (suppressed = 'star')"
    )
    texts: list[str] = []

    def noted(statement: exp.Expr) -> str:
        texts.append(to_sql(statement))
        return texts[-1]

    monkeypatch.setattr(engine, "to_sql", noted)
    owner.execute(
        f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}' WITH (unlinkable = true)"
    )
    # DuckDB is asked for the names behind `SELECT *`, without running it.
    readers = [text for text in texts if '"origin"' in text and "SELECT *" not in text]
    assert len(readers) == 1
    assert "more" not in readers[0]


@pytest.mark.parametrize("source", ["t", "(SELECT * FROM t)"])
@pytest.mark.parametrize("collation", ["", "COLLATE NOCASE"])
def test_what_is_published_is_what_the_view_shows(
    owner: Owner, tmp_path: Path, collation: str, source: str
) -> None:
    owner.execute(
        f"CREATE TABLE t (id INT, q VARCHAR {collation}, g ENUM('x', 'y'), s VARCHAR, d DATE);"
        "INSERT INTO t SELECT i, (['a', 'A', 'b'])[1 + i % 3], (['x', 'y'])[1 + i % 2],"
        " 's' || i % 4, DATE '2020-01-01' + (i % 2)::INT FROM range(60) r(i);"
        f"CREATE RELEASE study.t FROM {source} (id KEY AS pseudonym(), q QUASI, g QUASI,"
        " s SENSITIVE AS mapping()) GENERALIZE q WHEN d > DATE '2020-01-01' UNTIL k = 5;"
        f"PUBLISH RELEASE study.t TO '{tmp_path / 'out.duckdb'}'"
    )
    with duckdb.connect(tmp_path / "out.duckdb", read_only=True) as analyst:
        found = analyst.execute("FROM study.t ORDER BY ALL").fetchall()
    assert (
        found == owner.execute("SELECT id, q, g::VARCHAR, s FROM study.t ORDER BY ALL").fetchall()
    )
