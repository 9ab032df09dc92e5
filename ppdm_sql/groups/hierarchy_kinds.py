"""How values of a column are generalized: the shapes a hierarchy can have. Frozen, no I/O.

A hierarchy has levels: 0 is the value itself, the last is `*` for every value. Shapes that follow
a rule (digits, ranges, dates) work for any value; listed ones know their values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from decimal import Decimal

    import pyarrow as pa

    from ppdm_sql.names import Name

SUPPRESSED = "*"
"""The last level of every hierarchy, and what a suppressed record shows."""

_TEXTUAL = frozenset(Kind) - {Kind.OTHER}


@dataclass(frozen=True, slots=True)
class OnlySuppress:
    """The value or `*`: what a column without USING gets."""

    kinds: ClassVar[frozenset[Kind]] = _TEXTUAL
    word: ClassVar[str] = "keep or suppress"


@dataclass(frozen=True, slots=True)
class SuppressDigits:
    """Characters become `*` one by one, from the right: 42306, 4230*, 423**."""

    kinds: ClassVar[frozenset[Kind]] = frozenset(
        {Kind.INTEGER, Kind.TEXT, Kind.ENUM, Kind.UUID, Kind.DECIMAL}
    )
    word: ClassVar[str] = "SUPPRESS DIGITS RIGHT"


@dataclass(frozen=True, slots=True)
class Ranges:
    """Half-open ranges of growing width, each a multiple of the one before."""

    widths: tuple[Decimal, ...]
    origin: Decimal
    """Where one of the ranges begins."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})
    word: ClassVar[str] = "RANGES"


@dataclass(frozen=True, slots=True)
class Dates:
    """Days, months, quarters, years, decades: some of them, from fine to coarse."""

    units: tuple[str, ...]

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.DATE, Kind.TIMESTAMP})
    word: ClassVar[str] = "DATE"


@dataclass(frozen=True, slots=True)
class Listed:
    """Every value with its group at each level: from a TREE, a table or a file."""

    levels: tuple[pa.Array, ...] = field(repr=False, compare=False)
    """Texts, one array a level, the values first; the last is one group, `*` or a word of the owner's."""

    kinds: ClassVar[frozenset[Kind]] = _TEXTUAL
    word: ClassVar[str] = "list of values"


Shape: TypeAlias = OnlySuppress | SuppressDigits | Ranges | Dates | Listed


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A stored hierarchy: its name and its shape."""

    name: Name | None
    """None for a column without USING."""
    shape: Shape
