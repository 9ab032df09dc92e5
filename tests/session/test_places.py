"""Where an engine's error stands in the owner's script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql import EngineError
from ppdm_sql.errors import Span
from ppdm_sql.language.error_places import located
from ppdm_sql.language.syntax import PlainSql
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def people() -> Iterator[Owner]:
    """One owner for all: a statement that fails changes nothing."""
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(PEOPLE)
        yield owner


def fail(owner: Owner, script: str) -> EngineError:
    with pytest.raises(EngineError) as caught:
        owner.execute(script).fetchall()
    return caught.value


def place(owner: Owner, script: str) -> str:
    """Return the text that the error points at."""
    error = fail(owner, script)
    assert error.span is not None
    assert error.span.text == script
    return error.span.source


FIRST = "SELECT 1 AS a;\n-- a comment; with a semicolon\n"
WIDE = ", ".join(f"'日本' AS c{i}" for i in range(60))
NARROW = ", ".join(f"{i} AS c{i}" for i in range(60))


@pytest.mark.parametrize(
    "script",
    [
        "SELECT oops FROM clinic.people",
        "SELECT\n    oops\nFROM clinic.people",
        "\n\n\n  SELECT oops FROM clinic.people",
        "SELECT\toops FROM clinic.people",
        "SELECT\n\t\toops FROM clinic.people",
        "SELECT 1,\r\n  oops FROM clinic.people",
        "/* one\n two */ SELECT oops FROM clinic.people",
        "SELECT 'é', oops FROM clinic.people",
        "SELECT 'ééé€𝄞', oops FROM clinic.people",
        "SELECT 'one\ntwo', oops FROM clinic.people",
        "SELECT '日本語', oops FROM clinic.people",
        "SELECT 'one 日本語\ntwo 日本語', oops FROM clinic.people",
        "SELECT 'e\u0301', oops FROM clinic.people",
        f"SELECT {NARROW}, oops, {NARROW} FROM clinic.people",
        f"SELECT {WIDE}, oops, {WIDE} FROM clinic.people",
        f"SELECT {NARROW}, oops FROM clinic.people",
        f"SELECT oops, {NARROW} FROM clinic.people",
        f"SELECT {WIDE}, oops FROM clinic.people",
        "SELECT 'oops', oops FROM clinic.people",
        "SELECT 1 FROM clinic.people WHERE oops = 'oops'",
    ],
)
@pytest.mark.parametrize("before", ["", FIRST], ids=["alone", "second"])
def test_an_unknown_column_is_pointed_at(people: Owner, before: str, script: str) -> None:
    whole = before + script
    error = fail(people, whole)
    assert error.span is not None
    assert error.span.source == "oops"
    assert whole[error.span.start - 1] in " \t\n"
    before_it = whole[: error.span.start]
    assert error.line == before_it.count("\n") + 1
    assert error.column == len(before_it) - (before_it.rfind("\n") + 1) + 1


def test_an_unknown_table_is_pointed_at(people: Owner) -> None:
    assert place(people, f"{FIRST}SELECT *\nFROM clinic.peopel AS p") == "clinic.peopel AS p"


def test_an_unknown_function_is_pointed_at(people: Owner) -> None:
    assert place(people, f"{FIRST}SELECT 1, nofunction(2)").startswith("nofunction")


def test_a_mistake_of_grammar_is_pointed_at(people: Owner) -> None:
    assert place(people, f"{FIRST}SELECT * FRM clinic.people") == "clinic"
    assert place(people, "SELEC 1").startswith("SELEC")


def test_the_line_is_shown_with_a_caret(people: Owner) -> None:
    error = fail(people, f"{FIRST}SELECT id,\n       oops\nFROM clinic.people")
    assert str(error).endswith("  line 4, column 8:\n      oops\n      ^^^^")


def test_an_error_without_a_place_points_at_the_statement(people: Owner) -> None:
    assert place(people, f"{FIRST}SELECT name::INTEGER FROM clinic.people") == "SELECT"


def test_the_text_of_the_engine_is_not_repeated(people: Owner) -> None:
    error = fail(people, "SELECT oops FROM clinic.people")
    assert "LINE 1" not in str(error)
    assert str(error).count("SELECT oops") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE RELEAS r FROM t (a KEY)",
        "CREATE OR REPLACE RELESE r FROM t (a KEY)",
        "REFRESH RELEAES r",
        "DROP RELAESE r",
        "EXPLAIN RELEASES r",
        "create\nreleas r",
    ],
)
def test_a_near_miss_of_our_words_is_recognised(people: Owner, statement: str) -> None:
    hint = fail(people, statement).hint or ""
    assert statement.split()[0].upper() in hint
    assert "RELEASE" in hint


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (",
        "CREATE OR REPLACE TABLE t AS SELEC 1",
        "CREATE OR REPLACE VIEW v AS SELECT FROM",
        "SELECT FROM WHERE",
        "DROP TABLE IF",
        "DESCRIBE SELECT FROM WHERE",
        "SHOW TABLES FRM x",
        "SELEC 1",
        "CREATE VIEW x AS oops",
    ],
)
def test_other_mistakes_get_no_such_hint(people: Owner, statement: str) -> None:
    assert "did you mean" not in (fail(people, statement).hint or "")


# Texts that DuckDB could give


def located_at(script: str, engine_text: str) -> Span:
    statement = PlainSql(script, Span(script, 0, len(script)))
    with pytest.raises(EngineError) as caught, located(statement):
        raise EngineError("wrong", engine_text=engine_text)
    assert caught.value.span is not None
    return caught.value.span


@pytest.mark.parametrize(
    "engine_text",
    ["", "no place here", "LINE 1: something else\n               ^^^^", "LINE 1: SELECT oops"],
)
def test_without_a_place_it_is_the_first_word(engine_text: str) -> None:
    assert located_at("SELECT oops", engine_text).source == "SELECT"


@pytest.mark.parametrize("line", [2, 9, 99999999999999999999])
def test_a_place_in_another_line_is_still_in_the_statement(line: int) -> None:
    start = f"LINE {line}: "
    found = located_at("SELECT oops", f"{start}SELECT oops\n{' ' * len(start)}       ^^^^")
    assert found.source in ("SELECT", "oops")


def test_a_place_never_leaves_the_statement() -> None:
    span = located_at("SELECT oops", "LINE 1: SELECT oops\n               ^^^^^^^^^^^^^^^^^^")
    assert span.source == "oops"


def test_a_place_that_is_known_already_is_kept() -> None:
    known = Span("other text", 0, 5)
    statement = PlainSql("SELECT 1", Span("SELECT 1", 0, 8))
    with pytest.raises(EngineError) as caught, located(statement):
        raise EngineError("wrong", known)
    assert caught.value.span == known


def test_a_statement_without_a_place_has_none() -> None:
    with pytest.raises(EngineError) as caught, located(PlainSql("SELECT 1")):
        raise EngineError("wrong")
    assert caught.value.span is None


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), located(PlainSql("SELECT 1")):
        raise ZeroDivisionError
