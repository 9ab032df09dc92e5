"""Measuring: the best of a few runs, as a ratio to a plain copy in the same run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured, the figure, the bound it should meet."""

    what: str
    value: float
    unit: str
    bound: float | None = None
    """The most it may be; None where there is no bound."""

    @property
    def is_met(self) -> bool:
        return self.bound is None or self.value <= self.bound


def best(action: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of a few runs, in seconds: the one least disturbed."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest
