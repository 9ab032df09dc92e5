"""Subjects made by hand: original and released values of a few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.read.subject import Column, Subject, Values
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Sequence


def numbers(
    name: str,
    original: Sequence[float] | np.ndarray,
    released: Sequence[float] | np.ndarray,
    treatment: str = "translation",
    role: Role = Role.SENSITIVE,
    group: int | None = None,
) -> Column:
    return Column(
        name,
        role,
        (treatment,),
        hash(name) if group is None else group,
        Values(np.asarray(original, dtype=np.float64)),
        Values(np.asarray(released, dtype=np.float64)),
    )


def labels(
    name: str,
    original: Sequence[int] | np.ndarray,
    released: Sequence[int] | np.ndarray,
    treatment: str = "mapping",
    role: Role = Role.SENSITIVE,
) -> Column:
    return Column(
        name,
        role,
        (treatment,),
        hash(name),
        Values(labels=np.asarray(original, dtype=np.int64)),
        Values(labels=np.asarray(released, dtype=np.int64)),
    )


def subject(*columns: Column, person: Sequence[int] | None = None) -> Subject:
    rows = len(columns[0].released.known())
    who = None if person is None else np.asarray(person, dtype=np.int64)
    return Subject(columns, rows, who)
