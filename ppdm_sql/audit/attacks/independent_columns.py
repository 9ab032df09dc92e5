"""Unmix columns by what mixing takes away: sums of independent columns are nearer to the normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, halves, recovered, tolerance
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.attacks.tools.units import safe_unit
from ppdm_sql.audit.measure.shape import matrices, varied

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray

_MOST_COLUMNS, _LEAST_ROWS = 16, 50
_ROUNDS, _DONE = 200, 1e-9
_ROUNDING = float(np.finfo(np.float64).eps)
_QUANTILES = np.linspace(0.02, 0.98, 49)


@dataclass(frozen=True, slots=True)
class IndependentColumns:
    """FastICA (Hyvärinen, 1999): as many directions as columns, each as far from normal as can be.

    It needs nothing to unmix; which direction is which column, its sign and its unit are told by
    how the columns are distributed elsewhere, one by one.
    """

    name: ClassVar[str] = "ica"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "how each original column is distributed, from a public source"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Groups of numbers that were mixed: turned, moved, scaled."""
        if target.scope is not AimKind.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        are_mixed = all(t.is_affine for c in target.columns for t in c.traits)
        if not are_mixed or len(target.columns) > _MOST_COLUMNS:
            return False
        x, y = matrices(target.columns)
        return len(x) >= _LEAST_ROWS and bool(varied(x).all() and varied(y).all())

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Unmix all rows, and look columns up in one half of them; tell the worst column."""
        x, y = matrices([whole(column, scene) for column in target.columns])
        unit = safe_unit(x, y)
        x, y = x / unit, y / unit
        generator = scene.generator(self.name + target.label)
        near = [tolerance(column) for column in x.T]
        shares = []
        for public, attacked in halves(len(x), generator):
            parts = unmixed(y, generator)
            guesses = [nearest_part(column[public], parts) for column in x.T]
            shares.append(
                [
                    recovered(column[attacked], guess[attacked], tolerated)
                    for column, guess, tolerated in zip(x.T, guesses, near, strict=True)
                ]
            )
        found = np.mean(shares, axis=0)
        chances = np.array(
            [chance_number(c, tolerated) for c, tolerated in zip(x.T, near, strict=True)]
        )
        worst = int(np.argmax((found - chances) / np.maximum(1 - chances, _ROUNDING)))
        name = target.columns[worst].name
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            float(found[worst]),
            float(chances[worst]),
            f"taken apart into independent columns, the group gives {SHARE} of the values of {name}",
            len(x) - len(x) // 2,
            (name,),
        )


def unmixed(rows: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return directions of rows that are as far from normal as can be, each with variance 1."""
    centered = rows - rows.mean(axis=0)
    # Not by the covariance, whose squares lose a column that is a millionth of another.
    left, lengths, _ = np.linalg.svd(centered, full_matrices=False)
    kept = lengths > max(rows.shape) * _ROUNDING * lengths.max()
    white = left[:, kept] * np.sqrt(len(rows) - 1)
    size = white.shape[1]
    turn = _orthogonal(generator.normal(size=(size, size)))
    for _ in range(_ROUNDS):
        bent = np.tanh(white @ turn)
        step = white.T @ bent / len(white) - turn * (1 - bent**2).mean(axis=0)
        before, turn = turn, _orthogonal(step)
        # A direction that only changed its sign has come to rest.
        if np.abs(np.abs((before * turn).sum(axis=0)) - 1).max() < _DONE:
            break
    parts: FloatArray = white @ turn
    return parts


def _orthogonal(matrix: FloatArray) -> FloatArray:
    left, _, right = np.linalg.svd(matrix)
    nearest: FloatArray = left @ right
    return nearest


def nearest_part(public: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the part, or its mirror image, that is distributed most like a public column.

    In the unit in which the two agree best.
    """
    wanted = np.quantile(public, _QUANTILES)
    best, least = np.full(len(parts), float(wanted.mean())), np.inf
    for part in (*parts.T, *-parts.T):
        found = np.quantile(part, _QUANTILES)
        around = found - found.mean()
        size = float(around @ around)
        if size <= 0:
            continue
        slope = float(around @ (wanted - wanted.mean())) / size
        off = float(np.abs(wanted - wanted.mean() - slope * around).sum())
        if slope > 0 and off < least:
            best, least = wanted.mean() + slope * (part - found.mean()), off
    return best
