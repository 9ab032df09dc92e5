"""Slow, plain definitions of everything the anonymity room computes, row by row.

Nothing here shares code with the room; the literature's formulas are written out.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.groups.search import (
    Alpha,
    Axis,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    Population,
    Problem,
    Proximity,
    RareSpread,
    RecursiveL,
    Sensitive,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ppdm_sql.groups.search import IntArray, Loss, Target

TOLERANCE = 1e-12


@dataclass(frozen=True)
class Row:
    """One source row: value numbers of the axes, the fixed code, who, sensitive values."""

    values: tuple[int, ...]
    fixed: int
    person: int
    sensitive: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """Rows with everything needed to state a problem about them."""

    axes: tuple[Axis, ...]
    rows: tuple[Row, ...]
    has_persons: bool
    references: tuple[tuple[float, ...], ...]
    trees: tuple[tuple[tuple[int, ...], ...] | None, ...]
    are_ordered: tuple[bool, ...]
    numbers: tuple[float, ...] = ()
    """What the values of the first sensitive column are, in ascending order."""

    def combinations(self) -> list[tuple[tuple[int, ...], int]]:
        """Return the distinct combinations, in order."""
        return sorted({(row.values, row.fixed) for row in self.rows})

    def problem(self) -> Problem:
        """Return the problem, coded as the room wants it."""
        combinations = self.combinations()
        number = {combination: at for at, combination in enumerate(combinations)}
        at_rows = [number[row.values, row.fixed] for row in self.rows]
        counts = Counter(at_rows)
        pairs = sorted({(at, row.person) for at, row in zip(at_rows, self.rows, strict=True)})
        sensitive = []
        for column, reference in enumerate(self.references):
            entries = Counter(
                (at, row.person if self.has_persons else 0, row.sensitive[column])
                for at, row in zip(at_rows, self.rows, strict=True)
            )
            keys = sorted(entries)
            tree = self.trees[column]
            sensitive.append(
                Sensitive(
                    combination=ints(key[0] for key in keys),
                    value=ints(key[2] for key in keys),
                    count=ints(1 if self.has_persons else entries[key] for key in keys),
                    person=ints(key[1] for key in keys) if self.has_persons else None,
                    reference=np.array(reference),
                    tree=None if tree is None else tuple(ints(level) for level in tree),
                    is_ordered=self.are_ordered[column],
                    numbers=np.array(self.numbers) if column == 0 and self.numbers else None,
                )
            )
        return Problem(
            axes=self.axes,
            codes=np.array([values for values, _ in combinations], dtype=np.int64).T.reshape(
                len(self.axes), len(combinations)
            ),
            fixed=ints(fixed for _, fixed in combinations),
            rows=ints(counts[at] for at in range(len(combinations))),
            person_combination=ints(at for at, _ in pairs) if self.has_persons else None,
            person=ints(person for _, person in pairs) if self.has_persons else None,
            sensitive=tuple(sensitive),
        )


def ints(numbers: Iterable[int]) -> IntArray:
    """Return whole numbers as an array."""
    return np.array(list(numbers), dtype=np.int64)


@dataclass(frozen=True)
class Judged:
    """A node by definition."""

    loss: float
    suppressed: int
    is_allowed: bool


def judge(
    table: Table, targets: Sequence[Target], suppression: float, loss: Loss, levels: Sequence[int]
) -> Judged:
    """Judge one node from the rows themselves."""
    classes: dict[object, list[Row]] = defaultdict(list)
    for row in table.rows:
        key = tuple(
            int(axis.groups[level][value])
            for axis, level, value in zip(table.axes, levels, row.values, strict=True)
        )
        classes[key, row.fixed].append(row)
    lost, total = 0, 0.0
    for rows in classes.values():
        if not all(reaches(table, target, rows) for target in targets):
            lost += len(rows)
            total += len(rows) * len(table.axes)
            continue
        for row in rows:
            heavy = sum(axis.weight for axis in table.axes) / len(table.axes)
            total += math.fsum(
                share(axis, level, value, loss) * axis.weight / heavy
                for axis, level, value in zip(table.axes, levels, row.values, strict=True)
            )
    return Judged(
        loss=total / (len(table.rows) * len(table.axes)),
        suppressed=lost,
        is_allowed=lost <= suppression * len(table.rows) + 1e-9,
    )


def share(axis: Axis, level: int, value: int, loss: Loss) -> float:
    """Return what one cell loses."""
    if loss == "precision":
        return level / axis.height
    return (axis.covered[level][value] - 1) / (axis.leaves - 1) if axis.leaves > 1 else 0.0


def all_nodes(table: Table) -> list[tuple[int, ...]]:
    """Return every node of the lattice."""
    return list(itertools.product(*(range(axis.height + 1) for axis in table.axes)))


def persons_of(table: Table, rows: Sequence[Row]) -> int:
    """Return k of a class."""
    return len({row.person for row in rows}) if table.has_persons else len(rows)


def counts_of(table: Table, rows: Sequence[Row], column: int) -> Counter[int]:
    """Return how often a class holds each value, a person with a value counting once."""
    if table.has_persons:
        return Counter(value for _, value in {(row.person, row.sensitive[column]) for row in rows})
    return Counter(row.sensitive[column] for row in rows)


def reaches(table: Table, target: Target, rows: Sequence[Row]) -> bool:
    """Tell by definition whether a class reaches a target."""
    if isinstance(target, K):
        return persons_of(table, rows) >= target.k
    if isinstance(target, Population):
        raise TypeError("tests/session/test_k_map.py has registers")
    counts = counts_of(table, rows, target.column)
    match target:
        case DistinctL():
            return len(counts) >= target.l
        case EntropyL():
            return entropy(counts) >= math.log(target.l) - TOLERANCE
        case RecursiveL():
            return dominance(counts, target.l) < target.c * (1 - TOLERANCE)
        case Closeness():
            return distance(table, counts, target.column) <= target.t + TOLERANCE
        case Alpha():
            chosen = counts if target.chosen is None else target.chosen
            most = max((counts[value] for value in chosen), default=0) / persons_of(table, rows)
            return most <= target.share + TOLERANCE
        case Proximity():
            numbers = table.numbers
            near = max(
                sum(n for other, n in counts.items() if is_near(numbers, value, other, target))
                for value in counts
            )
            return near * target.l <= persons_of(table, rows)
        case RareSpread():
            return is_spread(table, counts, target)


def is_near(numbers: Sequence[float], value: int, other: int, target: Proximity) -> bool:
    """Tell whether two values lie near each other."""
    return abs(numbers[value] - numbers[other]) <= target.distance


def is_spread(table: Table, counts: Counter[int], target: RareSpread) -> bool:
    """Tell by definition whether a class with a rare value has p values that vary enough."""
    whole = table.references[target.column]
    if all(whole[value] >= target.q for value in counts):
        return True
    total = sum(counts.values())
    here = [counts[value] / total for value in range(len(whole))]
    has_numbers = target.column == 0
    least = target.r * variance(table, whole, has_numbers) * (1 - TOLERANCE)
    return len(counts) >= target.p and variance(table, here, has_numbers) >= least


def variance(table: Table, shares: Sequence[float], has_numbers: bool) -> float:
    """Return the variance of numbers; of categories, how often two drawn ones differ."""
    if not has_numbers:
        return 1 - sum(share**2 for share in shares)
    weighted = list(zip(shares, table.numbers, strict=True))
    mean = sum(share * number for share, number in weighted) / sum(shares)
    return sum(share * (number - mean) ** 2 for share, number in weighted) / sum(shares)


def entropy(counts: Counter[int]) -> float:
    """Return the entropy of counts."""
    total = sum(counts.values())
    return -math.fsum(n / total * math.log(n / total) for n in counts.values())


def dominance(counts: Counter[int], l: int) -> float:  # noqa: E741
    """Return r1 / (r_l + … + r_m)."""
    r = sorted(counts.values(), reverse=True)
    tail = sum(r[l - 1 :])
    return r[0] / tail if tail else math.inf


def distance(table: Table, counts: Counter[int], column: int) -> float:
    """Return the earth mover's distance by Li et al.'s formulas, on the full distributions."""
    q = table.references[column]
    total = sum(counts.values())
    difference = [counts[value] / total - q[value] for value in range(len(q))]
    tree = table.trees[column]
    if tree is not None:
        return _tree_distance(difference, tree)
    if table.are_ordered[column]:
        if len(q) == 1:
            return 0.0
        moved = sum(abs(math.fsum(difference[: at + 1])) for at in range(len(q)))
        return moved / (len(q) - 1)
    return sum(abs(d) for d in difference) / 2


def _tree_distance(difference: Sequence[float], tree: Sequence[Sequence[int]]) -> float:
    height = len(tree) - 1
    cost = 0.0
    for level in range(1, height + 1):
        for node in set(tree[level]):
            extras: dict[int, float] = defaultdict(float)
            for value, parent in enumerate(tree[level]):
                if parent == node:
                    extras[tree[level - 1][value]] += difference[value]
            too_much = sum(extra for extra in extras.values() if extra > 0)
            too_little = -sum(extra for extra in extras.values() if extra < 0)
            cost += level / height * min(too_much, too_little)
    return cost
