"""The rows of one version of a release, as an audit looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.audit.read import sql
from ppdm_sql.audit.read.subject import (
    Column,
    Subject,
    Values,
    codes_of,
    common_codes,
    labels_of,
    numbers_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.read.sql import AuditedColumn
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray
    from ppdm_sql.names import Name
    from ppdm_sql.release.version import Version

NOT_MATCHED = (
    "without a KEY that is there and different in every row, rows of two {} cannot be matched"
)


@dataclass(frozen=True)
class Audited:
    """The rows of one version."""

    version: Version
    columns: tuple[AuditedColumn, ...]
    table: pa.Table
    subject: Subject


def read_version(version: Version, linked: Sequence[Name] = ()) -> Audited:
    """Read the rows of a version; `linked` columns also as texts, to be compared with others."""
    rows = sql.audited_rows(version, linked)
    table = version.engine.query(sql.in_fixed_order(rows))
    columns = sql.audited_columns(version.release)
    person = None
    if sql.NUMBER in table.column_names:
        person = np.asarray(array_of(table, sql.NUMBER), dtype=np.int64)
    elif sql.PERSON in table.column_names:
        person = labels_of(array_of(table, sql.PERSON))[0] + 1
    subject = Subject(
        tuple(_column(index, column, table) for index, column in enumerate(columns)),
        table.num_rows,
        person,
        flags_of(table, sql.IS_HIGH),
        flags_of(table, sql.IS_SUPPRESSED),
    )
    return Audited(version, columns, table, subject)


def _column(index: int, column: AuditedColumn, table: pa.Table) -> Column:
    released = array_of(table, sql.released_column(index))
    original = array_of(table, sql.original_column(index))
    is_common = column.is_numeric and original.type == released.type
    if column.is_numeric:
        codes = common_codes if is_common else _own_codes
        first, second = codes(original, released)
        before = Values(numbers_of(original), first)
        after = Values(numbers_of(released), second)
    elif column.is_generalized:
        texts = array_of(table, sql.text_column(index))
        first, second = labels_of(texts, released)
        has_distances = column.source.type.kind in sql.MEASURED
        before = Values(numbers_of(original) if has_distances else None, first)
        after = Values(labels=second)
    else:
        first, second = labels_of(original, released)
        before, after = Values(labels=first), Values(labels=second)
    return Column(
        column.name.text,
        column.role,
        column.treatments,
        column.group,
        before,
        after,
        column.type.decimals,
        is_common,
        column.traits,
    )


def _own_codes(*arrays: pa.Array) -> tuple[IntArray, ...]:
    return tuple(codes_of(array) for array in arrays)


def flags_of(table: pa.Table, name: str) -> BoolArray | None:
    """Return a column of flags; None where there is none."""
    if name not in table.column_names:
        return None
    flags = pc.fill_null(array_of(table, name), False).to_numpy(zero_copy_only=False)
    return np.asarray(flags, np.bool_)


def has_unique_persons(read: Audited) -> bool:
    """Tell whether rows can be matched with those of another answer or version."""
    subject = read.subject
    return subject.person is not None and subject.rows > 0 and subject.repeated_persons is None


def places(rows: pa.Table, others: pa.Table) -> IntArray:
    """Return where the rows of one table stand in another, by person; -1 for nowhere."""
    found = pc.index_in(array_of(rows, sql.PERSON), value_set=array_of(others, sql.PERSON))
    return np.asarray(found.fill_null(-1), dtype=np.int64)


def aligned(values: FloatArray, at: IntArray) -> FloatArray:
    """Return values of other rows in the places of these; NaN where there are none."""
    return np.where(at >= 0, values[np.maximum(at, 0)], np.nan)


def array_of(table: pa.Table, name: str) -> pa.Array:
    """Return a column in one piece."""
    return table.column(name).combine_chunks()
