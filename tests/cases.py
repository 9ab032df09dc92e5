"""How many cases a property is tried with: some in `make test`, all of them in `make soak`."""

from __future__ import annotations

import os

NEW = os.environ.get("PPDM_CASES") == "new"
"""Whether cases are drawn anew; else they are the same every time, so more of them find no more."""


def cases(number: int) -> int:
    """Return how many of `number` cases are tried now."""
    return number if NEW else max(number // 3, 20)
