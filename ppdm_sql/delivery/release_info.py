"""`release_info`: what a publication says of each release that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa

from ppdm_sql.names import QualifiedName

if TYPE_CHECKING:
    from datetime import datetime

INFO = QualifiedName.of("main", "release_info")
"""The table that says what else is there."""
INFO_KEY = "ppdm:release_info"
"""Where a Parquet file has its row of that table, among its metadata, as JSON: a second file in the
folder would keep readers from taking the folder as one table."""
INFO_TYPES = pa.schema(
    {
        "release": pa.string(),
        "version": pa.int32(),
        "published_at": pa.timestamp("us"),
        "rows": pa.int64(),
        "treatments": pa.string(),
        "targets": pa.string(),
        "publication": pa.string(),
        "agreement": pa.string(),
        "accepted": pa.string(),
    }
)


class Info(TypedDict):
    """What `release_info` says of one release."""

    release: str
    version: int | None
    published_at: datetime
    rows: int
    treatments: str
    targets: str | None
    publication: str
    agreement: str | None
    accepted: str | None
