"""A release as the one SELECT that analysts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.compile.grouping import grouped_select
from ppdm_sql.compile.query import rows_with
from ppdm_sql.errors import Refused

if TYPE_CHECKING:
    from sqlglot import exp

    from ppdm_sql.compile.query import Storage
    from ppdm_sql.compile.targets import Target
    from ppdm_sql.model.release import Release


def compile_release(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return the SELECT of a whole release."""
    if release.execution == "udf" and not target.calls_kernels:
        raise Refused(f"{target.name} cannot run Python functions: drop execution = 'udf'")
    if release.grouping is not None:
        return grouped_select(release, storage, target)
    return rows_with(release, storage, target, {})
