"""Keyed names: SHA-256 over key, tag and text, cut so that it cannot be extended."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.compute as pc

TAG = ":pseudonym:"
LONGEST = 40
"""Hexadecimal digits of the longest name: fewer than the 64 of a whole digest."""


def pseudonym(key: pa.Array, value: pa.Array) -> pa.Array:
    """`ppdm_pseudonym(key, value)`: 40 hexadecimal digits; shorter ones are their beginnings."""
    texts = pc.binary_join_element_wise(key, value, TAG).dictionary_encode()
    # SHA-256 has no bulk form in Python: one call a distinct value.
    names = [
        None if text is None else hashlib.sha256(text.encode()).hexdigest()[:LONGEST]
        for text in texts.dictionary.to_pylist()
    ]
    return pa.array(names, pa.string()).take(texts.indices)
