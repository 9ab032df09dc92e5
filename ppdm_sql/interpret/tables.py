"""Tables of results, column by column: values of released columns, thresholds, texts of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.errors import plural
from ppdm_sql.interpret.items import Items
from ppdm_sql.interpret.predicates import Compare, Constant
from ppdm_sql.interpret.wording import simple
from ppdm_sql.names import Name, chain
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.interpret.rewriting import Rewriter
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.types import ColumnType

_FEATURE, _THRESHOLD = Name("feature"), Name("threshold")
_NEAR_WHOLE = 1e-9
_ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


@dataclass(frozen=True, slots=True)
class Translated:
    """A table in original terms. What it tells is the owner's secret."""

    table: pa.Table = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)


def translate_table(table: pa.Table, rewriter: Rewriter) -> Translated:
    """Translate what is in released terms; everything else is handed on as it is."""
    items = Items(rewriter)
    notes: dict[str, None] = {}
    columns = {Name(name): table.column(name).combine_chunks() for name in table.column_names}
    done: dict[Name, pa.Array] = {}
    for rule in rewriter.release.released_rules:
        done |= _values(rule, columns, rewriter, notes)
    if _FEATURE in columns and _THRESHOLD in columns and _is_text(columns[_FEATURE]):
        done |= _thresholds(columns[_FEATURE], columns[_THRESHOLD], rewriter, items)
    for name, values in columns.items():
        if name not in done and _is_text(values) and name not in _released(rewriter):
            done[name] = _texts(values, items)
    arrays = [done.get(name, values) for name, values in columns.items()]
    return Translated(pa.table(arrays, names=table.column_names), (*notes, *items.notes))


def _released(rewriter: Rewriter) -> set[Name]:
    return {name for rule in rewriter.release.released_rules for name in rule.names}


def _values(
    rule: BoundRule, columns: dict[Name, pa.Array], rewriter: Rewriter, notes: dict[str, None]
) -> dict[Name, pa.Array]:
    """Translate the columns that have the names of a rule's own."""
    present = [name for name in rule.names if name in columns]
    if not present or rewriter.is_untreated(present[0]):
        return {}
    if rule.is_generalized:
        return {name: _ungrouped(name, rule, columns[name], rewriter, notes) for name in present}
    words = chain(rule.words)
    listed = ", ".join(map(str, present))
    if any(step.treatment.exactness is Exactness.LOOKUP for step in rule.steps):
        found = {name: _found_again(name, columns[name], rewriter) for name in present}
        for name, values in found.items():
            lost = values.null_count - columns[name].null_count
            if lost > 0:
                notes[
                    f"{name}: {plural(lost, 'value')} {'is' if lost == 1 else 'are'} of no row of today, and NULL"
                    " here; names of one recipient or one publication need PUBLICATION (--publication; see release_info)"
                ] = None
        return found
    if not all(step.treatment.inverts for step in rule.steps):
        notes[f"{listed} stays in released terms: {words} cannot be inverted"] = None
        return {}
    try:
        arrays = _typed(rule, columns)
        for step in reversed(rule.steps):
            arrays = step.treatment.invert(arrays, rewriter.drawn[step.slot])
    except KeyError:
        missing = ", ".join(str(name) for name in rule.names if name not in columns)
        notes[f"{listed} stays in released terms: {words} needs {missing} beside it"] = None
        return {}
    except (pa.ArrowException, ValueError):
        notes[f"{listed} stays in released terms: the values are not among those of {words}"] = None
        return {}
    if not all(traits.is_affine for traits in rule.traits) and any(
        pa.types.is_floating(array.type) for array in arrays
    ):
        notes[
            f"{listed}: if these are means, their translation is approximate: {words} does not keep means"
        ] = None
    return {
        name: _whole(array, column.type)
        for name, array, column in zip(rule.names, arrays, rule.columns, strict=True)
    }


def _ungrouped(
    name: Name, rule: BoundRule, values: pa.Array, rewriter: Rewriter, notes: dict[str, None]
) -> pa.Array:
    """Translate labels: one value to itself, a group to the condition that a row of it meets."""
    texts = values.cast(pa.string())
    at = rule.names.index(name)
    known = {
        one: rewriter.behind_label(rule, at, one) for one in pc.unique(texts).to_pylist() if one
    }
    lost = [one for one in known.values() if not one.is_complete]
    for one in lost:
        notes[one.notes[0]] = None
    if len(lost) == len(known):
        return values
    shown = {label: label if one in lost else one.of_value() for label, one in known.items()}
    notes |= dict.fromkeys(note for one in known.values() if one not in lost for note in one.notes)
    found = pa.array([shown.get(one, one) for one in texts.to_pylist()], pa.string())
    try:
        # A column that was left as it is gets its own type back.
        return found.cast(_ARROW.get(rule.columns[at].type.kind, pa.string()))
    except pa.ArrowInvalid:
        return found


def _typed(rule: BoundRule, columns: dict[Name, pa.Array]) -> tuple[pa.Array, ...]:
    """Return the columns of a rule in the types that it released; `KeyError` for a missing one."""
    return tuple(
        columns[name].cast(_ARROW.get(type_.kind, columns[name].type))
        for name, type_ in zip(rule.names, rule.output_types, strict=True)
    )


def _whole(values: pa.Array, original: ColumnType) -> pa.Array:
    """Return numbers of an integer column without the last bits that computing left behind."""
    if original.kind is not Kind.INTEGER or not pa.types.is_floating(values.type):
        return values
    nearest = pc.round(values)
    is_near = pc.less(pc.abs(pc.subtract(values, nearest)), _NEAR_WHOLE)
    return pc.if_else(is_near, nearest, values)


def _found_again(name: Name, values: pa.Array, rewriter: Rewriter) -> pa.Array:
    texts = values.cast(pa.string()).dictionary_encode()
    wanted = texts.dictionary.to_pylist()
    found = rewriter.source.originals(name, wanted)
    back = [None if text not in found else str(found[text]) for text in wanted]
    return pa.array(back, pa.string()).take(texts.indices)


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _texts(values: pa.Array, items: Items) -> pa.Array:
    """Translate each distinct text once."""
    encoded = values.cast(pa.string()).dictionary_encode()
    done = [items.translate(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(done, pa.string()).take(encoded.indices)


def _thresholds(
    features: pa.Array, thresholds: pa.Array, rewriter: Rewriter, items: Items
) -> dict[Name, pa.Array]:
    """Translate splits `feature <= threshold`, each distinct one once."""
    splits = pa.table({"f": features.cast(pa.string()), "t": thresholds}).group_by(["f", "t"])
    known = _released(rewriter)
    done: dict[tuple[str | None, str], tuple[str | None, object]] = {}  # by text: NaN is no NaN
    for split in splits.aggregate([]).to_pylist():
        feature, threshold = split["f"], split["t"]
        key = feature, repr(threshold)
        done[key] = (feature and items.translate(feature), threshold)
        if feature and threshold is not None and Name(feature) in known:
            done[key] = (feature, _moved(feature, threshold, rewriter, items))
    # One lookup a row in a table of distinct splits: trees have few of both.
    pairs = [
        done[feature, repr(threshold)]
        for feature, threshold in zip(
            features.cast(pa.string()).to_pylist(), thresholds.to_pylist(), strict=True
        )
    ]
    return {
        _FEATURE: pa.array([pair[0] for pair in pairs], pa.string()),
        _THRESHOLD: pa.array([pair[1] for pair in pairs], thresholds.type),
    }


def _moved(feature: str, threshold: object, rewriter: Rewriter, items: Items) -> object:
    """Return a threshold in original terms, where `<=` stays `<=`; else itself, and a note."""
    if not isinstance(threshold, int | float) or not math.isfinite(threshold):
        items.notes[f"a threshold of {feature} is not a number: it stays as it is"] = None
        return threshold
    name = Name(feature)
    text = repr(threshold)
    interpretation = rewriter.rewrite(Compare(name, "<=", Constant(threshold, text)))
    items.notes |= dict.fromkeys(interpretation.notes)
    rule, index = rewriter.place(name)
    pair = simple(interpretation.tree, rule.columns[index].name)
    if not interpretation.is_complete or pair is None or pair[0] != "<=":
        items.notes[
            f"a threshold of {feature} stays in released terms: it cannot be written as one '<='"
        ] = None
        return threshold
    return float(pair[1])
