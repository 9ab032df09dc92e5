"""The progress bar: late, on a terminal only, and out of the way of what is printed."""

from __future__ import annotations

import io
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest
from rich.console import Console

from ppdm_sql.cli import progress
from ppdm_sql.cli.progress import Bar, show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ppdm_sql.owner import Owner


class Clock:
    """Stands in for an owner: says how far it is, and remembers who asked."""

    def __init__(self, done: float = 40.0) -> None:
        self.done = done
        self.asked = 0
        self.tell: Callable[[str], None] = lambda _: None

    def progress(self) -> float:
        self.asked += 1
        return self.done

    def on_stage(self, tell: Callable[[str], None]) -> None:
        self.tell = tell


def terminal() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=True, width=80, color_system=None), out


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes ten times as fast."""
    monkeypatch.setattr(progress, "PATIENCE_S", 0.1)
    monkeypatch.setattr(progress, "_TICK_S", 0.01)


@contextmanager
def bar_over(clock: Clock) -> Iterator[tuple[Bar, io.StringIO]]:
    console, out = terminal()
    bar = Bar(cast("Owner", clock), console)
    bar.start()
    try:
        yield bar, out
    finally:
        bar.end()


def wait_for(happens: Callable[[], object], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_a_bar_waits_a_second() -> None:
    assert progress.PATIENCE_S == 1.0


@pytest.mark.usefixtures("quick")
def test_quick_work_shows_nothing() -> None:
    clock = Clock()
    with bar_over(clock) as (_, out):
        time.sleep(0.03)
    assert out.getvalue() == ""
    assert clock.asked == 0


@pytest.mark.usefixtures("quick")
def test_long_work_shows_how_far_it_is() -> None:
    clock = Clock(40.0)
    with bar_over(clock) as (_, out):
        wait_for(lambda: "40%" in out.getvalue())
    assert "running" in out.getvalue()


@pytest.mark.usefixtures("quick")
def test_the_stage_is_named() -> None:
    clock = Clock()
    with bar_over(clock) as (_, out):
        clock.tell("reading statistics")
        wait_for(lambda: "reading statistics" in out.getvalue())
        clock.tell("checking")
        wait_for(lambda: "checking" in out.getvalue())


@pytest.mark.usefixtures("quick")
def test_work_of_unknown_length_shows_no_share() -> None:
    clock = Clock(-1.0)
    with bar_over(clock) as (_, out):
        wait_for(lambda: clock.asked > 3)
    assert "running" in out.getvalue()
    assert "-" not in out.getvalue().replace("-:--:--", "")
    assert "%" not in out.getvalue()


@pytest.mark.usefixtures("quick")
def test_a_stage_never_goes_back_and_the_next_starts_anew() -> None:
    clock = Clock(40.0)
    with bar_over(clock) as (_, out):
        clock.tell("reading")
        wait_for(lambda: "40%" in out.getvalue())
        for later in (26.0, -1.0):  # another query of the same stage; work without one
            clock.done, clock.asked = later, 0
            wait_for(lambda: clock.asked > 20)
        assert "26%" not in out.getvalue()
        clock.tell("attacking")
        wait_for(lambda: "attacking" in out.getvalue())
        clock.asked = 0
        wait_for(lambda: clock.asked > 20)
        last = out.getvalue().rpartition("attacking")[2]
        assert "%" not in last


@pytest.mark.usefixtures("quick")
def test_while_something_is_printed_the_bar_is_away() -> None:
    clock = Clock()
    with bar_over(clock) as (bar, out):
        wait_for(lambda: "40%" in out.getvalue())
        with bar.paused():
            out.seek(0)
            out.truncate()
            asked = clock.asked
            time.sleep(0.2)
            assert out.getvalue() == ""
            assert clock.asked == asked


@pytest.mark.usefixtures("quick")
def test_after_something_is_printed_patience_starts_anew() -> None:
    clock = Clock()
    with bar_over(clock) as (bar, out):
        for _ in range(5):
            time.sleep(0.05)
            with bar.paused():
                pass
        assert out.getvalue() == ""
        assert clock.asked == 0
        wait_for(lambda: "40%" in out.getvalue())


@pytest.mark.usefixtures("quick")
def test_a_bar_that_was_about_to_appear_does_not_flash_after_printing() -> None:
    """Patience may run out in the moment in which printing begins: then the thread waits."""
    clock = Clock()
    with bar_over(clock) as (bar, out):
        bar._showing.acquire()  # printing has its turn,
        time.sleep(0.2)  # the thread finds that patience is over and waits for its own,
        bar._since = time.monotonic()  # and printing ends as `paused` does
        bar._showing.release()
        time.sleep(0.05)
        assert out.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_the_end_takes_the_bar_away() -> None:
    clock = Clock()
    with bar_over(clock) as (bar, out):
        wait_for(lambda: "40%" in out.getvalue())
    assert not bar._thread.is_alive()
    before = out.getvalue()
    time.sleep(0.05)
    assert out.getvalue() == before
    assert before.endswith("\x1b[2K"), "the line is erased"


@pytest.mark.usefixtures("quick")
def test_an_error_takes_the_bar_away() -> None:
    bars: list[Bar] = []

    def work() -> None:
        with bar_over(Clock()) as (bar, out):
            bars.append(bar)
            wait_for(lambda: "40%" in out.getvalue())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert not bars[0]._thread.is_alive()


def test_without_a_terminal_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    clock = Clock()
    with show_progress(cast("Owner", clock)) as bar, bar.paused():
        assert not isinstance(bar, Bar)
    assert out.getvalue() == ""
    assert clock.asked == 0


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", out)
    with show_progress(cast("Owner", Clock())) as bar:
        assert isinstance(bar, Bar)
        assert bar._thread.is_alive()
    assert not bar._thread.is_alive()
