"""Mondrian on numbers whose cuts can be followed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_sql.groups.search import Axis, Groups, K, Problem, Ranges, mondrian
from tests.unit.anonymity.plain import ints


def numbers(order: list[float], null: int | None = None) -> Axis:
    """Return an axis of numbers."""
    each = np.arange(len(order))
    many = each * 0 + len(each)
    return Axis((each, each * 0), (each * 0 + 1, many), len(each), np.array(order), null)


def problem(axis: Axis, rows: list[int], fixed: list[int] | None = None) -> Problem:
    """Return a problem with one axis and one combination a value."""
    each = np.arange(len(rows))
    return Problem((axis,), each[None, :], ints(fixed or [0] * len(rows)), ints(rows))


def test_a_number_is_cut_at_the_value_nearest_to_the_median() -> None:
    # 10 20 | 30 40 by rows 3 2 4 1: 5 and 5; then 3 | 2 and no more with k = 2 (4 | 1).
    found = mondrian(problem(numbers([20, 10, 40, 30]), [2, 3, 1, 4]), [K(2)])
    assert found is not None
    (cells,) = found.cells
    assert isinstance(cells, Ranges)
    spans = {(int(low), int(high)) for low, high in zip(cells.low, cells.high, strict=True)}
    assert spans == {(1, 1), (0, 0), (3, 2)}
    assert found.loss == pytest.approx(5 * (1 / 3) / 10)


def test_only_the_class_that_holds_null_loses_its_range() -> None:
    # NULL (1 row) cannot stand alone with k = 2; it goes with the lowest values.
    found = mondrian(problem(numbers([0, 10, 20, 30, 40], null=0), [1, 1, 2, 2, 2]), [K(2)])
    assert found is not None
    (cells,) = found.cells
    assert isinstance(cells, Ranges)
    mixed = int(found.classes[0])
    assert (cells.low[mixed], cells.high[mixed]) == (-1, -1)
    assert (np.delete(cells.low, mixed) >= 2).all()
    assert found.loss == pytest.approx(2 / 8)


def test_nulls_that_are_enough_stand_alone() -> None:
    found = mondrian(problem(numbers([0, 10, 20], null=0), [2, 2, 2]), [K(2)])
    assert found is not None
    assert found.loss == 0
    (cells,) = found.cells
    assert isinstance(cells, Ranges)
    assert cells.low[found.classes[0]] == cells.high[found.classes[0]] == 0


def test_a_category_is_cut_along_its_hierarchy() -> None:
    levels = ([0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0])
    tree = Axis(tuple(map(ints, levels)), (ints([1] * 4), ints([2] * 4), ints([4] * 4)), 4)
    found = mondrian(problem(tree, [2, 2, 1, 3]), [K(2)])
    assert found is not None
    (cells,) = found.cells
    assert isinstance(cells, Groups)
    per_value = [(int(cells.level[number]), int(cells.group[number])) for number in found.classes]
    assert per_value == [(0, 0), (0, 1), (1, 1), (1, 1)]
    assert found.loss == pytest.approx(4 * (1 / 3) / 8)


def test_what_fixed_columns_make_too_small_is_suppressed_or_nothing_is_found() -> None:
    parted = problem(numbers([1, 2, 3]), [2, 2, 1], fixed=[0, 0, 1])
    assert mondrian(parted, [K(2)], 0.1) is None
    told: list[float] = []
    found = mondrian(parted, [K(2)], 0.2, on_progress=told.append)
    assert found is not None
    assert found.classes.tolist()[2] == -1
    assert found.suppressed.tolist() == [False, False, True]
    assert found.suppressed_rows == 1
    assert found.loss == pytest.approx(1 / 5)
    assert told == sorted(told)


def test_no_rows_make_no_classes() -> None:
    empty = Problem((numbers([1, 2]),), np.empty((1, 0), dtype=np.int64), ints([]), ints([]))
    found = mondrian(empty, [K(2)])
    assert found is not None
    assert (found.number, found.loss) == (0, 0)
