"""One figure of an audit: a name that requirements use, what it is about, a sentence."""

from __future__ import annotations

from dataclasses import dataclass

WITHHELD = "; for the owner alone, because it would disclose a parameter or a small count"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its meaning; None where it could not be measured."""

    part: str
    """`risk` or `utility`."""
    name: str
    """As in `--require`: k, prosecutor, l, sec, …"""
    about: str
    """A column, several, or empty for the whole release."""
    value: float | None
    sentence: str
    of: int | None = None
    """For a share: of how many persons, rows, values or classes it is one."""
    is_owners: bool = False
    """Whether others could work out a parameter or a small count from it, however it is rounded."""

    is_withheld: bool = False
    """Whether it was measured and is not told."""
