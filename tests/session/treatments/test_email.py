"""email(): what many share is shown, what names one person is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, word: str) -> None:
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS {word})")


def test_a_domain_is_shown_where_enough_addresses_share_it(owner: Owner) -> None:
    common = [f"p{at}@mail.org" for at in range(3)]
    fill(
        owner, [*common, " P0@Mail.ORG", "me@own.org", "me@own.org", "no address", None], "VARCHAR"
    )
    release(owner, "email(at_least => 3)")
    found = released(owner)
    names, domains = zip(*(text.split("@") for text in found[:-1]), strict=True)
    assert domains == ("mail.org",) * 4 + ("*",) * 3
    assert names[0] == names[3]  # other letters, one person
    assert names[4] == names[5]  # two rows, one address: not two that share a domain
    assert len(set(names)) == 5
    assert found[-1] is None
    assert not any(word in text for text in found[:-1] for word in ("own", "p0", "me", "no"))


def test_a_domain_that_more_have_later_stays_hidden(owner: Owner) -> None:
    """What was released does not change."""
    fill(owner, ["a@x.org", "b@x.org", "c@y.org"], "VARCHAR")
    release(owner, "email(at_least => 2)")
    first = released(owner)
    add(owner, ["d@y.org", "e@x.org"], "VARCHAR")
    owner.execute("REFRESH RELEASE r.t")
    assert released(owner)[:3] == first
    assert [text.split("@")[1] for text in released(owner)] == ["x.org", "x.org", "*", "*", "x.org"]


def test_the_name_is_the_pseudonym_of_the_address(owner: Owner) -> None:
    """Another table that has the address as pseudonym() can be joined: PUBLISH knows."""
    fill(owner, ["a@x.org"], "VARCHAR")
    release(owner, "email()")
    (address,) = released(owner)
    release(owner, "pseudonym()")
    assert address == f"{released(owner)[0]}@*"


def test_functions_give_the_same(owner: Owner) -> None:
    fill(owner, [f"p{at}@mail.org" for at in range(30)], "VARCHAR")
    release(owner, "email()")
    native = released(owner)
    owner.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x NEUTRAL AS email())"
        " WITH (execution = 'udf')"
    )
    assert released(owner) == native
