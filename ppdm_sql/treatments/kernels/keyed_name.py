"""Keyed names: SHA-256 over key, tag and text, cut so that it cannot be extended.

SHA-256 works in blocks of 64 bytes and needs 9 of the last one for itself. A key of 32 digits, a
short tag and a text of up to 20 characters, the longest BIGINT, are one block: half the time.
"""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.compute as pc

TAG = ":p:"
KEY_BYTES = 16
"""Written as 32 hexadecimal digits: as many secret bits as the keys of noise have."""
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
