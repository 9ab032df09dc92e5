"""Noise, filtered with what columns have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_sql.audit.attacks.protocol import Aim, AimKind, Scene
from ppdm_sql.audit.attacks.spectral import Spectral
from tests.unit.audit.attacks.running import attack_table
from tests.unit.audit.subjects import labels, numbers, subject

RNG = np.random.default_rng(17)
ROWS = 4_000
GRADE = RNG.integers(0, 12, ROWS)
PAY = 1_000.0 * GRADE + RNG.normal(0, 20, ROWS)
NOISE = RNG.normal(0, 3_000, ROWS)


def test_a_category_under_an_alias_filters_noise() -> None:
    """Pay follows from the grade: the mean of an alias is nearly everybody's."""
    pay = numbers("pay", PAY, PAY + NOISE, "noise")
    grade = labels("grade", GRADE, 100 + (GRADE * 5) % 12)
    found = attack_table(Spectral(), pay, grade)
    assert found.share > 0.98
    assert found.chance < 0.7
    other = labels("town", GRADE, RNG.integers(0, 12, ROWS))
    assert attack_table(Spectral(), pay, other).share == pytest.approx(found.chance, abs=0.01)


def test_a_constant_before_the_noise_changes_nothing() -> None:
    twin = numbers("bonus", PAY, PAY, "keep")
    moved = replace(
        numbers("pay", PAY, PAY + 500 + NOISE, "noise"), treatments=("translation", "noise")
    )
    assert attack_table(Spectral(), moved, twin).share > 0.99
    turned = replace(moved, treatments=("rotation", "noise"))
    scene = Scene(subject(turned, twin))
    assert not Spectral().applies_to(Aim(AimKind.TABLE, (turned, twin)), scene)


def test_the_column_that_suffers_most_is_told() -> None:
    """One has a twin that leaves as it is, one has none."""
    lonely = RNG.normal(0, 3_000, ROWS)
    columns = (
        numbers("alone", lonely, lonely + NOISE[::-1], "noise"),
        numbers("pay", PAY, PAY + NOISE, "noise"),
        numbers("bonus", PAY, PAY, "keep"),
    )
    found = attack_table(Spectral(), *columns)
    assert found.share > 0.99
    assert found.sentence.endswith("out of pay")
