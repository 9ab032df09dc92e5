"""Believe the release: a value that hardly moved needs no attack at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ppdm_sql.audit.attacks.protocol import NONE, SHARE, Finding, Needs, Scope
from ppdm_sql.audit.attacks.scoring import chance_label, chance_number, recovered, tolerance

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Scene, Target


@dataclass(frozen=True, slots=True)
class FaceValue:
    """Take the released value for the original one."""

    name: ClassVar[str] = "face_value"
    needs: ClassVar[Needs] = Needs.NOTHING
    knowledge: ClassVar[str] = NONE

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Columns that are of one kind before and after."""
        column = target.columns[0]
        if target.scope is not Scope.COLUMN:
            return False
        if not column.is_numeric and (
            column.original.labels is None or column.released.labels is None
        ):
            return False
        return bool((column.original.known() & column.released.known()).any())

    def run(self, target: Target, scene: Scene) -> Finding:
        """Count numbers that are near enough, and labels that are the same."""
        column = target.columns[0]
        if column.is_numeric:
            x, y = column.pair()
            size, near = len(x), tolerance(x)
            share, chance = recovered(x, y, near), chance_number(x, near)
        else:
            before, after = column.label_pair()
            size = len(before)
            share, chance = float((before == after).mean()), chance_label(before)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"{SHARE} of the values can be read as they stand",
            size,
        )
