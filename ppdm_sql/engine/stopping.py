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
        self._is_wanted = threading.Event()

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
            self._works -= 1
            if not self._works:
                self._is_wanted.clear()

    def stop(self) -> None:
        """Stop what runs; nothing, where nothing does."""
        if self._works and not self._is_wanted.is_set():
            self._is_wanted.set()
            threading.Thread(target=self._insist, daemon=True).start()
        self._interrupt()

    def check(self) -> None:
        """End the work here, if that is wanted; what is to be cleared up then still runs."""
        if self._is_wanted.is_set():
            self._is_wanted.clear()
            raise _Stopped

    def pass_on(self, error: EngineError) -> None:
        """Let an interrupt of DuckDB end all of the work, if it is part of more."""
        if error.kind is EngineKind.INTERRUPTED and self._works:
            self._is_wanted.clear()
            raise _Stopped from None

    def _insist(self) -> None:
        waited = threading.Event()
        while self._is_wanted.is_set():
            self._interrupt()
            waited.wait(_AGAIN_S)


def stopped() -> EngineError:
    """Return the error of work that was stopped."""
    return EngineError(
        "stopped",
        hint="the statement that ran changed nothing",
        code="interrupted",
        kind=EngineKind.INTERRUPTED,
    )
