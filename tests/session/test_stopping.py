"""interrupt() from another thread: it holds until the statement ends, whatever runs just then."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from ppdm_sql.delivery.destinations import DatabaseFile
from ppdm_sql.engine.duckdb_errors import withheld
from ppdm_sql.errors import EngineError, EngineKind

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 90 AS age, i % 7 AS ward, (i * 7919) % 1000 AS pay"
        " FROM range(3000) s(i);"
        "CREATE RELEASE r.t FROM t (id KEY AS pseudonym(), age QUASI, ward QUASI,"
        " pay SENSITIVE AS noise(normal(0, 50)))"
    )
    return owner


class Interrupting:
    """Interrupts when a stage is told, from another thread, while no statement of DuckDB runs."""

    def __init__(self, owner: Owner, at: str) -> None:
        self.owner, self.at, self.stages = owner, at, list[str]()

    def __call__(self, stage: str) -> None:
        self.stages.append(stage)
        if stage.startswith(self.at):
            thread = threading.Thread(target=self.owner.interrupt)
            thread.start()
            thread.join()


@pytest.mark.parametrize("stage", ["asking again", "measuring classes", "attacking: known_pairs_2"])
def test_an_audit_stops_where_nothing_of_duckdb_runs(people: Owner, stage: str) -> None:
    told = Interrupting(people, stage)
    people.on_stage(told)
    with pytest.raises(EngineError) as caught:
        people.audit("r.t")
    assert (caught.value.code, caught.value.what) == ("interrupted", "stopped")
    assert caught.value.kind is EngineKind.INTERRUPTED
    assert len(told.stages) <= told.stages.index(stage) + 1
    people.on_stage(lambda _: None)
    assert people.audit("r.t").figures, "the next statement runs"


def test_a_stopped_publication_is_not_out(people: Owner, tmp_path: Path) -> None:
    for stage in ("reading", "writing", "checking", "putting"):
        people.on_stage(Interrupting(people, stage))
        with pytest.raises(EngineError, match="stopped"):
            people.publish("r.t", to=tmp_path / "out.duckdb")
        assert list(tmp_path.glob("*out*")) == []
        assert people.publications() == []
    people.on_stage(lambda _: None)
    people.publish("r.t", to=tmp_path / "out.duckdb")


def test_what_is_stopped_between_two_statements_changes_nothing(people: Owner) -> None:
    people.on_stage(Interrupting(people, "reading statistics"))
    with pytest.raises(EngineError, match="stopped"):
        people.execute("REFRESH RELEASE r.t")
    people.on_stage(lambda _: None)
    assert [info.version for info in people.releases()] == [1]


def test_an_interrupt_while_nothing_runs_stops_nothing_later(people: Owner) -> None:
    people.interrupt()
    assert people.execute("SELECT count(*) FROM r.t").fetchall() == [(3000,)]


def test_what_is_out_is_said_to_be_out(
    people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt just after the file was renamed comes too late."""
    put = DatabaseFile.put

    def put_and_interrupt(file: DatabaseFile, target: Path) -> None:
        put(file, target)
        thread = threading.Thread(target=people.interrupt)
        thread.start()
        thread.join()

    monkeypatch.setattr(DatabaseFile, "put", put_and_interrupt)
    done = people.publish("r.t", to=tmp_path / "out.duckdb")
    assert done.publication.state == "done"
    assert [one.publication.state for one in people.publications()] == ["done"]


def test_nobody_goes_on_without_what_was_stopped(people: Owner, tmp_path: Path) -> None:
    """PUBLISH catches errors of sources that are gone; a stop is none of these."""
    people.publish("r.t", to=tmp_path / "a.duckdb")
    people.execute("CREATE RELEASE r.u FROM t (id KEY AS pseudonym(), age QUASI, ward NEUTRAL)")
    people.on_stage(Interrupting(people, "checking"))
    with pytest.raises(EngineError, match="stopped"):
        people.publish("r.u", to=tmp_path / "b.duckdb")


def test_ctrl_c_is_a_keyboard_interrupt_whatever_duckdb_makes_of_it() -> None:
    with pytest.raises(KeyboardInterrupt), withheld():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="another"), withheld():
        raise RuntimeError("another")


def test_a_long_statement_stops_at_once(owner: Owner) -> None:
    timer = threading.Timer(0.2, owner.interrupt)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(EngineError, match="stopped"):
        owner.execute("SELECT count(*) FROM range(10000000000) a, range(1000) b")
    assert time.monotonic() - begin < 30
