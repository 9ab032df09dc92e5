"""Whatever holds rows shows them: at a prompt, in a notebook, in a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ppdm_sql

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE people AS SELECT i AS id, '<b>' || i AS name, NULLIF(i, 2) AS age"
        " FROM range(30) AS t (i)"
    )
    return owner


def test_a_result_shows_its_first_rows_and_can_still_be_read(people: Owner) -> None:
    result = people.execute("FROM people ORDER BY id")
    text = repr(result)
    assert text.splitlines()[0].split() == ["id", "name", "age"]
    assert "NULL" in text
    assert text.endswith("(20 of 30 rows)")
    assert result.fetchone() == (0, "<b>0", 0)
    assert len(list(result)) == 29
    assert result.fetchall() == []
    assert result.df().shape == (30, 3)
    assert [one[0] for one in result.description] == result.columns == ["id", "name", "age"]


def test_a_notebook_gets_a_table_and_no_tags_of_the_data(people: Owner) -> None:
    page = people.execute("FROM people")._repr_html_()
    assert page.startswith("<table")
    assert "&lt;b&gt;0" in page
    assert "<b>" not in page
    assert page.endswith("<p>(20 of 30 rows)</p>")


def test_what_returns_no_rows_says_what_was_done(
    people: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    made = people.execute("CREATE RELEASE r.p FROM people (id KEY AS pseudonym(), age QUASI)")
    assert repr(made) == made.message
    assert made._repr_html_() == f"<p>{made.message}</p>"
    assert repr(people.execute("")) == "<Result without rows>"
    assert people.execute("")._repr_html_() == "<p>no rows</p>"
    people.execute("SHOW RELEASES").show()
    assert "r.p" in capsys.readouterr().out.replace(" ", "")


def test_an_analysts_answer_shows_itself(people: Owner, tmp_path: Path) -> None:
    people.execute("CREATE RELEASE r.p FROM people (id KEY, age QUASI)")
    people.publish("r.p", to=tmp_path / "study.duckdb")
    with ppdm_sql.open_release(tmp_path / "study.duckdb") as study:
        answer = study.sql("SELECT age FROM r.p WHERE age < 4 ORDER BY age")
        assert repr(answer).split() == ["age", "0", "1", "3"]
        assert list(answer) == [(0,), (1,), (3,)]


def test_polars_reads_a_result(people: Owner) -> None:
    polars = pytest.importorskip("polars")
    frame = people.execute("SELECT id FROM people").pl()
    assert isinstance(frame, polars.DataFrame)
    assert frame.shape == (30, 1)


def test_a_report_is_its_verdict_and_a_condition_its_text(people: Owner) -> None:
    people.execute(
        "CREATE RELEASE r.p FROM people (id KEY AS pseudonym(), age QUASI AS scaling(2))"
    )
    report = people.audit("r.p")
    assert repr(report) == "\n".join(report.verdict)
    assert str(people.interpret("r.p", "age = 8")) == people.interpret("r.p", "age = 8").original


def test_types_can_be_named() -> None:
    for name in ("Owner", "Analyst", "Result", "Report", "Treatment", "Combined"):
        assert getattr(ppdm_sql, name).__name__ == name
