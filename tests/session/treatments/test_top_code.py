"""top_code() through releases: limits given, limits by a share of the rows, labels."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import Refused, TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, call: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x QUASI AS {call})")


@settings(max_examples=cases(60))
@given(st.lists(st.one_of(st.none(), st.integers(-200, 200)), max_size=9), st.integers(-150, 150))
def test_nothing_is_above_the_limit(shared: Owner, values: list[int | None], limit: int) -> None:
    fill(shared, values, "INTEGER")
    release(shared, f"top_code(at => {limit})")
    assert released(shared) == [None if v is None else min(v, limit) for v in values]


def test_a_label_says_and_more(shared: Owner) -> None:
    fill(shared, [42, 90, 104, None], "INTEGER")
    release(shared, "top_code(at => 90, shown => 'label')")
    assert released(shared) == ["42", "90+", "90+", None]
    said = shared.interpret("r.t", "x = '90+'").original
    assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(2,)]


def test_a_share_of_the_rows_is_a_value_and_stays(shared: Owner) -> None:
    fill(shared, list(range(1, 101)), "INTEGER")
    release(shared, "top_code(percent => 95)")
    assert max(released(shared)) == 95
    add(shared, [1000] * 100, "INTEGER")
    shared.execute("REFRESH RELEASE r.t")
    assert max(released(shared)) == 95


def test_types_stay(shared: Owner) -> None:
    fill(shared, [Decimal("1.25"), Decimal("9.75")], "DECIMAL(10,2)")
    release(shared, "top_code(at => 5.5)")
    assert released(shared) == [Decimal("1.25"), Decimal("5.50")]


@pytest.mark.parametrize("call", ["top_code(at => 5)", "bottom_code(at => 0)"])
@pytest.mark.parametrize("label", ["", ", shown => 'label'"])
def test_no_numbers_are_refused_and_null_later(shared: Owner, call: str, label: str) -> None:
    """NaN and infinity are on neither side of a limit."""
    odd = [float("nan"), float("inf"), float("-inf")]
    fill(shared, [1.0, *odd], "DOUBLE")
    call = call.replace(")", label + ")")
    with pytest.raises(TreatmentError, match="3 rows of 'x' cannot be computed"):
        release(shared, call)
    fill(shared, [1.0], "DOUBLE")
    release(shared, call)
    shared.execute("INSERT INTO t VALUES (7, 'nan'), (8, 'inf'), (9, '-inf')")
    assert released(shared)[1:] == [None, None, None]


@pytest.mark.parametrize("type_", ["UBIGINT", "HUGEINT"])
def test_a_limit_that_no_double_holds_is_refused(shared: Owner, type_: str) -> None:
    fill(shared, [2**63 + 1, 2**63 + 5], type_)
    with pytest.raises(TreatmentError, match="too large to be exact"):
        release(shared, "top_code(percent => 50)")


@pytest.mark.parametrize(
    ("call", "condition", "said"),
    [
        ("top_code(at => 50)", "x = 50", "x >= 50"),
        ("top_code(at => 50)", "x = 7", "x = 7"),
        ("top_code(at => 50)", "x > 7", "x > 7"),
        ("top_code(at => 50)", "x <= 49", "x <= 49"),
        ("bottom_code(at => 5)", "x = 5", "x <= 5"),
        ("bottom_code(at => 5)", "x < 40", "x < 40"),
        ("top_code(at => 50, shown => 'label')", "x = '50+'", "x >= 50"),
    ],
)
def test_conditions_are_those_on_the_value_itself(
    shared: Owner, call: str, condition: str, said: str
) -> None:
    fill(shared, list(range(100)), "INTEGER")
    release(shared, call)
    assert shared.interpret("r.t", condition).original == said
    ((shown,),) = shared.execute(f"SELECT count(*) FROM r.t WHERE {condition}").fetchall()
    assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(shown,)]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("top_code()", "takes one limit"),
        ("top_code(at => 1, percent => 2)", "takes one limit"),
        ("top_code(at => 1.5)", "has whole numbers"),
        ("top_code(percent => 101)", "from 0 to 100"),
        ("top_code(at => 1, shown => 'mean')", "must be one of"),
    ],
)
def test_what_it_refuses(shared: Owner, call: str, what: str) -> None:
    fill(shared, [1], "INTEGER")
    with pytest.raises(TreatmentError, match=what):
        release(shared, call)


def test_of_no_numbers_there_is_no_share(shared: Owner) -> None:
    fill(shared, [None], "INTEGER")
    with pytest.raises(TreatmentError, match="has no numbers"):
        release(shared, "top_code(percent => 95)")


def test_sites_agree_on_a_limit_not_on_a_share(owner: Owner) -> None:
    owner.execute("CREATE AGREEMENT a (id KEY, x QUASI AS top_code(at => 90))")
    with pytest.raises(Refused, match="one site's"):
        owner.execute("CREATE AGREEMENT b (id KEY, x QUASI AS top_code(percent => 95))")


def test_a_report_for_others_does_not_give_the_value_beyond_the_limit(owner: Owner) -> None:
    """The drift of a mean, the file and one value beyond the limit are an equation."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i = 123 THEN 187350 ELSE 20000 + i * 7919 % 79000"
        " END AS x FROM range(600) r(i)"
    )
    release(owner, "top_code(at => 100000)")
    withheld = {one.name for one in owner.audit("r.t").figures if one.is_withheld}
    assert {"mean_drift", "wasserstein"} <= withheld


def test_a_limit_that_the_type_does_not_have_is_refused(shared: Owner) -> None:
    fill(shared, [5, 200], "UTINYINT")
    with pytest.raises(TreatmentError, match="must be a value of type UTINYINT"):
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY, x QUASI AS bottom_code(at => 300))"
        )
