"""All rows of a column, for attacks that a sample would make weaker than they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.audit.attacks.protocol import Scene
    from ppdm_sql.audit.read.subject import Column


def whole(column: Column, scene: Scene) -> Column:
    """Return a column of the sample with the rows of everybody, where there are more."""
    if scene.everybody is None:
        return column
    return next((c for c in scene.everybody.columns if c.name == column.name), column)
