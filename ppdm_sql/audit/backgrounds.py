"""A background table against a release: which of its people could be which released rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.anonymity.cells import numbered
from ppdm_sql.audit.attacks.protocol import Background
from ppdm_sql.audit.subject import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ppdm_sql.anonymity import IntArray


@dataclass(frozen=True, slots=True)
class Shared:
    """A quasi-identifier that release and background both have, as texts."""

    name: str
    original: pa.Array = field(repr=False)
    released: pa.Array = field(repr=False)
    known: pa.Array = field(repr=False)
    """Of the background."""
    is_generalized: bool


def match(
    columns: Sequence[Shared],
    is_generalized_everywhere: bool,
    persons: tuple[pa.Array, pa.Array] | None,
) -> Background | None:
    """Return what can be compared; None where nothing can.

    A generalized column is compared through what each original is released as, which whoever
    knows the hierarchy can tell. Where that differs from row to row (regions, or a high class
    alone), only rows that show the original itself can be compared.
    """
    if not columns:
        return None
    released, known, unknown = [], [], np.zeros(len(columns[0].known), dtype=np.bool_)
    for column in columns:
        original, shown, outside = labels_of(column.original, column.released, column.known)
        if column.is_generalized and is_generalized_everywhere:
            meaning = _meaning(original, shown)
            if meaning is not None:
                seen = (outside >= 0) & (outside < len(meaning))
                outside = np.where(seen, meaning[np.where(seen, outside, 0)], -2)
        unknown |= outside == -2
        released.append(shown + 2)
        known.append(outside + 2)
    parts = [np.concatenate(pair) for pair in zip(released, known, strict=True)]
    # The same numbers on both sides.
    whole = np.unique(numbered(parts, len(parts[0])), return_inverse=True)[1]
    rows = len(released[0])
    whole_known = np.where(unknown, -1, whole[rows:])
    names = tuple(column.name for column in columns)
    if persons is None:
        return Background(names, whole[:rows], whole_known)
    return Background(names, whole[:rows], whole_known, *labels_of(*persons))


def _meaning(original: IntArray, shown: IntArray) -> IntArray | None:
    """Return what each original is released as; None where one is released in several ways."""
    there = original >= 0
    size = int(original.max(initial=-1)) + 1
    meaning = np.full(size, -2, dtype=np.int64)
    meaning[original[there]] = shown[there]
    if not (meaning[original[there]] == shown[there]).all():
        return None
    return meaning
