"""What a line says of a column: its role, its treatments and their arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name, QualifiedName


class Role(StrEnum):
    """What a column is to the people in it."""

    KEY = "KEY"
    """Whom a row is about; used by the owner, released only through a treatment."""
    IDENTIFIER = "IDENTIFIER"
    """Names a person; never leaves."""
    QUASI = "QUASI"
    """Together with others singles people out."""
    SENSITIVE = "SENSITIVE"
    """What must not be tied to a person."""
    NEUTRAL = "NEUTRAL"
    """Neither."""


Value: TypeAlias = "int | float | str | bool | tuple[Value, ...] | TreatmentCall | None"
"""An argument: a literal, a list (as a tuple) or a call such as `normal(0, 10)`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: positional, or named with `=>`."""

    name: str | None
    """Folded; None when positional."""
    value: Value = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TreatmentCall:
    """A word with arguments; which words exist is not known here."""

    keyword: str
    """Folded."""
    arguments: tuple[Argument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column as the script names it."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """`REFERENCES clinic.visits (visit_id)`: the values are those of another table's column."""

    table: QualifiedName
    column: Name
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.table} ({self.column})"


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One line of a release: columns, role, whose they are, treatments in order."""

    columns: tuple[ColumnName, ...]
    role: Role
    treatments: tuple[TreatmentCall, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    entity: Name | None = None
    """The word behind OF: whom or what the values name."""
    references: Reference | None = None
    private_to: Name | None = None
    """The site that alone holds the parameters of a column of an agreement."""

    @property
    def is_released(self) -> bool:
        """Whether the columns leave: IDENTIFIER never, KEY only through a treatment."""
        if self.role is Role.IDENTIFIER:
            return False
        return self.role is not Role.KEY or bool(self.treatments)


@dataclass(frozen=True, slots=True)
class Option:
    """One `name = value` of a WITH clause."""

    name: str
    value: Value = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
