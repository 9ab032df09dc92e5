"""fake(): made-up words, equal where values are, different where they are not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.treatments import fake
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, word: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS {word})")


@pytest.mark.parametrize(
    ("what", "form"),
    [
        ("name", r"\S+ \S+ .+-.+"),
        ("company", r".+ & .+, .+"),
        ("address", r".+ \d{1,3}, .+"),
    ],
)
def test_equal_values_get_equal_words_and_others_get_others(
    shared: Owner, what: str, form: str
) -> None:
    values = [f"Ada {at % 900}" for at in range(1000)]
    fill(shared, [*values, None], "VARCHAR")
    release(shared, f"fake('{what}', locale => 'de')")
    *found, missing = released(shared)
    assert missing is None
    assert len(set(found)) == 900
    assert found[:100] == found[900:]
    (fits,) = shared.execute(
        f"SELECT bool_and(regexp_full_match(x, '{form}')) FROM r.t"
    ).fetchone() or (False,)
    assert fits


def test_a_person_has_one_name_in_all_tables_and_other_secrets_give_others(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id FROM range(50) t(i); CREATE TABLE v AS SELECT i AS v, i % 50 AS p FROM range(90) t(i);"
        "CREATE RELEASE r.p FROM p (id KEY OF person AS fake('name'));"
        "CREATE RELEASE r.v FROM v (v KEY, p NEUTRAL OF person AS fake('name'))"
    )
    (row,) = owner.execute("SELECT count(*) FROM r.p JOIN r.v ON p.id = v.p").fetchall()
    assert row == (90,)
    with ppdm_sql.connect(":memory:") as other:
        other.execute(
            "CREATE TABLE p AS SELECT i AS id FROM range(50) t(i);"
            "CREATE RELEASE r.p FROM p (id KEY OF person AS fake('name'))"
        )
        names = [set(one.execute("SELECT id FROM r.p").fetchall()) for one in (owner, other)]
    assert not names[0] & names[1]


def test_what_was_released_stays_whatever_words_there_are_later(
    shared: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shared, ["a", "b"], "VARCHAR")
    release(shared, "fake('name')")
    first = released(shared)
    monkeypatch.setattr(fake, "_words", lambda _: {"first": ["X"], "last": ["Y"]})
    add(shared, ["c"], "VARCHAR")
    shared.execute("REFRESH RELEASE r.t")
    assert released(shared)[:2] == first
    assert "X" not in released(shared)[2]


def test_each_recipient_gets_other_names(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE p AS SELECT i AS id FROM range(50) t(i)")
    owner.execute("CREATE RELEASE r.p FROM p (id KEY AS fake('name'))")
    names: list[set[str]] = []
    for who in ("a", "b", "a"):
        file = tmp_path / f"{len(names)}.duckdb"
        owner.execute(
            f"PUBLISH RELEASE r.p TO '{file}' WITH (linkable = 'recipient', recipient = '{who}')"
        )
        owner.execute(f"ATTACH '{file}' AS s{len(names)} (READ_ONLY)")
        names.append(
            {row[0] for row in owner.execute(f"SELECT id FROM s{len(names)}.r.p").fetchall()}
        )
    assert not names[0] & names[1]
    assert names[0] == names[2]


def test_names_that_two_share_are_refused(shared: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        fake,
        "_words",
        lambda _: {"first": ["Ada", "Bo"], "last": ["Mann"], "city": [], "street": []},
    )
    fill(shared, [str(at) for at in range(9)], "VARCHAR")
    with pytest.raises(TreatmentError, match="would share a name with another"):
        release(shared, "fake('name')")


def test_interpret_finds_the_original_again(shared: Owner) -> None:
    fill(shared, ["a", "b"], "VARCHAR")
    release(shared, "fake('name')")
    name = released(shared)[1]
    assert shared.interpret("r.t", f"x = '{name}'").original == "x = 'b'"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("fake()", "fake: say of what"),
        ("fake('dog')", "'what' must be one of 'name', 'company', 'address'"),
        ("fake('name', locale => 'xx')", "there are no words for 'xx'"),
    ],
)
def test_what_there_are_no_words_for_is_refused(shared: Owner, word: str, said: str) -> None:
    fill(shared, ["a"], "VARCHAR")
    with pytest.raises(TreatmentError, match=said.replace("(", r"\(")):
        release(shared, word)


def test_without_the_extra_it_says_what_to_install(
    shared: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shared, ["a"], "VARCHAR")
    monkeypatch.setitem(sys.modules, "mimesis", None)
    with pytest.raises(TreatmentError, match="needs the package mimesis") as refused:
        release(shared, "fake('name')")
    assert refused.value.hint == "pip install 'ppdm-sql[fake]'"
