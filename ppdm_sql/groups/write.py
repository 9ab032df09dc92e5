"""What was chosen, as a table of the owner's store: what each combination is released as."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.groups.compile import (
    COMBINATIONS,
    ID,
    IS_SUPPRESSED,
    SLOT,
    end_columns,
    fixed_column,
    fixed_quasi,
    grouping_of,
    key_column,
    label_column,
)
from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED
from ppdm_sql.groups.label_ends import ends_of

if TYPE_CHECKING:
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.recoding import Recoding
    from ppdm_sql.release.version import Version


def write_combinations(
    version: Version,
    cells: pa.Table,
    coded: Coded,
    recoding: Recoding,
) -> None:
    """Write the table that rows are joined to; what nobody but a register has is not in it."""
    grouping = grouping_of(version)
    is_here = pa.array(coded.problem.rows > 0)
    hidden = pa.array(recoding.suppressed).filter(is_here)
    names = [key_column(i) for i in range(len(recoding.labels))]
    names += [fixed_column(i) for i in range(len(fixed_quasi(version.release)))]
    table = cells.select(names).take(pa.array(coded.first).filter(is_here))
    for index, label in enumerate(recoding.labels):
        shown = pc.if_else(hidden, pa.scalar(SUPPRESSED), label.filter(is_here))
        table = table.append_column(label_column(index), shown)
        column = grouping.columns[index]
        if grouping.ends(column.name) is not None:
            ends = ends_of(shown, column.column.type)
            for name, values in zip(end_columns(index), ends, strict=True):
                table = table.append_column(name, values)
    table = table.append_column(IS_SUPPRESSED, hidden)
    table = table.append_column(ID, pa.array(np.arange(len(hidden))))
    version.engine.create_table(version.storage.lookup_table(SLOT, COMBINATIONS), table)
