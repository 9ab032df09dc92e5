"""The SQL of releases: `sql/<case>/release.sql` is run, `sql/<case>/duckdb.sql` is its SELECT.
`sql/<case>/setup.sql`, where there is one, is run before.

Every SELECT is also run, and must give what the view gives. `PPDM_WRITE_GOLDEN=1` writes them
anew; read the difference before it is kept.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import TokenType, exp

import ppdm_sql
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease
from ppdm_sql.names import STORE_CATALOG
from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.generalized_column import Generalize
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

_FOLDER = Path(__file__).parent / "sql"
_CASES = sorted(path.name for path in _FOLDER.iterdir())
_WRITES = os.environ.get("PPDM_WRITE_GOLDEN") == "1"


@dataclass(frozen=True)
class Case:
    """A release that was made, and what EXPLAIN RELEASE says of it."""

    owner: Owner
    name: str
    text: str
    golden: Path


@pytest.fixture(scope="module", params=_CASES)
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """Each release once, in a database of its own: names of tables count from 1."""
    folder = _FOLDER / request.param
    script = (folder / "release.sql").read_text(encoding="utf-8")
    (made,) = (s for s in parse_script(script) if isinstance(s, CreateRelease))
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(PEOPLE)
        setup = folder / "setup.sql"
        if setup.exists():
            owner.execute(setup.read_text(encoding="utf-8"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
            owner.execute(script)
        text = owner.explain(str(made.name)) + "\n"
        if _WRITES:
            (folder / "duckdb.sql").write_text(text, encoding="utf-8")
        yield Case(owner, str(made.name), text, folder / "duckdb.sql")


def test_select_is_the_one_that_was_read_and_kept(case: Case) -> None:
    assert case.text == case.golden.read_text(encoding="utf-8")


def test_select_gives_what_the_view_gives(case: Case) -> None:
    by_text = case.owner.connection.execute(case.golden.read_text(encoding="utf-8"))
    columns = [column[:2] for column in by_text.description or ()]
    rows = by_text.fetchall()
    view = case.owner.connection.execute(f"FROM {case.name}")
    assert [column[:2] for column in view.description or ()] == columns
    assert sorted(map(repr, view.fetchall())) == sorted(map(repr, rows))
    assert rows


def test_select_names_no_alias_of_ours_and_quotes_every_name(case: Case) -> None:
    assert STORE_CATALOG.text not in case.text
    names = list(sqlglot.parse_one(case.text, dialect="duckdb").find_all(exp.Identifier))
    assert names
    assert all(name.quoted for name in names)


def test_select_holds_nothing_that_the_script_gives(case: Case) -> None:
    """Limits, names, prefixes and constants are in the store; lengths can be seen anyway.

    What is drawn is not in it either: it is another one each time, and the text is the same.
    """
    script = (case.golden.parent / "release.sql").read_text(encoding="utf-8")
    tokens = sqlglot.tokenize(script, dialect="duckdb")
    given = {
        token.text for token in tokens if token.token_type in (TokenType.NUMBER, TokenType.STRING)
    }
    tree = sqlglot.parse_one(case.text, dialect="duckdb")
    constants = {literal.name for literal in tree.find_all(exp.Literal)}
    assert constants & given <= {"0", "1", "2", "8", "12", "16"}


def test_select_is_the_same_whoever_asks_again(case: Case) -> None:
    assert case.owner.explain(case.name) + "\n" == case.text
    ((row,),) = case.owner.execute(f"EXPLAIN RELEASE {case.name} FOR duckdb").fetchall()
    assert row + "\n" == case.text


def test_every_treatment_has_its_select_here() -> None:
    words = {treatment.keyword for treatment in TREATMENTS} | {Generalize.keyword}
    assert [
        word for word in sorted(words) if not any(case.startswith(word) for case in _CASES)
    ] == []
