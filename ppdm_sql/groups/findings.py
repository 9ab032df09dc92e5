"""What GENERALIZE found, as values: whom it is about, what it chose, what that reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.groups import search
    from ppdm_sql.groups.compile import Grouping
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.recoding import Recoding
    from ppdm_sql.names import Name


@dataclass(frozen=True, slots=True)
class Population:
    """Whom a release is about."""

    rows: int
    treated: int
    persons: int
    """Persons of the treated rows; the rows themselves without a KEY."""
    by_person: bool
    """Whether a KEY stands in several rows, so that rows are not persons."""


@dataclass(frozen=True, slots=True)
class Generalized:
    """What the search chose for the treated rows."""

    population: Population
    coded: Coded
    recoding: Recoding

    @property
    def precision(self) -> float:
        """What is left of the release: 1, less the share of treated rows that was lost."""
        people = self.population
        if not people.rows:
            return 1.0
        return 1 - self.recoding.precision_loss * people.treated / people.rows


@dataclass(frozen=True, slots=True)
class Tie:
    """A released column that ties rows inside the high class to rows outside."""

    column: Name
    is_key: bool
    count: int
    """Persons or values that stand on both sides."""


@dataclass(frozen=True, slots=True)
class LinkedRows:
    """What a released column that tells persons apart leaves of k."""

    column: Name
    k: int
    """The fewest persons of whom all treated rows show the same."""


@dataclass(frozen=True, slots=True)
class Findings:
    """A finished and verified GENERALIZE."""

    grouping: Grouping
    done: Generalized
    measures: search.Measures
    plain: search.SearchResult | None
    """Plain k-anonymity of all rows, for comparison; None where it cannot be had."""
    unique_untouched_rows: int
    """Rows outside the high class that show what nobody else does."""
    ties: tuple[Tie, ...]
    targets: tuple[search.Target, ...]
    """As they were searched for; those of the clause first, in its order."""
    population: int | None = None
    """The fewest persons of the register whom a class fits."""
    linked: LinkedRows | None = None
    """All rows of a person together, where a released column shows which they are."""

    @property
    def left_out_rows(self) -> int:
        """Rows that do not leave at all."""
        return 0 if self.grouping.keeps_suppressed else self.done.recoding.suppressed_rows

    @property
    def is_proven(self) -> bool:
        """Whether nothing better exists; local recoding proves nothing and promises nothing."""
        looks_for_levels = self.grouping.method == "optimal" and not self.grouping.suppresses_cells
        return not looks_for_levels or self.done.recoding.is_proven
