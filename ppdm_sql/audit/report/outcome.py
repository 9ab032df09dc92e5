"""What is required of an audit, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.errors import Span


@dataclass(frozen=True, slots=True)
class RequiredColumn:
    """A column that a requirement is about."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One comparison; it must hold for everything that the figure was measured of."""

    name: str
    columns: tuple[RequiredColumn, ...]
    """None: every column that the figure was measured of."""
    sign: str
    bound: float
    span: Span = field(compare=False, repr=False)

    @property
    def about(self) -> str | None:
        """The columns as a report names them."""
        return ", ".join(column.name for column in self.columns) or None

    @property
    def text(self) -> str:
        """As it was written."""
        return self.span.source


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a requirement is met, and by what."""

    requirement: str
    is_met: bool
    sentence: str
