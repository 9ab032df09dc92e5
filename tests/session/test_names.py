"""Names compare and are quoted as DuckDB does it: DuckDB itself is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName, fold, quote
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

_usual = settings(max_examples=cases(200))
# A name cannot hold the end of a C string, nor half of a pair of surrogates.
_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        yield connection


def duckdb_takes_for_the_same(duck: duckdb.DuckDBPyConnection, one: str, other: str) -> bool:
    """Whether a table cannot have both columns."""
    try:
        duck.execute(f"CREATE OR REPLACE TEMP TABLE pair ({quote(one)} INT, {quote(other)} INT)")
    except duckdb.CatalogException:
        return True
    return False


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("id", "ID", True),
        ("Id", "iD", True),
        ("a_1", "A_1", True),
        ("id", "id ", False),
        ("é", "É", False),
        ("straße", "STRASSE", False),
        ("straße", "STRAßE", True),
        ("k", "\u212a", False),  # KELVIN SIGN, whose lower case is k
        ("s", "\u017f", False),  # LONG S, whose upper case is S
        ("i", "\u0130", False),  # I WITH DOT ABOVE
        ("I", "\u0131", False),  # DOTLESS I, whose upper case is I
        ("я", "Я", False),
        ("e\u0301", "\u00e9", False),  # the same letter, composed otherwise
    ],
)
def test_only_ascii_letters_are_folded(
    duck: duckdb.DuckDBPyConnection, one: str, other: str, same: bool
) -> None:
    assert duckdb_takes_for_the_same(duck, one, other) is same
    assert (Name(one) == Name(other)) is same
    assert (hash(Name(one)) == hash(Name(other))) is same
    assert (fold(one) == fold(other)) is same


@_usual
@given(text=_TEXTS, case=st.sampled_from(["upper", "lower", "swapcase", "casefold", "title"]))
def test_names_are_the_same_when_duckdb_says_so(
    duck: duckdb.DuckDBPyConnection, text: str, case: str
) -> None:
    other: str = getattr(text, case)()
    assert (Name(text) == Name(other)) is duckdb_takes_for_the_same(duck, text, other)


@_usual
@given(text=_TEXTS)
def test_a_quoted_name_comes_back_from_duckdb(duck: duckdb.DuckDBPyConnection, text: str) -> None:
    duck.execute(f"CREATE OR REPLACE TEMP TABLE quoted ({quote(text)} INT)")
    description = duck.execute("FROM quoted").description
    assert [column[0] for column in description or ()] == [text]


@_usual
@given(_TEXTS)
def test_folding_twice_is_folding_once_and_keeps_the_length(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert len(fold(text)) == len(text)


def test_a_name_keeps_its_letters() -> None:
    assert Name("Ward").text == "Ward"
    assert Name("Ward").folded == "ward"
    assert str(Name("Ward")) == "Ward"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ward", "ward"),
        ("_ward_1", "_ward_1"),
        ("1ward", '"1ward"'),
        ("a b", '"a b"'),
        ("a.b", '"a.b"'),
        ('a"b', '"a""b"'),
        ("Größe", '"Größe"'),
        ("line\n", '"line\n"'),
        ("", '""'),
        ('"; DROP TABLE x', '"""; DROP TABLE x"'),
    ],
)
def test_a_name_is_shown_in_quotes_only_where_it_must(text: str, shown: str) -> None:
    assert str(Name(text)) == shown


def test_a_name_is_not_a_text() -> None:
    assert Name("a") != "a"
    assert len({Name("a"), Name("A"), Name("b")}) == 2


def test_the_parts_of_a_qualified_name() -> None:
    one, two, three = (
        QualifiedName.of("t"),
        QualifiedName.of("s", "t"),
        QualifiedName.of("c", "s", "t"),
    )
    assert [name.name for name in (one, two, three)] == [Name("t")] * 3
    assert [name.schema for name in (one, two, three)] == [None, Name("s"), Name("s")]
    assert [name.catalog for name in (one, two, three)] == [None, None, Name("c")]
    assert str(three) == "c.s.t"
    assert str(QualifiedName.of("my clinic", "people")) == '"my clinic".people'
    assert QualifiedName.of("S", "T") == two
    assert QualifiedName.of("st") != two


def test_the_names_of_the_store_are_what_files_on_disk_hold() -> None:
    assert (STORE_CATALOG.text, OWNER_SCHEMA.text) == ("ppdm_store", "ppdm_owner")
