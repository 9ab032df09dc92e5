"""The values of SENSITIVE columns: how often the source has each, and which ones targets name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.groups import queries
from ppdm_sql.groups.compile import COUNT, grouping_of
from ppdm_sql.groups.search.cells import Scale

if TYPE_CHECKING:
    from ppdm_sql.groups.compile import BoundTarget, Grouping
    from ppdm_sql.names import Name
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn


@dataclass(frozen=True)
class SensitiveValues:
    """What the targets of one version are measured against; the source is asked once."""

    version: Version
    references: dict[Name, pa.Table] = field(default_factory=dict, repr=False)

    @property
    def _grouping(self) -> Grouping:
        return grouping_of(self.version)

    def reference(self, column: InputColumn) -> pa.Table:
        """Return how often each sensitive value stands in the source, which is asked once."""
        if column.name not in self.references:
            # In persons wherever there is a KEY: outside WHEN, somebody may have many rows.
            by_person = self._grouping.person is not None
            query = queries.reference_query(self.version, column, by_person)
            self.references[column.name] = self.version.engine.query(query)
        return self.references[column.name]

    def of_cells(self, cells: pa.Table) -> list[tuple[pa.Array, Scale]]:
        """Return the sensitive columns of cells, with what the whole source has of each."""
        pairs = []
        for index, column in enumerate(self._grouping.sensitive):
            table = self.reference(column)
            tree = next(
                (
                    target.hierarchy
                    for target in self._grouping.targets
                    if target.hierarchy is not None and target.column == column
                ),
                None,
            )
            scale = Scale(
                _column(table, queries.sensitive_column(0)),
                _column(table, queries.text_column(0)),
                np.asarray(_column(table, COUNT), dtype=np.int64),
                column.type.kind,
                tree,
            )
            pairs.append((_column(cells, queries.sensitive_column(index)), scale))
        return pairs

    def chosen(self, target: BoundTarget) -> tuple[int, ...] | None:
        """Return the numbers of the values that a target names, -1 for one that nobody has."""
        values, column = target.clause.values, target.column
        if not values or column is None:
            return None
        reference = self.reference(column)
        known = _column(reference, queries.sensitive_column(0))
        query = queries.chosen_query(column)
        given = self.version.engine.query(query, ([str(value) for value in values],))
        place = pc.index_in(_column(given, queries.sensitive_column(0)), value_set=known)
        return tuple(pc.fill_null(place, -1).to_pylist())


def _column(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()
