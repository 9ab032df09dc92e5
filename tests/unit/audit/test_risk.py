"""Classes and the risk in them, against plain definitions and pycanon."""

from __future__ import annotations

import json
import subprocess
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.measure.diversity import (
    SensitiveValues,
    diversity_figures,
    homogeneous_share,
    measure_classes,
)
from ppdm_sql.audit.measure.risk import class_sizes, classes_of, risk_figures
from ppdm_sql.audit.measure.singling_out import singling_sets
from ppdm_sql.language.syntax import Role
from tests.cases import cases
from tests.unit.audit.subjects import labels, subject

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups import search as anonymity

ROWS = st.lists(
    st.tuples(st.integers(-1, 2), st.integers(0, 2), st.integers(0, 9), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)
CROWDS = st.lists(
    st.tuples(st.integers(0, 1), st.just(0), st.integers(0, 19), st.integers(0, 3)),
    min_size=12,
    max_size=40,
)
"""Few classes of many: hardly one of them has a single value."""


def quasi(name: str, values: list[int]) -> Column:
    return labels(name, values, values, "keep", Role.QUASI)


def figures(*columns: Column, person: list[int] | None = None) -> dict[str, float | None]:
    found = risk_figures(classes_of(subject(*columns, person=person)))
    return {figure.name: figure.value for figure in found}


def test_worked_example() -> None:
    # Classes of 3, 2 and 1 rows; persons 3, 1 and 1.
    found = figures(quasi("a", [0, 0, 0, 1, 1, 2]), person=[1, 2, 3, 4, 4, 5])
    assert found["k"] == 1
    assert found["k_rows"] == 1
    assert found["classes"] == 3
    assert found["unique_share"] == pytest.approx(2 / 5)
    assert found["prosecutor"] == 1
    assert found["journalist"] == 1
    assert found["marketer"] == pytest.approx(3 / 5)
    assert found["at_risk"] == 1


def test_a_background_table_changes_who_may_be_anybody() -> None:
    """Prosecutor, k and uniques are of those who are known to be in the data."""
    classes = classes_of(subject(quasi("a", [0, 0, 1, 1, 1])))
    alone = {f.name: f.value for f in risk_figures(classes)}
    found = {f.name: f.value for f in risk_figures(classes, np.array([10, 0]))}
    assert found.pop("journalist") == pytest.approx(1 / 3)  # 3 were released, whom it does not know
    assert alone.pop("journalist") == pytest.approx(1 / 2)
    assert found.pop("marketer") == pytest.approx((2 / 10 + 3 / 3) / 5)  # as ARX: f / F over n
    assert alone.pop("marketer") == pytest.approx(2 / 5)
    assert found.pop("at_risk") == pytest.approx(3 / 5)
    assert alone.pop("at_risk") == 1
    assert found == alone


def test_without_quasi_identifiers_all_are_one_class() -> None:
    found = figures(labels("a", [0, 1, 2], [0, 1, 2], "keep", Role.NEUTRAL))
    assert found["k"] == 3


def test_no_rows_have_no_k() -> None:
    assert figures(quasi("a", [])) == {"k": None}


@settings(max_examples=cases(100))
@given(ROWS)
def test_risk_is_what_plain_counting_gives(rows: list[tuple[int, int, int, int]]) -> None:
    a, b, person, _ = (list(column) for column in zip(*rows, strict=True))
    found = figures(quasi("a", a), quasi("b", b), person=person)
    members: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row in rows:
        members[row[:2]].add(row[2])
    sizes = [len(people) for people in members.values()]
    smallest = [
        min(len(people) for people in members.values() if who in people) for who in set(person)
    ]
    total = len(smallest)
    assert found["k"] == min(sizes)
    assert found["k_rows"] == min(Counter(row[:2] for row in rows).values())
    assert found["classes"] == len(sizes)
    assert found["unique_share"] == pytest.approx(smallest.count(1) / total)
    assert found["prosecutor"] == pytest.approx(1 / min(sizes))
    assert found["marketer"] == pytest.approx(sum(1 / size for size in smallest) / total)
    assert found["at_risk"] == pytest.approx(sum(1 / s > 0.2 for s in smallest) / total)
    histogram = class_sizes(classes_of(subject(quasi("a", a), quasi("b", b), person=person)))
    assert sum(count for _, _, count in histogram) == total
    for low, high, count in histogram:
        assert count == sum(low <= s <= high for s in smallest)


@settings(max_examples=cases(50))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_at_risk_is_whoever_shares_with_fewer_than_four(sizes: list[int]) -> None:
    found = figures(quasi("a", [number for number, size in enumerate(sizes) for _ in range(size)]))
    exposed = sum(size for size in sizes if 1 / size > 0.2)
    assert found["at_risk"] == pytest.approx(exposed / sum(sizes))


def test_records_kept_as_stars_are_in_no_class() -> None:
    whole = subject(quasi("a", [0, 0, 0, 1]))
    classes = classes_of(replace(whole, is_suppressed=np.array([False, False, False, True])))
    assert {f.name: f.value for f in risk_figures(classes)}["k"] == 3


def measured(rows: list[tuple[int, int, int, int]], is_ordered: bool) -> anonymity.Measures:
    a, b, _, value = (list(column) for column in zip(*rows, strict=True))
    classes = classes_of(subject(quasi("a", a), quasi("b", b)))
    counts = np.bincount(value, minlength=4)
    sensitive = SensitiveValues("s", np.array(value), counts, is_ordered)
    found = measure_classes(classes, [sensitive], None)
    names = [figure.name for figure in diversity_figures([sensitive], found, classes)]
    assert names == ["l", "entropy_l", "recursive_c_2", "t", "alpha", "homogeneous"]
    return found


@settings(max_examples=cases(60))
@given(ROWS)
def test_diversity_is_what_plain_counting_gives(rows: list[tuple[int, int, int, int]]) -> None:
    found = measured(rows, is_ordered=False).sensitive[0]
    held: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in rows:
        held[row[:2]].append(row[3])
    overall = Counter(row[3] for row in rows)
    distinct, entropy, distance, share = [], [], [], []
    for values in held.values():
        shares = {value: times / len(values) for value, times in Counter(values).items()}
        distinct.append(len(shares))
        entropy.append(-sum(p * np.log(p) for p in shares.values()))
        distance.append(sum(abs(shares.get(v, 0) - overall[v] / len(rows)) for v in overall) / 2)
        share.append(max(shares.values()))
    assert found.distinct_l == min(distinct)
    assert found.entropy_l == pytest.approx(np.exp(min(entropy)))
    assert found.t == pytest.approx(max(distance))
    assert found.alpha == pytest.approx(max(share))


@settings(max_examples=cases(100))
@given(ROWS | CROWDS, st.booleans(), st.booleans())
def test_figures_of_diversity_are_their_definitions(
    rows: list[tuple[int, int, int, int]], is_ordered: bool, has_key: bool
) -> None:
    """Of the weakest class; where somebody has several rows, a value counts once for each."""
    if not has_key:
        rows = [(a, b, number, value) for number, (a, b, _, value) in enumerate(rows)]
    a, b, person, value = (list(column) for column in zip(*rows, strict=True))
    held: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for row in rows:
        held[row[:2]].add(row[2:])
    # The source has a value that no row of the release has.
    overall = Counter(v for _, v in {row[2:] for row in rows}) + Counter({4: 3})
    places = sorted(overall)
    whole = subject(quasi("a", a), quasi("b", b), person=person if has_key else None)
    classes = classes_of(whole)
    sensitive = SensitiveValues(
        "s",
        np.searchsorted(places, value),
        np.array([overall[place] for place in places]),
        is_ordered,
    )
    measures = measure_classes(classes, [sensitive], whole.repeated_persons)
    found = {f.name: f.value for f in diversity_figures([sensitive], measures, classes)}
    every: dict[str, list[float]] = defaultdict(list)
    for pairs in held.values():
        times = Counter(v for _, v in pairs)
        shares = [times[place] / len(pairs) for place in places]
        moved = [s - overall[p] / overall.total() for s, p in zip(shares, places, strict=True)]
        most, *rest = sorted(times.values(), reverse=True)
        every["l"].append(len(times))
        every["entropy_l"].append(np.exp(-sum(s * np.log(s) for s in shares if s)))
        every["recursive_c_2"].append(most / sum(rest) if rest else np.inf)
        every["alpha"].append(most / len({who for who, _ in pairs}))
        every["t"].append(
            np.abs(np.cumsum(moved)).sum() / (len(places) - 1)
            if is_ordered
            else np.abs(moved).sum() / 2
        )
    for name in ("l", "entropy_l"):
        assert found[name] == pytest.approx(min(every[name])), name
    for name in ("t", "alpha"):
        assert found[name] == pytest.approx(max(every[name]), abs=1e-9), name
    worst = max(every["recursive_c_2"])
    assert found["recursive_c_2"] == (None if np.isinf(worst) else pytest.approx(worst))


def test_what_was_not_measured_is_no_figure() -> None:
    """No row, or nothing but `*`: there is no class that reaches anything."""
    for whole in (
        subject(quasi("a", [])),
        replace(subject(quasi("a", [1, 1])), is_suppressed=np.ones(2, dtype=np.bool_)),
    ):
        classes = classes_of(whole)
        sensitive = SensitiveValues("s", np.zeros(whole.rows, np.int64), np.array([2]), True)
        measures = measure_classes(classes, [sensitive], None)
        found = {f.name: f.value for f in diversity_figures([sensitive], measures, classes)}
        assert found == dict.fromkeys(
            ("l", "entropy_l", "recursive_c_2", "t", "alpha", "homogeneous")
        )


PYCANON = Path(__file__).resolve().parents[3] / ".venv-clients" / "pycanon" / "bin" / "python"
ASK_PYCANON = """
import json, sys, warnings
import pandas as pd
warnings.simplefilter("ignore")
from pycanon import anonymity
frame, quasi, sensitive = pd.read_csv(sys.stdin), ["a", "b"], ["s"]
print(json.dumps({
    "k": int(anonymity.k_anonymity(frame, quasi)),
    "l": int(anonymity.l_diversity(frame, quasi, sensitive)),
    "alpha": float(anonymity.alpha_k_anonymity(frame, quasi, sensitive)[0]),
    "t": float(anonymity.t_closeness(frame, quasi, sensitive)),
    "entropy_l": int(anonymity.entropy_l_diversity(frame, quasi, sensitive)),
}))
"""


@pytest.mark.clients
@pytest.mark.skipif(not PYCANON.exists(), reason="pycanon is not installed: make clients")
@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_pycanon(seed: int, is_ordered: bool) -> None:
    """k, l, entropy l, t and alpha of a table of 400 rows.

    Its recursive c is no oracle: it sorts frequencies in ascending order.
    """
    generator = np.random.default_rng(seed)
    rows = [
        (int(a), int(b), 0, int(s))
        for a, b, s in zip(
            generator.integers(0, 3, 400),
            generator.integers(0, 4, 400),
            generator.choice(4, 400, p=[0.5, 0.3, 0.15, 0.05]),
            strict=True,
        )
    ]
    frame = pd.DataFrame(rows, columns=["a", "b", "person", "s"])
    if not is_ordered:
        frame["s"] = frame["s"].map({0: "w", 1: "x", 2: "y", 3: "z"})
    answer = subprocess.run(
        [PYCANON, "-c", ASK_PYCANON],
        input=frame.to_csv(index=False),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    theirs = json.loads(answer.stdout)
    ours = measured(rows, is_ordered)
    assert ours.k == theirs["k"]
    assert ours.sensitive[0].distinct_l == theirs["l"]
    assert ours.sensitive[0].alpha == pytest.approx(theirs["alpha"])
    assert ours.sensitive[0].t == pytest.approx(theirs["t"], abs=1e-9)
    # pycanon rounds entropy l down to a whole number.
    assert int(ours.sensitive[0].entropy_l) == theirs["entropy_l"]


def test_singling_names_the_worst_columns_first() -> None:
    columns = (
        quasi("street", [0, 1, 2, 3]),
        quasi("sex", [0, 0, 1, 1]),
        quasi("age", [0, 1, 0, 1]),
        labels("key", [0, 1, 2, 3], [0, 1, 2, 3], "pseudonym", Role.KEY),
    )
    found = singling_sets(subject(*columns))
    assert found[0].columns == ("street",)
    shares = {one.columns: one.unique_share for one in found}
    assert shares["sex", "age"] == 1
    assert ("sex",) not in shares
    assert all("key" not in one.columns for one in found)


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=12))
def test_sets_of_all_sizes_are_what_plain_counting_gives(rows: list[tuple[int, ...]]) -> None:
    columns = [quasi(f"c{i}", [row[i] for row in rows]) for i in range(4)]
    found = {one.columns: one.unique_share for one in singling_sets(subject(*columns))}
    for size in range(1, 5):
        for chosen in combinations(range(4), size):
            times = Counter(tuple(row[i] for i in chosen) for row in rows)
            alone = sum(count == 1 for count in times.values()) / len(rows)
            assert found.get(tuple(f"c{i}" for i in chosen), 0.0) == pytest.approx(alone)


def test_however_many_columns_there_are_all_are_looked_at_together() -> None:
    """Eleven columns have more than 200 sets; every row differs in all of them only."""
    columns = [quasi(f"c{bit}", [row >> bit & 1 for row in range(2048)]) for bit in range(11)]
    (found,) = singling_sets(subject(*columns))
    assert (len(found.columns), found.unique_share) == (11, 1)


def test_many_columns_are_looked_at_together() -> None:
    columns = [quasi(f"c{i}", [int(row == i) for row in range(5)]) for i in range(4)]
    assert ("c0", "c1", "c2", "c3") in {one.columns for one in singling_sets(subject(*columns))}


@settings(max_examples=cases(50))
@given(ROWS)
def test_singling_is_what_plain_counting_gives(rows: list[tuple[int, int, int, int]]) -> None:
    a, b, _, _ = (list(column) for column in zip(*rows, strict=True))
    found = {
        one.columns: one.unique_share
        for one in singling_sets(subject(quasi("a", a), quasi("b", b)))
    }
    for names, chosen in ((("a",), (0,)), (("b",), (1,)), (("a", "b"), (0, 1))):
        times = Counter(tuple(row[i] for i in chosen) for row in rows)
        alone = sum(1 for count in times.values() if count == 1) / len(rows)
        assert found.get(names, 0.0) == pytest.approx(alone)


@settings(max_examples=cases(50))
@given(ROWS)
def test_singling_counts_people_however_often_they_come(
    rows: list[tuple[int, int, int, int]],
) -> None:
    a, b, person, _ = (list(column) for column in zip(*rows, strict=True))
    found = {
        one.columns: one.unique_share
        for one in singling_sets(subject(quasi("a", a), quasi("b", b), person=person))
    }
    for names, chosen in ((("a",), (0,)), (("a", "b"), (0, 1))):
        who: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for row in rows:
            who[tuple(row[i] for i in chosen)].add(row[2])
        alone = {one for people in who.values() if len(people) == 1 for one in people}
        assert found.get(names, 0.0) == pytest.approx(len(alone) / len(set(person)))


@settings(max_examples=cases(50))
@given(ROWS)
def test_homogeneous_classes_are_what_plain_counting_gives(
    rows: list[tuple[int, int, int, int]],
) -> None:
    a, b, person, value = (list(column) for column in zip(*rows, strict=True))
    classes = classes_of(subject(quasi("a", a), quasi("b", b), person=person))
    sensitive = SensitiveValues("s", np.array(value), np.bincount(value, minlength=4), False)
    held: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row in rows:
        held[row[:2]].add(row[3])
    exposed = {row[2] for row in rows if len(held[row[:2]]) == 1}
    assert homogeneous_share(classes, sensitive.value) == pytest.approx(
        len(exposed) / len(set(person))
    )
