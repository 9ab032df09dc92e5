"""Errors of REFRESH tell what helps there: it takes no definition, so no other bands or lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

START = (
    "REFRESH keeps the definition. Correct the rows in the source and refresh again, or write "
    "CREATE OR REPLACE RELEASE"
)
END = ". That makes new parameters; translate earlier results with VERSION n"


def failed(owner: Owner, later: str) -> ppdm_sql.PpdmError:
    owner.execute(later)
    with pytest.raises(ppdm_sql.PpdmError) as caught:
        owner.execute("REFRESH RELEASE r")
    assert owner.releases()[0].version == 1
    return caught.value


@pytest.mark.parametrize(
    ("treatment", "later", "advice"),
    [
        (
            "graded_grouping(bands => 3)",
            "(7, 4711)",
            ": widen the bands, or write outside => 'null' or outside => 'clamp'",
        ),
        (
            "mapping(domain => [0, 1, 2, 3, 4, 5])",
            "(7, 4711)",
            ": find them with SELECT DISTINCT; correct them in a (SELECT …) source, or widen the domain",
        ),
        (
            "scaling(by => 3)",
            "(7, 'inf')",
            ": leave them out in a (SELECT …) source, or make them NULL there",
        ),
        (
            "noise(normal(0, 9))",
            "(NULL, 4711)",
            ": a row without a KEY gets no noise; leave such rows out in a (SELECT …) source",
        ),
    ],
)
def test_what_a_treatment_cannot_take(
    owner: Owner, treatment: str, later: str, advice: str
) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i::DOUBLE AS x FROM range(6) AS s (i)")
    if "domain" in treatment:
        owner.execute("ALTER TABLE t ALTER x TYPE BIGINT")
    owner.execute(f"CREATE RELEASE r FROM t (id KEY, x SENSITIVE AS {treatment})")
    error = failed(owner, f"INSERT INTO t VALUES {later}")
    assert error.hint == START + advice + END
    assert "4711" not in str(error)


def test_a_longer_pseudonym_needs_another_definition(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id FROM range(6) AS s (i)")
    owner.execute("CREATE RELEASE r FROM t (id KEY AS pseudonym(length => 6))")
    error = failed(owner, "INSERT INTO t SELECT i + 6 FROM range(50_000) AS s (i)")
    assert error.hint == f"{START}: write a longer one: length => 14{END}"


def test_what_it_advises_works(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS x FROM range(6) AS s (i)")
    make = "RELEASE r FROM t (x SENSITIVE AS graded_grouping(bands => [0, {}]))"
    owner.execute(f"CREATE {make.format(5)}")
    failed(owner, "INSERT INTO t VALUES (50)")
    owner.execute(f"CREATE OR REPLACE {make.format(100)}")
    assert owner.interpret("r", "x > 1.4", version=1).original == "x > 2"
    owner.execute("DELETE FROM t WHERE x = 50")
    owner.execute("REFRESH RELEASE r")


GENERALIZED = """
CREATE TABLE t AS SELECT i AS id, ['a', 'b'][1 + i % 2] AS word FROM range(8) AS s (i);
CREATE HIERARCHY words AS TREE (('a', 'ab'), ('b', 'ab'));
CREATE RELEASE r FROM t (id KEY, word QUASI) GENERALIZE word USING words UNTIL k = 4
"""


def test_targets_out_of_reach_need_another_definition(owner: Owner) -> None:
    owner.execute(GENERALIZED)
    error = failed(owner, "DELETE FROM t WHERE id > 2")
    assert error.hint == f"{START}: lower k, or widen WHEN{END}"


def test_a_hierarchy_is_mended_without_drawing_anew(owner: Owner) -> None:
    owner.execute(GENERALIZED)
    error = failed(owner, "INSERT INTO t SELECT 10 + i, 'c' FROM range(4) AS s (i)")
    assert error.hint == (
        "add what is missing: SELECT DISTINCT of the column lists what there is, DESCRIBE HIERARCHY what is known; or filter such rows in the source; "
        "after CREATE OR REPLACE HIERARCHY, refresh again"
    )
    owner.execute("CREATE OR REPLACE HIERARCHY words AS TREE (('a', 'x'), ('b', 'x'), ('c', 'x'))")
    owner.execute("REFRESH RELEASE r")
    assert owner.execute("SELECT count(*) FROM r").fetchall() == [(12,)]


def test_create_advises_as_before(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 7 AS x")
    with pytest.raises(ppdm_sql.TreatmentError) as caught:
        owner.execute("CREATE RELEASE r FROM t (x NEUTRAL AS graded_grouping(bands => [1, 2]))")
    assert str(caught.value.hint).startswith("widen the bands")


def test_the_command_line(safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT i AS x FROM range(6) AS s (i)")
        owner.execute("CREATE RELEASE r FROM t (x SENSITIVE AS graded_grouping(bands => 2))")
        owner.execute("INSERT INTO t VALUES (4711)")
    (tmp_path / "refresh.sql").write_text("REFRESH RELEASE r", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "refresh.sql"), "--db", str(safe)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "write CREATE OR REPLACE RELEASE: widen the bands" in said
    assert "4711" not in said
