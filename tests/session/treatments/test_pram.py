"""pram() through releases: shares stay, rows do not, and asking again gains nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning, Refused, TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

ROWS = 60_000
COUNTS = {"Flu": 30_000, "HIV": 20_000, "it's": 10_000}


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE TABLE many AS SELECT i AS id, CASE WHEN i < 30000 THEN 'Flu' WHEN i < 50000"
            f" THEN 'HIV' ELSE 'it''s' END AS x FROM range({ROWS}) s(i)"
        )
        yield owner


def release(owner: Owner, keep: float, source: str = "t", name: str = "t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.{name} FROM {source}"
        f" (id KEY AS keep(), x SENSITIVE AS pram(keep => {keep}))"
    )


@pytest.mark.parametrize("keep", [0.8, 0.3])
def test_rows_move_as_the_matrix_says(shared: Owner, keep: float) -> None:
    """Each cell lies within five standard errors of keep · [i = j] + (1 - keep) · share(j)."""
    release(shared, keep, "many")
    found = shared.execute(
        "SELECT many.x, t.x, count(*) FROM many JOIN r.t USING (id) GROUP BY ALL"
    ).fetchall()
    assert len(found) == len(COUNTS) ** 2
    for before, after, count in found:
        chance = keep * (before == after) + (1 - keep) * COUNTS[after] / ROWS
        error = math.sqrt(chance * (1 - chance) * COUNTS[before])
        assert abs(count - chance * COUNTS[before]) < 5 * error


def test_asking_again_gains_nothing(shared: Owner) -> None:
    release(shared, 0.5, "many")
    shared.execute("CREATE OR REPLACE TABLE first AS SELECT * FROM r.t")
    shared.execute("REFRESH RELEASE r.t")
    again = "SELECT count(*) FROM first JOIN r.{0} AS b USING (id) WHERE first.x <> b.x"
    assert shared.execute(again.format("t")).fetchall() == [(0,)]
    release(shared, 0.5, "(SELECT * FROM many ORDER BY id DESC)", "other")
    assert shared.execute(again.format("other")).fetchall() == [(0,)]


def test_a_refresh_draws_by_the_shares_that_were(owner: Owner) -> None:
    """Rows that stay keep what was drawn for them, whatever the others have become."""
    owner.execute(
        "CREATE TABLE many AS SELECT i AS id, (i % 4)::INTEGER AS x FROM range(4000) s(i)"
    )
    release(owner, 0.5, "many")
    owner.execute("CREATE TABLE first AS SELECT * FROM r.t")
    owner.execute("UPDATE many SET x = 1 WHERE id >= 2000")
    owner.execute("INSERT INTO many SELECT i, 9 FROM range(4000, 6000) s(i)")
    with pytest.warns(PrivacyWarning, match="2,000 rows of 'x' have a category that is new"):
        owner.execute("REFRESH RELEASE r.t")
    moved = "SELECT count(*) FROM first JOIN r.t USING (id) WHERE id < 2000 AND first.x <> t.x"
    assert owner.execute(moved).fetchall() == [(0,)]
    new = "SELECT DISTINCT x FROM r.t WHERE id >= 4000"
    assert owner.execute(new).fetchall() == [(None,)]


@settings(max_examples=cases(40))
@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "", "é", "*"])), max_size=12),
    st.sampled_from([0.01, 0.5, 0.99]),
)
def test_what_is_drawn_is_a_category_of_the_source(
    shared: Owner, values: list[str | None], keep: float
) -> None:
    fill(shared, values, "VARCHAR")
    if len(set(values) - {None}) == 1:
        with pytest.warns(PrivacyWarning, match="one category"):
            release(shared, keep)
    else:
        release(shared, keep)
    for value, found in zip(values, released(shared), strict=True):
        assert (found is None) == (value is None)
        assert found in values


@pytest.mark.parametrize(
    ("type_", "values", "shown"),
    [("BOOLEAN", [True, False], "BOOLEAN"), ("BIGINT", [-(2**63), 2**63 - 1], "BIGINT")],
)
def test_other_kinds_of_categories(
    shared: Owner, type_: str, values: list[object], shown: str
) -> None:
    fill(shared, values * 20, type_)
    release(shared, 0.4)
    assert set(released(shared)) <= set(values)
    assert shared.execute("SELECT DISTINCT typeof(x) FROM r.t").fetchall() == [(shown,)]


def test_words_of_an_enum_that_nobody_has_are_not_shown(owner: Owner) -> None:
    owner.execute("CREATE TYPE illness AS ENUM ('Flu', 'HIV', 'secret')")
    owner.execute("CREATE TABLE t AS SELECT i AS id, 'Flu'::illness AS x FROM range(9) s(i)")
    owner.execute("UPDATE t SET x = 'HIV' WHERE id < 4")
    release(owner, 0.5)
    assert owner.execute("SELECT DISTINCT typeof(x) FROM r.t").fetchall() == [("VARCHAR",)]


def test_a_row_without_a_key_is_refused(shared: Owner) -> None:
    fill(shared, ["a", "b"], "VARCHAR")
    shared.execute("UPDATE t SET id = NULL WHERE x = 'b'")
    with pytest.raises(TreatmentError, match="rows of 'x' have no KEY"):
        release(shared, 0.5)


@pytest.mark.parametrize("keep", ["0", "1", "80", "'much'", "true"])
def test_keep_is_a_share(shared: Owner, keep: str) -> None:
    fill(shared, ["a", "b"], "VARCHAR")
    with pytest.raises(TreatmentError, match="between 0 and 1"):
        shared.execute(f"CREATE RELEASE r.no FROM t (id KEY, x SENSITIVE AS pram(keep => {keep}))")


def test_measurements_are_no_categories(shared: Owner) -> None:
    fill(shared, [1.5, 2.5], "DOUBLE")
    with pytest.raises(TreatmentError, match=r"noise\(normal\(0, 10\)\)"):
        shared.execute("CREATE RELEASE r.no FROM t (id KEY, x SENSITIVE AS pram(keep => 0.5))")


def test_names_of_persons_stay_refused(owner: Owner) -> None:
    """What is exchanged for another one is somebody else's address."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 'p' || i || '@x.org' AS x FROM range(500) s(i)"
    )
    with pytest.raises(Refused) as caught:
        release(owner, 0.99)
    assert caught.value.code == "identifying"
    with pytest.warns(PrivacyWarning, match="released unchanged"):
        owner.execute("CREATE RELEASE r.k FROM t (id KEY AS pram(keep => 0.9), x IDENTIFIER)")


def test_a_refresh_draws_no_other_noise(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 3 AS x FROM range(500) s(i)")
    owner.execute("CREATE RELEASE r.t FROM t (id KEY, x SENSITIVE AS pram(keep => 0.5))")
    owner.publish("r.t", to=tmp_path / "a.duckdb", strict=True)
    owner.execute("REFRESH RELEASE r.t")
    owner.publish("r.t", to=tmp_path / "b.duckdb", strict=True)


def test_a_release_of_nothing_draws_when_there_is_something(owner: Owner) -> None:
    """Red before: every value that was shown was the person's own, and no refresh mended it."""
    owner.execute("CREATE TABLE t (id INTEGER, x VARCHAR)")
    release(owner, 0.2)
    owner.execute("INSERT INTO t SELECT i, 'D' || i % 5 FROM range(1000) s(i)")
    assert released(owner) == [None] * 1000
    owner.execute("REFRESH RELEASE r.t")
    same = "SELECT count(*) FROM t JOIN r.t AS b USING (id) WHERE t.x = b.x"
    ((kept,),) = owner.execute(same).fetchall()
    assert None not in released(owner)
    assert abs(kept - 360) < 5 * math.sqrt(1000 * 0.36 * 0.64)  # 0.2 and a fifth of the rest
