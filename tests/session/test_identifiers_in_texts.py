"""Names that stand inside a text are said: nobody can find all of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import PrivacyWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = "CREATE RELEASE r.p FROM {source} (id KEY, name IDENTIFIER, {column} NEUTRAL)"


@pytest.fixture
def pupils(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id, 'Ada Müller' || chr(97 + (i % 26)::INT) AS name,"
        " CASE WHEN i % 4 = 0 THEN 'Gespräch mit Frau müller' || chr(97 + (i % 26)::INT) || ', 14 Uhr'"
        " ELSE 'gut' END AS notes, 'Grundschule Müllerstraße' AS school FROM range(400) t(i)"
    )
    return owner


def test_a_text_that_holds_names_is_said(pupils: Owner, tmp_path: Path) -> None:
    pupils.execute(RELEASE.format(source="p", column="notes"))
    with pytest.warns(PrivacyWarning) as found:
        pupils.publish("r.p", to=tmp_path / "a.duckdb")
    (said,) = [str(one.message) for one in found]
    assert said.startswith("r.p: 'notes' holds words of the IDENTIFIER 'name' in 25% of its rows")
    assert "ller" not in said


@pytest.mark.parametrize("column", ["school", "short"])
def test_words_that_only_begin_alike_are_none(pupils: Owner, tmp_path: Path, column: str) -> None:
    source = "(SELECT *, 'Mü ' || (id % 7) AS short FROM p)"
    pupils.execute(RELEASE.format(source=source, column=column))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pupils.publish("r.p", to=tmp_path / "a.duckdb")


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        (
            "['Kim', 'Bo', 'Li'][1 + (i % 3)::INT] || ' ' || ['Ng', 'Fox'][1 + (i % 2)::INT]",
            "'Spoke with ' || name || ' on Monday'",
        ),
        ("['王伟', '李娜'][1 + (i % 2)::INT]", "'患者' || name || '今天发烧'"),
        (
            "'Johanna Friedrichsen ' || i",
            "CASE WHEN i = 3 THEN 'Frau ' || name || ' kam' ELSE 'gut' END",
        ),
    ],
    ids=["short words", "no blanks", "one row"],
)
def test_whole_names_are_found_however_they_are_written(
    owner: Owner, tmp_path: Path, name: str, notes: str
) -> None:
    """Red before: published without a word."""
    owner.execute(
        f"CREATE TABLE p AS SELECT *, {notes} AS notes FROM (SELECT i, i AS id, {name} AS name FROM range(300) t(i));"
        + RELEASE.format(source="p", column="notes")
    )
    with pytest.warns(PrivacyWarning, match="'notes' holds words of the IDENTIFIER 'name' in"):
        owner.publish("r.p", to=tmp_path / "a.duckdb")
