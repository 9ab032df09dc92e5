"""A column of GENERALIZE: not a treatment anyone writes, but one in everybody's eyes.

Its values are handed on as they are, because the table of combinations is asked with them; the
text that stands there is what leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.types import VARCHAR, ColumnType


@dataclass(frozen=True, slots=True)
class Generalize(Keep):
    """What GENERALIZE makes of a column."""

    keyword = "generalize"
    summary = "a value becomes its group in a hierarchy"
    reading = (
        "coarser: `[30, 40)` is 30 or more and less than 40, `[30, 40]` 30 to 40, `4203*` any last digit,"
        " `2024-Q3` a quarter, `2010` in a column of dates that year, `*` anything"
    )
    undone_by = "linking with other data, where a class is small or its sensitive values are alike"
    exactness = Exactness.NONE
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=False, generalizes=True
    )

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return text: a group has no other type."""
        return (VARCHAR,) * len(self.columns)
