"""Publications that a process left unsettled: written down, and perhaps put in their place.

A publication is recorded before its file is renamed, and settled after it. Who is killed between
the two leaves a record that the next one to open the store settles by what lies at the target.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.delivery.workplace import digest_of, is_left
from ppdm_sql.store.publications import DONE, PENDING, UNKNOWN, list_publications, set_state

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.store.publications import Publication


def settle_publications(engine: Engine) -> None:
    """Settle what is pending; only while nobody else publishes from this store."""
    listed = {one.publication.name: one.publication for one in list_publications(engine)}
    pending = [one for one in listed.values() if one.state == PENDING]
    if not pending:
        return
    with engine.transaction():
        for one in pending:
            set_state(engine, one.name, _state(one))


def _state(publication: Publication) -> str | None:
    """Return what became of a publication: done, nothing, or unknown, which counts as out."""
    target, digest = Path(publication.path), publication.digest or ""
    if digest_of(target) == digest:
        return DONE
    return None if is_left(target, digest) else UNKNOWN
