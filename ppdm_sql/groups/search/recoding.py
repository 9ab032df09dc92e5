"""What was chosen for the treated rows, as texts: the same shape for a node and for a partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED
from ppdm_sql.groups.hierarchy_levels import group_numbers
from ppdm_sql.groups.search.cuts import Ranges
from ppdm_sql.groups.search.losses import precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.hierarchy_levels import Ladder
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.cuts import Groups
    from ppdm_sql.groups.search.mondrian import Partition
    from ppdm_sql.groups.search.problem import BoolArray, IntArray
    from ppdm_sql.groups.search.search import SearchResult
    from ppdm_sql.groups.search.stars import Starred


@dataclass(frozen=True, slots=True)
class Recoding:
    """What every combination is released as, what it costs, and how sure that is the least."""

    labels: tuple[pa.Array, ...] = field(repr=False)
    """Axis by axis, the text of each combination."""
    suppressed: BoolArray = field(repr=False)
    suppressed_rows: int
    loss: float
    precision_loss: float
    """1 - Prec of the treated rows; of ranges of the data, the share of values they cover."""
    levels: tuple[int, ...] | None = None
    """The level of each axis; None where it differs from class to class."""
    nodes: int | None = None
    checked: int | None = None
    pruned: int | None = None
    is_proven: bool = False
    """Whether no other choice of levels loses less."""
    least: float | None = None
    """What any choice of levels loses at least; None where there are no levels."""
    cells: int | None = None
    """Single cells that are `*`; None where only whole rows are suppressed."""


def recode_node(coded: Coded, outcome: SearchResult) -> Recoding | None:
    """Return the texts of a node; None where none was found."""
    if outcome.levels is None or outcome.suppressed is None:
        return None
    labels = tuple(
        ladder.labels[level].take(pa.array(codes))
        for ladder, level, codes in zip(
            coded.ladders, outcome.levels, coded.problem.codes, strict=True
        )
    )
    return Recoding(
        labels,
        outcome.suppressed,
        outcome.suppressed_rows,
        outcome.loss,
        precision(coded.problem, outcome.levels, outcome.suppressed),
        outcome.levels,
        outcome.nodes,
        outcome.checked,
        outcome.pruned,
        outcome.is_proven,
        outcome.least,
    )


def recode_partition(coded: Coded, partition: Partition | None) -> Recoding | None:
    """Return the texts of a local recoding; None where there is none."""
    if partition is None:
        return None
    # A suppressed combination is in no class: it takes the star behind the last one.
    star = pa.array([SUPPRESSED])
    classes = pa.array(np.where(partition.suppressed, partition.number, partition.classes))
    labels = tuple(
        pa.concat_arrays([_cell_texts(ladder, cells), star]).take(classes)
        for ladder, cells in zip(coded.ladders, partition.cells, strict=True)
    )
    return Recoding(
        labels,
        partition.suppressed,
        partition.suppressed_rows,
        partition.loss,
        partition.plain_loss,
    )


def recode_stars(coded: Coded, starred: Starred | None, levels: Sequence[int]) -> Recoding | None:
    """Return the texts of single cells that are suppressed; None where that does not help."""
    if starred is None:
        return None
    star = pa.scalar(SUPPRESSED)
    labels = tuple(
        pc.if_else(pa.array(stars), star, ladder.labels[level].take(pa.array(codes)))
        for ladder, level, codes, stars in zip(
            coded.ladders, levels, coded.problem.codes, starred.stars, strict=True
        )
    )
    return Recoding(
        labels,
        starred.suppressed,
        starred.suppressed_rows,
        starred.loss,
        starred.precision_loss,
        cells=starred.cells,
    )


def _cell_texts(ladder: Ladder, cells: Ranges | Groups) -> pa.Array:
    """Return the text of each class's cell."""
    if isinstance(cells, Ranges):
        return _range_texts(ladder.labels[0], cells)
    texts = pa.array([SUPPRESSED] * len(cells.level), pa.string())
    for level in np.unique(cells.level):
        chosen = cells.level == level
        labels = ladder.labels[level]
        # At level 0 a group is a value; above, a number of a label.
        first = np.arange(len(labels)) if level == 0 else _one_of_each(labels)
        shown = labels.take(pa.array(first[np.where(chosen, cells.group, 0)]))
        texts = pc.if_else(pa.array(chosen), shown, texts)
    return texts


def _one_of_each(labels: pa.Array) -> IntArray:
    """Return a value of each group of a level."""
    first: IntArray = np.unique(group_numbers(labels), return_index=True)[1]
    return first


def _range_texts(values: pa.Array, cells: Ranges) -> pa.Array:
    low = values.take(pa.array(np.maximum(cells.low, 0)))
    high = values.take(pa.array(np.maximum(cells.high, 0)))
    spread = pc.binary_join_element_wise(
        pc.binary_join_element_wise("[", low, ""), pc.binary_join_element_wise(high, "]", ""), ", "
    )
    texts = pc.if_else(pa.array(cells.low == cells.high), low, spread)
    return pc.if_else(pa.array(cells.low < 0), pa.scalar(SUPPRESSED), texts)
