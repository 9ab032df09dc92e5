"""Undo Bit++ and Bit--: there is no secret in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, AimKind, Finding, Needs
from ppdm_sql.audit.attacks.scoring import chance_number, recovered
from ppdm_sql.treatments.kernels.digits import shift_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.protocol import Aim, Scene
    from ppdm_sql.groups.search import BoolArray, FloatArray
    from ppdm_sql.treatments.traits import Traits

_MOST_DECIMALS = 6
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True)
class DigitShift:
    """Move all digits but the first back, as often as the words of the treatment moved them."""

    name: ClassVar[str] = "digit_shift"
    needs: ClassVar[Needs] = Needs.FIGURES
    knowledge: ClassVar[str] = "how many decimals the originals are written with"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Numbers whose digits were moved, mostly written with few decimals."""
        column = target.columns[0]
        if target.scope is not AimKind.COLUMN or not column.is_numeric:
            return False
        y = column.pair()[1]
        is_moved = moves(column.traits) != 0
        return is_moved and len(y) > 0 and bool(has_few_decimals(y).mean() > 0.5)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Compare exactly: a digit is right or wrong."""
        column = target.columns[0]
        x, y = column.pair()
        places, knowledge = column.decimals, NONE
        if places is None:
            # The release alone cannot tell: 10.99 becomes 11.00, 10.00 becomes 11.11.
            places, knowledge = max(decimals_of(x), decimals_of(y)), self.knowledge
        share = recovered(x, moved(y, places, -moves(column.traits)), 0.0)
        return Finding(
            self.name,
            knowledge,
            target.scope,
            target.label,
            share,
            chance_number(x, 0.0),
            f"moving the digits back gives {SHARE} of the values exactly",
            len(x),
        )


def has_few_decimals(y: FloatArray) -> BoolArray:
    """Tell which numbers have at most six decimals, and no more digits than can be told."""
    is_short = np.abs(y) < _LARGEST
    scaled = np.where(is_short, y, 0.0) * 10.0**_MOST_DECIMALS
    is_written = np.abs(scaled - np.rint(scaled)) <= 1e-6 + 2 * np.spacing(np.abs(scaled))
    few: BoolArray = is_written & is_short
    return few


def moves(traits: Sequence[Traits]) -> int:
    """Return by how much a treatment moved every digit: `bit_plus() THEN bit_plus()` by two."""
    return sum(one.moves_digits for one in traits)


def decimals_of(values: FloatArray) -> int:
    """Return with how many decimals numbers are written, those aside that have too many."""
    written = values[has_few_decimals(values)]
    for places in range(_MOST_DECIMALS):
        scaled = written * 10.0**places
        if (np.abs(scaled - np.rint(scaled)) <= 1e-7 + 2 * np.spacing(np.abs(scaled))).all():
            return places
    return _MOST_DECIMALS


def moved(y: FloatArray, places: int, by: int) -> FloatArray:
    """Return numbers with the digits behind the first moved up, or down where `by` is negative.

    NaN for numbers of more digits than can be told.
    """
    scaled = np.rint(np.abs(y) * 10.0**places)
    is_short = scaled < _LARGEST
    magnitudes = np.where(is_short, scaled, 0).astype(np.uint64)
    for _ in range(abs(by)):
        magnitudes = shift_digits(magnitudes, 1 if by > 0 else -1)
    guess = np.copysign(magnitudes.astype(np.float64) / 10.0**places, y)
    return np.where(is_short, guess, np.nan)
