"""partial() through releases: both ends of a text, and never all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning, TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, call: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS {call})")


@pytest.mark.filterwarnings("ignore:partial:ppdm_sql.errors.PrivacyWarning")
@settings(max_examples=cases(60))
@given(st.lists(TEXTS, max_size=9), st.integers(0, 5), st.integers(1, 5))
def test_at_least_three_characters_stay_hidden(
    shared: Owner, values: list[str], left: int, right: int
) -> None:
    fill(shared, values, "VARCHAR")
    release(shared, f"partial(left => {left}, right => {right})")
    for value, found in zip((one.strip(" ") for one in values), released(shared), strict=True):
        if len(value) - left - right < 3:
            assert found is None
        else:
            assert found == f"{value[:left]}***{value[-right:]}"


def test_spaces_of_a_column_of_fixed_width_hide_nothing(shared: Owner) -> None:
    fill(shared, ["Ann            ", "  Xanthippe    "], "VARCHAR")
    with pytest.warns(PrivacyWarning, match="1 value of 'x' are too short"):
        release(shared, "partial(left => 5)")
    assert released(shared) == [None, "Xanth***"]


def test_too_short_values_are_said(shared: Owner) -> None:
    fill(shared, ["ab", "abcdef", None], "VARCHAR")
    with pytest.warns(PrivacyWarning, match="1 value of 'x' are too short"):
        release(shared, "partial(left => 2)")
    assert released(shared) == [None, "ab***", None]


def test_ends_that_still_name_persons_are_warned_of(shared: Owner) -> None:
    fill(shared, [f"{i:04}-account" for i in range(200)], "VARCHAR")
    with pytest.warns(PrivacyWarning, match="still names persons"):
        release(shared, "partial(left => 4)")
    release(shared, "partial(left => 2, right => 1)")


def test_what_shows_nothing_is_refused(shared: Owner) -> None:
    fill(shared, ["a"], "VARCHAR")
    for call, what in (("partial()", "shows nothing"), ("partial(left => -1)", "whole number")):
        with pytest.raises(TreatmentError, match=what):
            release(shared, call)


def test_a_condition_is_one_on_the_original(shared: Owner) -> None:
    fill(shared, ["12345678", "12999978"], "VARCHAR")
    release(shared, "partial(left => 2, right => 2)")
    said = shared.interpret("r.t", "x = '12***78'").original
    assert said == "(LEFT(TRIM(x), 2) || '***' || RIGHT(TRIM(x), 2)) = '12***78'"
    assert shared.execute(f"SELECT count(*) FROM t WHERE {said}").fetchall() == [(2,)]


@pytest.mark.parametrize("unseen", ["\r\n\t", "\u200b\u200b\u200b", "\u00a0  "])
def test_what_nobody_sees_hides_nothing(owner: Owner, unseen: str) -> None:
    owner.execute("CREATE TABLE t (id INTEGER, x VARCHAR)")
    owner.connection.execute("INSERT INTO t VALUES (1, ?)", ["SmAA" + unseen])
    with pytest.warns(PrivacyWarning, match="too short"):
        owner.execute(
            "CREATE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS partial(left => 4))"
        )
    assert owner.sql("SELECT x FROM r.t").fetchall() == [(None,)]
