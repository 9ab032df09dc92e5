"""How often statements ask the engine and read their own definitions: counted, not timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ppdm_sql.engine.duckdb import Engine
from ppdm_sql.release import version

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

MOST_FOR_GENERALIZE = 21  # one of them claims the store for the statement
MOST_FOR_SHOW = 3


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count statements that reach the engine, and definitions that are parsed."""
    made: list[str] = []

    def counted(owner: Any, name: str, what: str) -> None:
        inner = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            made.append(what)
            return inner(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    for name in ("query", "run", "columns", "base_tables", "is_one_select"):
        counted(Engine, name, "engine")
    counted(version, "parse_script", "parse")
    return made


def make(owner: Owner) -> None:
    owner.execute("CREATE HIERARCHY ages AS RANGES (20, 40)")
    for number in range(5):
        owner.execute(f"CREATE RELEASE r.plain{number} FROM clinic.people (ward NEUTRAL)")
    for number in range(2):
        owner.execute(
            f"CREATE RELEASE r.grouped{number} FROM clinic.people (id KEY, age QUASI, ward QUASI,"
            " illness SENSITIVE) GENERALIZE age USING ages, ward UNTIL k = 2"
            " SUPPRESS AT MOST 50 PERCENT"
        )


def test_show_releases_reads_no_definition(people: Owner, calls: list[str]) -> None:
    make(people)
    calls.clear()
    shown = people.releases()
    assert len(shown) == 7
    assert [info.waiting for info in shown] == [0] * 7
    assert calls.count("parse") == 0
    assert calls.count("engine") <= MOST_FOR_SHOW


def test_show_releases_says_what_it_cannot_count(people: Owner) -> None:
    make(people)
    people.execute("CREATE TABLE t AS FROM clinic.people")
    people.execute(
        "CREATE RELEASE r.lost FROM t (id KEY, age QUASI) GENERALIZE age UNTIL k = 2; DROP TABLE t"
    )
    people.execute("INSERT INTO clinic.people (id, age, ward) VALUES (9, 91, 'Z')")
    found = {info.release: info.waiting for info in people.releases()}
    assert found == {
        **{f"r.plain{number}": 0 for number in range(5)},
        "r.grouped0": 1,
        "r.grouped1": 1,
        "r.lost": None,
    }


def test_create_with_generalize_makes_few_calls(people: Owner, calls: list[str]) -> None:
    make(people)
    people.execute("DROP RELEASE r.grouped1")
    calls.clear()
    people.execute(
        "CREATE RELEASE r.grouped1 FROM clinic.people (id KEY, age QUASI, ward QUASI,"
        " illness SENSITIVE) GENERALIZE age USING ages, ward UNTIL k = 2, l(illness) = 1.0"
        " SUPPRESS AT MOST 50 PERCENT".replace("l(illness) = 1.0", "l(illness) = 2")
    )
    assert calls.count("engine") <= MOST_FOR_GENERALIZE


def test_an_audit_binds_a_release_once(people: Owner, calls: list[str]) -> None:
    make(people)
    calls.clear()
    people.audit("r.plain0", require="k>=1")
    assert calls.count("parse") == 1
