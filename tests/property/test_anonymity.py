"""The anonymity room against slow, plain definitions and brute force over whole lattices."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.groups.search import (
    Groups,
    K,
    Ranges,
    list_minimal,
    measure,
    mondrian,
    reached,
    search_optimal,
)
from ppdm_sql.groups.search.losses import LossTable
from tests.cases import cases
from tests.unit.anonymity import plain
from tests.unit.anonymity.tables import tables, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.search import Axis, Loss, Target

losses: st.SearchStrategy[Loss] = st.sampled_from(["precision", "ilm"])
suppressions = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.5, 1.0])


@settings(max_examples=cases(600))
@given(tables(), targets(), suppressions, losses)
def test_the_best_node_is_brute_forces_best(
    table: plain.Table, wanted: Sequence[Target], suppression: float, loss: Loss
) -> None:
    allowed = []
    for levels in plain.all_nodes(table):
        judged = plain.judge(table, wanted, suppression, loss, levels)
        if judged.is_allowed:
            allowed.append((round(judged.loss, 12), levels, judged.suppressed))
    outcome = search_optimal(table.problem(), wanted, suppression, loss)
    assert outcome.is_proven
    assert outcome.nodes == len(plain.all_nodes(table))
    assert outcome.checked + outcome.pruned == outcome.nodes
    assert 1 <= outcome.checked <= outcome.nodes
    if not allowed:
        assert outcome.levels is None
        return
    best_loss, levels, suppressed_rows = min(allowed)
    assert outcome.levels == levels
    assert outcome.loss == pytest.approx(best_loss, abs=1e-11)
    assert outcome.suppressed_rows == suppressed_rows
    assert outcome.suppressed is not None
    measured = LossTable(table.problem(), loss).of_node(levels, outcome.suppressed)
    assert measured == pytest.approx(best_loss, abs=1e-11)


@settings(max_examples=cases(200))
@given(tables(), st.data())
def test_measures_are_their_definitions(table: plain.Table, data: st.DataObject) -> None:
    problem = table.problem()
    combinations = table.combinations()
    size = len(combinations)
    numbers = st.lists(st.integers(-1, 2), min_size=size, max_size=size)
    classes = plain.ints(data.draw(numbers))
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    of_class: dict[int, list[plain.Row]] = {}
    for row in table.rows:
        at = combinations.index((row.values, row.fixed))
        if kept[at]:
            of_class.setdefault(int(classes[at]), []).append(row)
    parts = list(of_class.values())
    figures = measure(problem, classes, kept)
    assert figures.classes == len(parts)
    assert figures.k == min((plain.persons_of(table, rows) for rows in parts), default=0)
    for column, found in enumerate(figures.sensitive):
        counts = [plain.counts_of(table, rows, column) for rows in parts]
        assert found.distinct_l == min(map(len, counts), default=0)
        least = min((math.exp(plain.entropy(c)) for c in counts), default=0)
        assert found.entropy_l == pytest.approx(least, abs=1e-12)
        far = max((plain.distance(table, c, column) for c in counts), default=0)
        assert found.t == pytest.approx(far, abs=1e-12)
        shares = (
            max(c.values()) / plain.persons_of(table, rows)
            for c, rows in zip(counts, parts, strict=True)
        )
        assert found.alpha == pytest.approx(max(shares, default=0))
        for l in (1, 2, 3):  # noqa: E741
            most = max((plain.dominance(c, l) for c in counts), default=0)
            assert found.recursive_c(l) == pytest.approx(most)


@settings(max_examples=cases(200))
@given(tables(), targets(), st.data())
def test_a_class_reaches_what_its_definition_says(
    table: plain.Table, wanted: Sequence[Target], data: st.DataObject
) -> None:
    combinations = table.combinations()
    size = len(combinations)
    classes = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    found = reached(table.problem(), plain.ints(classes), wanted)
    for at, is_reached in enumerate(found):
        rows = [
            row
            for row in table.rows
            if classes[combinations.index((row.values, row.fixed))] == classes[at]
        ]
        assert is_reached == all(plain.reaches(table, target, rows) for target in wanted)


@settings(max_examples=cases(150))
@given(tables(), targets(), suppressions, losses)
def test_minimal_nodes_are_brute_forces(
    table: plain.Table, wanted: Sequence[Target], suppression: float, loss: Loss
) -> None:
    allowed = {}
    for levels in plain.all_nodes(table):
        judged = plain.judge(table, wanted, suppression, loss, levels)
        if judged.is_allowed:
            allowed[levels] = judged
    minimal = {
        levels
        for levels in allowed
        if not any(
            other != levels and all(a <= b for a, b in zip(other, levels, strict=True))
            for other in allowed
        )
    }
    listed = list_minimal(table.problem(), wanted, suppression, loss)
    assert listed.is_proven
    assert listed.checked <= listed.nodes == len(plain.all_nodes(table))
    assert {node.levels for node in listed.found} == minimal
    assert [node.loss for node in listed.found] == sorted(node.loss for node in listed.found)
    for node in listed.found:
        assert node.loss == pytest.approx(allowed[node.levels].loss, abs=1e-11)
        assert node.suppressed_rows == allowed[node.levels].suppressed


@settings(max_examples=cases(200))
@given(tables(has_numbers=True), targets(), st.sampled_from([0.0, 0.4, 1.0]))
def test_mondrians_classes_reach_the_targets_and_its_cells_hold_their_rows(
    table: plain.Table, wanted: Sequence[Target], suppression: float
) -> None:
    problem = table.problem()
    start = reached(problem, problem.fixed, wanted)
    partition = mondrian(problem, wanted, suppression)
    lost = int(problem.rows[~start].sum())
    if lost > suppression * problem.treated + 1e-9:
        assert partition is None
        return
    assert partition is not None
    assert partition.suppressed_rows == lost
    assert (partition.suppressed == ~start).all()
    assert set(partition.classes[start]) == set(range(partition.number))
    assert reached(problem, partition.classes, wanted)[start].all()
    total = plain_total = float(lost * len(table.axes))
    for number in range(partition.number):
        members = np.flatnonzero(partition.classes == number)
        assert len(set(problem.fixed[members])) == 1
        for axis, codes, cells in zip(table.axes, problem.codes, partition.cells, strict=True):
            held = set(codes[members].tolist())
            lost_here = int(problem.rows[members].sum()) * cell_loss(axis, cells, number, held)
            plain_total += lost_here
            total += lost_here * axis.weight * len(table.axes) / sum(a.weight for a in table.axes)
    assert partition.loss == pytest.approx(total / (problem.treated * len(table.axes)))
    assert partition.plain_loss == pytest.approx(plain_total / (problem.treated * len(table.axes)))


def cell_loss(axis: Axis, cells: Ranges | Groups, number: int, held: set[int]) -> float:
    """Check that a cell says just what its class holds; return what it loses."""
    if isinstance(cells, Groups):
        level, group = int(cells.level[number]), int(cells.group[number])
        assert {int(axis.groups[level][value]) for value in held} == {group}
        assert level == 0 or len({int(axis.groups[level - 1][value]) for value in held}) > 1
        return plain.share(axis, level, min(held), "ilm")
    assert axis.order is not None
    low, high = int(cells.low[number]), int(cells.high[number])
    if axis.null in held:
        assert (low, high) == ((axis.null, axis.null) if held == {axis.null} else (-1, -1))
        return float(low < 0)
    numbers = {value: axis.order[value] for value in range(axis.values) if value != axis.null}
    assert numbers[low] == min(numbers[value] for value in held)
    assert numbers[high] == max(numbers[value] for value in held)
    covered = sum(numbers[low] <= number <= numbers[high] for number in numbers.values())
    return float((covered - 1) / max(1, len(numbers) - 1))


@settings(max_examples=cases(100))
@given(tables(has_numbers=True), st.integers(1, 5))
def test_mondrian_leaves_no_class_that_k_would_let_it_cut(table: plain.Table, k: int) -> None:
    if table.has_persons:
        table = replace(table, has_persons=False)
    problem = table.problem()
    partition = mondrian(problem, [K(k)], 1.0)
    assert partition is not None
    for number in range(partition.number):
        members = np.flatnonzero(partition.classes == number)
        rows = problem.rows[members]
        for axis, codes, cells in zip(table.axes, problem.codes, partition.cells, strict=True):
            held = codes[members]
            if isinstance(cells, Groups):
                for groups in axis.groups:
                    sizes = [int(rows[groups[held] == group].sum()) for group in set(groups[held])]
                    enough = sorted(size for size in sizes if size >= k)
                    few = sum(size for size in sizes if size < k)
                    if 0 < few < k:
                        enough = enough[1:]  # joins the small ones
                    assert len(enough) + (few > 0) < 2
                continue
            assert axis.order is not None
            at = np.where(held == axis.null, -1.0, axis.order[held])
            for cut in sorted(set(at))[:-1]:
                assert min(int(rows[at <= cut].sum()), int(rows[at > cut].sum())) < k
