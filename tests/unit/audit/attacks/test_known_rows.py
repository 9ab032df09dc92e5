"""Known rows of columns that are treated together: what they undo, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.attacks.known_input import KnownInput
from ppdm_sql.audit.attacks.known_pairs import KnownPairs
from ppdm_sql.audit.attacks.protocol import AimKind
from ppdm_sql.audit.attacks.row_models import guess_rows
from ppdm_sql.treatments import traits_of
from tests.cases import cases
from tests.unit.audit.attacks.running import attack_column, attack_group
from tests.unit.audit.attacks.test_known_pairs import AGES, SALARIES, turned
from tests.unit.audit.subjects import numbers

ROWS = 2_000
RNG = np.random.default_rng(41)


def table(size: int) -> np.ndarray:
    return RNG.uniform(10, 1_000, (ROWS, size))


def rotated(x: np.ndarray, degrees: float = 13.7) -> np.ndarray:
    """As the treatment does it: pairs in order, the last of an odd number with the first."""
    y = x.copy()
    size = x.shape[1]
    pairs = [(i, i + 1) for i in range(0, size - 1, 2)] + ([(0, size - 1)] if size % 2 else [])
    for at, (i, j) in enumerate(pairs):
        y[:, i], y[:, j] = turned(degrees + 20 * at, y[:, i], y[:, j])
    return y


def attacked(attack: KnownPairs | KnownInput, x: np.ndarray, y: np.ndarray, word: str) -> float:
    columns = [numbers(f"c{i}", x[:, i], y[:, i], word, group=1) for i in range(x.shape[1])]
    return attack_group(attack, *columns).share


@pytest.mark.parametrize("size", [2, 3, 6])
def test_two_known_rows_undo_what_is_done_column_by_column(size: int) -> None:
    x = table(size)
    shifted, scaled = x + RNG.normal(0, 500, size), x * RNG.uniform(0.5, 2, size)
    for y in (shifted, scaled):
        assert attacked(KnownPairs(2), x, y, "translation") == 1
        assert attacked(KnownInput(), x, y, "translation") == 1


@pytest.mark.parametrize("size", [2, 3, 6, 7, 30])
def test_two_known_rows_undo_rotation_of_any_number_of_columns(size: int) -> None:
    x = table(size)
    assert attacked(KnownPairs(2), x, rotated(x), "rotation") == 1
    assert attacked(KnownPairs(20), x, rotated(x), "rotation") == 1
    assert attacked(KnownInput(), x, rotated(x), "rotation") == 1


def test_two_known_rows_undo_each_column_by_what_was_done_to_it() -> None:
    x = table(5)
    y = np.column_stack((*turned(50, x[:, 0], x[:, 1]), x[:, 2] + 70, x[:, 3] * 1.2, x[:, 4] - 9))
    assert attacked(KnownPairs(2), x, y, "hybrid") == 1


def test_one_known_row_undoes_rotation() -> None:
    x = table(4)
    y = rotated(x)
    assert guess_rows(x[:1], y[:1], y, [traits_of("rotation")]) == pytest.approx(x)


def test_chained_treatments_fall_pair_by_pair() -> None:
    x = table(6)
    assert attacked(KnownPairs(2), x, rotated(x) + 40, "rotation") == 1
    stretched = rotated(x * [1, 2, 3, 4, 5, 6])
    assert attacked(KnownPairs(5), x, stretched, "rotation") == 1
    assert attacked(KnownPairs(5), x, stretched + 7, "rotation") == 1
    assert attacked(KnownPairs(2), x, stretched + 7, "rotation") < 0.05


@pytest.mark.parametrize("word", ["noise", "rotation"])
def test_noise_hides_rows_of_many_columns(word: str) -> None:
    x = table(6)
    y = (x if word == "noise" else rotated(x)) + RNG.normal(0, 300, x.shape)
    for attack in (KnownPairs(2), KnownPairs(5), KnownPairs(20), KnownInput()):
        assert attacked(attack, x, y, word) < 0.01


def test_small_noise_after_rotation_is_seen_through() -> None:
    x = table(2)
    y = rotated(x) + RNG.normal(0, 1, x.shape)
    assert attacked(KnownPairs(20), x, y, "rotation") > 0.9


def test_rows_that_never_have_both_columns_are_attacked() -> None:
    x = table(2)
    is_even = np.arange(ROWS) % 2 == 0
    x[is_even, 1] = x[~is_even, 0] = np.nan
    columns = [
        numbers(f"c{i}", x[:, i], x[:, i] + 30 * i + 9, "translation", group=1) for i in (0, 1)
    ]
    found = attack_group(KnownPairs(5), *columns)
    assert found.share > 0.8
    assert found.of == ROWS
    for column in columns:
        assert attack_column(KnownPairs(2), column).share == 1
        assert attack_column(KnownPairs(2), column).scope is AimKind.COLUMN


def test_nulls_do_not_keep_known_rows_from_telling() -> None:
    x = table(3)
    x[RNG.random(x.shape) < 0.2] = np.nan
    assert attacked(KnownPairs(2), x, x * [2, 3, 4], "scaling") == 1
    hidden = x + RNG.normal(0, 500, x.shape)
    chance = 3 * 0.03
    assert attacked(KnownPairs(20), x, hidden, "noise") < chance


def test_rotation_falls_to_known_rows_and_noise_does_not() -> None:
    x, y = turned(13.7, AGES, SALARIES)
    columns = (numbers("age", AGES, x, "rotation"), numbers("salary", SALARIES, y, "rotation"))
    assert attack_group(KnownInput(), *columns).share > 0.99
    assert attack_group(KnownPairs(2), *columns).share > 0.99
    generator = np.random.default_rng(15)
    noised = (
        numbers("age", AGES, x + generator.normal(0, 12, 2_000), "rotation"),
        numbers("salary", SALARIES, y + generator.normal(0, 9_000, 2_000), "rotation"),
    )
    assert attack_group(KnownInput(), *noised).share < 0.05
    assert attack_group(KnownPairs(20), *noised).share < 0.05


def test_a_linear_mixture_falls_to_as_many_rows_as_columns() -> None:
    x, y = 2 * AGES + SALARIES / 1_000, AGES - SALARIES / 500
    columns = (numbers("age", AGES, x, "hybrid"), numbers("salary", SALARIES, y, "hybrid"))
    assert attack_group(KnownInput(), *columns).share > 0.99
    shifted = (numbers("age", AGES, x + 5, "hybrid"), numbers("salary", SALARIES, y - 3, "hybrid"))
    assert attack_group(KnownPairs(5), *shifted).share > 0.99


def test_few_rows_of_many_columns_still_give_a_guess() -> None:
    x = np.random.default_rng(1).normal(size=(2, 4))
    mixed = x @ np.random.default_rng(2).normal(size=(4, 4)) + 1
    assert guess_rows(x, mixed, mixed).shape == (2, 4)
    assert not np.isnan(guess_rows(x, mixed, mixed)).any()


@settings(max_examples=cases(40))
@given(
    st.floats(1, 359),
    st.lists(st.tuples(*[st.integers(-500, 500)] * 3), min_size=4, max_size=8, unique=True),
)
def test_any_turn_is_found(degrees: float, rows: list[tuple[int, int, int]]) -> None:
    x = np.array(rows, dtype=float)
    y = rotated(x, degrees)
    # Of rows that nearly lie in a plane, three pairs fix a turn only to their rounding.
    if np.linalg.cond(x[:3]) < 100:
        assert guess_rows(x[:3], y[:3], y, [traits_of("rotation")]) == pytest.approx(x, abs=1e-3)
