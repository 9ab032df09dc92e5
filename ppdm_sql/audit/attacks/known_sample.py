"""Turn a rotation back by how the columns vary together (known sample; Liu, Giannella, Kargupta)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, hits, tolerance
from ppdm_sql.audit.attacks.tools.everybody import whole
from ppdm_sql.audit.attacks.tools.units import is_turned_alone, safe_unit
from ppdm_sql.audit.measure.shape import matrices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray

_MOST_COLUMNS = 8
_QUANTILES = np.linspace(0.02, 0.98, 49)


@dataclass(frozen=True, slots=True)
class KnownSample:
    """Half of the sample stands for comparable people whose columns are known together."""

    name: ClassVar[str] = "known_sample"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "the same columns of comparable people, not of those released"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Groups of numbers that were rotated and nothing more."""
        if target.scope is not AimKind.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        are_turned = all(is_turned_alone(c) for c in target.columns)
        size = len(target.columns)
        return are_turned and size <= _MOST_COLUMNS and len(matrices(target.columns)[0]) > 8 * size

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Take the turn after which the release is distributed most like the public half."""
        x, y = matrices([whole(column, scene) for column in target.columns])
        unit = safe_unit(x, y)
        order = scene.generator(self.name + target.label).permutation(len(x))
        public, attacked = x[order[: len(x) // 2]] / unit, order[len(x) // 2 :]
        guess = unit * (y[attacked] / unit @ best_turn(public, y[attacked] / unit))
        truth = x[attacked]
        near = [tolerance(column) for column in x.T]
        right = [hits(truth[:, i], guess[:, i], near[i]) for i in range(x.shape[1])]
        chances = [chance_number(truth[:, i], near[i]) for i in range(x.shape[1])]
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            float(np.all(right, axis=0).mean()),
            min(chances),
            f"the turn that makes the columns vary as they do elsewhere gives {SHARE} of the rows",
            len(attacked),
        )


def best_turn(public: FloatArray, released: FloatArray) -> FloatArray:
    """Return the turn that takes released rows nearest to how public ones are distributed."""
    wanted = np.quantile(public, _QUANTILES, axis=0)

    def off(turn: FloatArray) -> float:
        found = np.quantile(released @ turn, _QUANTILES, axis=0)
        return float((np.abs(found - wanted) / np.maximum(public.std(axis=0), 1e-300)).sum())

    return min(_turns(public, released), key=off)


def _turns(public: FloatArray, released: FloatArray) -> Iterator[FloatArray]:
    """Yield turns that take axes of the one to axes of the other, and then mean to mean.

    Means are known better than axes: a turn is right where both agree, and finer with them.
    """
    home = np.linalg.eigh(np.atleast_2d(np.cov(public, rowvar=False)))[1]
    away = np.linalg.eigh(np.atleast_2d(np.cov(released, rowvar=False)))[1]
    middle, wanted = released.mean(axis=0), public.mean(axis=0)
    for signs in product((1.0, -1.0), repeat=public.shape[1]):  # an axis has no direction
        turn: FloatArray = (away * signs) @ home.T
        yield turn
        yield turn @ _shortest(middle @ turn, wanted)


def _shortest(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the smallest turn of one direction into another; none where there is no such."""
    lengths = float(np.linalg.norm(start)), float(np.linalg.norm(end))
    none = np.eye(len(start))
    if not all(lengths):
        return none
    u, v = start / lengths[0], end / lengths[1]
    cosine = float(u @ v)
    if cosine < -0.99:
        return none
    across = np.outer(u, v) - np.outer(v, u)
    return none + across + across @ across / (1 + cosine)
