"""An order that nobody can foresee: one number a row from the system's generator.

DuckDB's `random()` follows a seed that the owner may have set, and `hash(x, key)` of its numbers
keeps most of their order whatever the key.
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa


def shuffle(row: pa.Array) -> pa.Array:
    """`ppdm_shuffle(row)`: 64 random bits a row, whatever its value."""
    return pa.array(np.frombuffer(os.urandom(8 * len(row)), dtype=np.uint64))
