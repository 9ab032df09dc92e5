"""The measures on worked numbers: Li et al. 2007 and Machanavajjhala et al. 2006."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppdm_sql.errors import InternalError
from ppdm_sql.groups.search import Axis, Problem, Sensitive, measure
from ppdm_sql.groups.search.numbering import Numbering
from tests.unit.anonymity.plain import ints


def of_classes(
    *classes: list[int],
    reference: list[float],
    is_ordered: bool = False,
    tree: tuple[list[int], ...] | None = None,
) -> tuple[Problem, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return a problem with one combination a row, and the class of each."""
    values = [value for rows in classes for value in rows]
    each = np.arange(len(values))
    one = Axis((each, each * 0), (each * 0 + 1, each * 0 + len(each)), len(each))
    column = Sensitive(
        combination=each,
        value=ints(values),
        count=np.ones_like(each),
        person=None,
        reference=np.array(reference),
        tree=None if tree is None else tuple(ints(level) for level in tree),
        is_ordered=is_ordered,
    )
    problem = Problem((one,), each[None, :], each * 0, each * 0 + 1, sensitive=(column,))
    return problem, np.repeat(np.arange(len(classes)), [len(rows) for rows in classes])


NINTHS = [1 / 9] * 9  # salaries 3k … 11k


def test_salaries_of_li_et_al() -> None:
    # {3k, 4k, 5k} is at 0.375 of {3k … 11k}, {6k, 8k, 11k} at 0.167 (section 5.1).
    low, mixed = [0, 1, 2], [3, 5, 8]
    for rows, expected in ((low, 0.375), (mixed, 1 / 6)):
        problem, classes = of_classes(rows, reference=NINTHS, is_ordered=True)
        assert measure(problem, classes).sensitive[0].t == pytest.approx(expected)


# flu, pneumonia, bronchitis, pulmonary edema, embolism, ulcer, stomach cancer, gastritis, colitis,
# colon cancer; then respiratory infections, vascular lung, stomach and colon diseases; then the
# respiratory and the digestive system.
DISEASES = (
    list(range(10)),
    [0, 0, 0, 1, 1, 2, 2, 2, 3, 3],
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
    [0] * 10,
)
FLU, PNEUMONIA, BRONCHITIS, EMBOLISM, ULCER, CANCER, GASTRITIS = 0, 1, 2, 4, 5, 6, 7


@pytest.mark.parametrize(
    ("other", "expected"), [(FLU, 0), (BRONCHITIS, 1 / 3), (EMBOLISM, 2 / 3), (CANCER, 1)]
)
def test_distances_of_diseases_of_li_et_al(other: int, expected: float) -> None:
    reference = [float(disease == other) for disease in range(10)]
    problem, classes = of_classes([FLU, FLU], reference=reference, tree=DISEASES)
    assert measure(problem, classes).sensitive[0].t == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # In ninths: 1 between the systems; 2 within stomach, 2 within infections at 1/3 each.
        ([ULCER, CANCER, PNEUMONIA], 1 / 9 + 4 / 27),
        ([GASTRITIS, FLU, BRONCHITIS], 2 / 9 + 2 / 27),
        ([GASTRITIS, BRONCHITIS, CANCER], 1 / 9 + 2 / 27),
    ],
)
def test_hierarchical_distance_by_hand(rows: list[int], expected: float) -> None:
    counts = {FLU: 1, PNEUMONIA: 1, BRONCHITIS: 2, ULCER: 1, CANCER: 2, GASTRITIS: 2}
    reference = [counts.get(disease, 0) / 9 for disease in range(10)]
    problem, classes = of_classes(rows, reference=reference, tree=DISEASES)
    assert measure(problem, classes).sensitive[0].t == pytest.approx(expected)


def test_equal_distance_is_half_the_sum_of_differences() -> None:
    problem, classes = of_classes([0, 0, 0, 1], reference=[0.5, 0.25, 0.25])
    assert measure(problem, classes).sensitive[0].t == pytest.approx(0.25)


@pytest.mark.parametrize("is_ordered", [False, True])
def test_a_column_of_one_value_is_at_no_distance(is_ordered: bool) -> None:
    problem, classes = of_classes([0], [0, 0], reference=[1.0], is_ordered=is_ordered)
    assert measure(problem, classes).sensitive[0].t == 0


def test_diversity() -> None:
    problem, classes = of_classes([0, 0, 1, 2], [0, 0, 0, 1], reference=[0.5, 0.25, 0.25])
    figures = measure(problem, classes).sensitive[0]
    assert figures.distinct_l == 2
    assert figures.entropy_l == pytest.approx(4 / 3**0.75)  # exp of the second class's entropy
    assert figures.alpha == 0.75
    assert figures.recursive_c(1) == 0.75
    assert figures.recursive_c(2) == 3
    assert figures.recursive_c(3) == math.inf


def test_where_nothing_is_kept_all_is_zero() -> None:
    problem, classes = of_classes([0, 0, 1], reference=[0.5, 0.5])
    figures = measure(problem, classes, np.zeros(3, dtype=np.bool_))
    assert (figures.k, figures.classes) == (0, 0)
    (column,) = figures.sensitive
    assert (column.distinct_l, column.entropy_l, column.t, column.alpha) == (0, 0, 0, 0)
    assert column.recursive_c(2) == 0


def test_somebody_in_two_combinations_of_a_class_counts_once() -> None:
    each = np.arange(3)
    one = Axis((each, each * 0), (each * 0 + 1, each * 0 + 3), 3)
    person = ints([8, 8, 9])
    column = Sensitive(each, ints([0, 0, 1]), each * 0 + 1, person, np.array([0.5, 0.5]))
    problem = Problem(
        (one,), each[None, :], each * 0, ints([4, 5, 6]), each, person, sensitive=(column,)
    )
    figures = measure(problem, each * 0)
    assert figures.k == 2
    assert figures.sensitive[0].alpha == 0.5


def test_persons_repeat_in_all_columns_or_in_none() -> None:
    each = np.arange(2)
    one = Axis((each, each * 0), (each * 0 + 1, each * 0 + 2), 2)
    column = Sensitive(each, each, each * 0 + 1, each, np.array([0.5, 0.5]))
    with pytest.raises(InternalError):
        Problem((one,), each[None, :], each * 0, each * 0 + 1, sensitive=(column,))


@pytest.mark.parametrize("space", [12, 1 << 40])
def test_numbers_are_dense_whatever_the_space(space: int) -> None:
    keys = ints([7, 3, 7, 11, 3]) * (space // 12)
    numbering = Numbering()
    for _ in range(2):  # the table is used again
        numbers, count = numbering.number(keys, space)
        assert count == 3
        assert set(numbers.tolist()) == {0, 1, 2}
        assert (np.equal.outer(numbers, numbers) == np.equal.outer(keys, keys)).all()
