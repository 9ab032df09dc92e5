"""A progress bar for work that takes more than a second, on a terminal only."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

PATIENCE_S = 1.0
_TICK_S = 0.1
_UNKNOWN = -1.0
"""How far a query is, when nobody can tell: then the bar runs to and fro, without a share."""


class Bar:
    """Polls the owner's engine from a thread of its own; appears only after a second."""

    def __init__(self, owner: Owner, console: Console) -> None:
        self._owner = owner
        self._console = console
        self._stage = ""
        self._since = monotonic()
        self._stop = threading.Event()
        self._pause = threading.Event()
        self._showing = threading.Lock()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._owner.on_stage(self._set_stage)
        self._thread.start()

    def end(self) -> None:
        """Stop watching and take the bar away."""
        self._stop.set()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the bar away while something is printed; the next statement starts anew."""
        self._pause.set()
        with self._showing:
            yield
        self._stage = ""
        self._since = monotonic()
        self._pause.clear()

    def _set_stage(self, stage: str) -> None:
        self._stage = stage

    def _watch(self) -> None:
        while not self._stop.wait(_TICK_S):
            if self._is_time():
                with self._showing:
                    if self._is_time():  # something may have been printed meanwhile
                        self._show()

    def _is_time(self) -> bool:
        return not self._pause.is_set() and monotonic() - self._since > PATIENCE_S

    def _show(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[share]:>4}"),
            TimeElapsedColumn(),
        )
        stage, furthest = self._stage, _UNKNOWN
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task("", total=None, share="")
            while not self._pause.is_set() and not self._stop.wait(_TICK_S):
                if self._stage != stage:
                    stage, furthest = self._stage, _UNKNOWN
                # A stage may run several queries, and work without any: it never goes back.
                furthest = max(furthest, self._owner.progress())
                is_known = furthest > 0
                progress.update(
                    task,
                    description=stage or "running",
                    total=100.0 if is_known else None,
                    completed=furthest if is_known else 0.0,
                    share=f"{furthest:.0f}%" if is_known else "",
                )


class _NoBar:
    """Stands in where there is nobody to look."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        yield


@contextmanager
def show_progress(owner: Owner) -> Iterator[Bar | _NoBar]:
    """Show a bar on standard error while the block runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield _NoBar()
        return
    bar = Bar(owner, Console(stderr=True))
    bar.start()
    try:
        yield bar
    finally:
        bar.end()
