"""Undo mean_noise without knowledge: the release keeps the mean, which is all there is to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.digit_shift import decimals_of, has_few_decimals
from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, recovered, tolerance
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.attacks.tools.two_sides import keeps_mean_alone
from ppdm_sql.audit.attacks.tools.units import safe_unit

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import BoolArray, FloatArray

_MOST_OFF = 200
"""So many rows more or less than are seen may be above the mean: few are so near to it."""
_MOST_TRIED = 1_000


@dataclass(frozen=True, slots=True)
class MeanKept:
    """The a rows from the mean m on lost 2m/a, the b below gained 2m/b: give them back."""

    name: ClassVar[str] = "mean_kept"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns with mean_noise alone."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or not column.is_numeric:
            return False
        return keeps_mean_alone(column.traits) and len(column.pair()[1]) > 1

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Guess how many rows are on each side, from all rows: the mean is theirs."""
        column = target.columns[0]
        x, y = column.pair()
        everybody = whole(column, scene).pair()[1]
        unit = safe_unit(everybody)
        places = decimals_of(x) if unit == 1 and has_few_decimals(x).all() else None
        guess = unit * given_back(y / unit, everybody / unit, places)
        near = tolerance(x)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            recovered(x, guess, near),
            chance_number(x, near),
            f"the mean, which is kept, gives {SHARE} of the values",
            len(x),
        )


def given_back(y: FloatArray, everybody: FloatArray, places: int | None) -> FloatArray:
    """Return guesses for released numbers, by the mean of everybody's.

    Originals with few decimals say which rows are on which side, and how many: only the right
    amounts give numbers with as few.
    """
    middle, rows = float(everybody.mean()), len(everybody)
    seen = int((everybody >= middle).sum())
    if not 0 < seen < rows:
        return y
    if places is None:
        return _undone(y, _amounts(middle, seen, rows), y >= middle)
    tried = everybody[:: rows // _MOST_TRIED + 1]
    near = range(max(1, seen - _MOST_OFF), min(rows, seen + _MOST_OFF + 1))
    fitting = (
        count
        for count in sorted(near, key=lambda count: abs(count - seen))
        if np.logical_or(*_sides(tried, middle, _amounts(middle, count, rows), places)).all()
    )
    amounts = _amounts(middle, next(fitting, seen), rows)
    above, below = _sides(y, middle, amounts, places)
    return _undone(y, amounts, np.where(above != below, above, y >= middle))


def _amounts(middle: float, above: int, rows: int) -> tuple[float, float]:
    return 2 * middle / above, 2 * middle / (rows - above)


def _undone(y: FloatArray, amounts: tuple[float, float], is_above: BoolArray) -> FloatArray:
    return np.where(is_above, y + amounts[0], y - amounts[1])


def _sides(
    y: FloatArray, middle: float, amounts: tuple[float, float], places: int
) -> tuple[BoolArray, BoolArray]:
    """Tell which numbers can come from above the mean, and which from below it."""
    above, below = y + amounts[0], y - amounts[1]
    from_above: BoolArray = _is_written(above, places) & (above >= middle)
    from_below: BoolArray = _is_written(below, places) & (below <= middle)
    return from_above, from_below


def _is_written(values: FloatArray, places: int) -> BoolArray:
    scaled = values * 10.0**places
    written: BoolArray = np.abs(scaled - np.rint(scaled)) <= 1e-5
    return written
