"""Some persons' originals are known: what do they give away of everybody else's?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.known_rows import DRAWS, recovered_rows, rows_shown
from ppdm_sql.audit.attacks.models import guess_numbers
from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Needs, Scope
from ppdm_sql.audit.attacks.scoring import (
    chance_label,
    chance_number,
    recovered,
    tolerance,
)

if TYPE_CHECKING:
    from ppdm_sql.anonymity import IntArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target
    from ppdm_sql.audit.subject import Column


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """Fit the simplest model to the known persons, apply it to all."""

    persons: int
    needs: ClassVar[Needs] = Needs.PEOPLE

    @property
    def name(self) -> str:
        """As in `--require`: known_pairs_2, known_pairs_5."""
        return f"known_pairs_{self.persons}"

    @property
    def knowledge(self) -> str:
        """Return how many persons must be known."""
        return f"the original values of {self.persons} persons in the release"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Groups of numbers, and columns; those of a group too, unless they are mixed."""
        if target.scope is Scope.GROUP:
            is_possible = all(column.is_numeric for column in target.columns)
            return is_possible and rows_shown(target.columns) > self.persons
        column = target.columns[0]
        if target.scope is not Scope.COLUMN or "rotation" in column.treatments:
            return False
        if column.is_numeric:
            return len(column.pair()[0]) > self.persons
        return len(column.label_pair()[0]) > self.persons

    def run(self, target: Target, scene: Scene) -> Finding:
        """Draw who is known, guess the others, count."""
        generator = scene.generator(self.name + target.label)
        column = target.columns[0]
        what = "values"
        if target.scope is Scope.GROUP:
            size = rows_shown(target.columns)
            share, chance = recovered_rows(target.columns, self.persons, generator)
            what = "rows"
        elif column.is_numeric:
            size = len(column.pair()[0])
            share, chance = self._numbers(column, generator)
        else:
            before, after = column.label_pair()
            size, (share, chance) = len(before), self._labels(before, after, generator)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"with {self.persons} known persons, {SHARE} of all {what} come back",
            size,
        )

    def _numbers(self, column: Column, generator: np.random.Generator) -> tuple[float, float]:
        x, y = column.pair()
        near = tolerance(x)
        shares = []
        for _ in range(DRAWS):
            known = generator.choice(len(x), self.persons, replace=False)
            guess = guess_numbers(x[known], y[known], y, column.treatments)
            shares.append(recovered(np.delete(x, known), np.delete(guess, known), near))
        return float(np.mean(shares)), chance_number(x, near)

    def _labels(
        self, x: IntArray, y: IntArray, generator: np.random.Generator
    ) -> tuple[float, float]:
        """A known person tells what its alias stands for; the others are guessed."""
        shares = []
        for _ in range(DRAWS):
            known = generator.choice(len(x), self.persons, replace=False)
            meaning = np.full(int(y.max()) + 1, int(np.bincount(x[known]).argmax()))
            meaning[y[known]] = x[known]
            shares.append(float((np.delete(meaning[y], known) == np.delete(x, known)).mean()))
        return float(np.mean(shares)), chance_label(x)
