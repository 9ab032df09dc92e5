"""`rank_swap(percent => 5)`: each row gets the value of a row that is near in the order of values.

After Moore (1996): two rows whose ranks are fewer than a share of the rows apart swap their values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.exchange import WITHIN, Exchange
from ppdm_sql.treatments.kernels.exchange import fractions, near_order, near_places
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

_FEWEST = 2


def _percent(given: Arguments, _: Sequence[InputColumn]) -> float:
    value = given.value("percent")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 100:
        given.fail(
            "percent", "'percent' is a number from 0 to 100", "write rank_swap(percent => 5)"
        )
    return float(value)


@dataclass(frozen=True, slots=True)
class RankSwap(Exchange):
    """A column alone stays as it is; ties to other columns become weaker, the more the wider."""

    keyword = "rank_swap"
    summary = "two rows that are near each other in the order of values swap them"
    reading = "the value of a row near in order: this column alone is right, ties to others weaker"
    missing = "or a row that is new, or was corrected, since the release was made"
    undone_by = "looking for the row that is nearest in several columns: the value lies near"
    traits = Traits(
        mixes_columns=False, links_rows=False, uses_row_key=True, shows_some_originals=True,
        keeps_mean=True, keeps_sums=True, adds_noise=True, stays_near=True,
    )  # fmt: skip
    kinds = NUMBERS
    instead = "for categories write pram(keep => 0.8) or shuffle()"
    arguments = (ArgumentSpec("percent", _percent), WITHIN)
    not_agreed = "the order is that of one site's rows"

    percent: float = field(repr=False)

    def places(self, rows: pa.StructArray, draws: Draws) -> Places:
        """Return an order near that of the values."""
        count = len(rows)
        span = count * self.percent / 100
        if count and span < _FEWEST:
            raise TreatmentError(
                f"rank_swap: {self.percent:g} percent of {plural(count, 'row')} are fewer than"
                f" {_FEWEST} rows: nothing would be exchanged",
                hint="write a larger percent",
                code="data_does_not_fit",
            )
        chances = fractions(draws.source.take(16 * count + 8))
        # Rows of equal value stand in a random order.
        order = np.lexsort((chances[:count], _numbers(rows.field("original"))))
        found = np.empty(count, dtype=np.intp)
        found[order] = order[near_order(span, chances[-1], chances[count:-1])]
        return found

    def places_of_new(self, pool: pa.Array, new: pa.StructArray, draws: Draws) -> Places:
        """Return a place near the one where the value would stand."""
        numbers = _numbers(pool)
        order = np.argsort(numbers, kind="stable")
        span = max(len(pool) * self.percent / 100, _FEWEST)
        chances = fractions(draws.source.take(8 * len(new)))
        values = _numbers(new.field("original"))
        return order[near_places(numbers[order], values, span, chances)]

    def disclosed(self, drawn: object, index: int = 0) -> str | None:
        """Return how near."""
        return f"of a row fewer than {self.percent:g} % of the rows away in the order of values"


def _numbers(texts: pa.Array) -> Floats:
    found: Floats = pc.cast(texts, "double").to_numpy(zero_copy_only=False)
    return found
