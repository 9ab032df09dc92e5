"""Turn columns back by their grid: whole numbers that were turned still lie on straight lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, recovered, tolerance
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.measure.shape import matrices, varied

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray

_LEAST_ROWS = 50
_NEIGHBOURS = 200
"""Rows that each is compared with, in the order of the first column."""
_FEWEST = 5
"""Shortest steps that must point the same way."""
_OFTEN = 0.02
_NEAR, _SAME = 1e-7, 1e-4
"""Lengths and angles that rounding keeps apart."""
_QUARTER = np.pi / 2


@dataclass(frozen=True, slots=True)
class Grid:
    """Take the direction of the shortest steps for that of a column."""

    name: ClassVar[str] = "grid"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Pairs of numbers that were turned."""
        if target.scope is not AimKind.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        are_turned = all(
            any(one.is_affine and one.mixes_columns for one in c.traits) for c in target.columns
        )
        if len(target.columns) % 2 or not are_turned:
            return False
        x, y = matrices(target.columns)
        return len(x) >= _LEAST_ROWS and bool(varied(x).all() and varied(y).all())

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Turn pairs of columns back; tell the worst column."""
        x, y = matrices([whole(column, scene) for column in target.columns])
        shares, chances = [], []
        for first in range(0, x.shape[1], 2):
            guess = turned_back(x[:, first : first + 2], y[:, first : first + 2])
            for at in range(2):
                column = x[:, first + at]
                near = tolerance(column)
                chances.append(chance_number(column, near))
                shares.append(0.0 if guess is None else recovered(column, guess[:, at], near))
        worst = int(np.argmax(np.array(shares) - np.array(chances)))
        name = target.columns[worst].name
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            shares[worst],
            chances[worst],
            f"the steps between rows show the angle, and with it {SHARE} of the values of {name}, but"
            " for a quarter turn",
            len(x),
            (name,),
        )


def turned_back(x: FloatArray, y: FloatArray) -> FloatArray | None:
    """Return a pair of columns turned back; None where no grid is seen.

    The finding says that it leaves the quarter open: the best is taken.
    """
    angle = angle_of(y)
    if angle is None:
        return None
    guesses = [_turned(y, -angle + quarter * _QUARTER) for quarter in range(4)]
    return min(guesses, key=lambda guess: float(np.median(np.abs(guess - x).sum(axis=1))))


def angle_of(rows: FloatArray) -> float | None:
    """Return by what angle a grid of points is turned, up to a quarter; None if there is none."""
    points = np.unique(rows, axis=0)
    steps = np.concatenate(
        [points[by:] - points[:-by] for by in range(1, min(_NEIGHBOURS, len(points)))]
        or [np.empty((0, 2))]
    )
    lengths = np.hypot(*steps.T)
    apart = lengths > _NEAR * np.abs(points).max(initial=0)
    steps, lengths = steps[apart], lengths[apart]
    # The shortest length that many steps have: rows with noise have lengths of their own.
    rounded = np.round(lengths / _NEAR / max(float(lengths.max(initial=0)), 1e-300))
    found, counts = np.unique(rounded, return_counts=True)
    often = found[counts >= max(_FEWEST, _OFTEN * len(points))]
    if not len(often):
        return None
    shortest = steps[rounded == often[0]]
    angles = np.arctan2(shortest[:, 1], shortest[:, 0]) % _QUARTER
    # Around 0 and a quarter turn, angles are the same.
    angles = np.where(angles > _QUARTER - _SAME, angles - _QUARTER, angles)
    angle = float(np.median(angles))
    is_grid = (np.abs(angles - angle) <= _SAME).mean() > 0.5
    return angle if is_grid else None


def _turned(rows: FloatArray, angle: float) -> FloatArray:
    cosine, sine = np.cos(angle), np.sin(angle)
    turned: FloatArray = rows @ np.array([[cosine, sine], [-sine, cosine]])
    return turned
