"""What the owner reads of what was published: warnings, and the ledger as a table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.errors import PrivacyWarning, quoted_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.publish.written import Published
    from ppdm_sql.store.publications import PublishedRelease

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


def warn_of(done: Published, caller: int) -> None:
    """Warn of what the publication gives away together with others; `caller` is so far up."""
    for warning in done.warnings:
        warnings.warn(quoted_once(warning), PrivacyWarning, stacklevel=caller)
