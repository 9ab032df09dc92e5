"""Undo a rotation with as many known rows as there are columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ppdm_sql.audit.attacks.known_people import Known
from ppdm_sql.audit.attacks.known_rows import recovered_rows, shown_rows, whole_rows
from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding, Needs

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Aim, Scene


@dataclass(frozen=True, slots=True)
class KnownInput:
    """Distances are kept, so that the turn which takes the known rows home takes all (Liu, 2006)."""

    name: ClassVar[str] = "known_input"
    needs: ClassVar[Needs] = Needs.PEOPLE
    knowledge: ClassVar[str] = "as many whole rows as the treatment has columns"

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Groups of numbers."""
        if target.scope is not AimKind.GROUP or not all(c.is_numeric for c in target.columns):
            return False
        return int(shown_rows(target.columns).sum()) > 2 * len(target.columns)

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Turn all rows as the known ones."""
        size = len(target.columns)
        generator = scene.generator(self.name + target.label)
        # One row a person: it is rows that this attack needs, whoever's they are.
        drawn = Known(None, shown_rows(target.columns), size, generator, whole_rows(target.columns))
        share, chance = recovered_rows(target.columns, drawn)
        return Finding(
            self.name,
            self.knowledge,
            target.scope,
            target.label,
            share,
            chance,
            f"with {size} known rows, {SHARE} of the rows are turned back",
            drawn.rows,
        )
