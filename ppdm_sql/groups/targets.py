"""What GENERALIZE asks for, as the search takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import InternalError
from ppdm_sql.groups import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.compile import BoundTarget
    from ppdm_sql.groups.search import Target


def searched(target: BoundTarget, names: Sequence[object]) -> Target:
    """Return a target; `names` are the sensitive columns in their order."""
    clause = target.clause
    if target.column is None:
        if clause.word != "k":
            raise InternalError(f"{clause.word} needs a column")
        return search.K(int(clause.value))
    column = names.index(target.column.name)
    match clause.word:
        case "l":
            return search.DistinctL(column, int(clause.value))
        case "entropy_l":
            return search.EntropyL(column, float(clause.value))
        case "recursive_l":
            return search.RecursiveL(column, int(clause.value), float(clause.number or 0))
        case "t":
            return search.Closeness(column, float(clause.value))
        case "alpha":
            return search.Alpha(column, float(clause.value))
    raise InternalError(f"{clause.word} cannot be searched for")
