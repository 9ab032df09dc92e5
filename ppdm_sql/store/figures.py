"""What a version with GENERALIZE reached and what it cost, as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.model.release import Runner
    from ppdm_sql.store.parameters import VersionStorage


@dataclass(frozen=True, slots=True)
class Figure:
    """One number about a release, with a sentence that says what it is."""

    figure: str
    value: float | None
    note: str


def record_figures(runner: Runner, storage: VersionStorage, figures: Sequence[Figure]) -> None:
    """Write down the figures of a version."""
    for position, figure in enumerate(figures):
        runner.run(
            'INSERT INTO "ppdm_store"."ppdm_owner"."figures" VALUES (?, ?, ?, ?, ?, ?)',
            (
                storage.release_id,
                storage.version,
                position,
                figure.figure,
                figure.value,
                figure.note,
            ),
        )


def list_figures(runner: Runner, storage: VersionStorage) -> list[Figure]:
    """Return the figures of a version; none for a release without GENERALIZE."""
    rows = runner.query(
        'SELECT figure, value, note FROM "ppdm_store"."ppdm_owner"."figures"'
        " WHERE release_id = ? AND version = ? ORDER BY position",
        (storage.release_id, storage.version),
    ).to_pylist()
    return [Figure(row["figure"], row["value"], row["note"]) for row in rows]
