"""UCI Adult as a problem: nine columns, ARX's hierarchies, every row of a file a leaf."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ppdm_sql.groups.search import Axis, Problem, Sensitive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ppdm_sql.groups.search import IntArray

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
FIVE = COLUMNS[:5]
EIGHT = tuple(column for column in COLUMNS if column != "occupation")


@dataclass(frozen=True)
class Adult:
    """The rows in memory, and the hierarchy of each column: leaf to its labels by level."""

    rows: pd.DataFrame
    hierarchies: dict[str, dict[str, list[str]]]


@dataclass(frozen=True)
class Coded:
    """A problem, and the combination of each row."""

    problem: Problem
    combination: IntArray


def read_adult(folder: Path) -> Adult:
    """Read the rows and the hierarchies."""
    hierarchies = {}
    for column in COLUMNS:
        file = folder / "hierarchies" / f"adult_hierarchy_{column}.csv"
        with file.open(encoding="utf-8", newline="") as lines:
            hierarchies[column] = {row[0]: row for row in csv.reader(lines, delimiter=";") if row}
    return Adult(pd.read_csv(folder / "adult_9col.csv", sep=";", dtype=str), hierarchies)


def code(adult: Adult, columns: Sequence[str], sensitive: str | None = None) -> Coded:
    """Code rows as distinct combinations; age is a number for Mondrian, the rest categories."""
    axes = []
    codes = []
    key = np.zeros(len(adult.rows), dtype=np.int64)
    for column in columns:
        code_of_row, values = pd.factorize(adult.rows[column], sort=True)
        axes.append(_axis(list(values), adult.hierarchies[column], column == "age"))
        codes.append(code_of_row)
        key = key * len(values) + code_of_row
    _, first, combination, counts = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    problem = Problem(
        axes=tuple(axes),
        codes=np.array([of_row[first] for of_row in codes], dtype=np.int64),
        fixed=np.zeros(len(counts), dtype=np.int64),
        rows=counts,
        sensitive=() if sensitive is None else (_sensitive(adult.rows[sensitive], combination),),
    )
    return Coded(problem, combination)


def _axis(values: list[str], hierarchy: dict[str, list[str]], is_number: bool) -> Axis:
    groups: list[IntArray] = []
    covered: list[IntArray] = []
    for level, labels in enumerate(zip(*hierarchy.values(), strict=True)):
        leaves = pd.Series(labels).value_counts()
        held = pd.Series([hierarchy[value][level] for value in values])
        groups.append(pd.factorize(held)[0].astype(np.int64))
        covered.append(held.map(leaves).to_numpy().astype(np.int64))
    order = np.array([float(value) for value in values]) if is_number else None
    return Axis(tuple(groups), tuple(covered), len(hierarchy), order)


def _sensitive(column: pd.Series[str], combination: IntArray) -> Sensitive:
    value, names = pd.factorize(column, sort=True)
    key, count = np.unique(combination * len(names) + value, return_counts=True)
    return Sensitive(
        combination=key // len(names),
        value=key % len(names),
        count=count,
        person=None,
        reference=np.bincount(value) / len(value),
    )
