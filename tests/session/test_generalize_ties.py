"""WHEN warns of columns that tie rows inside the high class to the untouched rows of a person."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import PrivacyWarning

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

# 20 persons with 3 visits each, one of them in the high class; two live in each ward.
VISITS = """
CREATE TABLE visits AS SELECT i % 20 AS pid, i % 20 AS pid2, 'SSN' || i % 20 AS ssn, i AS visit,
    40000 + i % 20 * 7 AS zip, 'w' || i % 10 AS ward, hash(i) / 7.0 AS weight,
    CASE WHEN i < 20 THEN 'HIV' ELSE 'Flu' END AS ill FROM range(60) r(i);
"""
RELEASE = (
    "CREATE RELEASE r FROM visits ({}, zip QUASI, ill SENSITIVE AS mapping())"
    " GENERALIZE zip {} UNTIL k = 5"
)
WHEN = "WHEN ill = 'HIV'"


@pytest.fixture
def visits(owner: Owner) -> Owner:
    owner.execute(VISITS)
    return owner


def tied(owner: Owner, columns: str, when: str = WHEN) -> list[str]:
    """Return the warnings about ties."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        owner.execute(RELEASE.format(columns, when))
    texts = [str(warning.message) for warning in caught]
    return [text for text in texts if "inside and outside the high class" in text]


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ("pid KEY, pid2 NEUTRAL AS pseudonym()", "pid2"),
        ("pid KEY, ssn SENSITIVE AS mapping()", "ssn"),
        ("pid KEY, ssn NEUTRAL", "ssn"),
        ("pid2 NEUTRAL AS pseudonym()", "pid2"),
        ("visit KEY, ssn NEUTRAL AS pseudonym()", "ssn"),
        ("visit KEY AS pseudonym(), ssn NEUTRAL AS pseudonym()", "ssn"),
        ("pid KEY, pid2 NEUTRAL AS pseudonym() THEN pseudonym()", "pid2"),
    ],
)
def test_a_column_that_stands_for_a_person_is_named(
    visits: Owner, columns: str, column: str
) -> None:
    (text,) = tied(visits, columns)
    assert text.startswith(f"values of '{column}' inside and outside the high class")
    assert ": 20." in text


@pytest.mark.parametrize("treatment", ["pseudonym()", "keep()", "mapping()"])
def test_a_key_that_leaves_is_named(visits: Owner, treatment: str) -> None:
    (text,) = tied(visits, f"pid KEY AS {treatment}")
    assert text.startswith("persons with rows inside and outside the high class")
    assert ": 20." in text
    assert "'pid'" in text


def test_every_column_that_ties_is_named(visits: Owner) -> None:
    found = tied(visits, "pid KEY AS pseudonym(), ssn NEUTRAL, pid2 NEUTRAL AS pseudonym()")
    assert len(found) == 3


@pytest.mark.parametrize(
    "columns",
    ["pid KEY", "pid KEY, ward NEUTRAL", "pid KEY, weight NEUTRAL", "visit KEY AS pseudonym()",
     "ssn NEUTRAL AS mapping()", "pid KEY, ssn NEUTRAL AS suppress()", "pid KEY, ssn QUASI"],
)  # fmt: skip
def test_columns_that_tie_nobody_are_not(visits: Owner, columns: str) -> None:
    if "ssn QUASI" in columns:
        visits.execute("UPDATE visits SET ssn = 'SSN'")
    assert tied(visits, columns) == []


@pytest.mark.parametrize("when", ["", "WHEN pid < 10"])
def test_nobody_is_tied_where_all_rows_of_a_person_are_treated_alike(
    visits: Owner, when: str
) -> None:
    columns = "pid KEY AS pseudonym(), ssn NEUTRAL, pid2 NEUTRAL AS pseudonym()"
    assert tied(visits, columns, when) == []


def test_a_few_values_shared_by_mistake_do_not_silence_it(visits: Owner) -> None:
    visits.execute("UPDATE visits SET ssn = 'SSN1' WHERE visit = 22")
    (text,) = tied(visits, "pid KEY, ssn NEUTRAL")
    assert text.startswith("values of 'ssn'")
    assert ": 19." in text


@pytest.mark.parametrize(("shared", "is_told"), [(1, True), (5, False)])
def test_a_column_stands_for_persons_where_nine_in_ten_of_its_values_are_ones_own(
    owner: Owner, shared: int, is_told: bool
) -> None:
    """A few typing errors must not silence the warning; a column that people share must."""
    owner.execute(
        VISITS.replace(
            "'SSN' || i % 20 AS ssn",
            f"'SSN' || (i % 20 // (CASE WHEN i % 20 < {2 * shared} THEN 2 ELSE 1 END)) AS ssn",
        )
    )
    people = dict(
        owner.execute(
            "SELECT persons, count(*) FROM (SELECT ssn, count(DISTINCT pid) AS persons FROM visits"
            " GROUP BY ssn) GROUP BY persons"
        ).fetchall()
    )
    assert people[2] == shared
    assert bool(tied(owner, "pid KEY, ssn NEUTRAL")) is is_told
