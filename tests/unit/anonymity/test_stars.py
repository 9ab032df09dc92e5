"""Single cells that become stars: every class holds, and stars are few."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.groups.search import Axis, K
from ppdm_sql.groups.search.stars import Starred, suppress_cells
from tests.cases import cases
from tests.unit.anonymity import plain
from tests.unit.anonymity.tables import random_table, tables, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.search import Target


Shown = tuple[tuple[object, ...], int]


def shown(
    table: plain.Table, starred: Starred, levels: Sequence[int]
) -> dict[Shown, list[plain.Row]]:
    """Return the classes as an analyst sees them."""
    number = {combination: at for at, combination in enumerate(table.combinations())}
    classes: dict[Shown, list[plain.Row]] = defaultdict(list)
    for row in table.rows:
        at = number[row.values, row.fixed]
        if starred.suppressed[at]:
            continue
        cells = tuple(
            "*" if starred.stars[axis, at] else int(one.groups[levels[axis]][row.values[axis]])
            for axis, one in enumerate(table.axes)
        )
        classes[cells, row.fixed].append(row)
    return classes


@settings(max_examples=cases(300))
@given(tables(), targets(), st.data())
def test_every_class_reaches_its_targets(
    table: plain.Table, wanted: Sequence[Target], data: st.DataObject
) -> None:
    levels = [data.draw(st.integers(0, axis.height)) for axis in table.axes]
    starred = suppress_cells(table.problem(), wanted, 1.0, "ilm", levels)
    assert starred is not None
    found = shown(table, starred, levels)
    assert all(plain.reaches(table, one, rows) for rows in found.values() for one in wanted)
    kept = sum(map(len, found.values()))
    assert kept + starred.suppressed_rows == len(table.rows)
    stars = sum(len(rows) * list(key[0]).count("*") for key, rows in found.items())
    assert starred.cells == stars
    # Whoever is well hidden shows everything.
    whole: dict[Shown, list[plain.Row]] = defaultdict(list)
    for row in table.rows:
        cells = tuple(
            int(axis.groups[level][value])
            for axis, level, value in zip(table.axes, levels, row.values, strict=True)
        )
        whole[cells, row.fixed].append(row)
    for key, rows in whole.items():
        if all(plain.reaches(table, one, rows) for one in wanted):
            assert found[key] == rows
    total = (stars + starred.suppressed_rows * len(table.axes)) / (
        len(table.rows) * len(table.axes)
    )
    assert suppress_cells(table.problem(), wanted, total, "ilm", levels) is not None
    if total:
        assert suppress_cells(table.problem(), wanted, total - 1e-6, "ilm", levels) is None


@pytest.mark.parametrize("seed", range(40))
def test_stars_are_nearly_as_few_as_they_can_be(seed: int) -> None:
    """Against every choice of columns for every row: at most twice as many stars."""
    table = random_table(seed, 5, False, False)
    axes = table.axes[:3]
    rows = tuple(replace(row, values=row.values[:3]) for row in table.rows)
    table = replace(table, axes=axes, rows=rows)
    problem = table.problem()
    levels = [0] * len(table.axes)
    starred = suppress_cells(problem, [K(2)], 1.0, "ilm", levels)
    assert starred is not None
    ours = starred.cells + starred.suppressed_rows * len(table.axes)
    assert ours <= 2 * fewest(table)


def fewest(table: plain.Table) -> int:
    """Return how few cells must go for k = 2, of whatever rows."""
    axes = range(len(table.axes))
    choices = [one for size in range(len(axes) + 1) for one in itertools.combinations(axes, size)]
    best = len(table.rows) * len(axes)
    rows = table.rows
    for stars in itertools.product([*choices, None], repeat=len(rows)):
        classes: dict[object, int] = defaultdict(int)
        cost = sum(len(axes) if one is None else len(one) for one in stars)
        if cost >= best:
            continue
        for row, one in zip(rows, stars, strict=True):
            if one is not None:
                cells = tuple("*" if a in one else row.values[a] for a in axes)
                classes[cells, row.fixed] += 1
        if all(count >= 2 for count in classes.values()):
            best = cost
    return best


def test_columns_that_weigh_more_keep_their_values() -> None:
    # Rows that differ in both columns alike: either of them could go.
    rows = tuple(plain.Row((at % 2, at // 2), 0, at, (0, 0)) for at in range(4))
    table = random_table(1, 4, False, False)
    groups = (np.arange(2), np.zeros(2, dtype=np.int64))
    one = Axis(groups, (np.ones(2, dtype=np.int64), np.full(2, 2)), 2)
    for heavy in (0, 1):
        axes = tuple(replace(one, weight=5.0 if at == heavy else 1.0) for at in range(2))
        chosen = replace(table, axes=axes, rows=rows)
        starred = suppress_cells(chosen.problem(), [K(2)], 1.0, "ilm", [0, 0])
        assert starred is not None
        assert starred.stars[1 - heavy].all()
        assert not starred.stars[heavy].any()
