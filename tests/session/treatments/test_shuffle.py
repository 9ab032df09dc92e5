"""shuffle() and rank_swap(): the values stay, whose they are does not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning, Refused, TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

# Values that nobody else has are what these tests tell rows by.
pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")

ROWS = 20_000
BOTH = pytest.mark.parametrize("word", ["shuffle()", "rank_swap(percent => 50)"])


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            f"CREATE TABLE many AS SELECT i AS id, (i * 7919) % {ROWS} AS x FROM range({ROWS}) s(i)"
        )
        yield owner


def release(owner: Owner, word: str, source: str = "t", name: str = "t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.{name} FROM {source} (id KEY AS keep(), x NEUTRAL AS {word})"
        " WITH (accept = ['identifying(x)'])"
    )


def pairs(owner: Owner, name: str = "t") -> np.ndarray[Any, Any]:
    """Return original and released values of `many`."""
    query = f"SELECT many.x, t.x FROM many JOIN r.{name} AS t USING (id)"
    return np.array(owner.execute(query).fetchall())


def test_shuffled_values_are_those_of_any_row(shared: Owner) -> None:
    """A rank correlation of 0 has a standard error of 1 ÷ √n; one row in n keeps its own."""
    release(shared, "shuffle()", "many")
    before, after = pairs(shared).T
    assert sorted(before) == sorted(after)
    assert abs(np.corrcoef(before, after)[0, 1]) < 5 / np.sqrt(ROWS)
    assert (before == after).sum() < 10


@BOTH
def test_a_refresh_keeps_what_was_released(owner: Owner, word: str) -> None:
    fill(owner, list(range(1000)), "INTEGER")
    release(owner, word)
    first = released(owner)
    add(owner, [5, 999_999], "INTEGER")
    assert released(owner)[1000:] == [None, None]
    owner.execute("UPDATE t SET x = 7 WHERE id = 3")
    assert released(owner)[3] is None
    owner.execute("REFRESH RELEASE r.t")
    again = released(owner)
    assert again[:3] + again[4:1000] == first[:3] + first[4:]
    assert set(again) <= set(range(1000))  # nobody but its owner had the value of a new row
    owner.execute("REFRESH RELEASE r.t")
    assert released(owner) == again


@settings(max_examples=cases(40))
@given(
    st.lists(
        st.one_of(st.none(), st.floats(-1e299, 1e299), st.sampled_from([0.0, 1.5])), max_size=30
    ),
    st.sampled_from(["shuffle()", "rank_swap(percent => 100)"]),
)
def test_what_is_released_is_what_there_was(
    shared: Owner, values: list[float | None], word: str
) -> None:
    fill(shared, values)
    if 0 < sum(one is not None for one in values) < 2 and word != "shuffle()":
        with pytest.raises(TreatmentError, match="nothing would be exchanged"):
            release(shared, word)
        return
    release(shared, word)
    found = released(shared)
    assert Counter(map(repr, found)) == Counter(map(repr, values))
    assert [one is None for one in found] == [one is None for one in values]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("VARCHAR", ["a", "it's", "", "é"]),
        ("BOOLEAN", [True, False, True, False]),
        ("HUGEINT", [2**120, -(2**120), 1, 2]),
        ("DECIMAL(9,2)", ["1.50", "2.25", "-3.00", "4.10"]),
        ("DATE", ["2020-01-01", "1999-12-31", "0001-01-01", "9999-12-31"]),
        ("TIMESTAMP", ["2020-01-01 01:02:03.000004", "1999-12-31", "2000-01-01", "2000-01-02"]),
        ("UUID", [f"00000000-0000-0000-0000-00000000000{i}" for i in range(4)]),
    ],
)
def test_types_stay(shared: Owner, type_: str, values: list[object]) -> None:
    fill(shared, values, type_)
    release(shared, "shuffle()")
    texts = "SELECT list_sort(list(x::VARCHAR)), any_value(typeof(x)) FROM {}"
    assert (
        shared.execute(texts.format("t")).fetchall()
        == shared.execute(texts.format("r.t")).fetchall()
    )


@BOTH
def test_rows_need_keys_of_their_own(owner: Owner, word: str) -> None:
    fill(owner, list(range(50)), "INTEGER")
    owner.execute("UPDATE t SET id = 0 WHERE id < 3")
    with pytest.raises(TreatmentError, match="2 rows of 'x' share a KEY"):
        release(owner, word)
    owner.execute("UPDATE t SET id = NULL WHERE id = 0")
    with pytest.raises(TreatmentError, match="rows of 'x' have no KEY"):
        release(owner, word)


def test_few_rows_are_said(owner: Owner) -> None:
    fill(owner, ["a", "b"] * 10, "VARCHAR")
    with pytest.warns(PrivacyWarning, match="show a value like their own"):
        release(owner, "shuffle()")
    fill(owner, list(range(20)), "INTEGER")
    with pytest.raises(TreatmentError, match="5 percent of 20 rows are fewer than 2"):
        release(owner, "rank_swap(percent => 5)")


def test_names_of_persons_stay_refused(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, 'p' || i || '@x.org' AS x FROM range(500) s(i)"
    )
    with pytest.raises(Refused) as caught:
        owner.execute("CREATE RELEASE r.t FROM t (id KEY, x NEUTRAL AS shuffle())")
    assert caught.value.code == "identifying"


@pytest.mark.parametrize(("word", "averages"), [("shuffle()", 0), ("rank_swap(percent => 5)", 1)])
def test_a_second_release_draws_again(
    owner: Owner, tmp_path: Path, word: str, averages: int
) -> None:
    """Two exchanges of near ranks average; two random orders tell nothing of a row's own value."""
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 97 AS x FROM range(1000) s(i)")
    for name in ("a", "b"):
        owner.execute(f"CREATE RELEASE r.{name} FROM t (id KEY, x NEUTRAL AS {word})")
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    published = owner.publish("r.b", to=tmp_path / "b.duckdb")
    assert sum("averaged" in one for one in published.warnings) == averages


@BOTH
@pytest.mark.parametrize("odd", ["nan", "inf", "-inf", "1e301"])
def test_what_is_no_number_is_refused_and_later_null(owner: Owner, word: str, odd: str) -> None:
    fill(owner, [1.0, 2.0, 3.0, 4.0])
    release(owner, word)
    add(owner, [float(odd)])
    assert released(owner)[4] is None
    with pytest.raises(TreatmentError, match="cannot be computed"):
        owner.execute("REFRESH RELEASE r.t")


@pytest.mark.parametrize("word", ["shuffle()", "rank_swap(percent => 20)", "pram(keep => 0.5)"])
def test_an_identifier_is_not_dealt_out(owner: Owner, tmp_path: Path, word: str) -> None:
    """Red before: all ninety numbers stood in the file, each in another row."""
    owner.execute("CREATE TABLE t AS SELECT i AS id, 900 + i * 7 AS nr FROM range(90) s(i)")
    owner.execute(
        f"CREATE RELEASE r.t FROM (SELECT id, nr, nr AS nr2 FROM t) (id KEY, nr IDENTIFIER, nr2 NEUTRAL AS"
        f" {word})"
    )
    with pytest.raises(Refused) as caught:
        owner.publish("r.t", to=tmp_path / "a.duckdb")
    assert caught.value.code == "shows_identifier"


@pytest.fixture
def wards(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 7 AS ward, (i % 7) * 1000 + i AS x FROM range(700) s(i)"
    )
    return owner


@pytest.mark.parametrize(
    "word", ["shuffle(within => 'ward')", "rank_swap(percent => 20, within => 'WARD')"]
)
def test_values_stay_within_their_group(wards: Owner, word: str) -> None:
    release(wards, word)
    query = "SELECT t.ward, list(t.x ORDER BY t.x), list(r.x ORDER BY r.x), sum((t.x = r.x)::INT) FROM t JOIN r.t AS r USING (id) GROUP BY 1"
    for _, before, after, same in wards.execute(query).fetchall():
        assert before == after
        assert same < 20
    first = dict(wards.execute("SELECT id, x FROM r.t").fetchall())
    wards.execute("INSERT INTO t VALUES (900, 3, 3900), (901, 99, 5)")
    assert wards.execute("SELECT x FROM r.t WHERE id >= 900").fetchall() == [(None,), (None,)]
    wards.execute("REFRESH RELEASE r.t")
    then = dict(wards.execute("SELECT id, x FROM r.t").fetchall())
    assert {id_: x for id_, x in then.items() if id_ < 900} == first
    assert then[900] // 1000 == 3  # of its ward
    assert then[901] in first.values()  # of a ward that is new: of any


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("shuffle(within => 'wart')", "there is no column 'wart' in the source"),
        ("shuffle(within => 3)", "'within' must be a text"),
        ("translation() THEN shuffle(within => 'ward')", "'within' is for the first treatment"),
        ("shuffle(within => 'id')", "700 rows of 'x' are alone in 'id'"),
        ("rank_swap(percent => 1, within => 'ward')", "nothing would be exchanged"),
    ],
)
def test_groups_that_make_no_sense_are_refused(wards: Owner, word: str, said: str) -> None:
    with pytest.raises(ppdm_sql.PpdmError, match=said):
        release(wards, word)


def test_null_is_a_group_too(wards: Owner) -> None:
    wards.execute("UPDATE t SET ward = NULL WHERE ward = 2")
    release(wards, "shuffle(within => 'ward')")
    (low, high) = wards.execute(
        "SELECT min(r.x), max(r.x) FROM t JOIN r.t AS r USING (id) WHERE ward IS NULL"
    ).fetchone() or (0, 0)
    assert 2000 <= low <= high < 3000
