"""Studies of the store: which releases go out together."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ppdm_sql.names import Name
from ppdm_sql.store.claim import claim

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """One row of the table of studies."""

    name: Name
    definition: str = field(repr=False)
    """The canonical text of its CREATE STUDY."""
    created_at: datetime


def list_studies(engine: Engine) -> list[StoredStudy]:
    """Return all studies, by name."""
    rows = engine.query(
        'SELECT study_name, definition, created_at FROM "ppdm_store"."ppdm_owner"."studies"'
        " ORDER BY study_name ASC"
    ).to_pylist()
    return [
        StoredStudy(Name(row["study_name"]), row["definition"], row["created_at"]) for row in rows
    ]


def record_study(engine: Engine, name: Name, definition: str) -> None:
    """Write a study down, in place of one of its name."""
    forget_study(engine, name)
    now = datetime.now(UTC).replace(tzinfo=None)
    engine.run(
        'INSERT INTO "ppdm_store"."ppdm_owner"."studies" VALUES (?, ?, ?)',
        (name.text, definition, now),
    )


def forget_study(engine: Engine, name: Name) -> None:
    """Take a study out of the store."""
    claim(engine)
    for stored in list_studies(engine):
        if stored.name == name:
            engine.run(
                'DELETE FROM "ppdm_store"."ppdm_owner"."studies" WHERE study_name = ?',
                (stored.name.text,),
            )
