"""Privacy-preserving data publishing in SQL, on DuckDB.

    owner = ppdm_sql.connect("owner/clinic.duckdb")     # the owner's database and store
    owner.execute(open("release.sql").read())           # CREATE RELEASE … among plain SQL
    owner.sql("FROM research.patients").df()            # what an analyst would see

    ppdm_sql.register(duckdb_connection)                # only the functions, for an app

The rooms, from the top: `cli` · `session` (engine, owner) · `audit` and `store` (the owner's secrets) ·
`bind` and `compile` (a statement to SQL) · `statements` (text) and `transforms` (treatments) ·
`kernels` (mathematics) · `model` · `names` · `errors`. Each imports only from those below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import (
    BindError,
    EngineError,
    InternalError,
    PpdmError,
    PrivacyWarning,
    Refused,
    StatementError,
    StoreError,
    TreatmentError,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import duckdb

    from ppdm_sql.model.transform import Transform
    from ppdm_sql.session.owner import Owner

__version__ = "0.1.0"

__all__ = [
    "BindError",
    "EngineError",
    "InternalError",
    "PpdmError",
    "PrivacyWarning",
    "Refused",
    "StatementError",
    "StoreError",
    "TreatmentError",
    "__version__",
    "connect",
    "register",
]

# Engine and arrays are imported when they are first needed: `import ppdm_sql` stays quick.


def connect(
    database: str | os.PathLike[str], *, transforms: Sequence[type[Transform]] | None = None
) -> Owner:
    """Open the owner's database, or make it, in a folder that only the owner may enter.

    `":memory:"` is for a trial: nothing stays. `transforms` adds treatments of your own to
    `ppdm_sql.transforms.TRANSFORMS`.
    """
    from ppdm_sql.session.owner import Owner
    from ppdm_sql.transforms import TRANSFORMS

    return Owner.open(database, TRANSFORMS if transforms is None else transforms)


def register(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Register the functions `ppdm_…` in anybody's DuckDB connection; return their names.

    The functions are stateless: parameters are arguments. Registering twice is no error.
    """
    from ppdm_sql.session.engine import register as register_kernels
    from ppdm_sql.transforms import TRANSFORMS

    return register_kernels(connection, TRANSFORMS)
