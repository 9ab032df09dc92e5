"""What rows of a person are joined by: which columns, of which tables, alone and together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain, combinations, permutations
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.publish.shown_by_person import person_of
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.studies.kept_beside import kept_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.studies.study import Study

Column: TypeAlias = "tuple[str, str]"
"""A column of a snapshot that names something, and what it meets."""

ENDS = 2
"""Things that a row must name to lead from one to another."""
_MANY = 4
"""Columns that name things, up to which each choice of them is looked at."""


def joining_columns(study: Study, snapshot: Snapshot) -> list[Column]:
    """Return the columns of a snapshot that name something, and what they meet.

    Released pseudonyms; and the originals of what is released so that equal values stay equal.
    """
    return [
        (
            one.name.text if one.is_pseudonym else kept_column(one.original, one.is_spelled),
            one.meets,
        )
        for one in study.naming[snapshot.version.entry.name].things
    ]


def are_joined(study: Study, snapshots: Sequence[Snapshot]) -> bool:
    """Whether rows of one person can be joined by something else than who they are about."""
    return any(joining_columns(study, one) for one in snapshots)


def used(
    study: Study, snapshots: Sequence[Snapshot], connecting: Sequence[Snapshot]
) -> list[tuple[Snapshot, list[Column]]]:
    """Return the tables with what joins their rows: what one row alone names joins nothing."""
    tables = [(one, joining_columns(study, one)) for one in (*snapshots, *connecting)]
    times = Counter(meets for _, columns in tables for _, meets in columns)
    return [
        (one, [(name, meets) for name, meets in columns
               if times[meets] > 1 or _is_repeated(one, name)])
        for one, columns in tables
    ]  # fmt: skip


def between(
    study: Study, snapshots: Sequence[Snapshot], connecting: Sequence[Snapshot]
) -> list[Snapshot]:
    """Return the tables that lead from one thing to another, without those at an end."""
    kept = list(connecting)
    repeated = {
        id(one): {meets for name, meets in joining_columns(study, one) if _is_repeated(one, name)}
        for one in kept
    }
    while True:
        named_by = [
            [meets for _, meets in joining_columns(study, one)] for one in (*snapshots, *kept)
        ]
        times = Counter(chain(*named_by))
        ends = [
            one
            for one, own in zip(kept, named_by[len(snapshots) :], strict=True)
            if sum(times[meets] > 1 or meets in repeated[id(one)] for meets in own) < ENDS
        ]
        if not ends:
            return kept
        kept = [one for one in kept if one not in ends]


def _is_repeated(snapshot: Snapshot, name: str) -> bool:
    """Whether two rows of one person name the same thing."""
    value = column_of(name, ROWS)
    pair = exp.func("ROW", person_of(ROWS), value, dialect="duckdb")
    is_known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    distinct = exp.Count(this=exp.Distinct(expressions=[pair]))
    differ = exp.LT(this=distinct, expression=exp.Count(this=exp.Star()))
    query = exp.select(named(differ, "differ")).from_(snapshot.rows()).where(is_known)
    return bool(snapshot.version.engine.query(query).column("differ")[0].as_py())


@dataclass(frozen=True, slots=True)
class Links:
    """How many columns it takes to join the rows of all tables."""

    single: int
    """By one thing."""
    several: int
    """By several things at once."""
    turned: int
    """By several of one kind, where another row has them in another order."""

    @classmethod
    def of(cls, tables: Sequence[Sequence[Column]]) -> Links:
        """Return what the tables take that name most."""
        return cls(
            max(map(len, tables)),
            max(len(several(one)) for one in tables),
            max(len(turned(one)) for one in tables),
        )

    @property
    def count(self) -> int:
        """How many of them rows name things by; what is turned is only looked up."""
        return self.single + self.several


def several(columns: Sequence[Column]) -> list[tuple[Column, ...]]:
    """Return what rows are joined by at once: each choice of two or more columns.

    Of many columns those of two, of three, and all.
    """
    ordered = sorted(columns, key=lambda one: one[1])
    every = len(ordered)
    sizes = range(2, every + 1) if every <= _MANY else (2, 3, every)
    return [chosen for size in sizes for chosen in combinations(ordered, size)]


def turned(columns: Sequence[Column]) -> list[tuple[Column, ...]]:
    """Return what is joined by at once with things of one kind in every other order.

    Another release may list them so, or another row have them the other way round.
    """
    return [
        other
        for chosen in several(columns)
        if len(chosen) <= _MANY
        for other in dict.fromkeys(permutations(chosen))
        if other != chosen and [one[1] for one in other] == [one[1] for one in chosen]
    ]


def alike(columns: Sequence[Column]) -> list[tuple[Column, Column]]:
    """Return each two columns that name things of one kind."""
    ordered = sorted(columns, key=lambda one: one[1])
    return [(one, two) for one, two in combinations(ordered, 2) if one[1] == two[1]]
