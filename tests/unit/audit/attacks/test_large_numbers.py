"""Numbers whose squares are beyond all numbers: attacks get what they get of small ones."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_sql.audit.attacks import run_attacks
from ppdm_sql.audit.attacks.known_input import KnownInput
from ppdm_sql.audit.attacks.known_pairs import KnownPairs
from ppdm_sql.audit.attacks.protocol import Other, Scene
from ppdm_sql.audit.attacks.spectral import Spectral
from tests.unit.audit.attacks.running import attack_column, attack_group, attack_table
from tests.unit.audit.attacks.test_known_rows import rotated
from tests.unit.audit.subjects import numbers, subject

pytestmark = pytest.mark.filterwarnings("error")

ROWS = 600
RNG = np.random.default_rng(52)
SIZES = pytest.mark.parametrize("size", [1e-250, 1e-200, 1.0, 1e160, 1e200, 1e290, 1e304])
X = RNG.uniform(10, 1_000, (ROWS, 4))
NOISE = RNG.normal(0, 300, (ROWS, 4))


@SIZES
@pytest.mark.parametrize("width", [2, 3, 4])
def test_rotation_is_undone_at_any_size(size: float, width: int) -> None:
    x, y = X[:, :width] * size, rotated(X[:, :width]) * size
    columns = [numbers(f"c{i}", x[:, i], y[:, i], "rotation", group=1) for i in range(width)]
    assert attack_group(KnownPairs(5), *columns).share == 1
    assert attack_group(KnownInput(), *columns).share == 1
    mixed = [numbers(f"c{i}", x[:, i], NOISE[:, i] * size, "hybrid", group=1) for i in range(width)]
    assert attack_group(KnownPairs(5), *mixed).share < 0.1


@SIZES
def test_lines_are_undone_at_any_size(size: float) -> None:
    x = X[:, 0] * size
    for y in (x + 17 * size, 3 * x, 5 * size - 2 * x):
        assert attack_column(KnownPairs(5), numbers("x", x, y)).share == 1
    noised = numbers("x", x, x + 3 * NOISE[:, 0] * size, "noise")
    assert attack_column(KnownPairs(5), noised).share < 0.1


@SIZES
def test_noise_is_filtered_at_any_size(size: float) -> None:
    noised = [
        numbers(f"x{i}", X[:, 0] * size, (X[:, 0] + NOISE[:, i]) * size, "noise") for i in range(4)
    ]
    assert attack_table(Spectral(), *noised).share > 0.5


@SIZES
def test_two_answers_are_mixed_at_any_size(size: float) -> None:
    x, y, again = X[:, 0] * size, (X + NOISE)[:, 0] * size, (X[:, 0] + NOISE[:, 1]) * size
    column = numbers("x", x, y, "noise")
    scene = Scene(
        subject(column), again={"x": (again,)}, others=(Other("before", {"x": (again,)}),)
    )
    found = {f.attack: f.share for f in run_attacks(scene)}
    assert found["averaging"] == pytest.approx(0.5, abs=0.1)
    assert found["differencing"] > 0.2


def test_sizes_that_are_far_apart_do_not_warn() -> None:
    wide = np.where(np.arange(ROWS) % 3 == 0, 1.7e305, 1.0) * X[:, 0]
    columns = [
        numbers("a", wide, -wide, "rotation", group=1),
        numbers("b", X[:, 1], X[:, 1] * 1e300, "rotation", group=1),
        numbers("c", X[:, 2] * 1e300, X[:, 2], "rotation", group=1),
        numbers("d", wide, wide[::-1], "noise"),
        numbers("e", -wide, wide, "graded_grouping"),
    ]
    found = run_attacks(Scene(subject(*columns)))
    assert all(0 <= f.share <= 1 and 0 <= f.chance <= 1 for f in found)
