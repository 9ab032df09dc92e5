"""Two cursors, each with a transaction: what one deletes, the other must not publish or rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import EngineError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RELEASE = (
    "CREATE OR REPLACE RELEASE r.a FROM t (id KEY AS pseudonym(), x NEUTRAL AS mapping(),"
    " w SENSITIVE AS scaling())"
)


@pytest.fixture
def two(owner: Owner) -> tuple[Owner, Owner]:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 7 AS x, i * 1.5 AS w FROM range(200) s(i)")
    owner.execute(RELEASE)
    return owner.cursor(), owner.cursor()


def refused() -> pytest.RaisesExc[EngineError]:
    return pytest.raises(EngineError, match="another cursor changes releases")


@pytest.mark.parametrize(
    "change", ["DROP RELEASE r.a", f"DROP RELEASE r.a; {RELEASE}", RELEASE, "REFRESH RELEASE r.a"]
)
def test_nothing_is_published_that_an_open_transaction_changes(
    two: tuple[Owner, Owner], change: str, tmp_path: Path
) -> None:
    first, second = two
    first.execute(f"BEGIN; {change}")
    with refused() as caught:
        second.publish("r.a", to=tmp_path / "a.duckdb")
    assert caught.value.code == "changed_elsewhere"
    assert list(tmp_path.glob("a*")) == []
    first.execute("ROLLBACK")
    second.publish("r.a", to=tmp_path / "a.duckdb")


def test_a_transaction_that_began_before_deletes_nothing_that_was_published_since(
    two: tuple[Owner, Owner], tmp_path: Path
) -> None:
    first, second = two
    first.execute("BEGIN; SELECT count(*) FROM r.a")
    second.publish("r.a", to=tmp_path / "a.duckdb")
    with refused():
        first.execute("DROP RELEASE r.a")
    first.execute("ROLLBACK; DROP RELEASE r.a")
    (name,) = {one.publication.name for one in first.publications()}
    assert first.interpret("r.a", "w > 10", publication=name).original


def test_neither_an_agreement_nor_a_hierarchy_goes_that_another_rests_on(
    two: tuple[Owner, Owner],
) -> None:
    first, second = two
    first.execute(
        "CREATE AGREEMENT g (id KEY AS pseudonym()); CREATE HIERARCHY tens AS RANGES (10, 20)"
    )
    rests = {
        "AGREEMENT g": "CREATE RELEASE r.g FROM t (id KEY AS pseudonym()) WITH (agreement = 'g')",
        "HIERARCHY tens": "CREATE RELEASE r.h FROM t (id KEY, w QUASI) GENERALIZE w USING tens"
        " UNTIL k = 2",
    }
    for what, release in rests.items():
        first.execute(f"BEGIN; DROP {what}")
        with refused():
            second.execute(release)
        first.execute("ROLLBACK")
        second.execute(release)


def test_what_only_reads_waits_for_nobody(two: tuple[Owner, Owner]) -> None:
    first, second = two
    first.execute(f"BEGIN; {RELEASE}")
    assert second.execute("SELECT count(*) FROM r.a").fetchall() == [(200,)]
    assert [info.version for info in second.releases()] == [1]
    assert second.audit("r.a").figures
    first.execute("COMMIT")
    assert [info.version for info in second.releases()] == [2]


@pytest.mark.parametrize("stage", ["reading", "writing", "putting"])
def test_a_transaction_that_began_while_it_was_published_deletes_nothing(
    two: tuple[Owner, Owner], stage: str, tmp_path: Path
) -> None:
    """The other one sees what began the publication, and not that it was recorded."""
    first, second = two

    def begin(what: str) -> None:
        if what.startswith(stage):
            first.execute("BEGIN; SELECT count(*) FROM t")

    second.on_stage(begin)
    second.publish("r.a", to=tmp_path / "a.duckdb")
    with refused():
        first.execute("DROP RELEASE r.a")
    first.execute("ROLLBACK")
    (name,) = {one.publication.name for one in first.publications()}
    assert first.interpret("r.a", "w > 10", publication=name).original
