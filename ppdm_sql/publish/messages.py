"""What the owner is told of what was published: warnings, and one sentence."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ppdm_sql.engine.result import Result
from ppdm_sql.errors import PrivacyWarning, plural

if TYPE_CHECKING:
    from ppdm_sql.publish.run import Published

_CALLER = 5
"""How far up the statement's caller is: warnings point there."""


def published_result(done: Published) -> Result:
    """Return what PUBLISH RELEASE answers."""
    for warning in done.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=_CALLER)
    listed = ", ".join(
        f"{one.entry.name} (version {one.entry.version}, {plural(one.rows, 'row')})"
        for one in done.releases
    )
    return Result(message=f"published {listed} to '{done.publication.path}'")
