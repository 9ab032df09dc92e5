"""Noise on several rows of one person: drawn for each value, it averages out over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import plural
from ppdm_sql.release.acceptance import Acceptance, Objection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.release.model import Release

_BOUND_TO_VALUES = 2
_SHARED = (
    "{names}: {rows} are of {keys}, and all rows of a person get the same noise, so"
    " that differences between them are the true ones"
)
_TIED = ", and the noise's decimals show which rows belong to one person"


def noise_that_averages(release: Release, rows: int, keys: int) -> Iterator[Objection]:
    """Return what speaks against noise that is drawn for each of a person's values."""
    if keys >= rows or release.formula < _BOUND_TO_VALUES:
        return
    for rule in release.released_rules:
        for step in rule.steps:
            if step.treatment.averages_over_rows:
                names = ", ".join(str(name) for name in rule.names)
                yield Objection(
                    Acceptance("noise_averages"),
                    f"{plural(rows, 'row')} are of {plural(keys, 'person')}: each value of '{names}' gets its own noise, and averaging a person's rows removes most of it",
                    "release one row per person; or write noise(…, per => 'person'): all rows of a"
                    " person get the same noise, and differences between their rows are then exact",
                    step.span,
                )


def shared_noise(release: Release, rows: int, keys: int) -> list[str]:
    """Return a warning where rows of one person share their noise."""
    is_old = release.formula < _BOUND_TO_VALUES
    names = [
        f"'{name}'"
        for rule in release.released_rules
        if any(
            step.treatment.shares_noise or (is_old and step.treatment.traits.adds_noise)
            for step in rule.steps
        )
        for name in rule.names
    ]
    if keys >= rows or not names:
        return []
    said = _SHARED.format(
        names=" and ".join(names), rows=plural(rows, "row"), keys=plural(keys, "person")
    )
    return [said + (_TIED if is_old else "")]
