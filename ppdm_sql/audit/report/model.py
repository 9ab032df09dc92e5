"""An audit as one value: everything that HTML, JSON and SQL tables show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppdm_sql.treatments.traits import UNKNOWN

if TYPE_CHECKING:
    from datetime import datetime

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.measure.figure import Figure
    from ppdm_sql.audit.measure.pictures import Distribution
    from ppdm_sql.audit.measure.singling_out import ColumnSet
    from ppdm_sql.audit.report.outcome import Outcome
    from ppdm_sql.treatments.traits import Traits


@dataclass(frozen=True, slots=True)
class Stamp:
    """What was audited, with what, how it can be done again."""

    release: str
    version: int
    rows: int
    """Rows that leave."""
    persons: int | None
    """Distinct KEYs among them; None without a KEY."""
    sampled: int
    """Rows the attacks and the mining figures were run on."""
    seed: int
    """Which rows those are follows from it; it decides nothing secret."""
    audited_at: datetime
    software: tuple[tuple[str, str], ...]
    script_sha256: str
    """Of the script as the report shows it."""
    against: str | None = None
    accepted: str | None = None
    """What the owner accepted, although it was objected to."""
    together_with: str | None = None
    """Other releases that the owner named."""


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """One released column in a report."""

    name: str
    role: str
    treatment: str
    before: Distribution
    after: Distribution
    utility: float | None
    """What it keeps, 0 to 1: the correlation of numbers, the association of categories."""
    risk: float
    """What the strongest attack on it gets, 0 to 1, or the share of values it shows as they were."""
    traits: tuple[Traits, ...] = field(default=(UNKNOWN,), repr=False)
    """What may be relied on in its treatments; no part of what is shown."""

    @property
    def is_kept(self) -> bool:
        """Whether it is released as it is."""
        return all(one.shows_originals for one in self.traits)


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """People in classes of some sizes."""

    least: int
    most: int | None
    persons: int | None
    """None: fewer than five, not shown."""


@dataclass(frozen=True, slots=True)
class Report:
    """An audit."""

    stamp: Stamp
    verdict: tuple[str, ...]
    """Three sentences: protection, attacks, cost."""
    figures: tuple[Figure, ...]
    attacks: tuple[Finding, ...]
    columns: tuple[ColumnReport, ...]
    class_sizes: tuple[ClassSizes, ...]
    singling: tuple[ColumnSet, ...]
    left_out: tuple[str, ...]
    """What was not measured, and why."""
    script: str = field(repr=False)
    is_internal: bool = False
    """Whether it shows what only the owner should see: parameters, small cells, exact figures."""
    outcomes: tuple[Outcome, ...] = ()
    """What was required, judged by the exact figures whatever the report shows of them."""

    def __repr__(self) -> str:
        return "\n".join(self.verdict)

    def measured(self, name: str) -> list[tuple[str, float | None]]:
        """Return what a figure or an attack is about and its value, once for each."""
        found: list[tuple[str, float | None]] = [
            (f.about, f.value) for f in self.figures if f.name == name
        ]
        return found + [(a.target, a.share) for a in self.attacks if a.attack == name]

    def values(self, name: str) -> dict[str, float | None]:
        """Return every value of a figure or an attack, by what it is about."""
        return dict(self.measured(name))
