"""Filter additive noise with what columns have in common (Kargupta 2003, Huang 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.tools.units import safe_unit
from ppdm_sql.audit.measure.shape import matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import FloatArray

_MOST_CATEGORIES, _MOST_FLAGS = 50, 200


@dataclass(frozen=True, slots=True)
class Spectral:
    """The best linear estimate from all columns, given how large the noise is."""

    name: ClassVar[str] = "spectral"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "how large the noise is"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """The whole, with noise on a number of it."""
        if target.scope is not AimKind.TABLE:
            return False
        numbers = _dense(target.columns)
        is_noised = any(_is_noised(c) for c in numbers)
        return is_noised and len(matrices(numbers)[0]) > 2 * len(numbers)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Say how much of the noise is filtered out of the column that suffers most."""
        numbers = _dense(target.columns)
        noised = [i for i, c in enumerate(numbers) if _is_noised(c)]
        x, y = matrices(numbers)
        units = np.array([safe_unit(x[:, i], y[:, i]) for i in range(len(numbers))])
        x, y = x / units, y / units
        noise = np.array(
            [np.var(y[:, i] - x[:, i]) if i in noised else 0.0 for i in range(len(numbers))]
        )
        flags = _flags(target.columns, numbers)
        together = filtered(np.hstack((y, flags)), np.append(noise, np.zeros(flags.shape[1])))
        removed = noise_removed(x, together[:, : len(numbers)], y)
        alone = np.array(
            [
                noise_removed(x[:, [i]], filtered(y[:, [i]], noise[[i]]), y[:, [i]])[0]
                for i in noised
            ]
        )
        worst = max(noised, key=lambda i: float(removed[i]))
        share = float(removed[worst])
        return Finding(
            self.name,
            self.knowledge,
            AimKind.GROUP,
            ", ".join(numbers[i].name for i in noised),
            share,
            float(alone[noised.index(worst)]),
            f"with what the columns have in common, {SHARE} of the noise's variance is filtered out"
            f" of {numbers[worst].name}",
            columns=tuple(numbers[i].name for i in noised),
        )


def _is_noised(column: Column) -> bool:
    """Tell whether noise was added to it, and nothing that changes how it varies."""
    traits = column.traits
    is_moved_only = all(t.adds_noise or t.moves_by_constant or t.shows_originals for t in traits)
    return is_moved_only and any(t.adds_noise for t in traits)


def _dense(columns: Sequence[Column]) -> list[Column]:
    """Return the numbers that most rows have: one column of NULLs would leave no row complete."""
    numbers = [column for column in columns if column.is_numeric]
    return [c for c in numbers if len(c.pair()[0]) > len(c.original.known()) / 2]


def _flags(columns: Sequence[Column], numbers: Sequence[Column]) -> FloatArray:
    """Return a flag for each released category, of the rows that have all the numbers.

    Aliases tell who is alike as well as names do.
    """
    complete = np.all([c.original.known() & c.released.known() for c in numbers], axis=0)
    flags: list[FloatArray] = []
    for column in columns:
        if column.is_numeric:
            continue
        codes = column.released.codes()[complete]
        distinct = np.unique(codes)
        if 2 <= len(distinct) <= min(_MOST_CATEGORIES, _MOST_FLAGS - len(flags)):
            flags += [(codes == code).astype(np.float64) for code in distinct[1:]]
    return np.stack(flags, axis=1) if flags else np.empty((int(np.sum(complete)), 0))


def filtered(y: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the best linear estimate of originals: cov(x) · cov(y)^-1 · (y - mean) + mean."""
    covariance = np.atleast_2d(np.cov(y, rowvar=False))
    values, vectors = np.linalg.eigh(covariance - np.diag(noise))
    clean = (vectors * np.maximum(values, 0)) @ vectors.T
    weights = clean @ np.linalg.pinv(covariance)
    middle = y.mean(axis=0)
    estimate: FloatArray = (y - middle) @ weights.T + middle
    return estimate


def noise_removed(x: FloatArray, estimate: FloatArray, y: FloatArray) -> FloatArray:
    """Return for each column how much of the noise's variance an estimate is rid of, 0 to 1."""
    noise = np.var(y - x, axis=0)
    left = np.var(estimate - x, axis=0)
    removed: FloatArray = np.clip(1 - left / np.where(noise > 0, noise, 1.0), 0, 1)
    return np.where(noise > 0, removed, 0.0)
