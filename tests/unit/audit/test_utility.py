"""Utility figures, against scipy, scikit-learn and plain definitions."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.spatial import distance
from sklearn.cluster import KMeans
from sklearn.metrics import confusion_matrix, mutual_info_score

from ppdm_sql.audit.measure.classifiers import accuracy, classifier_figures
from ppdm_sql.audit.measure.clustering import (
    clustering_figures,
    k_means,
    misclassified,
    spread_starts,
)
from ppdm_sql.audit.measure.distances import (
    correlation,
    histogram_pair,
    jensen_shannon,
    kolmogorov_smirnov,
    security,
    spread,
    wasserstein,
)
from ppdm_sql.audit.measure.rules import find_rules, rules_figures, translated
from ppdm_sql.audit.measure.shape import class_figures, discernibility, il1s, shape_figures
from ppdm_sql.audit.measure.utility import (
    association,
    changed_share,
    column_figures,
    frequency_distance,
    merged_share,
)
from ppdm_sql.audit.read.subject import Column, Values
from ppdm_sql.language.syntax import Role
from tests.cases import cases
from tests.unit.audit.subjects import labels, numbers, subject

FLOATS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
PAIRS = st.lists(st.tuples(FLOATS, FLOATS), min_size=2, max_size=30)


@settings(max_examples=cases(100))
@given(PAIRS)
def test_distances_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(side) for side in zip(*pairs, strict=True))
    assert kolmogorov_smirnov(x, y) == pytest.approx(stats.ks_2samp(x, y, method="asymp").statistic)
    assert wasserstein(x, y) == pytest.approx(stats.wasserstein_distance(x, y), abs=1e-6)
    if np.ptp(x) > 1 and np.ptp(y) > 1:
        assert correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
        assert security(x, y) == pytest.approx(np.var(x - y) / np.var(x))


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=10))
def test_jensen_shannon_is_that_of_scipy(counts: list[tuple[int, int]]) -> None:
    p, q = (np.array(side, dtype=float) for side in zip(*counts, strict=True))
    if p.sum() and q.sum():
        expected = distance.jensenshannon(p, q, base=2)
        assert jensen_shannon(p, q) == pytest.approx(expected, abs=1e-6)


def test_constant_columns_have_no_correlation() -> None:
    constant, varied = np.full(5, 0.1), np.arange(5.0)
    assert correlation(constant, varied) is None
    assert security(constant, varied) is None
    assert security(np.empty(0), np.empty(0)) is None
    assert [len(side) for side in histogram_pair(constant, constant)] == [1, 1]
    assert sum(histogram_pair(np.empty(0), np.empty(0))[0]) == 0


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_merged_is_what_plain_counting_gives(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(side) for side in zip(*pairs, strict=True))
    merged = sum(any(b == d and a != c for c, d in pairs) for a, b in pairs)
    assert merged_share(x, y) == pytest.approx(merged / len(pairs))


def test_drift_by_hand() -> None:
    found = {f.name: f.value for f in column_figures(numbers("x", [0, 2], [1, 3]))}
    assert found["mean_drift"] == 1
    assert found["quantile_drift"] == pytest.approx(1)
    assert found["wasserstein"] == 1
    constant = {f.name: f.value for f in column_figures(numbers("x", [1, 1], [1, 2]))}
    assert (constant["mean_drift"], constant["quantile_drift"]) == (None, None)
    assert [f.name for f in column_figures(numbers("x", [1], [1]))] == ["changed", "lost"]
    assert column_figures(numbers("x", [], [])) == []
    assert correlation(np.ones(1), np.ones(1)) is None


def test_numbers_without_texts_that_became_labels_have_changed() -> None:
    column = Column(
        "age", Role.QUASI, ("mapping",), 0, Values(np.array([1.0, np.nan])),
        Values(labels=np.array([4, -1])),
    )  # fmt: skip
    assert changed_share(column) == 1  # the other was and is NULL


def test_document_003_sec_of_scaling_and_translation() -> None:
    """SDP (0.93, 0.89) has Sec 0.49 % and 1.21 % exactly, TDP has 0."""
    x = np.random.default_rng(1).normal(40, 12, 6_000)
    assert security(x, 0.93 * x) == pytest.approx(0.0049)
    assert security(x, 0.89 * x) == pytest.approx(0.0121)
    assert security(x, x - 3) == pytest.approx(0, abs=1e-20)


def test_a_renaming_keeps_all_and_changes_all() -> None:
    column = labels("illness", [0, 0, 1, 2], [5, 5, 6, 7])
    found = {figure.name: figure.value for figure in column_figures(column)}
    assert found == pytest.approx({"changed": 1, "lost": 0, "js": 0, "association": 1})


def test_suppression_keeps_nothing() -> None:
    found = {f.name: f.value for f in column_figures(labels("zip", [0, 1], [-1, -1]))}
    assert found == {"changed": 1, "lost": 1, "js": None, "association": None}


def test_numbers_that_became_labels_are_compared_as_texts() -> None:
    column = labels("age", [0, 1, -1], [0, 9, -1], "generalize", Role.QUASI)
    assert changed_share(column) == 0.5


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_association_is_mutual_information(pairs: list[tuple[int, int]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    found = association(labels("a", before, after))
    shares = np.bincount(before) / len(before)
    entropy = float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
    if entropy == 0:
        assert found is None
    else:
        expected = mutual_info_score(before, after) / entropy
        assert found == pytest.approx(expected, abs=1e-9)
    expected_js = frequency_distance(labels("a", before, before))
    assert expected_js == pytest.approx(0)


def test_il1s_by_hand() -> None:
    x = np.array([[1.0], [3.0]])
    assert il1s(x, x + 1) == pytest.approx(1 / (np.sqrt(2) * np.sqrt(2)))
    assert il1s(np.ones((2, 1)), np.ones((2, 1))) is None


def test_rotation_changes_what_scaling_keeps() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(500, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]])
    angle = 0.7
    turned = x @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    found = _shape(x, turned)
    assert found["eigenvalues"] > 0.05
    assert found["covariance"] > 0.1
    found = _shape(x, 3 * x + 5)
    assert found["eigenvalues"] == pytest.approx(0, abs=1e-12)
    assert found["correlations"] == pytest.approx(0, abs=1e-12)
    assert found["covariance"] == pytest.approx(8)


def _shape(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    columns = [numbers(f"c{i}", x[:, i], y[:, i]) for i in range(x.shape[1])]
    return {f.name: f.value or 0.0 for f in shape_figures(columns)}


def test_shape_of_one_column_is_il1s_alone() -> None:
    assert [f.name for f in shape_figures([numbers("a", [1, 2], [2, 3])])] == ["il1s"]
    assert shape_figures([]) == []


def test_discernibility_by_hand() -> None:
    assert discernibility(np.array([3, 2]), suppressed=1, rows=6) == 9 + 4 + 6
    found = {f.name: f.value for f in class_figures(np.array([3, 2]), 1)}
    assert found == {"discernibility": 19, "average_class": 2.5}
    assert class_figures(np.empty(0, dtype=np.int64), 0) == []


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_labels_are_matched_as_the_hungarian_method_does(pairs: list[tuple[int, int]]) -> None:
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    table = confusion_matrix(before, after, labels=range(4))
    rows, columns = optimize.linear_sum_assignment(-table)
    assert misclassified(before, after, 4) == pytest.approx(
        1 - table[rows, columns].sum() / len(pairs)
    )


def test_k_means_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(5)
    points = np.concatenate([generator.normal(m, 1, (200, 2)) for m in (0, 4, 9)])
    starts = spread_starts(points, 3, generator)
    theirs = KMeans(3, init=points[starts], n_init=1, tol=0, algorithm="lloyd").fit(points).labels_
    assert misclassified(k_means(points, 3, starts), theirs, 3) == 0


def test_clustering_survives_translation_and_not_shuffling() -> None:
    generator = np.random.default_rng(6)
    x = np.concatenate([generator.normal(m, 1, 300) for m in (0, 10, 20, 30)])
    moved = clustering_figures([numbers("x", x, x * 2 + 5)], np.random.default_rng(0))
    assert moved[0].value == 0
    mixed = clustering_figures(
        [numbers("x", x, generator.permutation(x))], np.random.default_rng(0)
    )
    assert (mixed[0].value or 0) > 0.5
    assert clustering_figures([numbers("x", [1, 2], [1, 2])], np.random.default_rng(0)) == []
    constant = numbers("x", np.arange(20), np.ones(20))
    assert clustering_figures([constant], np.random.default_rng(0)) == []


def test_points_that_are_all_alike_can_be_clustered() -> None:
    points = np.zeros((20, 1))
    starts = spread_starts(points, 3, np.random.default_rng(0))
    assert len(k_means(points, 3, starts)) == 20


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=30))
def test_rules_are_what_plain_counting_gives(rows: list[tuple[int, int]]) -> None:
    columns = [np.array(side) for side in zip(*rows, strict=True)]
    found = find_rules(columns, 0.1, 0.6)
    expected = set()
    for a, b in ((0, 1), (1, 0)):
        for v in range(3):
            for w in range(3):
                both = sum(row[a] == v and row[b] == w for row in rows)
                left = sum(row[a] == v and row[b] >= 0 for row in rows)
                if both and both >= 0.1 * len(rows) and both >= 0.6 * left:
                    expected.add((a, v, b, w))
    assert found == expected


def test_aliases_are_translated_and_rules_survive_them() -> None:
    illness, ward = [0, 0, 0, 1, 1, 1], [4, 4, 5, 5, 5, 5]
    aliased = labels("illness", illness, [9, 9, 9, 8, 8, 8])
    kept = labels("ward", ward, ward, "keep")
    assert translated(np.array(illness), np.array([9, 9, 9, 8, 8, 8])).tolist() == illness
    assert rules_figures([aliased, kept])[0].value == 1
    broken = labels("illness", illness, [9, 8, 9, 8, 9, 8])
    assert (rules_figures([broken, kept])[0].value or 0) < 1
    assert rules_figures([kept]) == []
    assert translated(np.array([-1]), np.array([3])).tolist() == [-1]


def test_rare_categories_make_no_rules() -> None:
    column, other = (labels(name, range(40), range(40), "keep") for name in ("a", "b"))
    assert rules_figures([column, other]) == []


def test_a_tree_learns_as_much_from_a_renaming() -> None:
    generator = np.random.default_rng(8)
    age = generator.integers(20, 80, 600).astype(float)
    illness = (age > 50).astype(np.int64)
    found = classifier_figures(
        subject(
            numbers("age", age, age + 7, role=Role.QUASI),
            labels("illness", illness, 1 - illness),
        )
    )
    assert {f.name: f.value for f in found} == pytest.approx(
        {"tree_original": 1, "tree_released": 1}, abs=0.01
    )
    assert accuracy(generator.normal(size=(600, 1)), illness) < 0.75


def test_nothing_to_predict_is_no_figure() -> None:
    assert classifier_figures(subject(numbers("age", [1, 2], [1, 2]))) == []
    halves = [0, 1] * 20
    assert classifier_figures(subject(labels("a", halves, halves))) == []
    assert classifier_figures(subject(labels("a", halves, [-1] * 40))) == []
    rare = subject(labels("a", range(40), range(40)), numbers("x", halves, halves))
    assert classifier_figures(rare) == []


@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1.0, 1e15, 1e200])
def test_the_unit_of_a_column_changes_no_figure(scale: float) -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(0, 1, 200)
    y = x + generator.normal(0, 0.5, 200)
    plain = {f.name: f.value for f in column_figures(numbers("x", x.tolist(), y.tolist()))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = numbers("x", (x * scale).tolist(), (y * scale).tolist())
        found = {f.name: f.value for f in column_figures(large)}
        assert il1s(x[:, None] * scale, y[:, None] * scale) == pytest.approx(
            il1s(x[:, None], y[:, None])
        )
    assert found == pytest.approx(plain)


def test_a_large_offset_hides_no_correlation() -> None:
    x = np.arange(100.0) + 1.7e15
    assert correlation(x, x * 2) == pytest.approx(1)


def test_a_constant_has_no_spread_to_be_measured_by() -> None:
    x, y = np.full(30, 0.1), np.random.default_rng(1).normal(0, 1, 30)
    found = {f.name: f.value for f in column_figures(numbers("x", x.tolist(), y.tolist()))}
    for name in ("correlation", "sec", "mean_drift", "quantile_drift", "wasserstein"):
        assert found[name] is None, name
    assert il1s(x[:, None], y[:, None]) is None
    assert spread(np.array([])) == 0


def test_nulls_neither_changed_nor_were_kept() -> None:
    """A column that is suppressed has lost everything, however many NULLs it had."""
    column = numbers("x", [1, 2, np.nan, np.nan], [np.nan] * 4)
    found = {f.name: f.value for f in column_figures(column)}
    assert (found["changed"], found["lost"]) == (1, 1)
    nothing = numbers("x", [np.nan, np.nan], [np.nan, np.nan])
    assert changed_share(nothing) is None


def test_a_large_offset_hides_no_drift() -> None:
    """Microseconds since 1970: a double tells them apart, a quotient of them does not."""
    x = np.arange(100.0) + 1.7e15
    found = {f.name: f.value for f in column_figures(numbers("x", x, x + 3))}
    exact = 3 / np.arange(100.0).std()
    for name in ("mean_drift", "quantile_drift", "wasserstein"):
        assert found[name] == pytest.approx(exact, rel=1e-9), name
    assert found["sec"] == pytest.approx(0, abs=1e-20)
    assert found["js"] == pytest.approx(
        jensen_shannon(*(side.astype(float) for side in histogram_pair(x - 1.7e15, x - 1.7e15 + 3)))
    )
    moved = clustering_figures([numbers("x", x, x + 3)], np.random.default_rng(0))
    assert moved[0].value == 0


@settings(max_examples=cases(100))
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=30))
def test_figures_of_numbers_are_their_definitions(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = {f.name: f.value for f in column_figures(numbers("x", x, y))}
    edges = np.linspace(min(x.min(), y.min()), max(x.max(), y.max()), 31)
    if edges[-1] > edges[0]:
        # What lies on an edge falls to one side by rounding.
        assume(all(np.abs(np.concatenate((x, y)) - edge).min() > 1e-9 for edge in edges[1:-1]))
        bins = np.histogram(x, edges)[0], np.histogram(y, edges)[0]
        assert found["js"] == pytest.approx(distance.jensenshannon(*bins, base=2), abs=1e-6)
    if x.std() == 0:
        assert found["mean_drift"] is None
        return
    assert found["mean_drift"] == pytest.approx(abs(y.mean() - x.mean()) / x.std(), abs=1e-12)
    shares = [0.05 * step for step in range(1, 20)]
    moved = [abs(np.quantile(y, share) - np.quantile(x, share)) for share in shares]
    assert found["quantile_drift"] == pytest.approx(max(moved) / x.std(), abs=1e-9)
    expected = stats.wasserstein_distance(x, y) / x.std()
    assert found["wasserstein"] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=cases(50))
@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), min_size=1, max_size=30))
def test_frequencies_are_compared_whatever_they_are_called(pairs: list[tuple[int, int]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    found = frequency_distance(labels("a", before, after))
    sides = [[value for value in side if value >= 0] for side in (before, after)]
    if not all(sides):
        assert found is None
        return
    counts = [sorted((side.count(v) for v in range(5)), reverse=True) for side in sides]
    assert found == pytest.approx(distance.jensenshannon(*counts, base=2), abs=1e-6)


CATEGORIES = st.lists(
    st.tuples(*[st.integers(-1, 2)] * 4),
    min_size=1,
    max_size=40,
)


def plain_rules(columns: list[list[int]]) -> set[tuple[int, int, int, int]]:
    rules = set()
    for a, b in ((0, 1), (1, 0)):
        pairs = [pair for pair in zip(columns[a], columns[b], strict=True) if min(pair) >= 0]
        for v, w in set(pairs):
            times = pairs.count((v, w))
            whole = sum(left == v for left, _ in pairs)
            if times >= 0.05 * len(columns[0]) and times / whole >= 0.5:
                rules.add((a, v, b, w))
    return rules


def plain_meaning(original: list[int], released: list[int]) -> list[int]:
    """What each alias mostly stands for; of equally frequent ones the last."""
    pairs = [pair for pair in zip(released, original, strict=True) if min(pair) >= 0]
    meaning = {
        alias: max((pairs.count((alias, v)), v) for other, v in pairs if other == alias)[1]
        for alias, _ in pairs
    }
    return [
        meaning[alias] if min(alias, value) >= 0 else -1
        for alias, value in zip(released, original, strict=True)
    ]


@settings(max_examples=cases(200))
@given(CATEGORIES)
def test_the_overlap_of_rules_is_what_plain_counting_gives(
    rows: list[tuple[int, int, int, int]],
) -> None:
    a, b, x, y = (list(side) for side in zip(*rows, strict=True))
    before = plain_rules([a, b])
    after = plain_rules([plain_meaning(a, x), plain_meaning(b, y)])
    found = rules_figures([labels("a", a, x), labels("b", b, y)])
    if not before | after:
        assert found == []
        return
    assert found[0].value == pytest.approx(len(before & after) / len(before | after))
    assert translated(np.array(a), np.array(x)).tolist() == plain_meaning(a, x)


def test_numbers_make_no_rules() -> None:
    """Also where they are numbered, to be told apart exactly."""
    halves = [0, 1] * 20
    kept = labels("a", halves, halves, "keep")
    numbered = replace(kept, name="b", original=Values(np.array(halves, float), np.array(halves)))
    numbered = replace(numbered, released=numbered.original)
    assert rules_figures([kept, numbered]) == []


@pytest.mark.parametrize("seed", range(5))
def test_misclassification_is_that_of_scikit_learn(seed: int) -> None:
    """Without clusters to be found, so that it takes many rounds, and where they start decides."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(0, 100, (400, 2))
    y = x + generator.normal(0, 12, (400, 2))
    columns = [numbers(f"c{i}", x[:, i], y[:, i]) for i in range(2)]
    (found,) = clustering_figures(columns, np.random.default_rng(seed))
    sides = [(side - side.mean(axis=0)) / side.std(axis=0) for side in (x, y)]
    starts = spread_starts(sides[0], 4, np.random.default_rng(seed))
    theirs = [
        KMeans(4, init=side[starts], n_init=1, tol=0, algorithm="lloyd", max_iter=100)
        .fit(side)
        .labels_
        for side in sides
    ]
    table = confusion_matrix(*theirs)
    matched = table[optimize.linear_sum_assignment(-table)].sum()
    assert found.value == pytest.approx(1 - matched / 400)
    assert (found.value or 0) > 0.02


def test_a_tree_learns_less_from_a_release_that_mixes_rows() -> None:
    generator = np.random.default_rng(9)
    age = generator.integers(0, 80, 600).astype(float)
    illness = (age // 10 % 2).astype(np.int64)  # bands: one question is not enough
    mixed = subject(
        numbers("age", age, generator.permutation(age), role=Role.QUASI),
        labels("illness", illness, 1 - illness),
    )
    found = {f.name: f.value or 0.0 for f in classifier_figures(mixed)}
    assert found["tree_original"] > 0.95
    assert 0.35 < found["tree_released"] < 0.65


def test_a_tree_is_asked_about_rows_it_has_not_seen() -> None:
    generator = np.random.default_rng(10)
    assert accuracy(generator.normal(size=(90, 6)), generator.integers(0, 2, 90)) < 0.75
