"""Undo a rotation with as many known rows as there are columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ppdm_sql.audit.attacks.known_rows import recovered_rows, rows_shown
from ppdm_sql.audit.attacks.protocol import SHARE, Finding, Needs, Scope

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Scene, Target


@dataclass(frozen=True, slots=True)
class KnownInput:
    """Distances are kept, so that the turn which takes the known rows home takes all (Liu, 2006)."""

    name: ClassVar[str] = "known_input"
    needs: ClassVar[Needs] = Needs.PEOPLE
    knowledge: ClassVar[str] = "as many whole rows as the treatment has columns"

    def applies_to(self, target: Target, scene: Scene) -> bool:
        """Groups of numbers."""
        if target.scope is not Scope.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        return rows_shown(target.columns) > 2 * len(target.columns)

    def run(self, target: Target, scene: Scene) -> Finding:
        """Turn all rows as the known ones."""
        size = len(target.columns)
        generator = scene.generator(self.name + target.label)
        share, chance = recovered_rows(target.columns, size, generator)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"with {size} known rows, {SHARE} of the rows are turned back",
            rows_shown(target.columns),
        )
