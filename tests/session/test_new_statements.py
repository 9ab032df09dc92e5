"""SHOW TREATMENTS, DESCRIBE HIERARCHY, several at once, pointers for words of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ppdm_sql import BindError, PpdmError, StatementError, TreatmentError
from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.words_of_other_tools import INSTEAD

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner


def test_treatments_are_shown(owner: Owner) -> None:
    shown = owner.execute("SHOW TREATMENTS").df()
    assert list(shown["treatment"]) == [one.keyword for one in TREATMENTS]
    assert not shown["undone_by"].isna().any()


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ("AS RANGES (5, 10)", [(1, "ranges of 5"), (2, "ranges of 10"), (3, "*")]),
        ("AS DATE (month, year)", [(1, "month"), (2, "year"), (3, "*")]),
        ("AS TREE (('a', 'x'), ('b', 'x'))", [("a", "x", "*"), ("b", "x", "*")]),
        ("FROM 'levels.csv'", [("a", "x", "*"), ("b", "y", "*")]),
        ("AS FROM 'levels.csv'", [("a", "x", "*"), ("b", "y", "*")]),
    ],
)
def test_a_hierarchy_is_described(
    owner: Owner,
    body: str,
    rows: list[tuple[object, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("levels.csv").write_text("a;x;*\nb;y;*\n", encoding="utf-8")
    owner.execute(f"CREATE HIERARCHY h {body}")
    assert owner.execute("DESCRIBE HIERARCHY h").fetchall() == rows
    with pytest.raises(BindError, match="there is no hierarchy 'g'"):
        owner.execute("DESCRIBE HIERARCHY g")


def test_a_table_may_be_called_hierarchy(owner: Owner) -> None:
    owner.execute("CREATE TABLE hierarchy (i INT)")
    assert owner.execute("DESCRIBE hierarchy").fetchall()[0][0] == "i"


@pytest.mark.parametrize("word", INSTEAD)
def test_words_of_other_tools_get_a_pointer(people: Owner, word: str) -> None:
    with pytest.raises(BindError, match=f"unknown treatment '{word}'") as caught:
        people.execute(f"CREATE RELEASE r.a FROM clinic.people (age NEUTRAL AS {word}())")
    assert caught.value.hint == INSTEAD[word]


def test_an_unknown_treatment_lists_all(people: Owner) -> None:
    with pytest.raises(BindError) as caught:
        people.execute("CREATE RELEASE r.a FROM clinic.people (age NEUTRAL AS xyz())")
    assert all(one.keyword in str(caught.value.hint) for one in TREATMENTS)


def test_where_stands_inside_a_query(people: Owner) -> None:
    with pytest.raises(StatementError, match="WHERE stands inside a query"):
        people.execute("CREATE RELEASE r.a FROM clinic.people WHERE id = 1 (age NEUTRAL)")


@pytest.mark.parametrize(
    ("value", "cast"),
    [
        ("TIMESTAMPTZ '2020-01-01 10:00:00+00'", "AT TIME ZONE 'UTC'"),
        ("TIME '10:00'", "epoch(x)"),
        ("TIMESTAMP_NS '2020-01-01'", "x::TIMESTAMP"),
    ],
)
def test_times_of_other_types_say_how_to_cast(owner: Owner, value: str, cast: str) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT i AS id, {value} AS x FROM range(30) r(i)")
    for treatment in ("noise(normal(0, 5))", "translation()", "mapping()", "pseudonym()"):
        with pytest.raises(TreatmentError) as caught:
            owner.execute(f"CREATE RELEASE r.a FROM t (id KEY, x NEUTRAL AS {treatment})")
        assert cast in str(caught.value.hint)
    source = f"(SELECT * REPLACE ({cast if 'x' in cast else f'x {cast}'} AS x) FROM t)"
    owner.execute(f"CREATE RELEASE r.a FROM {source} (id KEY, x NEUTRAL AS noise(normal(0, 5)))")


@pytest.mark.parametrize(
    ("written", "is_folder"),
    [
        ("'study.duckdb'", False),
        ("'study'", False),
        ("'study/'", True),
        ("'study.parquet'", True),
        ("'study' (FORMAT parquet)", True),
        ("'study/' (FORMAT parquet)", True),
        ("'study.duckdb' (FORMAT duckdb)", False),
    ],
)
def test_the_path_says_the_format(
    people: Owner,
    written: str,
    is_folder: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    people.execute("CREATE RELEASE r.a FROM clinic.people (id KEY, age NEUTRAL)")
    people.execute(f"PUBLISH RELEASE r.a TO {written}")
    assert [path.is_dir() for path in tmp_path.iterdir() if path.suffix != ".md"] == [is_folder]


@pytest.mark.parametrize(
    "written",
    [
        "'x.csv'",
        "'x.parquet' (FORMAT duckdb)",
        "'x.duckdb' (FORMAT parquet)",
        "'x/' (FORMAT duckdb)",
    ],
)
def test_a_path_that_says_another_format_is_refused(
    people: Owner, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people.execute("CREATE RELEASE r.a FROM clinic.people (id KEY, age NEUTRAL)")
    with pytest.raises(PpdmError, match="is no name for a") as caught:
        people.execute(f"PUBLISH RELEASE r.a TO {written}")
    assert caught.value.code == "format_and_path"
    assert list(tmp_path.iterdir()) == []
