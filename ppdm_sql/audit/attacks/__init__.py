"""Attacks on a release, one a file, each with the knowledge it needs; the least comes first.

Adding one: its file, one line in ATTACKS, one test file that shows it succeeding on a weak release
and failing on a protected one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.averaging import Averaging
from ppdm_sql.audit.attacks.band_width import BandWidth
from ppdm_sql.audit.attacks.differencing import (
    DifferencingClasses,
    DifferencingNumbers,
    DifferencingValues,
)
from ppdm_sql.audit.attacks.digit_shift import DigitShift
from ppdm_sql.audit.attacks.face_value import FaceValue
from ppdm_sql.audit.attacks.frequency import Frequency
from ppdm_sql.audit.attacks.grid import Grid
from ppdm_sql.audit.attacks.independent_columns import IndependentColumns
from ppdm_sql.audit.attacks.intersection import Intersection
from ppdm_sql.audit.attacks.known_input import KnownInput
from ppdm_sql.audit.attacks.known_pairs import PERSONS, KnownPairs
from ppdm_sql.audit.attacks.known_sample import KnownSample
from ppdm_sql.audit.attacks.linkage import RecordLinkage
from ppdm_sql.audit.attacks.linking import Linking
from ppdm_sql.audit.attacks.mean_kept import MeanKept
from ppdm_sql.audit.attacks.ordering import Ordering
from ppdm_sql.audit.attacks.person_rows import PersonRows
from ppdm_sql.audit.attacks.protocol import NONE, AimKind, Needs
from ppdm_sql.audit.attacks.spectral import Spectral
from ppdm_sql.audit.attacks.sum_difference import SumDifference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.audit.attacks.protocol import Aim, Attack, Finding, Scene

ATTACKS: tuple[Attack, ...] = (
    FaceValue(),
    Averaging(),
    PersonRows(),
    DigitShift(),
    BandWidth(),
    MeanKept(),
    Grid(),
    Frequency(),
    Ordering(),
    Spectral(),
    IndependentColumns(),
    KnownSample(),
    *map(KnownPairs, PERSONS),
    KnownInput(),
    RecordLinkage(),
    Linking(),
    DifferencingValues(),
    DifferencingNumbers(),
    SumDifference(),
    DifferencingClasses(),
    Intersection(),
)


def run_attacks(
    scene: Scene,
    attacks: Sequence[Attack] = ATTACKS,
    on_stage: Callable[[str], None] = lambda _: None,
) -> list[Finding]:
    """Run every attack on everything it applies to."""
    targets = tuple(scene.targets())
    found = []
    for attack in attacks:
        for target in targets:
            if attack.applies_to(target, scene):
                on_stage(f"attacking: {attack.name}")
                found.append(_placed(attack.run(target, scene), attack, target))
    return found


def _placed(found: Finding, attack: Attack, target: Aim) -> Finding:
    """Say what a finding needs, and of which columns it got values where it does not say itself."""
    columns = found.columns or (() if found.scope is AimKind.TABLE else target.names)
    needs = Needs.NOTHING if found.knowledge == NONE else attack.needs
    return replace(found, columns=columns, needs=needs)
