"""Counted cells from the engine to numbers: the one place where values become a `Problem`.

A cell is a row of the engine's GROUP BY: the values of all quasi-identifiers, the sensitive values,
where KEYs repeat also the person, and how many rows are so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.errors import TreatmentError
from ppdm_sql.groups.hierarchy_kinds import Dates, OnlySuppress, Ranges
from ppdm_sql.groups.hierarchy_levels import Ladder, climb, group_numbers
from ppdm_sql.groups.search.problem import Axis, Problem, Sensitive
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.compile import GroupedColumn
    from ppdm_sql.groups.hierarchy_kinds import Hierarchy
    from ppdm_sql.groups.search.problem import FloatArray, IntArray

_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})
_MEASURED = _NUMBERS | {Kind.DATE, Kind.TIMESTAMP}
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of a sensitive column in the whole source: what a class is compared with."""

    values: pa.Array = field(repr=False)
    """Distinct and in order."""
    texts: pa.Array = field(repr=False)
    counts: IntArray = field(repr=False)
    kind: Kind
    hierarchy: Hierarchy | None = None
    """For the distance of t."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Cells as numbers, and what the numbers stand for."""

    problem: Problem
    ladders: tuple[Ladder, ...]
    """One a generalized column, over its distinct values."""
    first: IntArray = field(repr=False)
    """A cell of each combination: where its values can be read."""


@dataclass(frozen=True, slots=True)
class Register:
    """Cells of a table of everybody, as those of the data."""

    keys: Sequence[pa.Array] = field(repr=False)
    texts: Sequence[pa.Array] = field(repr=False)
    fixed: Sequence[pa.Array] = field(repr=False)
    counts: IntArray = field(repr=False)


def code_cells(
    columns: Sequence[GroupedColumn],
    keys: Sequence[pa.Array],
    texts: Sequence[pa.Array],
    fixed: Sequence[pa.Array],
    counts: IntArray,
    sensitive: Sequence[tuple[pa.Array, Scale]],
    person: pa.Array | None,
    register: Register | None = None,
) -> Coded:
    """Number the values of cells and return them as the problem they make.

    Cells of a register come behind those of the data: they are nobody's rows, and count as the
    population of their combinations.
    """
    here = len(counts)
    everybody = counts * 0
    if register is not None:
        keys, texts, fixed = (
            [behind(one, other) for one, other in zip(a, b, strict=True)]
            for a, b in (
                (keys, register.keys),
                (texts, register.texts),
                (fixed, register.fixed),
            )
        )
        everybody = np.concatenate((everybody, register.counts))
        counts = np.concatenate((counts, register.counts * 0))
    codes, axes, ladders = [], [], []
    for column, values, written in zip(columns, keys, texts, strict=True):
        encoded = values.dictionary_encode(null_encoding="encode")
        code = np.asarray(encoded.indices, dtype=np.int64)
        _, places = np.unique(code, return_index=True)
        distinct = values.take(pa.array(places))
        try:
            ladder = climb(column.hierarchy.shape, distinct, written.take(pa.array(places)))
        except TreatmentError as error:
            error.what = f"'{column.name}': {error.what}"
            error.is_of_hierarchy = True
            raise error.at(column.span) from None
        codes.append(code)
        ladders.append(ladder)
        axes.append(_axis(column, distinct, ladder))
    fixed_code = numbered([group_numbers(values) for values in fixed], len(counts))
    _, first, combination = np.unique(
        numbered([*codes, fixed_code], len(counts)), return_index=True, return_inverse=True
    )
    rows = _sums(combination, counts, len(first))
    population = None if register is None else _sums(combination, everybody, len(first))
    combination, counts = combination[:here], counts[:here]
    who = None if person is None else group_numbers(person)
    persons = None if who is None else _distinct_pairs(combination, who)
    problem = Problem(
        tuple(axes),
        np.array([code[first] for code in codes], dtype=np.int64).reshape(len(codes), len(first)),
        fixed_code[first],
        rows,
        None if persons is None else persons[0],
        None if persons is None else persons[1],
        tuple(_sensitive(values, scale, combination, counts, who) for values, scale in sensitive),
        population,
    )
    return Coded(problem, tuple(ladders), first)


def behind(one: pa.Array, other: pa.Array) -> pa.Array:
    """Return an array with another behind it, in the type of the first; words of an ENUM as texts."""
    if pa.types.is_dictionary(one.type):
        one = one.cast(one.type.value_type)
    return pa.concat_arrays([one, other.cast(one.type)])


def numbered(parts: Sequence[IntArray], count: int) -> IntArray:
    """Return one number for each row of some columns of numbers, equal for equal rows."""
    whole = np.zeros(count, dtype=np.int64)
    span = 1
    for part in parts:
        size = int(part.max(initial=0)) + 1
        if span * size > _MOST:
            distinct, whole = np.unique(whole, return_inverse=True)
            span = len(distinct)
        whole = whole * size + part
        span *= size
    return whole


def _axis(column: GroupedColumn, values: pa.Array, ladder: Ladder) -> Axis:
    groups = tuple(group_numbers(labels) for labels in ladder.labels)
    # At level 0 a group is a value, whatever its text.
    groups = (np.arange(len(values)), *groups[1:])
    nulls = np.flatnonzero(np.asarray(pc.is_null(values)))
    is_cut = isinstance(column.hierarchy.shape, OnlySuppress | Ranges | Dates)
    order = _order(values) if is_cut and column.column.type.kind in _MEASURED else None
    null = int(nulls[0]) if len(nulls) else None
    return Axis(groups, ladder.covered, ladder.leaves, order, null, column.weight)


def _order(values: pa.Array) -> FloatArray:
    if pa.types.is_temporal(values.type):
        # As the numbers they are stored as: infinity is one of them.
        values = values.view(pa.int32() if pa.types.is_date32(values.type) else pa.int64())
    numbers = pc.fill_null(pc.cast(values, pa.float64(), safe=False), 0.0)
    # NaN sorts last in DuckDB, and so it does here.
    order: FloatArray = np.nan_to_num(np.asarray(numbers, dtype=np.float64), nan=np.inf)
    return order


def _sensitive(
    values: pa.Array,
    scale: Scale,
    combination: IntArray,
    counts: IntArray,
    who: IntArray | None,
) -> Sensitive:
    value = np.asarray(pc.index_in(values, value_set=scale.values), dtype=np.int64)
    tree = None
    if scale.hierarchy is not None:
        ladder = climb(scale.hierarchy.shape, scale.values, scale.texts)
        tree = tuple(group_numbers(labels) for labels in ladder.labels)
    reference = scale.counts / max(int(scale.counts.sum()), 1)
    is_ordered = tree is None and scale.kind in _MEASURED
    numbers = _numbers(scale) if scale.kind in _NUMBERS else None
    size = len(scale.values)
    if who is None:
        cells, places = np.unique(combination * size + value, return_inverse=True)
        total = _sums(places, counts, len(cells))
        return Sensitive(
            cells // size, cells % size, total, None, reference, tree, is_ordered, numbers
        )
    # Persons and combinations are numbered first, so that the product fits 64 bits.
    distinct, person_value = np.unique(who * size + value, return_inverse=True)
    first, second = _distinct_pairs(combination, person_value)
    return Sensitive(
        first,
        distinct[second] % size,
        np.ones(len(first), dtype=np.int64),
        distinct[second] // size,
        reference,
        tree,
        is_ordered,
        numbers,
    )


def _numbers(scale: Scale) -> FloatArray:
    """Return the values as numbers: NULL, which is first, as NaN."""
    numbers = _order(scale.values)
    return np.where(np.asarray(pc.is_null(scale.values)), np.nan, numbers)


def _sums(places: IntArray, counts: IntArray, size: int) -> IntArray:
    # Exact: sums of rows stay far below 2 ** 53.
    return np.bincount(places, weights=counts, minlength=size).astype(np.int64)


def _distinct_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    size = int(second.max(initial=0)) + 1
    pairs = np.unique(first * size + second)
    return pairs // size, pairs % size
