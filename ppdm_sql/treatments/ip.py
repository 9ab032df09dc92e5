"""`ip(v4 => 24, v6 => 48)`: an address of the internet becomes the network that it is in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.arguments import whole_number
from ppdm_sql.treatments.expressions import as_text, call
from ppdm_sql.treatments.kernels.networks import network
from ppdm_sql.treatments.numbers import count_of, lost_rows
from ppdm_sql.treatments.plain_rule import PlainRule
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlglot import exp

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.protocol import InputColumn, Statistics


@dataclass(frozen=True, slots=True)
class Ip(PlainRule):
    """Never an address whole: a network has at least 16 of version 4, and 2^64 of version 6."""

    keyword = "ip"
    summary = "an address of the internet becomes the network that it is in"
    reading = "the network of an address, with the length of what is shown of it"
    missing = "or no address"
    undone_by = "the provider, who knows whose an address was; small networks are one office"
    kinds = (Kind.TEXT,)
    instead = "write it as text, x::VARCHAR, in a (SELECT …) source"
    arguments = (whole_number("v4", 24, 1, 28), whole_number("v6", 48, 1, 64))
    releases = VARCHAR
    kernels = (Kernel("ppdm_ip", ("BIGINT", "BIGINT", "VARCHAR"), "VARCHAR", network),)

    v4: int = field(repr=False)
    v6: int = field(repr=False)

    def given(self, statistics: Statistics) -> dict[str, Parameter]:
        """Keep how much is shown."""
        return {"v4": self.v4, "v6": self.v6}

    def rule(
        self, column: InputColumn, value: exp.Expr, parameter: Callable[[str], exp.Expr]
    ) -> exp.Expr:
        """Return the network."""
        return call(self.kernels[0], parameter("v4"), parameter("v6"), as_text(value))

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count what is no address."""
        return lost_rows(self.columns, inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise where there is something else."""
        lost = count_of(results, "lost")
        if lost:
            raise TreatmentError(
                f"ip: {plural(lost, 'value')} of '{self.columns[0].name}' "
                f"{'is no address' if lost == 1 else 'are no addresses'} of the internet",
                hint="make them NULL in a (SELECT …) source",
                code="data_does_not_fit",
            )
        return ()
