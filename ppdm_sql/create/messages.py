"""What the owner is told of a release that was made: warnings, and one sentence."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ppdm_sql.engine.result import Result
from ppdm_sql.errors import PrivacyWarning, plural
from ppdm_sql.groups.figures import SUPPRESSED_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.create.make import Made
    from ppdm_sql.store.figures import Figure

_CALLER = 5
"""How far up the statement's caller is: warnings point there."""


def made_result(verb: str, made: Made) -> Result:
    """Return what CREATE and REFRESH RELEASE answer."""
    for warning in made.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=_CALLER)
    columns, rows = plural(made.columns, "column"), plural(made.rows, "row")
    message = f"{verb} release {made.name}, version {made.version}: {columns}, {rows}"
    return Result(message=message + _summary(made.figures))


def _summary(figures: Sequence[Figure]) -> str:
    """Return what GENERALIZE did, in one line; all of it is in DESCRIBE RELEASE."""
    if not figures:
        return ""
    found = {figure.figure: figure for figure in figures}
    loss = next(figure for name, figure in found.items() if name.startswith("loss"))
    count = {name: int(figure.value or 0) for name, figure in found.items()}
    suppressed = plural(count[SUPPRESSED_ROWS], "row") + " suppressed"
    if count[SUPPRESSED_ROWS]:
        suppressed += f" and {found[SUPPRESSED_ROWS].note}"
    proof = ""
    if "nodes checked" in count:
        proof = f": {count['nodes of the lattice']:,} nodes, {count['nodes checked']:,} checked"
    return (
        f"\ngeneralized {plural(count['rows treated'], 'row')} into"
        f" {plural(count['classes'], 'class', 'classes')}, the smallest of"
        f" {count['smallest class']}; {suppressed};"
        f" {loss.figure} {loss.value:.4f}, {loss.note}{proof}"
    )
