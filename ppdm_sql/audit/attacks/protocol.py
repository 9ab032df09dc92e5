"""What an attack is: the knowledge it needs, what it applies to, what it gets."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.audit.read.subject import Column, Subject
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray

NONE = "none"
"""The knowledge of an attack that needs none."""
SHARE = "{share}"
"""Stands for the share in what a finding says, so that it can be rounded before it is told."""


class AimKind(StrEnum):
    """What an attack is aimed at."""

    COLUMN = "column"
    GROUP = "group"
    """Columns that one treatment takes together."""
    HIDDEN = "hidden"
    """A column that shows something coarser, or nothing: only other sources tell of it."""
    TABLE = "table"


class Needs(StrEnum):
    """What an attacker must have, in short; the least comes first."""

    NOTHING = "nothing"
    FIGURES = "public figures"
    PEOPLE = "some people"
    PERSON = "all of a person"
    TABLE = "a background table"
    OTHERS = "other publications"


@dataclass(frozen=True, slots=True)
class Aim:
    """The columns an attack is aimed at."""

    scope: AimKind
    columns: tuple[Column, ...]

    @property
    def label(self) -> str:
        """The columns, for people."""
        return ", ".join(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class OtherValues:
    """A SENSITIVE column that two versions show, its values numbered alike; -1 is none."""

    here: IntArray = field(repr=False)
    """The value of each row of this version."""
    there: IntArray = field(repr=False)
    """The value of each row of the other one, in its own order."""
    classes: IntArray = field(repr=False)
    """The class of each row of the other one, in its own order; -1 for none."""


@dataclass(frozen=True, slots=True)
class Other:
    """What else is out: a version before, or another release, for rows of the same KEY."""

    label: str
    numbers: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict, repr=False)
    """Columns of the sample as the other version shows them; NaN where it does not."""
    classes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    """The class of every row there, -1 for none."""
    sizes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    """How many rows each of those classes has there, also rows that are not here."""
    shown: Mapping[str, BoolArray] = field(default_factory=dict, repr=False)
    """Of columns of the sample, whose originals the other version shows as they are."""
    values: Mapping[str, OtherValues] = field(default_factory=dict, repr=False)
    """Of SENSITIVE columns that both show."""


@dataclass(frozen=True, slots=True)
class Background:
    """A table that somebody outside has, and what it shares with the release."""

    columns: tuple[str, ...]
    """The quasi-identifiers that can be compared."""
    released: IntArray = field(repr=False)
    """What each released row shows of them, as a number."""
    known: IntArray = field(repr=False)
    """What each row of the background would show; -1 where no released row can be meant."""
    released_person: IntArray | None = field(default=None, repr=False)
    """Who each released row is, where the background has the KEY: the truth to compare with."""
    known_person: IntArray | None = field(default=None, repr=False)
    released_link: IntArray | None = field(default=None, repr=False)
    """Equal for rows that a released column puts together; None: none are."""

    @property
    def links(self) -> IntArray:
        """Which released rows are seen to be one person's."""
        if self.released_link is not None:
            return self.released_link
        return np.arange(len(self.released))

    @property
    def people(self) -> IntArray:
        """Which rows of the background are one person's; each row without a KEY is another's."""
        rows = np.arange(len(self.known))
        if self.known_person is None:
            return rows
        size = int(self.known_person.max(initial=-1)) + 1
        return np.where(self.known_person >= 0, self.known_person, size + rows)


@dataclass(frozen=True, slots=True)
class Scene:
    """What attacks are run on: a sample of rows, and what an attacker may have beside it."""

    sample: Subject = field(repr=False)
    seed: int = 0
    again: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict, repr=False)
    """More answers to the same question about the same rows, by column."""
    others: tuple[Other, ...] = ()
    background: Background | None = None
    everybody: Subject | None = field(default=None, repr=False)
    """All rows, of which the sample is one; None: the sample is all."""
    classes: IntArray | None = field(default=None, repr=False)
    """The class of every row, -1 for none; None where nobody compares them."""
    links: IntArray | None = field(default=None, repr=False)
    """Of all rows, equal for those that are seen to be one person's; None: none are."""
    newcomers: Mapping[str, int] = field(default_factory=dict)
    """Columns whose sums are out of so few rows more or less."""

    def generator(self, name: str) -> np.random.Generator:
        """Return a generator of its own for each attack: their order decides nothing."""
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def targets(self) -> Iterator[Aim]:
        """Return everything an attack can be aimed at: columns, groups, the whole."""
        everything = [c for c in self.sample.columns if c.role is not Role.KEY]
        columns = [c for c in everything if c.released.known().any()]
        groups: dict[int, list[Column]] = {}
        for column in columns:
            groups.setdefault(column.group, []).append(column)
        keys = [c for c in self.sample.of_role(Role.KEY) if not _is_renamed(c)]
        for column in (*keys, *columns):
            # What is coarser, or as it was, hides no value behind another: linking is for that.
            if not column.is_kept and not column.is_generalized:
                yield Aim(AimKind.COLUMN, (column,))
        for column in everything:
            if column.is_generalized or not column.released.known().any():
                yield Aim(AimKind.HIDDEN, (column,))
        for members in groups.values():
            if len(members) > 1 and not members[0].is_kept:
                yield Aim(AimKind.GROUP, tuple(members))
        if columns:
            yield Aim(AimKind.TABLE, tuple(columns))


@dataclass(frozen=True, slots=True)
class Finding:
    """What an attack got."""

    attack: str
    knowledge: str
    scope: AimKind
    target: str
    share: float
    """0: nothing, 1: everything; the sentence says of what."""
    chance: float
    """What a guess without the release would get."""
    result: str
    """What it got in words; SHARE stands for the share."""
    of: int | None = None
    """Of how many persons, rows or values the share is one; None where it is none of any."""
    columns: tuple[str, ...] = ()
    """What it got values of; none for an attack on the whole. A name may hold a comma."""
    needs: Needs = Needs.NOTHING
    """The knowledge in short, for overviews."""

    @property
    def sentence(self) -> str:
        """What it got, for people."""
        return self.result.replace(SHARE, percent(self.share))

    @property
    def gain(self) -> float:
        """What it got of that which a guess leaves open; below nothing is nothing.

        Of a column that is nearly always 0, a guess gets nearly all, and those who are not 0 are
        the ones to protect.
        """
        return max(0.0, (self.share - self.chance) / (1 - self.chance)) if self.chance < 1 else 0.0

    def as_row(self) -> dict[str, object]:
        """Return what reports tell of it."""
        return {
            "attack": self.attack,
            "needs": self.needs.value,
            "knowledge": self.knowledge,
            "scope": self.scope.value,
            "target": self.target,
            "share": self.share,
            "chance": self.chance,
            "sentence": self.sentence,
        }


class Attack(Protocol):
    """What every attack has. Frozen; keeps nothing of what it saw."""

    @property
    def name(self) -> str:
        """As in `--require`."""
        ...

    @property
    def needs(self) -> Needs:
        """What an attacker must have, in short; nothing where a finding's knowledge is none."""
        ...

    @property
    def knowledge(self) -> str:
        """What an attacker must have."""
        ...

    def applies_to(self, target: Aim, scene: Scene) -> bool:
        """Tell whether it can be tried."""
        ...

    def run(self, target: Aim, scene: Scene) -> Finding:
        """Try it."""
        ...


def _is_renamed(column: Column) -> bool:
    """Tell whether there is no number behind its values to be worked out."""
    return all(t.renames or t.shows_originals or t.is_always_null for t in column.traits)
