"""Some persons' originals are known: what do they give away of everybody else's?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.known_people import Known, few
from ppdm_sql.audit.attacks.known_rows import recovered_rows, shown_rows, whole_rows
from ppdm_sql.audit.attacks.models import guess_numbers
from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_label, chance_number, recovered, tolerance

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.audit.read.subject import Column
    from ppdm_sql.groups.search import IntArray


PERSONS = (2, 5, 20)
"""How many are known."""


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

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Groups of numbers, and columns; those of a group too, unless they are mixed."""
        if target.scope is AimKind.GROUP:
            is_possible = all(column.is_numeric for column in target.columns)
        else:
            is_mixed = any(t.keeps_distances for t in target.columns[0].traits)
            is_possible = target.scope is AimKind.COLUMN and not is_mixed
        return is_possible and self._drawn(target, scene).is_possible

    def _drawn(self, target: Aim, scene: Scene) -> Known:
        return Known(
            scene.sample.person,
            shown_rows(target.columns),
            self.persons,
            scene.generator(self.name + target.label),
            # Whoever knows persons knows them whole, as long as there are such.
            whole_rows(target.columns),
        )

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Draw who is known, guess the others, count."""
        # Whoever knows twenty people may leave fifteen aside: more of them never get less.
        fewer = [KnownPairs(persons) for persons in PERSONS if persons < self.persons]
        tried = [one.guessed(target, scene) for one in (*fewer, self)]
        share, chance = max(share for share, _ in tried), tried[-1][1]
        what = "rows" if target.scope is AimKind.GROUP else "values"
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"with {self.persons} known persons, {SHARE} of all {what} come back",
            self._drawn(target, scene).rows,
        )

    def guessed(self, target: Aim, scene: Scene) -> tuple[float, float]:
        """Return the share that comes back, and that of guessing."""
        drawn, column = self._drawn(target, scene), target.columns[0]
        if target.scope is AimKind.GROUP:
            return recovered_rows(target.columns, drawn)
        if column.is_numeric:
            return self._numbers(column, drawn)
        return self._labels(*column.label_pair(), drawn)

    def _numbers(self, column: Column, drawn: Known) -> tuple[float, float]:
        x, y = column.pair()
        near = tolerance(x)
        shares = []
        for known, others in drawn:
            some = few(known)
            guess = guess_numbers(x[some], y[some], y, column.traits)
            shares.append(recovered(x[others], guess[others], near))
        return float(np.mean(shares)), chance_number(x, near)

    def _labels(self, x: IntArray, y: IntArray, drawn: Known) -> tuple[float, float]:
        """A known person tells what its aliases stand for; the others are guessed."""
        shares = []
        for known, others in drawn:
            meaning = np.full(int(y.max()) + 1, int(np.bincount(x[known]).argmax()))
            meaning[y[known]] = x[known]
            shares.append(float((meaning[y[others]] == x[others]).mean()))
        return float(np.mean(shares)), chance_label(x)
