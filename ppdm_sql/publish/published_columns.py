"""What the ledger keeps of each column, and which columns of it may be one."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ppdm_sql.parameters import parameter_column
from ppdm_sql.publish.inner_releases import inner_columns
from ppdm_sql.release.lineage import (
    is_gone,
    is_gone_table,
    is_plain,
    may_share,
    parts_of_origin,
    table_of_origin,
    written_source,
)
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import parameters
from ppdm_sql.store.publications import NOISE, PublishedColumn
from ppdm_sql.treatments import traits_of
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.publish.inner_releases import Inner
    from ppdm_sql.release.model import BoundRule, Step
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.traits import Traits


def published_columns(releases: Releases, version: Version) -> tuple[PublishedColumn, ...]:
    """Return the columns of a version as the ledger keeps them.

    What comes through another release was treated there, too.
    """
    found = []
    rules = version.release.released_rules
    noisy = [[one for one in rule.steps if one.treatment.traits.adds_noise] for rule in rules]
    whole = _keys(version, [rule.steps for rule in rules])
    noise = _keys(version, noisy)
    inner = inner_columns(releases, version)
    for rule, all_of_it, of_noise, steps in zip(rules, whole, noise, noisy, strict=True):
        for at, (name, column) in enumerate(zip(rule.names, rule.columns, strict=True)):
            origins = column.origins or frozenset({column.identity})
            key = all_of_it[at]
            if steps and of_noise[at] != key:
                key += f"{NOISE}{of_noise[at]}"
            below = inner[name.text]
            words = tuple(word for one in below for word in one.words)
            if len(below) == 1 and not steps:  # the draw is the one that was made there
                key += f"{NOISE}{_draw_of(releases, below[0])}"
            found.append(PublishedColumn(name.text, rule.role, words + rule.words, origins, key))
    return tuple(found)


def _draw_of(releases: Releases, inner: Inner) -> str:
    columns = published_columns(releases, inner.version)
    return next(one.draw for one in columns if one.name == inner.column.text)


def _keys(version: Version, steps: Sequence[Sequence[Step]]) -> Iterator[list[str]]:
    """Return a digest for each column of each rule: of where it comes from, and what was drawn."""
    row = parameters.read_row(version.engine, version.entry.storage, version.entry.tables)
    # What a name stands for is written in the source: `w + 1` and `w + 2` may both be called w.
    source = written_source(Sources(version.engine), version.release.source)
    for rule, own in zip(version.release.released_rules, steps, strict=True):
        drawn = _drawn(own, row, version.entry.tables)
        yield [_key(version, rule, at, drawn, source) for at in range(len(rule.columns))]


def _key(version: Version, rule: BoundRule, at: int, drawn: list[object], source: object) -> str:
    column, key_column = rule.columns[at], version.release.key
    parts: list[object] = [column.identity, drawn]
    read = [column]
    if key_column is not None and any(one.uses_row_key for one in rule.traits):
        parts.append(key_column.identity)
        if key_column.type.kind is not Kind.INTEGER:  # as which it draws another noise
            parts.append(key_column.type.kind.name)
        read.append(key_column)
    # One noise per person is what its key says, whatever its values are computed by.
    is_shared = any(step.treatment.shares_noise for step in rule.steps)
    if not is_shared and not all(is_plain(one) for one in read):
        parts.append(source)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _drawn(
    steps: Sequence[Step], row: Mapping[str, Parameter], tables: Sequence[str]
) -> list[object]:
    """Return what treatments fixed: numbers, and the names of their tables."""
    found: list[object] = []
    for step in steps:
        prefix = parameter_column(step.slot, "")
        own = {k.removeprefix(prefix): v for k, v in row.items() if k.startswith(prefix)}
        kept = step.treatment.ledger_parameters(own)
        found += [step.treatment.keyword, sorted(kept.items())]
        if not step.treatment.traits.adds_noise:  # there a key says what is drawn
            found += [name for name in tables if f"_{prefix}" in name]
    return found


def traits_of_column(releases: Releases, column: PublishedColumn) -> list[Traits]:
    """Return the traits of what a column was treated with."""
    return [traits_of(word, releases.treatments) for word in column.treatments]


def may_be_one(sources: Sources, other: PublishedColumn, column: PublishedColumn) -> bool:
    """Whether two columns may come from one, which may have been renamed since, or its table."""
    if may_share(other.origins, column.origins):
        return True
    tables = set(map(table_of_origin, column.origins))
    names = {_name(origin) for origin in column.origins}
    gone = {origin for origin in other.origins if is_gone(sources, origin)}
    return any(
        table_of_origin(origin) in tables
        or (is_gone_table(sources, origin) and _name(origin) in names)
        for origin in gone
    )


def _name(origin: str) -> str:
    return parts_of_origin(origin)[1].folded
