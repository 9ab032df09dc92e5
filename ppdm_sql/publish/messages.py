"""What the owner is told of what was published: warnings, and one sentence."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.engine.result import Result
from ppdm_sql.errors import PrivacyWarning, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.publish.run import Published
    from ppdm_sql.store.publications import PublishedRelease

_CALLER = 5
"""How far up the statement's caller is: warnings point there."""


_SHOW = pa.schema(
    {
        "publication": pa.string(),
        "published_at": pa.timestamp("s"),
        "release": pa.string(),
        "version": pa.int32(),
        "rows": pa.int64(),
        "persons": pa.int64(),
        "recipient": pa.string(),
        "path": pa.string(),
        "state": pa.string(),
    }
)


def publications_table(published: Sequence[PublishedRelease]) -> pa.Table:
    """Return SHOW PUBLICATIONS as a table."""
    rows = [
        {
            "publication": one.publication.name,
            "published_at": one.publication.published_at.replace(microsecond=0),
            "release": str(one.release),
            "version": one.version,
            "rows": one.rows,
            "persons": one.persons,
            "recipient": one.publication.recipient,
            "path": one.publication.path,
            "state": one.publication.state,
        }
        for one in published
    ]
    return pa.Table.from_pylist(rows, schema=_SHOW)


def published_result(done: Published) -> Result:
    """Return what PUBLISH RELEASE answers."""
    for warning in done.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=_CALLER)
    listed = ", ".join(
        f"{one.entry.name} (version {one.entry.version}, {plural(one.rows, 'row')})"
        for one in done.releases
    )
    return Result(message=f"published {listed} to '{done.publication.path}'")
