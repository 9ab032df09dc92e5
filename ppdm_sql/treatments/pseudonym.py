"""`pseudonym()`: a keyed name for each value, the same for equal values, unique and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec, text, whole_number
from ppdm_sql.treatments.expressions import as_text, call
from ppdm_sql.treatments.kernels.keyed_name import KEY_BYTES, LONGEST, TAG, pseudonym
from ppdm_sql.treatments.protocol import ENTITY, Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics


def _key_of(given: Arguments, columns: Sequence[InputColumn]) -> str:
    if "entity" not in given:
        return columns[0].whose
    if columns[0].entity:
        given.fail("entity", "the column says whose it is", "write OF or entity => …, not both")
    return f"{ENTITY}{given.text('entity', '')}"


@dataclass(frozen=True, slots=True)
class Pseudonym(Treatment):
    """The first digits of SHA-256 over key, tag and value.

    The key belongs to the source column, or to a word that the owner gives: `entity => 'patient'`
    makes equal values of different tables meet.
    """

    keyword = "pseudonym"
    summary = "a keyed name: equal values get equal names, only the owner can make them"
    reading = "a pseudonym: equal ones are the same original"
    undone_by = "the owner's key; rows of one person stay linked; of few values, knowing how frequent they are"
    exactness = Exactness.LOOKUP
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=True, renames=True,
        draws_from_keys=True,
    )  # fmt: skip
    kinds: ClassVar[tuple[Kind, ...]] = (
        Kind.INTEGER,
        Kind.TEXT,
        Kind.UUID,
        Kind.ENUM,
        Kind.DATE,
        Kind.DECIMAL,
    )
    arguments: ClassVar[tuple[ArgumentSpec, ...]] = (
        whole_number("length", 16, 6, LONGEST),
        text("prefix", lambda _: ""),
        ArgumentSpec("entity", _key_of),
    )
    releases = VARCHAR
    kernels = (Kernel("ppdm_pseudonym", ("VARCHAR", "VARCHAR"), "VARCHAR", pseudonym),)
    not_agreed: ClassVar[str | None] = None  # a key is derived without looking at the column

    length: int
    prefix: str = field(repr=False)
    entity: str = field(repr=False)
    """What the key belongs to."""

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key: the same in every release and version of the column.

        A refresh derives it again: the source may have become another column.
        """
        key = keys.derive("pseudonym", self.entity)[:KEY_BYTES]
        return Drawn({"key": key.hex(), "prefix": self.prefix})

    def link(self) -> str:
        """Return what the key belongs to; a shorter pseudonym is the beginning of a longer one."""
        return self.entity

    @property
    def names_alike(self) -> bool:
        """A shorter one is the beginning of a longer one."""
        return True

    def meets(self) -> str:
        """Return what must be the same for equal names: they are cut and begin alike, too."""
        return "\0".join((self.entity, str(self.length), self.prefix))

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
        digest = call(self.kernels[0], scope.parameter("key"), as_text(inputs[0]))
        return (self._cut(digest, scope),)

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
                f"pseudonym: {plural(lost, 'value')} of '{self.columns[0].name}' would share "
                f"{'a pseudonym' if lost == 1 else 'pseudonyms'} with another",
                hint=f"write a longer one: length => {min(self.length + 8, LONGEST)}",
                code="names_collide",
            )
        return ()

    def _cut(self, digest: exp.Expr, scope: Scope) -> exp.Expr:
        digits = exp.Substring(
            this=digest, start=exp.Literal.number(1), length=exp.Literal.number(self.length)
        )
        if not self.prefix:
            return digits
        return exp.DPipe(this=scope.parameter("prefix"), expression=digits)
