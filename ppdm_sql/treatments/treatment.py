"""What a treatment is: a few declared facts, an expression, and defaults for all the rest.

The life of one, in order: `from_call` · `statistics` (one scan for all treatments) · `draw` ·
`to_expr` · `checks` and `verify` (on what would be released) · later `invert` and
`invert_condition`. A treatment declares what it is, writes `to_expr`, and overrides what else it
needs; nobody outside this room knows its word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from sqlglot import exp

from ppdm_sql.errors import TreatmentError
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments, require_kind
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from ppdm_sql.engine.kernel import Kernel
    from ppdm_sql.language.syntax import TreatmentCall
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import ArgumentSpec
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics
    from ppdm_sql.types import ColumnType

ANY_KIND = tuple(Kind)
_UNDECLARED = "it does not declare that all sites draw the same"


@dataclass(frozen=True, slots=True)
class Treatment:
    """A treatment of one column or a group. Holds what the owner wrote, nothing that was drawn.

    Its fields after `columns` are its arguments, in the order of `arguments`.
    """

    # What is declared.
    keyword: ClassVar[str]
    """The word in SQL."""
    summary: ClassVar[str]
    """One line for people: what it does."""
    reading: ClassVar[str] = ""
    """One line for analysts: what a released value is. Without it, the summary."""
    missing: ClassVar[str] = ""
    """One line for analysts: what else NULL means than that the value was missing."""
    undone_by: ClassVar[str]
    """One line for people: what gives the original values back to an outsider."""
    exactness: ClassVar[Exactness] = Exactness.NONE
    """How well the owner gets original values back."""
    traits: ClassVar[Traits] = Traits()
    """What others may rely on."""
    kinds: ClassVar[tuple[Kind, ...]] = ANY_KIND
    instead: ClassVar[str] = "cast it in a (SELECT …) source"
    """What to write for a column of another kind."""
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = 1
    """How many columns it treats together; None: as many as there are."""
    arguments: ClassVar[tuple[ArgumentSpec, ...]] = ()
    releases: ClassVar[ColumnType | None] = None
    """The type that is released; None: as it was."""
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    """Python functions that its SQL may call."""
    not_agreed: ClassVar[str | None] = _UNDECLARED
    """Why sites cannot draw it alike; None: they can."""

    columns: tuple[InputColumn, ...]

    @classmethod
    def from_call(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> Self:
        """Check columns and arguments; raise `TreatmentError` with a span."""
        cls.check_columns(call, columns)
        given = Arguments(call, [argument.name for argument in cls.arguments])
        values = {one.name: one.read(given, columns) for one in cls.arguments}
        made = cls(tuple(columns), **values)
        made.check_arguments(given)
        return made

    @classmethod
    def check_columns(cls, call: TreatmentCall, columns: Sequence[InputColumn]) -> None:
        """Raise unless it treats as many columns, and of these kinds."""
        if cls.most is not None and len(columns) > cls.most:
            raise TreatmentError(
                f"{call.keyword} treats one column at a time, not a group of {len(columns)}",
                call.span,
                "write one line for each column",
                code="number_of_columns",
            )
        if len(columns) < cls.fewest:
            raise TreatmentError(
                f"{call.keyword} treats two or more columns together",
                call.span,
                f"write (x, y) ROLE AS {call.keyword}()",
                code="number_of_columns",
            )
        for column in columns:
            require_kind(call, column, cls.kinds, cls.instead)

    def check_arguments(self, given: Arguments) -> None:
        """Raise where arguments do not fit each other or the columns."""

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return the type of each released column."""
        return tuple(self.releases or column.type for column in self.columns)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Return aggregates by name: what it must know of its columns. No parameter is in them."""
        return {}

    def row_statistics(
        self, inputs: Sequence[exp.Expr], row_key: exp.Expr
    ) -> Mapping[str, exp.Expr]:
        """Return more aggregates, for treatments that must know whose row a value is in."""
        return {}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Fix the parameters; a refresh keeps them, because analysts know values made with them."""
        return self.draw_anew(statistics, keys) if previous is None else previous

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Fix the parameters of a new release."""
        return Drawn()

    def why_not_agreed(self) -> str | None:
        """Return what of it one site's data would decide, and what to write; None if nothing."""
        return self.not_agreed

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return one neutral expression a column; NULL stays NULL."""
        raise NotImplementedError  # every treatment has its own

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the same values as `to_expr`, by calling a kernel where there is one."""
        return self.to_expr(inputs, scope)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Return aggregates over original and released values, all in one scan."""
        return {}

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise `TreatmentError`, or return warnings for the owner."""
        return ()

    @property
    def inverts(self) -> bool:
        """Whether the owner can translate its results back by computing."""
        return self.exactness in (Exactness.EXACT, Exactness.NEAR)

    @property
    def translates(self) -> bool:
        """Whether conditions on its values can be written as conditions on originals."""
        return self.inverts

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Return original values for released ones; NULL for what no original gives."""
        raise NotImplementedError  # asked only where it inverts

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
        return None

    def released_null(
        self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0
    ) -> exp.Expr | None:
        """Return when one released column is NULL: true or false, never NULL; None: unknown."""
        knows = self.inverts or self.exactness is Exactness.LOOKUP
        return columns[index].is_(exp.null()) if knows else None

    @property
    def averages_over_rows(self) -> bool:
        """Whether rows of one person have noises of their own, which average out."""
        return False

    @property
    def shares_noise(self) -> bool:
        """Whether rows of one person have the same noise, whatever their values are."""
        return False

    @property
    def leaves_rows(self) -> bool:
        """Whether it leaves some rows as they are, and does not show which."""
        return False

    @property
    def leaves_most_rows(self) -> bool:
        """Whether more than nine of ten rows are released as they are."""
        return False

    def link(self) -> str:
        """Return what two treatments must share for their values to meet; never shown.

        Where a treatment does not say: all of its values may meet, of whatever column.
        """
        return f"treatment:{self.keyword}"

    @property
    def names_alike(self) -> bool:
        """Whether equal values have names that begin alike, wherever `link` is the same."""
        return False

    def meets(self) -> str:
        """Return what two treatments must share for rows to be joined on their values; never shown."""
        return self.link()

    def drawn_for(self) -> str:
        """Return what random numbers are drawn for; agreements between sites depend on it."""
        return " ".join((self.keyword, *(column.identity for column in self.columns)))

    def ledger_parameters(self, row: Mapping[str, Parameter]) -> Mapping[str, Parameter]:
        """Return the parameters that the ledger tells two publications of a column apart by."""
        return row

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return its parameters in words, where the owner may hand them on; None: they are secret."""
        return None

    def note(self, drawn: Drawn) -> str | None:
        """Return one line for DESCRIBE RELEASE on what it did, without any parameter."""
        return None
