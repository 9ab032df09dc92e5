"""Rows of one person, put together by the released KEY."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.measure.linked_rows import linked_figures, links_of, people_alike
from ppdm_sql.audit.measure.risk import classes_of
from ppdm_sql.language.syntax import Role
from tests.cases import cases
from tests.unit.audit.subjects import labels, numbers, subject

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Subject


def visits(key: list[int], zip_: list[int], high: list[bool] | None = None) -> Subject:
    """Rows with a pseudonym and one quasi-identifier."""
    found = subject(
        labels("id", key, [-1 if k < 0 else 100 + k for k in key], "pseudonym", Role.KEY),
        labels("zip", zip_, zip_, "keep", Role.QUASI),
        person=[max(k, 0) for k in key],
    )
    return replace(found, is_high=None if high is None else np.array(high))


def figures(of: Subject) -> dict[str, float | None]:
    return {
        figure.name: figure.value for figure in linked_figures(of, classes_of(of), links_of(of))
    }


def test_whoever_is_in_a_crowd_row_by_row_can_be_alone_in_all_rows() -> None:
    """Four people, two in each class; but only one of them was in both."""
    found = figures(visits([0, 0, 1, 2, 2, 3], [7, 8, 7, 8, 8, 7]))
    assert found["k_linked"] == 1
    # 0 was at 7 and 8, 2 twice at 8: both alone. 1 and 3 were at 7, once each.
    assert found["linked_unique_share"] == 0.5


def test_without_repeated_keys_there_is_nothing_to_put_together() -> None:
    assert figures(visits([0, 1, 2], [7, 7, 7])) == {}
    assert links_of(visits([-1, -1, -1], [7, 7, 7])) is None  # a suppressed KEY
    nobody = subject(labels("zip", [1], [1], "keep", Role.QUASI))
    assert links_of(nobody) is None


@pytest.mark.parametrize(
    ("decimals", "role"), [(0, Role.SENSITIVE), (2, Role.NEUTRAL), (0, Role.QUASI)]
)
def test_decimals_of_noise_put_rows_together(decimals: int, role: Role) -> None:
    """Rows of one KEY share their noise, and the originals are whole or in cents."""
    generator = np.random.default_rng(3)
    person = np.repeat(np.arange(200), 3)
    x = np.round(generator.uniform(0, 1_000, 600), decimals)
    noise = generator.normal(0, 50, 200)
    visit = labels("zip", [7] * 600, [7] * 600, "keep", Role.QUASI)
    shared = numbers("bill", x, x + noise[person], "noise", role)
    found = links_of(subject(visit, shared, person=person.tolist()))
    assert found is not None
    assert found.by == "the decimals of bill"
    assert len(np.unique(found.of_row)) == 200
    assert (found.of_row[::3] == found.of_row[1::3]).all()
    fresh = numbers("bill", x, x + generator.normal(0, 50, 600), "noise", role)
    assert links_of(subject(visit, fresh, person=person.tolist())) is None
    whole = numbers("bill", x, np.round(x + noise[person], decimals), "noise", role)
    assert links_of(subject(visit, whole, person=person.tolist())) is None


def test_what_is_one_persons_alone_ties_rows_whatever_it_is_called() -> None:
    """A second pseudonym, or a number of one person under an alias; not a common diagnosis."""
    rows = visits([0, 0, 1, 1], [7, 8, 7, 8])
    zip_ = rows.columns[1]
    for treatment, released in (("pseudonym", [4, 4, 5, 5]), ("mapping", [4, 4, 5, 5])):
        own = labels("number", [0, 0, 1, 1], released, treatment, Role.NEUTRAL)
        found = links_of(replace(rows, columns=(zip_, own)))
        assert found is not None
        assert found.by == "number"
        assert found.of_row.tolist() == [0, 0, 1, 1]
    common = labels("ill", [0, 0, 0, 1], [4, 4, 4, 5], "mapping", Role.SENSITIVE)
    assert links_of(replace(rows, columns=(zip_, common))) is None
    # Without a KEY only what is there to tie rows does.
    own = labels("number", [0, 0, 1, 1], [4, 4, 5, 5], "mapping", Role.NEUTRAL)
    assert links_of(replace(rows, columns=(zip_, own), person=None)) is None
    seen = links_of(replace(rows, columns=(zip_, replace(own, treatments=("pseudonym",)))))
    assert seen is not None


def test_untouched_rows_tell_who_the_generalized_rows_of_their_key_are_about() -> None:
    found = figures(visits([0, 0, 1, 1, 2], [9, 7, 9, 9, 9], [True, False, True, True, True]))
    assert found["high_linked"] == pytest.approx(1 / 4)


@settings(max_examples=cases(100))
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=25))
def test_people_alike_is_what_plain_counting_gives(rows: list[tuple[int, int]]) -> None:
    links = np.unique([link for link, _ in rows], return_inverse=True)[1]
    lists: dict[int, list[int]] = defaultdict(list)
    for link, (_, shown) in zip(links.tolist(), rows, strict=True):
        lists[link].append(shown)
    shows = {link: tuple(sorted(shown)) for link, shown in lists.items()}
    times = Counter(shows.values())
    found = people_alike(links, np.array([shown for _, shown in rows]))
    assert found.tolist() == [times[shows[link]] for link in sorted(shows)]
