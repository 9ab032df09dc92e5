"""`email()`: a pseudonym of an address, and its domain where enough addresses share it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import whole_number
from ppdm_sql.treatments.expressions import as_text
from ppdm_sql.treatments.pseudonym import Pseudonym
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics

_TABLE = "domains"
_HIDDEN = "*"


@dataclass(frozen=True, slots=True)
class Email(Pseudonym):
    """The domains that are shown are fixed when the release is made; any other one is `*`."""

    keyword = "email"
    summary = "a pseudonym of an address, and its domain where enough different addresses share it"
    reading = "a pseudonym of an address: equal ones are the same; * is a domain that few have"
    undone_by = "the owner's key; rows of one address stay linked; a common domain is shown"
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=True, renames=True,
        draws_from_keys=True, shows_a_part=True,
    )  # fmt: skip
    kinds = (Kind.TEXT,)
    arguments = (*Pseudonym.arguments, whole_number("at_least", 20, 2, 1_000_000))
    not_agreed = "which domains are shown follows from one site's addresses"

    at_least: int = field(repr=False)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the different addresses."""
        return {"addresses": exp.ArrayAgg(this=exp.Distinct(expressions=[_written(inputs[0])]))}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key; keep the domains that are shown."""
        # super() without arguments does not work in a dataclass with slots.
        parameters = Pseudonym.draw(self, statistics, keys, None).parameters
        if previous is not None:
            return Drawn(parameters, previous.tables)
        return Drawn(parameters, {_TABLE: self._shown(statistics.get("addresses"))})

    def _shown(self, cell: Any) -> pa.Table:
        values = None if cell is None else cell.values
        addresses = pa.array([], pa.string()) if values is None else values.drop_null()
        counts = pc.value_counts(
            pc.replace_substring_regex(addresses.cast(pa.string()), "^.*@", "")
        )
        enough = pc.greater_equal(counts.field("counts"), self.at_least)
        shown = counts.field("values").filter(enough).cast(pa.string())
        return pa.table({"original": shown, "released": shown})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return name and domain."""
        (name,) = Pseudonym.to_expr(self, [_written(inputs[0])], scope)
        return (_at_domain(name, inputs[0], scope),)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the same by a call of `ppdm_pseudonym`."""
        (name,) = Pseudonym.kernel_expr(self, [_written(inputs[0])], scope)
        return (_at_domain(name, inputs[0], scope),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count distinct addresses before and after."""
        return Pseudonym.checks(self, [_written(inputs[0])], outputs)

    def meets(self) -> str:
        """Return what must be the same: another release may show other domains."""
        return "\0".join((Pseudonym.meets(self), self.keyword, str(self.at_least)))


def _written(address: exp.Expr) -> exp.Expr:
    """Return an address as all its spellings are: one person, one pseudonym."""
    return exp.Lower(this=exp.Trim(this=as_text(address.copy())))


def _at_domain(name: exp.Expr, address: exp.Expr, scope: Scope) -> exp.Expr:
    domain = exp.SplitPart(
        this=_written(address),
        delimiter=exp.Literal.string("@"),
        part_index=exp.Neg(this=exp.Literal.number(1)),  # the last one
    )
    shown = exp.Coalesce(
        this=scope.lookup(_TABLE, domain), expressions=[exp.Literal.string(_HIDDEN)]
    )
    at = exp.DPipe(this=name, expression=exp.Literal.string("@"))
    return exp.DPipe(this=at, expression=shown)
