"""encrypt() through releases: the form stays, the owner gets values back, nobody else does."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from tests.cases import cases
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, arguments: str = "", name: str = "t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.{name} FROM t (id KEY AS keep(), x NEUTRAL AS"
        f" encrypt({arguments}))"
    )


@settings(max_examples=cases(40))
@given(
    st.lists(st.one_of(st.none(), st.from_regex(r"[-. ]?(\d[-./ ]?){8,20}", fullmatch=True))),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_form_and_ends_stay_and_values_come_back(
    shared: Owner, values: list[str | None], left: int, right: int
) -> None:
    values = [one for one in values if one is None or one.isascii()]
    fill(shared, values, "VARCHAR")
    release(shared, f"keep_prefix => {left}, keep_suffix => {right}")
    found = released(shared)
    for before, after in zip(values, found, strict=True):
        if before is None:
            assert after is None
            continue
        assert [c for c in after if not c.isdigit()] == [c for c in before if not c.isdigit()]
        old, new = ("".join(filter(str.isdigit, text)) for text in (before, after))
        assert len(old) == len(new)
        assert old[:left] == new[:left]
        assert old[len(old) - right :] == new[len(new) - right :]
    assert len(set(found)) == len(set(values))
    if found:
        results = pa.table({"x": pa.array(found, pa.string())})
        assert shared.interpret_table("r.t", results).table["x"].to_pylist() == values


def test_equal_values_are_encrypted_alike_and_others_are_not(shared: Owner) -> None:
    """A million is the fewest values; near ones do not stay near."""
    fill(shared, ["000001", "000002", "000001"], "VARCHAR")
    release(shared)
    first, second, again = released(shared)
    assert first == again != second
    release(shared, "keep_prefix => 0", "other")
    assert released(shared, "r.other") == [first, second, again]


def test_what_is_kept_changes_the_rest(shared: Owner) -> None:
    """Two accounts of two banks whose numbers are equal must not be seen to be."""
    fill(shared, ["10-123456", "20-123456"], "VARCHAR")
    release(shared, "keep_prefix => 2")
    first, second = released(shared)
    assert first[:3] == "10-"
    assert second[:3] == "20-"
    assert first[3:] != second[3:]


@pytest.mark.parametrize(
    "value", ["12345", "", "1234567x", "123456٣", "12345\x006", "1" * 33, "ÄÖÜ123456"]
)
def test_a_value_that_does_not_fit_is_refused_and_later_null(owner: Owner, value: str) -> None:
    fill(owner, ["123456"], "VARCHAR")
    release(owner)
    add(owner, [value], "VARCHAR")
    assert released(owner)[1] is None
    with pytest.raises(TreatmentError, match="1 value of 'x' does not fit") as caught:
        owner.execute("REFRESH RELEASE r.t")
    assert "6 to 32 letters or digits of the alphabet" in str(caught.value)
    assert value not in str(caught.value) or not value


def test_letters_of_another_alphabet(shared: Owner) -> None:
    letters = string.digits + string.ascii_uppercase
    fill(shared, ["AB12", "ZZZZ"], "VARCHAR")
    release(shared, f"'{letters}'")
    assert all(len(text) == 4 and set(text) <= set(letters) for text in released(shared))


@pytest.mark.parametrize("written", ["'1'", "'112'", "'äb'", "''", "'a-b'", "5"])
def test_an_alphabet_has_different_letters(shared: Owner, written: str) -> None:
    fill(shared, ["123456"], "VARCHAR")
    with pytest.raises(TreatmentError, match="alphabet"):
        release(shared, f"alphabet => {written}")


def test_numbers_are_texts(shared: Owner) -> None:
    fill(shared, [123456], "INTEGER")
    with pytest.raises(TreatmentError, match="leading zeros are digits"):
        release(shared)


def test_a_condition_is_translated(owner: Owner) -> None:
    fill(owner, ["123456", "999999"], "VARCHAR")
    release(owner)
    shown = released(owner)[0]
    assert "'123456'" in str(owner.interpret("r.t", f"x = '{shown}'"))


def test_another_recipient_gets_other_numbers(owner: Owner, tmp_path: Path) -> None:
    """As with pseudonyms: two recipients who put their files together find nothing in common.

    Theirs are read with the publication they are from; without it they stay, and are not misread.
    """
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (1234567 + i)::VARCHAR AS x FROM range(50) s(i)"
    )
    owner.execute("CREATE RELEASE r.t FROM t (id KEY, x NEUTRAL AS encrypt())")
    files: list[set[tuple[str]]] = []
    for who in ("uni-a", "uni-b", "uni-a"):
        path = tmp_path / f"{who}{len(files)}.duckdb"
        owner.publish("r.t", to=path, recipient=who, linkable="recipient")
        with ppdm_sql.open_release(path) as file:
            files.append(set(file.sql("SELECT x FROM r.t").fetchall()))
    assert files[0] == files[2]
    assert not files[0] & files[1]
    ((number,), *_) = files[1]
    (name,) = {
        str(one.publication.name)
        for one in owner.publications()
        if one.publication.recipient == "uni-b"
    }
    assert "t.x = '" in str(owner.interpret("r.t", f"x = '{number}'"))
    found = str(owner.interpret("r.t", f"x = '{number}'", publication=name))
    assert owner.sql(f"SELECT count(*) FROM t WHERE {found}").fetchall() == [(1,)]
