"""Mining equivalence on Adult (METHODS 7): equal where it truly holds, and the exceptions shown.

Needs scikit-learn and mlxtend: `make experiments` runs these tests, `make test` skips them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="make experiments has scikit-learn")
pytest.importorskip("mlxtend", reason="make experiments has mlxtend")

from experiments import mining
from experiments.adult import folder, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.adult import Adult


@pytest.fixture(scope="module")
def both() -> Iterator[Adult]:
    if not (folder() / "adult_32561.csv").exists():
        pytest.skip("UCI Adult is in neither ../shared/data/adult nor $PPDM_ADULT")
    adult = load()
    yield adult
    adult.owner.close()


def test_zero_rule(both: Adult) -> None:
    assert mining.zero_rule(both.original) == 10_501
    assert mining.zero_rule(both.released) == 10_501
    assert f"{10_501 / len(both.original):.4%}" == "32.2502%"


def test_a_tree_gives_its_training_rows_the_same_classes(both: Adult) -> None:
    found = [mining.tree_on_training_rows(frame) for frame in (both.original, both.released)]
    assert np.array_equal(found[0], found[1])


def test_naive_bayes_gives_every_row_the_same_class(both: Adult) -> None:
    assert np.array_equal(mining.naive_bayes(both.original), mining.naive_bayes(both.released))


def test_rules_are_the_same_one_by_one_after_translation(both: Adult) -> None:
    found, mined = mining.rules(both.original), mining.rules(both.released)
    assert len(found) == len(mined) > 1000
    translated = both.owner.interpret_table("research.adult", mined)
    assert translated.notes == ()
    assert mining.as_set(translated.df()) == mining.as_set(found)
    assert mining.as_set(mined) != mining.as_set(found)


def test_k_means_gives_the_same_partition_and_another_error(both: Adult) -> None:
    (parts, error), (released, released_error) = map(
        mining.clusters, (both.original, both.released)
    )
    assert np.array_equal(parts, released)
    assert error != released_error
    assert error == pytest.approx(released_error, rel=1e-4)


def test_a_variance_that_is_smoothed_is_an_exception(both: Adult) -> None:
    found = [mining.stock_naive_bayes(frame) for frame in (both.original, both.released)]
    assert not np.array_equal(found[0], found[1])


def test_held_out_rows_differ_only_where_they_lie_on_a_threshold(both: Adult) -> None:
    found = [
        mining.tree_on_held_out_rows(frame, mining.first_seen(frame))
        for frame in (both.original, both.released)
    ]
    different = found[0] != found[1]
    assert 0 < different.sum() < 300
    assert not (different & ~mining.rows_on_a_threshold(both.original)).any()
