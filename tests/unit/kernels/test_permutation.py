"""The random order: every order, each as often as the others, never twice the same by rule.

The order comes from the system's generator and cannot be seeded. Each statistical test states
how often it fails although nothing is wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.randomness.permutation import secret_permutation

if TYPE_CHECKING:
    from collections.abc import Sequence


def chi_squared(counts: Sequence[int]) -> float:
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


def chi_squared_limit(freedom: int, deviations: float) -> float:
    """What chi-squared exceeds as rarely as a normal number exceeds so many deviations.

    Wilson and Hilferty: the cube root is nearly normal.
    """
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + deviations * math.sqrt(spread)) ** 3)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 4096])
def test_is_a_permutation(count: int) -> None:
    order = secret_permutation(count)
    assert order.shape == (count,)
    assert sorted(order.tolist()) == list(range(count))


def test_two_orders_differ() -> None:
    """Fails by chance once in 64! times."""
    assert secret_permutation(64).tolist() != secret_permutation(64).tolist()


def test_every_order_of_four_is_as_likely() -> None:
    """Fails by chance less than once in a thousand million runs (6 deviations)."""
    draws = 12_000
    seen = Counter(tuple(secret_permutation(4).tolist()) for _ in range(draws))
    counts = [seen[order] for order in permutations(range(4))]
    assert sum(counts) == draws
    assert chi_squared(counts) < chi_squared_limit(len(counts) - 1, 6)


def test_every_place_is_as_likely_for_every_value() -> None:
    """Fails by chance less than once in a thousand million runs (6 deviations).

    The 100 counts have 81 degrees of freedom: rows and columns of each draw sum to 1. Their
    chi-squared is that of 100 cells times (n-1)/n.
    """
    draws, count = 5_000, 10
    table = np.zeros((count, count), dtype=np.int64)
    for _ in range(draws):
        table[np.arange(count), secret_permutation(count)] += 1
    statistic = chi_squared(table.ravel().tolist()) * (count - 1) / count
    assert statistic < chi_squared_limit((count - 1) ** 2, 6)


def test_long_orders_are_not_the_order_of_counting() -> None:
    """Rank correlation with 0 … n-1 is normal with deviation 1/√(n-1); 7 deviations: 3e-12."""
    count = 100_000
    order = secret_permutation(count)
    correlation = np.corrcoef(np.arange(count), order)[0, 1]
    assert abs(correlation) < 7 / math.sqrt(count - 1)


def test_order_does_not_follow_a_seed() -> None:
    """A seeded generator would repeat itself; fails by chance once in 64! times."""
    orders = []
    for _ in range(2):
        np.random.seed(1)  # the point is that it has no effect
        orders.append(secret_permutation(64).tolist())
    assert orders[0] != orders[1]
