"""Noises of one column, judged together: draws that average, rows left alone, one noise twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.publish.inner_releases import inner_columns
from ppdm_sql.publish.published_columns import may_be_one, traits_of_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.publish.earlier_versions import EarlierVersions
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.publications import Outgoing, PublishedColumn, PublishedRelease


@dataclass(frozen=True, slots=True)
class _Noise:
    """A noise that is out, or about to be."""

    release: QualifiedName
    draw: str
    """The same for columns with one draw."""
    leaves_rows: bool
    is_earlier: bool


def noises_together(
    versions: EarlierVersions,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
) -> Iterator[str]:
    """Say what the noises of a release give away together with those that are out."""
    name = outgoing.entry.name
    shared, leaving = (
        _columns(versions, version, what) for what in ("shares_noise", "leaves_rows")
    )
    for column in outgoing.columns:
        if not _is_noise(versions, column):
            continue
        known = list(_noises(versions, version, outgoing, earlier, column))
        apart = [one for one in known if one.draw != column.draw]
        again = [one for one in known if one.is_earlier and one not in apart]
        if apart:
            draws = len({one.draw for one in apart}) + 1
            names = ", ".join(sorted({str(one.release) for one in apart}))
            yield (
                f"{name}: {draws} independent noises of '{column.name}' are published with this one"
                f" (the others in {names}): averaged, noises of one size keep {1 / math.sqrt(draws):.0%}"
                " of its standard deviation"
            )
        if column.name in leaving and any(one.leaves_rows for one in apart):
            yield (
                f"{name}: '{column.name}' was published with another noise that leaves rows alone"
                " (rho): where the two agree, the value is the original one"
            )
        if column.name in shared and again:
            yield (
                f"{name}: '{column.name}' has one noise per person, the same as in the publication of"
                f" {again[0].release} before: values that changed since, or another unit, are disclosed"
                " exactly by the difference"
            )


def _noises(
    versions: EarlierVersions,
    version: Version,
    outgoing: Outgoing,
    earlier: Sequence[PublishedRelease],
    column: PublishedColumn,
) -> Iterator[_Noise]:
    """Return the noises of what may be one column, those of this release last."""
    for one in earlier:
        for other in one.columns:
            if _is_noise(versions, other) and may_be_one(versions.sources, other, column):
                opened = versions.open(one)
                leaves = opened is not None and other.name in _columns(
                    versions, opened, "leaves_rows"
                )
                yield _Noise(one.release, other.draw, leaves, is_earlier=True)
    for other in outgoing.columns:
        is_beside = other.name != column.name and _is_noise(versions, other)
        if is_beside and may_be_one(versions.sources, other, column):
            leaves = other.name in _columns(versions, version, "leaves_rows")
            yield _Noise(outgoing.entry.name, other.draw, leaves, is_earlier=False)


def _is_noise(versions: EarlierVersions, column: PublishedColumn) -> bool:
    # What a shuffle gives a row has nothing to do with its own value, however often it is drawn.
    traits = traits_of_column(versions.releases, column)
    return any(one.adds_noise and one.stays_near for one in traits)


def _columns(versions: EarlierVersions, version: Version, what: str) -> frozenset[str]:
    """Return the columns with a noise that shares itself, or leaves rows alone, here or below."""
    own = {
        name.text
        for rule in version.release.released_rules
        if any(getattr(step.treatment, what) for step in rule.steps)
        for name in rule.names
    }
    below = {
        name
        for name, inner in inner_columns(versions.releases, version).items()
        if any(getattr(treatment, what) for one in inner for treatment in one.treatments)
    }
    return frozenset(own | below)
