"""What a version with GENERALIZE reached and what it cost, as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.store.parameters import owner_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.store.parameters import VersionStorage


_FIGURES = pa.schema(
    {
        "release_id": pa.int32(),
        "version": pa.int32(),
        "position": pa.int32(),
        "figure": pa.string(),
        "value": pa.float64(),
        "note": pa.string(),
    }
)


@dataclass(frozen=True, slots=True)
class VersionFigure:
    """One number about a release, with a sentence that says what it is."""

    figure: str
    value: float | None
    note: str


def record_figures(
    engine: Engine, storage: VersionStorage, figures: Sequence[VersionFigure]
) -> None:
    """Write down the figures of a version."""
    rows = [
        {
            "release_id": storage.release_id,
            "version": storage.version,
            "position": position,
            "figure": figure.figure,
            "value": figure.value,
            "note": figure.note,
        }
        for position, figure in enumerate(figures)
    ]
    engine.insert(owner_table("figures"), pa.Table.from_pylist(rows, schema=_FIGURES))


def list_figures(engine: Engine, storage: VersionStorage) -> list[VersionFigure]:
    """Return the figures of a version; none for a release without GENERALIZE."""
    rows = engine.query(
        'SELECT figure, value, note FROM "ppdm_store"."ppdm_owner"."figures"'
        " WHERE release_id = ? AND version = ? ORDER BY position ASC",
        (storage.release_id, storage.version),
    ).to_pylist()
    return [VersionFigure(row["figure"], row["value"], row["note"]) for row in rows]
