"""Who is known: some people, with all their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.groups.search import BoolArray, IntArray

DRAWS = 10
"""Who is known is drawn this often; the share is the mean."""
MOST_ROWS = 40
"""Known rows that a model of numbers is fitted to."""


class Known:
    """Draws of people; each gives the rows that are known and the rows of everybody else.

    Rows are counted among those that take part; people with `preferred` rows are drawn first.
    """

    def __init__(
        self,
        person: IntArray | None,
        takes_part: BoolArray,
        people: int,
        generator: np.random.Generator,
        preferred: BoolArray,
    ) -> None:
        self.rows = int(takes_part.sum())
        who = np.arange(len(takes_part)) if person is None else person
        self._person = np.unique(who[takes_part], return_inverse=True)[1]
        self._people = people
        self._generator = generator
        self._preferred = preferred

    @property
    def is_possible(self) -> bool:
        """Whether somebody is left to be guessed."""
        return self.rows > 0 and int(self._person.max()) + 1 > self._people

    def __iter__(self) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield, for each draw, places of known rows and a flag for the rows of others."""
        everybody = np.arange(int(self._person.max()) + 1)
        whole = np.unique(self._person[self._preferred])
        everybody = whole if len(whole) > self._people else everybody
        for _ in range(DRAWS):
            chosen = self._generator.choice(everybody, self._people, replace=False)
            is_known = np.isin(self._person, chosen)
            yield np.flatnonzero(is_known), ~is_known


def few(known: IntArray) -> IntArray:
    """Return some of the known rows, of everybody who has many: a model needs no more."""
    return known[:: -(-len(known) // MOST_ROWS)]
