"""Releases that a release reads: what they did to a column is done to it, whoever publishes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import PpdmError
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.names import Name
from ppdm_sql.release.ancestry import passed_releases
from ppdm_sql.release.sources import Sources
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.treatment import Treatment


@dataclass(frozen=True, slots=True)
class Inner:
    """A column of another release that a column comes through."""

    version: Version
    column: Name

    @property
    def words(self) -> tuple[str, ...]:
        """What that release did to it."""
        return next(
            (
                rule.words
                for rule in self.version.release.released_rules
                if self.column in rule.names
            ),
            (),
        )

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        """The treatments themselves."""
        return tuple(
            step.treatment
            for rule in self.version.release.released_rules
            if self.column in rule.names
            for step in rule.steps
        )


def inner_columns(releases: Releases, version: Version) -> Mapping[str, tuple[Inner, ...]]:
    """Return what each released column comes through; a release that cannot be opened says nothing."""
    sources = Sources(releases.engine)
    opened: dict[QualifiedName, Version | None] = {}
    found: dict[str, tuple[Inner, ...]] = {}
    for rule in version.release.released_rules:
        for name, column in zip(rule.names, rule.columns, strict=True):
            passed = passed_releases(sources, version.release.source, column.name)
            for release, _ in passed:
                if release not in opened:
                    opened[release] = _open(releases, release)
            found[name.text] = tuple(
                Inner(one, _line_of(one, inner))
                for release, inner in sorted(passed, key=str)
                if (one := opened[release]) is not None and not _reads(sources, one, version)
            )
    return found


def _line_of(version: Version, column: Name) -> Name:
    """Return the column whose line says what a column is: an end of its range is none of its own."""
    grouping = find_grouping(version.release)
    for one in () if grouping is None else grouping.columns:
        if column in map(Name, (grouping.ends(one.name) if grouping else None) or ()):
            return one.name
    return column


def check_below(releases: Releases, version: Version) -> None:
    """Raise unless the rows of today reach the targets of every release that is read."""
    seen: set[QualifiedName] = set()
    for columns in inner_columns(releases, version).values():
        for one in columns:
            name = one.version.entry.name
            if name not in seen and find_grouping(one.version.release) is not None:
                generalizing = Generalizing(one.version, releases.on_stage)
                generalizing.verify(generalizing.population())
            seen.add(name)


def classes_below(releases: Releases, version: Version) -> Iterator[str]:
    """Say whose classes are not counted together with what is out: those of releases that are read."""
    named: dict[str, None] = {}
    for columns in inner_columns(releases, version).values():
        for one in columns:
            traits = (traits_of(word, releases.treatments) for word in one.words)
            if any(trait.generalizes for trait in traits):
                named[str(one.version.entry.name)] = None
    for name in named:
        yield (
            f"{version.entry.name}: it reads {name}, whose classes cannot be counted together with those"
            " of other publications through it; publish the release itself"
        )


def _reads(sources: Sources, one: Version, other: Version) -> bool:
    """Whether a release reads another one: that one cannot read it.

    Of two whose sources nobody can follow, each may; then the one that was made first does not.
    """
    if one.entry.name == other.entry.name:
        return True
    back = (
        passed_releases(sources, one.release.source, column.name)
        for rule in one.release.rules
        for column in rule.columns
    )
    is_read = any(release == other.entry.name for found in back for release, _ in found)
    return is_read and one.entry.release_id > other.entry.release_id


def _open(releases: Releases, name: QualifiedName) -> Version | None:
    entry = releases.find(name)
    try:
        return None if entry is None else releases.open(entry)
    except PpdmError:
        return None
