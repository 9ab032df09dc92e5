"""What a class must reach: k-anonymity, l-diversity, t-closeness, (alpha, k)-anonymity and more.

A figure within TOLERANCE of its bound counts as equal to it, so that rounding decides nothing:
equality is enough for all targets but recursive diversity, which is defined with `<`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class K:
    """At least k persons."""

    k: int


@dataclass(frozen=True, slots=True)
class DistinctL:
    """At least l different values of a sensitive column."""

    column: int
    l: int  # noqa: E741 - the literature's name


@dataclass(frozen=True, slots=True)
class EntropyL:
    """Values of a sensitive column with an entropy of at least ln(l)."""

    column: int
    l: float  # noqa: E741 - the literature's name


@dataclass(frozen=True, slots=True)
class RecursiveL:
    """The most frequent value less often than c times all from the l-th most frequent on."""

    column: int
    l: int  # noqa: E741 - the literature's name
    c: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """Values distributed within an earth mover's distance t of the whole source."""

    column: int
    t: float


@dataclass(frozen=True, slots=True)
class Alpha:
    """No value, or none of the chosen ones, held by more than this share of the persons."""

    column: int
    share: float
    chosen: tuple[int, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Proximity:
    """Of the persons, at most 1 / l have values within a distance of any one value."""

    column: int
    distance: float = field(repr=False)
    l: int  # noqa: E741 - the literature's name


@dataclass(frozen=True, slots=True)
class RareSpread:
    """p, q, r of (k, p, q, r)-anonymity, about classes that hold a value rarer than q.

    They hold p values at least, which vary at least r times as much as those of the whole source.
    """

    column: int
    p: int
    q: float
    r: float


@dataclass(frozen=True, slots=True)
class Population:
    """At least k persons of a register, who need not be in the data."""

    k: int


MergedTarget: TypeAlias = K | DistinctL | Population
"""A class that reaches it keeps it whatever is merged into the class."""
MixedTarget: TypeAlias = EntropyL | RecursiveL | Closeness | Alpha
"""About a distribution: classes that all reach it keep it when they are merged."""
OpenTarget: TypeAlias = Proximity | RareSpread
"""Classes that reach it may miss it when they are merged: nothing is known of other nodes."""
Target: TypeAlias = MergedTarget | MixedTarget | OpenTarget
