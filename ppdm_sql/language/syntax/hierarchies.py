"""What is said of hierarchies: how the values of a column become coarser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name, QualifiedName


DATE_UNITS = ("day", "month", "quarter", "year", "decade")
"""What DATE (…) may list, from fine to coarse."""


@dataclass(frozen=True, slots=True)
class DigitsBody:
    """SUPPRESS DIGITS RIGHT."""


@dataclass(frozen=True, slots=True)
class RangesBody:
    """RANGES (w1, w2, …) [FROM origin]."""

    widths: tuple[int | float, ...]
    origin: int | float = 0


@dataclass(frozen=True, slots=True)
class TreeBody:
    """TREE (('value', 'group', 'larger group'), …)."""

    rows: tuple[tuple[str, ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DateBody:
    """DATE (day, month, …)."""

    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableBody:
    """TABLE t: one row a value, its levels in the columns."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FileBody:
    """FROM 'file.csv': one row a value, most specific first."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


HierarchyBody: TypeAlias = DigitsBody | RangesBody | TreeBody | DateBody | TableBody | FileBody


@dataclass(frozen=True, slots=True)
class CreateHierarchy:
    """CREATE [OR REPLACE] HIERARCHY name AS body."""

    name: Name
    body: HierarchyBody
    replace: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    name_span: Span | None = field(default=None, compare=False, repr=False)
    body_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribeHierarchy:
    """DESCRIBE HIERARCHY name."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropHierarchy:
    """DROP HIERARCHY [IF EXISTS] name."""

    name: Name
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowHierarchies:
    """SHOW HIERARCHIES."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExplainHierarchies:
    """EXPLAIN HIERARCHIES FOR RELEASE name."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)
