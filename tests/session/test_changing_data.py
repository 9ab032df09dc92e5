"""The table of docs/owner/changing-data.md: what a release shows when its source changes."""

from __future__ import annotations

import shutil
import warnings
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql import PpdmError, PrivacyWarning, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

MADE = """
CREATE TABLE people AS SELECT i AS id, 20 + i % 4 AS age, 'w' || i % 3 AS ward, 1000.0 + i AS pay
FROM range(200) t (i);
CREATE RELEASE r.words FROM people (id KEY AS pseudonym(), ward SENSITIVE AS mapping());
CREATE RELEASE r.noisy FROM people (id KEY AS keep(), pay SENSITIVE AS noise(normal(0, 50)));
CREATE RELEASE r.groups FROM people (id KEY, age QUASI) GENERALIZE age UNTIL k = 5;
"""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        yield


@pytest.fixture
def made(owner: Owner) -> Owner:
    owner.execute(MADE)
    return owner


def test_a_new_row_waits_until_its_class_is_counted(made: Owner) -> None:
    made.execute("INSERT INTO people VALUES (900, 77, 'w1', 5)")
    (waiting,) = [one.waiting for one in made.releases() if one.release == "r.groups"]
    assert waiting == 1
    assert made.execute("SELECT count(*) FROM r.groups").fetchall() == [(200,)]
    assert made.execute("SELECT count(*) FROM r.noisy").fetchall() == [(201,)]
    made.execute("REFRESH RELEASE r.groups")
    (waiting,) = [one.waiting for one in made.releases() if one.release == "r.groups"]
    assert waiting == 0


def test_a_new_category_has_an_alias_after_a_refresh(made: Owner) -> None:
    before = set(made.execute("FROM r.words").fetchall())
    made.execute("INSERT INTO people VALUES (900, 21, 'new ward', 5)")
    assert made.execute("SELECT count(*) FROM r.words WHERE ward IS NULL").fetchall() == [(1,)]
    made.execute("REFRESH RELEASE r.words")
    after = set(made.execute("FROM r.words").fetchall())
    assert before < after
    assert made.execute("SELECT count(DISTINCT ward) FROM r.words").fetchall() == [(4,)]


def test_a_value_that_changes_gets_new_noise(made: Owner) -> None:
    query = "SELECT r.pay - p.pay FROM r.noisy AS r JOIN people AS p USING (id) WHERE id = 7"
    (before,) = made.execute(query).fetchall()
    made.execute("UPDATE people SET pay = pay + 1 WHERE id = 7")
    assert made.execute(query).fetchall() != [before]


def test_a_class_that_lost_rows_is_not_published(made: Owner, tmp_path: Path) -> None:
    made.execute("DELETE FROM people WHERE age = 22 AND id > 10")
    with pytest.raises(Refused):
        made.publish("r.groups", to=tmp_path / "g.duckdb")
    made.execute("REFRESH RELEASE r.groups")
    made.publish("r.groups", to=tmp_path / "g.duckdb")


@pytest.mark.parametrize(
    "change", ["ALTER TABLE people ALTER pay TYPE VARCHAR", "ALTER TABLE people RENAME pay TO wage"]
)
def test_a_column_that_does_not_fit_any_more_is_said(made: Owner, change: str) -> None:
    made.execute(change)
    with pytest.raises(PpdmError):
        made.execute("REFRESH RELEASE r.noisy")


def test_a_table_of_another_name_gets_new_keys(made: Owner) -> None:
    before = {row[0] for row in made.execute("FROM r.words").fetchall()}
    made.execute("ALTER TABLE people RENAME TO persons")
    with pytest.raises(PpdmError):
        made.execute("FROM r.words").fetchall()
    made.execute(
        "CREATE OR REPLACE RELEASE r.words FROM persons"
        " (id KEY AS pseudonym(), ward SENSITIVE AS mapping())"
    )
    assert not before & {row[0] for row in made.execute("FROM r.words").fetchall()}


def test_a_copy_goes_on_as_the_first_would(safe: Path, tmp_path: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(MADE)
        owner.publish("r.noisy", to=tmp_path / "noisy.duckdb")
    other = tmp_path / "other" / "clinic.duckdb"
    other.parent.mkdir(mode=0o700)
    shutil.copy2(safe, other)  # as `cp -p`
    shown = []
    for database in (safe, other):
        with ppdm_sql.connect(database) as owner:
            owner.execute("INSERT INTO people VALUES (900, 21, 'w1', 5)")
            owner.execute("REFRESH RELEASE r.noisy, r.words")
            assert len(owner.publications()) == 1
            shown.append(
                [sorted(owner.execute(f"FROM r.{name}").fetchall()) for name in ("noisy", "words")]
            )
    assert shown[0] == shown[1]
