"""Stopping work from another thread, also between two statements of DuckDB.

DuckDB forgets an interrupt that comes while nothing of it runs. So one is kept until the work ends,
and repeated: it may come a moment before a long statement begins.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ppdm_sql.errors import EngineError, EngineKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AGAIN_S = 0.05


class _Stopped(BaseException):
    """Passes by whoever could go on without a result; becomes an error where the work began."""


class Stopping:
    """Whether the work of one connection is to be stopped."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._works = 0
        self._is_wanted = False
        self._calm = threading.Event()
        self._changing = threading.Lock()
        self._is_held = False
        self._insisting: threading.Thread | None = None

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run a block that can be stopped as a whole."""
        self._works += 1
        try:
            yield
        except _Stopped:
            if self._works > 1:
                raise
            raise stopped() from None
        finally:
            with self._changing:  # who stops it now comes too late
                self._works -= 1
                if not self._works:
                    self._calm_down()
            if not self._works and self._insisting is not None:
                self._insisting.join()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let nobody stop a block: what is done by then is done."""
        with self._changing:
            self.check()
            self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    def stop(self) -> None:
        """Stop what runs; nothing, where nothing does, or where it is too late."""
        with self._changing:
            if self._is_held:
                return
            if self._works and not self._is_wanted:
                self._is_wanted = True
                self._calm.clear()
                self._insisting = threading.Thread(target=self._insist, daemon=True)
                self._insisting.start()
        self._interrupt()

    def check(self) -> None:
        """End the work here, if that is wanted; what is to be cleared up then still runs."""
        if self._is_wanted:
            self._calm_down()
            raise _Stopped

    def pass_on(self, error: EngineError) -> None:
        """Let an interrupt of DuckDB end all of the work, if it is part of more."""
        if error.kind is EngineKind.INTERRUPTED and self._works:
            self._calm_down()
            raise _Stopped from None

    def _calm_down(self) -> None:
        self._is_wanted = False
        self._calm.set()

    def _insist(self) -> None:
        while not self._calm.wait(_AGAIN_S):
            self._interrupt()


def stopped() -> EngineError:
    """Return the error of work that was stopped."""
    return EngineError(
        "stopped",
        hint="the statement that ran changed nothing",
        code="interrupted",
        kind=EngineKind.INTERRUPTED,
    )
