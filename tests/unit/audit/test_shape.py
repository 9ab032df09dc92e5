"""How numeric columns vary together, and what classes cost, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.measure.shape import class_figures, il1s, shape_figures
from tests.cases import cases
from tests.unit.audit.subjects import numbers

CELLS = st.integers(-50, 50).map(float)
TABLES = st.integers(2, 3).flatmap(
    lambda width: st.lists(
        st.tuples(st.tuples(*[CELLS] * width), st.tuples(*[CELLS] * width)),
        min_size=2,
        max_size=12,
    )
)


def shape(x: np.ndarray, y: np.ndarray) -> dict[str, float | None]:
    columns = [numbers(f"c{i}", x[:, i], y[:, i]) for i in range(x.shape[1])]
    return {figure.name: figure.value for figure in shape_figures(columns)}


def relative(before: np.ndarray, after: np.ndarray) -> float | None:
    norm = np.sqrt((before**2).sum())
    return float(np.sqrt(((after - before) ** 2).sum()) / norm) if norm else None


@settings(max_examples=cases(100))
@given(TABLES)
def test_shape_is_what_numpy_gives(
    rows: list[tuple[tuple[float, ...], tuple[float, ...]]],
) -> None:
    x, y = (np.array(side) for side in zip(*rows, strict=True))
    found = shape(x, y)
    varied = np.ptp(x, axis=0) > 0
    if varied.any():
        gone = np.abs(x - y)[:, varied] / (np.sqrt(2) * x[:, varied].std(axis=0, ddof=1))
        assert found["il1s"] == pytest.approx(gone.mean())
    else:
        assert found["il1s"] is None
        assert found["covariance"] is found["eigenvalues"] is found["correlations"] is None
        return
    unit = x[:, varied].std(axis=0)
    scaled = [np.atleast_2d(np.cov(side[:, varied] / unit, rowvar=False)) for side in (x, y)]
    assert found["covariance"] == pytest.approx(relative(*scaled), abs=1e-9)
    if varied.all() and (np.ptp(y, axis=0) > 0).all():
        sides = np.corrcoef(x, rowvar=False), np.corrcoef(y, rowvar=False)
        assert found["correlations"] == pytest.approx(relative(*sides), abs=1e-9)
        first, second = (np.sort(np.linalg.eigvalsh(side)) for side in sides)
        if first.min() > 1e-3:
            assert found["eigenvalues"] == pytest.approx(
                (np.abs(first - second) / first).sum(), rel=1e-6, abs=1e-6
            )


def test_what_is_no_number_any_more_is_not_measured() -> None:
    x = np.stack([np.arange(9.0) * 1e-300, np.arange(9.0)], axis=1)
    assert shape(x, x + 1e100)["il1s"] is None


def test_no_column_decides_alone_by_its_unit() -> None:
    """A salary in cents and an age: noise on the age must show as much as noise on the salary."""
    generator = np.random.default_rng(6)
    x = np.stack([generator.normal(45, 12, 4_000), generator.normal(6e6, 9e5, 4_000)], axis=1)
    noise = generator.normal(size=4_000)
    on_age, on_salary = x.copy(), x.copy()
    on_age[:, 0] += 12 * noise
    on_salary[:, 1] += 9e5 * noise
    first, second = shape(x, on_age), shape(x, on_salary)
    for name in ("covariance", "eigenvalues"):
        assert first[name] == pytest.approx(second[name], abs=0.1)
    assert first["covariance"] == pytest.approx(1 / np.sqrt(2), abs=0.1)


def test_eigenvalues_are_those_of_sdcmicro() -> None:
    """eigen(var(scale(x))) and eigen(var(scale(xm))), sum(abs(e1 - e2) / e1), by hand."""
    x = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])  # correlation 0: 1 and 1
    y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])  # correlation 1: 0 and 2
    assert shape(x, y)["eigenvalues"] == pytest.approx(2.0)


def test_a_constant_column_has_no_correlation_to_keep() -> None:
    generator = np.random.default_rng(2)
    x = np.stack([generator.normal(size=100), np.full(100, 2024.0)], axis=1)
    assert shape(x, x + 1)["correlations"] == pytest.approx(0, abs=1e-12)
    assert shape(x, x / 3 + 0.1)["correlations"] == pytest.approx(0, abs=1e-12)
    assert shape(x[:, [1, 1]], x)["correlations"] is None


def test_a_column_that_became_constant_lost_its_correlations() -> None:
    x = np.random.default_rng(3).normal(size=(100, 2))
    y = np.stack([x[:, 0], np.full(100, 0.1)], axis=1)
    rest = np.array([[1.0, 0.0], [0.0, 0.0]])
    expected = relative(np.array(np.corrcoef(x, rowvar=False)), rest)
    assert shape(x, y)["correlations"] == pytest.approx(expected)


def test_only_rows_that_have_all_numbers_take_part() -> None:
    generator = np.random.default_rng(4)
    x, y = generator.normal(size=(60, 2)), generator.normal(size=(60, 2))
    whole = shape(x, y)
    x, y = np.vstack([x, x[:4] * 9]), np.vstack([y, y[:4] * 7])
    x[60, 0] = x[61, 1] = y[62, 0] = y[63, 1] = np.nan
    assert shape(x, y) == pytest.approx(whole)


def test_a_large_offset_hides_no_covariance() -> None:
    x = np.random.default_rng(5).integers(0, 1000, (200, 2)).astype(float)
    y = x * 2 + x[:, ::-1]
    offset = 2.0**50
    assert shape(x + offset, y + offset) == pytest.approx(
        {**shape(x, y), "il1s": il1s(x, y)}, rel=1e-9
    )


def test_classes_are_averaged_over_classes() -> None:
    found = {f.name: f.value for f in class_figures(np.array([1, 2, 9]), 0)}
    assert found == {"discernibility": 1 + 4 + 81, "average_class": 4}
