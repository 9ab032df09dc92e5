"""What GENERALIZE asks for, as the search takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import InternalError
from ppdm_sql.groups import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.compile import BoundTarget
    from ppdm_sql.groups.search import Target


def searched(
    target: BoundTarget, names: Sequence[object], chosen: tuple[int, ...] | None = None
) -> Target:
    """Return a target; `names` are the sensitive columns in their order.

    `chosen` are the values that it is about, by their numbers; None: all.
    """
    clause = target.clause
    numbers = clause.numbers
    if target.column is None:
        if clause.word == "k_map":
            return search.Population(int(clause.value))
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
            return search.RecursiveL(column, int(clause.value), float(numbers[0]))
        case "t":
            return search.Closeness(column, float(clause.value))
        case "alpha":
            return search.Alpha(column, float(clause.value), chosen)
        case "proximity":
            return search.Proximity(column, float(numbers[0]), int(clause.value))
        case "kpqr":
            return search.RareSpread(column, int(numbers[0]), float(numbers[1]), float(numbers[2]))
    raise InternalError(f"{clause.word} cannot be searched for")
