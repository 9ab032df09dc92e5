"""The survey mach2019 as a problem: sixteen columns, 85 million nodes, nearly every row alone."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ppdm_sql.groups.search import Axis, Problem

if TYPE_CHECKING:
    from pathlib import Path


def read_mach2019(folder: Path) -> Problem:
    """Read rows and hierarchies, which end in one group of their own."""
    rows = pd.read_csv(folder / "mach2019.csv", sep=";", dtype=str)
    axes, codes = [], []
    for column in rows.columns:
        file = folder / "hierarchies" / f"mach2019_hierarchy_{column}.csv"
        with file.open(encoding="utf-8", newline="") as lines:
            hierarchy = {row[0]: row for row in csv.reader(lines, delimiter=";") if row}
        code, values = pd.factorize(rows[column], sort=True)
        levels = []
        for level, labels in enumerate(zip(*hierarchy.values(), strict=True)):
            leaves = pd.Series(labels).value_counts()
            held = pd.Series([hierarchy[value][level] for value in values])
            levels.append((pd.factorize(held)[0], held.map(leaves).to_numpy()))
        groups, covered = zip(*levels, strict=True)
        axes.append(
            Axis(
                tuple(group.astype(np.int64) for group in groups),
                tuple(each.astype(np.int64) for each in covered),
                len(hierarchy),
            )
        )
        codes.append(code)
    distinct, counts = np.unique(np.array(codes).T, axis=0, return_counts=True)
    return Problem(
        axes=tuple(axes),
        codes=np.ascontiguousarray(distinct.T).astype(np.int64),
        fixed=np.zeros(len(counts), dtype=np.int64),
        rows=counts.astype(np.int64),
    )
