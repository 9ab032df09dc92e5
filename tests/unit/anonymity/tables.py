"""Random small tables: hierarchies, NULLs, fixed columns, repeated persons.

Hypothesis draws the shape and a seed, numpy the rows: tables drawn entry by entry are so plain
that wrong pruning passes on them (tried: six of nine deliberate mistakes went unnoticed).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from ppdm_sql.groups.search import (
    Alpha,
    Axis,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    Proximity,
    RareSpread,
    RecursiveL,
)
from tests.unit.anonymity.plain import Row, Table, ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.search import Target

VALUES = 4
"""Values of each sensitive column."""


def random_axis(random: np.random.Generator, is_number: bool) -> Axis:
    """Draw an axis: nested groups over leaves of which the data hold some, perhaps a NULL."""
    leaves = int(random.integers(1, 7))
    levels = [list(range(leaves))]
    for _ in range(int(random.integers(0, 3))):
        names = sorted(set(levels[-1]))
        joined = dict(zip(names, random.integers(0, len(names), len(names)), strict=True))
        levels.append([int(joined[group]) for group in levels[-1]])
    levels.append([0] * leaves)
    held = sorted(random.choice(leaves, int(random.integers(1, leaves + 1)), replace=False))
    groups, covered = [], []
    for level in levels:
        dense = {group: at for at, group in enumerate(dict.fromkeys(level[leaf] for leaf in held))}
        groups.append(ints(dense[level[leaf]] for leaf in held))
        covered.append(ints(level.count(level[leaf]) for leaf in held))
    order = random.permutation(len(held)).astype(np.float64) if is_number else None
    null = int(random.integers(0, len(held))) if random.random() < 0.5 else None
    return Axis(tuple(groups), tuple(covered), leaves, order, null)


def random_tree(random: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Draw a tree over the values of a sensitive column."""
    dense = {0: 0}
    middle = tuple(
        dense.setdefault(int(group), len(dense))
        for group in [0, *random.integers(0, 3, VALUES - 1)]
    )
    return (tuple(range(VALUES)), middle, (0,) * VALUES)


def random_table(seed: int, rows: int, has_persons: bool, has_numbers: bool = False) -> Table:
    """Draw a table with one to four axes and two sensitive columns."""
    random = np.random.default_rng(seed)
    axes = tuple(
        random_axis(random, has_numbers and random.random() < 0.7)
        for _ in range(int(random.integers(1, 5)))
    )
    fixes = int(random.choice([1, 1, 2]))
    skew = random.dirichlet(np.ones(VALUES), 2)
    drawn = tuple(
        Row(
            tuple(int(random.integers(0, axis.values)) for axis in axes),
            int(random.integers(0, fixes)),
            int(random.integers(0, max(2, rows // 2))),
            tuple(int(random.choice(VALUES, p=chances)) for chances in skew),
        )
        for _ in range(rows)
    )
    return Table(
        axes=axes,
        rows=drawn,
        has_persons=has_persons,
        references=tuple(tuple(map(float, random.dirichlet(np.ones(VALUES)))) for _ in range(2)),
        trees=(None, random_tree(random) if random.random() < 0.7 else None),
        are_ordered=(bool(random.random() < 0.6), False),
        numbers=tuple(map(float, np.cumsum(random.integers(1, 5, VALUES)))),
    )


@st.composite
def tables(draw: Any, max_rows: int = 30, has_numbers: bool = False) -> Table:
    """Draw a table."""
    table = random_table(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, max_rows)),
        draw(st.booleans()),
        has_numbers,
    )
    axes = (
        replace(axis, weight=draw(st.sampled_from([1.0, 1.0, 0.5, 3.0]))) for axis in table.axes
    )
    return replace(table, axes=tuple(axes))


def targets() -> st.SearchStrategy[Sequence[Target]]:
    """Draw one to three targets."""
    column = st.integers(0, 1)
    some: list[st.SearchStrategy[Target]] = [
        st.builds(K, st.integers(1, 5)),
        st.builds(DistinctL, column, st.integers(1, 3)),
        st.builds(EntropyL, column, st.sampled_from([1.0, 1.5, 2.0, 2.5])),
        st.builds(RecursiveL, column, st.integers(1, 3), st.sampled_from([0.5, 1.0, 2.0, 3.0])),
        st.builds(Closeness, column, st.sampled_from([0.2, 0.3, 0.4, 0.5, 0.6])),
        st.builds(
            Alpha,
            column,
            st.sampled_from([0.3, 0.4, 0.5, 0.6, 0.75]),
            st.none() | st.lists(st.integers(0, VALUES - 1), min_size=1, max_size=2).map(tuple),
        ),
        st.builds(Proximity, st.just(0), st.sampled_from([0.0, 1.0, 3.0]), st.integers(2, 3)),
        st.builds(
            RareSpread,
            column,
            st.integers(2, 3),
            st.sampled_from([0.1, 0.25, 0.5]),
            st.sampled_from([0.2, 0.5, 1.0]),
        ),
    ]
    return st.lists(st.one_of(some), min_size=1, max_size=3)
