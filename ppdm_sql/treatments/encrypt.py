"""`encrypt()`: digits become other digits, as many and in the same places, by FF1 of NIST.

SP 800-38G (2016, draft of revision 1 of 2019: at least a million values). FF3 is withdrawn.

The owner's results come back as those with pseudonyms do, from the source: a number that is decrypted
with the keys of another recipient would be a wrong one that looks right.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec, whole_number
from ppdm_sql.treatments.expressions import as_text, call
from ppdm_sql.treatments.kernels import ff1
from ppdm_sql.treatments.kernels.encrypted_text import encrypt_text
from ppdm_sql.treatments.numbers import count_of, lost_rows
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot import exp

    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_PLAIN = frozenset(string.ascii_letters + string.digits)
_MOST_KEPT = 12


def _alphabet(given: Arguments, _: Sequence[InputColumn]) -> str:
    text = given.text("alphabet", string.digits)
    if len(text) < 2 or len(set(text)) < len(text) or not set(text) <= _PLAIN:
        given.fail(
            "alphabet",
            "'alphabet' lists two or more different letters from a to z, A to Z, or digits",
            "write alphabet => '0123456789ABCDEF'",
        )
    return text


@dataclass(frozen=True, slots=True)
class Encrypt(Treatment):
    """The key belongs to whose the values are, as with pseudonyms: equal values meet."""

    keyword = "encrypt"
    summary = "digits become other digits, as many and in the same places"
    reading = "an encrypted number: equal ones are the same original; only its form means something"
    missing = "or one that is too short, or holds other letters"
    undone_by = "the owner's key; equal values stay equal, and ends that are kept are shown"
    exactness = Exactness.LOOKUP
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=True, renames=True,
        draws_from_keys=True, shows_a_part=True,
    )  # fmt: skip
    kinds = (Kind.TEXT,)
    instead = "write it as text, x::VARCHAR, in a (SELECT …) source: leading zeros are digits, too"
    arguments = (
        ArgumentSpec("alphabet", _alphabet),
        whole_number("keep_prefix", 0, 0, _MOST_KEPT),
        whole_number("keep_suffix", 0, 0, _MOST_KEPT),
    )
    releases = VARCHAR
    kernels = (
        Kernel(
            "ppdm_encrypt",
            ("VARCHAR", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR"),
            "VARCHAR",
            encrypt_text,
        ),
    )
    not_agreed = None  # a key is derived without looking at the column

    alphabet: str = field(repr=False)
    keep_prefix: int = field(repr=False)
    keep_suffix: int = field(repr=False)

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key: the same in every release of the column, as for pseudonyms."""
        key = keys.derive("encrypt", self.meets())
        return Drawn(
            {
                "key": key.hex(),
                "alphabet": self.alphabet,
                "keep_prefix": self.keep_prefix,
                "keep_suffix": self.keep_suffix,
            }
        )

    def link(self) -> str:
        """Return whose the values are: two that are encrypted in two ways meet where ends are kept."""
        return f"{self.keyword}:{self.columns[0].whose}"

    def meets(self) -> str:
        """Return what must be the same for equal values to be encrypted alike."""
        ends = (str(self.keep_prefix), str(self.keep_suffix))
        return "\0".join((self.columns[0].whose, self.alphabet, *ends))

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a call of the function: there is no AES in SQL."""
        names = ("key", "alphabet", "keep_prefix", "keep_suffix")
        parameters = [scope.parameter(name) for name in names]
        return (call(self.kernels[0], *parameters, as_text(inputs[0])),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count values that cannot be encrypted."""
        return lost_rows(self.columns, inputs, outputs)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise where a value does not fit."""
        lost = count_of(results, "lost")
        if not lost:
            return ()
        shortest, longest = ff1.lengths(len(self.alphabet))
        kept = " beside the ends that are kept" if self.keep_prefix + self.keep_suffix else ""
        raise TreatmentError(
            f"encrypt: {plural(lost, 'value')} of '{self.columns[0].name}' "
            f"{'does' if lost == 1 else 'do'} not fit",
            hint=f"a value has {shortest} to {longest} letters or digits of the alphabet{kept} (by default"
            " the digits), and no others: of fewer, all could be tried; write alphabet => '…', or leave"
            " such rows out in a (SELECT …) source",
            code="data_does_not_fit",
        )
