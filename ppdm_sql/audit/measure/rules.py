"""Association rules of two columns on original and released categories, and their overlap."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ppdm_sql.audit.measure.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import IntArray

SUPPORT, CONFIDENCE = 0.05, 0.5
_MOST_CATEGORIES = 1_000
Rule: TypeAlias = tuple[int, int, int, int]
"""If column a has value v, column b has value w: (a, v, b, w)."""


def find_rules(columns: Sequence[IntArray], support: float, confidence: float) -> set[Rule]:
    """Return the rules that hold often enough; rows with -1 take no part in a pair."""
    rules: set[Rule] = set()
    for a, b in permutations(range(len(columns)), 2):
        left, right = columns[a], columns[b]
        both = (left >= 0) & (right >= 0)
        rows = len(left)
        if not both.any():
            continue
        span = int(right.max()) + 1
        pairs, times = np.unique(left[both] * span + right[both], return_counts=True)
        whole = np.bincount(left[both])
        holds = (times >= support * rows) & (times >= confidence * whole[pairs // span])
        rules |= {
            (a, int(pair) // span, b, int(pair) % span)
            for pair in pairs[holds]  # rules, not rows: at most 1 / support for each value
        }
    return rules


def translated(original: IntArray, released: IntArray) -> IntArray:
    """Return released categories as the original each mostly stands for; the owner can do that."""
    both = (original >= 0) & (released >= 0)
    result = np.full(len(released), -1, dtype=np.int64)
    if not both.any():
        return result
    span = int(original.max()) + 1
    pairs, times = np.unique(released[both] * span + original[both], return_counts=True)
    # The most frequent original comes last among the pairs of its alias.
    order = np.lexsort((times, pairs // span))
    meaning = np.full(int(released.max()) + 1, -1, dtype=np.int64)
    meaning[pairs[order] // span] = pairs[order] % span
    result[both] = meaning[released[both]]
    return result


def rules_figures(columns: Sequence[Column]) -> list[Figure]:
    """Return the share of rules that both sides find."""
    chosen = [column for column in columns if _is_category(column)]
    if len(chosen) < 2:
        return []
    before, after = [], []
    for column in chosen:
        original, released = column.original.labels, column.released.labels
        assert original is not None
        assert released is not None
        before.append(original)
        after.append(translated(original, released))
    first = find_rules(before, SUPPORT, CONFIDENCE)
    second = find_rules(after, SUPPORT, CONFIDENCE)
    if not first | second:
        return []
    overlap = len(first & second) / len(first | second)
    about = ", ".join(column.name for column in chosen)
    text = (
        f"share of association rules found on both sides, aliases translated: {len(first):,} on the"
        f" original, {len(second):,} on the release, support {SUPPORT:g}, confidence {CONFIDENCE:g}"
    )
    return [Figure("utility", "rules", about, overlap, text)]


def _is_category(column: Column) -> bool:
    original, released = column.original.labels, column.released.labels
    if column.is_numeric or original is None or released is None:
        return False
    return len(np.unique(original)) <= _MOST_CATEGORIES
