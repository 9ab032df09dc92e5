"""The anonymity room against slow, plain definitions and brute force over whole lattices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.anonymity import ilm, measure, precision, reached, search_optimal
from tests.unit.anonymity import plain
from tests.unit.anonymity.tables import tables, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.anonymity import Loss, Target

losses: st.SearchStrategy[Loss] = st.sampled_from(["precision", "ilm"])
suppressions = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.5, 1.0])


@settings(max_examples=300, deadline=None)
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
    measured = (precision if loss == "precision" else ilm)(
        table.problem(), levels, outcome.suppressed
    )
    assert measured == pytest.approx(best_loss, abs=1e-11)


@settings(max_examples=200, deadline=None)
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
    assert figures.smallest_class_rows == min(map(len, parts), default=0)
    assert figures.uniques == sum(plain.persons_of(table, rows) == 1 for rows in parts)
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


@settings(max_examples=200, deadline=None)
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
