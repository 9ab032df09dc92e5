"""One column shown in two ways, which together tell more of it than each alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import PpdmError
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.identifying import FEWEST
from ppdm_sql.publish.published_columns import may_be_one, traits_of_column
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import is_unfollowed
from ppdm_sql.store.publications import NOISE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.groups.compile import GroupedColumn
    from ppdm_sql.publish.earlier_versions import EarlierVersions
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Outgoing, PublishedColumn, PublishedRelease
    from ppdm_sql.treatments.traits import Traits

_ROWS = "s"
_MANY = 10
"""Rows of one name from which it is frequent: a person has few, a ward has many."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How one release shows a column."""

    column: PublishedColumn
    traits: Sequence[Traits]
    version: Version | None
    """None where it can no longer be opened."""
    is_beside: bool = False
    """Whether it is in the same rows as the other way."""

    @property
    def is_null(self) -> bool:
        return any(trait.is_always_null for trait in self.traits)

    @property
    def is_kept(self) -> bool:
        """Whether what the source says is shown as it is."""
        return all(trait.shows_originals for trait in self.traits)

    @property
    def is_whole(self) -> bool:
        """Whether all that there is of the column is shown: what is computed from it is a part."""
        if self.is_kept and is_unfollowed(self.column.origins):
            return True  # nobody knows; what is said of such columns is said by their names
        if not self.is_kept or len(self.column.origins) != 1:
            return False
        (origin,) = self.column.origins
        drawn: list[object] = []
        for word in self.column.treatments:
            drawn += [word, []]
        plain = (_key_of(origin, []), _key_of(origin, drawn))
        return self.column.key_id.partition(NOISE)[0] in plain

    @property
    def shows_a_part(self) -> bool:
        return self.is_kept or any(trait.shows_a_part for trait in self.traits)

    @property
    def renames(self) -> bool:
        return not self.is_kept and all(trait.renames for trait in self.traits)

    @property
    def is_one_to_one(self) -> bool:
        """Whether whoever knows all values can turn it back by their order or frequency."""
        is_drawn = any(
            trait.adds_noise or trait.generalizes or trait.shows_means or trait.shows_some_originals
            for trait in self.traits
        )
        if any(trait.draws_from_keys for trait in self.traits):
            # Names of things that hardly repeat, such as persons, are as frequent as each other.
            return not is_drawn and self._repeats()
        return not (self.is_kept or is_drawn) and not any(t.shows_a_part for t in self.traits)

    def _repeats(self) -> bool:
        """Whether values are few, or stand in many rows each, so that their frequency tells them."""
        if self.version is None:
            return True
        release = self.version.release
        named_by = (
            column.name
            for rule in release.released_rules
            for name, column in zip(rule.names, rule.columns, strict=True)
            if name.text == self.column.name
        )
        value = column_of(next(named_by).text, _ROWS)
        query = exp.select(
            named(exp.Count(this=exp.Distinct(expressions=[value])), "different"),
            named(exp.Count(this=value.copy()), "rows"),
        ).from_(source_table(release.source, _ROWS))
        try:
            (row,) = self.version.engine.query(query).to_pylist()
        except PpdmError:
            return True  # its source is not what it was: nobody knows
        return bool(row["different"] < FEWEST or row["rows"] >= _MANY * row["different"])

    def grouped(self) -> GroupedColumn | None:
        """Return how it is generalized, where nothing asks for a number of persons in each class."""
        grouping = None if self.version is None else find_grouping(self.version.release)
        if grouping is None or grouping.k > 1:
            return None
        return next((one for one in grouping.columns if one.name.text == self.column.name), None)


def _key_of(origin: str, drawn: list[object]) -> str:
    """Return the key of a column of a table that nothing was done to, as the ledger has it."""
    return hashlib.sha256(json.dumps([origin, drawn]).encode()).hexdigest()[:16]


def shown_in_two_ways(
    versions: EarlierVersions,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
) -> Iterator[str]:
    """Say where one column is shown in two ways: the beginning here, the end or a sum there."""
    ways = [_way(versions, one, version, is_beside=True) for one in outgoing.columns]
    open_ways = list(ways)
    for place in (None, *reversed(earlier)):
        opened = version if place is None else versions.open(place)
        pairs = []
        for way in list(open_ways):
            if place is None:
                others = [other for other in ways if other.column.name > way.column.name]
            else:
                others = [_way(versions, one, opened) for one in place.columns]
            other = next((one for one in others if _tell_more(versions, way, one)), None)
            if other is not None:
                pairs.append((way.column.name, other.column.name))
                open_ways.remove(way)  # said once
        if not pairs:
            continue
        if place is None:
            listed = " and ".join(f"'{one}' and '{other}'" for one, other in pairs)
            said = f"{listed} show one column by two rules"
        else:
            listed = " and ".join(f"'{one}' and its '{other}'" for one, other in pairs)
            said = f"{place.release} {versions.when(place)}; {listed} show one column by two rules"
        each = " each" if len(pairs) > 1 else ""
        yield (
            f"{outgoing.entry.name}: {said}{each}: together they show more of it than each, perhaps all"
        )


def _way(
    versions: EarlierVersions,
    column: PublishedColumn,
    opened: Version | None,
    *,
    is_beside: bool = False,
) -> _Way:
    return _Way(column, traits_of_column(versions.releases, column), opened, is_beside)


def _tell_more(versions: EarlierVersions, one: _Way, other: _Way) -> bool:
    if _are_one_way(one, other) or not may_be_one(versions.sources, other.column, one.column):
        return False
    # Of a source that nobody can follow, any two columns may be one: said of rules alone.
    is_lost = is_unfollowed(one.column.origins | other.column.origins)
    if is_lost and other.column.name != one.column.name:
        return all(t.shows_a_part for t in (*one.traits, *other.traits)) and _show_more_together(
            one, other
        )
    return _show_more_together(one, other)


def _are_one_way(one: _Way, other: _Way) -> bool:
    """Whether two columns show the same."""
    if all(any(trait.generalizes for trait in way.traits) for way in (one, other)):
        # Where a class has k persons, classes of the two together are counted.
        groups = [way.grouped() for way in (one, other)]
        return None in groups or len({(g.hierarchy, g.levels) for g in groups if g}) == 1
    return other.column.key_id == one.column.key_id


def _show_more_together(one: _Way, other: _Way) -> bool:
    """Whether two ways to show a column may tell more together than each alone."""
    ways = (one, other)
    if one.is_null or other.is_null:
        return False
    if one.is_kept and other.is_kept:
        return not (one.is_whole or other.is_whole)
    if one.is_whole or other.is_whole:
        # Beside the value nothing is left to tell. Values in rows that nobody can tell apart
        # give back what keeps their order, or how frequent they are.
        hidden = other if one.is_whole else one
        is_key = Role.KEY in (one.column.role, other.column.role)
        return not other.is_beside and hidden.is_one_to_one and not is_key
    if all(any(trait.adds_noise and trait.stays_near for trait in way.traits) for way in ways):
        return False  # noises are counted by themselves
    if all(any(trait.shows_means for trait in way.traits) for way in ways):
        return False  # and so are groups
    shows_a_part = one.shows_a_part or other.shows_a_part
    if one.renames and other.renames and not shows_a_part:
        return False
    if (one.renames or other.renames) and not shows_a_part:
        # Equal names tell whose noise to average; what keeps its frequency tells what they mean.
        drawn = one if other.renames else other
        return any(
            (trait.adds_noise and trait.stays_near)
            or trait.shows_means
            or trait.shows_some_originals
            or trait.generalizes
            for trait in drawn.traits
        )
    # The same sum twice, with another constant, is the same sum; sums of groups are counted.
    is_sum = all(t.keeps_sums or (t.is_affine and not t.mixes_columns) for t in one.traits)
    return not (list(one.traits) == list(other.traits) and is_sum and not shows_a_part)
