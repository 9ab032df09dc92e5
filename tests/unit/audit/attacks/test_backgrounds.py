"""Who of a background could be which released row: values that nobody released has, and NULL."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from ppdm_sql.audit.attacks.linking import expected_links, population
from ppdm_sql.audit.read.matching import Shared, climbed, match
from ppdm_sql.groups.hierarchy_kinds import Listed, OnlySuppress, Ranges, SuppressDigits

if TYPE_CHECKING:
    from ppdm_sql.groups.hierarchy_kinds import Shape

RANGES = Ranges((Decimal(10), Decimal(20)), Decimal(0))
TOWNS = Listed(
    (
        pa.array(["Rome", "Milan", "Paris"]),
        pa.array(["Italy", "Italy", "France"]),
        pa.array(["*", "*", "*"]),
    )
)


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string())


def test_somebody_of_unknown_age_is_nobody_in_particular() -> None:
    ages, unknown = texts("30", None), texts("30", None, None)
    for is_generalized in (False, True):
        background = match([Shared("age", ages, ages, unknown, is_generalized)], True, None)
        assert background is not None
        assert background.known.tolist()[1:] == [-1, -1]
        assert expected_links(background, are_proven=False) == 1
        assert population(background, np.array([0, 1]), 2).tolist() == [1, 0]


def test_people_whose_value_nobody_released_has_fit_their_group() -> None:
    released, label = ["30", "31"], "[30, 40)"
    known = texts(*(str(age) for age in range(25, 45)), None)
    shown = texts(label, label)
    numbers = pa.array([30, 31]), pa.array([*range(25, 45), None])
    groups = climbed(RANGES, numbers[0], texts(*released), shown, numbers[1], known)
    assert groups is not None
    column = Shared("age", texts(*released), shown, known, True, groups)
    background = match([column], True, None)
    assert background is not None
    assert population(background, np.array([0, 0]), 1).tolist() == [10]
    bare = match([Shared("age", texts(*released), shown, known, True)], True, None)
    assert bare is not None
    assert population(bare, np.array([0, 0]), 1).tolist() == [2]


@pytest.mark.parametrize(
    ("shape", "original", "shown", "known", "groups"),
    [
        (
            TOWNS,
            ["Rome"],
            ["Italy"],
            ["Milan", "Paris", "Oslo", None],
            ["Italy", "France", None, None],
        ),
        (TOWNS, ["Rome", "Paris"], ["*", "*"], ["Milan"], ["*"]),
        (SuppressDigits(), ["4711"], ["47**"], ["4799", "123", "12345"], ["47**", "1**", "123**"]),
        (SuppressDigits(), ["4711", "4712"], ["47**", "*"], ["4799"], ["47**"]),
        (OnlySuppress(), ["a", "b"], ["a", "b"], ["c"], ["c"]),
        (TOWNS, ["Rome", "Paris"], ["Italy", "Spain"], ["Milan"], None),
        (TOWNS, ["Bonn"], ["Germany"], ["Milan"], None),
        (SuppressDigits(), ["1"], ["1"], ["9" * 100], None),
        (TOWNS, [None], [None], ["Milan"], None),
    ],
)
def test_the_level_is_the_one_that_the_release_shows(
    shape: Shape,
    original: list[str | None],
    shown: list[str | None],
    known: list[str | None],
    groups: list[str | None] | None,
) -> None:
    before, after = texts(*original), texts(*known)
    found = climbed(shape, before, before, texts(*shown), after, after)
    assert (None if found is None else found.to_pylist()) == groups
