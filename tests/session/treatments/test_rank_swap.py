"""rank_swap(): values of rows that are near; what it shares with shuffle() is tested there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ppdm_sql.errors import TreatmentError
from tests.session.treatments.one_table import add, fill, released
from tests.session.treatments.test_shuffle import ROWS, pairs, release, shared

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

__all__ = ["shared"]

# Values that nobody else has are what these tests tell rows by.
pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")


@pytest.mark.parametrize("percent", [0.1, 5, 100])
def test_swapped_values_are_near_in_rank(shared: Owner, percent: float) -> None:
    release(shared, f"rank_swap(percent => {percent})", "many")
    before, after = pairs(shared).T
    assert sorted(before) == sorted(after)
    away = np.abs(before - after)  # the values are their own ranks
    assert away.max() < percent / 100 * ROWS
    share = away.mean() / (percent / 100 * ROWS)
    # Of two windows that share all rows, each is smaller than the span.
    assert 0.25 <= share <= 0.5 if percent == 100 else share == pytest.approx(0.5, rel=0.1)
    assert (away == 0).sum() <= 3  # in the middle of windows at both ends


def test_ties_of_two_columns_become_weaker_the_wider_the_ranks(shared: Owner) -> None:
    """As with the rank swapping of others: 5 % leaves almost all of a correlation, 50 % not."""
    found = []
    for percent in (5, 50):
        release(shared, f"rank_swap(percent => {percent})", "many")
        found.append(np.corrcoef(*pairs(shared).T)[0, 1])
    assert found[0] > 0.99
    assert 0.5 < found[1] < 0.95


def test_a_new_row_gets_a_value_near_its_own(owner: Owner) -> None:
    fill(owner, list(range(1000)), "INTEGER")
    release(owner, "rank_swap(percent => 2)")
    add(owner, [500, -9, 5000], "INTEGER")
    owner.execute("REFRESH RELEASE r.t")
    near, low, high = released(owner)[1000:]
    assert 478 < near < 522
    assert low < 22
    assert high > 978


@pytest.mark.parametrize("percent", ["0", "-1", "101", "'much'", "true"])
def test_percent_is_a_percent(shared: Owner, percent: str) -> None:
    fill(shared, [1, 2], "INTEGER")
    with pytest.raises(TreatmentError, match="from 0 to 100"):
        release(shared, f"rank_swap(percent => {percent})")


def test_categories_have_no_ranks(shared: Owner) -> None:
    fill(shared, ["a", "b"], "VARCHAR")
    with pytest.raises(TreatmentError, match=r"pram\(keep => 0.8\) or shuffle\(\)"):
        release(shared, "rank_swap(percent => 5)")
