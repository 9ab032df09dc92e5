"""Some rows of a group of columns are known: how many of the others come back?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.attacks.row_models import guess_rows
from ppdm_sql.audit.attacks.scoring import chance_number, hits, tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.anonymity import FloatArray
    from ppdm_sql.audit.subject import Column

DRAWS = 10
"""Who is known is drawn this often; the share is the mean."""


def rows_shown(columns: Sequence[Column]) -> int:
    """Return how many rows show something of what they were."""
    return len(_shown(columns)[0])


def recovered_rows(
    columns: Sequence[Column], persons: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the share of rows that come back in all columns they show, and that of guessing."""
    x, y = _shown(columns)
    is_there = ~np.isnan(x)
    near = [tolerance(x[is_there[:, i], i]) for i in range(len(columns))]
    complete = np.flatnonzero(is_there.all(axis=1))
    # Whoever knows persons knows them whole, as long as there are such.
    eligible = complete if len(complete) > persons else np.arange(len(x))
    shares = []
    for _ in range(DRAWS):
        known = generator.choice(eligible, persons, replace=False)
        guess = guess_rows(x[known], y[known], y, columns[0].treatments)
        right = [hits(x[:, i], guess[:, i], near[i]) for i in range(len(columns))]
        whole = (np.stack(right, axis=1) | ~is_there).all(axis=1)
        shares.append(float(np.delete(whole, known).mean()))
    chances = [chance_number(x[is_there[:, i], i], near[i]) for i in range(len(columns))]
    chance = np.where(is_there, chances, 1.0).min(axis=1)
    return float(np.mean(shares)), float(chance.mean())


def _shown(columns: Sequence[Column]) -> tuple[FloatArray, FloatArray]:
    """Return numbers before and after, NaN where one of them is, without rows that have none."""
    before = np.stack([_numbers(column.original.numbers) for column in columns], axis=1)
    after = np.stack([_numbers(column.released.numbers) for column in columns], axis=1)
    is_there = ~np.isnan(before + after)
    shown = is_there.any(axis=1)
    is_there = is_there[shown]
    return (
        np.where(is_there, before[shown], np.nan),
        np.where(is_there, after[shown], np.nan),
    )


def _numbers(values: FloatArray | None) -> FloatArray:
    assert values is not None
    return values
