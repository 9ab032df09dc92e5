"""`shuffle()`: the values of a column are dealt out anew: each row gets that of any row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.treatments.exchange import WITHIN, Exchange
from ppdm_sql.treatments.kernels.exchange import fractions
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from ppdm_sql.randomness.draws import Draws

    Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Shuffle(Exchange):
    """What one column tells alone stays as it is; every tie to another column is gone."""

    keyword = "shuffle"
    summary = "each row gets the value of a random row: a column stays as it is, its ties are gone"
    reading = (
        "a value of another row: what this column alone shows is right, ties to others are not"
    )
    missing = "or a row that is new since the release was made"
    undone_by = "nothing; but every value is somebody's: names and rare values are still shown"
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, uses_row_key=True,
        shows_some_originals=True, keeps_mean=True, keeps_sums=True, adds_noise=True,
    )  # fmt: skip
    kinds = tuple(kind for kind in Kind if kind is not Kind.OTHER)
    arguments = (WITHIN,)
    not_agreed = "the values are those of one site's rows"

    def places(self, rows: pa.StructArray, draws: Draws) -> Places:
        """Return any order."""
        return draws.permutation(len(rows))

    def places_of_new(self, pool: pa.Array, new: pa.StructArray, draws: Draws) -> Places:
        """Return any place."""
        return np.floor(fractions(draws.source.take(8 * len(new))) * len(pool)).astype(np.intp)

    def disclosed(self, drawn: object, index: int = 0) -> str | None:
        """Return that there is nothing more to know."""
        among = "" if self.within is None else f" with the same '{self.within}'"
        return f"every order of the rows{among} has the same chance"
