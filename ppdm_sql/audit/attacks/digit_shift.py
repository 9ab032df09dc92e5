"""Undo Bit++ and Bit--: there is no secret in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope
from ppdm_sql.audit.attacks.scoring import chance_number, recovered
from ppdm_sql.kernels.digits import shift_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.anonymity import BoolArray, FloatArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target

_MOST_DECIMALS = 6
_MOST_MOVES = 3
"""Treatments chain: `bit_plus() THEN bit_plus()` moves every digit by two."""
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True)
class DigitShift:
    """Move all digits but the first back, by some up and some down; keep what recovers most."""

    name: ClassVar[str] = "digit_shift"
    knowledge: ClassVar[str] = "none"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Numbers that are mostly written with few decimals."""
        if target.scope is not Scope.COLUMN or not target.columns[0].is_numeric:
            return False
        y = target.columns[0].pair()[1]
        return len(y) > 0 and bool(has_few_decimals(y).mean() > 0.5)

    def run(self, target: Target, scene: Scene) -> Finding:
        """Compare exactly: a digit is right or wrong."""
        x, y = target.columns[0].pair()
        # How many decimals there were cannot be told from the release: 10.99 may become 11.00.
        share = max(
            recovered(x, guess, 0.0)
            for places in range(_MOST_DECIMALS + 1)
            for by in (1, -1)
            for guess in moved(y, places, by)
        )
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance_number(x, 0.0),
            f"moving the digits back gives {SHARE} of the values exactly",
            len(x),
        )


def has_few_decimals(y: FloatArray) -> BoolArray:
    """Tell which numbers have at most six decimals, and no more digits than can be told."""
    scaled = y * 10.0**_MOST_DECIMALS
    is_written = np.abs(scaled - np.rint(scaled)) <= 1e-6 + 2 * np.spacing(np.abs(scaled))
    few: BoolArray = is_written & (np.abs(y) < _LARGEST)
    return few


def moved(y: FloatArray, places: int, by: int) -> Iterator[FloatArray]:
    """Return numbers with the digits behind the first moved once, twice, three times.

    NaN for numbers of more digits than can be told.
    """
    scaled = np.rint(np.abs(y) * 10.0**places)
    is_short = scaled < _LARGEST
    magnitudes = np.where(is_short, scaled, 0).astype(np.uint64)
    for _ in range(_MOST_MOVES):
        magnitudes = shift_digits(magnitudes, by)
        guess = np.copysign(magnitudes.astype(np.float64) / 10.0**places, y)
        yield np.where(is_short, guess, np.nan)
