"""Believe the release: a value that hardly moved needs no attack at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.digit_shift import decimals_of, has_few_decimals
from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_label, chance_number, recovered, tolerance

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import FloatArray


_READ = f"{SHARE} of the values can be read as they stand"
_NEARLY = f"{SHARE} of the values can be read to within 1 % of the column's spread"


@dataclass(frozen=True, slots=True)
class FaceValue:
    """Take the released value for the original one, rounded where those are written shorter."""

    name: ClassVar[str] = "face_value"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Columns that are of one kind before and after."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN:
            return False
        if not column.is_numeric and (
            column.original.labels is None or column.released.labels is None
        ):
            return False
        return bool((column.original.known() & column.released.known()).any())

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Count numbers that are near enough, and labels that are the same."""
        column = target.columns[0]
        if column.is_numeric:
            x, y = column.pair()
            size, near = len(x), tolerance(x)
            guesses = (y, as_written(x, y))
            share = max(recovered(x, guess, near) for guess in guesses)
            chance = chance_number(x, near)
            is_exact = max(recovered(x, guess, 0.0) for guess in guesses) == share
        else:
            before, after = column.label_pair()
            size, is_exact = len(before), True
            share, chance = float((before == after).mean()), chance_label(before)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            _READ if is_exact else _NEARLY,
            size,
        )


def as_written(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return released numbers with the decimals of the originals: nobody has 1.7 children."""
    if not has_few_decimals(x).all():
        return y
    with np.errstate(over="ignore", invalid="ignore"):  # too long to be rounded, or to be right
        return np.round(y, decimals_of(x))
