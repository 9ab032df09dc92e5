"""What attackers get of each column, by what they know: one look before the table of attacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.protocol import Needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.report.model import ColumnReport


@dataclass(frozen=True, slots=True)
class Line:
    """A column, or the release as a whole, and the strongest attack on it for each knowledge."""

    column: ColumnReport | None
    """None: attacks that find a person's row, or narrow it down."""
    strongest: tuple[Finding | None, ...]
    """In the order of the overview's knowledge; None where no attack applies."""


@dataclass(frozen=True, slots=True)
class Overview:
    """Who gets what."""

    knowledge: tuple[Needs, ...]
    """What some attack needs, the least first."""
    lines: tuple[Line, ...]


def overview(attacks: Sequence[Finding], columns: Sequence[ColumnReport]) -> Overview:
    """Return the strongest attacks by column and knowledge."""
    knowledge = tuple(needs for needs in Needs if any(a.needs is needs for a in attacks))
    lines = [Line(column, _strongest(_on(column.name, attacks), knowledge)) for column in columns]
    whole = [attack for attack in attacks if not attack.columns]
    if whole:
        lines.append(Line(None, _strongest(whole, knowledge)))
    return Overview(knowledge, tuple(lines))


def _on(column: str, attacks: Sequence[Finding]) -> list[Finding]:
    return [attack for attack in attacks if column in attack.columns]


def _strongest(
    attacks: Sequence[Finding], knowledge: Sequence[Needs]
) -> tuple[Finding | None, ...]:
    return tuple(
        max(
            (attack for attack in attacks if attack.needs is needs),
            key=lambda attack: attack.gain,
            default=None,
        )
        for needs in knowledge
    )
