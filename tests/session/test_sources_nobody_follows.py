"""Sources whose columns cannot be followed: they read what DuckDB says they read, never themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

VIEW = "CREATE VIEW vv (id, age) AS SELECT * FROM p"
MACRO = "CREATE MACRO tm() AS TABLE SELECT id, age FROM p"
RECURSIVE = (
    "(WITH RECURSIVE c AS (SELECT id, age FROM p UNION SELECT id, age FROM c WHERE false)"
    " SELECT * FROM c)"
)
SOURCES = [(VIEW, "vv"), (MACRO, "(FROM tm())"), ("SELECT 1", RECURSIVE)]


@pytest.mark.parametrize(("made", "source"), SOURCES, ids=["view", "macro", "recursive"])
@pytest.mark.parametrize(
    "columns",
    ["id KEY, age QUASI", "id KEY AS pseudonym(), age SENSITIVE AS noise(normal(0, 5))"],
    ids=["kept", "noise"],
)
def test_a_release_does_not_read_itself(
    owner: Owner, tmp_path: Path, made: str, source: str, columns: str
) -> None:
    """Red before: RecursionError, or a warning of noises that nobody published."""
    owner.execute(
        f"CREATE TABLE p AS SELECT i AS id, 20 + i % 40 AS age FROM range(300) t(i); {made}"
    )
    owner.execute(f"CREATE RELEASE r.a FROM {source} ({columns})")
    owner.execute(f"PUBLISH RELEASE r.a TO '{tmp_path}/a.duckdb' WITH (strict = true)")


@pytest.mark.parametrize(("made", "source"), SOURCES, ids=["view", "macro", "recursive"])
def test_nor_another_one_of_the_same_source(
    owner: Owner, tmp_path: Path, made: str, source: str
) -> None:
    owner.execute(
        f"CREATE TABLE p AS SELECT i AS id, 20 + i % 40 AS age FROM range(300) t(i); {made}"
    )
    for name, age in (("a", "QUASI"), ("b", "QUASI"), ("c", "SENSITIVE AS noise(normal(0, 5))")):
        owner.execute(f"CREATE RELEASE r.{name} FROM {source} (id KEY, age {age})")
    for name in ("a", "b", "c"):
        owner.execute(
            f"PUBLISH RELEASE r.{name} TO '{tmp_path}/{name}.duckdb' WITH (strict = true)"
        )


def test_a_macro_reads_no_release(owner: Owner) -> None:
    """What it does to a column could not be judged with what reads it."""
    owner.execute("CREATE TABLE p AS SELECT i AS id, i % 40 AS age FROM range(300) t(i)")
    owner.execute(
        "CREATE RELEASE r.a FROM p (id KEY AS keep(), age SENSITIVE AS noise(normal(0, 5)))"
    )
    owner.execute("CREATE MACRO tm() AS TABLE SELECT id, age FROM r.a")
    with pytest.raises(Refused, match="nothing is released from the owner's store"):
        owner.execute("CREATE RELEASE r.b FROM (FROM tm()) (id KEY, age QUASI)")
