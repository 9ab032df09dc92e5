"""Keys: derived as RFC 5869 says, apart by purpose and column, never shown."""

from __future__ import annotations

import hashlib
import hmac
import itertools

import pytest

from ppdm_sql.store.keys import ROOT_KEY_BYTES, RootKey, new_root_key

SECRET = bytes(range(32))


def hkdf_sha256(secret: bytes, info: bytes) -> bytes:
    """RFC 5869 with an empty salt, for one block of output."""
    extracted = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def test_a_key_is_what_the_standard_says() -> None:
    expected = hkdf_sha256(SECRET, b'ppdm-sql/1\0pseudonym\0table:"a"."b"."c"')
    assert RootKey(SECRET).derive("pseudonym", 'table:"a"."b"."c"') == expected


def test_a_key_never_changes() -> None:
    """Pseudonyms of published releases hang on this value."""
    key = RootKey(SECRET).derive("pseudonym", "column")
    assert key.hex() == "4ae9ed4be420a9a8ba1e2c5fc2528d3c8b692b54ea96bc598d48143f66ad8c83"


def test_purpose_column_and_root_each_make_another_key() -> None:
    keys = {
        RootKey(secret).derive(purpose, column)
        for secret, purpose, column in itertools.product(
            (SECRET, SECRET[::-1]), ("pseudonym", "noise"), ("a", "b", "A", "é", "")
        )
    }
    assert len(keys) == 20
    assert {len(key) for key in keys} == {32}


def test_a_name_that_is_not_ascii_has_a_key() -> None:
    assert RootKey(SECRET).derive("pseudonym", "größe ☃") != RootKey(SECRET).derive(
        "pseudonym", "große ☃"
    )


def test_root_keys_are_random_and_long() -> None:
    keys = {new_root_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {ROOT_KEY_BYTES} == {32}


@pytest.mark.parametrize("shown", [repr, str, "{}".format, "{!r}".format, lambda key: f"{[key]}"])
def test_a_root_key_is_not_shown(shown: object) -> None:
    assert callable(shown)
    text = shown(RootKey(b"canary-canary-canary-canary-cana"))
    assert "canary" not in text
    assert b"canary".hex() not in text
    assert "RootKey(" in text


def test_a_root_key_cannot_be_changed() -> None:
    key = RootKey(SECRET)
    with pytest.raises(AttributeError):
        key.secret = b""  # type: ignore[misc]  # what the test is about
