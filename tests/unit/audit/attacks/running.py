"""Running one attack on columns made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from tests.unit.audit.subjects import subject

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Attack, Finding
    from ppdm_sql.audit.read.subject import Column


def attack_column(attack: Attack, column: Column, scene: Scene | None = None) -> Finding:
    """Run an attack on one column of a scene of its own."""
    target = Aim(AimKind.COLUMN, (column,))
    scene = scene or Scene(subject(column))
    assert attack.applies_to(target, scene)
    return attack.run(target, scene)


def attack_group(attack: Attack, *columns: Column) -> Finding:
    """Run an attack on columns that are treated together."""
    target, scene = Aim(AimKind.GROUP, columns), Scene(subject(*columns))
    assert attack.applies_to(target, scene)
    return attack.run(target, scene)


def attack_table(attack: Attack, *columns: Column, scene: Scene | None = None) -> Finding:
    """Run an attack on a whole table."""
    scene = scene or Scene(subject(*columns))
    target = Aim(AimKind.TABLE, columns)
    assert attack.applies_to(target, scene)
    return attack.run(target, scene)
