"""Keyed names: SHA-256 over key, tag and text, value by value against hashlib."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.treatments.kernels.keyed_name import LONGEST, TAG, pseudonym
from tests.cases import cases

KEY = "00" * 32
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def names(values: list[str | None], key: str | None = KEY) -> list[str | None]:
    keys = pa.array([key] * len(values), pa.string())
    found: list[str | None] = pseudonym(keys, pa.array(values, pa.string())).to_pylist()
    return found


def expected(text: str, key: str = KEY) -> str:
    return hashlib.sha256(f"{key}:p:{text}".encode()).hexdigest()[:40]


@given(st.lists(texts | st.none(), max_size=20))
@settings(max_examples=cases(100))
def test_a_name_is_the_beginning_of_a_digest(values: list[str | None]) -> None:
    assert names(values) == [None if value is None else expected(value) for value in values]


def test_the_tag_and_the_length() -> None:
    assert TAG == ":p:"
    assert LONGEST == 40 < 64, "a whole digest could be extended"
    assert names(["x"]) == [expected("x")]


def test_equal_values_have_equal_names_and_others_have_others() -> None:
    found = names(["b", "a", None, "b", "", "A", "a "])
    assert found[0] == found[3]
    assert found[2] is None
    assert len(set(found)) == 6


def test_another_key_gives_other_names() -> None:
    assert names(["x"], "11" * 32) == [expected("x", "11" * 32)] != names(["x"])


def test_no_key_gives_no_name() -> None:
    assert names(["x"], None) == [None]


def test_keys_may_differ_from_row_to_row() -> None:
    keys = pa.array(["k", "l", None, "k"])
    found = pseudonym(keys, pa.array(["x", "x", "x", None])).to_pylist()
    assert found == [expected("x", "k"), expected("x", "l"), None, None]


def test_nothing_gives_nothing() -> None:
    found = pseudonym(pa.array([], pa.string()), pa.array([], pa.string()))
    assert found.to_pylist() == []
    assert found.type == pa.string()


@pytest.mark.parametrize("text", ["é", "e\u0301", "日本", "\U0001f600", "a\0b"])
def test_a_text_is_its_utf8_bytes(text: str) -> None:
    digest = hashlib.sha256(KEY.encode() + b":p:" + text.encode("utf-8")).hexdigest()
    assert names([text]) == [digest[:40]]
