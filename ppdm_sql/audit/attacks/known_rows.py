"""Some rows of a group of columns are known: how many of the others come back?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.attacks.known_people import few
from ppdm_sql.audit.attacks.row_models import guess_rows
from ppdm_sql.audit.attacks.scoring import chance_number, hits, tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.known_people import Known
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import BoolArray, FloatArray


def shown_rows(columns: Sequence[Column]) -> BoolArray:
    """Tell which rows show something of what they were."""
    shown = [c.original.known() & c.released.known() for c in columns]
    return np.asarray(np.any(shown, axis=0), np.bool_)


def whole_rows(columns: Sequence[Column]) -> BoolArray:
    """Tell, of the rows that show something, which show all."""
    shown = shown_rows(columns)
    whole = [(c.original.known() & c.released.known())[shown] for c in columns]
    return np.asarray(np.all(whole, axis=0), np.bool_)


def recovered_rows(columns: Sequence[Column], drawn: Known) -> tuple[float, float]:
    """Return the share of rows that come back in all columns they show, and that of guessing."""
    x, y = _shown(columns)
    is_there = ~np.isnan(x)
    near = [tolerance(x[is_there[:, i], i]) for i in range(len(columns))]
    shares = []
    for known, others in drawn:
        some = few(known)
        guess = guess_rows(x[some], y[some], y, columns[0].traits)
        right = [hits(x[:, i], guess[:, i], near[i]) for i in range(len(columns))]
        whole = np.asarray((np.stack(right, axis=1) | ~is_there).all(axis=1), np.bool_)
        shares.append(float(whole[others].mean()))
    chances = [chance_number(x[is_there[:, i], i], near[i]) for i in range(len(columns))]
    chance = np.where(is_there, chances, 1.0).min(axis=1)
    return float(np.mean(shares)), float(chance.mean())


def _shown(columns: Sequence[Column]) -> tuple[FloatArray, FloatArray]:
    """Return numbers before and after, NaN where one of them is, without rows that have none."""
    before = np.stack([_numbers(column.original.numbers) for column in columns], axis=1)
    after = np.stack([_numbers(column.released.numbers) for column in columns], axis=1)
    is_there = ~np.isnan(before + after)
    shown = shown_rows(columns)
    is_there = is_there[shown]
    return (
        np.where(is_there, before[shown], np.nan),
        np.where(is_there, after[shown], np.nan),
    )


def _numbers(values: FloatArray | None) -> FloatArray:
    assert values is not None
    return values
