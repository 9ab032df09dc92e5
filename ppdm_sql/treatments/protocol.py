"""What a treatment is: the protocols that `transforms/` fulfil and everything else relies on.

`Transform` is what every treatment has. The smaller protocols below it are capabilities: a
treatment has the methods it needs and no others, and callers ask with `isinstance`. The life of
one, in order: `from_call` · `statistics` (one scan for all treatments) · `draw` · `to_expr` ·
`checks` and `verify` (on what would be released) · later `invert` and `invert_condition`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from sqlglot import exp

    from ppdm_sql.engine.kernel import Kernel
    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.names import Name
    from ppdm_sql.parameters import Drawn, Parameter
    from ppdm_sql.types import ColumnType


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A column as a treatment meets it: from the source, or from the treatment before it."""

    name: Name
    type: ColumnType
    identity: str
    """Which source column it is, the same in every release: keys are derived from it."""


Statistics: TypeAlias = "Mapping[str, Any]"


class Chance(Protocol):
    """Draws secret numbers."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number between two limits."""
        ...

    def sign(self) -> int:
        """Return 1 or -1."""
        ...

    def choice(self, count: int) -> int:
        """Return a number from 0 to count - 1."""
        ...

    def permutation(self, count: int) -> npt.NDArray[np.intp]:
        """Return 0 … count-1 in a random order."""
        ...


class Keys(Protocol):
    """Derives keys from the owner's root key."""

    @property
    def row_identity(self) -> str:
        """The identity of the row key: what belongs to whole rows is keyed by it."""
        ...

    @property
    def is_agreed(self) -> bool:
        """Whether several sites hold the same keys and must draw the same."""
        ...

    def derive(self, purpose: str, column: str) -> bytes:
        """Return the 32-byte key of one purpose and one column."""
        ...

    def chance(self, what: str) -> Chance:
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

    def row_key(self) -> exp.Expr:
        """Return the original KEY of the row as BIGINT; for treatments that say they use it."""
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


@runtime_checkable
class Transform(Protocol):
    """What every treatment has. Frozen; holds what the owner wrote, nothing that was drawn."""

    keyword: ClassVar[str]
    """The word in SQL."""
    summary: ClassVar[str]
    """One line for people: what it does."""
    undone_by: ClassVar[str]
    """One line for people: what gives the original values back to an outsider."""
    exactness: ClassVar[Exactness]

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Check arguments and column types; raise `TreatmentError` with a span."""
        ...

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the type of each released column."""
        ...

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return one neutral expression a column; NULL stays NULL."""
        ...


@runtime_checkable
class Measures(Protocol):
    """A treatment that needs to know its columns: answered for all treatments in one scan."""

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Return aggregates by name. Their text holds no parameter."""
        ...


@runtime_checkable
class Draws(Protocol):
    """A treatment with parameters or tables of its own."""

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Fix the parameters; with `previous`, keep what analysts already know."""
        ...


@runtime_checkable
class Agrees(Protocol):
    """A treatment that several sites can draw alike, from keys they share."""

    def not_agreed(self) -> str | None:
        """Return what of it one site's data would decide, and what to write; None if nothing."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A treatment that looks at its own result before the release is made."""

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Return aggregates over original and released values, all in one scan."""
        ...

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise `TreatmentError`, or return warnings for the owner."""
        ...


@runtime_checkable
class Inverts(Protocol):
    """A treatment whose results the owner can translate back."""

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Return original values for released ones; NULL for what no original gives."""
        ...

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Rewrite `released <operator> literal` of one column on the original columns.

        None where no condition on them says the same.
        """
        ...


@runtime_checkable
class Affine(Protocol):
    """A treatment of the form A · x + b: means of released values are released means."""

    is_affine: ClassVar[bool]


@runtime_checkable
class NullsApart(Protocol):
    """A treatment that releases NULL not just where its own column is NULL."""

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return when one released column is NULL: a condition that is true or false, not NULL."""
        ...


@runtime_checkable
class UsesRowKey(Protocol):
    """A treatment that is fixed for each row: the release must have a KEY."""

    uses_row_key: ClassVar[bool]


@runtime_checkable
class Links(Draws, Protocol):
    """A treatment whose values meet equal ones elsewhere, so that rows can be joined on them.

    What it draws depends on keys alone: under other keys the same values meet no others.
    """

    def link(self) -> str:
        """Return what two treatments must share for their values to meet; never shown."""
        ...


@runtime_checkable
class Notes(Protocol):
    """A treatment with something to say about what it did, without any parameter."""

    def note(self, drawn: Drawn) -> str:
        """Return one line for DESCRIBE RELEASE."""
        ...


@runtime_checkable
class HasKernel(Protocol):
    """A treatment that can also run as a Python function inside DuckDB."""

    kernels: ClassVar[tuple[Kernel, ...]]

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the same values as `to_expr`, by calling a kernel."""
        ...
