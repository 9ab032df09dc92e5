"""mean_noise(): document 004's additive noise, its amounts, and when it would do nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.mean_noise import MeanNoise
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.types import ColumnType
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Parameter

INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
PRINTED = [50260, 59953, 40308, 33240, 33537, 71069, 81064, 38637, 31233, 32346]
DOWN, UP = 15721.566666666667, 23582.35
CONSTANT = "mean_noise: 'x' is constant, no value lies below the mean"
NEAR_ZERO = "mean_noise: the mean of 'x' is near 0, so nothing would move"

usual = settings(max_examples=cases(150))


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, arguments: str = "", execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE AS mean_noise({arguments}))"
        f" WITH (execution = '{execution}')"
    )


def draw(values: Sequence[float], round_up: bool = False) -> Mapping[str, Parameter]:
    """Return mean and amounts for some values."""
    column = InputColumn(Name("x"), ColumnType("DOUBLE"), "table:x")
    call = TreatmentCall("mean_noise", (Argument("round_up", round_up),))
    cell = pa.scalar(list(values), pa.list_(pa.float64()))
    treatment = MeanNoise.from_call(call, [column])
    return treatment.draw({"values": cell}, RootKey(b"\0" * 32), None).parameters


def moved(values: Sequence[float], amounts: Mapping[str, Parameter]) -> list[float]:
    mean, down, up = (float(amounts[name]) for name in ("mean", "down", "up"))
    return [x - down if x >= mean else x + up for x in values]


@pytest.mark.parametrize("execution", ["native", "udf"])
@pytest.mark.parametrize("type_", ["INTEGER", "DOUBLE", "DECIMAL(10,2)"])
def test_the_incomes_of_the_document_with_amounts_rounded_up(
    shared: Owner, type_: str, execution: str
) -> None:
    fill(shared, INCOMES, type_)
    release(shared, "round_up => true", execution)
    assert released(shared) == PRINTED
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == "DOUBLE"
    amounts = draw(INCOMES, round_up=True)
    assert (amounts["down"], amounts["up"]) == (15722, 23583)


def test_the_incomes_of_the_document_without_rounding(shared: Owner) -> None:
    fill(shared, INCOMES)
    release(shared)
    mean = sum(INCOMES) / 10
    expected = [x - DOWN if x >= mean else x + UP for x in INCOMES]
    assert released(shared) == pytest.approx(expected, rel=1e-14)
    assert math.fsum(released(shared)) / 10 == pytest.approx(mean, rel=1e-15)
    amounts = draw(INCOMES)
    assert amounts["down"] == pytest.approx(DOWN, rel=1e-15)
    assert amounts["up"] == pytest.approx(UP, rel=1e-15)


def test_rounded_amounts_keep_the_mean_only_by_luck() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 11.0]
    assert math.fsum(moved(values, draw(values, round_up=True))) == math.fsum(values) + 4 * 3 - 9


def test_negative_incomes_mirror_positive_ones(shared: Owner) -> None:
    """A negative mean: values from the mean on go up, those below go down, the mean stays."""
    losses = [-x for x in INCOMES]
    fill(shared, losses, "INTEGER")
    release(shared)
    after = released(shared)
    assert math.fsum(after) == pytest.approx(math.fsum(losses), rel=1e-14)
    assert sum(y == x for x, y in zip(losses, after, strict=True)) == 0
    amounts = draw([float(x) for x in losses])
    assert float(amounts["down"]) < 0
    assert float(amounts["up"]) < 0


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=2, max_size=40))
@usual
def test_the_mean_is_kept(values: list[float]) -> None:
    try:
        amounts = draw(values)
    except TreatmentError:
        assume(False)
    after = moved(values, amounts)
    largest = max(map(abs, [*values, *after]))
    assert abs(math.fsum(after) - math.fsum(values)) <= 1e-13 * largest * len(values)


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=2, max_size=40))
@usual
def test_both_sides_move_by_the_same_total(values: list[float]) -> None:
    try:
        amounts = draw(values)
    except TreatmentError:
        assume(False)
    mean = math.fsum(values) / len(values)
    above = sum(x >= mean for x in values)
    assert amounts["mean"] == mean
    assert float(amounts["down"]) * above == pytest.approx(2 * mean, rel=1e-14)
    assert float(amounts["up"]) * (len(values) - above) == pytest.approx(2 * mean, rel=1e-14)


@given(st.lists(st.integers(-100, 100).map(float), min_size=2, max_size=40))
@usual
def test_every_value_moves_with_amounts_rounded_up(values: list[float]) -> None:
    try:
        amounts = draw(values, round_up=True)
    except TreatmentError:
        return
    for name in ("down", "up"):
        assert float(amounts[name]).is_integer()
        assert amounts[name] != 0, "a column that leaves as it is must be refused, not released"


@pytest.mark.parametrize(
    "values", [[5.0], [5.0, 5.0, 5.0], [0.0, 0.0], [0.1] * 3, [0.1] * 10, [1e300 / 3] * 7]
)
def test_a_constant_column_is_refused(values: list[float]) -> None:
    with pytest.raises(TreatmentError) as caught:
        draw(values)
    assert caught.value.what == CONSTANT
    assert caught.value.hint == "write suppress(), or leave the column out"


@pytest.mark.parametrize(
    "values", [[-1.0, 1.0], [-5.0, 0.0, 5.0], [-1e9, 1e9 + 1e-6], [0.1, 0.2, -0.3]]
)
def test_a_mean_near_zero_is_refused(values: list[float]) -> None:
    with pytest.raises(TreatmentError) as caught:
        draw(values)
    assert caught.value.what == NEAR_ZERO
    assert caught.value.hint == "write noise() or microaggregation()"


def test_refusals_point_at_the_treatment(shared: Owner) -> None:
    for values, what in (
        ([7, 7], CONSTANT),
        ([-7, 7], NEAR_ZERO),
        ([], "mean_noise: 'x' has no values"),
        ([None, None], "mean_noise: 'x' has no values"),
    ):
        fill(shared, values, "INTEGER")
        with pytest.raises(TreatmentError) as caught:
            release(shared)
        assert caught.value.what == what
        assert caught.value.span is not None
        assert caught.value.span.source == "mean_noise()"


def test_null_stays_null_and_does_not_count(shared: Owner) -> None:
    fill(shared, [None, 1, None, 3], "INTEGER")
    release(shared)
    assert released(shared) == [None, 5.0, None, -1.0]


def test_what_is_no_number_is_refused_at_creation_and_null_later(shared: Owner) -> None:
    wrong = ["nan", "infinity", "-infinity", "1e300"]
    fill(shared, [1, 3, *wrong])
    with pytest.raises(TreatmentError) as caught:
        release(shared)
    assert caught.value.what == (
        "mean_noise: 4 rows of 'x' cannot be computed (NaN, infinite or out of range)"
    )
    shared.execute("CREATE TABLE wrong AS FROM t WHERE id > 1; DELETE FROM t WHERE id > 1")
    release(shared)
    shared.execute("INSERT INTO t FROM wrong; DROP TABLE wrong")
    assert released(shared) == [5.0, -1.0, *[None] * 4]


def test_mean_and_amounts_are_frozen_until_the_release_is_made_anew(shared: Owner) -> None:
    fill(shared, [1, 3], "INTEGER")
    release(shared)
    shared.execute("INSERT INTO t VALUES (2, 1000)")
    assert released(shared) == [5.0, -1.0, 996.0]
    shared.execute("REFRESH RELEASE r.t")
    assert released(shared) == [5.0, -1.0, 996.0], "a refresh keeps them"
    release(shared)
    assert released(shared) != [5.0, -1.0, 996.0]


def test_the_sum_does_not_depend_on_the_order_of_rows() -> None:
    values = [1e16, 1.0, 1.0, 1.0, 1.0]
    assert sum(values) != sum(values[::-1]), "plain addition would depend on it"
    assert draw(values) == draw(values[::-1])
    assert draw(values)["mean"] == (10**16 + 4) / 5


def test_no_amount_is_told(shared: Owner) -> None:
    fill(shared, INCOMES, "INTEGER")
    release(shared)
    told = [shared.explain("r.t"), repr(shared.describe("r.t"))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told for secret in ("47164", "15721", "23582") if secret in text]


@pytest.mark.parametrize(
    ("type_", "arguments", "what"),
    [
        ("INTEGER", "round_up => 1", "mean_noise: 'round_up' must be true or false"),
        ("INTEGER", "round_up => 'yes'", "mean_noise: 'round_up' must be true or false"),
        ("INTEGER", "up => true", "unknown argument 'up' of mean_noise"),
        ("VARCHAR", "", "mean_noise cannot treat 'x' of type VARCHAR"),
        ("DATE", "", "mean_noise cannot treat 'x' of type DATE"),
    ],
)
def test_what_it_refuses(shared: Owner, type_: str, arguments: str, what: str) -> None:
    fill(shared, [], type_)
    with pytest.raises(TreatmentError) as caught:
        release(shared, arguments)
    assert caught.value.what == what


def test_a_group_is_refused(shared: Owner) -> None:
    fill(shared, [1, 2], "INTEGER")
    with pytest.raises(TreatmentError, match="mean_noise treats one column at a time"):
        shared.execute("CREATE OR REPLACE RELEASE r.t FROM t ((id, x) SENSITIVE AS mean_noise())")


def test_what_it_says_of_itself() -> None:
    assert MeanNoise.exactness is Exactness.NONE
    column = InputColumn(Name("x"), ColumnType("DOUBLE"), "table:x")
    assert not MeanNoise((column,), False).kernels


def test_after_a_scaling_it_reads_the_scaled_values(shared: Owner) -> None:
    fill(shared, INCOMES, "INTEGER")
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t"
        " (id KEY AS keep(), x SENSITIVE AS scaling(by => 2) THEN mean_noise())"
    )
    doubled = [2.0 * x for x in INCOMES]
    assert released(shared) == pytest.approx(moved(doubled, draw(doubled)), rel=1e-14)
    assert np.mean(released(shared)) == pytest.approx(np.mean(doubled), rel=1e-14)
