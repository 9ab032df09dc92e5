"""Random small tables for hypothesis: hierarchies, NULLs, fixed columns, repeated persons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from ppdm_sql.anonymity import (
    Alpha,
    Axis,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    RecursiveL,
)
from tests.unit.anonymity.plain import Row, Table, ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.anonymity import Target

VALUES = 3
"""Values of each sensitive column."""


@st.composite
def axes(draw: Any, is_number: bool = False) -> Axis:
    """Draw an axis: nested groups over leaves of which the data hold some, perhaps a NULL."""
    leaves = draw(st.integers(1, 5))
    height = draw(st.integers(1, 3))
    levels = [list(range(leaves))]
    for _ in range(height - 1):
        below = levels[-1]
        names = sorted(set(below))
        joined = {name: draw(st.integers(0, len(names) - 1)) for name in names}
        levels.append([joined[group] for group in below])
    levels.append([0] * leaves)
    held = sorted(draw(st.sets(st.integers(0, leaves - 1), min_size=1)))
    null = draw(st.sampled_from([None, 0])) if len(held) > 1 else None
    groups, covered = [], []
    for level in levels:
        dense = {group: at for at, group in enumerate(dict.fromkeys(level[leaf] for leaf in held))}
        groups.append(ints(dense[level[leaf]] for leaf in held))
        covered.append(ints(level.count(level[leaf]) for leaf in held))
    order = None
    if is_number:
        numbers = draw(
            st.lists(st.integers(0, 40), min_size=len(held), max_size=len(held), unique=True)
        )
        order = np.array(numbers, dtype=np.float64)
    return Axis(tuple(groups), tuple(covered), leaves, order, null)


@st.composite
def trees(draw: Any) -> tuple[tuple[int, ...], ...]:
    """Draw a tree over the values of a sensitive column."""
    middle = draw(st.sampled_from([(0, 0, 1), (0, 1, 1), (0, 1, 0), (0, 1, 2), None]))
    levels: tuple[tuple[int, ...], ...] = ((0, 1, 2),)
    return (*levels, *(() if middle is None else (middle,)), (0, 0, 0))


@st.composite
def tables(draw: Any, has_persons: bool | None = None, numbers: bool = False) -> Table:
    """Draw a table with one to three axes and two sensitive columns."""
    drawn = tuple(
        draw(axes(is_number=numbers and draw(st.booleans())))
        for _ in range(draw(st.integers(1, 3)))
    )
    persons = draw(st.booleans()) if has_persons is None else has_persons
    row = st.builds(
        Row,
        st.tuples(*(st.integers(0, axis.values - 1) for axis in drawn)),
        st.integers(0, draw(st.sampled_from([0, 0, 1]))),
        st.integers(0, 5),
        st.tuples(*(st.integers(0, VALUES - 1) for _ in range(2))),
    )
    weights = [
        draw(st.lists(st.integers(1, 4), min_size=VALUES, max_size=VALUES)) for _ in range(2)
    ]
    return Table(
        axes=drawn,
        rows=tuple(draw(st.lists(row, min_size=1, max_size=14))),
        has_persons=persons,
        references=tuple(tuple(weight / sum(column) for weight in column) for column in weights),
        trees=(None, draw(st.none() | trees())),
        are_ordered=(draw(st.booleans()), False),
    )


def targets(has_k: bool = True) -> st.SearchStrategy[Sequence[Target]]:
    """Draw one to three targets."""
    column = st.integers(0, 1)
    some: list[st.SearchStrategy[Target]] = [
        st.builds(DistinctL, column, st.integers(1, 3)),
        st.builds(EntropyL, column, st.sampled_from([1.0, 1.5, 2.0, 2.5])),
        st.builds(RecursiveL, column, st.integers(1, 3), st.sampled_from([0.5, 1.0, 2.0, 3.0])),
        st.builds(Closeness, column, st.sampled_from([0.0, 0.2, 0.35, 0.5])),
        st.builds(Alpha, column, st.sampled_from([0.4, 0.5, 0.75])),
    ]
    if has_k:
        some.insert(0, st.builds(K, st.integers(1, 5)))
    return st.lists(st.one_of(some), min_size=1, max_size=3)
