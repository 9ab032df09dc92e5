"""Independent component analysis: what mixing hides, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.audit.attacks.independent_columns import IndependentColumns, nearest_part, unmixed
from ppdm_sql.audit.attacks.known_sample import KnownSample
from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from tests.unit.audit.attacks.running import attack_group
from tests.unit.audit.attacks.test_known_pairs import turned
from tests.unit.audit.subjects import numbers, subject

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column

ROWS = 20_000


def group(
    x: np.ndarray, y: np.ndarray, word: str = "rotation", degrees: float = 31.0
) -> list[Column]:
    sides = zip(("x", "y"), (x, y), turned(degrees, x, y), strict=True)
    return [numbers(name, before, after, word, group=1) for name, before, after in sides]


def test_two_independent_columns_are_taken_apart() -> None:
    """Both vary alike, so that their covariance has no axes: known_sample has nothing to go by."""
    generator = np.random.default_rng(1)
    x = generator.exponential(1, ROWS) - 1
    y = generator.uniform(-np.sqrt(3), np.sqrt(3), ROWS)
    columns = group(x, y)
    assert attack_group(KnownSample(), *columns).share < 0.2
    found = attack_group(IndependentColumns(), *columns)
    assert found.attack == "ica"
    assert found.share > 0.8
    assert found.chance < 0.1
    assert found.columns in (("x",), ("y",))


def test_hybrid_is_no_better() -> None:
    generator = np.random.default_rng(2)
    x, y = generator.exponential(900, ROWS), generator.uniform(18, 90, ROWS)
    a, b = turned(40, x, y)
    columns = [
        numbers("x", x, 3 * a + 7, "hybrid", group=1),
        numbers("y", y, 0.2 * b - 50, "hybrid", group=1),
    ]
    assert attack_group(IndependentColumns(), *columns).share > 0.5


def test_normal_columns_stay_mixed() -> None:
    """Any turn of independent normal columns of one size is as good as any other."""
    generator = np.random.default_rng(3)
    columns = group(generator.normal(size=ROWS), generator.normal(size=ROWS))
    found = attack_group(IndependentColumns(), *columns)
    assert found.share < found.chance + 0.2


def test_known_sources_come_back() -> None:
    generator = np.random.default_rng(4)
    sources = np.stack(
        [
            generator.exponential(size=ROWS),
            generator.uniform(size=ROWS),
            generator.choice([-1.0, 1.0], ROWS),
        ],
        axis=1,
    )
    parts = unmixed(sources @ generator.normal(size=(3, 3)), generator)
    likeness = np.abs(np.corrcoef(sources.T, parts.T)[:3, 3:])
    assert likeness.max(axis=1) == pytest.approx([1, 1, 1], abs=0.01)
    assert np.cov(parts, rowvar=False) == pytest.approx(np.eye(3), abs=1e-9)
    for column in sources.T:
        guess = nearest_part(column, parts)
        assert np.corrcoef(column, guess)[0, 1] > 0.99  # the sign, too


@pytest.mark.parametrize("ratio", [1.0, 1e5, 1e7])
def test_a_small_column_is_found_beside_a_large_one(ratio: float) -> None:
    """Squares of a covariance lose what is a millionth of another column."""
    generator = np.random.default_rng(6)
    sources = np.stack([generator.uniform(size=ROWS), generator.exponential(size=ROWS)], axis=1)
    mixed = np.stack(turned(31, sources[:, 0], sources[:, 1] * ratio), axis=1)
    parts = unmixed(mixed, generator)
    likeness = np.abs(np.corrcoef(sources.T, parts.T)[:2, 2:])
    assert likeness.max(axis=1) == pytest.approx([1, 1], abs=0.01)


def test_what_is_no_mixture_is_not_tried() -> None:
    x = np.random.default_rng(5).exponential(size=ROWS)
    attack = IndependentColumns()
    for columns in (
        group(x, x[::-1], "microaggregation"),
        group(x[:20], x[20:40]),  # too few
        group(np.ones(ROWS), x),  # nothing to tell apart
    ):
        scene = Scene(subject(*columns))
        assert not attack.applies_to(Aim(AimKind.GROUP, tuple(columns)), scene)
        assert not attack.applies_to(Aim(AimKind.TABLE, tuple(columns)), scene)
