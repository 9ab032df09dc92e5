"""Proximity and divergence breaches, and what SCBA gives away, against plain definitions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.measure.breaches import (
    divergence,
    divergence_figures,
    proximity,
    proximity_figures,
)
from ppdm_sql.audit.measure.high_class import absence_share, high_only_share, scba_figures
from ppdm_sql.audit.measure.risk import Classes, classes_of
from ppdm_sql.audit.read.subject import Column, Subject, Values
from ppdm_sql.language.syntax import Role
from tests.cases import cases
from tests.unit.audit.subjects import labels, numbers

MEMBERS = st.lists(
    st.tuples(st.integers(-1, 3), st.integers(0, 12), st.booleans()), min_size=1, max_size=30
)


def test_document_000_two_incomes_close_together() -> None:
    """X and Y earn 10,000 and 10,050: known to within 50 with certainty."""
    classes = np.array([0, 0])
    found = proximity(classes, np.array([10_000.0, 10_050.0]), 50, 2)
    assert (found.classes, found.rows, found.worst) == (1, 2, 1.0)
    apart = proximity(classes, np.array([10_000.0, 10_051.0]), 50, 2)
    assert (apart.classes, apart.worst) == (0, 0.5)


def test_document_000_gastritis_and_cancer() -> None:
    """X has gastritis and is tied to stomach cancer with a probability of one half."""
    found = divergence(np.array([0, 0]), np.array([0, 1]), np.array([False, True]), 0.5)
    assert (found.classes, found.rows, found.worst) == (1, 1, 0.5)
    four = divergence(
        np.array([0] * 4), np.array([0, 0, 0, 1]), np.array([False] * 3 + [True]), 0.5
    )
    assert four.classes == 0


@settings(max_examples=cases(100))
@given(MEMBERS, st.integers(0, 4), st.sampled_from([1.5, 2, 3]))
def test_proximity_is_what_the_definition_says(
    rows: list[tuple[int, int, bool]], epsilon: int, least_l: float
) -> None:
    of_row = np.array([row[0] for row in rows])
    values = np.array([float(row[1]) for row in rows])
    values[values == 12] = np.nan
    found = proximity(of_row, values, epsilon, least_l)
    members: dict[int, list[float]] = defaultdict(list)
    for owner, value in zip(of_row.tolist(), values.tolist(), strict=True):
        if owner >= 0 and value == value:
            members[owner].append(value)
    worst = {
        owner: max(sum(abs(x - y) <= epsilon for y in held) for x in held) / len(held)
        for owner, held in members.items()
    }
    breached = [owner for owner, share in worst.items() if share > 1 / least_l + 1e-12]
    assert found.classes == len(breached)
    assert found.rows == sum(len(members[owner]) for owner in breached)
    assert found.worst == pytest.approx(max(worst.values(), default=0.0))


@settings(max_examples=cases(100))
@given(MEMBERS, st.sampled_from([0.5, 0.7]), st.booleans())
def test_divergence_is_what_the_definition_says(
    rows: list[tuple[int, int, bool]], confidence: float, knows_severity: bool
) -> None:
    of_row = np.array([row[0] for row in rows])
    value = np.array([row[1] % 3 for row in rows])
    severe = np.array([row[2] for row in rows])
    found = divergence(of_row, value, severe if knows_severity else None, confidence)
    members: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for owner, held, is_severe in zip(
        of_row.tolist(), value.tolist(), severe.tolist(), strict=True
    ):
        if owner >= 0:
            members[owner].append((held, is_severe))
    wronged = {}
    for owner, held in members.items():
        if knows_severity:
            count = sum(is_severe for _, is_severe in held)
            tied = count / len(held) >= confidence and count
            wronged[owner] = len(held) - count if tied else 0
        else:
            times = {v: sum(v == w for w, _ in held) for v, _ in held}
            tied_to = {v for v, t in times.items() if t / len(held) >= confidence}
            wronged[owner] = sum(bool(tied_to - {v}) for v, _ in held)
    assert found.rows == sum(wronged.values())
    assert found.classes == sum(1 for count in wronged.values() if count)


def scba(original: list[int], high: list[bool], illness: list[int], alias: list[int]) -> Subject:
    """A release whose high class shows one generalized label, 99."""
    is_high = np.array(high)
    shown = np.where(is_high, 99, original)
    zip_code = Column(
        "zip",
        Role.QUASI,
        ("generalize",),
        0,
        Values(labels=np.array(original)),
        Values(labels=shown),
    )
    return Subject((zip_code, labels("illness", illness, alias)), len(high), None, is_high)


def test_scba_says_what_it_gives_away() -> None:
    subject = scba(
        original=[1, 2, 3, 3, 4],
        high=[True, True, False, False, False],
        illness=[7, 8, 5, 5, 8],
        alias=[70, 80, 50, 50, 80],
    )
    found = {(f.name, f.about): f.value for f in scba_figures(subject)}
    assert found["k_high", ""] == 2
    assert found["untouched_unique_share", ""] == pytest.approx(1 / 3)  # zip 4
    assert found["absence", ""] == 1  # nobody untouched lives at 1 or 2
    assert found["high_only", "illness"] == 0.5  # alias 70 stands in generalized rows only


def test_absence_needs_somebody_untouched_with_the_same_values() -> None:
    subject = scba([1, 2, 1], [True, True, False], [7, 7, 5], [70, 70, 50])
    assert subject.is_high is not None
    assert absence_share(subject, subject.is_high) == 0.5
    assert high_only_share(subject.columns[1], subject.is_high) == 1


def test_numbers_betray_nothing_by_their_names() -> None:
    pay = numbers("pay", [1, 2], [1, 2])
    assert high_only_share(pay, np.array([True, False])) is None
    subject = scba([1, 2], [True, False], [1, 1], [1, 1])
    assert "high_only" not in {
        f.name for f in scba_figures(replace(subject, columns=(subject.columns[0], pay)))
    }
    starred = replace(subject, is_suppressed=np.array([True, False]))
    assert scba_figures(starred)[0].value is None


def test_without_a_high_class_there_is_nothing_to_say() -> None:
    assert scba_figures(scba([1, 2], [False, False], [1, 1], [1, 1])) == []


VALUES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 201), st.booleans(), st.booleans()),
    min_size=1,
    max_size=30,
)


def classes_and(rows: list[tuple[int, int, bool, bool]]) -> Classes:
    """Classes of the first, without rows whose last says that they are kept as `*`."""
    area = [row[0] for row in rows]
    whole = Subject((labels("area", area, area, "keep", Role.QUASI),), len(rows))
    return classes_of(replace(whole, is_suppressed=np.array([row[3] for row in rows])))


@settings(max_examples=cases(100))
@given(VALUES)
def test_figures_of_proximity_are_their_definitions(
    rows: list[tuple[int, int, bool, bool]],
) -> None:
    values = np.array([float(row[1]) if row[1] <= 200 else np.nan for row in rows])
    values[[row[2] and row[1] % 3 == 0 for row in rows]] = np.nan
    figures = proximity_figures("pay", classes_and(rows), values)
    found = {f.name: f.value for f in figures}
    known = values[~np.isnan(values)]
    near = 0.05 * known.std() if len(known) else 0.0
    members: dict[int, list[float]] = defaultdict(list)
    for row, value in zip(rows, values.tolist(), strict=True):
        if not row[3] and value == value:
            members[row[0]].append(value)
    if not members:
        assert found == {"proximity": None, "proximity_classes": None, "proximity_l": None}
        return
    worst = {
        area: max(sum(abs(x - y) <= near for y in held) for x in held) / len(held)
        for area, held in members.items()
    }
    breached = [area for area, share in worst.items() if share > 1 / 2]
    taking_part = sum(len(held) for held in members.values())
    in_breached = sum(len(members[area]) for area in breached)
    assert found["proximity"] == pytest.approx(in_breached / taking_part)
    assert found["proximity_classes"] == pytest.approx(len(breached) / len(members))
    assert found["proximity_l"] == pytest.approx(1 / max(worst.values()))
    assert [f.of for f in figures] == [taking_part, len(members), None]


@settings(max_examples=cases(100))
@given(VALUES, st.booleans())
def test_figures_of_divergence_are_their_definitions(
    rows: list[tuple[int, int, bool, bool]], knows_severity: bool
) -> None:
    severe = np.array([row[2] for row in rows]) if knows_severity else None
    value = np.array([row[1] % 4 for row in rows])
    figures = divergence_figures("illness", classes_and(rows), value, severe)
    found = {f.name: f.value for f in figures}
    members: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for row in rows:
        if not row[3]:
            members[row[0]].append((row[1] % 4, row[2]))
    if not members:
        assert found == {"divergence": None, "divergence_classes": None}
        return
    wronged = []
    for held in members.values():
        of = [is_severe if knows_severity else value for value, is_severe in held]
        tied = {v for v in of if of.count(v) / len(of) >= 0.5} - (
            {False} if knows_severity else set()
        )
        wronged.append(sum(bool(tied - {v}) for v in of))
    taking_part = sum(len(held) for held in members.values())
    assert found["divergence"] == pytest.approx(sum(wronged) / taking_part)
    hurt = sum(count > 0 for count in wronged)
    assert found["divergence_classes"] == pytest.approx(hurt / len(members))
