"""Whether the KEY itself is released: then everything else hides nobody whose KEY is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Subject


def key_figures(subject: Subject) -> list[Figure]:
    """Return how many rows show their KEY as the source has it."""
    if not subject.rows:
        return []
    return [
        Figure(
            "risk",
            "keys_shown",
            column.name,
            float(column.is_shown().mean()),
            "share of rows that show the KEY as it is: whoever knows a person's KEY finds their rows",
            subject.rows,
        )
        for column in subject.of_role(Role.KEY)
    ]
