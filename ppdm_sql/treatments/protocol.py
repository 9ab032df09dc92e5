"""What treatments are handed: columns, keys, chance, and a scope to refer to what was drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlglot import exp

    from ppdm_sql.names import Name
    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.types import ColumnType


ENTITY = "entity:"
"""What an entity begins with that the owner gave a word: no column of a table is written so."""


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A column as a treatment meets it: from the source, or from the treatment before it."""

    name: Name
    type: ColumnType
    identity: str
    """Which source column it is, the same in every release: keys are derived from it."""
    origins: frozenset[str] = field(default=frozenset(), compare=False)
    """The columns of tables that it is computed from: keys of noise are derived from them."""
    ancestors: frozenset[str] = field(default=frozenset(), compare=False)
    """The columns of tables that it may tell of, as far as anybody knows: never too few."""
    entity: str = field(default="", compare=False)
    """Whom or what its values name, where the release says so: OF patient, REFERENCES t (c)."""
    beside: Name | None = field(default=None, compare=False)
    """The column of the source that a treatment looks at beside it: `within => 'ward'`."""

    @property
    def whose(self) -> str:
        """What its values are names of: equal values of one entity are one person, one visit."""
        return self.entity or self.identity


Statistics: TypeAlias = "Mapping[str, Any]"


class Keys(Protocol):
    """Derives keys from the owner's root key."""

    @property
    def row_identity(self) -> str:
        """The identity of the row key: what belongs to whole rows is keyed by it."""
        ...

    @property
    def person(self) -> str:
        """Whom a row is about: what belongs to a person in every table is keyed by it."""
        ...

    @property
    def formula(self) -> int:
        """How the version computes: keys of another formula are other keys."""
        ...

    @property
    def source(self) -> str:
        """What the source says, where a column is computed there; empty for one of a table."""
        ...

    @property
    def is_agreed(self) -> bool:
        """Whether several sites hold the same keys and must draw the same."""
        ...

    def derive(self, purpose: str, column: str) -> bytes:
        """Return the 32-byte key of one purpose and one column."""
        ...

    def chance(self, what: str) -> Draws:
        """Return where random numbers for one thing come from: never the same twice, or agreed."""
        ...


class Scope(Protocol):
    """How an expression refers to what was drawn: by name, never by value."""

    def parameter(self, name: str) -> exp.Expr:
        """Return a reference to one of the treatment's parameters."""
        ...

    def lookup(self, table: str, key: exp.Expr) -> exp.Expr:
        """Join one of the treatment's tables on its column `original`; return its `released`.

        NULL where the key is NULL or not in the table.
        """
        ...

    def let(self, value: exp.Expr) -> exp.Expr:
        """Compute a value of the inputs once, before the rest; return a reference to it."""
        ...

    def join(self, table: str, keys: Mapping[str, exp.Expr]) -> Joined:
        """Join one of the treatment's tables on several columns."""
        ...

    def join_below(self, table: str, key: exp.Expr) -> Joined:
        """Join the row of a table whose `original` is the largest not above the key."""
        ...

    def join_nearest(
        self, table: str, when: exp.Expr, distance: Callable[[Joined], exp.Expr]
    ) -> Joined:
        """Join the row of a table at the least distance, for the rows where `when` holds."""
        ...

    @property
    def formula(self) -> int:
        """How the version computes: what was released stays as it was."""
        ...

    def row_key(self) -> exp.Expr:
        """Return the original KEY of the row as BIGINT; for treatments that say they use it."""
        ...

    def mixed_with(self, index: int) -> list[int]:
        """Return the other columns whose originals are in this one by now."""
        ...

    def source_value(self, index: int) -> exp.Expr:
        """Return the original value of a column as DOUBLE; for treatments that say they use it.

        What is equal as a number or a moment is equal here, whatever type a column has.
        """
        ...


class Joined(Protocol):
    """A joined table: its columns by name, NULL where nothing was found."""

    def __call__(self, column: str) -> exp.Expr:
        """Return a reference to one of its columns."""
        ...


class Exactness(StrEnum):
    """How well the owner gets original values back."""

    EXACT = "exact"
    NEAR = "to about 1e-12"
    LOOKUP = "by computing it again from the source"
    NONE = "not invertible"
