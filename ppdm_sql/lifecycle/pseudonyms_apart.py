"""Pseudonyms of two releases that name the same persons or things, and still do not meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.store import catalog
from ppdm_sql.treatments.protocol import ENTITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.release.model import Release


def pseudonyms_apart(engine: Engine, release: Release) -> list[str]:
    """Return warnings of columns that a foreign key connects, and that cannot be joined."""
    if release.agreement is not None or not any(meeting(rule) for rule in release.rules):
        return []
    return list(_apart(engine, release))


def _apart(engine: Engine, release: Release) -> Iterator[str]:
    others = [one for one in catalog.known_columns(engine) if one.release != release.name]
    for rule in release.released_rules:
        meets, mine = meeting(rule), rule.columns[0]
        if meets is None:
            continue
        for one in others:
            theirs = one.column
            if theirs.meets in (None, meets) or theirs.identity == mine.identity:
                continue  # one column twice: as the owner wants it
            if not {theirs.identity, theirs.entity} & {mine.identity, mine.entity} - {"", None}:
                continue
            if theirs.entity == mine.whose:
                advice = "write the same length, prefix and treatments for both"
            elif theirs.entity is not None and theirs.entity.startswith(ENTITY):
                advice = f"write OF {theirs.entity.removeprefix(ENTITY)} here, too"
            else:
                advice = f"make {one.release} again, or write OF and the same word in both"
            yield (
                f"pseudonyms of '{rule.names[0]}' and of '{theirs.name}' in {one.release} name the same,"
                f" and cannot be joined as they are: {advice}"
            )
