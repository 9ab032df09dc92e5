"""UCI Adult: the optimum that ARX finds too, and the whole lattice of five columns by pandas."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from ppdm_sql.groups.search import (
    DistinctL,
    K,
    ilm,
    list_minimal,
    measure,
    mondrian,
    search_optimal,
)
from tests.unit.anonymity.adult import COLUMNS, EIGHT, FIVE, code, read_adult

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.groups.search import Loss
    from tests.unit.anonymity.adult import Adult


@pytest.fixture(scope="module")
def rows(adult: Path) -> Adult:
    return read_adult(adult)


@pytest.mark.parametrize(
    ("suppression", "loss", "levels", "expected"),
    [
        (0.0, "ilm", (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.635543846704),
        (0.04, "ilm", (0, 3, 0, 1, 1, 1, 1, 2, 0), 0.292815875933),
        (1.0, "ilm", (0, 3, 0, 0, 2, 1, 1, 1, 0), 0.227700323257),
        (0.0, "precision", (0, 4, 1, 1, 3, 2, 2, 1, 0), 2 / 3),
        (0.04, "precision", (0, 4, 0, 0, 2, 1, 0, 2, 0), 0.377466618532),
        (1.0, "precision", (0, 4, 0, 0, 1, 0, 0, 1, 0), 0.311946353887),
    ],
)
def test_nine_columns_to_k_5(
    rows: Adult, suppression: float, loss: Loss, levels: tuple[int, ...], expected: float
) -> None:
    """The optima of an exhaustive run over all 12,960 nodes."""
    problem = code(rows, COLUMNS).problem
    outcome = search_optimal(problem, [K(5)], suppression, loss)
    assert (outcome.levels, outcome.nodes, outcome.is_proven) == (levels, 12_960, True)
    assert outcome.loss == pytest.approx(expected, abs=1e-11)
    assert outcome.checked < outcome.nodes / 20
    assert outcome.classes is not None
    assert outcome.suppressed is not None
    figures = measure(problem, outcome.classes, ~outcome.suppressed)
    assert figures.k >= 5
    assert outcome.suppressed_rows <= suppression * 30_162


def test_five_columns_against_every_node_by_pandas(rows: Adult) -> None:
    problem = code(rows, FIVE).problem
    expected = {}
    for levels in itertools.product(*(range(axis.height + 1) for axis in problem.axes)):
        groups = [
            axis.groups[level][codes]
            for axis, level, codes in zip(problem.axes, levels, problem.codes, strict=True)
        ]
        sizes = pd.Series(problem.rows).groupby(groups).transform("sum").to_numpy()
        if problem.rows[sizes < 5].sum() <= 0.04 * problem.treated:
            expected[levels] = ilm(problem, levels, sizes < 5)
    outcome = search_optimal(problem, [K(5)], 0.04, "ilm")
    best = min(expected, key=lambda levels: (round(expected[levels], 12), levels))
    assert outcome.levels == best
    minimal = {
        levels
        for levels in expected
        if not any(
            other != levels and all(a <= b for a, b in zip(other, levels, strict=True))
            for other in expected
        )
    }
    assert {n.levels for n in list_minimal(problem, [K(5)], 0.04, "ilm").found} == minimal


def test_occupations_stay_diverse(rows: Adult) -> None:
    problem = code(rows, EIGHT, "occupation").problem
    targets = (K(5), DistinctL(0, 3))
    outcome = search_optimal(problem, targets, 0.04, "ilm")
    assert outcome.levels == (0, 3, 0, 1, 2, 1, 1, 0)
    assert outcome.classes is not None
    assert outcome.suppressed is not None
    figures = measure(problem, outcome.classes, ~outcome.suppressed)
    assert figures.k >= 5
    assert figures.sensitive[0].distinct_l >= 3


def test_mondrian_keeps_far_more_than_any_node(rows: Adult) -> None:
    problem = code(rows, COLUMNS).problem
    partition = mondrian(problem, [K(5)])
    assert partition is not None
    assert measure(problem, partition.classes).k >= 5
    assert partition.loss < 0.07 < 0.63
    assert np.bincount(partition.classes, problem.rows).sum() == 30_162
