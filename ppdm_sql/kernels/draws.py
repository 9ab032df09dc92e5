"""Secret numbers from the system's generator."""

from __future__ import annotations

import secrets

_SYSTEM = secrets.SystemRandom()


def secret_uniform(low: float, high: float) -> float:
    """Return a number between two limits that nobody can predict."""
    return _SYSTEM.uniform(low, high)


def secret_sign() -> int:
    """Return 1 or -1."""
    return _SYSTEM.choice((1, -1))


def secret_choice(count: int) -> int:
    """Return a number from 0 to count - 1."""
    return secrets.randbelow(count)
