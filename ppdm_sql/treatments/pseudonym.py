"""`pseudonym()`: a keyed name for each value, the same for equal values, unique and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import Arguments, one_column, require_kind
from ppdm_sql.treatments.expressions import as_text
from ppdm_sql.treatments.kernels.keyed_name import KEY_BYTES, LONGEST, TAG, pseudonym
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import TransformCall
    from ppdm_sql.names import Name
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_KERNEL = Kernel("ppdm_pseudonym", ("VARCHAR", "VARCHAR"), "VARCHAR", pseudonym)
_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.UUID, Kind.ENUM, Kind.DATE, Kind.DECIMAL)
_SHORTEST, _USUAL = 6, 16


@dataclass(frozen=True, slots=True)
class Pseudonym:
    """The first digits of SHA-256 over key, tag and value.

    The key belongs to the source column, or to a word that the owner gives: `entity => 'patient'`
    makes equal values of different tables meet.
    """

    keyword: ClassVar[str] = "pseudonym"
    summary: ClassVar[str] = "a keyed name: equal values get equal names, nobody else can make them"
    undone_by: ClassVar[str] = "the owner's key; rows of one person stay linked to each other"
    exactness: ClassVar[Exactness] = Exactness.LOOKUP
    kernels: ClassVar[tuple[Kernel, ...]] = (_KERNEL,)

    column: Name
    key_of: str = field(repr=False)
    length: int
    prefix: str = field(repr=False)

    @classmethod
    def from_call(cls, call: TransformCall, columns: Sequence[InputColumn]) -> Self:
        """Take an exact column; floating point has no single text."""
        column = one_column(call, columns)
        require_kind(call, column, _KINDS, "cast it in a (SELECT …) source")
        arguments = Arguments(call, ("length", "prefix", "entity"))
        length = arguments.integer("length", _USUAL, _SHORTEST, LONGEST)
        prefix = arguments.text("prefix", "") if "prefix" in arguments else ""
        key_of = column.identity
        if "entity" in arguments:
            key_of = f"entity:{arguments.text('entity', '')}"
        return cls(column.name, key_of, length, prefix)

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return text."""
        return (VARCHAR,)

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key: the same in every release and version of the column."""
        key = keys.derive("pseudonym", self.key_of)[:KEY_BYTES]
        return Drawn({"key": key.hex(), "prefix": self.prefix})

    def link(self) -> str:
        """Return what the key belongs to; a shorter pseudonym is the beginning of a longer one."""
        return self.key_of

    def not_agreed(self) -> None:
        """A key is derived without looking at the column."""

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return prefix and digits; NULL stays NULL because `||` keeps it."""
        message = exp.DPipe(
            this=exp.DPipe(this=scope.parameter("key"), expression=exp.Literal.string(TAG)),
            expression=as_text(inputs[0]),
        )
        digest = exp.SHA2(this=message, length=exp.Literal.number(256))
        return (self._cut(digest, scope),)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a call of `ppdm_pseudonym`."""
        call = exp.Anonymous(
            this=_KERNEL.name, expressions=[scope.parameter("key"), as_text(inputs[0])]
        )
        return (self._cut(call, scope),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count distinct values before and after."""
        return {
            "values": exp.Count(this=exp.Distinct(expressions=[inputs[0]])),
            "pseudonyms": exp.Count(this=exp.Distinct(expressions=[outputs[0]])),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when two values share a pseudonym."""
        lost = int(results["values"]) - int(results["pseudonyms"])
        if lost > 0:  # fewer values than pseudonyms: a column that ignores case
            raise TreatmentError(
                f"pseudonym: {plural(lost, 'value')} of '{self.column}' would share "
                f"{'a pseudonym' if lost == 1 else 'pseudonyms'} with another",
                hint=f"write a longer one: length => {min(self.length + 8, LONGEST)}",
            )
        return ()

    def _cut(self, digest: exp.Expr, scope: Scope) -> exp.Expr:
        digits = exp.Substring(
            this=digest, start=exp.Literal.number(1), length=exp.Literal.number(self.length)
        )
        if not self.prefix:
            return digits
        return exp.DPipe(this=scope.parameter("prefix"), expression=digits)
