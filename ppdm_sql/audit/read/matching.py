"""A background table against a release: which of its people could be which released rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.audit.attacks.protocol import Background
from ppdm_sql.audit.read.subject import codes_of, labels_of
from ppdm_sql.errors import TreatmentError
from ppdm_sql.groups.hierarchy_kinds import SUPPRESSED, Listed
from ppdm_sql.groups.hierarchy_levels import climb
from ppdm_sql.groups.search.cells import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.groups.hierarchy_kinds import Shape
    from ppdm_sql.groups.search import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Shared:
    """A quasi-identifier that release and background both have, as texts."""

    name: str
    original: pa.Array = field(repr=False)
    released: pa.Array = field(repr=False)
    known: pa.Array = field(repr=False)
    """Of the background."""
    is_generalized: bool
    groups: pa.Array | None = field(default=None, repr=False)
    """What the release would show of the background's values; None where that cannot be told."""


def match(
    columns: Sequence[Shared],
    is_generalized_everywhere: bool,
    persons: tuple[pa.Array, pa.Array] | None,
    suppressed: BoolArray | None = None,
) -> Background | None:
    """Return what can be compared; None where nothing can.

    Records kept as `*` say nothing of what their values are released as elsewhere.

    A generalized column is compared through what each original is released as, which whoever
    knows the hierarchy can tell; values that no released row has, through `groups`. Where that
    differs from row to row (regions, or a high class alone), only rows that show the original
    itself can be compared. Of whom something is not known, nobody can say which row is theirs.
    """
    if not columns:
        return None
    released, known, unknown = [], [], np.zeros(len(columns[0].known), dtype=np.bool_)
    for column in columns:
        groups = column.known if column.groups is None else column.groups
        original, shown, outside, group = labels_of(
            column.original, column.released, column.known, groups
        )
        unknown |= outside < 0
        if column.is_generalized and is_generalized_everywhere:
            evident = slice(None) if suppressed is None else ~suppressed
            meaning = _meaning(original[evident], shown[evident])
            if meaning is not None:
                outside = _looked_up(outside, meaning)
                if column.groups is not None:
                    outside = np.where((outside == -2) & (group >= 0), group, outside)
        unknown |= outside == -2
        released.append(shown + 2)
        known.append(outside + 2)
    parts = [np.concatenate(pair) for pair in zip(released, known, strict=True)]
    # The same numbers on both sides.
    whole = np.unique(numbered(parts, len(parts[0])), return_inverse=True)[1]
    rows = len(released[0])
    whole_known = np.where(unknown, -1, whole[rows:])
    names = tuple(column.name for column in columns)
    if persons is None:
        return Background(names, whole[:rows], whole_known)
    return Background(names, whole[:rows], whole_known, *labels_of(*persons))


def climbed(
    shape: Shape,
    original: pa.Array,
    written: pa.Array,
    shown: pa.Array,
    known: pa.Array,
    known_written: pa.Array,
) -> pa.Array | None:
    """Return the groups of a background's values at the level that the release shows.

    Originals and background as values and as texts. None where no level makes what is shown of
    the originals: then rows differ in it, or the hierarchy is another by now.
    """
    texts = pa.chunked_array([written, known_written]).combine_chunks()
    if isinstance(shape, Listed):  # what it does not list has no group
        listed = pc.is_in(texts, value_set=shape.levels[0])
        texts = pc.if_else(listed, texts, pa.scalar(None, texts.type))
    code = codes_of(texts)
    distinct, first = np.unique(code, return_index=True)
    place = pa.array(first[distinct >= 0])
    try:
        values = pa.chunked_array([original, known.cast(original.type)]).combine_chunks()
        ladder = climb(shape, values.take(place), texts.take(place))
    except (TreatmentError, pa.ArrowException):
        return None
    rows = len(written)
    here, there = (pa.array(part, mask=part < 0) for part in (code[:rows], code[rows:]))
    evident = pc.and_(pc.is_valid(written), pc.not_equal(shown, SUPPRESSED))
    if not len(place) or not pc.any(pc.is_valid(written)).as_py():
        return None
    # Records may be suppressed at any level; where all are `*`, that is the level: coarse first.
    for labels in reversed(ladder.labels):
        fits = pc.fill_null(pc.equal(labels.take(here), shown), False)
        if pc.all(pc.or_(fits, pc.invert(pc.fill_null(evident, False)))).as_py():
            return labels.take(there)
    return None


def _looked_up(known: IntArray, meaning: IntArray) -> IntArray:
    """Return what values of a background are released as; -2 where no released row tells."""
    found = np.full(len(known), -2, dtype=np.int64)
    seen = (known >= 0) & (known < len(meaning))
    found[seen] = meaning[known[seen]]
    return found


def _meaning(original: IntArray, shown: IntArray) -> IntArray | None:
    """Return what each original is released as; None where one is released in several ways."""
    there = original >= 0
    size = int(original.max(initial=-1)) + 1
    meaning = np.full(size, -2, dtype=np.int64)
    meaning[original[there]] = shown[there]
    if not (meaning[original[there]] == shown[there]).all():
        return None
    return meaning
