"""One transaction at a time changes the store, whatever cursor it is on.

Rows that one transaction deletes and another one refers to do not conflict in DuckDB; two changes
of a comment do, also where the other one has ended since this one began. So everything that writes
to the store, or takes something out of it, changes a comment in the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import EngineError, EngineKind

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine

_CLAIM = 'COMMENT ON TABLE "ppdm_store"."ppdm_owner"."store" IS NULL'


def claim(engine: Engine) -> None:
    """Have this transaction be the only one that changes the store."""
    try:
        with engine.transaction():
            engine.run(_CLAIM)
    except EngineError as error:
        if error.kind is EngineKind.CONFLICT:
            error.what = "another cursor changes releases, or did since this transaction began"
        raise
