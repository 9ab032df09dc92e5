"""What others may rely on in a treatment, whatever its word is. Every default fails closed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """Facts about what is released. A trait that is not set counts as the most dangerous case."""

    # What a report may disclose.
    mixes_columns: bool = True
    """A released column may depend on several originals: how columns vary together is not shown."""
    has_secret_number: bool = True
    """A picture of originals beside released values could give a parameter away."""
    keeps_shape: bool = False
    """Pictures of one column, without a scale, are the same before and after."""

    # What is released.
    links_rows: bool = True
    """Equal values meet equal ones elsewhere, so that rows can be joined on them."""
    draws_from_keys: bool = False
    """Released values depend on keys alone: under other keys, they are others."""
    shows_originals: bool = False
    """The values are the original ones."""
    shows_some_originals: bool = False
    """Some of the values are the original ones, and nobody sees which."""
    generalizes: bool = False
    """A value becomes a group of values."""
    shows_a_part: bool = False
    """What is shown follows from the value by a rule: two rules together show more than each."""
    is_always_null: bool = False
    """Every value is NULL."""
    renames: bool = False
    """A value becomes a name without any order or distance."""
    uses_row_key: bool = False
    """It is fixed for each row: the release must have a KEY."""
    uses_source_value: bool = False
    """What it does to a row depends on the original value, whatever was done to it before."""

    # What it is, for results that come back and for attacks that fit a model of it.
    is_affine: bool = False
    """A · x + b: means of released values are released means."""
    keeps_distances: bool = False
    """Distances between rows are those of the originals."""
    keeps_mean: bool = False
    """The mean of the released values is that of the originals."""
    keeps_sums: bool = False
    """Sums of released values are those of the originals: two publications disclose the value of a new person."""
    shows_means: bool = False
    """Values are means of groups of rows: with other groups, they disclose single values."""
    adds_noise: bool = False
    """Each row gets a random number: the audit tries to average it out."""
    stays_near: bool = False
    """Values lie around the original ones."""
    moves_by_constant: bool = False
    """x + b, with one b for all rows."""
    multiplies: bool = False
    """x times a number."""
    has_bands: bool = False
    """The whole part names a band, the rest is a place in it."""
    moves_digits: int = 0
    """By how much it moves every digit but the first."""


UNKNOWN = Traits()
"""Those of a treatment that nobody knows any more."""
