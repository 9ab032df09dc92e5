"""Privacy-preserving data publishing in SQL, on DuckDB.

    owner = ppdm_sql.connect("owner/clinic.duckdb")     # the owner's database and store
    owner.execute(open("release.sql").read())           # CREATE RELEASE … among plain SQL
    owner.sql("FROM research.patients").df()            # what an analyst would see

    owner.execute("PUBLISH RELEASE research.patients TO 'study.duckdb'")
    study = ppdm_sql.open_release("study.duckdb")       # what an analyst holds
    study.sql("SELECT count(*) FROM research.patients").fetchone()

    owner.interpret("research.patients", "age >= 2.667") # results in original terms again
    ppdm_sql.combine("a.duckdb", "b.duckdb", to="c.duckdb", agreement="6f0d…")  # one study

    ppdm_sql.register(duckdb_connection)                # only the functions, for an app

The rooms, from the top; each imports only from those below it:

    cli         the command line                owner        the public class: it only hands on
    publish     PUBLISH RELEASE                 audit        AUDIT RELEASE: figures, attacks, report
    interpret   results in original terms       sites        agreements, one study of many sites
    analyst     what an analyst holds           lifecycle    CREATE, REFRESH, DROP, SHOW, DESCRIBE
    groups      GENERALIZE, hierarchies         release      bind, compile, versions
    delivery    files put in their place        store        the owner's tables, keys, folder
    foreign     files of others, in a child     treatments   one file each, and kernels
    language    text to statements and back     engine       DuckDB and SQL trees
    randomness, parameters, types, scratch, terminal_text, about, names, errors: small ones that everybody uses
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ppdm_sql.about import __version__
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
    from collections.abc import Iterable, Sequence

    import duckdb

    from ppdm_sql.analyst.session import Analyst
    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.engine.result import Result
    from ppdm_sql.engine.table_rows import TableRows
    from ppdm_sql.owner import Owner
    from ppdm_sql.publish.written import Published
    from ppdm_sql.sites.combine import Combined
    from ppdm_sql.treatments.treatment import Treatment

__all__ = [
    "Analyst",
    "BindError",
    "Combined",
    "EngineError",
    "InternalError",
    "Owner",
    "PpdmError",
    "PrivacyWarning",
    "Published",
    "Refused",
    "Report",
    "Result",
    "StatementError",
    "StoreError",
    "Treatment",
    "TreatmentError",
    "__version__",
    "combine",
    "connect",
    "open_release",
    "reconstruct",
    "register",
]

# Engine and arrays are imported when they are first needed: `import ppdm_sql` stays quick.
_TYPES = {
    "Analyst": "ppdm_sql.analyst.session",
    "Combined": "ppdm_sql.sites.combine",
    "Owner": "ppdm_sql.owner",
    "Published": "ppdm_sql.publish.written",
    "Report": "ppdm_sql.audit.report.model",
    "Result": "ppdm_sql.engine.result",
    "Treatment": "ppdm_sql.treatments.treatment",
}


def __getattr__(name: str) -> object:
    if name not in _TYPES:
        raise AttributeError(f"module 'ppdm_sql' has no attribute {name!r}")
    return getattr(import_module(_TYPES[name]), name)


def __dir__() -> list[str]:
    return __all__


def connect(
    database: str | os.PathLike[str],
    *,
    treatments: Sequence[type[Treatment]] = (),
    show_engine_errors: bool = False,
) -> Owner:
    """Open the owner's database, or make it, in a folder that only the owner may enter.

    `":memory:"` is for a trial: nothing stays. `treatments` adds treatments of your own to
    `ppdm_sql.treatments.TREATMENTS`. DuckDB's text of an error may quote the data, so it is
    withheld; `show_engine_errors` shows it, of plain SQL statements only.
    """
    from ppdm_sql.owner import Owner
    from ppdm_sql.treatments import with_added

    return Owner.open(database, with_added(treatments), show_engine_errors)


def open_release(
    path: str | os.PathLike[str],
    *,
    timeout_s: float = 60.0,
    memory_limit: str = "1GB",
    threads: int = 2,
    max_rows: int = 10_000_000,
    max_bytes: str = "1GB",
) -> Analyst:
    """Open a published file as an analyst does: read-only, locked, in a process that can be ended.

    `timeout_s` bounds opening and each query; DuckDB gets `memory_limit` and `threads`. An answer
    of `Analyst.sql` has at most `max_rows` and `max_bytes`, a batch of `Analyst.batches` at most
    `max_bytes`.
    """
    from ppdm_sql.analyst.session import Analyst
    from ppdm_sql.foreign.process import Limits, bytes_of

    limits = Limits(timeout_s, bytes_of(memory_limit), threads, bytes_of(max_bytes, "max_bytes"))
    return Analyst.open(path, limits, max_rows)


def combine(
    *files: str | os.PathLike[str],
    to: str | os.PathLike[str],
    agreement: str,
    how: str = "stack",
    missing: str = "null",
    release: str | None = None,
) -> Combined:
    """Combine what several sites published under one agreement into one publication.

    `how` is `"stack"` for sites with the same columns, or `"join"` for sites with different
    columns of the same people. People `missing` at a site are then filled from released values by
    `"mean"` (texts by the most frequent) or `"mode"`, left `"null"`, or `"drop"`ped. `release`
    chooses one where a file has several. `agreement` is the fingerprint that SHOW AGREEMENTS
    tells at a site: a file that its key did not sign is refused.
    """
    from ppdm_sql.sites.combine import combine as combine_files

    return combine_files(files, to, how, agreement, missing, release)


def reconstruct(values: Iterable[float], noise: str, bins: int = 20) -> TableRows:
    """Return how the values behind published noise are distributed: low, high and share of each bin.

    `values` is a column of numbers, `noise` what the codebook discloses: `"normal(0, 10)"`.
    """
    import numpy as np
    import pyarrow as pa

    from ppdm_sql.engine.kernel import KernelError
    from ppdm_sql.engine.table_rows import TableRows
    from ppdm_sql.treatments.kernels.reconstruction import reconstructed

    try:
        edges, shares = reconstructed(np.asarray(values, dtype=np.float64), noise, bins)
    except KernelError as error:
        raise StatementError(str(error), code="bad_argument") from None
    return TableRows(pa.table({"low": edges[:-1], "high": edges[1:], "share": shares}))


def register(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Register the functions `ppdm_…` in anybody's DuckDB connection; return their names.

    The functions are stateless: parameters are arguments. Registering twice is no error.
    """
    from ppdm_sql.engine.duckdb import register as register_kernel
    from ppdm_sql.treatments import TREATMENTS, kernels_of
    from ppdm_sql.treatments.kernels.reconstruction import RECONSTRUCT

    kernels = (*kernels_of(TREATMENTS), RECONSTRUCT)
    for kernel in kernels:
        register_kernel(connection, kernel)
    return tuple(kernel.name for kernel in kernels)
