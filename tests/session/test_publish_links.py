"""Releases that can be joined on their pseudonyms, also where they were published apart."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import PrivacyWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASES = """
CREATE TABLE visits AS SELECT i % 20 AS pid, 40000 + i % 20 AS zip, i % 3 AS ill
    FROM range(60) r(i);
CREATE TABLE persons AS SELECT i AS pid, 40000 + i AS zip FROM range(20) r(i);
CREATE RELEASE study.ill FROM visits (pid KEY AS pseudonym(entity => 'patient'), ill SENSITIVE);
CREATE RELEASE study.home FROM persons (pid KEY AS pseudonym(entity => 'patient'), zip QUASI);
CREATE RELEASE study.other FROM persons (pid KEY AS pseudonym(), zip QUASI);
"""


@pytest.fixture
def releases(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    owner.execute(RELEASES)
    return owner


def warned(owner: Owner, statement: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        owner.execute(statement)
    return [str(warning.message) for warning in caught]


def test_what_was_published_before_is_warned_of(releases: Owner) -> None:
    assert warned(releases, "PUBLISH RELEASE study.ill TO 'a.duckdb'") == []
    (text,) = warned(releases, "PUBLISH RELEASE study.home TO 'b.duckdb'")
    assert text.startswith(
        "study.home shares pseudonyms with study.ill, which was published before"
    )
    assert "unlinkable" in text


def test_the_same_release_and_other_keys_are_not(releases: Owner) -> None:
    for name in ("ill", "ill", "other"):
        assert warned(releases, f"PUBLISH RELEASE study.{name} TO '{name}.duckdb'") == []


def test_together_it_is_said_once(releases: Owner) -> None:
    for _ in range(2):
        (text,) = warned(releases, "PUBLISH RELEASE study.ill, study.home TO 'a.duckdb'")
        assert text.startswith("study.ill and study.home share pseudonyms")


@pytest.mark.parametrize("first", [True, False])
def test_unlinkable_publications_share_with_none(releases: Owner, first: bool) -> None:
    option = " WITH (unlinkable = true)"
    warned(releases, f"PUBLISH RELEASE study.ill TO 'a.duckdb'{option if first else ''}")
    assert (
        warned(releases, f"PUBLISH RELEASE study.home TO 'b.duckdb'{'' if first else option}") == []
    )


@pytest.mark.parametrize(
    "since",
    ["DROP RELEASE study.ill",
     "DROP RELEASE study.ill; CREATE RELEASE study.ill FROM visits (ill SENSITIVE)"],
)  # fmt: skip
def test_what_was_dropped_since_is_still_out(releases: Owner, since: str) -> None:
    releases.execute("PUBLISH RELEASE study.ill TO 'a.duckdb'")
    releases.execute(since)
    (text,) = warned(releases, "PUBLISH RELEASE study.home TO 'b.duckdb'")
    assert "study.ill, which was published before" in text


def test_what_the_store_cannot_tell_stops_nothing(releases: Owner) -> None:
    releases.execute("PUBLISH RELEASE study.ill TO 'a.duckdb'")
    releases.execute("DROP TABLE visits CASCADE")
    (warning,) = warned(releases, "PUBLISH RELEASE study.home TO 'b.duckdb'")
    assert "study.home may share pseudonyms with study.ill" in warning


def test_it_counts_what_was_published_then(releases: Owner) -> None:
    releases.execute("PUBLISH RELEASE study.ill TO 'a.duckdb'")
    releases.execute("CREATE OR REPLACE RELEASE study.ill FROM visits (ill SENSITIVE)")
    (text,) = warned(releases, "PUBLISH RELEASE study.home TO 'b.duckdb'")
    assert "study.ill" in text


def test_releases_of_one_agreement_are_meant_to_be_joined(releases: Owner) -> None:
    releases.execute("CREATE AGREEMENT north (pid KEY AS pseudonym(), ill SENSITIVE, zip QUASI)")
    for name, columns in (("one", "ill SENSITIVE"), ("two", "zip QUASI")):
        releases.execute(
            f"CREATE RELEASE study.{name} FROM visits (pid KEY AS pseudonym(), {columns})"
            " WITH (agreement = 'north')"
        )
        assert warned(releases, f"PUBLISH RELEASE study.{name} TO '{name}.duckdb'") == []
