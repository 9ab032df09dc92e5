"""Undo a rotation with as many known rows as there are columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.models import guess_rows
from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope
from ppdm_sql.audit.attacks.scoring import chance_number, hits, tolerance
from ppdm_sql.audit.shape import matrices

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Scene, Target

_DRAWS = 10


@dataclass(frozen=True, slots=True)
class KnownInput:
    """Distances are kept, so that the turn which takes the known rows home takes all (Liu, 2006)."""

    name: ClassVar[str] = "known_input"
    knowledge: ClassVar[str] = "as many whole rows as the treatment has columns"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Groups of numbers."""
        if target.scope is not Scope.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        return len(matrices(target.columns)[0]) > 2 * len(target.columns)

    def run(self, target: Target, scene: Scene) -> Finding:
        """Turn all rows as the known ones."""
        x, y = matrices(target.columns)
        size = len(target.columns)
        near = [tolerance(column) for column in x.T]
        generator = scene.generator(self.name + target.label)
        shares = []
        for _ in range(_DRAWS):
            known = generator.choice(len(x), size, replace=False)
            guess = guess_rows(x[known], y[known], y)
            right = [hits(x[:, i], guess[:, i], near[i]) for i in range(size)]
            shares.append(float(np.delete(np.all(right, axis=0), known).mean()))
        share = float(np.mean(shares))
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            min(chance_number(column, near[i]) for i, column in enumerate(x.T)),
            f"with {size} known rows, {SHARE} of the rows are turned back",
            len(x),
        )
