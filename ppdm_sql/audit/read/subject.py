"""What is audited: the rows of a release, each value beside the original it was made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from ppdm_sql.groups.search import BoolArray, FloatArray, IntArray
    from ppdm_sql.language.syntax import Role
    from ppdm_sql.treatments.traits import Traits

_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""Units of time in a day."""


@dataclass(frozen=True, slots=True)
class Values:
    """One column: as numbers where it has distances, as numbered labels where it has texts."""

    numbers: FloatArray | None = field(default=None, repr=False)
    """NaN for NULL; dates are days."""
    labels: IntArray | None = field(default=None, repr=False)
    """Equal for equal values, -1 for NULL; of numbers, too, where they are closer than doubles."""

    def codes(self) -> IntArray:
        """Return a number for each row, equal for equal values; NULL is a value of its own."""
        if self.labels is not None:
            return self.labels + 1
        assert self.numbers is not None
        return np.unique(self.numbers, return_inverse=True)[1]

    def known(self) -> BoolArray:
        """Tell which rows are not NULL."""
        if self.numbers is not None:
            return ~np.isnan(self.numbers)
        assert self.labels is not None
        known: BoolArray = self.labels >= 0
        return known

    def take(self, rows: IntArray) -> Values:
        """Return some rows."""
        return Values(
            None if self.numbers is None else self.numbers[rows],
            None if self.labels is None else self.labels[rows],
        )


@dataclass(frozen=True, slots=True)
class Column:
    """A released column and what it was made of."""

    name: str
    role: Role
    treatments: tuple[str, ...]
    """Words, without arguments."""
    group: int
    """The same for columns that one treatment takes together."""
    original: Values = field(repr=False)
    released: Values = field(repr=False)
    decimals: int | None = None
    """Decimals of the released type, which everybody sees; None where it does not tell."""
    has_common_labels: bool = False
    """Whether numbers are labelled together, so that equal labels are equal numbers."""
    own_traits: tuple[Traits, ...] | None = field(default=None, repr=False)
    """Of its treatments, where they are at hand; None: look the words up."""

    @property
    def traits(self) -> tuple[Traits, ...]:
        """What may be relied on in its treatments, in order."""
        if self.own_traits is not None:
            return self.own_traits
        return tuple(traits_of(word) for word in self.treatments)

    @property
    def is_kept(self) -> bool:
        """Whether it is released as it is."""
        return all(traits.shows_originals for traits in self.traits)

    @property
    def is_generalized(self) -> bool:
        """Whether GENERALIZE made it coarser."""
        return any(traits.generalizes for traits in self.traits)

    @property
    def is_numeric(self) -> bool:
        """Whether it is numbers before and after."""
        return self.original.numbers is not None and self.released.numbers is not None

    def is_shown(self) -> BoolArray:
        """Tell which rows show their original as it is; NULL is nothing to show."""
        before, after = self.original, self.released
        if before.numbers is not None and after.numbers is not None:
            same = np.asarray(before.numbers == after.numbers, np.bool_)
            # Whole numbers beyond 2 ** 53 can be one double and two numbers.
            return same & (before.codes() == after.codes()) if self.has_common_labels else same
        if before.labels is None or after.labels is None:
            return np.zeros(len(before.known()), dtype=np.bool_)
        return np.asarray((before.labels == after.labels) & (before.labels >= 0), np.bool_)

    def pair(self) -> tuple[FloatArray, FloatArray]:
        """Return original and released numbers of the rows that have both."""
        before, after = self.original.numbers, self.released.numbers
        assert before is not None
        assert after is not None
        both = ~(np.isnan(before) | np.isnan(after))
        return before[both], after[both]

    def label_pair(self) -> tuple[IntArray, IntArray]:
        """Return numbers for original and released values of the rows that have both."""
        both = self.original.known() & self.released.known()
        return self.original.codes()[both], self.released.codes()[both]


@dataclass(frozen=True, slots=True)
class Subject:
    """The rows of a release."""

    columns: tuple[Column, ...]
    rows: int
    person: IntArray | None = field(default=None, repr=False)
    """Which rows are about the same person, where there is a KEY."""
    is_high: BoolArray | None = field(default=None, repr=False)
    """With WHEN: the rows that were generalized."""
    is_suppressed: BoolArray | None = field(default=None, repr=False)
    """Records kept as `*`: exempt from k, counted apart."""

    @property
    def repeated_persons(self) -> IntArray | None:
        """Persons where some stand in several rows; None where counting rows counts persons."""
        if self.person is None or np.bincount(self.person, minlength=1).max(initial=0) <= 1:
            return None
        return self.person

    def of_role(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns of some roles."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def numeric(self) -> tuple[Column, ...]:
        """The columns that are numbers before and after, with something in them."""
        return tuple(c for c in self.columns if c.is_numeric and len(c.pair()[0]) > 1)

    def take(self, rows: IntArray) -> Subject:
        """Return some rows."""
        return Subject(
            tuple(
                replace(c, original=c.original.take(rows), released=c.released.take(rows))
                for c in self.columns
            ),
            len(rows),
            None if self.person is None else self.person[rows],
            None if self.is_high is None else self.is_high[rows],
            None if self.is_suppressed is None else self.is_suppressed[rows],
        )

    def sample(self, most: int, generator: np.random.Generator) -> Subject:
        """Return rows drawn without replacement; all of them if there are few."""
        if self.rows <= most:
            return self
        return self.take(np.sort(generator.choice(self.rows, most, replace=False)))


def numbers_of(array: pa.Array) -> FloatArray:
    """Return an Arrow column as numbers; times as days, NULL and infinity as NaN."""
    if pa.types.is_date32(array.type):
        return _days(array.view(pa.int32()), 1, 2**31 - 1)
    if pa.types.is_timestamp(array.type):
        return _days(array.view(pa.int64()), _DAY[array.type.unit], 2**63 - 1)
    return _finite(pc.cast(array, pa.float64(), safe=False))


def codes_of(array: pa.Array) -> IntArray:
    """Number the values of one column, however close they are; NULL gets -1."""
    encoded = array.dictionary_encode()
    return np.array(encoded.indices.fill_null(-1), dtype=np.int64)


def common_codes(*arrays: pa.Array) -> tuple[IntArray, ...]:
    """Number the values of columns of one type together, however close they are; NULL gets -1."""
    whole = codes_of(pa.chunked_array(arrays).combine_chunks())
    return tuple(np.split(whole, np.cumsum([len(array) for array in arrays])[:-1]))


def same_values(first: pa.Array, second: pa.Array) -> BoolArray:
    """Tell where two columns of different tables have the same value; NULL is none."""
    if _is_measured(first.type) and _is_measured(second.type):
        return np.asarray(numbers_of(first) == numbers_of(second), np.bool_)
    here, there = labels_of(first, second)
    return np.asarray((here == there) & (here >= 0), np.bool_)


def _is_measured(type_: pa.DataType) -> bool:
    kinds = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_date32,
        pa.types.is_timestamp,
    )
    return any(is_kind(type_) for is_kind in kinds)


def _days(units: pa.Array, day: int, infinity: int) -> FloatArray:
    """Return whole units of time as days; the engine keeps infinity as the largest numbers."""
    is_finite = pc.less(pc.abs(units), infinity)
    numbers = pc.cast(pc.if_else(is_finite, units, None), pa.float64(), safe=False)
    return _finite(pc.divide(numbers, float(day)))


def _finite(array: pa.Array) -> FloatArray:
    numbers = np.array(array.to_numpy(zero_copy_only=False), dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def labels_of(*arrays: pa.Array) -> tuple[IntArray, ...]:
    """Number the texts of some columns together: equal texts get equal numbers, NULL gets -1."""
    chunks = pa.chunked_array([pc.cast(array, pa.string()) for array in arrays])
    encoded = chunks.combine_chunks().dictionary_encode()
    whole = np.array(encoded.indices.fill_null(-1), dtype=np.int64)
    ends = np.cumsum([len(array) for array in arrays])[:-1]
    return tuple(np.split(whole, ends))
