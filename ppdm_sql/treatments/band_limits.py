"""Reading the bands of a graded grouping: limits and names, checked against each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.errors import plural
from ppdm_sql.treatments.kernels.affine import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.language.syntax import Value
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn

Limits: TypeAlias = "tuple[tuple[float, float], ...]"
MAX_BANDS = 256
_WRITE_BANDS = "write bands => 5, bands => [15, 30, 45] or bands => [[15, 29], [30, 44]]"


def read_bands(arguments: Arguments, _: Sequence[InputColumn]) -> int | Limits:
    """Return how many equal bands there are, or the limits of each."""
    bands = arguments.value("bands")
    return (
        arguments.integer("bands", 1, 1, MAX_BANDS)
        if is_whole(bands)
        else read_limits(arguments, bands)
    )


def is_whole(value: Value) -> bool:
    """Whether an argument is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_limits(arguments: Arguments, bands: Value) -> Limits:
    """Return the limits of each band, from edges or from pairs."""
    if not isinstance(bands, tuple) or not bands:
        arguments.fail("bands", "'bands' must be a number or a list", _WRITE_BANDS)
    pairs: tuple[Value, ...] = bands
    if all(not isinstance(item, tuple) for item in bands):
        if len(bands) < 2:
            arguments.fail("bands", "one limit makes no band", _WRITE_BANDS)
        pairs = tuple(itertools.pairwise(bands))
    limits = tuple(_read_pair(arguments, pair) for pair in pairs)
    if len(limits) > MAX_BANDS:
        arguments.fail("bands", f"there can be at most {MAX_BANDS} bands")
    if any(high > low for (_, high), (low, _) in itertools.pairwise(limits)):
        arguments.fail("bands", "bands must ascend and not overlap")
    return limits


def _read_pair(arguments: Arguments, pair: Value) -> tuple[float, float]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        arguments.fail("bands", "a band is a pair [low, high]", _WRITE_BANDS)
    low, high = pair
    for limit in (low, high):
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            arguments.fail("bands", "limits of bands must be numbers", _WRITE_BANDS)
    if max(abs(low), abs(high)) > LARGEST:  # type: ignore[arg-type]  # both were checked above
        arguments.fail("bands", f"limits of bands must lie between -{LARGEST:g} and {LARGEST:g}")
    if not float(low) < float(high):  # type: ignore[arg-type]  # both were checked above
        arguments.fail("bands", "limits of bands must ascend", _WRITE_BANDS)
    return float(low), float(high)  # type: ignore[arg-type]  # both were checked above


def read_names(arguments: Arguments, columns: Sequence[InputColumn]) -> tuple[int, ...]:
    """Return the names of bands: 1, 2, … unless they are given."""
    bands = read_bands(arguments, columns)
    count = bands if isinstance(bands, int) else len(bands)
    names = arguments.value("names", tuple(range(1, count + 1)))
    if not isinstance(names, tuple) or not all(is_whole(name) for name in names):
        arguments.fail("names", "'names' must be a list of whole numbers")
    whole = tuple(int(name) for name in names)  # type: ignore[arg-type]  # checked above
    if len(whole) != count:
        arguments.fail("names", f"{plural(count, 'band')} but {plural(len(whole), 'name')}")
    if any(upper <= lower for lower, upper in itertools.pairwise(whole)):
        arguments.fail("names", "names of bands must ascend")
    if any(not -(2**31) <= name < 2**31 for name in whole):
        arguments.fail("names", "names of bands must fit in 32 bits")
    return whole
