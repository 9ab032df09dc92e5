"""Undo Bit++ and Bit--: there is no secret in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Scope
from ppdm_sql.audit.attacks.scoring import chance_number, recovered
from ppdm_sql.kernels.digits import shift_digits

if TYPE_CHECKING:
    from ppdm_sql.anonymity import FloatArray
    from ppdm_sql.audit.attacks.protocol import Scene, Target

_MOST_DECIMALS = 6
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True)
class DigitShift:
    """Move all digits but the first back, by one up and by one down; keep what recovers more."""

    name: ClassVar[str] = "digit_shift"
    knowledge: ClassVar[str] = "none"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Numbers that are written with few decimals."""
        if target.scope is not Scope.COLUMN or not target.columns[0].is_numeric:
            return False
        y = target.columns[0].pair()[1]
        return len(y) > 0 and decimals_of(y) is not None

    def run(self, target: Target, scene: Scene) -> Finding:
        """Compare exactly: a digit is right or wrong."""
        x, y = target.columns[0].pair()
        places = decimals_of(y) or 0
        share = max(recovered(x, shifted_back(y, places, by), 0.0) for by in (1, -1))
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


def decimals_of(y: FloatArray) -> int | None:
    """Return how many decimals numbers are written with; None for more than six."""
    for places in range(_MOST_DECIMALS + 1):
        scaled = y * 10.0**places
        if np.abs(scaled).max(initial=0) >= _LARGEST:
            return None
        if (np.abs(scaled - np.rint(scaled)) <= 1e-6 * np.maximum(1.0, np.abs(y))).all():
            return places
    return None


def shifted_back(y: FloatArray, places: int, by: int) -> FloatArray:
    """Return numbers with the digits behind the first moved."""
    magnitudes = np.rint(np.abs(y) * 10.0**places).astype(np.uint64)
    shifted = shift_digits(magnitudes, by).astype(np.float64) / 10.0**places
    return np.copysign(shifted, y)
