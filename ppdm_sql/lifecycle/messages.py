"""What the owner is told of a release that was made: warnings, and one sentence."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ppdm_sql.engine.result import Result
from ppdm_sql.errors import PrivacyWarning, plural, quoted_once
from ppdm_sql.groups.messages import summary_of

if TYPE_CHECKING:
    from ppdm_sql.lifecycle.make_version import Made

_CALLER = 5
"""How far up the statement's caller is: warnings point there."""


def made_result(verb: str, *releases: Made) -> Result:
    """Return what CREATE and REFRESH RELEASE answer."""
    lines: list[str] = []
    for made in releases:
        for warning in made.warnings:
            warnings.warn(quoted_once(warning), PrivacyWarning, stacklevel=_CALLER)
        columns, rows = plural(made.columns, "column"), plural(made.rows, "row")
        lines.append(f"{verb} release {made.name}, version {made.version}: {columns}, {rows}")
        lines += [] if made.findings is None else [summary_of(made.findings)]
    return Result(message="\n".join(lines))
